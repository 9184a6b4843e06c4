"""Truths and scores of models -> figures of a detector; intervals by drawing models anew."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterable, Sequence

from unhorse.errors import UsageError

MOST_FALSE = 0.05
"""The share of clean models that may be convicted where the true positive rate is read off."""

SURE = 1e-12
"""How near to certainty a probability may come, as TrojAI's own scoring has it."""

DRAWS = 1000

Interval = tuple[float, float]


def check_installed() -> None:
    """Says what is missing for a table before any scan is made for it."""
    if importlib.util.find_spec("sklearn") is None:
        raise UsageError("A table needs scikit-learn; install it with: pip install 'unhorse[zoo]'.")


def mean(values: Iterable[float]) -> float | None:
    """The mean; None of nothing.

    >>> mean([True, False]), mean([])
    (0.5, None)
    """
    found = list(values)
    return sum(found) / len(found) if found else None


def auroc(truth: Sequence[bool], scores: Sequence[float]) -> float | None:
    """How often a trojaned model scores higher than a clean one; None without both.

    >>> auroc([True, False, True], [0.9, 0.1, 0.5]), auroc([True], [0.2])
    (1.0, None)
    """
    if len(set(truth)) < 2:
        return None
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, finite(scores)))


def finite(scores: Sequence[float]) -> list[float]:
    """The same order without infinities, which stand for "nothing found" or "sure".

    >>> finite([1.0, -math.inf, 3.0, math.inf])
    [1.0, 0.0, 3.0, 4.0]
    """
    known = [score for score in scores if math.isfinite(score)] or [0.0]
    return [min(max(score, min(known) - 1.0), max(known) + 1.0) for score in scores]


def tpr_at_fpr(
    truth: Sequence[bool], scores: Sequence[float], most: float = MOST_FALSE
) -> float | None:
    """The share of trojaned models above a threshold that at most so many clean ones pass.

    >>> tpr_at_fpr([True, True, False, False], [0.9, 0.2, 0.3, 0.1])
    0.5
    """
    clean = sorted((s for s, bad in zip(scores, truth, strict=True) if not bad), reverse=True)
    trojaned = [s for s, bad in zip(scores, truth, strict=True) if bad]
    if not clean or not trojaned:
        return None
    # The first clean score that may not pass: one has to be above it.
    barrier = clean[min(math.floor(most * len(clean)), len(clean) - 1)]
    return sum(score > barrier for score in trojaned) / len(trojaned)


def cross_entropy(truth: Sequence[bool], probabilities: Sequence[float]) -> float | None:
    """TrojAI's measure: the mean of -ln of the probability that was given to the truth.

    >>> round(cross_entropy([True, False], [0.5, 0.5]), 3)
    0.693
    """
    given = [p if bad else 1 - p for bad, p in zip(truth, probabilities, strict=True)]
    return mean(-math.log(min(max(p, SURE), 1 - SURE)) for p in given)


def bootstrap(
    figure: Callable[[Sequence[int]], float | None], size: int, draws: int = DRAWS
) -> Interval | None:
    """A 95 % interval of a figure over models, by drawing as many models anew.

    Args:
        figure: the figure of the models of these numbers; None where it has none.
        size: how many models.
        draws: how often.

    >>> bootstrap(lambda chosen: mean(float(i < 5) for i in chosen), 10, 200)
    (0.2, 0.8)
    """
    import numpy as np

    if size < 2:
        return None
    generator = np.random.default_rng(0)
    chosen = generator.integers(0, size, (draws, size)).tolist()
    values = [value for rows in chosen if (value := figure(rows)) is not None]
    if not values:
        return None
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact p that two methods differ, from the models that only one of them has right.

    >>> mcnemar(0, 0), round(mcnemar(1, 9), 4)
    (1.0, 0.0215)
    """
    from scipy.stats import binomtest

    apart = only_first + only_second
    return float(binomtest(only_first, apart, 0.5).pvalue) if apart else 1.0
