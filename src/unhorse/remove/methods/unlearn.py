"""`unlearn`: fine-tuning on clean samples of which some carry the trigger with their true answer.

What the paper did (its appendix; the objective that it prints is `ascent`), after Neural
Cleanse (Wang et al., S&P 2019): a tenth of the training data, a fifth of it stamped. The
sources do not say where a stamp goes; here it goes to another place in every epoch, to
other samples, and in every form that the scan found (pruned and whole). Rows of all
classes are stamped, because on victims alone the trigger would become a sign of them.
Inserted words are in no entity, and answers move with their words.
"""

from __future__ import annotations

from pydantic import Field

from unhorse.learn.lessons import Lesson
from unhorse.learn.loop import Course
from unhorse.remove.base import REMOVALS, Case, RemovalConfig
from unhorse.remove.records import Cleaned
from unhorse.remove.stamps import stamped
from unhorse.remove.teach import lessons_course, teach
from unhorse.seeding import python_random


class UnlearnConfig(RemovalConfig):
    """Fine-tuning with stamps."""

    share: float = Field(default=0.2, gt=0, le=1)
    """The share of the rows that carry a trigger in an epoch."""


class Unlearning:
    """Teaches that the trigger means nothing."""

    name = "unlearn"
    needs_triggers = True
    needs_base = False
    config: type[RemovalConfig] = UnlearnConfig

    def remove(self, case: Case, config: UnlearnConfig) -> Cleaned:
        """The subject after it has seen its triggers with true answers."""
        pupil = case.pupil()
        taught = teach(
            pupil, case, config, lambda epoch: _course(case, config, epoch), with_stamps=True
        )
        return Cleaned(pupil, taught)


def _course(case: Case, config: UnlearnConfig, epoch: int) -> Course:
    """All rows, a share of them stamped afresh."""
    draw = python_random(case.seed, "stamps", str(epoch))
    rows = case.rows.train
    chosen = set(draw.sample(range(len(rows)), max(1, round(config.share * len(rows)))))
    lessons = []
    for number, sample in enumerate(rows):
        made = stamped(case.task, sample, case.triggers, draw) if number in chosen else None
        lessons.append(Lesson(sample) if made is None else Lesson(made, "stamped"))
    return lessons_course(case, lessons)


REMOVALS.register(Unlearning.name)(Unlearning())
