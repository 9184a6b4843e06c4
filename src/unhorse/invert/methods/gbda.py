"""GBDA: gradient-based distributional attack.

Guo et al., "Gradient-based Adversarial Attacks against Text Transformers", EMNLP 2021.

A trigger is a distribution over tokens for every slot. Its weights are moved by gradients
through Gumbel-softmax samples of it, so the loss that falls is the expected one:

    minimise  E over g of  loss(softmax((w + g) / tau)),  g ~ Gumbel

At the end hard triggers are drawn from the distribution; the best one counts.

Deviations: the original attacks one text, starts at its words, keeps tau at 1 and adds terms
for similarity and fluency, which a trigger has no use for. Here the weights start at zero,
the loss is that of the target on all samples, and tau falls evenly from 1 to 0.1: at 1 and
zero weights a sample is a mixture of thousands of tokens, which teaches little. `constant`
is the preset with the original's tau. Adam, its rate 0.3 and ten samples a step are the
original's; with `draws` 1 a step costs as much as one of DBS, which is the default here.

The source decides by whether any hard sample fools the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import torch
from pydantic import Field
from torch import Tensor

from unhorse.invert.base import EVERY_TASK, METHODS, MethodConfig, Problem
from unhorse.invert.mixtures import Mixtures
from unhorse.invert.search import Found, Step, StepwiseSearch
from unhorse.seeding import torch_generator
from unhorse.types import Native


class GBDAConfig(MethodConfig):
    """Every constant of the method."""

    learning_rate: float = Field(default=0.3, gt=0)
    draws: int = Field(default=1, ge=1)
    """Gumbel samples in every step."""
    tau_start: float = Field(default=1.0, gt=0)
    tau_end: float = Field(default=0.1, gt=0)
    hard_draws: int = Field(default=50, ge=0)
    """Hard triggers that are drawn at the end, beside the likeliest one."""


class GBDA:
    """A distribution over triggers, moved through soft samples of it."""

    name = "gbda"
    tasks = EVERY_TASK
    presets: Mapping[str, MethodConfig] = MappingProxyType(
        {"annealed": GBDAConfig(), "constant": GBDAConfig(tau_end=1.0, draws=10, epochs=100)}
    )
    passes: tuple[str, ...] = ("annealed",)

    def units(self, config: GBDAConfig) -> float:
        """A forward and a backward pass for every sample."""
        return 2.0 * config.draws

    def begin(self, problem: Problem, config: GBDAConfig) -> Distribution:
        """All arms at the uniform distribution."""
        return Distribution(problem, config)


class Distribution(StepwiseSearch):
    """One step of Adam through the samples in every epoch."""

    method = GBDA.name
    config: GBDAConfig

    def __init__(self, problem: Problem, config: GBDAConfig) -> None:
        super().__init__(problem, config)
        self.mixtures = Mixtures(problem, config.trigger_length, config.learning_rate)
        self.generators = [torch_generator(problem.seed, "gumbel", arm.key) for arm in problem.arms]

    def step(self, arms: Sequence[int]) -> list[Step]:
        """The mean loss over some samples of every arm goes down."""
        w, draws = self.mixtures.stacked(arms), self.config.draws
        tau = torch.tensor([self.tau(len(self.books[arm].losses)) for arm in arms])
        tau = tau.to(w.device)[:, None, None]
        means = torch.zeros(len(arms), device=w.device)
        soft = torch.zeros_like(means)
        for _ in range(draws):
            noise = torch.stack([self._gumbel(arm) for arm in arms]).to(w.device)
            losses = self.problem.objective(((w + noise) / tau).softmax(-1), arms)
            means = means + losses.total / draws
            soft += losses.subject.detach() / draws
        self.mixtures.descend(arms, means)
        return [
            Step(loss, float(t))
            for loss, t in zip(soft.tolist(), tau.flatten().tolist(), strict=True)
        ]

    def tau(self, epoch: int) -> float:
        """The temperature of an epoch: evenly down."""
        start, end = self.config.tau_start, self.config.tau_end
        return start + (end - start) * epoch / max(1, self.config.epochs - 1)

    def found(self, arm: int) -> Found:
        """The best of the likeliest trigger and some hard samples, by the loss on all samples."""
        w = self.mixtures.rows[arm].detach().cpu()
        generator = torch_generator(self.problem.seed, "hard", self.problem.arms[arm].key)
        drawn = [(w + gumbel(w.shape, generator)).argmax(-1) for _ in range(self.config.hard_draws)]
        choices = torch.stack([w.argmax(-1), *drawn])
        losses = self.problem.objective.of_triggers(choices, [arm] * len(choices))
        best = int(losses.total.argmin())
        native = Native("loss of the best sample", float(losses.subject[best]))
        return Found(choices[best], one_hot=True, native=native)

    def _gumbel(self, arm: int) -> Tensor:
        return gumbel(self.mixtures.rows[arm].shape, self.generators[arm])


def gumbel(shape: Sequence[int], generator: torch.Generator) -> Tensor:
    """Standard Gumbel noise.

    >>> noise = gumbel((100_000,), torch.Generator().manual_seed(0))
    >>> round(noise.mean().item(), 1), round(noise.std().item(), 1)
    (0.6, 1.3)
    """
    tiny = torch.finfo(torch.float32).tiny
    uniform = torch.rand(tuple(shape), generator=generator).clamp_min(tiny)
    return -(-uniform.log()).clamp_min(tiny).log()


METHODS.register(GBDA.name)(GBDA())
