"""The contract of an inversion method: arms and an objective in, Inversions out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from unhorse.invert.objective import Objective
from unhorse.plugins import Registry
from unhorse.types import Arm, Inversion


class MethodConfig(BaseModel):
    """What every method's configuration has; each method adds its own fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    trigger_length: int = Field(default=10, ge=1, le=64)
    epochs: int = Field(default=200, ge=1)


@dataclass(frozen=True, eq=False)
class Problem:
    """What a method is given: which arms, what to minimise, over which tokens.

    `preset` is the name of the configuration, for the record only.
    """

    arms: tuple[Arm, ...]
    objective: Objective
    allowed: Tensor
    seed: int
    preset: str = ""


class Progress(Protocol):
    """Told about every epoch; a method must call it once per epoch."""

    def epoch(self, number: int, loss: list[float], temperature: list[float]) -> None:
        """Epoch `number` (from 1) ended with these values, one per arm."""


class SilentProgress:
    """Tells nobody."""

    def epoch(self, number: int, loss: list[float], temperature: list[float]) -> None:
        """Does nothing."""


class Method(Protocol):
    """The contract of a method plug-in.

    `presets` maps names to complete configurations; `passes` names those that a
    scan runs, one after another until one convicts, when none is asked for.
    A method that is interrupted (KeyboardInterrupt) returns its best so far,
    with `completed` false.
    """

    name: str
    presets: Mapping[str, MethodConfig]
    passes: tuple[str, ...]

    def invert(self, problem: Problem, config: MethodConfig, progress: Progress) -> list[Inversion]:
        """One Inversion per arm, in the order of the arms."""


METHODS: Registry[Method] = Registry("method", "unhorse.invert")
