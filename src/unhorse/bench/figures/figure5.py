"""Figure 5: the loss of the best trigger found in models of three advanced attacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from unhorse.bench.figures.style import BLACK, BLUE, RED, FigureData, method_name, new_figure
from unhorse.bench.group import to_be_shown
from unhorse.bench.protocol import best_threshold
from unhorse.bench.result import Result
from unhorse.errors import UsageError

ATTACKS = {"hidden_killer": "Hidden Killer", "lws": "Combination lock (LWS)", "sos": "SOS"}

SHARED_CLEAN = {"hidden_killer": ("hidden_killer", "lws"), "lws": ("hidden_killer", "lws")}
"""Attacks on the same data share their clean models, as in the paper."""

SMALLEST = 1e-6


class Point(BaseModel):
    """A model and the least loss of a trigger that was found in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    loss: float


class Panel(BaseModel):
    """The models of one attack; `beta` is the threshold that tells them apart best."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attack: str
    trojaned: tuple[Point, ...]
    clean: tuple[Point, ...]
    beta: float | None
    accuracy: float | None


class Figure5(FigureData):
    """All attacks of the figure that there are results of."""

    name: ClassVar[str] = "figure5"

    method: str
    panels: tuple[Panel, ...]


def collect(results: Sequence[Result], method: str, splits: Sequence[str]) -> Figure5:
    """The losses of one method on the models of some splits."""
    chosen = [
        r
        for r in to_be_shown(results)
        if r.label == method
        and r.model.standing == "advanced"
        and r.model.split in splits
        and r.least_loss is not None
    ]
    panels = [panel for attack in ATTACKS if (panel := _panel(chosen, attack)) is not None]
    if not panels:
        raise UsageError(f"No result of {method} is of an advanced attack.")
    return Figure5(method=method, panels=tuple(panels))


def _panel(results: Sequence[Result], attack: str) -> Panel | None:
    shared = SHARED_CLEAN.get(attack, (attack,))
    bad = [_point(r) for r in results if r.model.poisoned and r.model.attack == attack]
    good = [_point(r) for r in results if not r.model.poisoned and r.model.attack in shared]
    if not bad:
        return None
    truth = [True] * len(bad) + [False] * len(good)
    scores = [-point.loss for point in (*bad, *good)]
    threshold = best_threshold(truth, scores)
    right = None
    if threshold is not None:
        said = [score > threshold for score in scores]
        right = sum(a == b for a, b in zip(said, truth, strict=True)) / len(truth)
    return Panel(
        attack=attack,
        trojaned=tuple(bad),
        clean=tuple(good),
        beta=None if threshold is None else -threshold,
        accuracy=right,
    )


def _point(result: Result) -> Point:
    least = result.least_loss
    assert least is not None and least.inversion_loss is not None
    return Point(model=result.model.name, loss=least.inversion_loss)


def draw(data: Figure5) -> Any:
    """One panel for each attack: circles are trojaned models, squares clean ones."""
    figure = new_figure(3.6 * len(data.panels), 3.6)
    axes = figure.subplots(1, len(data.panels), squeeze=False, sharey=True)[0]
    for axis, panel in zip(axes, data.panels, strict=True):
        for points, colour, marker, label in (
            (panel.trojaned, RED, "o", "trojaned"),
            (panel.clean, BLUE, "s", "clean"),
        ):
            losses = [max(point.loss, SMALLEST) for point in points]
            numbers = range(1, len(losses) + 1)
            axis.scatter(numbers, losses, color=colour, marker=marker, label=label, s=34, alpha=0.8)
        if panel.beta is not None:
            said = f"best β = {panel.beta:.2g} (accuracy {panel.accuracy:.2f})"
            axis.axhline(panel.beta, color=BLACK, ls="--", lw=1, label=said)
        axis.set_yscale("log")
        axis.set_title(ATTACKS.get(panel.attack, panel.attack), fontsize=10)
        axis.set_xlabel("model")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    axes[0].set_ylabel(f"least loss, {method_name(data.method)}")
    return figure
