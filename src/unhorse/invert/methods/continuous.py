"""Continuous optimisation without constraint: figure 4a of the paper.

Every slot is any vector at all, moved by Adam down the loss. That reaches a low loss in clean
and trojaned models alike, because most vectors are no token's: it is what a hull is for. The
trigger is brought to the nearest tokens at the end, which mostly lose the effect.

Where the paper is silent: slots start at the mean token, steps are Adam's at a rate of one
twentieth of a token's mean length, and *nearest* is by cosine. The source decides by the
loss of the vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import torch
from pydantic import Field

from unhorse.invert.base import EVERY_TASK, METHODS, MethodConfig, Problem
from unhorse.invert.search import Found, Step, StepwiseSearch, usable_tokens
from unhorse.types import Native


class ContinuousConfig(MethodConfig):
    """Every constant of the method."""

    step_size: float = Field(default=0.05, gt=0)
    """Adam's learning rate, as a share of the mean length of a token's embedding."""


class Continuous:
    """Vectors without any constraint."""

    name = "continuous"
    tasks = EVERY_TASK
    presets: Mapping[str, MethodConfig] = MappingProxyType({"paper": ContinuousConfig()})
    passes: tuple[str, ...] = ("paper",)

    def units(self, config: ContinuousConfig) -> float:
        """One step of Adam: forward and backward."""
        return 2.0

    def begin(self, problem: Problem, config: ContinuousConfig) -> Unconstrained:
        """All slots at the mean token."""
        return Unconstrained(problem, config)


class Unconstrained(StepwiseSearch):
    """One step of Adam on the vectors in every epoch.

    References take no part: a vector of the subject's means nothing in their own spaces.
    """

    method = Continuous.name
    config: ContinuousConfig

    def __init__(self, problem: Problem, config: ContinuousConfig) -> None:
        super().__init__(problem, config)
        self.table = problem.objective.subject.table
        rate = config.step_size * float(self.table.norm(dim=-1).mean())
        self.vectors = []
        self.adams = []
        for number in range(len(problem.arms)):
            usable = usable_tokens(problem, number).to(self.table.device)
            mean = self.table[usable].mean(0).expand(config.trigger_length, -1)
            vectors = mean.clone().requires_grad_()
            self.vectors.append(vectors)
            self.adams.append(torch.optim.Adam([vectors], lr=rate))

    def step(self, arms: Sequence[int]) -> list[Step]:
        """The subject's loss down."""
        stacked = torch.stack([self.vectors[arm] for arm in arms])
        losses = self.problem.objective.subject.of_vectors(stacked, arms)
        for arm in arms:
            self.adams[arm].zero_grad()
        torch.autograd.backward(losses.loss.sum())
        for arm in arms:
            self.adams[arm].step()
        return [Step(loss, temperature=1.0) for loss in losses.loss.tolist()]

    def found(self, arm: int) -> Found:
        """The nearest token to every vector."""
        usable = usable_tokens(self.problem, arm).to(self.table.device)
        tokens = torch.nn.functional.normalize(self.table[usable], dim=-1)
        choice = usable[(self.vectors[arm].detach() @ tokens.T).argmax(-1)]
        last = self.books[arm].losses[-1]
        return Found(choice, one_hot=False, native=Native("soft loss", last))


METHODS.register(Continuous.name)(Continuous())
