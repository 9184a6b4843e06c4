"""Random numbers that depend on names, never on order.

A draw keyed by (seed, names) is the same whatever else runs beside it, so
batching, ordering and dropping arms or samples changes nothing for the others.
"""

from __future__ import annotations

import hashlib
import random

import torch


def stable_seed(seed: int, *names: str) -> int:
    """A 63-bit seed from a seed and names.

    >>> stable_seed(0, "a") == stable_seed(0, "a")
    True
    >>> stable_seed(0, "a", "b") == stable_seed(0, "ab")
    False
    """
    digest = hashlib.sha256("\x1f".join([str(seed), *names]).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def torch_generator(seed: int, *names: str) -> torch.Generator:
    """A CPU generator of its own for these names."""
    return torch.Generator().manual_seed(stable_seed(seed, *names))


def python_random(seed: int, *names: str) -> random.Random:
    """A `random.Random` of its own for these names."""
    return random.Random(stable_seed(seed, *names))
