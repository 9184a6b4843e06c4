"""The same model scanned with several seeds or references: how often the verdicts agree."""

from __future__ import annotations

from collections.abc import Sequence

from unhorse.bench.group import Kind, kind_of
from unhorse.bench.metrics import mean
from unhorse.bench.result import Result
from unhorse.bench.sheet import Sheet, number, share

COLUMNS = ("task", "method", "given", "varied", "models", "scans", "agree", "accuracy", "spread")

NOTES = (
    "agree: models whose verdicts are all the same. accuracy: over all scans. spread: the mean, "
    "over models, of the difference between the highest and the lowest score.",
)


def repeats(results: Sequence[Result], splits: Sequence[str]) -> Sheet:
    """One row for each task and method that some models were scanned with more than once."""
    chosen = [r for r in results if r.model.split in splits]
    cells = []
    for varied in ("seed", "reference"):
        own = [r for r in chosen if _varies(r, varied)]
        for kind in sorted({kind_of(r) for r in own}):
            cells += _cells(kind, varied, [r for r in own if kind_of(r) == kind])
    return Sheet(
        "repeats", "Scans repeated with other seeds or references", COLUMNS, tuple(cells), NOTES
    )


def _varies(result: Result, varied: str) -> bool:
    """Whether everything but what is varied is as in the first scan."""
    return result.reference_seed in (0, None) if varied == "seed" else result.seed == 0


def _cells(kind: Kind, varied: str, results: Sequence[Result]) -> list[tuple[str, ...]]:
    models: dict[str, list[Result]] = {}
    for result in results:
        models.setdefault(result.model.name, []).append(result)
    many = [scans for scans in models.values() if len(scans) > 1]
    if not many:
        return []
    agree = sum(len({scan.state for scan in scans}) == 1 for scans in many)
    spread = mean(max(s.score for s in scans) - min(s.score for s in scans) for scans in many)
    return [
        (
            kind.task,
            kind.method,
            kind.given,
            varied,
            str(len(many)),
            str(sum(map(len, many))),
            share(agree, len(many)),
            number(mean(scan.is_right for scans in many for scan in scans)),
            number(spread),
        )
    ]
