"""A sample file, folder, dataset name or samples in memory -> Rows of one kind.

Sample files are untrusted: sizes are bounded, nothing in them is executed, and
whatever cannot be read is a UsageError that names the place.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from unhorse.errors import UsageError
from unhorse.load.sample_datasets import dataset_records, is_dataset_name
from unhorse.load.sample_fields import Found, rows_of
from unhorse.load.sample_questions import question_rows
from unhorse.load.sample_tables import table_records
from unhorse.load.sample_tokens import conll_records, token_rows
from unhorse.types import Row

MAX_FILE_BYTES = 256 * 2**20

Kind = Literal["text", "tokens", "questions"]
"""What a sample is: a text with a label, a sentence with tags, or a question."""

InMemory = Sequence[tuple[Any, ...]] | Sequence[Mapping[str, Any]]

_TABLES = (".csv", ".tsv", ".tab")
_JSON = (".jsonl", ".ndjson", ".json")
_CONLL = (".conll", ".iob", ".iob2", ".bio", ".txt", ".tsv")
_READ: dict[Kind, tuple[str, ...]] = {
    "text": (*_JSON, *_TABLES),
    "tokens": (*_JSON, *_CONLL),
    "questions": (*_JSON, *_TABLES),
}
# A missing file of these kinds is a missing file, not the name of a dataset.
_NOT_READ = (".parquet", ".arrow", ".xlsx", ".xls", ".gz", ".zip", ".pkl", ".xml", ".yaml")
_FILES = (*_JSON, *_TABLES, *_CONLL, *_NOT_READ)
_EXAMPLE = re.compile(r"class_(?P<label>.+)_example_(?P<number>\d{1,9})\.txt", re.IGNORECASE)

_PARTS: dict[Kind, tuple[str, ...]] = {
    "text": ("text", "label"),
    "tokens": ("tokens", "tags"),
    "questions": ("question", "context", "answer"),
}
_NEEDS: dict[Kind, str] = {
    "text": "a text and a label",
    "tokens": "words and their tags",
    "questions": "a question, a context and an answer or None",
}


@dataclass(frozen=True)
class Rows:
    """Samples before a task has looked at them, and a sentence for each one left out."""

    rows: list[Row]
    problems: tuple[str, ...] = ()


def read_rows(
    source: str,
    kind: Kind = "text",
    *,
    text_field: str | None = None,
    label_field: str | None = None,
) -> Rows:
    """Reads samples of one kind.

    The fields of every row are, by kind:

    - text: `text` (a str) and `label` (as found);
    - tokens: `tokens` (words without white space) and as many `tags` (as found);
    - questions: `question`, `context` and `answers`, a list of a `text` and its
      `start` in the context each, empty if the context has no answer.

    A source is one of:

    - a `.jsonl` or `.ndjson` file, or a `.json` file with a list of objects, and
      for questions also one in the form of SQuAD;
    - a `.csv`, `.tsv` or `.tab` file with a header row, or for texts without one
      if it has two columns of which one holds labels;
    - for tokens a file with one word and its tag per line and blank lines between
      sentences (`.conll`, `.iob`, `.iob2`, `.bio`, `.txt`, `.tsv` or no suffix);
    - for texts a folder of files named like `class_0_example_12.txt`, as in TrojAI;
    - a Hugging Face dataset: `name` or `org/name`, then optionally `:config`,
      then optionally `@split`. Without a split it is validation, else test, else
      train; a few thousand rows of it are read, and no code of it is run.

    Blank lines and blank texts are skipped. Outer white space is removed from a
    text or word, a NUL in it becomes a space, and half of a surrogate pair
    U+FFFD. Questions and contexts keep all their white space. Of rows with the
    same text the first one stays, also where labels differ: the model's own
    answer tells later whether that label is of use.

    A text that cannot be used ends the reading; a sentence or question is left
    out and becomes one of the problems.

    Args:
        source: a path, or the name of a dataset.
        kind: what a sample is.
        text_field: the field with the text, words or context; guessed from common
            names if None.
        label_field: the field with the label, tags or answers; guessed likewise.

    Raises:
        UsageError: there is nothing there, or it cannot be read as samples.
    """
    named = text_field is not None or label_field is not None
    try:
        found = _records(source, kind, named=named)
        return _rows(found, kind, f"There are no samples in {source!r}", text_field, label_field)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageError(f"The samples {source!r} cannot be read: {reason}.") from None


def rows_in_memory(given: InMemory, kind: Kind = "text") -> Rows:
    """Samples handed over in memory, as mappings or as tuples.

    A tuple is a text and its label, words and their tags, or a question, its
    context and the text of its answer (None if it has none).

    Raises:
        UsageError: none is given or can be used, or a text lacks its label.

    >>> rows_in_memory([("Good.", 1)]).rows
    [Row(where='sample 1', fields={'text': 'Good.', 'label': 1})]
    >>> rows_in_memory([(["In", "Rome"], ["O", "B-LOC"]), (["In"], [])], "tokens").problems
    ('sample 2 has 1 words but 0 tags.',)
    """
    found = [_handed(number, item, kind) for number, item in enumerate(given, 1)]
    if not found:
        raise UsageError("No samples were given.")
    if kind == "text":
        return Rows([_text_row(number, item) for number, item in enumerate(found, 1)])
    return _rows(found, kind, "None of the samples can be used")


def sample_key(text: str) -> str:
    """A short name for a sample that depends on its text alone.

    >>> sample_key("A text.")
    '3b6444e203f18aca'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _rows(
    found: Iterable[Found],
    kind: Kind,
    nothing: str,
    text_field: str | None = None,
    label_field: str | None = None,
) -> Rows:
    """Rows of a kind; if there are none, the refusal starts with `nothing`."""
    if kind == "tokens":
        rows = Rows(*token_rows(found, text_field, label_field))
    elif kind == "questions":
        rows = Rows(*question_rows(found, text_field, label_field))
    else:
        rows = Rows(rows_of(found, text_field, label_field))
    if not rows.rows:
        raise UsageError(f"{nothing}: {rows.problems[0]}" if rows.problems else f"{nothing}.")
    return rows


def _handed(number: int, item: object, kind: Kind) -> Found:
    parts = _PARTS[kind]
    if isinstance(item, Mapping):
        return f"sample {number}", {str(field): value for field, value in item.items()}
    if isinstance(item, tuple | list) and len(item) == len(parts):
        return f"sample {number}", dict(zip(parts, item, strict=True))
    return f"Sample {number} needs {_NEEDS[kind]}."


def _text_row(number: int, found: Found) -> Row:
    where, fields = ("", {}) if isinstance(found, str) else found
    if not isinstance(fields.get("text"), str) or "label" not in fields:
        raise UsageError(f"Sample {number} needs {_NEEDS['text']}.")
    return Row(where, dict(fields))


def _records(source: str, kind: Kind, *, named: bool) -> Iterable[Found]:
    try:
        path = Path(source).expanduser()
    except RuntimeError:  # a home directory that nobody has
        path = Path(source)
    if path.is_dir():
        if kind != "text":
            raise UsageError(f"{source!r} is a folder, where a file of samples must be.")
        return _folder_records(path)
    if path.exists():
        return _file_records(path, kind, named=named)
    name = re.split("[:@]", source)[0]
    if is_dataset_name(source) and not name.lower().endswith(_FILES):
        if Path(name).exists():
            raise UsageError(f"{name!r} is a path here, so it takes no config or split.")
        return dataset_records(source)
    raise UsageError(f"There is no sample file or folder {source!r}.")


def _file_records(path: Path, kind: Kind, *, named: bool) -> Iterable[Found]:
    suffix, name = path.suffix.lower(), _shown(path)
    conll = kind == "tokens" and suffix in ("", *_CONLL)
    if not conll and suffix not in _READ[kind]:
        known = ", ".join(_READ[kind])
        raise UsageError(f"{name} is not a kind of sample file; use one of {known}.")
    text = _read(path)
    if not text.strip():
        raise UsageError(f"{name} is empty.")
    if conll:
        return conll_records(name, text)
    if suffix in _TABLES:
        # Three columns cannot be told apart without their names.
        return table_records(name, text, tabs=suffix != ".csv", named=named or kind == "questions")
    if suffix == ".json" and text.lstrip().startswith("["):
        return _json_list_records(name, text)
    if suffix == ".json" and kind != "text" and not _is_json_lines(text):
        return [_object(name, _parsed(name, 1, text))]
    return _json_line_records(name, text)


def _json_list_records(name: str, text: str) -> Iterator[Found]:
    for number, item in enumerate(_parsed(name, 1, text), 1):
        yield _object(f"{name} item {number}", item)


def _json_line_records(name: str, text: str) -> Iterator[Found]:
    # Not splitlines(): a JSON string may hold line separators of other kinds, such as U+2028.
    for number, line in enumerate(io.StringIO(text, newline=None), 1):
        if line.strip():
            yield _object(f"{name} line {number}", _parsed(name, number, line.strip()))


def _is_json_lines(text: str) -> bool:
    """Whether the first of several lines is JSON by itself.

    >>> [_is_json_lines(text) for text in ('{}\\n{}', '{\\n}', '{}\\n')]
    [True, False, False]
    """
    first, _, others = text.strip().partition("\n")
    if not others:
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


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


def _object(where: str, item: object) -> Found:
    return (where, item) if isinstance(item, dict) else f"{where} is not a JSON object."


def _folder_records(folder: Path) -> Iterator[Found]:
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
