"""GA: a genetic algorithm over triggers.

Alzantot et al., "Generating Natural Language Adversarial Examples", EMNLP 2018, as the DBS
paper's baseline.

An individual is a trigger, its fitness how low its loss is:

    maximise  -(loss(target) + penalties of the references)

The best individual goes on as it is. All others are children of two parents, drawn with a
probability proportional to exp(fitness / tau), tau 0.3; every slot is taken from either with
even chances, and then a child may mutate. No gradients are needed.

The DBS paper says: the whole dictionary, population 300, mutation 0.5, 10 generations.
What it leaves open: the released code of GA has no rate of mutation but changes one word of
every child, by a neighbour in a word embedding that a language model accepts; a trigger has
no word to stay near to. Here 0.5 is the probability that one random slot of a child becomes a
random token, or, with `mutation_per_slot`, the expected number of slots that do, each by
itself. tau is that of the code for sentiment. The code's fitness is the probability of the
target (`fitness` "probability"); far from a trigger all probabilities are near zero and
nothing is selected, so here it is the loss. The code stops at the first success, here
all generations are made, as the loss is what decides.

An epoch is one generation that is evaluated, as in the released code: the first is the random
population itself, so 10 epochs are 9 times selection and 3,000 evaluations. The preset
``small`` has a population of 40, near to the original's 20 to 60: all its generations cost
as much as one run of DBS, which pays for little more than one of 300.

The source decides by the best loss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from unhorse.invert.base import EVERY_TASK, METHODS, MethodConfig, Problem
from unhorse.invert.search import Step
from unhorse.invert.tokens import TokenSearch


class GAConfig(MethodConfig):
    """Every constant of the method; the defaults are the paper's."""

    epochs: int = Field(default=10, ge=1)
    """Generations, the random one included."""
    warm_up: int = Field(default=1, ge=1)
    population: int = Field(default=300, ge=1)
    mutation: float = Field(default=0.5, ge=0, le=1)
    mutation_per_slot: bool = False
    """Whether slots mutate each by itself, at the rate `mutation` over their number."""
    tau: float = Field(default=0.3, gt=0)
    """How little the fitness decides who becomes a parent."""
    fitness: Literal["loss", "probability"] = "loss"
    """What decides: minus the loss, or the probability exp(-loss)."""


_WORST = 1e6

PAPER = GAConfig()
SMALL = GAConfig(population=40)


class GA:
    """Selection, crossover and mutation of triggers."""

    name = "ga"
    tasks = EVERY_TASK
    presets: Mapping[str, MethodConfig] = MappingProxyType({"paper": PAPER, "small": SMALL})
    passes: tuple[str, ...] = ("paper",)

    def units(self, config: GAConfig) -> float:
        """A forward pass for every individual."""
        return float(config.population)

    def begin(self, problem: Problem, config: GAConfig) -> Generations:
        """No population yet."""
        return Generations(problem, config)


class Generations(TokenSearch):
    """One generation in every epoch."""

    method = GA.name
    config: GAConfig

    def __init__(self, problem: Problem, config: GAConfig) -> None:
        super().__init__(problem, config)
        self.population: dict[int, Tensor] = {}
        self.totals: dict[int, Tensor] = {}

    def step(self, arms: Sequence[int]) -> list[Step]:
        """The loss of an epoch is that of the best trigger so far."""
        born = torch.stack([self._born(arm) for arm in arms])
        for arm, individuals, totals in zip(arms, born, self.trial(arms, born), strict=True):
            self.population[arm], self.totals[arm] = individuals, totals
        return [Step(self.subject_loss[arm]) for arm in arms]

    def _born(self, arm: int) -> Tensor:
        """The next generation, the best of the last one in front."""
        size, slots = self.config.population, self.config.trigger_length
        if arm not in self.population:
            return self.draw(arm, size, slots)
        elite = self.population[arm][self.totals[arm].argmin()].unsqueeze(0)
        return torch.cat([elite, self._children(arm, size - 1)])

    def _children(self, arm: int, count: int) -> Tensor:
        generator, last = self.generators[arm], self.population[arm]
        if not count:
            return last[:0]
        chances = parenthood(self.totals[arm], self.config.tau, self.config.fitness)
        parents = torch.multinomial(chances, 2 * count, replacement=True, generator=generator)
        mothers, fathers = last[parents].view(2, count, -1)
        children = torch.where(_happens(0.5, mothers.shape, generator), mothers, fathers)
        return torch.where(
            self._mutates(children, generator), self.draw(arm, *children.shape), children
        )

    def _mutates(self, children: Tensor, generator: torch.Generator) -> Tensor:
        """Which slots become random tokens."""
        count, slots = children.shape
        if self.config.mutation_per_slot:
            return _happens(self.config.mutation / slots, children.shape, generator)
        slot = torch.randint(slots, (count, 1), generator=generator)
        return _happens(self.config.mutation, (count, 1), generator) & (torch.arange(slots) == slot)


def parenthood(totals: Tensor, tau: float, fitness: str) -> Tensor:
    """The probability of every individual to be drawn as a parent.

    >>> parenthood(torch.tensor([0.0, 1e9]), 1.0, "probability").round(decimals=2).tolist()
    [0.7300000190734863, 0.27000001072883606]
    >>> parenthood(torch.tensor([0.0, 1e9]), 1.0, "loss").tolist()
    [1.0, 0.0]
    """
    height = (-totals).exp() if fitness == "probability" else -totals.clamp(max=_WORST)
    return (height / tau).softmax(-1)


def _happens(chance: float, shape: Sequence[int], generator: torch.Generator) -> Tensor:
    return torch.rand(tuple(shape), generator=generator) < chance


METHODS.register(GA.name)(GA())
