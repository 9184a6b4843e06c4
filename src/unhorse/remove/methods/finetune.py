"""`finetune`: plain fine-tuning on clean samples, without any stamp.

The control that every other removal has to be compared with: it often weakens a
backdoor in part, without knowing anything of it.
"""

from __future__ import annotations

from unhorse.learn.lessons import Lesson
from unhorse.remove.base import REMOVALS, Case, RemovalConfig
from unhorse.remove.records import Cleaned
from unhorse.remove.teach import lessons_course, teach


class FineTuning:
    """Teaches the clean rows."""

    name = "finetune"
    needs_triggers = False
    needs_base = False
    config: type[RemovalConfig] = RemovalConfig

    def remove(self, case: Case, config: RemovalConfig) -> Cleaned:
        """The subject after some more epochs."""
        pupil = case.pupil()
        course = lessons_course(case, [Lesson(sample) for sample in case.rows.train])
        return Cleaned(pupil, teach(pupil, case, config, lambda epoch: course))


REMOVALS.register(FineTuning.name)(FineTuning())
