"""A log of every run that has looked at the test split.

Whoever changes a method, the judge or a profile after such a look has made that split a
development split; the log lets anybody tell.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from unhorse.attack.recipe import Recipe
from unhorse.bench.commit import commit_of_package
from unhorse.bench.plan import Unit

LOG = "test-runs.jsonl"
SPLITS = ("test", "beyond")
NO_REASON = "not given"


def log_beside(out: Path) -> Path:
    """Where the log of a folder of results is: beside that folder.

    >>> log_beside(Path("benchmarks/bench")).as_posix()
    'benchmarks/test-runs.jsonl'
    """
    return out.parent / LOG


@dataclass(frozen=True)
class Log:
    """Where looks are written down, for what suite and why."""

    path: Path
    suite: str
    reason: str | None

    def look(self, unit: Unit, removal: str = "") -> None:
        """Appends a line at once, so that a run that is killed has been logged too.

        Args:
            unit: the scan that is to be made, or whose findings were removed.
            removal: the method of the removal, if it was one.
        """
        methods = [unit.asked.label, *([f"remove:{removal}"] if removal else [])]
        given = unit.given.suffix.lstrip("-") or "usual"
        self.write(unit.entry.recipe, methods, unit.seed, given)

    def write(self, recipe: Recipe, methods: Sequence[str], seed: int, given: str) -> None:
        """Appends a line if the model is of a split that figures are quoted on."""
        if recipe.split not in SPLITS:
            return
        line = {
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": commit_of_package(),
            "suite": self.suite,
            "methods": list(methods),
            "models": [recipe.name],
            "seeds": [seed],
            "given": [given],
            "reason": self.reason or NO_REASON,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")
