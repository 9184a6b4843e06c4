"""What searches have in common: the books of every arm, and Inversions made from them.

A method derives from `StepwiseSearch` and says what one epoch of some arms is and what an
arm's best trigger is. A method may also keep its own books; the contract is `Search`.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from unhorse.invert.base import ArmState, MethodConfig, Problem
from unhorse.types import Curve, Inversion, Native

HARD = 0.0
"""The temperature of a search over tokens themselves."""


@dataclass
class Books:
    """What happened in every epoch of one arm."""

    losses: list[float] = field(default_factory=list)
    temperatures: list[float] = field(default_factory=list)
    lowest: float = float("inf")
    seconds: float = 0.0

    def enter(self, loss: float, temperature: float) -> None:
        """One more epoch; an arm counts as begun once its loss is in, so that goes last."""
        if math.isfinite(loss):
            self.lowest = min(self.lowest, loss)
        self.temperatures.append(temperature)
        self.losses.append(loss)


@dataclass(frozen=True, eq=False)
class Found:
    """The best trigger of an arm as indices into the allowed tokens.

    `one_hot` says whether the method had focused on it by itself; `native` is the
    decision that the method's own source would make.
    """

    choice: Tensor
    one_hot: bool
    native: Native


@dataclass(frozen=True)
class Step:
    """One epoch of one arm: the subject's loss, and the temperature it was at."""

    loss: float
    temperature: float = HARD


class StepwiseSearch(ABC):
    """Advances arms by whole epochs and keeps their books."""

    method: ClassVar[str]

    def __init__(self, problem: Problem, config: MethodConfig) -> None:
        self.problem, self.config = problem, config
        self.books = [Books() for _ in problem.arms]

    @abstractmethod
    def step(self, arms: Sequence[int]) -> list[Step]:
        """One epoch of these arms."""

    @abstractmethod
    def found(self, arm: int) -> Found:
        """The best trigger of an arm that had at least one epoch."""

    def advance(self, arms: Sequence[int]) -> None:
        """One epoch of these arms, entered into their books."""
        began = time.perf_counter()
        for arm, step in zip(arms, self.step(arms), strict=True):
            self.books[arm].enter(step.loss, step.temperature)
        for arm in arms:
            self.books[arm].seconds += (time.perf_counter() - began) / len(arms)

    def states(self) -> list[ArmState]:
        """Epochs, losses and temperatures."""
        return [
            ArmState(
                epochs=len(books.losses),
                best_loss=books.lowest,
                loss=books.losses[-1] if books.losses else float("inf"),
                temperature=books.temperatures[-1] if books.losses else HARD,
            )
            for books in self.books
        ]

    def finish(self, arms: Sequence[int]) -> list[Inversion]:
        """What was found for these arms, with the subject's loss for the hard trigger."""
        found = [self.found(arm) for arm in arms]
        chosen = torch.stack([each.choice for each in found])
        losses = self.problem.objective.of_tokens(chosen, arms).tolist()
        return [
            self._inversion(arm, each, loss)
            for arm, each, loss in zip(arms, found, losses, strict=True)
        ]

    def _inversion(self, arm: int, found: Found, loss: float) -> Inversion:
        books = self.books[arm]
        epochs = len(books.losses)
        finite = math.isfinite(books.losses[-1])
        return Inversion(
            arm=self.problem.arms[arm],
            method=self.method,
            preset=self.problem.preset,
            seed=self.problem.seed,
            token_ids=tuple(self.problem.allowed[found.choice.cpu()].tolist()),
            loss=loss,
            one_hot=found.one_hot,
            completed=epochs == self.config.epochs and finite,
            epochs=epochs,
            seconds=books.seconds,
            curve=Curve(tuple(books.losses), tuple(books.temperatures[:epochs])),
            native=found.native,
            error=None if finite else "its loss is not a number",
        )


@dataclass
class Best:
    """The best hard trigger so far and its loss."""

    choice: Tensor | None = None
    loss: float = float("inf")

    def offer(self, choice: Tensor, loss: float) -> bool:
        """Takes a trigger over if it is better, or the first one; says whether."""
        if self.choice is not None and not loss < self.loss:
            return False
        self.choice, self.loss = choice.clone(), loss
        return True

    def taken(self) -> Tensor:
        """The best trigger."""
        assert self.choice is not None
        return self.choice


def usable_tokens(problem: Problem, arm: int) -> Tensor:
    """Indices into the allowed tokens that an arm may use."""
    everything = torch.arange(len(problem.allowed))
    return everything[~problem.barred[arm]] if arm in problem.barred else everything


def one_hot(choices: Tensor, tokens: int) -> Tensor:
    """Hard triggers as mixtures, in the precision of the objective.

    >>> one_hot(torch.tensor([[2, 0]]), 3).tolist()
    [[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]]
    """
    return torch.nn.functional.one_hot(choices, tokens).to(torch.get_default_dtype())
