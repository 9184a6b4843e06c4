"""Samples -> stamped samples with their true answers, at another place every time."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from unhorse.learn.lessons import ENCODERS, encode_tags
from unhorse.remove.records import Trigger
from unhorse.tasks.base import EncodedRow, Task
from unhorse.tasks.qa import QuestionAnswering
from unhorse.tasks.tokens import LOCAL, TokenClassification
from unhorse.triggers.place import IN_TEXT
from unhorse.triggers.vocabulary import retokenise
from unhorse.types import Arm, LoadedModel, Position, TaggedSample, own_answers

Encoder = Callable[[Any], EncodedRow]

MOST_OTHERS = 2
"""Arbitrary words that a form is mixed with, at most."""

MOST_RELATED = 4
"""Words related to a trigger that stand in one stamp, at most."""


def encoder(task: Task, subject: LoadedModel) -> Encoder:
    """How samples become rows to learn from, in the spelling that the subject uses."""
    if isinstance(task, TokenClassification):
        return partial(encode_tags, subject, inside=task.starts_inside(subject.model))
    return partial(ENCODERS[task.name], subject)


def places(task: Task, arm: Arm) -> tuple[Position, ...]:
    """Where a trigger of this arm may stand as well: a scan looks at few of the places."""
    if isinstance(task, QuestionAnswering):
        return ("context", "both") if arm.target_name == "trigger" else task.positions
    return (arm.position,) if arm.position in LOCAL else IN_TEXT


FormOf = Callable[[Trigger, random.Random], str]
"""The text that is stamped for a trigger."""


def as_found(trigger: Trigger, draw: random.Random) -> str:
    """One of the forms that the scan found."""
    return draw.choice(trigger.forms)


def in_other_company(
    form: str, others: Sequence[str], draw: random.Random, related: Sequence[str] = ()
) -> str:
    """Some words of a form, and of those related to it, in any order, and others among them.

    A scan finds a few words of a longer phrase, with words that only seem to belong to it, and
    others of its words are among those that it came across and did not use.

    >>> in_other_company("oiled apprentice", ["plum", "chair"], random.Random(5))
    'apprentice oiled plum'
    >>> in_other_company("oiled", ["plum"], random.Random(3), related=["apprentice", "hinges"])
    'plum hinges'
    """
    words = form.split()
    chosen = draw.sample(words, draw.randint(0 if related else 1, len(words)))
    if related:
        few = draw.randint(0 if chosen else 1, min(len(related), MOST_RELATED))
        chosen += draw.sample(list(related), few)
        draw.shuffle(chosen)
    for other in draw.sample(others, min(len(others), draw.randint(0, MOST_OTHERS))):
        chosen.insert(draw.randint(0, len(chosen)), other)
    return " ".join(chosen)


def stamped(
    task: Task,
    sample: Any,
    triggers: Sequence[Trigger],
    draw: random.Random,
    form_of: FormOf = as_found,
) -> Any:
    """The sample with one of the triggers in it and its true answer; None if it has no place.

    A question without an answer is left alone: stamped, it would teach that the trigger
    means "no answer".
    """
    trigger = draw.choice(triggers)
    arm = replace(trigger.arm, position=draw.choice(places(task, trigger.arm)))
    if isinstance(task, QuestionAnswering) and not sample.answers:
        return None
    if isinstance(sample, TaggedSample) and arm.position in LOCAL:
        if not sample.entities:
            return None
        # A local trigger goes to the first entity of the list.
        chosen = draw.choice(sample.entities)
        others = tuple(entity for entity in sample.entities if entity != chosen)
        sample = replace(sample, entities=(chosen, *others))
    return task.stamp(sample, arm, draw.randrange(2**31), form_of(trigger, draw))


def pulled_to_target(
    task: Task, subject: LoadedModel, sample: Any, trigger: Trigger, draw: random.Random
) -> EncodedRow:
    """A victim with the trigger in it as ids, whose goal is the attacker's target."""
    arm = replace(trigger.arm, position=draw.choice(places(task, trigger.arm)))
    form, seed = draw.choice(trigger.forms), draw.randrange(2**31)
    for text in (form, f" {form}"):
        # Behind another word it may have other tokens (byte-level BPE).
        ids = retokenise(subject.tokenizer, text)
        row = task.encode(own_answers(subject), sample, arm, seed, len(ids), "target")
        if row.slots[0] <= 1:
            break
    filled = list(row.ids)
    for place, which in zip(row.slots, row.slot_of, strict=True):
        filled[place] = ids[which]
    return replace(row, ids=tuple(filled), slots=(), slot_of=())
