"""Cases and the names of a few features -> weights that are never negative.

A model is a bag of findings and is as bad as its worst one. Which one that is depends on
the weights, so both are found in turn: the weights for the findings that stand for their
models, and then the finding of each model that has the highest score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from unhorse.bench.result import Result
from unhorse.calibrate.stored import stored_clues
from unhorse.judge.features import features_of
from unhorse.judge.rule import is_weak

Array = npt.NDArray[np.float64]

_ROUNDS = 10


@dataclass(frozen=True, eq=False)
class Case:
    """One scan of a model whose nature is known, by the features of its findings.

    `kin` is the same for a trojaned model and its clean twin.
    """

    model: str
    kin: str
    family: str
    poisoned: bool
    features: tuple[dict[str, float], ...]

    def matrix(self, names: Sequence[str]) -> Array:
        """Findings by features; a scan without any finding is one that shows nothing."""
        rows = [[finding[name] for name in names] for finding in self.features]
        return np.array(rows or [[0.0] * len(names)])


def case_of(result: Result) -> Case:
    """A result as a case; findings that can never convict have no say."""
    model = result.model
    return Case(
        model=f"{model.suite}/{model.name}",
        kin=model.twin_of or model.name,
        family=model.family,
        poisoned=model.poisoned,
        features=tuple(features_of(c) for c in stored_clues(result) if not is_weak(c)),
    )


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of features, none of them negative, and a bias."""

    names: tuple[str, ...]
    values: Array
    bias: float

    def logit(self, case: Case) -> float:
        """The highest of all findings of a case."""
        return float(np.max(case.matrix(self.names) @ self.values) + self.bias)


def fit(cases: Sequence[Case], names: tuple[str, ...], ridge: float) -> Weights:
    """Logistic regression on the worst finding of every case.

    Trojaned and clean models weigh the same in all, however many there are of each, and so
    does every model, however many seeds it was scanned with.

    Args:
        cases: both kinds.
        names: the features.
        ridge: how strongly weights are held back.
    """
    bags = [case.matrix(names) for case in cases]
    truth, shares = np.array([case.poisoned for case in cases]), shares_of(cases)
    weights = Weights(names, np.ones(len(names)), 0.0)
    chosen: list[int] = []
    for _ in range(_ROUNDS):
        worst = [int(np.argmax(bag @ weights.values)) for bag in bags]
        if worst == chosen:
            break
        chosen = worst
        rows = np.stack([bag[index] for bag, index in zip(bags, chosen, strict=True)])
        values, bias = _solve(rows, truth, shares, ridge)
        weights = Weights(names, values, bias)
    return weights


def shares_of(cases: Sequence[Case]) -> Array:
    """What every case counts: half of all is trojaned, and all models of a kind count alike."""
    scans: dict[str, int] = {}
    for case in cases:
        scans[case.model] = scans.get(case.model, 0) + 1
    kinds = {
        poisoned: len({case.model for case in cases if case.poisoned is poisoned})
        for poisoned in (True, False)
    }
    return np.array([0.5 / kinds[case.poisoned] / scans[case.model] for case in cases])


def _solve(rows: Array, truth: Any, shares: Array, ridge: float) -> tuple[Array, float]:
    signs = np.where(truth, 1.0, -1.0)

    def cost(point: Array) -> tuple[float, Array]:
        values, bias = point[:-1], point[-1]
        margins = signs * (rows @ values + bias)
        losses = np.logaddexp(0.0, -margins)
        # The derivative of a loss by its margin is minus the probability of the other kind.
        pull = -shares * signs * np.exp(-margins - losses)
        slope = np.append(rows.T @ pull + ridge * values, pull.sum())
        return float(shares @ losses + 0.5 * ridge * values @ values), slope

    count = rows.shape[1]
    bounds = [(0.0, None)] * count + [(None, None)]
    found = minimize(cost, np.zeros(count + 1), jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x[:-1], float(found.x[-1])
