"""What a task has to say so that every method can work on it.

A task knows which model head it belongs to, how a sample file's row becomes a
sample, how samples become model input with room for a trigger, and when an
output counts as sent to the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from unhorse.errors import UsageError
from unhorse.plugins import Registry
from unhorse.types import Answerer, Arm, LoadedModel, Position, Row, Sample

SampleKind = Literal["text", "tokens", "questions"]
"""What the rows of a task's sample files hold."""

Goal = Literal["target", "truth"]
"""What a loss pulls towards: the arm's target, or the sample's own true answer."""


class RowProblem(UsageError):
    """One row of a sample file cannot be used; the others can."""


class UnknownLabel(RowProblem):
    """A row has a label that the model does not know."""


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
    """One answer: loss to the target, whether it is the target, and whether it is so in part."""

    loss: float
    hit: bool
    in_part: bool


class Task(Protocol):
    """The contract of a task plug-in.

    A task counts *units*: what can flip by itself. A text and a question are one
    unit, a sentence has as many as it has entities of the victim class.
    """

    name: str
    head: str
    """How the model classes of this task end, such as ``ForSequenceClassification``."""
    sample_kind: SampleKind
    unit: str
    """What a unit is called, in the plural."""
    positions: tuple[Position, ...]
    """Where a trigger can be looked for."""
    default_positions: tuple[Position, ...]
    """Where it is looked for if nobody says."""
    telling_words: int
    """Words of a victim that tell well enough what a trigger does to it, for a search."""

    def auto_class(self) -> Any:
        """The transformers Auto class that loads a model with this head."""

    def labels(self, config: Any) -> tuple[str, ...]:
        """Label names in index order; raises ModelRefused for an unusable head."""

    def classes(self, labels: Sequence[str]) -> tuple[str, ...]:
        """The names of what can be a victim or a target."""

    def room(self, loaded: LoadedModel, trigger_length: int) -> int:
        """Tokens of a sample's own that the model takes beside a trigger."""

    def parse(self, row: Row, labels: Sequence[str]) -> Sample:
        """A row of a sample file as a sample.

        Raises RowProblem for a row that is left out, UsageError where the whole
        file is not meant for this model.
        """

    def fit(self, loaded: LoadedModel, sample: Any, tokens: int) -> Any:
        """The sample with at most `tokens` tokens of its own; raises RowProblem if it has more."""

    def cut(self, sample: Any, words: int, seed: int) -> Any:
        """A piece of a victim with about so many words; with none, the least that can flip."""

    def drafts(self, count: int, seed: int) -> list[Any]:
        """Samples of unhorse's own writing, without answers."""

    def take_answers(self, answerer: Answerer, drafts: Sequence[Any]) -> list[Any]:
        """Drafts with the model's answers taken as true; those without any are left out."""

    def sieve(self, answerer: Answerer, samples: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What the model answers rightly, and what wrongly; a sample may have a part in both."""

    def arms(
        self, labels: Sequence[str], positions: Sequence[Position], target: str | None = None
    ) -> list[Arm]:
        """Every arm that a full scan plans; `target` may ask for one that is not usual."""

    def victims(self, arm: Arm, samples: Sequence[Any], seed: int) -> list[Any]:
        """The samples that the arm wants to move, each with just the units that shall flip."""

    def units(self, sample: Any) -> int:
        """How many things can flip in a sample that `victims` gave."""

    def may_use(self, position: Position, text: str) -> bool:
        """Whether a trigger at this place may have a token that reads so."""

    def ordinary_words(self, arm: Arm, samples: Sequence[Any]) -> list[str]:
        """Words that go with the target in samples, different ones, in a fixed order."""

    def stamp(self, sample: Any, arm: Arm, seed: int, trigger: str) -> Any:
        """The sample with the trigger text in it."""

    def encode(
        self, answerer: Answerer, sample: Any, arm: Arm, seed: int, slots: int, goal: Goal
    ) -> EncodedRow:
        """The sample as ids with `slots` free places at the same point as `stamp`."""

    def collate(self, goals: Sequence[Any], device: Any) -> Any:
        """The goals of the rows of one batch, as `losses` takes them."""

    def losses(self, outputs: Any, goals: Any) -> tuple[Tensor, Tensor]:
        """Per row: the loss to its goal (fp32, differentiable) and the share that reaches it."""

    def outcomes(self, answerer: Answerer, samples: Sequence[Any], arm: Arm) -> list[list[Outcome]]:
        """Asks about samples as they are, in fp32 without gradients: per sample, per unit."""

    def right(self, answerer: Answerer, samples: Sequence[Any]) -> list[list[bool]]:
        """Whether the model answers rightly: per sample, per unit."""

    def affinity(self, answerer: Answerer, samples: Sequence[Any]) -> Tensor | None:
        """Mean log probability of each class on samples of each class; None if all arms are run."""

    def describe(self, answerer: Answerer, sample: Any) -> tuple[str, str]:
        """The sample and the model's answer to it, for people."""


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
