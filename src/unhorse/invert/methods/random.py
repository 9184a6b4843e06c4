"""Random triggers: the control that every method must beat at equal cost.

In every epoch some triggers are drawn evenly from the allowed tokens; the best one so far
is kept. What it reaches, luck reaches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import torch
from pydantic import Field

from unhorse.invert.base import EVERY_TASK, METHODS, MethodConfig, Problem
from unhorse.invert.search import Best, Found, Step, StepwiseSearch, usable_tokens
from unhorse.seeding import torch_generator
from unhorse.types import Native


class RandomConfig(MethodConfig):
    """How many triggers are drawn."""

    draws: int = Field(default=2, ge=1)
    """Triggers in every epoch; two cost as much as a forward and a backward pass."""


class RandomTriggers:
    """The best of many draws."""

    name = "random"
    tasks = EVERY_TASK
    presets: Mapping[str, MethodConfig] = MappingProxyType({"control": RandomConfig()})
    passes: tuple[str, ...] = ("control",)

    def units(self, config: RandomConfig) -> float:
        """A forward pass for every draw."""
        return float(config.draws)

    def begin(self, problem: Problem, config: RandomConfig) -> Draws:
        """Nothing drawn yet."""
        return Draws(problem, config)


class Draws(StepwiseSearch):
    """Some draws in every epoch."""

    method = RandomTriggers.name
    config: RandomConfig

    def __init__(self, problem: Problem, config: RandomConfig) -> None:
        super().__init__(problem, config)
        self.best = [Best() for _ in problem.arms]
        self.own = [float("inf")] * len(problem.arms)
        self.usable = [usable_tokens(problem, arm) for arm in range(len(problem.arms))]
        self.generators = [torch_generator(problem.seed, "draw", arm.key) for arm in problem.arms]

    def step(self, arms: Sequence[int]) -> list[Step]:
        """The loss of an epoch is that of the best draw so far, which is what the search has."""
        shape = (self.config.draws, self.config.trigger_length)
        drawn = torch.cat(
            [
                self.usable[arm][
                    torch.randint(len(self.usable[arm]), shape, generator=self.generators[arm])
                ]
                for arm in arms
            ]
        )
        owners = [arm for arm in arms for _ in range(self.config.draws)]
        losses = self.problem.objective.of_triggers(drawn, owners)
        found = zip(owners, drawn, losses.total.tolist(), losses.subject.tolist(), strict=True)
        for arm, choice, total, own in found:
            if self.best[arm].offer(choice, total):
                self.own[arm] = own
        return [Step(self.own[arm]) for arm in arms]

    def found(self, arm: int) -> Found:
        """The best draw."""
        native = Native("best loss", self.own[arm])
        return Found(self.best[arm].taken(), one_hot=True, native=native)


METHODS.register(RandomTriggers.name)(RandomTriggers())
