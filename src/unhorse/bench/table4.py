"""Table 4: what the parts of DBS give, on models that all three variants have scanned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unhorse.bench.group import Kind, calibration_for, grouped, unfinished
from unhorse.bench.protocol import best_threshold, learnt_threshold, own_score
from unhorse.bench.result import Result
from unhorse.bench.sheet import Sheet, number
from unhorse.bench.table1 import shown_threshold

VARIANTS = {
    "dbs:no-scaling": "without temperature scaling",
    "dbs:no-backtracking": "without backtracking",
    "dbs:paper": "full",
}

COLUMNS = (
    "task",
    "variant",
    "given",
    "models",
    "beta",
    "precision",
    "recall",
    "accuracy",
    "oracle beta",
    "oracle precision",
    "oracle recall",
    "oracle accuracy",
)

NOTES = (
    "beta: a threshold on the final loss, learnt on the calibration split by the same variant. "
    "oracle: the threshold that is best on the very models that are judged, as in the paper.",
    "Only models that every variant has scanned.",
)


def table4(results: Sequence[Result], splits: Sequence[str], suites: Path | None = None) -> Sheet:
    """One row for each task and variant."""
    chosen = [
        r
        for r in results
        if r.label in VARIANTS and r.model.standing == "plain" and r.model.split in splits
    ]
    rows = grouped(chosen)
    cells = [
        _cells(kind, shared, results)
        for kind in sorted(rows, key=_order)
        if (shared := _shared(kind, rows))
    ]
    title = f"Table 4: ablation of DBS, split {' and '.join(splits)}"
    return Sheet(
        "table4", title, COLUMNS, tuple(cells), (*NOTES, *unfinished(rows, splits, suites))
    )


def _order(kind: Kind) -> tuple[object, ...]:
    label = kind.method.partition(" @ ")[0]
    apart = kind.suite, kind.head_only, kind.several_classes, kind.given
    return *apart, list(VARIANTS).index(label)


def _shared(kind: Kind, rows: dict[Kind, list[Result]]) -> list[Result]:
    """The results of models that all variants have scanned in the same circumstances."""
    beside = {
        other.method: {result.model.name for result in own}
        for other, own in rows.items()
        if _circumstances(other) == _circumstances(kind)
    }
    if len(beside) < len(VARIANTS):
        return []
    names = set.intersection(*beside.values())
    return [result for result in rows[kind] if result.model.name in names]


def _circumstances(kind: Kind) -> tuple[object, ...]:
    """What variants must share to be compared, the budget among it."""
    budget = kind.method.partition(" @ ")[2]
    return kind.suite, kind.head_only, kind.several_classes, kind.given, budget


def _cells(kind: Kind, own: Sequence[Result], results: Sequence[Result]) -> tuple[str, ...]:
    truth = [result.model.poisoned for result in own]
    scores = [own_score(result) for result in own]
    beta = learnt_threshold(calibration_for(own[0], results))
    oracle = best_threshold(truth, scores)
    return (
        kind.task,
        VARIANTS[own[0].label],
        kind.given,
        f"{sum(truth)}+{len(truth) - sum(truth)}",
        shown_threshold(own, beta),
        *figures(truth, scores, beta),
        shown_threshold(own, oracle),
        *figures(truth, scores, oracle),
    )


def figures(
    truth: Sequence[bool], scores: Sequence[float], threshold: float | None
) -> tuple[str, str, str]:
    """Precision, recall and accuracy at a threshold.

    >>> figures([True, True, False, False], [3.0, 1.0, 2.0, 0.0], 1.5)
    ('0.50', '0.50', '0.50')
    """
    if threshold is None:
        return number(None), number(None), number(None)
    said = [score > threshold for score in scores]
    hits = sum(a and b for a, b in zip(said, truth, strict=True))
    right = sum(a == b for a, b in zip(said, truth, strict=True))
    return (
        number(hits / sum(said) if any(said) else None),
        number(hits / sum(truth) if any(truth) else None),
        number(right / len(truth)),
    )
