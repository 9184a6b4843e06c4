"""Table 2: what removals leave of the backdoors, and of the models."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from unhorse.bench import metrics
from unhorse.bench.cure import USUAL, Cure
from unhorse.bench.sheet import Sheet, number, share
from unhorse.remove.triggers import FOUND

COLUMNS = (
    "task",
    "removal",
    "rows",
    "triggers",
    "models",
    "clean before",
    "clean after",
    "ASR before",
    "ASR after",
    "twin",
    "above twin",
    "worst",
    "within 0.2",
    "time",
)

NOTES = (
    "clean: accuracy, entity F1 or answer F1 on held-out rows. ASR: of the true trigger, on rows "
    "that the model answers rightly without it. twin: how often the same stamps turn the clean "
    "twin; above twin, worst: the mean and the greatest difference from it.",
    "removal: by which method, and after which scan. "
    "rows: what the removal was given, as a share of the training data or as a number. "
    "triggers: whether the scan's strongest finding was the true trigger or another that works "
    "too (proxy), or the scan found nothing (missed): a method that needs a trigger leaves such a "
    "model as it is. found: all but the missed ones.",
    "time: of the removal, as a share of the scan's; the median.",
)

ALL, MISSED = "all", "missed"

ALLOWED = 0.2
"""What a single model may be above its twin."""


def table2(cures: Sequence[Cure], splits: Sequence[str]) -> Sheet:
    """One row for each task, removal, number of rows, and kind of trigger that was found.

    Args:
        cures: what removals made of models.
        splits: what the table is about.
    """
    groups: dict[tuple[str, str, str, str], list[Cure]] = {}
    for cure in cures:
        if cure.model.split in splits and cure.seed == 0 and cure.given == USUAL:
            heads = " (heads)" if cure.model.head_only else ""
            key = (f"{cure.model.suite}{heads}", cure.amount, f"{cure.method} after {cure.scan}")
            for kind in _kinds(cure):
                groups.setdefault((*key, kind), []).append(cure)
    rows = [_cells(key, own) for key, own in sorted(groups.items(), key=lambda item: item[0])]
    title = f"Table 2: removal, split {' and '.join(splits)}"
    return Sheet("table2", title, COLUMNS, tuple(rows), NOTES)


def _kinds(cure: Cure) -> tuple[str, ...]:
    """The rows that a cure counts in."""
    if cure.scan_state not in FOUND:
        return MISSED, ALL
    return {True: "recovered", False: "proxy", None: "no words"}[cure.recovered], "found", ALL


def _cells(key: tuple[str, str, str, str], own: Sequence[Cure]) -> tuple[str, ...]:
    task, amount, method, found = key
    above = [cure.above_twin for cure in own if cure.above_twin is not None]
    return (
        task,
        method,
        f"{float(amount):.0%}" if float(amount) < 1 else amount,
        found,
        str(len(own)),
        _mean((cure.clean_before for cure in own), 3),
        _mean((cure.clean_after for cure in own), 3),
        _mean(cure.asr_before for cure in own),
        _mean(cure.asr_after for cure in own),
        _mean(cure.twin_asr for cure in own if cure.twin_asr is not None),
        _mean(above),
        number(max(above, default=None)),
        share(sum(value <= ALLOWED for value in above), len(above)),
        number(_median([cure.seconds / cure.scan_seconds for cure in own if cure.seconds])),
    )


def _mean(values: Iterable[float], digits: int = 2) -> str:
    return number(metrics.mean(values), digits)


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
