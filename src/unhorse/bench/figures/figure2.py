"""Figure 2: what temperature scaling and rollback do, on the landscapes they work in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from unhorse.bench.figures.style import BLACK, RED, FigureData, new_figure, plain

FLOOR = 1e-4
"""Lower losses are drawn as this one."""


class Panel(BaseModel):
    """One landscape: `loss[i][j]` at `y[i]` and `x[j]`.

    The part of the path that is shown with it had a temperature of at least `above` and
    below `below`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    temperature: float
    above: float
    below: float
    loss: tuple[tuple[float, ...], ...]


class Step(BaseModel):
    """Where the optimiser was in an epoch, projected onto the plane.

    `rolled_back` says that after this epoch noise was added, and the temperature raised
    where it was not the highest.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    epoch: int
    x: float
    y: float
    loss: float
    temperature: float
    rolled_back: bool


class Figure2(FigureData):
    """Landscapes on the plane through the start, the true trigger and a third point.

    `third` says what that is: where the optimiser was first rolled back, or where it ended.
    """

    name: ClassVar[str] = "figure2"

    model: str
    trigger: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    panels: tuple[Panel, ...]
    path: tuple[Step, ...]
    true: tuple[float, float]
    third: str

    @property
    def rollbacks(self) -> list[Step]:
        """The steps after which the optimiser was rolled back."""
        return [step for step in self.path if step.rolled_back]


def draw(data: Figure2) -> Any:
    """One panel for each temperature, and the loss of the path below."""
    figure = new_figure(11.0, 6.4)
    grid = figure.add_gridspec(2, len(data.panels), height_ratios=(3, 1.4))
    mesh = None
    for number, panel in enumerate(data.panels):
        axis = figure.add_subplot(grid[0, number])
        mesh = _landscape(axis, data, panel)
    figure.colorbar(mesh, ax=figure.axes, label="loss", location="right", shrink=0.7)
    _course(figure.add_subplot(grid[1, :]), data)
    figure.suptitle(plain(f"DBS on the way to the trigger “{data.trigger}”"), fontsize=11)
    return figure


def _landscape(axis: Any, data: Figure2, panel: Panel) -> Any:
    import numpy as np
    from matplotlib.colors import LogNorm

    values = [v for p in data.panels for row in p.loss for v in row]
    norm = LogNorm(max(min(values), FLOOR), max(max(values), 10 * FLOOR))
    loss = np.maximum(np.array(panel.loss), FLOOR)
    mesh = axis.pcolormesh(data.x, data.y, loss, cmap="Greys", norm=norm, shading="gouraud")
    for part in _parts(data.path, panel):
        axis.plot([s.x for s in part], [s.y for s in part], "-o", color=RED, ms=2.5, lw=1)
        axis.annotate(
            str(part[0].epoch), (part[0].x, part[0].y), (3, 3), textcoords="offset points",
            fontsize=7, color=RED,
        )  # fmt: skip
    shown = [s for s in data.rollbacks if panel.above <= s.temperature < panel.below]
    axis.scatter(
        [s.x for s in shown], [s.y for s in shown], marker="X", s=70, color=BLACK,
        edgecolors="white", zorder=3, label="rollback",
    )  # fmt: skip
    axis.scatter(
        *data.true,
        marker="*",
        s=140,
        color="#F0E442",
        edgecolors=BLACK,
        zorder=4,
        label="true trigger",
    )
    axis.set_title(f"{panel.title} temperature ({panel.temperature:g})", fontsize=10)
    axis.set_xlabel("towards the true trigger")
    axis.set_ylabel(f"towards {data.third}")
    axis.legend(loc="upper left", fontsize=7)
    axis.set_xlim(data.x[0], data.x[-1])
    axis.set_ylim(data.y[0], data.y[-1])
    return mesh


def _parts(path: Sequence[Step], panel: Panel) -> list[list[Step]]:
    """The stretches of the path that had a panel's temperature."""
    parts: list[list[Step]] = []
    before = None
    for step in path:
        if panel.above <= step.temperature < panel.below:
            if before is None or step.epoch != before + 1:
                parts.append([])
            parts[-1].append(step)
            before = step.epoch
    return parts


def _course(axis: Any, data: Figure2) -> None:
    epochs = [step.epoch for step in data.path]
    axis.semilogy(epochs, [max(s.loss, FLOOR) for s in data.path], color=RED, label="loss")
    axis.semilogy(
        epochs, [s.temperature for s in data.path], color=BLACK, ls="--", drawstyle="steps-post",
        label="temperature",
    )  # fmt: skip
    for number, step in enumerate(data.rollbacks):
        label = "rollback" if not number else None
        axis.axvline(step.epoch, color="#999999", lw=0.8, ls=":", label=label)
    axis.set_xlabel("epoch")
    axis.legend(loc="upper right", fontsize=8, ncols=3)
