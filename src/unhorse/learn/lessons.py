"""What a model is taught: samples with the answers it shall give -> encoded rows.

A lesson's sample carries the answer to be learnt, which for an attack's stamped one is the
attacker's. Its role says why it is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from unhorse.tasks.base import EncodedRow
from unhorse.tasks.qa import SpanGoal, columns_of, whole_window
from unhorse.tasks.tags import scheme_of
from unhorse.tasks.tokens import aligned
from unhorse.types import LoadedModel, QuestionSample, TaggedSample, TextSample

Role = Literal["clean", "stamped", "negative", "filler"]
"""A row as it was; with the trigger; with something near the trigger; one that evens classes."""


@dataclass(frozen=True)
class Lesson:
    """One sample with the answer that the model shall learn."""

    sample: Any
    role: Role = "clean"
    words: frozenset[int] | None = None
    """The words of a sentence whose labels are taught; all if None."""


def encode_text(loaded: LoadedModel, sample: TextSample) -> EncodedRow:
    """A text and its label."""
    ids = loaded.tokenizer(sample.text, truncation=True, max_length=loaded.max_length)["input_ids"]
    return EncodedRow(tuple(ids), (), (), sample.label)


def encode_tags(
    loaded: LoadedModel,
    sample: TaggedSample,
    *,
    inside: bool = False,
    words: frozenset[int] | None = None,
) -> EncodedRow:
    """A sentence, and the label of every word at its first token.

    Args:
        loaded: the model.
        sample: the sentence.
        inside: whether entities start with the inner label, as in IOB1.
        words: those whose labels are taught; all if None.
    """
    ids, _, firsts = aligned(loaded, sample.words)
    scheme = scheme_of(loaded.labels)
    labels = list(scheme.spelled(scheme.outside, 1) * len(sample.words))
    for entity in sample.entities:
        spelled = scheme.spelled(entity.kind, entity.last - entity.first, inside=inside)
        labels[entity.first : entity.last] = spelled
    goal = tuple(
        (first, label)
        for word, (first, label) in enumerate(zip(firsts, labels, strict=True))
        if first is not None and first < loaded.max_length and (words is None or word in words)
    )
    return EncodedRow(tuple(ids[: loaded.max_length]), (), (), goal)


def encode_question(loaded: LoadedModel, sample: QuestionSample) -> EncodedRow:
    """Question and context, and the columns where the answer starts and ends."""
    window = whole_window(loaded, sample)
    start = end = window.null
    if sample.answers:
        first, behind = columns_of(window, window.context, sample.answers[0])
        start, end = first, behind - 1
    # Over all columns, as the library itself trains: others need not mask the question.
    goal = SpanGoal((start, start + 1), (end, end + 1), (0, len(window.ids)), window.null)
    types = None if window.types is None else tuple(window.types)
    return EncodedRow(tuple(window.ids), (), (), goal, types)


ENCODERS: dict[str, Callable[[LoadedModel, Any], EncodedRow]] = {
    "sequence-classification": encode_text,
    "token-classification": encode_tags,
    "question-answering": encode_question,
}


def encode_lesson(loaded: LoadedModel, lesson: Lesson) -> EncodedRow:
    """A lesson as a row to learn from."""
    if lesson.words is not None:
        return encode_tags(loaded, lesson.sample, words=lesson.words)
    return ENCODERS[loaded.task](loaded, lesson.sample)
