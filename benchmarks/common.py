"""What the benchmark scripts share: where results go, and what they were made with."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from unhorse.runtime import choose_runtime

RESULTS = Path(__file__).parent / "results"

_PACKAGES = ("unhorse", "torch", "transformers", "tokenizers", "numpy")


def environment() -> dict[str, Any]:
    """Versions and the runtime that a scan chooses here."""
    runtime = choose_runtime()
    return {
        "versions": {name: version(name) for name in _PACKAGES},
        "device": runtime.device,
        "dtype": runtime.dtype,
        "attention": runtime.attention,
        "threads": runtime.threads,
        "why": runtime.why,
    }


def write_result(name: str, result: Any) -> None:
    """Stores a result as JSON beside the scripts."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / name).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
