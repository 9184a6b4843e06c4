"""Two methods on the same models: which has more of them right, and how sure that is.

The test is McNemar's, exact: of the models that only one of the two has right, would so
uneven a division come about if each were a toss-up?
"""

from __future__ import annotations

from collections.abc import Sequence

from unhorse.bench.group import Kind, as_in_the_paper, calibration_for, grouped
from unhorse.bench.metrics import mcnemar, mean
from unhorse.bench.protocol import learnt_threshold, paper_decisions
from unhorse.bench.result import Result
from unhorse.bench.sheet import Sheet, number

COLUMNS = (
    "task",
    "decision",
    "given",
    "first",
    "second",
    "models",
    "first right",
    "second right",
    "only first",
    "only second",
    "p",
)

NOTES = ("p: McNemar's exact test on the models that only one of the two has right.",)

Right = dict[str, bool]
"""Whether every model, by its name, was told rightly."""


def pairs(results: Sequence[Result], splits: Sequence[str], first: str) -> Sheet:
    """One row for each task and method that the first is compared with.

    Args:
        results: all of them, those of the calibration split too.
        splits: what the table is about.
        first: the label of the method that is compared with all others.
    """
    chosen = [r for r in results if r.model.standing == "plain" and r.model.split in splits]
    rows = grouped(chosen)
    cells = []
    for decision in ("judge", "paper"):
        right = {kind: _right(own, results, decision) for kind, own in rows.items()}
        for kind in rows:
            if kind.method.partition(" @ ")[0] != first:
                continue
            for other in rows:
                if other != kind and _same_models(kind, other):
                    cells += _cells(kind, other, decision, right[kind], right[other])
    title = f"Paired tests of {first}, split {' and '.join(splits)}"
    return Sheet("pairs", title, COLUMNS, tuple(cells), NOTES)


def _same_models(one: Kind, other: Kind) -> bool:
    return _models(one) == _models(other)


def _models(kind: Kind) -> tuple[object, ...]:
    return kind.suite, kind.head_only, kind.several_classes, kind.given


def _right(own: Sequence[Result], results: Sequence[Result], decision: str) -> Right:
    if decision == "judge":
        return {result.model.name: result.is_right for result in own}
    if not all(map(as_in_the_paper, own)):
        return {}
    decisions = paper_decisions(own, learnt_threshold(calibration_for(own[0], results)))
    if decisions is None:
        return {}
    return {r.model.name: d == r.model.poisoned for d, r in zip(decisions, own, strict=True)}


def _cells(
    kind: Kind, other: Kind, decision: str, ours: Right, theirs: Right
) -> list[tuple[str, ...]]:
    shared = sorted(ours.keys() & theirs.keys())
    if not shared:
        return []
    only_first = sum(ours[name] and not theirs[name] for name in shared)
    only_second = sum(theirs[name] and not ours[name] for name in shared)
    return [
        (
            kind.task,
            decision,
            kind.given,
            kind.method,
            other.method,
            str(len(shared)),
            number(mean(ours[name] for name in shared)),
            number(mean(theirs[name] for name in shared)),
            str(only_first),
            str(only_second),
            f"{mcnemar(only_first, only_second):.3g}",
        )
    ]
