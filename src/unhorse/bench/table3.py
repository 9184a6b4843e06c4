"""Table 3: the adaptive attack, which keeps the loss of its trigger at a floor phi.

Clean models are shared by all phi. So that it does not matter how many there are, accuracy
is the mean of the two kinds' shares, as if there were equally many of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unhorse.bench import metrics
from unhorse.bench.group import Kind, as_in_the_paper, calibration_for, grouped, unfinished
from unhorse.bench.protocol import learnt_threshold, paper_decisions
from unhorse.bench.result import Result
from unhorse.bench.sheet import Sheet, number

COLUMNS = (
    "task",
    "method",
    "given",
    "phi",
    "trojaned",
    "clean",
    "paper accuracy",
    "judge accuracy",
    "ASR",
    "recovered",
)

NOTES = (
    "phi: the loss that the attacker keeps the trigger at. ASR: of the true trigger.",
    "Accuracy is the mean of the shares of trojaned and of clean models that are told rightly.",
)


def table3(results: Sequence[Result], splits: Sequence[str], suites: Path | None = None) -> Sheet:
    """One row for each task, method and phi."""
    chosen = [r for r in results if r.model.standing == "adaptive" and r.model.split in splits]
    groups = grouped(chosen)
    rows = [
        _cells(kind, phi, own, results)
        for kind, own in groups.items()
        for phi in sorted({r.model.phi for r in own if r.model.phi is not None})
    ]
    title = f"Table 3: the adaptive attack, split {' and '.join(splits)}"
    return Sheet(
        "table3", title, COLUMNS, tuple(rows), (*NOTES, *unfinished(groups, splits, suites))
    )


def _cells(
    kind: Kind, phi: float, own: Sequence[Result], results: Sequence[Result]
) -> tuple[str, ...]:
    clean = [result for result in own if not result.model.poisoned]
    trojaned = [r for r in own if r.model.poisoned and r.model.phi == phi]
    both = [*trojaned, *clean]
    words = [result.recovered for result in trojaned if result.recovered is not None]
    return (
        kind.task,
        kind.method,
        kind.given,
        f"{phi:g}",
        str(len(trojaned)),
        str(len(clean)),
        number(_paper(both, results)),
        number(balanced(both, [result.is_right for result in both])),
        number(metrics.mean(r.model.asr for r in trojaned if r.model.asr is not None)),
        number(metrics.mean(words)),
    )


def _paper(own: Sequence[Result], results: Sequence[Result]) -> float | None:
    if not own or not all(map(as_in_the_paper, own)):
        return None
    decisions = paper_decisions(own, learnt_threshold(calibration_for(own[0], results)))
    if decisions is None:
        return None
    return balanced(own, [d == r.model.poisoned for d, r in zip(decisions, own, strict=True)])


def balanced(results: Sequence[Result], right: Sequence[bool]) -> float | None:
    """Accuracy as if there were as many trojaned as clean models; None without both."""
    shares = [
        metrics.mean(ok for r, ok in zip(results, right, strict=True) if r.model.poisoned == kind)
        for kind in (True, False)
    ]
    known = [value for value in shares if value is not None]
    return sum(known) / 2 if len(known) == 2 else None
