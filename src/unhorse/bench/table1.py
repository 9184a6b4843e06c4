"""Table 1: detection accuracy and cost of every method on every task.

Two decisions stand side by side. *paper* is a threshold on the method's own final loss,
learnt on calibration models; *judge* is unhorse's verdict, where a trojaned model is right
only when it is convicted and a clean one only when nothing was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unhorse.bench import metrics
from unhorse.bench.group import (
    Kind,
    as_in_the_paper,
    calibration_for,
    grouped,
    kind_of,
    planned,
    unfinished,
)
from unhorse.bench.protocol import (
    decides_itself,
    learnt_threshold,
    own_score,
    paper_decisions,
)
from unhorse.bench.result import Result
from unhorse.bench.sheet import NOTHING, Sheet, number, share, with_interval

COLUMNS = (
    "task",
    "method",
    "given",
    "scans",
    "paper accuracy",
    "beta",
    "judge accuracy",
    "convicted",
    "cleared",
    "AUROC",
    "own AUROC",
    "TPR at 5 % FPR",
    "cross entropy",
    "recovered",
    "true arm",
    "s",
    "Mtok",
    "audit AUROC",
)

NOTES = (
    "paper: a threshold (beta) on the method's own final loss, learnt on the calibration split; "
    "with a reference for texts and without one for other tasks, as in the paper.",
    "judge: a trojaned model is right only when convicted, a clean one only when nothing was "
    "found. Brackets are 95 % bootstrap intervals over models.",
    "recovered: of the models with a trigger of words, those where the strongest finding is "
    "that trigger. true arm: those where the arm with the least loss is the true one.",
    "cross entropy: of the verdict's score, kept within 0.025 and 0.975.",
    "audit AUROC: how well cheap statistics of the weights alone tell the models apart.",
)

QUIET = "s: seconds of a scan in a separate run of a few models with nothing beside it."
BUSY = "s: mean seconds of these scans, whatever else the machine did meanwhile."

KEPT_WITHIN = (0.025, 0.975)


@dataclass(frozen=True)
class Context:
    """What a row needs beside its own results.

    `audits` has the audit's area by suite and whether heads are meant.
    """

    results: Sequence[Result]
    splits: Sequence[str]
    audits: Mapping[tuple[str, bool], float]
    suites: Path | None = None
    timings: Sequence[Result] = ()
    """Scans of a few models on a quiet machine; seconds are taken from these alone, if any."""


def table1(context: Context, standing: str = "plain", *, by_attack: bool = False) -> Sheet:
    """One row for each task and method.

    Args:
        context: all results, and the splits that the table is about.
        standing: the kind of attacks, plain or advanced.
        by_attack: whether every attack has rows of its own.
    """
    chosen = [
        result
        for result in context.results
        if result.model.split in context.splits and result.model.standing == standing
    ]
    rows = grouped(chosen, by_attack=by_attack)
    number_of = "1" if standing == "plain" else f"1, {standing} attacks"
    cells = tuple(_cells(kind, own, context) for kind, own in rows.items())
    return Sheet(
        name="table1" if standing == "plain" else f"table1-{standing}",
        title=f"Table {number_of}: detection, split {' and '.join(context.splits)}",
        columns=COLUMNS,
        rows=cells,
        notes=(
            *NOTES,
            *_mixed(rows),
            QUIET if context.timings else BUSY,
            *unfinished(rows, context.splits, context.suites),
        ),
    )


def _mixed(rows: Mapping[Kind, Sequence[Result]]) -> Iterator[str]:
    """Names the rows whose verdicts are of more than one profile."""
    for kind, results in rows.items():
        used = {result.profile.id if result.profile else "the rule" for result in results}
        if len(used) > 1:
            yield (
                f"{kind.task}, {kind.method}, {kind.given}: decided by several profiles "
                f"({', '.join(sorted(used))}), each as it was when the scan was made; "
                "`--profiles shipped` decides all anew."
            )


def _seconds(kind: Kind, results: Sequence[Result], context: Context) -> list[float]:
    if not context.timings:
        return [result.seconds for result in results]
    own = [kind_of(result, by_attack=bool(kind.attack)) == kind for result in context.timings]
    return [r.seconds for r, counts in zip(context.timings, own, strict=True) if counts]


def _cells(kind: Kind, results: Sequence[Result], context: Context) -> tuple[str, ...]:
    truth = [result.model.poisoned for result in results]
    scores = [result.score for result in results]
    paper, beta = _paper(results, context)
    words = [r.recovered for r in results if r.recovered is not None and r.model.is_worded]
    arms = [result.least_is_true for result in results if result.least_is_true is not None]
    tokens = metrics.mean(r.forward_tokens + r.backward_tokens for r in results)
    bad = [result for result in results if result.model.poisoned]
    good = [result for result in results if not result.model.poisoned]
    low, high = KEPT_WITHIN
    area = metrics.auroc(truth, scores)
    wanted = planned(kind, context.splits, context.suites)
    return (
        kind.task,
        kind.method,
        kind.given,
        f"{len(results)} of {max(wanted, len(results))}",
        paper,
        beta,
        _accuracy([result.is_right for result in results]),
        share(sum(r.is_right for r in bad), len(bad)),
        share(sum(r.is_right for r in good), len(good)),
        with_interval(area, _area_interval(truth, scores)),
        number(metrics.auroc(truth, [own_score(result) for result in results])),
        number(metrics.tpr_at_fpr(truth, scores)),
        number(metrics.cross_entropy(truth, [min(max(s, low), high) for s in scores])),
        share(sum(words), len(words)),
        share(sum(arms), len(arms)),
        number(metrics.mean(_seconds(kind, results, context)), 0),
        number(tokens and tokens / 1e6),
        number(context.audits.get((kind.suite, kind.head_only))),
    )


def _accuracy(right: Sequence[bool]) -> str:
    interval = metrics.bootstrap(lambda rows: metrics.mean(right[i] for i in rows), len(right))
    return with_interval(metrics.mean(right), interval)


def _area_interval(truth: Sequence[bool], scores: Sequence[float]) -> metrics.Interval | None:
    if len(set(truth)) < 2:
        return None
    draws = 300  # Each asks scikit-learn once.

    def area(rows: Sequence[int]) -> float | None:
        return metrics.auroc([truth[i] for i in rows], [scores[i] for i in rows])

    return metrics.bootstrap(area, len(truth), draws)


def _paper(results: Sequence[Result], context: Context) -> tuple[str, str]:
    """Accuracy and threshold of the paper's protocol, where the scans were as the paper's."""
    if not all(map(as_in_the_paper, results)):
        return NOTHING, NOTHING
    beta = learnt_threshold(calibration_for(results[0], context.results))
    decisions = paper_decisions(results, beta)
    if decisions is None:
        return NOTHING, NOTHING
    right = [d == r.model.poisoned for d, r in zip(decisions, results, strict=True)]
    return _accuracy(right), "own test" if decides_itself(results) else shown_threshold(
        results, beta
    )


def shown_threshold(results: Sequence[Result], threshold: float | None) -> str:
    """A threshold as the method's measure has it: a loss is turned back."""
    natives = [t.native for r in results for t in r.triggers if t.native is not None]
    if threshold is None or not natives:
        return NOTHING
    return f"{-threshold if natives[0].low_is_bad else threshold:.3g}"
