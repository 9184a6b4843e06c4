"""A log of every run that has looked at the test split.

Whoever changes a method, the judge or a profile after such a look has made that split a
development split; the log lets anybody tell.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from unhorse.bench.commit import commit_of_package
from unhorse.bench.run import Done

LOG = "test-runs.jsonl"
SPLIT = "test"
NO_REASON = "not given"


def log_beside(out: Path) -> Path:
    """Where the log of a folder of results is: beside that folder.

    >>> log_beside(Path("benchmarks/bench")).as_posix()
    'benchmarks/test-runs.jsonl'
    """
    return out.parent / LOG


def log_run(path: Path, suite: str, done: Sequence[Done], reason: str | None) -> None:
    """Appends a line if this run has scanned models of the test split."""
    looked = [d.unit for d in done if d.made_now and d.unit.entry.recipe.split == SPLIT]
    if not looked:
        return
    line = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit_of_package(),
        "suite": suite,
        "methods": sorted({unit.asked.label for unit in looked}),
        "models": sorted({unit.name for unit in looked}),
        "seeds": sorted({unit.seed for unit in looked}),
        "given": sorted({unit.given.suffix.lstrip("-") or "usual" for unit in looked}),
        "reason": reason or NO_REASON,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")
