"""SQuAD objects, or records with questions -> Rows with `question`, `context` and `answers`.

Answers are found by their place in the context, so no character of it may be
added or removed on the way.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from unhorse.errors import UsageError
from unhorse.load.sample_fields import (
    Found,
    chosen,
    cleaned,
    find_field,
    gathered,
    misplaced,
    shortened,
    text_in,
)
from unhorse.types import Row

QUESTION_FIELDS = ("question", "question_text", "query")
CONTEXT_FIELDS = ("context", "passage", "paragraph", "document", "article", "text")
ANSWER_FIELDS = ("answers", "answer", "answer_text", "answers_text")
START_FIELDS = ("answer_start", "answers_start", "answer_starts", "start")
IMPOSSIBLE_FIELDS = ("is_impossible",)
"""Common names of the parts of a question, the likeliest first."""

MAX_CONTEXT_CHARACTERS = 200_000
"""Longer than any model reads; each answer without its place is looked for in all of it."""

_LEVELS = (("data", "article"), ("paragraphs", "paragraph"), ("qas", "question"))
_WHOLE_NUMBER = re.compile(r"\s*(\d{1,9})(?:\.0*)?\s*")

_Claim = tuple[str, int | None]
"""An answer as a source gives it: its text and where it should start."""


def question_rows(
    records: Iterable[Found], context_field: str | None, answer_field: str | None
) -> tuple[list[Row], tuple[str, ...]]:
    """The questions as rows, and a sentence for each one left out.

    Every record is looked at by itself: it is a question, or has some within, as
    SQuAD has in `data`, `paragraphs` and `qas`. `answers` is a list of a `text`
    and its `start` each, empty if the context does not answer the question. An
    answer that is not where it should be is moved to the one place where it is.
    Of equal questions on the same context the first one stays.

    >>> record = {"question": "Where?", "context": "He is in Rome.", "answer": "Rome"}
    >>> question_rows([("line 1", record)], None, None)[0][0].fields["answers"]
    [{'text': 'Rome', 'start': 9}]
    """

    def row_of(where: str, record: Mapping[str, Any]) -> tuple[Hashable, Row]:
        question = _text(where, record, None, QUESTION_FIELDS, "question")
        context = _text(where, record, context_field, CONTEXT_FIELDS, "context")
        if len(context) > MAX_CONTEXT_CHARACTERS:
            raise UsageError(
                f"{where} has a context of more than {MAX_CONTEXT_CHARACTERS} characters."
            )
        answers = _answers(where, record, answer_field, context)
        fields = {"question": question, "context": context, "answers": answers}
        return (question, context), Row(where, fields)

    return gathered(_questions(records), row_of)


def _questions(records: Iterable[Found]) -> Iterable[Found]:
    for field, name in _LEVELS:
        records = _opened(records, field, name)
    return records


def _opened(records: Iterable[Found], field: str, name: str) -> Iterator[Found]:
    """The records, with those of a list in a field in place of the one that has it."""
    for found in records:
        if isinstance(found, str) or not isinstance(found[1].get(field), list):
            yield found
            continue
        where, record = found
        shared = _shared(record)
        for number, item in enumerate(record[field], 1):
            place = f"{where} {name} {number}"
            if isinstance(item, Mapping):
                yield place, {**shared, **item}
            else:
                yield f"{place} is not a JSON object."


def _shared(record: Mapping[str, Any]) -> dict[str, Any]:
    """What the questions within a record have from it.

    The context is cleaned here, so that thousands of questions hold the same one.
    """
    if "context" not in record:
        return {}
    context = record["context"]
    return {"context": cleaned(context) if isinstance(context, str) else context}


def _text(
    where: str, record: Mapping[str, Any], asked: str | None, common: tuple[str, ...], kind: str
) -> str:
    text = text_in(where, record, _field(where, record, asked, common, kind))
    if not text.strip():
        raise UsageError(f"{where} has a blank {kind}.")
    return text


def _field(
    where: str, record: Mapping[str, Any], asked: str | None, common: tuple[str, ...], kind: str
) -> str:
    return chosen(where, record, asked, common, f"{kind} ({', '.join(common)})")


def _answers(
    where: str, record: Mapping[str, Any], asked: str | None, context: str
) -> list[dict[str, Any]]:
    """The answers that the context has; it must have one of those claimed."""
    if _is_true(_value(record, IMPOSSIBLE_FIELDS)):
        return []
    field = _field(where, record, asked, ANSWER_FIELDS, "answer")
    claims = [(text, start) for text, start in _claims(where, record, field) if text.strip()]
    placed = [(text.strip(), _place(context, text, start)) for text, start in claims]
    answers = [{"text": text, "start": start} for text, start in placed if start is not None]
    if claims and not answers:
        raise UsageError(f"{where}: {_unplaced(context, placed[0][0])}")
    return answers


def _claims(where: str, record: Mapping[str, Any], field: str) -> list[_Claim]:
    given = record[field]
    if given is None or (isinstance(given, str) and not given.strip()):
        return []
    if isinstance(given, Mapping):
        return _claimed(where, field, given) if given else []
    if isinstance(given, str) or _all_texts(given):
        return _paired(where, field, given, _value(record, START_FIELDS))
    if not isinstance(given, list | tuple):
        raise UsageError(misplaced(where, given, field, "an answer"))
    return [claim for item in given for claim in _claimed(where, field, item)]


def _all_texts(given: object) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(item, str) for item in given)


def _claimed(where: str, field: str, item: object) -> list[_Claim]:
    """The answer in one object, or the answers in its two lists."""
    if not isinstance(item, Mapping):
        raise UsageError(misplaced(where, item, field, "an answer"))
    if "text" not in item:
        raise UsageError(f"{where} has an answer without a text in the field {field!r}.")
    if item["text"] is None:
        return []
    return _paired(where, field, item["text"], _value(item, START_FIELDS))


def _paired(where: str, field: str, texts: object, starts: object) -> list[_Claim]:
    """Answers and their starts, one of each or a list of both."""
    listed = texts if isinstance(texts, list | tuple) else [texts]
    places = starts if isinstance(starts, list | tuple) else [starts] * len(listed)
    for text in listed:
        if not isinstance(text, str):
            raise UsageError(misplaced(where, text, field, "the text of an answer"))
    if len(listed) != len(places):
        raise UsageError(f"{where} has {len(listed)} answers but {len(places)} starts of them.")
    return [(cleaned(t), _start(start)) for t, start in zip(listed, places, strict=True)]


def _place(context: str, text: str, start: int | None) -> int | None:
    """Where the text of an answer starts without its outer white space.

    >>> _place("in Rome", " Rome", 2), _place("in Rome", "Rome", 0), _place("a or a", "a", 2)
    (3, 3, None)
    """
    bare = text.strip()
    if start is not None and 0 <= start <= len(context):
        if context.startswith(text, start):
            return start + text.index(bare)
        if context.startswith(bare, start):
            return start
    first = context.find(bare)
    return first if first >= 0 and context.find(bare, first + 1) < 0 else None


def _unplaced(context: str, answer: str) -> str:
    if answer in context:
        reason = "is in its context more than once, with no start or a wrong one"
    else:
        reason = "is not in its context"
    return f"the answer {shortened(answer)} {reason}."


def _start(value: object) -> int | None:
    """A start that JSON or a table spells; None if there is none.

    >>> _start(3), _start("3"), _start("3.0"), _start(3.0), _start(""), _start(True)
    (3, 3, 3, 3, None, None)
    """
    if isinstance(value, str):
        spelled = _WHOLE_NUMBER.fullmatch(value)
        return int(spelled[1]) if spelled else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _is_true(value: object) -> bool:
    """Whether a value says yes, also as a table spells it.

    >>> [_is_true(value) for value in (True, "True", 1, "1", None, "False", [])]
    [True, True, True, True, False, False, False]
    """
    if isinstance(value, str):
        return value.strip().lower() in ("true", "1")
    return isinstance(value, int) and value == 1


def _value(record: Mapping[str, Any], common: tuple[str, ...]) -> Any:
    field = find_field([name for name in record if isinstance(name, str)], common)
    return None if field is None else record[field]
