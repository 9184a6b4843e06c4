"""`unlearn`: fine-tuning on clean samples of which some carry the trigger with their true answer.

What the paper did (its appendix; the objective that it prints is `ascent`), after Neural
Cleanse (Wang et al., S&P 2019): a tenth of the training data, a fifth of it stamped. The
sources do not say where a stamp goes; here it goes to another place in every epoch, to
other samples, and in every form that the scan found (pruned and whole). A scan seldom finds
a planted phrase to the letter, so some stamps have its words in other orders and other
company, and some have words that the search came across beside them. Rows of all classes are
stamped, because on victims alone the trigger would become a sign of them. Inserted words are in
no entity, and answers move with their words.

Rows without a stamp are there to hold the model in place, so their goal is what the subject
said of them. It knows most of them by heart and is sure of them; half of them are therefore put
together of two texts, of which it is not. A stamped text has what the subject said of it
without the stamp as its goal, where that was right.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field
from torch import Tensor

from unhorse.learn.imitate import Keeping, imitated, spliced
from unhorse.learn.lessons import Lesson
from unhorse.learn.loop import Course
from unhorse.remove.base import REMOVALS, Case, RemovalConfig
from unhorse.remove.records import Cleaned, Trigger
from unhorse.remove.stamps import as_found, encoder, in_other_company, stamped
from unhorse.remove.teach import lessons_course, teach
from unhorse.seeding import python_random
from unhorse.tasks.base import EncodedRow
from unhorse.triggers.vocabulary import allowed_token_ids, trigger_text

SPLICED_TIMES = 4
"""Rows that are put together of two, for every row that there is."""

ARBITRARY_WORDS = 400
"""Words of the vocabulary that stamps are mixed with."""


class UnlearnConfig(RemovalConfig):
    """Fine-tuning with stamps."""

    share: float = Field(default=0.2, gt=0, le=1)
    """The share of the rows that carry a trigger in an epoch."""
    varied: float = Field(default=0.5, ge=0, le=1)
    """The share of the stamps that have some words of a trigger among arbitrary ones."""
    related: float = Field(default=0.5, ge=0, le=1)
    """The share of those that have words which the search came across and did not use."""
    keep: bool = True
    """Whether rows without a stamp have what the subject said as their goal."""
    spliced: float = Field(default=0.5, ge=0, le=1)
    """The share of those rows that are put together of two."""


class Unlearning:
    """Teaches that the trigger means nothing."""

    name = "unlearn"
    needs_triggers = True
    needs_base = False
    config: type[RemovalConfig] = UnlearnConfig

    def remove(self, case: Case, config: UnlearnConfig) -> Cleaned:
        """The subject after it has seen its triggers with true answers."""
        pupil, lessons = case.pupil(), Lessons.of(case, config)
        return Cleaned(pupil, teach(pupil, case, config, lessons.restamped, with_stamps=True))


@dataclass(frozen=True, eq=False)
class Lessons:
    """The rows to learn from with their true answers, and what the subject said of them."""

    case: Case
    config: UnlearnConfig
    true: Course
    said: list[EncodedRow]
    spliced: list[EncodedRow]
    others: list[str]
    stampable: list[int]
    """The rows that have a place for a trigger and, with one in it, room in the model."""

    @classmethod
    def of(cls, case: Case, config: UnlearnConfig) -> Lessons:
        """Asks the subject about the rows, and about some put together of two."""
        true = lessons_course(case, [Lesson(sample) for sample in case.rows.train])
        kept, mixed = list(true.rows), list[EncodedRow]()
        # What the subject says of a row with a trigger in it must not be kept.
        clear = [number for number in range(len(kept)) if config.keep and case.is_clear(number)]
        if clear:
            draw, times = (
                python_random(case.seed, "spliced"),
                SPLICED_TIMES if config.spliced else 0,
            )
            mixed = spliced([kept[number] for number in clear], times * len(clear), draw)
            said = imitated(case.subject, [*(kept[number] for number in clear), *mixed])
            mixed = said[len(clear) :]
            for number, row in zip(clear, said, strict=False):
                kept[number] = row
        return cls(case, config, true, kept, mixed, _arbitrary_words(case), _stampable(case))

    def restamped(self, epoch: int) -> Course:
        """The rows of an epoch: a share of them stamped afresh, the others to be kept."""
        case, draw = self.case, python_random(self.case.seed, "stamps", str(epoch))
        encode = encoder(case.task, case.subject)
        rows, roles = [self._kept(row, draw) for row in self.said], list(self.true.roles)
        count = min(len(self.stampable), max(1, round(self.config.share * len(rows))))
        for number in draw.sample(self.stampable, count):
            made = stamped(case.task, case.rows.train[number], case.triggers, draw, self._form)
            row = None if made is None else encode(made)
            if row is not None and len(row.ids) <= case.subject.max_length:
                said = self.said[number].goal
                goal = said if _is_right(said, row.goal) else row.goal
                rows[number], roles[number] = replace(row, goal=goal), "stamped"
        return Course(rows, roles, Keeping(case.task))

    def _kept(self, row: EncodedRow, draw: random.Random) -> EncodedRow:
        mixed = self.spliced and draw.random() < self.config.spliced
        return draw.choice(self.spliced) if mixed else row

    def _form(self, trigger: Trigger, draw: random.Random) -> str:
        form = as_found(trigger, draw)
        varied = draw.random() < self.config.varied
        if not varied:
            return form
        related = trigger.related if draw.random() < self.config.related else ()
        return in_other_company(form, self.others, draw, related)


def _stampable(case: Case) -> list[int]:
    """The rows that a trigger can be put into: not every one has a place for a local one."""
    draw = python_random(case.seed, "stampable")
    return [
        number
        for number, sample in enumerate(case.rows.train)
        if any(stamped(case.task, sample, [each], draw) is not None for each in case.triggers)
    ]


def _arbitrary_words(case: Case) -> list[str]:
    tokenizer = case.subject.tokenizer
    allowed = allowed_token_ids(tokenizer, len(case.subject.model.get_input_embeddings().weight))
    draw = python_random(case.seed, "arbitrary words")
    chosen = draw.sample(allowed, min(ARBITRARY_WORDS, len(allowed)))
    return [trigger_text(tokenizer, [token]) for token in chosen]


def _is_right(said: Any, true: Any) -> bool:
    """Whether what was said of a whole text is its true label.

    Of words and answers that is not known here: stamped, they have other places.
    """
    return isinstance(said, Tensor) and len(said) == 1 and int(said.argmax()) == true


REMOVALS.register(Unlearning.name)(Unlearning())
