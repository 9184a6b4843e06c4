"""Weights over the allowed tokens, one row per slot and arm, each arm with an Adam of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from unhorse.invert.base import Problem
from unhorse.seeding import torch_generator

OUT = -1e5
"""The weight of a token that an arm may not use: no mass, so no gradient either."""


@dataclass
class Weights:
    """The weights of one arm, shaped (slot, token), and what moves them."""

    w: Tensor
    adam: torch.optim.Adam
    falling: torch.optim.lr_scheduler.StepLR


def start(
    problem: Problem, arm: int, slots: int, rate: float, halves_every: int | None = None
) -> Weights:
    """Zero for every token that an arm may use.

    Args:
        problem: arms and tokens.
        arm: its number.
        slots: the length of its trigger.
        rate: Adam's learning rate.
        halves_every: after so many steps the rate halves; never if None.
    """
    device = problem.objective.subject.table.device
    w = torch.zeros((slots, len(problem.allowed)), device=device)
    if arm in problem.barred:
        w[:, problem.barred[arm].to(device)] = OUT
    w.requires_grad_()
    adam = torch.optim.Adam([w], lr=rate)
    gamma = 0.5 if halves_every else 1.0
    return Weights(w, adam, torch.optim.lr_scheduler.StepLR(adam, halves_every or 1, gamma))


class Mixtures:
    """The variables of methods that optimise in the convex hull of token embeddings.

    Args:
        problem: arms and tokens.
        slots: the length of a trigger.
        rate: Adam's learning rate.
        halves_every: after so many steps of an arm its rate halves; never if None.
    """

    def __init__(
        self, problem: Problem, slots: int, rate: float, halves_every: int | None = None
    ) -> None:
        self.problem = problem
        self.arms = [
            start(problem, arm, slots, rate, halves_every) for arm in range(len(problem.arms))
        ]
        self.rows = [arm.w for arm in self.arms]

    def scatter(self, scale: float) -> None:
        """Adds normal numbers of a scale, by the seed of each arm."""
        for arm, w in enumerate(self.rows):
            w.data += self.noise(arm, "start").mul(scale).to(w.device)

    def noise(self, arm: int, *what: str) -> Tensor:
        """Standard normal numbers of an arm's shape."""
        seed, key = self.problem.seed, self.problem.arms[arm].key
        return torch.randn(self.rows[arm].shape, generator=torch_generator(seed, key, *what))

    def stacked(self, arms: Sequence[int]) -> Tensor:
        """The weights of some arms, shaped (arm, slot, token)."""
        return torch.stack([self.rows[arm] for arm in arms])

    def descend(self, arms: Sequence[int], losses: Tensor) -> None:
        """One step of Adam for each of the arms, down its own loss."""
        for arm in arms:
            self.arms[arm].adam.zero_grad()
        torch.autograd.backward(losses.sum())
        for arm in arms:
            self.arms[arm].adam.step()
            self.arms[arm].falling.step()
