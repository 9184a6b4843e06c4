"""The loss and temperature of every epoch, in the terminal or as a figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from unhorse.errors import UsageError
from unhorse.report.safe_text import plain, safe_text
from unhorse.report.schema import ScanReport

_BARS = "▁▂▃▄▅▆▇█"


def show_curves(report: ScanReport, console: Console) -> None:
    """Two lines per arm: loss and temperature, both on a logarithmic scale."""
    width = max(20, min(console.width, 100) - 34)
    for curve in report.curves:
        if not curve.loss:
            continue
        losses = [math.nan if x is None else x for x in curve.loss]
        console.print(plain(f"{curve.arm} ({curve.preset})"))
        for name, values in (("loss", losses), ("temperature", list(curve.temperature))):
            span = f"{values[0]:.3g} -> {values[-1]:.3g}, lowest {min(values):.3g}"
            console.print(plain(f"  {name:11s} {sparkline(values, width)} {span}"))


def sparkline(values: Sequence[float], width: int) -> str:
    """Values as a row of bars, on a logarithmic scale, at most `width` of them.

    >>> sparkline([1.0, 0.1, 0.01], 3)
    '█▄▁'
    """
    step = max(1, math.ceil(len(values) / width))
    logs = [
        math.log(max(value, 1e-12)) if math.isfinite(value) else 0.0 for value in values[::step]
    ]
    low, high = min(logs), max(logs)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BARS[int((value - low) * scale)] for value in logs)


def check_drawable(path: str) -> None:
    """Raises before the work if a figure could not be drawn after it."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError as error:
        raise UsageError("Figures need matplotlib: pip install 'unhorse[figures]'.") from error
    ending = Path(path).suffix.lstrip(".").lower()
    if ending not in FigureCanvasAgg.get_supported_filetypes():
        raise UsageError(f"A figure cannot be written as {path}: give it the ending .png.")


def draw_curves(report: ScanReport, path: str) -> None:
    """All arms' curves as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (upper, lower) = pyplot.subplots(2, 1, sharex=True, figsize=(8, 6))
    for curve in report.curves:
        epochs = range(1, len(curve.loss) + 1)
        losses = [math.nan if x is None else x for x in curve.loss]
        # A dollar sign would start a formula.
        name = safe_text(f"{curve.arm} ({curve.preset})").replace("$", r"\$")
        upper.plot(epochs, losses, label=name)
        lower.plot(epochs, curve.temperature)
    upper.set_ylabel("loss")
    upper.legend(fontsize="small")
    lower.set_ylabel("temperature")
    lower.set_xlabel("epoch")
    for axis in (upper, lower):
        axis.set_yscale("log")
    figure.tight_layout()
    try:
        figure.savefig(path, dpi=120)
    except OSError as error:
        raise UsageError(f"The figure {path} cannot be written: {error.strerror}.") from error
    finally:
        pyplot.close(figure)
