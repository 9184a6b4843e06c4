"""Records of any sample source -> Rows: which field is the text, which the label.

What the readers of other kinds of samples share with this is here as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from unhorse.errors import UsageError
from unhorse.types import Row

Record = tuple[str, Mapping[str, Any]]
"""Where a record stands, and its fields."""

Found = Record | str
"""A record, or the sentence that says why there is none at some place."""

MAX_PROBLEMS = 100_000
"""More rows than this are not left out: a file of nothing else would fill the memory."""

TEXT_FIELDS = (
    *("text", "sentence", "content", "review", "document", "tweet", "headline", "comment"),
    *("message", "body", "review_text", "review_body", "reviewtext", "comment_text", "utterance"),
    *("query", "question", "input", "sms", "email", "article", "description", "phrase", "post"),
    *("snippet", "abstract", "title"),
)
"""Common names of the text, the likeliest first."""

LABEL_FIELDS = (
    *("label", "labels", "sentiment", "class", "category", "target", "gold", "gold_label"),
    *("class_label", "label_name", "label_text", "topic", "intent", "emotion", "polarity"),
    *("rating", "stars", "score", "coarse_label", "toxic", "spam", "is_spam", "y", "output"),
    "answer",
)
"""Common names of the label, the likeliest first."""

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def rows_of(records: Iterable[Found], text_field: str | None, label_field: str | None) -> list[Row]:
    """The records as rows with a `text` and a `label`, without repeated and blank texts.

    The first record decides which fields are meant; the others must have them.
    """
    rows: dict[str, Row] = {}
    text_name = label_name = None
    for found in records:
        where, record = _record(found)
        if text_name is None or label_name is None:
            text_name = chosen(where, record, text_field, TEXT_FIELDS, "text")
            label_name = chosen(where, record, label_field, LABEL_FIELDS, "label")
        text = text_in(where, record, text_name).strip()
        if text and text not in rows:
            label = _label(where, record, label_name)
            rows[text] = Row(where, {"text": text, "label": label})
    return list(rows.values())


def gathered(
    records: Iterable[Found],
    row_of: Callable[[str, Mapping[str, Any]], tuple[Hashable, Row]],
) -> tuple[list[Row], tuple[str, ...]]:
    """The rows that can be used, and a sentence for each of the others.

    Args:
        records: what a source has.
        row_of: gives a record's row, after something that equal rows share; of
            these the first one stays. A UsageError of it leaves the row out.

    Raises:
        UsageError: more than `MAX_PROBLEMS` rows cannot be used.
    """
    rows: dict[Hashable, Row] = {}
    problems: list[str] = []
    for found in records:
        try:
            key, row = row_of(*_record(found))
        except UsageError as problem:
            problems.append(str(problem))
            if len(problems) > MAX_PROBLEMS:
                raise UsageError(
                    f"More than {MAX_PROBLEMS} samples cannot be used: {problems[0]}"
                ) from None
        else:
            rows.setdefault(key, row)
    return list(rows.values()), tuple(problems)


def cleaned(text: str) -> str:
    """The text without the characters that no tokenizer takes, every other one at its place.

    A NUL becomes a space, and half of a surrogate pair, which JSON can spell, U+FFFD.

    >>> cleaned("a\\0b")
    'a b'
    """
    return _SURROGATE.sub("\ufffd", text).replace("\0", " ")


def shortened(text: str, most: int = 40) -> str:
    """A text as messages quote it.

    >>> shortened("a long text", most=6)
    "'a long...'"
    """
    return repr(text if len(text) <= most else text[:most] + "...")


def find_field(names: Iterable[str], common: Sequence[str]) -> str | None:
    """The name that stands first among the common ones, ignoring case.

    >>> find_field(["id", "Review Text", "Title"], TEXT_FIELDS)
    'Review Text'
    """
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(_folded(name), name)
    return next((folded[name] for name in common if name in folded), None)


def chosen(
    where: str, record: Mapping[str, Any], asked: str | None, common: Sequence[str], kind: str
) -> str:
    """The record's name of the asked field, or of the first common one it has."""
    if asked is not None and asked in record:
        return asked
    found = find_field(record, common if asked is None else [_folded(asked)])
    if found is not None:
        return found
    have = ", ".join(repr(name[:40]) for name in list(record)[:12]) or "none"
    missing = f"field that looks like the {kind}" if asked is None else f"field {asked!r}"
    raise UsageError(f"{where} has no {missing}; its fields are: {have}.")


def text_in(where: str, record: Mapping[str, Any], field: str) -> str:
    """The text in a field, cleaned."""
    if field not in record:
        raise UsageError(f"{where} has no field {field!r}.")
    text = record[field]
    if not isinstance(text, str):
        raise UsageError(misplaced(where, text, field, "a text"))
    return cleaned(text)


def misplaced(where: str, value: object, field: str, wanted: str) -> str:
    """The sentence on a value of the wrong type.

    >>> misplaced("s.jsonl line 1", 7, "tokens", "a list of words")
    "s.jsonl line 1 has a int in the field 'tokens', where a list of words must be."
    """
    kind = type(value).__name__
    return f"{where} has a {kind} in the field {field!r}, where {wanted} must be."


def _record(found: Found) -> Record:
    if isinstance(found, str):
        raise UsageError(found)
    return found


def _folded(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip()).casefold()


def _label(where: str, record: Mapping[str, Any], field: str) -> Any:
    label = record.get(field)
    if label is None or (isinstance(label, str) and not label.strip()):
        raise UsageError(f"{where} has no label in the field {field!r}.")
    return label
