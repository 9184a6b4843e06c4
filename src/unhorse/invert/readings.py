"""What single triggers do to single texts, in all models.

A *carrier* is a text; in an objective of carriers every arm has one row. A *reading* is
a log-odds: the subject's for the target, a reference's for leaving the truth. A *slope* is
what a reading would gain from a token to first order, so it costs no pass of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unhorse.invert.engine import ModelLoss
from unhorse.invert.objective import Objective

TOKENS_AT_ONCE = 2048
"""Padded tokens of one pass."""


@dataclass(frozen=True, eq=False)
class Readings:
    """Log-odds shaped (trigger, carrier), of the subject and of every reference."""

    subject: Tensor
    references: tuple[Tensor, ...]

    def among(self, triggers: Tensor) -> Readings:
        """Those of some of the triggers."""
        return Readings(self.subject[triggers], tuple(each[triggers] for each in self.references))


def read(objective: Objective, triggers: Tensor) -> Readings:
    """Every trigger on every carrier."""
    return Readings(
        read_by(objective.subject, triggers),
        tuple(read_away(each, triggers) for each in objective.references),
    )


def read_by(model: ModelLoss, triggers: Tensor) -> Tensor:
    """The log-odds that one model gives to what its rows are pulled towards."""
    return log_odds(_losses(model, triggers))


def read_away(model: ModelLoss, triggers: Tensor) -> Tensor:
    """The log-odds that a clean model gives to leaving the truth, which its rows are pulled to."""
    return -read_by(model, triggers)


def slopes(objective: Objective, triggers: Tensor, slot: int = -1) -> Readings:
    """What every allowed token promises in one slot, by the gradient; (token, 1).

    The gradient is the mean over the carriers and over the triggers. What stands in the
    slot decides where it is taken, so the triggers should differ there, and be many.
    """
    return Readings(
        slopes_of(objective.subject, triggers, slot),
        tuple(-slopes_of(each, triggers, slot) for each in objective.references),
    )


def slopes_of(model: ModelLoss, triggers: Tensor, slot: int = -1) -> Tensor:
    """The slopes of one model, for what its rows are pulled towards."""
    carriers = len(model.rows)
    owners = [carrier for _ in triggers for carrier in range(carriers)]
    choices = triggers.repeat_interleave(carriers, 0).to(model.table.device)
    with torch.enable_grad():
        vectors = model.table[choices].detach().requires_grad_()
        odds = log_odds(model.of_vectors(vectors, owners).loss.float())
        (gradient,) = torch.autograd.grad(odds.sum(), vectors)
    slope = (model.table @ gradient[:, slot].mean(0).to(model.table.dtype)).float().cpu()
    return slope.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0).unsqueeze(-1)


def _losses(model: ModelLoss, triggers: Tensor) -> Tensor:
    carriers = len(model.rows)
    longest = max(len(row.ids) for (row,) in model.rows)
    at_once = max(1, TOKENS_AT_ONCE // (longest * carriers))
    parts = []
    for some in _parts(triggers, at_once):
        owners = [carrier for _ in some for carrier in range(carriers)]
        losses = model.of_tokens(some.repeat_interleave(carriers, 0), owners).loss
        parts.append(losses.float().cpu().view(-1, carriers))
    return torch.cat(parts)


def _parts(triggers: Tensor, size: int) -> list[Tensor]:
    return [triggers[first : first + size] for first in range(0, len(triggers), size)]


def log_odds(losses: Tensor) -> Tensor:
    """The log-odds of what has this cross entropy.

    >>> bool(log_odds(torch.tensor(2.0).log()).abs() < 1e-6)
    True
    """
    known = losses.nan_to_num(nan=50.0, posinf=50.0).clamp(1e-6, 50.0)
    return -known.expm1().log()


def surprise(readings: Readings) -> Tensor:
    """How far the subject's readings are above what the references foretell, per token.

    In standard deviations, averaged over the carriers; the references foretell by a
    quadratic fitted over all tokens, because readings saturate. Without references it is
    the reading itself.
    """
    parts = []
    for carrier in range(readings.subject.shape[-1]):
        y = readings.subject[:, carrier]
        known = [standard(reference[:, carrier]) for reference in readings.references]
        terms = torch.stack([torch.ones_like(y), *known, *(x.square() for x in known)], -1)
        foretold = terms @ torch.linalg.lstsq(terms, y.unsqueeze(-1)).solution
        parts.append(standard(y - foretold.squeeze(-1)))
    return torch.stack(parts).mean(0)


def standard(values: Tensor) -> Tensor:
    """Values in standard deviations from their mean; nothing of a single one."""
    if len(values) < 2:
        return torch.zeros_like(values)
    return (values - values.mean()) / values.std().clamp(min=1e-6)
