"""What a removal method has to say so that one command can run, prove and record it.

A method is given a `Case` and makes a cleaned model of it. The subject in the case is
never changed: a method works on a copy, or on another model.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

from pydantic import Field

from unhorse.attack.corpus import mentions
from unhorse.learn.imitate import fresh_student
from unhorse.learn.loop import Progress, untold
from unhorse.learn.plan import LessonPlan
from unhorse.plugins import Registry
from unhorse.remove.records import Cleaned, Rows, Trigger
from unhorse.tasks.base import TASKS, Task
from unhorse.types import LoadedModel


class RemovalConfig(LessonPlan):
    """The settings of a removal; every method extends it."""

    least_steps: int = Field(default=90, ge=1)
    """With few samples, more epochs until there are so many steps; more of them cost the clean
    metric and take little more of the backdoor out."""
    patience: int = Field(default=2, ge=1)
    """Epochs without a better one on the watched rows after which the teaching ends; where few
    samples make many epochs, a third of them."""


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

    def is_clear(self, number: int) -> bool:
        """Whether a row to learn from contains no known trigger."""
        return number not in self._mentioning

    @cached_property
    def _mentioning(self) -> frozenset[int]:
        """The rows with a known trigger in them; what stands in most rows is no trigger."""
        known = [form for trigger in self.triggers for form in trigger.forms]
        found = {n for n, sample in enumerate(self.rows.train) if mentions(sample, known)}
        return frozenset(found if 2 * len(found) <= len(self.rows.train) else ())

    def pupil(self) -> LoadedModel:
        """A copy of the subject that may be changed."""
        return replace(self.subject, model=copy.deepcopy(self.subject.model))

    def fresh(self) -> LoadedModel:
        """The base with the subject's task and labels, and the subject's tokens."""
        assert self.base is not None
        return fresh_student(self.subject, self.base)


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
