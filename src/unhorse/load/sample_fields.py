"""Records of any sample source -> Rows: which field is the text, which the label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unhorse.errors import UsageError
from unhorse.types import Row

Record = tuple[str, Mapping[str, Any]]
"""Where a record stands, and its fields."""

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


def rows_of(
    records: Iterable[Record], text_field: str | None, label_field: str | None
) -> list[Row]:
    """The records as rows with a `text` and a `label`, without repeated and blank texts.

    The first record decides which fields are meant; the others must have them.
    """
    rows: dict[str, Row] = {}
    text_name = label_name = None
    for where, record in records:
        if text_name is None or label_name is None:
            text_name = _chosen(where, record, text_field, TEXT_FIELDS, "text")
            label_name = _chosen(where, record, label_field, LABEL_FIELDS, "label")
        text = _text(where, record, text_name)
        if text and text not in rows:
            label = _label(where, record, label_name)
            rows[text] = Row(where, {"text": text, "label": label})
    return list(rows.values())


def find_field(names: Iterable[str], common: Sequence[str]) -> str | None:
    """The name that stands first among the common ones, ignoring case.

    >>> find_field(["id", "Review Text", "Title"], TEXT_FIELDS)
    'Review Text'
    """
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(_folded(name), name)
    return next((folded[name] for name in common if name in folded), None)


def _folded(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip()).casefold()


def _chosen(
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


def _text(where: str, record: Mapping[str, Any], field: str) -> str:
    if field not in record:
        raise UsageError(f"{where} has no field {field!r}.")
    text = record[field]
    if not isinstance(text, str):
        kind = type(text).__name__
        raise UsageError(f"{where} has a {kind} in the field {field!r}, where a text must be.")
    # Tokenizers refuse half of a surrogate pair, which JSON can spell.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\0", " ").strip()


def _label(where: str, record: Mapping[str, Any], field: str) -> Any:
    label = record.get(field)
    if label is None or (isinstance(label, str) and not label.strip()):
        raise UsageError(f"{where} has no label in the field {field!r}.")
    return label
