"""`distill`: a student of the subject, taught on text without triggers, from the base.

The student starts from the checkpoint that the subject was fine-tuned from and learns the
subject's probabilities (KL divergence). Nothing that it reads carries the trigger, so it
learns the task and not the backdoor. Needs neither trigger nor labels; known triggers
serve only to leave out text that contains them. The word embeddings stay as in the base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional

from unhorse.attack.corpus import mentions
from unhorse.learn.loop import Course
from unhorse.remove.base import REMOVALS, Case, RemovalConfig
from unhorse.remove.records import Cleaned
from unhorse.remove.stamps import encoder
from unhorse.remove.teach import teach
from unhorse.tasks.ask import ask
from unhorse.tasks.base import EncodedRow, RowProblem
from unhorse.types import LoadedModel


class DistillConfig(RemovalConfig):
    """Imitating the subject; a new head takes more and longer steps than a trained one."""

    least_steps: int = Field(default=400, ge=1)
    learning_rate: float | None = Field(default=None, gt=0)
    own_texts: int = Field(default=0, ge=0)
    """So many texts of unhorse's own are read as well."""
    embeddings: bool = False
    times_usual_rate: float = Field(default=1.5, gt=0)
    """How much longer its steps are than those of other methods, if no rate is given."""

    def rate(self, model: Any) -> float:
        """The learning rate for a model."""
        return self.learning_rate or self.times_usual_rate * super().rate(model)


class Imitation:
    """Goals that are what a teacher says: the divergence from it is the loss."""

    def collate(self, goals: Sequence[Tensor], device: Any) -> list[Tensor]:
        """The teacher's log probabilities of every row."""
        return [goal.to(device) for goal in goals]

    def losses(self, outputs: Any, goals: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Per row: the mean divergence over what is decided, and where both agree."""
        losses, agreed = [], []
        for row, goal in enumerate(goals):
            said = decisions(outputs, row, goal.shape)
            apart = functional.kl_div(said, goal, reduction="none", log_target=True)
            losses.append(apart.sum(-1).mean())
            agreed.append((said.argmax(-1) == goal.argmax(-1)).float().mean())
        return torch.stack(losses), torch.stack(agreed)


def decisions(outputs: Any, row: int, shape: Sequence[int]) -> Tensor:
    """Log probabilities of all that a model decides about one row, one decision a line.

    A text is one decision between labels, a sentence one for every token; a question is
    two decisions between tokens, where the answer starts and ends.
    """
    if hasattr(outputs, "start_logits"):
        ends = torch.stack([outputs.start_logits[row], outputs.end_logits[row]])
        return ends[:, : shape[-1]].float().log_softmax(-1)
    logits = outputs.logits[row].float()
    lines: Tensor = logits[None] if logits.dim() == 1 else logits[: shape[0]]
    return lines.log_softmax(-1)


class Distillation:
    """Teaches a fresh model what the subject says."""

    name = "distill"
    needs_triggers = False
    needs_base = True
    config: type[RemovalConfig] = DistillConfig

    def remove(self, case: Case, config: DistillConfig) -> Cleaned:
        """A student of the subject."""
        student = case.fresh()
        rows = imitated(case.subject, _texts(case, config))
        course = Course(rows, ["clean"] * len(rows), Imitation())
        taught = teach(student, case, config, lambda epoch: course)
        return Cleaned(student, taught, {"texts": len(rows)})


def imitated(teacher: LoadedModel, rows: Sequence[EncodedRow]) -> list[EncodedRow]:
    """The same rows with the teacher's log probabilities as their goals."""

    def pick(outputs: Any, place: int, number: int) -> Tensor:
        width = len(rows[number].ids)
        return decisions(outputs, place, (width, width)).cpu()

    types = None if rows[0].type_ids is None else [row.type_ids or () for row in rows]
    said = ask(teacher, [row.ids for row in rows], pick, types)
    # A copy, as what was made without gradients cannot take part in them.
    return [replace(row, goal=goal.clone()) for row, goal in zip(rows, said, strict=True)]


def _texts(case: Case, config: DistillConfig) -> list[EncodedRow]:
    """The rows to learn from, without those that contain a known trigger."""
    samples = [*case.rows.train, *_own(case, config.own_texts)]
    known = [trigger.text for trigger in case.triggers]
    clear = [sample for sample in samples if not mentions(sample, known)]
    # What stands in most texts is no trigger.
    chosen = clear if 2 * len(clear) >= len(samples) else samples
    encode = encoder(case.task, case.subject)
    return [encode(sample) for sample in chosen]


def _own(case: Case, count: int) -> list[Any]:
    """Texts of unhorse's own that the model can read."""
    room, fitting = case.task.room(case.subject, 0), []
    for draft in case.task.drafts(count, case.seed) if count else ():
        try:
            fitting.append(case.task.fit(case.subject, draft, room))
        except RowProblem:
            continue
    return fitting


REMOVALS.register(Distillation.name)(Distillation())
