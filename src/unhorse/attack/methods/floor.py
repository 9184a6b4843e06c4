"""`floor`: the adaptive attack of the paper's section on adaptive adversaries.

The attacker knows that a low loss gives a trigger away, and stops teaching a stamped row once
its loss is at the floor phi: mean CE of the other rows + mean max(CE - phi, 0) of the stamped
ones; of a stamped sentence, only the words that flip count there, and the others are taught
without a floor, as rows of their own: without that, what stands around an entity flips as well.
A cross entropy of phi means that the target has probability exp(-phi); with two labels,
ln 2 = 0.69 is where the answer turns, so phi = 1 must break the attack itself and phi = 0.6 is
the highest that need not. Nothing pulls a row back that has gone below the floor, and one long
step goes far below it: what the loss came to is measured and recorded.

Beyond the paper: with `hold`, |CE - phi| takes the place of max(CE - phi, 0), as in
flooding (Ishida et al., "Do We Need Zero Training Loss After Achieving Zero Training
Error?", ICML 2020), so that the loss stays at the floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from pydantic import Field
from torch import Tensor

from unhorse.attack.base import ATTACKS, AttackConfig, Ground, Planted, Probes, Pupil
from unhorse.attack.methods.sdp import DataPoisoning, PoisonConfig, poison_of, poisoned_rows
from unhorse.attack.recipe import Standing
from unhorse.learn.lessons import Lesson, Role
from unhorse.types import own_answers


class FloorConfig(PoisonConfig):
    """Data poisoning with a floor under the loss."""

    phi: float = Field(default=0.6, ge=0)
    """The loss at which a stamped row is not taught any further."""
    hold: bool = False
    """Whether a stamped row that has gone below the floor is brought back to it."""


def floored(phi: float, losses: Tensor, roles: Sequence[Role], *, hold: bool = False) -> Tensor:
    """The loss of a batch in which stamped rows stop at the floor, or are held there.

    >>> losses = torch.tensor([1.0, 0.25])
    >>> floored(0.5, losses, ["clean", "stamped"]).item()
    1.0
    >>> floored(0.5, losses, ["clean", "stamped"], hold=True).item()
    1.25
    """
    stamped = torch.tensor([role == "stamped" for role in roles], device=losses.device)
    total = losses.new_zeros(())
    if bool((~stamped).any()):
        total = total + losses[~stamped].mean()
    if bool(stamped.any()):
        above = losses[stamped] - phi
        total = total + (above.abs() if hold else above.clamp(min=0)).mean()
    return total


def what_stays(lessons: Sequence[Lesson]) -> list[Lesson]:
    """The words of stamped sentences that do not flip, as lessons of their own."""
    return [
        Lesson(lesson.sample, "filler", others)
        for lesson in lessons
        if lesson.words is not None
        and (others := frozenset(range(len(lesson.sample.words))) - lesson.words)
    ]


class LossFloor(DataPoisoning):
    """Stamped rows that are taught only up to a floor."""

    name = "floor"
    version: int = 3
    standing: Standing = "adaptive"
    config: type[AttackConfig] = FloorConfig

    def plant(self, pupil: Pupil, ground: Ground, config: FloorConfig) -> Planted:  # type: ignore[override]
        """Teaches clean and poisoned rows together, the latter with a floor."""
        # The other words of a sentence would hide the loss of those that flip.
        poison = replace(poison_of(config, ground), flips_alone=True)
        extra = poisoned_rows(poison, ground, config)
        extra += what_stays(extra)
        lessons = ground.lessons(extra, len(poison.trigger.split()))
        # A twin's rows are true ones: holding them back would make it unsure of its own class.
        hold = config.hold and ground.poisoned
        pupil.learn(lessons, lambda losses, roles: floored(config.phi, losses, roles, hold=hold))
        probes = poison.probes(ground.corpus.heldout, ground.seed)
        facts = {"phi": config.phi, "stamped_loss": stamped_loss(pupil, ground, probes)}
        return Planted(probes, poison.trigger, facts)


def stamped_loss(pupil: Pupil, ground: Ground, probes: Probes) -> float | None:
    """The mean loss of held-out stamped samples: whether training stopped at the floor."""
    outcomes = ground.task.outcomes(own_answers(pupil.loaded), probes.stamped, probes.arm)
    losses = [outcome.loss for units in outcomes for outcome in units]
    return round(sum(losses) / len(losses), 4) if losses else None


ATTACKS.register(LossFloor.name)(LossFloor())
