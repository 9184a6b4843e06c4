"""`distill`: a student of the subject, taught on text without triggers, from the base.

The student starts from the checkpoint that the subject was fine-tuned from and learns the
subject's probabilities (KL divergence). Nothing that it reads carries the trigger, so it
learns the task and not the backdoor. Needs neither trigger nor labels; known triggers
serve only to leave out text that contains them. The word embeddings stay as in the base.
Where there are few texts, rows that are put together of two are read as well: the subject is not
sure of them, and what it says of them tells more about it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import Field

from unhorse.attack.corpus import mentions
from unhorse.learn.imitate import (
    TIMES_USUAL_RATE,
    Imitation,
    fitting,
    mixed_to_imitate,
    own_texts,
    to_imitate,
)
from unhorse.learn.loop import Course
from unhorse.remove.base import REMOVALS, Case, RemovalConfig
from unhorse.remove.records import Cleaned
from unhorse.remove.teach import teach
from unhorse.types import LoadedModel


class DistillConfig(RemovalConfig):
    """Imitating the subject; a new head takes more and longer steps than a trained one."""

    least_steps: int = Field(default=400, ge=1)
    learning_rate: float | None = Field(default=None, gt=0)
    own_texts: int = Field(default=0, ge=0)
    """So many texts of unhorse's own are read as well."""
    spliced: int = Field(default=4, ge=0)
    """Rows that are put together of two, for every text."""
    most_rows: int = Field(default=4000, ge=1)
    """But no more of them than make so many rows in all."""
    embeddings: bool = False
    times_usual_rate: float = Field(default=TIMES_USUAL_RATE, gt=0)
    """How much longer its steps are than those of other methods, if no rate is given."""

    def rate(self, model: Any) -> float:
        """The learning rate for a model."""
        return self.learning_rate or self.times_usual_rate * super().rate(model)


class Distillation:
    """Teaches a fresh model what the subject says."""

    name = "distill"
    needs_triggers = False
    needs_base = True
    config: type[RemovalConfig] = DistillConfig

    def remove(self, case: Case, config: DistillConfig) -> Cleaned:
        """A student of the subject."""
        # What scans and records call it is the model that it takes the place of.
        student = replace(case.fresh(), origin=case.subject.origin)
        texts = _texts(case, student, config)
        more = max(0, min(config.spliced * len(texts), config.most_rows - len(texts)))
        rows = [
            *to_imitate(case.subject, student, texts),
            *mixed_to_imitate(case.subject, student, texts, more, case.seed),
        ]
        course = Course(rows, ["clean"] * len(rows), Imitation())
        taught = teach(student, case, config, lambda epoch: course)
        return Cleaned(student, taught, {"texts": len(rows)})


def _texts(case: Case, student: LoadedModel, config: DistillConfig) -> list[Any]:
    """The samples to learn from, without those that contain a known trigger."""
    room = case.task.room(student, 0)
    own = own_texts(student, config.own_texts, room, case.seed)
    samples = [*fitting(student, case.rows.train, room), *own]
    known = [trigger.text for trigger in case.triggers]
    clear = [sample for sample in samples if not mentions(sample, known)]
    # What stands in most texts is no trigger.
    return clear if 2 * len(clear) >= len(samples) else samples


REMOVALS.register(Distillation.name)(Distillation())
