"""A sample file, folder or dataset name -> Rows with a text and a raw label.

Sample files are untrusted: sizes are bounded, nothing in them is executed, and
whatever cannot be read is a UsageError that names the place.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from unhorse.errors import UsageError
from unhorse.load.sample_datasets import dataset_records, is_dataset_name
from unhorse.load.sample_fields import Record, rows_of
from unhorse.load.sample_tables import table_records
from unhorse.types import Row

MAX_FILE_BYTES = 256 * 2**20

_TABLES = (".csv", ".tsv", ".tab")
_READ = (".jsonl", ".ndjson", ".json", *_TABLES)
# A missing file of these kinds is a missing file, not the name of a dataset.
_NOT_READ = (".txt", ".parquet", ".arrow", ".xlsx", ".xls", ".gz", ".zip", ".pkl", ".xml", ".yaml")
_EXAMPLE = re.compile(r"class_(?P<label>.+)_example_(?P<number>\d{1,9})\.txt", re.IGNORECASE)


def read_rows(
    source: str, *, text_field: str | None = None, label_field: str | None = None
) -> list[Row]:
    """Reads samples; every row's fields are `text` (a str) and `label` (as found).

    A source is one of:

    - a `.jsonl` or `.ndjson` file, or a `.json` file with a list of objects;
    - a `.csv`, `.tsv` or `.tab` file with a header row, or without one if it has
      two columns of which one holds labels;
    - a folder of files named like `class_0_example_12.txt`, as in TrojAI;
    - a Hugging Face dataset: `name` or `org/name`, then optionally `:config`,
      then optionally `@split`. Without a split it is validation, else test, else
      train; a few thousand rows of it are read, and no code of it is run.

    Blank lines and blank texts are skipped. Outer white space is removed from a
    text, a NUL in it becomes a space, and half of a surrogate pair U+FFFD. Of
    rows with the same text the first one stays, also where labels differ: the
    model's own answer tells later whether that label is of use.

    Args:
        source: a path, or the name of a dataset.
        text_field: the field with the text; guessed from common names if None.
        label_field: the field with the label; guessed likewise.

    Raises:
        UsageError: there is nothing there, or it cannot be read as samples.
    """
    named = text_field is not None or label_field is not None
    try:
        rows = rows_of(_records(source, named=named), text_field, label_field)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageError(f"The samples {source!r} cannot be read: {reason}.") from None
    if not rows:
        raise UsageError(f"There are no samples in {source!r}.")
    return rows


def sample_key(text: str) -> str:
    """A short name for a sample that depends on its text alone.

    >>> sample_key("A text.")
    '3b6444e203f18aca'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _records(source: str, *, named: bool) -> Iterable[Record]:
    try:
        path = Path(source).expanduser()
    except RuntimeError:  # a home directory that nobody has
        path = Path(source)
    if path.is_dir():
        return _folder_records(path)
    if path.exists():
        return _file_records(path, named=named)
    name = re.split("[:@]", source)[0]
    if is_dataset_name(source) and not name.lower().endswith((*_READ, *_NOT_READ)):
        if Path(name).exists():
            raise UsageError(f"{name!r} is a path here, so it takes no config or split.")
        return dataset_records(source)
    raise UsageError(f"There is no sample file or folder {source!r}.")


def _file_records(path: Path, *, named: bool) -> Iterable[Record]:
    kind, name = path.suffix.lower(), _shown(path)
    if kind not in _READ:
        raise UsageError(f"{name} is not a kind of sample file; use one of {', '.join(_READ)}.")
    text = _read(path)
    if not text.strip():
        raise UsageError(f"{name} is empty.")
    if kind in _TABLES:
        return table_records(name, text, tabs=kind != ".csv", named=named)
    if kind == ".json" and text.lstrip().startswith("["):
        return _json_list_records(name, text)
    return _json_line_records(name, text)


def _json_list_records(name: str, text: str) -> Iterator[Record]:
    for number, item in enumerate(_parsed(name, 1, text), 1):
        yield _object(f"{name} item {number}", item)


def _json_line_records(name: str, text: str) -> Iterator[Record]:
    # Not splitlines(): a JSON string may hold line separators of other kinds, such as U+2028.
    for number, line in enumerate(io.StringIO(text, newline=None), 1):
        if line.strip():
            yield _object(f"{name} line {number}", _parsed(name, number, line.strip()))


def _parsed(name: str, first_line: int, text: str) -> Any:
    """JSON that starts on a line of a file."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line, reason = first_line + error.lineno - 1, error.msg
    except RecursionError:
        line, reason = first_line, "too deeply nested"
    except ValueError:
        line, reason = first_line, "a number with too many digits"
    raise UsageError(f"{name} line {line} is not valid JSON: {reason}.")


def _object(where: str, item: object) -> Record:
    if not isinstance(item, dict):
        raise UsageError(f"{where} is not a JSON object.")
    return where, item


def _folder_records(folder: Path) -> Iterator[Record]:
    """The examples of a folder, by class and number; other files are left alone."""
    found = [(match, path) for path in folder.iterdir() if (match := _EXAMPLE.fullmatch(path.name))]
    if not found:
        name = _shown(folder.resolve())
        raise UsageError(f"The folder {name} has no files named like class_0_example_12.txt.")
    for match, path in sorted(found, key=lambda item: (item[0]["label"], int(item[0]["number"]))):
        # A link out of the folder could bring any file of this machine into a report.
        if not path.resolve().is_relative_to(folder.resolve()):
            raise UsageError(f"{_shown(path)} is a link that leads out of its folder.")
        yield _shown(path), {"text": _read(path), "label": match["label"]}


def _read(path: Path) -> str:
    name = _shown(path)
    if not path.is_file():
        raise UsageError(f"{name} is not a regular file.")
    if path.stat().st_size > MAX_FILE_BYTES:
        most = MAX_FILE_BYTES // 2**20
        raise UsageError(f"{name} is larger than {most} MiB; a few hundred samples are enough.")
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
        bad = data.find(b"\0")
    except UnicodeDecodeError as error:
        text, bad = "", error.start
    if bad >= 0:
        line = data.count(b"\n", 0, bad) + 1
        raise UsageError(f"{name} line {line} has bytes that are not UTF-8 text.")
    return text


def _shown(path: Path) -> str:
    """The file's name, with control characters escaped."""
    return path.name if path.name.isprintable() else ascii(path.name)[1:-1]
