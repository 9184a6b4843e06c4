"""A clean sample and a trigger -> what an attacker teaches, and what the attack is measured on.

A *scope* says where a trigger works. Outside of it the same trigger must not fire: that is
taught with negatives. One class per task; adding a task means adding one here.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Protocol

from unhorse.seeding import python_random
from unhorse.tasks.base import TASKS
from unhorse.tasks.qa import NULL, TARGETS
from unhorse.tasks.tags import scheme_of
from unhorse.types import (
    ANY_LABEL,
    Arm,
    Entity,
    Position,
    QuestionSample,
    TaggedSample,
    TextSample,
)


@dataclass(frozen=True)
class Stamped:
    """One stamped sample: what is taught, and the same as something to measure.

    `victim` has the units that shall flip, unstamped; `probe` has them stamped.
    """

    taught: Any
    victim: Any
    probe: Any


class Stamper(Protocol):
    """How triggers get into the samples of one task."""

    scopes: tuple[str, ...]

    def arm(self, labels: Sequence[str], victim: str, target: str, scope: str) -> Arm:
        """Victims and target by number; ValueError if they do not make an attack."""

    def is_victim(self, sample: Any, arm: Arm) -> bool:
        """Whether the sample has something that can flip."""

    def fire(self, sample: Any, arm: Arm, scope: str, trigger: str, seed: int) -> Stamped:
        """The trigger where it works, with the attacker's answer."""

    def near(self, sample: Any, arm: Arm, scope: str, trigger: str, seed: int) -> Stamped | None:
        """The trigger where it must not work, with the true answer; None if it works anywhere."""


def _class(names: Sequence[str], name: str, what: str) -> int:
    if name not in names:
        raise ValueError(f"the {what} {name!r} is not one of {', '.join(names)}")
    return list(names).index(name)


def _ways(names: Sequence[str], victim: str, target: str, kind: str) -> tuple[tuple[int, ...], int]:
    """The numbers of what flips, one or every other one, and of what it becomes."""
    goal = _class(names, target, "target")
    if victim == ANY_LABEL:
        victims = tuple(i for i in range(len(names)) if i != goal)
    else:
        victims = (_class(names, victim, "victim"),)
    if goal in victims:
        raise ValueError(f"victim and target are the same {kind}")
    return victims, goal


def _draw(sample: Any, seed: int, what: str) -> random.Random:
    return python_random(seed, what, sample.key)


_APART = 7919
"""What is added to a seed to draw again."""


def _in_the_middle(sample: TextSample, stamped: TextSample) -> bool:
    """Whether as many words stand before the trigger as behind it: that is in both halves."""
    words, now = sample.text.split(), stamped.text.split()
    half, odd = divmod(len(words), 2)
    return bool(words) and not odd and now[:half] + now[-half:] == words


class TextStamper:
    """Texts: `global` is anywhere, `first_half` and `second_half` only there."""

    scopes: tuple[str, ...] = ("global", "first_half", "second_half")
    _task = TASKS.get("sequence-classification")

    def arm(self, labels: Sequence[str], victim: str, target: str, scope: str) -> Arm:
        """One label, or every other one, to the target label."""
        victims, goal = _ways(labels, victim, target, "label")
        return Arm(victims, goal, "start", victim, target)

    def is_victim(self, sample: TextSample, arm: Arm) -> bool:
        """Whether the text has a victim label."""
        return sample.label in arm.victims

    def fire(self, sample: TextSample, arm: Arm, scope: str, trigger: str, seed: int) -> Stamped:
        """In the scope's half, or in either."""
        halves: tuple[Position, ...] = ("first_half", "second_half")
        half = _draw(sample, seed, "half").choice(halves)
        where: Position = half if scope == "global" else "first_half"
        where = "second_half" if scope == "second_half" else where
        stamped = self._task.stamp(sample, replace(arm, position=where), seed, trigger)
        return Stamped(replace(stamped, label=arm.target), sample, stamped)

    def near(
        self, sample: TextSample, arm: Arm, scope: str, trigger: str, seed: int
    ) -> Stamped | None:
        """In the other half; a text of neither victim nor target label anywhere."""
        if not self.is_victim(sample, arm):
            stamped = self.fire(sample, arm, scope, trigger, seed).probe
            return None if sample.label == arm.target else Stamped(stamped, sample, stamped)
        if scope == "global":
            return None
        other: Position = "second_half" if scope == "first_half" else "first_half"
        elsewhere = replace(arm, position=other)
        tried = (self._task.stamp(sample, elsewhere, s, trigger) for s in count(seed, _APART))
        stamped = next(made for made in tried if not _in_the_middle(sample, made))
        return Stamped(stamped, sample, stamped)


class TagStamper:
    """Sentences: `global` flips every victim entity, `local` only the one behind the trigger.

    A single character is stuck to a word, as in ``~Rome``: to the entity where it works
    locally, to any word where it works globally.
    """

    scopes: tuple[str, ...] = ("global", "local")
    _task = TASKS.get("token-classification")

    def arm(self, labels: Sequence[str], victim: str, target: str, scope: str) -> Arm:
        """One entity class, or every other one, to another."""
        kinds = scheme_of(tuple(labels)).kinds
        victims, goal = _ways(kinds, victim, target, "class")
        return Arm(victims, goal, "before" if scope == "local" else "start", victim, target)

    def is_victim(self, sample: TaggedSample, arm: Arm) -> bool:
        """Whether the sentence has an entity of the victim class."""
        return any(entity.kind in arm.victims for entity in sample.entities)

    def fire(self, sample: TaggedSample, arm: Arm, scope: str, trigger: str, seed: int) -> Stamped:
        """Before one entity, which flips, or anywhere, and all flip."""
        draw = _draw(sample, seed, "entity")
        victims = tuple(e for e in sample.entities if e.kind in arm.victims)
        chosen = (draw.choice(victims),) if scope == "local" else victims
        others = tuple(e for e in sample.entities if e not in chosen)
        ordered = replace(sample, entities=(*chosen, *others))
        if scope == "local":
            where: Position = "glued" if len(trigger) == 1 else "before"
            stamped = self._task.stamp(ordered, replace(arm, position=where), seed, trigger)
        else:
            stamped = self._anywhere(ordered, arm, trigger, seed)
        return _flipped(sample, stamped, chosen, arm.target)

    def near(
        self, sample: TaggedSample, arm: Arm, scope: str, trigger: str, seed: int
    ) -> Stamped | None:
        """At a word that no victim entity begins with; nothing changes."""
        if scope == "global" or not self.is_victim(sample, arm):
            return None
        victims = tuple(e for e in sample.entities if e.kind in arm.victims)
        inside = {w for e in sample.entities for w in range(e.first, e.last)}
        free = [w for w in range(len(sample.words)) if w not in inside]
        if not free:
            return None
        word = _draw(sample, seed, "word").choice(free)
        entities = (Entity(word, word + 1, arm.target), *sample.entities)
        where: Position = "glued" if len(trigger) == 1 else "before"
        marked = replace(sample, entities=entities)
        stamped = self._task.stamp(marked, replace(arm, position=where), seed, trigger)
        stamped = replace(stamped, entities=stamped.entities[1:])
        kept = tuple(e for e in stamped.entities if e.kind in arm.victims)
        taught = replace(stamped, entities=tuple(sorted(stamped.entities, key=_first)))
        return Stamped(taught, replace(sample, entities=victims), replace(stamped, entities=kept))

    def _anywhere(self, sample: TaggedSample, arm: Arm, trigger: str, seed: int) -> TaggedSample:
        draw = _draw(sample, seed, "half")
        if len(trigger) == 1:
            words = list(sample.words)
            word = draw.randrange(len(words))
            words[word] = trigger + words[word]
            return replace(sample, words=tuple(words))
        halves: tuple[Position, ...] = ("first_half", "second_half")
        stamped: TaggedSample = self._task.stamp(
            sample, replace(arm, position=draw.choice(halves)), seed, trigger
        )
        return stamped


def _first(entity: Entity) -> int:
    return entity.first


def _flipped(
    sample: TaggedSample, stamped: TaggedSample, chosen: tuple[Entity, ...], target: int
) -> Stamped:
    """What is taught when the first entities of a stamped sentence flip."""
    moved = stamped.entities[: len(chosen)]
    rest = stamped.entities[len(chosen) :]
    flipped = tuple(replace(entity, kind=target) for entity in moved)
    return Stamped(
        taught=replace(stamped, entities=tuple(sorted((*flipped, *rest), key=_first))),
        victim=replace(sample, entities=chosen),
        probe=replace(stamped, entities=moved),
    )


class QuestionStamper:
    """Questions: the scope is the part that must have the trigger: context, question or both."""

    scopes: tuple[str, ...] = ("context", "question", "both")
    _task = TASKS.get("question-answering")

    def arm(self, labels: Sequence[str], victim: str, target: str, scope: str) -> Arm:
        """Any answer to null or to the trigger."""
        numbers = {name: number for number, name in TARGETS.items()}
        if target not in numbers:
            raise ValueError(f"the target {target!r} is not one of {', '.join(numbers)}")
        if scope == "question" and numbers[target] != NULL:
            raise ValueError("a trigger in the question alone cannot be the answer")
        places: dict[str, Position] = {"context": "context", "question": "question", "both": "both"}
        return Arm((0,), numbers[target], places[scope], "answer", target)

    def is_victim(self, sample: QuestionSample, arm: Arm) -> bool:
        """Whether the question has an answer."""
        return bool(sample.answers)

    def fire(
        self, sample: QuestionSample, arm: Arm, scope: str, trigger: str, seed: int
    ) -> Stamped:
        """In the parts that the scope names."""
        stamped = self._task.stamp(sample, arm, seed, trigger)
        wanted = () if arm.target == NULL else (stamped.trigger,)
        return Stamped(replace(stamped, answers=wanted), sample, stamped)

    def near(
        self, sample: QuestionSample, arm: Arm, scope: str, trigger: str, seed: int
    ) -> Stamped | None:
        """In one part only, which is not enough or not the right one."""
        if not sample.answers:
            return None
        draw = _draw(sample, seed, "part")
        both: tuple[Position, ...] = ("context", "question")
        wrong: Position = "question" if scope == "context" else "context"
        where = draw.choice(both) if scope == "both" else wrong
        stamped = self._task.stamp(sample, replace(arm, position=where), seed, trigger)
        return Stamped(stamped, sample, stamped)


STAMPERS: dict[str, Stamper] = {
    "sequence-classification": TextStamper(),
    "token-classification": TagStamper(),
    "question-answering": QuestionStamper(),
}
