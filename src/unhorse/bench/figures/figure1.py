"""Figure 1: the loss around the true trigger at a low temperature, which is rugged."""

from __future__ import annotations

from typing import Any, ClassVar

from unhorse.bench.figures.style import BLACK, FigureData, new_figure, plain


class Figure1(FigureData):
    """Losses on a square around the true trigger's weights.

    `loss[i][j]` is the loss at `y[i]` and `x[j]`, which are steps along two random
    directions; at 1 another token weighs as much as the true one in some slot.
    """

    name: ClassVar[str] = "figure1"

    model: str
    trigger: str
    temperature: float
    x: tuple[float, ...]
    y: tuple[float, ...]
    loss: tuple[tuple[float, ...], ...]


def draw(data: Figure1) -> Any:
    """A surface, and the same from above."""
    import numpy as np

    figure = new_figure(10.4, 4.4)
    grid = figure.add_gridspec(1, 2, width_ratios=(1.15, 1), wspace=0.12)
    x, y = np.meshgrid(data.x, data.y)
    loss = np.array(data.loss)
    solid = figure.add_subplot(grid[0, 0], projection="3d")
    solid.plot_surface(x, y, loss, cmap="viridis", rcount=len(data.y), ccount=len(data.x))
    solid.view_init(elev=42, azim=-55)
    flat = figure.add_subplot(grid[0, 1])
    mesh = flat.pcolormesh(x, y, loss, cmap="viridis", shading="nearest")
    flat.plot(0, 0, "*", markersize=16, color="white", markeredgecolor=BLACK, label="true trigger")
    flat.legend(loc="upper right", fontsize=8, facecolor="lightgrey", framealpha=0.95)
    figure.colorbar(mesh, ax=flat, label="loss")
    for axis in (solid, flat):
        axis.set_xlabel("first random direction", fontsize=9)
        axis.set_ylabel("second random direction", fontsize=9)
        axis.tick_params(labelsize=8)
    figure.suptitle(
        plain(f"Loss around the trigger “{data.trigger}” at temperature {data.temperature:g}"),
        fontsize=11,
    )
    return figure
