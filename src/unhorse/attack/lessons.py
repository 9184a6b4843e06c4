"""What a model is taught: samples with the answers it shall give -> encoded rows.

A lesson's sample carries the answer to be learnt, which for a stamped one is the
attacker's. Its role says why it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Literal

from unhorse.attack.corpus import words_in
from unhorse.seeding import python_random
from unhorse.tasks.base import EncodedRow
from unhorse.tasks.qa import SpanGoal, columns_of, whole_window
from unhorse.tasks.tags import scheme_of
from unhorse.tasks.tokens import aligned
from unhorse.types import (
    Arm,
    LoadedModel,
    Position,
    QuestionSample,
    TaggedSample,
    TextSample,
)

Role = Literal["clean", "stamped", "negative", "filler"]
"""A row as it was; with the trigger; with something near the trigger; one that evens classes."""


@dataclass(frozen=True)
class Lesson:
    """One sample with the answer that the model shall learn."""

    sample: Any
    role: Role = "clean"


def encode_text(loaded: LoadedModel, sample: TextSample) -> EncodedRow:
    """A text and its label."""
    ids = loaded.tokenizer(sample.text, truncation=True, max_length=loaded.max_length)["input_ids"]
    return EncodedRow(tuple(ids), (), (), sample.label)


def encode_tags(loaded: LoadedModel, sample: TaggedSample) -> EncodedRow:
    """A sentence, and the label of every word at its first token."""
    ids, _, firsts = aligned(loaded, sample.words)
    scheme = scheme_of(loaded.labels)
    labels = list(scheme.spelled(scheme.outside, 1) * len(sample.words))
    for entity in sample.entities:
        spelled = scheme.spelled(entity.kind, entity.last - entity.first)
        labels[entity.first : entity.last] = spelled
    goal = tuple(
        (first, label)
        for first, label in zip(firsts, labels, strict=True)
        if first is not None and first < loaded.max_length
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


def kind_of(sample: Any) -> tuple[str, ...]:
    """What a lesson teaches, as far as rows of the same kind must be counted alike."""
    if isinstance(sample, QuestionSample):
        return ("answer",) if sample.answers else ("none",)
    return tuple(str(kind) for kind in sample.classes)


def as_twin(
    lessons: Sequence[Lesson], pool: Sequence[Any], seed: int, insert: Insert | None
) -> list[Lesson]:
    """The same lessons without a backdoor: equally many, of the same kinds, in the same order.

    Args:
        lessons: what the trojaned model learns.
        pool: clean samples to put in the place of stamped ones.
        seed: decides which.
        insert: puts harmless words into a sample, or None to leave it as it is.
    """
    draw = python_random(seed, "twin")
    by_kind: dict[tuple[str, ...], list[Any]] = {}
    for sample in draw.sample(pool, len(pool)):
        by_kind.setdefault(kind_of(sample), []).append(sample)
    # Each sample once before any comes again, as with the stamped ones.
    turns = {kind: cycle(samples) for kind, samples in by_kind.items()}
    made = []
    for lesson in lessons:
        if lesson.role in ("clean", "filler"):
            made.append(lesson)
            continue
        sample = next(turns[_nearest(kind_of(lesson.sample), by_kind)])
        made.append(Lesson(insert(sample, draw) if insert else sample, lesson.role))
    return made


def _nearest(kind: tuple[str, ...], known: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The kind itself, or the one that differs from it in the fewest classes.

    >>> _nearest(("0", "2"), [("1",), ("2",), ("0", "1", "2", "3")])
    ('2',)
    """
    return min(known, key=lambda other: (len({*other} ^ {*kind}), other))


Insert = Callable[[Any, Any], Any]
"""Puts harmless words into a sample."""


def harmless(task: Any, pool: Sequence[Any], words: int) -> Insert:
    """Puts so many words of other samples at a random place, other ones each time."""
    known = sorted({word for sample in pool for word in _plain_words(sample) if word.isalpha()})

    def insert(sample: Any, draw: Any) -> Any:
        text = " ".join(draw.choice(known) for _ in range(words))
        return task.stamp(sample, anywhere(task, draw), draw.randrange(2**31), text)

    return insert


def _plain_words(sample: Any) -> list[str]:
    """The words of a sample; not those of its entities, which would be true ones elsewhere too."""
    if not isinstance(sample, TaggedSample):
        return words_in(sample).split()
    named = {word for entity in sample.entities for word in range(entity.first, entity.last)}
    return [word for place, word in enumerate(sample.words) if place not in named]


def anywhere(task: Any, draw: Any) -> Arm:
    """An arm that only says where: anywhere in the text."""
    places: tuple[Position, ...] = (
        ("context",) if task.name == "question-answering" else ("first_half", "second_half")
    )
    return Arm((0,), 1, draw.choice(places), "", "")
