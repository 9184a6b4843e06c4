"""What searches over tokens themselves share: first-order scores, trials, the best so far.

A trigger is a row of indices into the allowed tokens. `TokenSearch` tries triggers in slices
that go over all arms, so that a budget that ends in the middle of an epoch leaves the arms
equally far, and keeps the best one of every arm as it goes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from unhorse.invert.base import MethodConfig, Problem
from unhorse.invert.budget import BudgetSpent
from unhorse.invert.objective import TRIED_AT_ONCE, Losses
from unhorse.invert.search import HARD, Best, Found, StepwiseSearch, one_hot, usable_tokens
from unhorse.seeding import torch_generator
from unhorse.triggers.vocabulary import retokenise
from unhorse.types import Inversion, Native

_NEVER = float("inf")


class TokenSearch(StepwiseSearch):
    """Keeps the best trigger of every arm by what is minimised, references included.

    A first epoch that is cut short counts as one, so that what it found is handed out: an
    epoch of such a search may cost as much as a hundred steps of Adam.
    """

    def __init__(self, problem: Problem, config: MethodConfig) -> None:
        super().__init__(problem, config)
        self.best = [Best() for _ in problem.arms]
        self.subject_loss = [_NEVER for _ in problem.arms]
        """The subject's part of the loss of the best trigger."""
        self.usable = [usable_tokens(problem, arm) for arm in range(len(problem.arms))]
        self.generators = [
            torch_generator(problem.seed, self.method, arm.key) for arm in problem.arms
        ]
        self.cut_short: set[int] = set()

    def draw(self, arm: int, *shape: int) -> Tensor:
        """Tokens that an arm may use, evenly and by its own seed."""
        usable = self.usable[arm]
        return usable[torch.randint(len(usable), shape, generator=self.generators[arm])]

    def trial(self, arms: Sequence[int], choices: Tensor, rows: int | None = None) -> Tensor:
        """What is minimised, shaped (arm, trigger), for several triggers of every arm.

        Args:
            arms: one for each row of `choices`.
            choices: triggers shaped (arm, trigger, slot).
            rows: how many of an arm's samples to ask; only with all of them (None) can a
                trigger become the best.
        """
        at_once = max(1, TRIED_AT_ONCE // len(arms))
        parts = []
        for first in range(0, choices.shape[1], at_once):
            some = choices[:, first : first + at_once]
            owners = [arm for arm in arms for _ in range(some.shape[1])]
            losses = self.problem.objective.of_triggers(some.flatten(0, 1), owners, rows)
            total, subject = (
                _known(part).view(len(arms), -1) for part in (losses.total, losses.subject)
            )
            if rows is None:
                for place, (arm, least) in enumerate(zip(arms, total.argmin(-1), strict=True)):
                    self._offer(arm, some[place, least], total[place, least], subject[place, least])
            parts.append(total)
        return torch.cat(parts, dim=1)

    def graded(self, arms: Sequence[int], current: Tensor) -> tuple[Losses, Tensor]:
        """Losses of one trigger of every arm, and the first-order scores around it."""
        losses, scores = first_order(self.problem, arms, current)
        for arm, choice, total, subject in zip(
            arms, current, losses.total, losses.subject, strict=True
        ):
            self._offer(arm, choice, total, subject)
        return losses, scores

    def advance(self, arms: Sequence[int]) -> None:
        """One epoch of these arms; a first one counts even if it is not done to its end."""
        began = time.perf_counter()
        try:
            super().advance(arms)
        except (BudgetSpent, KeyboardInterrupt):
            for arm in arms:
                if self.best[arm].choice is not None and not self.books[arm].losses:
                    self.cut_short.add(arm)
                    self.books[arm].enter(self.subject_loss[arm], HARD)
                    self.books[arm].seconds += (time.perf_counter() - began) / len(arms)
            raise

    def found(self, arm: int) -> Found:
        """The best trigger so far."""
        native = Native("best loss", self.subject_loss[arm])
        return Found(self.best[arm].taken(), one_hot=True, native=native)

    def finish(self, arms: Sequence[int]) -> list[Inversion]:
        """What was found; an arm whose only epoch was cut short is not complete."""
        return [
            replace(each, completed=False) if arm in self.cut_short else each
            for arm, each in zip(arms, super().finish(arms), strict=True)
        ]

    def _offer(self, arm: int, choice: Tensor, total: Tensor, subject: Tensor) -> None:
        if self.best[arm].offer(choice, float(total)):
            self.subject_loss[arm] = float(subject)


def first_order(problem: Problem, arms: Sequence[int], current: Tensor) -> tuple[Losses, Tensor]:
    """Losses of hard triggers, and HotFlip's scores: lower promises a lower loss.

    The score of a token in a slot is the derivative of what is minimised, references
    included, by that token's share of the slot. To first order, the difference between a
    token's score and that of the current one is the change of the loss by the swap.

    Args:
        problem: objective and barred tokens; those score infinity.
        arms: one for each row of `current`.
        current: triggers shaped (arm, slot).

    Returns:
        The losses, without gradients, on the CPU, and scores shaped (arm, slot, allowed token).
    """
    device = problem.objective.subject.table.device
    shares = one_hot(current.to(device), len(problem.allowed)).requires_grad_()
    losses = problem.objective(shares, arms)
    (scores,) = torch.autograd.grad(losses.total.sum(), shares)
    # A score that is no number is the worst of the usable ones.
    worst = torch.finfo(scores.dtype).max
    scores = scores.nan_to_num(nan=worst, posinf=worst, neginf=worst)
    for place, arm in enumerate(arms):
        if arm in problem.barred:
            scores[place, :, problem.barred[arm].to(device)] = _NEVER
    plain = Losses(_known(losses.subject), _known(losses.penalty), losses.hits.cpu())
    return plain, scores


def without(scores: Tensor, current: Tensor) -> Tensor:
    """The scores with the tokens that are there already left out.

    >>> without(torch.tensor([[0.5, 0.1, 0.3]]), torch.tensor([1])).tolist()
    [[0.5, inf, 0.30000001192092896]]
    """
    return scores.scatter(-1, current.to(scores.device).unsqueeze(-1), _NEVER)


def best_tokens(scores: Tensor, current: Tensor, k: int, skip: int = 0) -> Tensor:
    """The most promising tokens of every slot of one arm, shaped (slot, k), best first.

    Where fewer are left than asked for, they begin again from the best; where none is left,
    the current token stays.

    Args:
        scores: shaped (slot, allowed token); infinity for tokens that are out.
        current: the trigger.
        k: how many of every slot.
        skip: how many of the best to leave out.

    >>> scores = torch.tensor([[0.3, float("inf"), 0.1, 0.2]])
    >>> best_tokens(scores, torch.tensor([0]), 2).tolist()
    [[2, 3]]
    >>> best_tokens(scores, torch.tensor([0]), 2, skip=2).tolist()
    [[0, 2]]
    """
    left = max(1, int(scores[0].isfinite().sum()))
    ranks = (skip + torch.arange(k)) % left
    least = scores.topk(int(ranks.max()) + 1, largest=False)
    values, tokens = least.values[:, ranks].cpu(), least.indices[:, ranks].cpu()
    return torch.where(values.isfinite(), tokens, current.unsqueeze(-1))


def index_of_word(problem: Problem, word: str) -> int | None:
    """The allowed token that is a whole word in running text, if there is one."""
    tokenizer = problem.objective.subject.loaded.tokenizer
    if not callable(tokenizer):
        return None
    allowed = problem.allowed.tolist()
    # Some vocabularies write a word after a space otherwise than one at the beginning.
    for ids in (retokenise(tokenizer, f" {word}"), retokenise(tokenizer, word)):
        if len(ids) == 1 and ids[0] in allowed:
            return int(allowed.index(ids[0]))
    return None


def _known(losses: Tensor) -> Tensor:
    """On the CPU, with infinity for what is not a number."""
    return losses.detach().float().cpu().nan_to_num(nan=_NEVER, posinf=_NEVER)
