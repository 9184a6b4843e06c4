"""How often a decision is right: on the models it was learnt from, and on those left out."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from unhorse.calibrate.fit import Case
from unhorse.calibrate.learn import By, Learnt, folds, learn
from unhorse.errors import UsageError
from unhorse.judge.measure import wilson
from unhorse.judge.profile import Measured, MeasuredRate, logistic


@dataclass(frozen=True)
class Judged:
    """One case under a decision."""

    model: str
    poisoned: bool
    score: float
    convicted: bool
    cleared: bool


def check_installed() -> None:
    """Says what is missing before anything is learnt."""
    if importlib.util.find_spec("sklearn") is None:
        raise UsageError(
            "A calibration needs scikit-learn; install it with: pip install 'unhorse[zoo]'."
        )


def judge(cases: Sequence[Case], learnt: Learnt) -> list[Judged]:
    """Every case under one decision."""
    convict, suspect = logistic(learnt.convict), logistic(learnt.suspect)
    scores = [learnt.score(case) for case in cases]
    return [
        Judged(case.model, case.poisoned, score, score >= convict, score < suspect)
        for case, score in zip(cases, scores, strict=True)
    ]


def judge_left_out(
    cases: Sequence[Case], *, reference: bool, step: Callable[[], None] = lambda: None
) -> tuple[By, list[Judged]]:
    """Every case under a decision that was learnt, from the first choice on, without it."""
    by, parts = folds(cases)
    found: list[Judged] = []
    for kept, left in parts:
        learnt = learn([cases[i] for i in kept], reference=reference)
        found += judge([cases[i] for i in left], learnt)
        step()
    return by, found


def measured(judged: Sequence[Judged]) -> Measured:
    """The rates over models; one that was scanned with several seeds counts once in all."""
    from sklearn.metrics import roc_auc_score

    bad = [case for case in judged if case.poisoned]
    good = [case for case in judged if not case.poisoned]
    return Measured(
        true_positives=_rate(bad, [case.convicted for case in bad]),
        false_positives=_rate(good, [case.convicted for case in good]),
        cleared=_rate(good, [case.cleared for case in good]),
        auroc=float(roc_auc_score([c.poisoned for c in judged], [c.score for c in judged])),
    )


def _rate(cases: Sequence[Judged], hits: Sequence[bool]) -> MeasuredRate:
    by_model: dict[str, list[bool]] = {}
    for case, hit in zip(cases, hits, strict=True):
        by_model.setdefault(case.model, []).append(hit)
    total = sum(sum(scans) / len(scans) for scans in by_model.values())
    return MeasuredRate(
        rate=total / len(by_model),
        interval=wilson(round(total), len(by_model)),
        models=len(by_model),
    )
