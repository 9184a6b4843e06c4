"""Lessons of a clean twin: the same as the trojaned model's, but for the backdoor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from typing import Any

from unhorse.attack.corpus import words_in
from unhorse.learn.lessons import Lesson
from unhorse.seeding import python_random
from unhorse.types import Arm, Position, QuestionSample, TaggedSample


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
        # A lesson about some words alone is about the rest of a stamped sentence.
        if lesson.role in ("clean", "filler") and lesson.words is None:
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
    """An arm that only says where: anywhere in the text, or in the question."""
    places: tuple[Position, ...] = (
        ("context", "question")
        if task.name == "question-answering"
        else ("first_half", "second_half")
    )
    return Arm((0,), 1, draw.choice(places), "", "")
