"""UAT: universal adversarial triggers by first-order replacement (HotFlip).

Wallace et al., "Universal Adversarial Triggers for Attacking and Analyzing NLP", EMNLP 2019,
with the replacement of Ebrahimi et al., "HotFlip", ACL 2018.

A trigger is always made of tokens. With g_i the gradient of the loss at the embedding of
slot i, the token that promises most there is, to first order,

    argmin over v of  g_i . E_v

Two presets. ``paper`` is the baseline of the DBS paper, which says k=1: every step puts the
most promising token into all slots at once, without a test whether that was better, for 200
steps. The released code of UAT cannot run k=1, and the paper's time (1.25 times that of DBS)
leaves no room for tests, so this reading is ours. The loss jumps and may fall into a cycle;
the best trigger that was met counts. ``strong`` is UAT as its authors mean it with a beam of
one: k candidates for every slot, slots one after another, the best replaces the current
token if it lowers the loss.

Deviations: the original maximises the loss of the true label over batches of a data set, here
the loss of the target on all samples is minimised, and the references pay into it. As the
samples stay the same, a step of ``strong`` that changes nothing would repeat itself for
ever; the next one looks at the next k candidates instead. ``strong`` has 20 steps, each of
which costs as much as a hundred of ``paper``. Both start at the word "the" in every slot as the
authors do (at the first usable token if the vocabulary has no such word), and at random
tokens when the same was tried before (`Problem.restart`).

The source decides by the best loss, which is that of hard tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import torch
from pydantic import Field
from torch import Tensor

from unhorse.invert.base import EVERY_TASK, METHODS, MethodConfig, Problem
from unhorse.invert.search import Step
from unhorse.invert.tokens import TokenSearch, best_tokens, index_of_word, without


class UATConfig(MethodConfig):
    """Every constant of the method; the defaults are the preset ``paper``."""

    candidates: int = Field(default=1, ge=1)
    """k: tokens that are tried in every slot; one is taken without a trial, in all slots."""


PAPER = UATConfig()
STRONG = UATConfig(candidates=20, epochs=20, warm_up=2)


class UAT:
    """Tokens that are replaced by what the gradient promises."""

    name = "uat"
    tasks = EVERY_TASK
    presets: Mapping[str, MethodConfig] = MappingProxyType({"paper": PAPER, "strong": STRONG})
    passes: tuple[str, ...] = ("paper",)

    def units(self, config: UATConfig) -> float:
        """A gradient, and a forward pass for every candidate that is tried."""
        k = config.candidates
        return 2.0 if k == 1 else 2.0 + k * config.trigger_length

    def begin(self, problem: Problem, config: UATConfig) -> Replacement:
        """All arms at the same word, or elsewhere when that was tried before."""
        return Replacement(problem, config)


class Replacement(TokenSearch):
    """One gradient in every epoch, and what it promises."""

    method = UAT.name
    config: UATConfig

    def __init__(self, problem: Problem, config: UATConfig) -> None:
        super().__init__(problem, config)
        the = index_of_word(problem, "the")
        self.current = [self._start(arm, the) for arm in range(len(problem.arms))]
        self.settled = [0 for _ in problem.arms]
        """Epochs since a slot of the arm last changed."""

    def step(self, arms: Sequence[int]) -> list[Step]:
        """With one candidate the loss of an epoch is that of the trigger it begins with."""
        current = torch.stack([self.current[arm] for arm in arms])
        losses, scores = self.graded(arms, current)
        if self.config.candidates > 1:
            self._slot_by_slot(arms, current, losses.total, without(scores, current))
            return [Step(self.subject_loss[arm]) for arm in arms]
        for arm, trigger, score in zip(arms, current, scores, strict=True):
            self.current[arm] = best_tokens(score, trigger, 1).squeeze(-1)
        return [Step(loss) for loss in losses.subject.tolist()]

    def _slot_by_slot(
        self, arms: Sequence[int], current: Tensor, totals: Tensor, scores: Tensor
    ) -> None:
        k = self.config.candidates
        candidates = torch.stack(
            [
                best_tokens(score, trigger, k, skip=k * self.settled[arm])
                for arm, trigger, score in zip(arms, current, scores, strict=True)
            ]
        )
        places = torch.arange(len(arms))
        before = current
        for slot in range(self.config.trigger_length):
            tried = current.unsqueeze(1).repeat(1, k, 1)
            tried[:, :, slot] = candidates[:, slot]
            least, which = self.trial(arms, tried).min(-1)
            better = least < totals
            current = torch.where(better.unsqueeze(-1), tried[places, which], current)
            totals = torch.where(better, least, totals)
        for arm, trigger, old in zip(arms, current, before, strict=True):
            self.settled[arm] = self.settled[arm] + 1 if torch.equal(trigger, old) else 0
            self.current[arm] = trigger

    def _start(self, arm: int, word: int | None) -> Tensor:
        slots = self.config.trigger_length
        if self.problem.restart:
            return self.draw(arm, slots)
        usable = self.usable[arm]
        first = word if word is not None and bool((usable == word).any()) else int(usable[0])
        return torch.full((slots,), first)


METHODS.register(UAT.name)(UAT())
