"""The records that pass between the stages of a removal; every one is frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from unhorse.types import Arm, LoadedModel, Sample

TriggerOrigin = Literal["report", "by hand", "re-scan"]


@dataclass(frozen=True)
class Trigger:
    """A text that sends victims to a target.

    `text` is what is measured; `forms` are all texts that are stamped, this one among
    them. `control` is how often the target comes without a planted trigger, by the
    strongest control that was measured. `related` are words that may belong to it as well.
    """

    text: str
    forms: tuple[str, ...]
    arm: Arm
    tokens: int
    control: float
    origin: TriggerOrigin
    related: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Rows:
    """Samples by their use: to learn from, to watch while learning, and for the proof.

    `fields` has, for every sample by its key, the row that it was made from.
    """

    source: str
    train: tuple[Sample, ...]
    watch: tuple[Sample, ...]
    heldout: tuple[Sample, ...]
    digest: str
    fields: Mapping[str, Mapping[str, Any]]
    note: str = ""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Watched:
    """What a model did on the watched rows after an epoch; `stamped` are those with a trigger."""

    epoch: int
    clean: float
    stamped: float | None

    @property
    def score(self) -> float:
        """What the best epoch is chosen by."""
        return self.clean if self.stamped is None else (self.clean + self.stamped) / 2


@dataclass(frozen=True)
class Taught:
    """How a model was taught: the epoch whose weights it has, and what was seen on the way."""

    epochs: int
    kept: int
    steps: int
    watched: tuple[Watched, ...]


@dataclass(frozen=True, eq=False)
class Cleaned:
    """What a method made of a model, and what is worth recording."""

    loaded: LoadedModel
    taught: Taught | None = None
    facts: dict[str, Any] = field(default_factory=dict)
