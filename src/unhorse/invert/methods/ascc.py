"""ASCC: adversarial sparse convex combination, as the paper's baseline.

Dong et al., "Towards Robustness Against Natural Language Word Substitutions", ICLR 2021.

A trigger slot is a point in the convex hull of token embeddings, ``softmax(w) @ E``, and
a penalty on its entropy drives it towards a vertex:

    minimise  loss(target) + c * mean over slots of H(softmax(w)),  c = 10

The original has a small set of synonyms for every word of one text and maximises the loss
of the true label; here, as in the paper, the hull is that of the whole vocabulary, the
trigger has slots of its own and the loss is that of the target. Length, epochs, Adam and its
rate 0.5 are those of DBS. The original starts from Kaiming's normal numbers; at zero the
entropy is stationary and only the loss breaks the tie.

What is chosen where the sources are silent: the rate halves every 50 epochs as for DBS, and
the entropy is the mean over slots (`per_slot`) as in the released code, not the sum. With
ten thousands of tokens the entropy starts near 10, so its term near 100: it outweighs the
loss by far and settles early on a vertex that is often a poor one. That is the
method; the paper reports it.

The source decides by the loss of the trigger as it ends, which may still be soft.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import torch
from pydantic import Field
from torch import Tensor

from unhorse.invert.base import EVERY_TASK, METHODS, MethodConfig, Problem
from unhorse.invert.mixtures import Mixtures
from unhorse.invert.search import Found, Step, StepwiseSearch
from unhorse.types import Native


class ASCCConfig(MethodConfig):
    """Every constant of the method; the defaults are the paper's."""

    learning_rate: float = Field(default=0.5, gt=0)
    learning_rate_halves_every: int = Field(default=50, ge=1)
    sparsity: float = Field(default=10.0, ge=0)
    """c: how much the entropy counts."""
    per_slot: bool = True
    """Whether the entropy is the mean over slots; else their sum."""


class ASCC:
    """Mixtures that are driven to vertices by their entropy."""

    name = "ascc"
    tasks = EVERY_TASK
    presets: Mapping[str, MethodConfig] = MappingProxyType({"paper": ASCCConfig()})
    passes: tuple[str, ...] = ("paper",)

    def units(self, config: ASCCConfig) -> float:
        """One step of Adam: forward and backward."""
        return 2.0

    def begin(self, problem: Problem, config: ASCCConfig) -> SparseCombination:
        """All arms at random weights."""
        return SparseCombination(problem, config)


class SparseCombination(StepwiseSearch):
    """One step of Adam on loss and entropy in every epoch."""

    method = ASCC.name
    config: ASCCConfig

    def __init__(self, problem: Problem, config: ASCCConfig) -> None:
        super().__init__(problem, config)
        self.mixtures = Mixtures(
            problem, config.trigger_length, config.learning_rate, config.learning_rate_halves_every
        )
        # Kaiming's bound for a leaky slope of sqrt(5) over V inputs, as torch's default is.
        self.mixtures.scatter(1 / math.sqrt(len(problem.allowed)))
        self.final: dict[int, tuple[Tensor, float]] = {}

    def step(self, arms: Sequence[int]) -> list[Step]:
        """Loss and entropy down."""
        alpha = self.mixtures.stacked(arms).softmax(-1)
        losses = self.problem.objective(alpha, arms)
        sparse = entropy(alpha).mean(-1) if self.config.per_slot else entropy(alpha).sum(-1)
        self.mixtures.descend(arms, losses.total + self.config.sparsity * sparse)
        soft = losses.subject.tolist()
        for arm, mixture, loss in zip(arms, alpha.detach(), soft, strict=True):
            self.final[arm] = (mixture, loss)
        return [Step(loss, temperature=1.0) for loss in soft]

    def found(self, arm: int) -> Found:
        """The nearest vertex of where the arm has come to."""
        mixture, loss = self.final[arm]
        peak, choice = mixture.max(-1)
        return Found(choice, bool((1 - peak).sum() < 1e-3), Native("soft loss", loss))


def entropy(alpha: Tensor) -> Tensor:
    """The entropy of every slot; zero at a vertex.

    >>> entropy(torch.tensor([[0.5, 0.5], [1.0, 0.0]])).round(decimals=4).tolist()
    [0.6930999755859375, 0.0]
    """
    found: Tensor = torch.special.entr(alpha).sum(-1)
    return found


METHODS.register(ASCC.name)(ASCC())
