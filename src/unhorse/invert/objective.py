"""What every method minimises: flip the subject, leave clean models alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from unhorse.invert.engine import ModelLoss

TRIED_AT_ONCE = 32
"""Triggers of one arm that are put into one batch."""


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

    def anchor(self, arm: int, slots: int, usable: Tensor) -> None:
        """Takes the margins of an arm at the mean of the tokens that it may use.

        Args:
            arm: its number.
            slots: the length of its trigger.
            usable: indices into the allowed tokens.
        """
        with torch.no_grad():
            self.margins[arm] = [
                float(model.of_vectors(_means(model, usable, slots), [arm]).loss)
                for model in self.references
            ]

    def __call__(self, mixtures: Tensor, arms: Sequence[int] | None = None) -> Losses:
        """Losses of mixtures shaped (arm, slot, allowed token), one for each of the arms."""
        chosen = range(len(self.subject.rows)) if arms is None else arms
        subject = self.subject(mixtures, arms)
        losses = [reference(mixtures, arms).loss for reference in self.references]
        for place, arm in enumerate(chosen):
            self.margins.setdefault(arm, [float(loss[place].detach()) for loss in losses])
        return Losses(subject.loss, self._penalty(losses, chosen, subject.loss), subject.hits)

    def of_triggers(self, choices: Tensor, arms: Sequence[int], rows: int | None = None) -> Losses:
        """Losses of hard triggers without gradients, all references included.

        Args:
            choices: triggers as indices into the allowed tokens, one for each of the arms.
            arms: their arms; one may be named several times.
            rows: how many of an arm's samples to ask, the first ones; all if None.
        """
        parts = [
            self._of_some(choices[i : i + TRIED_AT_ONCE], arms[i : i + TRIED_AT_ONCE], rows)
            for i in range(0, len(arms), TRIED_AT_ONCE)
        ]
        subject, penalty, hits = (
            torch.cat([getattr(part, name) for part in parts])
            for name in ("subject", "penalty", "hits")
        )
        return Losses(subject, penalty, hits)

    def of_tokens(self, choices: Tensor, arms: Sequence[int] | None = None) -> Tensor:
        """The subject's loss for hard triggers given as indices into the allowed tokens."""
        return self.subject.of_tokens(choices, arms).loss

    def _of_some(self, choices: Tensor, arms: Sequence[int], rows: int | None) -> Losses:
        subject = self.subject.of_tokens(choices, arms, rows)
        losses = [model.of_tokens(choices, arms, rows).loss for model in self.references]
        return Losses(subject.loss, self._penalty(losses, arms, subject.loss), subject.hits)

    def _penalty(self, losses: Sequence[Tensor], arms: Sequence[int], like: Tensor) -> Tensor:
        penalty = torch.zeros_like(like)
        for number, loss in enumerate(losses):
            margin = torch.tensor([self.margins[arm][number] for arm in arms])
            beyond = torch.relu(loss - margin.to(loss.device))
            penalty = penalty + beyond.to(penalty.device)
        return penalty


def _means(model: ModelLoss, usable: Tensor, slots: int) -> Tensor:
    mean = model.table[usable.to(model.table.device)].mean(0)
    return mean.expand(1, slots, -1)
