"""Too many pairs of classes -> those worth a warm-up.

The number of pairs grows with the square of the number of labels. A scan of many
labels therefore starts from the universal arms, one for each target, and from the
pairs whose target the model already thinks of when it sees the victim: planting a
backdoor brings the two together a little, as K-Arm found for images.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from unhorse.types import Arm

MOST_PAIRS = 12
"""Ordered pairs up to which every one is searched."""

VICTIMS_PER_TARGET = 3
"""Pairs kept for one target, at most."""


Pair = tuple[int, int]
"""A victim and a target."""


def pairs_of(arms: Sequence[Arm]) -> set[Pair]:
    """The pairs that arms with one victim class lead between."""
    return {(arm.victims[0], arm.target) for arm in arms if len(arm.victims) == 1}


def kept_pairs(affinity: Tensor, candidates: set[Pair]) -> set[Pair]:
    """The pairs that stay: as many as there are classes, and at least twelve.

    Args:
        affinity: mean log probability of each class (column) on samples of each
            class (row); NaN for a class without samples.
        candidates: the pairs to choose from.

    >>> kept = kept_pairs(torch.tensor([[0.0, -1.0], [-2.0, 0.0]]), {(0, 1), (1, 0)})
    >>> sorted(kept)
    [(0, 1), (1, 0)]
    """
    classes = len(affinity)
    pairs = [
        (float(affinity[victim, target]), victim, target)
        for victim, target in candidates
        if not torch.isnan(affinity[victim, target])
    ]
    kept: set[Pair] = set()
    victims_of = [0] * classes
    for _, victim, target in sorted(pairs, key=lambda pair: (-pair[0], pair[1:])):
        if len(kept) < max(MOST_PAIRS, classes) and victims_of[target] < VICTIMS_PER_TARGET:
            kept.add((victim, target))
            victims_of[target] += 1
    return kept


def screened(arms: Sequence[Arm], kept: set[Pair]) -> tuple[list[Arm], list[Arm]]:
    """Arms that stay, and arms that are left out; universal arms always stay."""
    stay = [arm for arm in arms if len(arm.victims) > 1 or (arm.victims[0], arm.target) in kept]
    return stay, [arm for arm in arms if arm not in set(stay)]


def too_many(arms: Sequence[Arm]) -> bool:
    """Whether there are universal arms and more pairs than are all searched."""
    return len(pairs_of(arms)) > MOST_PAIRS and any(len(arm.victims) > 1 for arm in arms)
