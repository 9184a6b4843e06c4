"""What a task has to say so that every method can work on it.

A task knows which model head it belongs to, how a sample file's row becomes a
sample, how samples become model input with room for a trigger, and when an
output counts as sent to the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from unhorse.plugins import Registry
from unhorse.types import Arm, LoadedModel, Position, Row, Sample


@dataclass(frozen=True)
class EncodedRow:
    """One stamped sample as token ids.

    `slots[i]` is the place in `ids` that trigger token `slot_of[i]` takes; a
    task that stamps one trigger twice lists both places. `goal` is what the
    loss pulls towards: an index for a classifier, positions for other tasks.
    """

    ids: tuple[int, ...]
    type_ids: tuple[int, ...] | None
    slots: tuple[int, ...]
    slot_of: tuple[int, ...]
    goal: Any


@dataclass(frozen=True)
class Outcome:
    """One sample's answer: loss to the goal, and whether it is the goal."""

    loss: float
    hit: bool


class Task(Protocol):
    """The contract of a task plug-in."""

    name: str
    head: str
    """How the model classes of this task end, such as ``ForSequenceClassification``."""

    def auto_class(self) -> Any:
        """The transformers Auto class that loads a model with this head."""

    def labels(self, config: Any) -> tuple[str, ...]:
        """Label names in index order; raises ModelRefused for an unusable head."""

    def parse(self, row: Row, labels: Sequence[str]) -> Sample:
        """A row of a sample file as a sample; raises UsageError naming the row."""

    def answers(self, loaded: LoadedModel, samples: Sequence[Sample]) -> list[int]:
        """The model's own answer to every sample, as a label index."""

    def arms(self, labels: Sequence[str], positions: Sequence[Position]) -> list[Arm]:
        """Every arm that a full scan of a model with these labels plans."""

    def victims(self, arm: Arm, samples: Sequence[Sample]) -> list[Sample]:
        """The samples that the arm wants to move."""

    def stamp(self, sample: Sample, position: Position, seed: int, trigger: str) -> Sample:
        """The sample with the trigger text in it."""

    def encode(
        self,
        loaded: LoadedModel,
        sample: Sample,
        position: Position,
        seed: int,
        slots: int,
        goal: int,
    ) -> EncodedRow:
        """The sample as ids with `slots` free places at the same point as `stamp`."""

    def losses(self, outputs: Any, goals: Sequence[Any]) -> tuple[Tensor, Tensor]:
        """Per row: the loss to its goal (fp32, differentiable) and whether it is reached."""

    def outcomes(
        self, loaded: LoadedModel, samples: Sequence[Sample], goals: Sequence[int]
    ) -> list[Outcome]:
        """Asks the model about plain samples, in fp32 and without gradients."""


TASKS: Registry[Task] = Registry("task", "unhorse.tasks")


def no_grad_batches(rows: int, size: int) -> list[slice]:
    """Slices that cover `rows` in pieces of at most `size`.

    >>> no_grad_batches(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]


__all__ = ["TASKS", "EncodedRow", "Outcome", "Task", "no_grad_batches", "torch"]
