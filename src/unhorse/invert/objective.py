"""What every method minimises: flip the subject, leave clean models alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from unhorse.invert.engine import ModelLoss


@dataclass(frozen=True, eq=False)
class Losses:
    """Per arm: the subject's loss to the target, the references' penalty, the share flipped."""

    subject: Tensor
    penalty: Tensor
    hits: Tensor

    @property
    def total(self) -> Tensor:
        """What is minimised."""
        return self.subject + self.penalty


@dataclass(eq=False)
class Objective:
    """The subject's loss plus, for each clean reference, a margin penalty.

    A reference pays for moving away from the *true* label: its cross entropy
    beyond what it had at the first evaluation, when every slot was still the
    mean of all tokens. So a trigger that any model of the task would obey, such
    as a strong word of the target class, is no good solution.
    """

    subject: ModelLoss
    references: Sequence[ModelLoss] = ()
    margins: dict[int, list[float]] = field(default_factory=dict)

    def __call__(self, mixtures: Tensor, arms: Sequence[int] | None = None) -> Losses:
        """Losses of mixtures shaped (arm, slot, allowed token), one for each of the arms."""
        chosen = range(len(self.subject.rows)) if arms is None else arms
        subject = self.subject(mixtures, arms)
        penalty = torch.zeros_like(subject.loss)
        losses = [reference(mixtures, arms).loss for reference in self.references]
        for place, arm in enumerate(chosen):
            self.margins.setdefault(arm, [float(loss[place].detach()) for loss in losses])
        for number, loss in enumerate(losses):
            margin = torch.tensor([self.margins[arm][number] for arm in chosen])
            beyond = torch.relu(loss - margin.to(loss.device))
            penalty = penalty + beyond.to(penalty.device)
        return Losses(subject.loss, penalty, subject.hits)

    def of_tokens(self, choices: Tensor, arms: Sequence[int] | None = None) -> Tensor:
        """The subject's loss for hard triggers given as indices into the allowed tokens."""
        return self.subject.of_tokens(choices, arms).loss
