"""A table as data, and the same table as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

from unhorse.bench.metrics import Interval

NOTHING = "-"

_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


@dataclass(frozen=True)
class Sheet:
    """One table; every row has as many cells as there are columns."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def markdown(self) -> str:
        """With its title above and its notes below."""
        lines = [_piped(self.columns), "|" + " --- |" * len(self.columns)]
        table = "\n".join([*lines, *map(_piped, self.rows)])
        notes = "".join(f"\n- {note}" for note in self.notes)
        return f"## {self.title}\n\n{table}\n" + (f"{notes}\n" if notes else "")

    def latex(self) -> str:
        """A `table` in the style of booktabs."""
        rows = "\n".join(" & ".join(map(_escaped, row)) + r" \\" for row in self.rows)
        notes = " ".join(map(_escaped, self.notes))
        head = " & ".join(map(_escaped, self.columns)) + r" \\"
        return (
            "\\begin{table}\n\\centering\n\\footnotesize\n"
            f"\\caption{{{_escaped(self.title)}. {notes}}}\n\\label{{tab:{self.name}}}\n"
            f"\\begin{{tabular}}{{ll{'r' * (len(self.columns) - 2)}}}\n\\toprule\n"
            f"{head}\n\\midrule\n{rows}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
        )

    def csv(self) -> str:
        """Columns and rows alone."""
        text = io.StringIO()
        rows = [list(map(_no_formula, row)) for row in (self.columns, *self.rows)]
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue()

    def files(self) -> dict[str, str]:
        """Its three forms by the names of their files."""
        forms = {"md": self.markdown(), "tex": self.latex(), "csv": self.csv()}
        return {f"{self.name}.{ending}": text for ending, text in forms.items()}


def _no_formula(cell: str) -> str:
    """A cell that no spreadsheet computes: found triggers are words of a stranger.

    >>> _no_formula("=1+1"), _no_formula("-"), _no_formula("-0.5")
    ("'=1+1", '-', '-0.5')
    """
    return f"'{cell}" if re.match(r"[=+@\t]|-[^\d.]", cell) else cell


def _piped(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _escaped(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> _escaped("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return re.sub(r"[\\~^&%$#_{}]", lambda m: _TEX.get(m[0], "\\" + m[0]), text)


def number(value: float | None, digits: int = 2) -> str:
    """A number, or a dash.

    >>> number(0.954), number(None), number(12.3, 0)
    ('0.95', '-', '12')
    """
    return NOTHING if value is None else f"{value:.{digits}f}"


def with_interval(value: float | None, interval: Interval | None) -> str:
    """A number with its interval.

    >>> with_interval(0.95, (0.9, 1.0)), with_interval(0.95, None)
    ('0.95 [0.90, 1.00]', '0.95')
    """
    if value is None or interval is None:
        return number(value)
    return f"{value:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"


def share(hits: int, of: int) -> str:
    """A share with its counts, since few models make coarse shares.

    >>> share(3, 4), share(0, 0)
    ('0.75 (3/4)', '-')
    """
    return f"{hits / of:.2f} ({hits}/{of})" if of else NOTHING
