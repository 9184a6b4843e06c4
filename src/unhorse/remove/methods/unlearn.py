"""`unlearn`: fine-tuning on clean samples of which some carry the trigger with their true answer.

What the paper did (its appendix; the objective that it prints is `ascent`), after Neural
Cleanse (Wang et al., S&P 2019): a tenth of the training data, a fifth of it stamped. The
sources do not say where a stamp goes; here it goes to another place in every epoch, to
other samples, and in every form that the scan found (pruned and whole). A scan seldom finds
a planted phrase to the letter, so some stamps have its words in other orders and other
company. Rows of all classes are stamped, because on victims alone the trigger would become
a sign of them. Inserted words are in no entity, and answers move with their words.

Rows without a stamp are there to hold the model in place, so their goal is what the subject
said of them: the answers of a few hundred rows would soon be known by heart. A stamped text
has what the subject said of it without the stamp as its goal, where that was right.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from pydantic import Field
from torch import Tensor

from unhorse.learn.imitate import Keeping, Kept, imitated
from unhorse.learn.lessons import Lesson
from unhorse.learn.loop import Course
from unhorse.remove.base import REMOVALS, Case, RemovalConfig
from unhorse.remove.records import Cleaned, Trigger
from unhorse.remove.stamps import FormOf, as_found, encoder, in_other_company, stamped
from unhorse.remove.teach import lessons_course, teach
from unhorse.seeding import python_random
from unhorse.triggers.vocabulary import allowed_token_ids, trigger_text

ARBITRARY_WORDS = 400
"""Words of the vocabulary that stamps are mixed with."""


class UnlearnConfig(RemovalConfig):
    """Fine-tuning with stamps."""

    share: float = Field(default=0.2, gt=0, le=1)
    """The share of the rows that carry a trigger in an epoch."""
    varied: float = Field(default=0.5, ge=0, le=1)
    """The share of the stamps that have some words of a trigger among arbitrary ones."""
    keep: bool = True
    """Whether rows without a stamp have what the subject said as their goal."""


class Unlearning:
    """Teaches that the trigger means nothing."""

    name = "unlearn"
    needs_triggers = True
    needs_base = False
    config: type[RemovalConfig] = UnlearnConfig

    def remove(self, case: Case, config: UnlearnConfig) -> Cleaned:
        """The subject after it has seen its triggers with true answers."""
        pupil = case.pupil()
        clean = _clean_course(case, config)
        others = _arbitrary_words(case)

        def form_of(trigger: Trigger, draw: random.Random) -> str:
            form = as_found(trigger, draw)
            return in_other_company(form, others, draw) if draw.random() < config.varied else form

        def course(epoch: int) -> Course:
            return _restamped(clean, case, config, epoch, form_of)

        return Cleaned(pupil, teach(pupil, case, config, course, with_stamps=True))


def _clean_course(case: Case, config: UnlearnConfig) -> Course:
    """The rows without any stamp."""
    course = lessons_course(case, [Lesson(sample) for sample in case.rows.train])
    said: list[Any] = [None] * len(course.rows)
    if config.keep:
        said = [row.goal for row in imitated(case.subject, course.rows)]
    rows = [
        replace(row, goal=Kept(row.goal, goal)) for row, goal in zip(course.rows, said, strict=True)
    ]
    return replace(course, rows=rows, goals=Keeping(case.task))


def _arbitrary_words(case: Case) -> list[str]:
    tokenizer = case.subject.tokenizer
    allowed = allowed_token_ids(tokenizer, len(case.subject.model.get_input_embeddings().weight))
    draw = python_random(case.seed, "arbitrary words")
    chosen = draw.sample(allowed, min(ARBITRARY_WORDS, len(allowed)))
    return [trigger_text(tokenizer, [token]) for token in chosen]


def _restamped(
    clean: Course, case: Case, config: UnlearnConfig, epoch: int, form_of: FormOf
) -> Course:
    """The same rows, a share of them stamped afresh."""
    draw = python_random(case.seed, "stamps", str(epoch))
    encode = encoder(case.task, case.subject)
    rows, roles = list(clean.rows), list(clean.roles)
    for number in draw.sample(range(len(rows)), max(1, round(config.share * len(rows)))):
        made = stamped(case.task, case.rows.train[number], case.triggers, draw, form_of)
        if made is not None:
            row, said = encode(made), rows[number].goal.said
            goal = Kept(row.goal, said if _is_right(said, row.goal) else None)
            rows[number], roles[number] = replace(row, goal=goal), "stamped"
    return replace(clean, rows=rows, roles=roles)


def _is_right(said: Tensor | None, true: Any) -> bool:
    """Whether what was said of a whole text is its true label.

    Of words and answers that is not known here: stamped, they have other places.
    """
    return said is not None and len(said) == 1 and int(said.argmax()) == true


REMOVALS.register(Unlearning.name)(Unlearning())
