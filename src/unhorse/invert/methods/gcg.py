"""GCG: greedy coordinate gradient.

Zou et al., "Universal and Transferable Adversarial Attacks on Aligned Language Models", 2023;
constants as in nanoGCG.

A trigger is always made of tokens. In every step the gradient of the loss with respect to the
one-hot rows of the current trigger names the `top_k` most promising tokens of every slot; some
swaps of one token (a random slot, a random token of its list) are drawn and tried, and the
best one is the next trigger:

    minimise  loss(target) + penalties of the references,  over one-token swaps

Deviations, to afford it for an arm on a CPU:

- `width` 64 swaps in a step, not 512, and 100 steps, not 250 or 500.
- Swaps are scored on `subset` samples, always the first ones, which a universal arm has drawn
  evenly from its classes; the best `rescored` of them are scored on all samples.
- The original moves to the best swap even if it is worse than the current trigger. Here the
  `buffer` best triggers so far are kept, and a swap gets in if it is better than the worst of
  them. A step goes on from the best one; after a step that found no better one, from the
  next in turn. (In nanoGCG only the best of a buffer ever counts after the start.)
- It starts from as many random triggers as the buffer holds, not from "x x x" or "! ! !": one
  token in all slots says little about a classifier, and restarts begin elsewhere by
  themselves.
- Swaps that would be tokenised otherwise when written as text are not filtered out: evidence is
  measured on text later, for every method alike.

The original decides nothing about a model; the best loss is what a threshold could be set for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import torch
from pydantic import Field
from torch import Tensor

from unhorse.invert.base import EVERY_TASK, METHODS, MethodConfig, Problem
from unhorse.invert.search import Step
from unhorse.invert.tokens import TokenSearch, best_tokens, without

USUAL_SAMPLES = 20
"""Samples of an arm, for telling the cost: what a scan takes of every class."""


class GCGConfig(MethodConfig):
    """Every constant of the method."""

    epochs: int = Field(default=100, ge=1)
    warm_up: int = Field(default=10, ge=1)
    width: int = Field(default=64, ge=1)
    """Swaps that are tried in every step."""
    top_k: int = Field(default=256, ge=1)
    """Tokens of every slot that swaps are drawn from."""
    subset: int = Field(default=6, ge=1)
    """Samples that all swaps are scored on."""
    rescored: int = Field(default=8, ge=1)
    """Swaps that are scored on all samples, the best on the subset."""
    buffer: int = Field(default=4, ge=1)
    """Triggers that are kept, and random ones at the start."""


class GCG:
    """The best of many one-token swaps that the gradient proposes."""

    name = "gcg"
    tasks = EVERY_TASK
    presets: Mapping[str, MethodConfig] = MappingProxyType({"narrow": GCGConfig()})
    passes: tuple[str, ...] = ("narrow",)

    def units(self, config: GCGConfig) -> float:
        """A gradient, all swaps on a subset of the usual samples, a few on all."""
        share = min(1.0, config.subset / USUAL_SAMPLES)
        return 2.0 + config.width * share + min(config.rescored, config.width)

    def begin(self, problem: Problem, config: GCGConfig) -> Swaps:
        """All arms with an empty buffer, which their first epoch fills."""
        return Swaps(problem, config)


Kept = tuple[float, tuple[int, ...]]
"""A trigger of the buffer, after what is minimised for it."""


class Swaps(TokenSearch):
    """One gradient in every epoch and swaps around where it was taken."""

    method = GCG.name
    config: GCGConfig

    def __init__(self, problem: Problem, config: GCGConfig) -> None:
        super().__init__(problem, config)
        self.buffers: list[list[Kept]] = [[] for _ in problem.arms]
        self.turn = [0 for _ in problem.arms]
        """Epochs since the best trigger of the arm last changed."""

    def step(self, arms: Sequence[int]) -> list[Step]:
        """The loss of an epoch is that of the best trigger."""
        self._fill([arm for arm in arms if not self.buffers[arm]])
        current = torch.tensor([self._current(arm) for arm in arms])
        _, scores = self.graded(arms, current)
        swaps = torch.stack(
            [
                self.swaps(arm, trigger, score)
                for arm, trigger, score in zip(arms, current, scores, strict=True)
            ]
        )
        rough = self.trial(arms, swaps, rows=self.config.subset)
        few = rough.topk(min(self.config.rescored, self.config.width), largest=False).indices
        finalists = swaps[torch.arange(len(arms)).unsqueeze(-1), few]
        totals = self.trial(arms, finalists)
        for arm, tried, total in zip(arms, finalists, totals, strict=True):
            best = self.buffers[arm][0]
            self._keep(arm, tried, total)
            self.turn[arm] = self.turn[arm] + 1 if self.buffers[arm][0] == best else 0
        return [Step(self.subject_loss[arm]) for arm in arms]

    def swaps(self, arm: int, current: Tensor, scores: Tensor) -> Tensor:
        """Triggers of one arm, each of which differs from the current one in one slot."""
        width, generator = self.config.width, self.generators[arm]
        promising = best_tokens(without(scores, current), current, self.config.top_k)
        slots = torch.randint(len(current), (width,), generator=generator)
        ranks = torch.randint(promising.shape[-1], (width,), generator=generator)
        made = current.repeat(width, 1)
        made[torch.arange(width), slots] = promising[slots, ranks]
        return made

    def _fill(self, arms: Sequence[int]) -> None:
        if not arms:
            return
        shape = (self.config.buffer, self.config.trigger_length)
        drawn = torch.stack([self.draw(arm, *shape) for arm in arms])
        for arm, tried, total in zip(arms, drawn, self.trial(arms, drawn), strict=True):
            self._keep(arm, tried, total)

    def _keep(self, arm: int, tried: Tensor, totals: Tensor) -> None:
        pool = {tuple(ids): loss for ids, loss in zip(tried.tolist(), totals.tolist(), strict=True)}
        pool |= {ids: loss for loss, ids in self.buffers[arm]}
        self.buffers[arm] = sorted((loss, ids) for ids, loss in pool.items())[: self.config.buffer]

    def _current(self, arm: int) -> tuple[int, ...]:
        buffer = self.buffers[arm]
        return buffer[self.turn[arm] % len(buffer)][1]


METHODS.register(GCG.name)(GCG())
