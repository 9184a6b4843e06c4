"""What all figures have in common: a data file to draw from, colours, sizes, how they are saved."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from unhorse.config import one_sentence
from unhorse.errors import UsageError

# Okabe and Ito's colours, which the colour-blind can tell apart.
RED, BLUE, GREEN, ORANGE, PURPLE, BLACK = (
    "#D55E00",
    "#0072B2",
    "#009E73",
    "#E69F00",
    "#CC79A7",
    "#222222",
)

METHOD_COLOURS = {
    "dbs": RED,
    "ascc": GREEN,
    "uat": BLUE,
    "continuous": PURPLE,
    "gcg": ORANGE,
}

NAMES = {"ascc": "ASCC", "uat": "UAT", "dbs": "DBS", "gcg": "GCG", "gbda": "GBDA", "ga": "GA"}

FORMATS = ("svg", "png")


class FigureData(BaseModel):
    """What a figure is drawn from; the picture needs nothing else."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The data of this figure in a folder."""
        path = folder / f"{cls.name}.json"
        try:
            return cls.model_validate_json(path.read_bytes())
        except OSError as error:
            raise UsageError(f"{path} cannot be read.") from error
        except ValidationError as error:
            raise UsageError(one_sentence(error, f"{path} is not the data of a figure")) from error

    def write(self, folder: Path) -> Path:
        """Stores the data in a folder."""
        path = folder / f"{self.name}.json"
        with _writing(folder):
            path.write_text(self.model_dump_json() + "\n", encoding="utf-8")
        return path


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """A folder that files can be written to, or one sentence why not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}.") from error


def check_installed() -> None:
    """Says what is missing before any work is done."""
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("Figures need matplotlib: pip install 'unhorse[figures]'.")


def new_figure(width: float, height: float) -> Any:
    """An empty picture, in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Any, folder: Path, name: str) -> list[Path]:
    """The picture in every format; the same data give the same bytes of SVG."""
    import matplotlib

    paths = [folder / f"{name}.{ending}" for ending in FORMATS]
    settings = {"svg.hashsalt": name, "svg.fonttype": "none"}
    with _writing(folder), matplotlib.rc_context(settings):
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else None
            figure.savefig(path, dpi=150, metadata=metadata)
    return paths


def plain(text: str) -> str:
    """Text in which a dollar sign does not start a formula.

    >>> print(plain("5 $"))
    5 \\$
    """
    return text.replace("$", r"\$")


def method_name(label: str) -> str:
    """A method as a legend names it.

    >>> method_name("dbs:paper"), method_name("continuous")
    ('DBS (paper)', 'continuous')
    """
    method, _, preset = label.partition(":")
    name = NAMES.get(method, method)
    return f"{name} ({preset})" if preset else name


def colour_of(label: str) -> str:
    """A method's colour, the same in all figures."""
    return METHOD_COLOURS.get(label.partition(":")[0], BLACK)
