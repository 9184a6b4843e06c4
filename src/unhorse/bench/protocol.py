"""The paper's decision: a threshold on what a method's own source decides from.

A method's score of a model is its best over all arms (the loss with its sign turned, so
that higher is worse). The threshold, the paper's beta, is learnt on models of the
calibration split; the *oracle* threshold is learnt on the very models that are judged,
which shows what the scores could have given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from unhorse.bench.metrics import finite
from unhorse.bench.result import Result
from unhorse.report.schema import NativeRecord


def own_score(result: Result) -> float:
    """What the method's own source decides from, over all arms; higher is worse."""
    return max((_badness(t.native) for t in result.triggers if t.native), default=-math.inf)


def _badness(native: NativeRecord) -> float:
    if native.value is None:
        return -math.inf
    return -native.value if native.low_is_bad else native.value


def decides_itself(results: Sequence[Result]) -> bool:
    """Whether a method has a test of its own that needs no threshold from other models."""
    natives = [t.native for r in results for t in r.triggers if t.native is not None]
    return bool(natives) and all(native.convicts is not None for native in natives)


def convicts(result: Result) -> bool:
    """What a method's own test says, for one that has one."""
    return any(t.native is not None and bool(t.native.convicts) for t in result.triggers)


def best_threshold(truth: Sequence[bool], scores: Sequence[float]) -> float | None:
    """The threshold above which most models are told rightly; None without both kinds.

    Tried are the middles between neighbouring scores. Where several are equally good the
    middle one is taken, so that neither kind of model lies nearer to it than need be.

    >>> best_threshold([True, True, False, False], [-0.1, -0.2, -1.0, -3.0])
    -0.6
    >>> best_threshold([True, False], [-math.inf, -math.inf]) is None
    True
    """
    if len(set(truth)) < 2 or len({*scores}) < 2:
        return None
    known = sorted({*finite(scores)})
    # Beyond the lowest and the highest all models are convicted, or none.
    middles = [known[0] - 1, *((a + b) / 2 for a, b in pairwise(known)), known[-1] + 1]

    def right(threshold: float) -> int:
        return sum((s > threshold) == bad for bad, s in zip(truth, scores, strict=True))

    most = max(map(right, middles))
    best = [threshold for threshold in middles if right(threshold) == most]
    return best[len(best) // 2]


def learnt_threshold(calibration: Sequence[Result]) -> float | None:
    """Beta, from results of calibration models by the same method on the same task."""
    truth = [result.model.poisoned for result in calibration]
    return best_threshold(truth, [own_score(result) for result in calibration])


def paper_decisions(results: Sequence[Result], threshold: float | None) -> list[bool] | None:
    """Which models the paper's protocol convicts; None if there is nothing to decide by.

    Args:
        results: of one method.
        threshold: of its scores; a method with a test of its own needs none.
    """
    if decides_itself(results):
        return [convicts(result) for result in results]
    if threshold is None:
        return None
    return [own_score(result) > threshold for result in results]
