"""Results -> the loss curves that a figure shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from unhorse.bench.figures.style import colour_of, method_name
from unhorse.bench.group import to_be_shown
from unhorse.bench.result import Result, Trigger

DBS_AS_COMPARED = "dbs:paper"


class Curve(BaseModel):
    """The loss of every epoch of one arm."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str
    arm: str
    loss: tuple[float | None, ...]


def labels_of(method: str) -> tuple[str, ...]:
    """How results of a method may be labelled, the one that is preferred first.

    >>> labels_of("dbs"), labels_of("uat")
    (('dbs:paper', 'dbs'), ('uat', 'uat:paper'))
    """
    return (DBS_AS_COMPARED, "dbs") if method == "dbs" else (method, f"{method}:paper")


def by_method(results: Iterable[Result], methods: Sequence[str]) -> dict[str, Result]:
    """For each method that has scanned a model the result to be shown."""
    found = to_be_shown(results)
    chosen: dict[str, Result] = {}
    for method in methods:
        for label in labels_of(method):
            some = [r for r in found if r.label == label and r.curves]
            if some:
                chosen[method] = some[0]
                break
    return chosen


def curve_of(result: Result, *, of_true_arm: bool) -> Curve | None:
    """The curve of the arm with the least loss, or of the best true one."""
    known = [t for t in result.triggers if t.inversion_loss is not None]
    arms = [t for t in known if t.true_arm] if of_true_arm else known

    def loss(trigger: Trigger) -> float:
        return trigger.inversion_loss if trigger.inversion_loss is not None else math.inf

    best = min(arms, key=loss, default=None)
    for curve in result.curves:
        if best is not None and (curve.arm, curve.preset) == (best.arm, best.preset):
            return Curve(method=result.label, arm=curve.arm, loss=curve.loss)
    return None


def plot(axis: Any, curve: Curve, **style: Any) -> None:
    """One line; an epoch without a number is a gap."""
    losses = [math.nan if loss is None else max(loss, 1e-6) for loss in curve.loss]
    given = {"color": colour_of(curve.method), "label": method_name(curve.method), "lw": 1.4}
    axis.plot(range(1, len(losses) + 1), losses, **{**given, **style})
