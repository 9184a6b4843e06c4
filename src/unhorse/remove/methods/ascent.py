"""`ascent`: the objective that the paper prints, bounded so that it does not destroy the model.

Printed (its equations 5 and 6): CE(f(x), y) - CE(f(x with trigger), target), which has no
lower end: the model is rewarded without limit for a target of ever lower probability. Here:

    CE(f(x), y) + gamma * max(0, kappa - CE(f(x with trigger), target))

A stamped victim pushes the target away only until it has probability exp(-kappa). What the
answer becomes instead is not said, so that `unlearn` is the stronger method.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import torch
from pydantic import Field
from torch import Tensor

from unhorse.learn.lessons import Lesson, Role
from unhorse.learn.loop import Course
from unhorse.remove.base import REMOVALS, Case, RemovalConfig
from unhorse.remove.records import Cleaned
from unhorse.remove.stamps import pulled_to_target
from unhorse.remove.teach import lessons_course, teach
from unhorse.seeding import python_random
from unhorse.tasks.base import EncodedRow

ANSWERS = 10
"""What stands for the number of classes where the answer is a place in a text."""


class AscentConfig(RemovalConfig):
    """Bounded gradient ascent on the target."""

    share: float = Field(default=0.2, gt=0, le=1)
    """Stamped victims, as a share of the clean rows."""
    gamma: float = Field(default=0.3, gt=0)
    """The weight of the stamped rows."""
    kappa: float | None = Field(default=None, gt=0)
    """The loss beyond which a stamped row is left alone; twice ln(classes) if not given."""


def bounded(gamma: float, kappa: float, losses: Tensor, roles: Sequence[Role]) -> Tensor:
    """The loss of a batch in which stamped rows go up, as far as kappa.

    >>> losses = torch.tensor([1.0, 0.25, 3.0])
    >>> bounded(1.0, 0.75, losses, ["clean", "stamped", "stamped"]).item()
    1.25
    """
    stamped = torch.tensor([role == "stamped" for role in roles], device=losses.device)
    total = losses.new_zeros(())
    if bool((~stamped).any()):
        total = total + losses[~stamped].mean()
    if bool(stamped.any()):
        total = total + gamma * (kappa - losses[stamped]).clamp(min=0).mean()
    return total


class BoundedAscent:
    """Pushes stamped victims away from the target."""

    name = "ascent"
    needs_triggers = True
    needs_base = False
    config: type[RemovalConfig] = AscentConfig

    def remove(self, case: Case, config: AscentConfig) -> Cleaned:
        """The subject after its triggers have lost their target."""
        pupil = case.pupil()
        clean = lessons_course(case, [Lesson(sample) for sample in case.rows.train])
        kappa = config.kappa or 2 * math.log(max(2, len(case.subject.labels) or ANSWERS))
        combine = partial(bounded, config.gamma, kappa)

        def course(epoch: int) -> Course:
            rows = _pushed(case, round(config.share * len(clean.rows)), epoch)
            pushed: list[Role] = ["stamped"] * len(rows)
            roles = [*clean.roles, *pushed]
            return Course([*clean.rows, *rows], roles, case.task, combine)

        taught = teach(pupil, case, config, course, with_stamps=True)
        return Cleaned(pupil, taught, {"kappa": kappa})


def _pushed(case: Case, count: int, epoch: int) -> list[EncodedRow]:
    """So many stamped victims as rows whose goal is the target."""
    draw = python_random(case.seed, "pushed", str(epoch))
    victims = [
        (trigger, case.task.victims(trigger.arm, case.rows.train, case.seed + epoch))
        for trigger in case.triggers
    ]
    able = [(trigger, samples) for trigger, samples in victims if samples]
    rows = []
    for _ in range(count if able else 0):
        trigger, samples = draw.choice(able)
        sample = draw.choice(samples)
        rows.append(pulled_to_target(case.task, case.subject, sample, trigger, draw))
    return rows


REMOVALS.register(BoundedAscent.name)(BoundedAscent())
