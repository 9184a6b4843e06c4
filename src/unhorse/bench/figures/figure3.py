"""Figure 3: the loss of several methods over the epochs on one trojaned question answerer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from unhorse.bench.figures.curves import Curve, by_method, curve_of, plot
from unhorse.bench.figures.style import FigureData, new_figure, plain
from unhorse.bench.result import Result
from unhorse.errors import UsageError

METHODS = ("ascc", "uat", "dbs")
TASK = "question-answering"


class Figure3(FigureData):
    """The curve of the true arm for each method."""

    name: ClassVar[str] = "figure3"

    model: str
    trigger: str
    curves: tuple[Curve, ...]


def collect(results: Sequence[Result], model: str | None = None) -> Figure3:
    """The curves of a model, or of the first that most of the methods have scanned.

    Args:
        results: all of them.
        model: the name of a trojaned question answerer.
    """
    chosen = [r for r in results if r.model.task == TASK and r.model.poisoned]
    names = [model] if model else list(dict.fromkeys(r.model.name for r in chosen))
    curves = {name: _curves([r for r in chosen if r.model.name == name]) for name in names}
    best = max(curves, key=lambda name: len(curves[name]), default=None)
    if best is None or not curves[best]:
        raise UsageError("No result has curves of a trojaned question answerer.")
    trigger = next(r.model.trigger for r in chosen if r.model.name == best)
    return Figure3(model=best, trigger=trigger, curves=tuple(curves[best]))


def _curves(results: Sequence[Result]) -> list[Curve]:
    found = by_method(results, METHODS).values()
    return [c for result in found if (c := curve_of(result, of_true_arm=True)) is not None]


def draw(data: Figure3) -> Any:
    """One line for each method."""
    figure = new_figure(6.0, 3.8)
    axis = figure.subplots()
    for curve in data.curves:
        plot(axis, curve)
    axis.set_yscale("log")
    axis.set_xlabel("epoch")
    axis.set_ylabel("loss")
    axis.grid(alpha=0.3)
    axis.legend()
    axis.set_title(plain(f"Trojaned question answerer {data.model}"), fontsize=10)
    return figure
