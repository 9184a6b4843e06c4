"""Table 2: what removals leave of the backdoors, and of the models."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence

from unhorse.bench import metrics
from unhorse.bench.cure import USUAL, Cure
from unhorse.bench.group import is_usual
from unhorse.bench.result import Result
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
    "too (proxy); of models in which a scan found nothing there is no row. finetune and other "
    "methods that need no trigger are given the same models.",
    "time: of the removal, as a share of the scan's; the median.",
)

ALLOWED = 0.2
"""What a single model may be above its twin."""


def table2(cures: Sequence[Cure], splits: Sequence[str], results: Sequence[Result] = ()) -> Sheet:
    """One row for each task, removal, number of rows, and kind of trigger that was found.

    Args:
        cures: what removals made of models.
        splits: what the table is about.
        results: the scans, which tell in how many models nothing was found.
    """
    groups: dict[tuple[str, str, str, str], list[Cure]] = {}
    for cure in cures:
        asked_for = cure.model.split in splits and cure.seed == 0 and cure.given == USUAL
        if asked_for and cure.scan_state in FOUND:
            heads = " (heads)" if cure.model.head_only else ""
            task = f"{cure.model.suite}{heads}"
            key = (task, cure.amount, f"{cure.method} after {cure.scan}", _found(cure))
            groups.setdefault(key, []).append(cure)
            groups.setdefault((*key[:3], "all"), []).append(cure)
    rows = [_cells(key, own) for key, own in sorted(groups.items(), key=lambda item: item[0])]
    title = f"Table 2: removal, split {' and '.join(splits)}"
    return Sheet("table2", title, COLUMNS, tuple(rows), (*NOTES, *_missed(cures, splits, results)))


def _missed(
    cures: Sequence[Cure], splits: Sequence[str], results: Sequence[Result]
) -> Iterator[str]:
    """Says in how many models there was nothing to remove."""
    for suite, scan in sorted({(cure.model.suite, cure.scan) for cure in cures}):
        states = {
            result.model.name: result.state
            for result in results
            if (result.model.suite, result.label) == (suite, scan)
            and result.model.poisoned
            and result.model.split in splits
            and is_usual(result)
        }
        missed = sum(state not in FOUND for state in states.values())
        if missed:
            yield (
                f"{suite}: in {missed} of {len(states)} trojaned models {scan} found nothing; "
                "their attack success stays what it was."
            )


def _found(cure: Cure) -> str:
    return {True: "recovered", False: "proxy", None: "no words"}[cure.recovered]


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
        number(statistics.median(cure.seconds / cure.scan_seconds for cure in own)),
    )


def _mean(values: Iterable[float], digits: int = 2) -> str:
    return number(metrics.mean(values), digits)
