"""What a result was made with."""

from __future__ import annotations

import platform
from importlib.metadata import version

PACKAGES = ("unhorse", "torch", "transformers", "tokenizers", "safetensors", "numpy", "scipy")


def versions_used() -> dict[str, str]:
    """The versions of Python and of the packages that decide numbers."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
