"""Cases -> a decision: which features, their weights, and from where on to convict.

With ten models of a kind there is little to learn from, so few features are offered, the
simplest set is taken that others do not reliably outdo, and every choice is made on models of
families that the weights have not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unhorse.calibrate.fit import Array, Case, Weights, fit, shares_of
from unhorse.judge.profile import logistic

By = Literal["family", "model"]
Fold = tuple[list[int], list[int]]
"""The cases that are kept to learn from, and those that are left out."""

ALONE = (
    ("deep_beyond_words",),
    ("deep_beyond_words", "brief"),
    ("beyond_words", "brief", "deep"),
)
COMPARED = (
    ("push_beyond_kin",),
    ("push_beyond_references",),
    ("alone_beyond_references",),
    ("deep_beyond_references",),
    ("deeper_beyond_references",),
    ("beyond_references",),
    ("push_beyond_kin", "deep_beyond_references"),
    ("push_beyond_references", "deep_beyond_references"),
    ("alone_beyond_references", "deep_beyond_references"),
    ("deep_beyond_references", "deeper_beyond_references"),
    ("deep_beyond_references", "brief"),
    ("beyond_references", "brief", "deep"),
)
"""The sets of features that are tried without and with a reference, the simplest first.

Of those that are as simple the one comes first that has held best on models other than those it
was learnt from (docs/tried.md): a dozen models tell features apart too rarely to choose by.
"""

RIDGES = (0.02, 0.005, 0.001)
"""How strongly weights are held back, the strongest first."""

FEWEST_TO_LEARN = 3
"""Models of each kind that must be left when a family is taken out."""

CONVICTED_CLEAN = 0.05
"""The share of clean models that may be convicted."""

IMMATERIAL = 0.05
"""A difference of mean losses that is not worth another feature."""

_NORMAL_95 = 1.645
_ROOM = 1.0
"""The room above the bar, as a difference of logits, where no trojaned model shows how much."""


@dataclass(frozen=True, eq=False)
class Learnt:
    """A decision in logits: from `convict` on backdoored, from `suspect` on suspicious."""

    weights: Weights
    convict: float
    suspect: float

    def score(self, case: Case) -> float:
        """The score of a scan in [0, 1]."""
        return logistic(self.weights.logit(case))


def learn(cases: Sequence[Case], *, reference: bool) -> Learnt:
    """Chooses features, weights and thresholds."""
    _, parts = folds(cases)
    tried = [(names, ridge) for names in (COMPARED if reference else ALONE) for ridge in RIDGES]
    unseen = [left_out_logits(cases, parts, names, ridge) for names, ridge in tried]
    best = simplest(cases, unseen)
    convict, suspect = thresholds(cases, unseen[best])
    return Learnt(fit(cases, *tried[best]), convict, suspect)


def folds(cases: Sequence[Case]) -> tuple[By, list[Fold]]:
    """One part for each family; for each model with its twin where families are too few."""
    parts = _parts([case.family for case in cases])
    if len(parts) > 1 and all(_enough([cases[i] for i in kept]) for kept, _ in parts):
        return "family", parts
    return "model", _parts([case.kin for case in cases])


def _parts(groups: Sequence[str]) -> list[Fold]:
    """What is kept and what is left out for every group.

    >>> _parts(["a", "b", "a"])
    [([1], [0, 2]), ([0, 2], [1])]
    """
    return [
        (
            [i for i, own in enumerate(groups) if own != group],
            [i for i, own in enumerate(groups) if own == group],
        )
        for group in dict.fromkeys(groups)
    ]


def _enough(cases: Sequence[Case]) -> bool:
    kinds = [{c.model for c in cases if c.poisoned is poisoned} for poisoned in (True, False)]
    return min(map(len, kinds)) >= FEWEST_TO_LEARN


def left_out_logits(
    cases: Sequence[Case], parts: Sequence[Fold], names: tuple[str, ...], ridge: float
) -> Array:
    """The logit of every case by weights that have not seen its family."""
    logits = np.zeros(len(cases))
    for kept, left in parts:
        weights = fit([cases[i] for i in kept], names, ridge)
        logits[left] = [weights.logit(cases[i]) for i in left]
    return logits


def simplest(cases: Sequence[Case], unseen: Sequence[Array]) -> int:
    """The first way whose mean loss is not worse than the best one's by what matters.

    More features make surer of what is told apart anyway; only a difference beyond
    `IMMATERIAL` says that they tell more apart.
    """
    shares = shares_of(cases)
    signs = np.array([1.0 if case.poisoned else -1.0 for case in cases])
    losses = [float(shares @ np.logaddexp(0.0, -signs * logits)) for logits in unseen]
    return next(i for i, loss in enumerate(losses) if loss <= min(losses) + IMMATERIAL)


def thresholds(cases: Sequence[Case], logits: Array) -> tuple[float, float]:
    """Where to convict and where to suspect, as logits.

    The bar is where clean models end: above all of them but one in twenty, and above the
    95 % point of a normal distribution like theirs, since the highest of ten says little.
    Convicted is from the middle of the gap between the bar and the next trojaned model on.
    """
    clean = _highest(cases, logits, poisoned=False)
    allowed = int(CONVICTED_CLEAN * len(clean))
    bar = max(clean[allowed], float(np.mean(clean) + _NORMAL_95 * np.std(clean, ddof=1)))
    above = [logit for logit in _highest(cases, logits, poisoned=True) if logit > bar]
    gap = min(above) - bar if above else _ROOM
    return bar + gap / 2, bar + gap / 4


def _highest(cases: Sequence[Case], logits: Array, *, poisoned: bool) -> list[float]:
    """The highest logit of every model of a kind over its scans, the highest first."""
    found: dict[str, float] = {}
    for case, logit in zip(cases, logits, strict=True):
        if case.poisoned is poisoned:
            found[case.model] = max(float(logit), found.get(case.model, float("-inf")))
    return sorted(found.values(), reverse=True)
