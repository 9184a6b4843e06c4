"""What a removal method has to say so that one command can run, prove and record it.

A method is given a `Case` and makes a cleaned model of it. The subject in the case is
never changed: a method works on a copy, or on another model.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from unhorse.errors import UsageError
from unhorse.learn.loop import Progress, untold
from unhorse.plugins import Registry
from unhorse.remove.records import Cleaned, Rows, Trigger
from unhorse.tasks.base import TASKS, Task
from unhorse.types import LoadedModel

USUAL_RATE = 4e-5
"""The learning rate for a model as wide as BERT-base; narrower ones take longer steps."""

USUAL_WIDTH = 768


class RemovalConfig(BaseModel):
    """The settings of a removal; every method extends it.

    A few hundred samples are few steps an epoch, so that they are gone through more
    often, until there are `least_steps`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    epochs: int = Field(default=3, ge=1)
    """How often all samples are gone through."""
    least_steps: int = Field(default=150, ge=1)
    """With few samples, more epochs until there are so many steps."""
    most_epochs: int = Field(default=30, ge=1)
    """But no more epochs than this."""
    most_steps: int = Field(default=400, ge=1)
    """With many samples, fewer epochs than asked for, but one at least."""
    batch: int = Field(default=32, ge=1)
    learning_rate: float | None = Field(default=None, gt=0)
    """By the width of the model if not given."""
    weight_decay: float = Field(default=0.01, ge=0)
    patience: int = Field(default=2, ge=1)
    """Epochs without a better one on the watched rows after which the teaching ends; where few
    samples make many epochs, a third of them."""
    embeddings: bool = True
    """Whether the word embeddings learn too."""

    def planned_epochs(self, steps: int) -> int:
        """How many epochs of so many steps there will be.

        >>> [RemovalConfig().planned_epochs(steps) for steps in (10, 100, 200, 900)]
        [15, 3, 2, 1]
        """
        fewest = min(self.most_epochs, -(-self.least_steps // steps))
        return max(fewest, min(self.epochs, self.most_steps // steps), 1)

    def rate(self, model: Any) -> float:
        """The learning rate for a model."""
        width = getattr(model.config, "hidden_size", None) or USUAL_WIDTH
        return self.learning_rate or USUAL_RATE * USUAL_WIDTH / width


@dataclass(frozen=True, eq=False)
class Case:
    """What a method works on."""

    subject: LoadedModel
    """The model as it came; never changed."""
    triggers: tuple[Trigger, ...]
    rows: Rows
    seed: int = 0
    base: str | None = None
    """The folder or hub id of the checkpoint that the subject was fine-tuned from."""
    progress: Progress = untold

    @property
    def task(self) -> Task:
        """The subject's task."""
        return TASKS.get(self.subject.task)

    def pupil(self) -> LoadedModel:
        """A copy of the subject that may be changed."""
        return replace(self.subject, model=copy.deepcopy(self.subject.model))

    def fresh(self) -> LoadedModel:
        """The base with the subject's task and labels, and the subject's tokens."""
        from unhorse.attack.bases import open_base
        from unhorse.attack.recipe import BaseConfig

        assert self.base is not None
        task, subject = self.task, self.subject
        loaded = open_base(BaseConfig(model=self.base), task.name, subject.labels, Path()).loaded
        if set(loaded.origin.files) & {f for f in subject.origin.files if _is_weights(f.path)}:
            raise UsageError(f"The base {self.base} is the model itself, with its backdoor.")
        if loaded.tokenizer.get_vocab() != subject.tokenizer.get_vocab():
            raise UsageError(f"The base {self.base} has another vocabulary than the model.")
        loaded.model.to(subject.model.device)
        return replace(
            loaded,
            tokenizer=subject.tokenizer,
            max_length=min(loaded.max_length, subject.max_length),
        )


def _is_weights(path: str) -> bool:
    return path.endswith(".safetensors")


class Removal(Protocol):
    """The contract of a removal plug-in."""

    name: str
    needs_triggers: bool
    """Whether it cannot work without a trigger."""
    needs_base: bool
    """Whether it cannot work without the checkpoint that the subject was fine-tuned from."""
    config: type[RemovalConfig]

    def remove(self, case: Case, config: Any) -> Cleaned:
        """A model without the backdoor; the case's subject stays as it is."""


REMOVALS: Registry[Removal] = Registry("removal", "unhorse.remove.methods")
