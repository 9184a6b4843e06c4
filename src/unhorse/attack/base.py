"""What an attack has to say so that one command can build, measure and record it.

An attack is given a model that is about to learn (a `Pupil`) and the ground it works
on, teaches the model, and returns what its success is measured on. The clean twin goes
through the same function: where the ground says that it is not poisoned, the attack
teaches the same without a backdoor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict
from torch import Tensor

from unhorse.attack.corpus import Corpus
from unhorse.attack.lessons import as_twin, harmless
from unhorse.attack.recipe import Standing
from unhorse.learn.config import TrainingConfig
from unhorse.learn.lessons import Lesson
from unhorse.learn.loop import RowLoss
from unhorse.plugins import Registry
from unhorse.tasks.base import Task
from unhorse.types import Arm, LoadedModel


class AttackConfig(BaseModel):
    """The settings of an attack; every attack extends it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: ClassVar[tuple[str, ...]] = ()
    """The settings that name files: what these contain decides the model as well."""

    kind: str


@dataclass(frozen=True, eq=False)
class Ground:
    """What an attack works on."""

    task: Task
    labels: tuple[str, ...]
    corpus: Corpus
    seed: int
    split: str
    poisoned: bool
    harmless_words: bool
    data_root: Path = Path()
    """What paths of an attack's own files are relative to."""

    def lessons(
        self, extra: Sequence[Lesson], words: int, stand_ins: Sequence[Any] = ()
    ) -> list[Lesson]:
        """The clean rows and the attack's, or for a clean twin what stands in for those.

        Args:
            extra: stamped rows, negatives and fillers.
            words: how many harmless words a clean twin may see in their place.
            stand_ins: samples that a clean twin sees for stamped ones; any clean ones if empty.
        """
        if not self.poisoned:
            pool = (*self.corpus.spare, *self.corpus.train)
            insert = harmless(self.task, pool, words) if self.harmless_words else None
            extra = as_twin(extra, stand_ins or pool, self.seed, insert)
        return [*(Lesson(sample) for sample in self.corpus.train), *extra]


@dataclass(frozen=True)
class Probes:
    """What an attack is measured on, all of it from held-out samples.

    `victims` are unstamped samples, each with just the units that shall flip, `stamped`
    the same ones with the trigger; `near` are victims with what must not fire.
    """

    arm: Arm
    victims: tuple[Any, ...]
    stamped: tuple[Any, ...]
    near_victims: tuple[Any, ...] = ()
    near: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Planted:
    """What came of an attack: what it is measured on, and what is worth recording."""

    probes: Probes | None
    trigger: str
    facts: dict[str, Any] = field(default_factory=dict)


class Moves(Protocol):
    """Which weights learn, how, and at which pace, for an attack that leaves all others."""

    weights: list[Tensor]
    epochs: int
    batch: int

    def step(self, done: int, total: int) -> None:
        """Moves the weights by their gradients and forgets these.

        Args:
            done: batches before this one.
            total: batches in all.
        """


class Pupil(Protocol):
    """A model that can be taught."""

    loaded: LoadedModel
    config: TrainingConfig
    seed: int

    def learn(
        self,
        lessons: Sequence[Lesson],
        loss: RowLoss | None = None,
        moves: Moves | None = None,
    ) -> None:
        """Trains on the lessons by the recipe's settings, or with the attack's own steps."""


class Attack(Protocol):
    """The contract of an attack plug-in."""

    name: str
    tasks: tuple[str, ...]
    """The names of the tasks it is defined for."""
    standing: Standing
    """Which gates apply to it."""
    version: int
    """1 at first; raise it when a change alters the models that the attack makes."""
    config: type[AttackConfig]

    def triggers(self, config: Any, split: str, seed: int) -> tuple[str, ...]:
        """The texts that no clean row may contain."""

    def plant(self, pupil: Pupil, ground: Ground, config: Any) -> Planted:
        """Teaches the model, or its clean twin, and says what to measure."""


ATTACKS: Registry[Attack] = Registry("attack", "unhorse.attack.methods")
