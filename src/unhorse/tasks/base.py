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
    slots: tuple[int, ...]
    slot_of: tuple[int, ...]
    goal: Any
    type_ids: tuple[int, ...] | None = None


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

    def fit(self, loaded: LoadedModel, sample: Sample, tokens: int) -> Sample:
        """The sample cut so that it has at most `tokens` tokens of its own."""

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


def pad(rows: Sequence[Sequence[int]], pad_id: int) -> tuple[Tensor, Tensor]:
    """Rows of ids as one tensor padded on the right, and its attention mask.

    >>> pad([[5, 6], [7]], 0)[0].tolist(), pad([[5, 6], [7]], 0)[1].tolist()
    ([[5, 6], [7, 0]], [[1, 1], [1, 0]])
    """
    width = max(len(row) for row in rows)
    ids = torch.tensor([[*row, *[pad_id] * (width - len(row))] for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return ids, mask


def partition(lengths: Sequence[int], most_tokens: int, overhead: int = 150) -> list[list[int]]:
    """Groups rows so that padding them to their group's longest costs least.

    Rows are sorted by length and cut where the saved padding outweighs the fixed
    cost of one more pass, which is worth about `overhead` tokens. No group pads
    to more than `most_tokens` unless a single row does.

    >>> partition([3, 100, 4, 90], most_tokens=1000)
    [[0, 2], [3, 1]]
    """
    order = sorted(range(len(lengths)), key=lambda i: lengths[i])
    best = [0.0] + [float("inf")] * len(order)
    cut = [0] * (len(order) + 1)
    for end in range(1, len(order) + 1):
        longest = lengths[order[end - 1]]
        for start in range(end - 1, -1, -1):
            padded = (end - start) * longest
            if padded > most_tokens and end - start > 1:
                break
            if best[start] + padded + overhead < best[end]:
                best[end], cut[end] = best[start] + padded + overhead, start
    groups: list[list[int]] = []
    end = len(order)
    while end:
        groups.append(order[cut[end] : end])
        end = cut[end]
    return groups[::-1]


def batches_by_length(lengths: Sequence[int], most_tokens: int = 4096) -> list[list[int]]:
    """Row numbers in batches of similar length, for passes without gradients."""
    return partition(lengths, most_tokens) if lengths else []
