"""A model and samples -> its clean metric row by row, so that two models can be paired.

In every task the metric is a ratio of two sums over rows: right texts of all texts;
twice the entities found rightly of those found and those there are (F1, as conlleval
counts); SQuAD's F1 of each answer of all questions.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

from unhorse.errors import UsageError
from unhorse.judge.measure import wilson
from unhorse.tasks.base import TASKS
from unhorse.tasks.qa import QuestionAnswering
from unhorse.tasks.tokens import TokenClassification
from unhorse.types import LoadedModel, own_answers

Numbers = NDArray[np.float64]

RESAMPLES = 2000
ENOUGH_ROWS = 500
"""Rows from which a fall worth speaking of is seen."""


@dataclass(frozen=True, eq=False)
class Scores:
    """A metric over rows: what each adds above and below the line."""

    metric: str
    hits: Numbers
    possible: Numbers

    @property
    def value(self) -> float:
        """The metric; 1 where there was nothing to find and nothing was found."""
        return float(_ratio(self.hits, self.possible))

    def interval(self, seed: int = 0) -> tuple[float, float]:
        """Its 95 % interval."""
        if self.metric == "accuracy":
            return wilson(round(self.hits.sum()), len(self.hits))
        return _resampled((self.hits, self.possible), _ratio, 0.95, seed)


@dataclass(frozen=True)
class Fall:
    """How much lower a metric is after than before, with its paired 90 % interval.

    `visible` is about the smallest fall that so many rows could have shown.
    """

    value: float
    interval: tuple[float, float]
    visible: float


def check_measurable(task: str) -> None:
    """Says before any work is done that a package is missing."""
    if task != QuestionAnswering.name:
        return
    try:
        import torchmetrics  # noqa: F401
    except ImportError as error:
        raise UsageError(
            "Measuring answers needs torchmetrics (pip install 'unhorse[zoo]')."
        ) from error


def row_scores(loaded: LoadedModel, samples: Sequence[Any]) -> Scores:
    """The task's usual metric, row by row, as in SQuAD 2 for questions without an answer."""
    task, answerer = TASKS.get(loaded.task), own_answers(loaded)
    if isinstance(task, TokenClassification):
        found = [set(entities) for entities in task.entities(answerer, samples)]
        true = [set(sample.entities) for sample in samples]
        pairs = list(zip(found, true, strict=True))
        hits = [2.0 * len(said & there) for said, there in pairs]
        return _scores("entity_f1", hits, [float(len(said) + len(there)) for said, there in pairs])
    if isinstance(task, QuestionAnswering):
        spans = task.spans(answerer, samples)
        each = [_answer_f1(*both) for both in zip(samples, spans, strict=True)]
        return _scores("answer_f1", each)
    right = [float(ok) for (ok,) in task.right(answerer, samples)]
    return _scores("accuracy", right)


def _scores(metric: str, hits: Sequence[float], possible: Sequence[float] | None = None) -> Scores:
    return Scores(metric, np.array(hits), np.array(possible or [1.0] * len(hits)))


def _answer_f1(sample: Any, span: Any) -> float:
    """How much of an answer is right; where there is none to give, giving none is."""
    from torchmetrics.functional.text import squad

    if not sample.answers:
        return float(span is None)
    said = "" if span is None else sample.context[slice(*span)]
    answers = {
        "answer_start": [begin for begin, _ in sample.answers],
        "text": [sample.context[begin:end] for begin, end in sample.answers],
    }
    scored = squad([{"prediction_text": said, "id": "0"}], [{"answers": answers, "id": "0"}])
    return float(scored["f1"]) / 100


def fall(before: Scores, after: Scores, seed: int = 0) -> Fall:
    """How much lower the metric is after; rows are drawn together for both models.

    >>> one = Scores("accuracy", np.ones(100), np.ones(100))
    >>> two = Scores("accuracy", np.repeat([1.0, 0.0], [90, 10]), np.ones(100))
    >>> found = fall(one, two)
    >>> round(found.value, 2), found.interval[0] > 0, fall(one, one).interval
    (0.1, True, (0.0, 0.0))
    """
    parts = (before.hits, before.possible, after.hits, after.possible)

    def difference(a: Numbers, b: Numbers, c: Numbers, d: Numbers, axis: int = -1) -> Any:
        return _ratio(a, b, axis) - _ratio(c, d, axis)

    interval = _resampled(parts, difference, 0.90, seed)
    # Where no row differs, up to three in n may: the rule of three.
    visible = (interval[1] - interval[0]) / 2 or 3 / len(before.hits)
    return Fall(before.value - after.value, interval, visible)


def _ratio(hits: Numbers, possible: Numbers, axis: int = -1) -> Any:
    below = possible.sum(axis)
    return np.where(below > 0, hits.sum(axis) / np.maximum(below, 1e-9), 1.0)


def _resampled(
    parts: tuple[Numbers, ...], statistic: Any, level: float, seed: int
) -> tuple[float, float]:
    if len(parts[0]) < 2:
        value = float(statistic(*parts))
        return value, value
    with warnings.catch_warnings():
        # Rows that are all alike have an interval of no width, which scipy warns of.
        warnings.simplefilter("ignore")
        found = bootstrap(
            parts,
            statistic,
            n_resamples=RESAMPLES,
            batch=200,
            paired=True,
            vectorized=True,
            confidence_level=level,
            method="percentile",
            random_state=np.random.default_rng(seed),
        ).confidence_interval
    return float(found.low), float(found.high)
