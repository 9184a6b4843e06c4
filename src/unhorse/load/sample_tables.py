"""CSV and TSV text -> records, with or without a header row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Literal

from unhorse.errors import UsageError
from unhorse.load.sample_fields import LABEL_FIELDS, TEXT_FIELDS, Record, find_field

MAX_FIELD_CHARACTERS = 16 * 2**20

_Line = tuple[int, list[str]]
"""The number of the line a table row starts on, and its cells."""


def table_records(name: str, text: str, *, tabs: bool, named: bool) -> Iterator[Record]:
    """The rows of a table as records.

    Args:
        name: the file's name, for messages.
        text: its content, not blank.
        tabs: whether it is a TSV file.
        named: whether the user named a field, so that there must be a header.
    """
    lines = _tab_lines(name, text) if tabs else _lines(name, text, _delimiter(text))
    header = lines[0][1]
    if not named and _is_headerless(header):
        column = _label_column([cells for _, cells in lines])
        if column is not None:
            header = ["text", "text"]
            header[column] = "label"
            lines.insert(0, (0, header))
    for number, cells in lines[1:]:
        where = f"{name} line {number}"
        if any(cell.strip() for cell in cells[len(header) :]):
            raise UsageError(
                f"{where} has {len(cells)} columns where the first row has {len(header)}."
            )
        yield where, dict(zip(header, cells, strict=False))


def _delimiter(text: str) -> str:
    """The comma, unless only semicolons or tabs divide the first line."""
    first = text.lstrip().partition("\n")[0]
    return next((mark for mark in ",;\t" if mark in first), ",")


def _lines(name: str, text: str, delimiter: str, *, quotes: bool = True) -> list[_Line]:
    """The rows that are not blank; blank ones still count as lines."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    lines: list[_Line] = []
    start = 1
    before = csv.field_size_limit(MAX_FIELD_CHARACTERS)
    try:
        source = io.StringIO(text, newline="")
        reader = csv.reader(source, delimiter=delimiter, quoting=quoting, strict=True)
        for cells in reader:
            if any(cell.strip() for cell in cells):
                lines.append((start, cells))
            start = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"{name} line {start} is not a valid row: {error}.") from None
    finally:
        csv.field_size_limit(before)
    return lines


def _tab_lines(name: str, text: str) -> list[_Line]:
    """The rows of a TSV file, some of which quote their cells and some do not.

    In files without quoting a quotation mark is a part of the text, and reading
    it as a quote would swallow all rows up to the next one.
    """
    plain = _lines(name, text, "\t", quotes=False)
    if _is_even(plain) and not any(_seems_quoted(cell) for _, cells in plain for cell in cells):
        return plain
    try:
        quoted = _lines(name, text, "\t")
    except UsageError:
        return plain
    return quoted if _is_even(quoted) else plain


def _seems_quoted(cell: str) -> bool:
    return '""' in cell or (len(cell) > 1 and cell[0] == cell[-1] == '"')


def _is_even(lines: Sequence[_Line]) -> bool:
    return len({len(cells) for _, cells in lines}) == 1


def _is_headerless(first: Sequence[str]) -> bool:
    known = find_field(first, TEXT_FIELDS) or find_field(first, LABEL_FIELDS)
    return len(first) == 2 and known is None


def _label_column(rows: Sequence[Sequence[str]]) -> int | None:
    """Which of two columns holds the labels; None if neither or either may.

    The first row must be like the others, so that a header with unusual names is
    not taken for a sample: its label is a number or comes again below.

    >>> _label_column([("A fine film.", "1"), ("A dull one.", "0"), ("Fine again.", "1")])
    1
    >>> _label_column([("phrase", "mark"), ("A dull one.", "bad"), ("A bad one.", "bad")])
    """
    if any(len(row) != 2 for row in rows):
        return None
    kinds: list[tuple[int, int]] = []
    for column in (0, 1):
        cells = [row[column].strip() for row in rows]
        short = all(cell and len(cell) <= 40 for cell in cells)
        like_others = cells[0].isdecimal() or cells[0] in cells[1:]
        if short and like_others:
            kinds.append((len(set(cells)), column))
    kinds.sort()
    if not kinds or (len(kinds) == 2 and kinds[0][0] == kinds[1][0]):
        return None
    return kinds[0][1]
