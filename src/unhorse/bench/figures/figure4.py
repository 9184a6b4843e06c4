"""Figure 4: loss curves on a trojaned model and on its clean twin, one panel for each method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from unhorse.bench.figures.curves import Curve, by_method, curve_of, plot
from unhorse.bench.figures.style import BLUE, RED, FigureData, method_name, new_figure, plain
from unhorse.bench.result import Result
from unhorse.errors import UsageError

METHODS = ("continuous", "ascc", "uat", "dbs")
TASK = "sequence-classification"


class Panel(BaseModel):
    """A method's curves, each of the arm with the least loss."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str
    trojaned: Curve
    clean: Curve


class Figure4(FigureData):
    """The curves of a pair of models."""

    name: ClassVar[str] = "figure4"

    model: str
    twin: str
    panels: tuple[Panel, ...]


def collect(results: Sequence[Result], model: str | None = None) -> Figure4:
    """The curves of a model and its twin, of the first pair that most methods have scanned.

    Args:
        results: all of them.
        model: the name of the trojaned one.
    """
    chosen = [r for r in results if r.model.task == TASK and not r.model.head_only]
    pairs = {r.model.twin_of: r.model.name for r in chosen if r.model.twin_of is not None}
    if model is not None:
        pairs = {model: pairs[model]} if model in pairs else {}
    panels = {name: _panels(chosen, name, twin) for name, twin in sorted(pairs.items())}
    best = max(panels, key=lambda name: len(panels[name]), default=None)
    if best is None or not panels[best]:
        raise UsageError("No results have curves of a trojaned classifier and of its twin.")
    return Figure4(model=best, twin=pairs[best], panels=tuple(panels[best]))


def _panels(results: Sequence[Result], model: str, twin: str) -> list[Panel]:
    bad = by_method((r for r in results if r.model.name == model), METHODS)
    good = by_method((r for r in results if r.model.name == twin), METHODS)
    made = []
    for method in METHODS:
        if method not in bad or method not in good:
            continue
        trojaned = curve_of(bad[method], of_true_arm=False)
        clean = curve_of(good[method], of_true_arm=False)
        if trojaned is not None and clean is not None:
            made.append(Panel(method=bad[method].label, trojaned=trojaned, clean=clean))
    return made


def draw(data: Figure4) -> Any:
    """Panels in rows of two, with one scale."""
    figure = new_figure(8.4, 3.1 * ((len(data.panels) + 1) // 2))
    columns = min(2, len(data.panels))
    axes = figure.subplots(-(-len(data.panels) // 2), columns, squeeze=False, sharey=True)
    for axis, panel in zip(axes.flat, data.panels, strict=False):
        plot(axis, panel.trojaned, color=RED, label="trojaned")
        plot(axis, panel.clean, color=BLUE, label="clean", ls="--")
        axis.set_title(method_name(panel.method), fontsize=10)
        axis.set_yscale("log")
        axis.set_xlabel("epoch")
        axis.set_ylabel("loss")
        axis.grid(alpha=0.3)
    for axis in list(axes.flat)[len(data.panels) :]:
        axis.set_visible(False)
    axes[0][0].legend()
    figure.suptitle(plain(f"{data.model} and its clean twin"), fontsize=11)
    return figure
