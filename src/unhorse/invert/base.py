"""The contract of an inversion method: arms and an objective in, Inversions out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from unhorse.invert.budget import Meter
from unhorse.invert.objective import Objective
from unhorse.plugins import Registry
from unhorse.types import Arm, Inversion


class MethodConfig(BaseModel):
    """What every method's configuration has; each method adds its own fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    trigger_length: int = Field(default=10, ge=1, le=64)
    epochs: int = Field(default=200, ge=1)
    warm_up: int = Field(default=20, ge=1)
    """Epochs that every arm gets before a schedule compares arms."""


class Pose(Protocol):
    """Builds objectives for questions that differ from the problem's own."""

    def __call__(
        self, arms: Sequence[int], samples: Sequence[Sequence[Any]], slots: int
    ) -> Objective:
        """The objective over `samples[i]` of arm `arms[i]` with triggers of so many tokens.

        Its own arms are numbered as they are given here; one arm may be given several times.
        """


@dataclass(frozen=True, eq=False)
class Problem:
    """What a method is given: which arms, what to minimise, over which tokens.

    `barred[i]` is a mask of the allowed tokens that arm `i` may not use; most arms
    may use all. `preset` is the name of the configuration, for the record only.
    `restart` counts how often the same was tried before with another seed: a method
    that always begins at the same point begins elsewhere then. `victims[i]` are the
    samples of arm `i`, and `pose` builds the objective over other samples.
    """

    arms: tuple[Arm, ...]
    objective: Objective
    allowed: Tensor
    seed: int
    preset: str = ""
    barred: Mapping[int, Tensor] = field(default_factory=dict)
    restart: int = 0
    victims: tuple[tuple[Any, ...], ...] = ()
    pose: Pose | None = None

    def usable(self, arm: int) -> Tensor:
        """The token ids that an arm's trigger may be made of."""
        return self.allowed[~self.barred[arm]] if arm in self.barred else self.allowed

    @property
    def meter(self) -> Meter:
        """Counts the work; every pass through a model is refused once the budget is spent."""
        return self.objective.subject.count


@dataclass(frozen=True)
class ArmState:
    """How far one arm is: epochs done, lowest loss, and the last loss and temperature."""

    epochs: int
    best_loss: float
    loss: float
    temperature: float


class Search(Protocol):
    """A method at work; a scheduler decides which arms it takes further.

    Arms are numbers in the order of the problem. What one arm finds never depends
    on which others are advanced beside it. Any epoch may end early, by an interruption
    or because the budget is spent (`BudgetSpent`, which a search lets through); what
    had been found before then still counts. `StepwiseSearch` keeps the books for most.
    A search that does not work on arms together may say so by `arms_at_once`, a number.
    """

    def advance(self, arms: Sequence[int]) -> None:
        """One epoch of these arms."""

    def states(self) -> list[ArmState]:
        """How far every arm is."""

    def finish(self, arms: Sequence[int]) -> list[Inversion]:
        """What was found for these arms, each of which had at least one epoch."""


class Method(Protocol):
    """The contract of a method plug-in.

    `presets` maps names to complete configurations; `passes` names those that a
    scan runs, one after another until one convicts, when none is asked for. A method
    may have a `schedule`: the name of the policy that `auto` means for it.
    """

    name: str
    tasks: tuple[str, ...]
    """The names of the tasks it is defined for; `EVERY_TASK` if for all."""
    presets: Mapping[str, MethodConfig]
    passes: tuple[str, ...]

    def units(self, config: Any) -> float:
        """Passes of an arm's samples in one epoch: a forward and a backward one are two."""

    def begin(self, problem: Problem, config: Any) -> Search:
        """A search in which no arm has been advanced yet."""


EVERY_TASK: tuple[str, ...] = ()

METHODS: Registry[Method] = Registry("method", "unhorse.invert.methods")
