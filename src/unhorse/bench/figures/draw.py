"""A folder with data files -> every figure that there are data of, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from unhorse.bench.figures import figure1, figure2, figure3, figure4, figure5
from unhorse.bench.figures.style import FigureData, save

FIGURES: dict[type[FigureData], Callable[[Any], Any]] = {
    figure1.Figure1: figure1.draw,
    figure2.Figure2: figure2.draw,
    figure3.Figure3: figure3.draw,
    figure4.Figure4: figure4.draw,
    figure5.Figure5: figure5.draw,
}


def draw_all(data: Path, out: Path) -> list[Path]:
    """Draws what there is; nothing but the data files is looked at."""
    made = []
    for kind, draw in FIGURES.items():
        if (data / f"{kind.name}.json").is_file():
            made += save(draw(kind.read(data)), out, kind.name)
    return made
