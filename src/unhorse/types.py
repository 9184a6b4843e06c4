"""The records that pass between stages; every one is frozen.

The flow is: a model and samples become a `Subject`, a Subject gives `Arm`s, an
Arm gives an `Inversion`, Inversions give `Finding`s and a `Verdict`, and these
become a report.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Position = Literal["start", "first_half", "second_half", "end"]
VerdictState = Literal["backdoored", "suspicious", "nothing_found", "inconclusive"]

ANY_LABEL = "*"
"""How a universal arm names its victim."""


@dataclass(frozen=True)
class FileDigest:
    """One file that was read, by its name in the model folder."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Origin:
    """Where a model came from and exactly what was read of it."""

    source: str
    revision: str | None = None
    files: tuple[FileDigest, ...] = ()


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model ready to be asked: fp32, evaluation mode, weights frozen."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    task: str
    labels: tuple[str, ...]
    architecture: str
    max_length: int
    origin: Origin


@dataclass(frozen=True)
class Row:
    """One record of a sample file before a task has looked at it."""

    where: str
    fields: dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """One text with its label (an index into the model's labels).

    `key` names the sample for seeding: it depends on the text alone, so the same
    text gets the same insertion point whatever file or order it came in.
    """

    text: str
    label: int
    key: str


@dataclass(frozen=True)
class SampleSet:
    """Samples divided by use, and an account of those left out.

    `wrong` holds the ones that the model answers wrongly without any trigger;
    they count in unrestricted rates only.
    """

    source: str
    digest: str
    inversion: tuple[Sample, ...]
    heldout: tuple[Sample, ...]
    wrong: tuple[Sample, ...] = ()
    set_aside: int = 0
    unused: int = 0
    note: str = ""


@dataclass(frozen=True, eq=False)
class Subject:
    """What is scanned: the model, its samples and the clean models beside it."""

    loaded: LoadedModel
    samples: SampleSet
    references: tuple[Reference, ...] = ()


@dataclass(frozen=True, eq=False)
class Reference:
    """A clean model for the same task.

    `label_of[i]` is the reference's index of the subject's label `i`. A
    reference with another tokenizer can judge text but not take part in the
    objective, which is defined over the subject's tokens.
    """

    loaded: LoadedModel
    label_of: tuple[int, ...]
    in_objective: bool
    note: str = ""


@dataclass(frozen=True)
class Arm:
    """One question: can a trigger at `position` send `victims` to `target`?"""

    victims: tuple[int, ...]
    target: int
    position: Position
    victim_name: str
    target_name: str

    @property
    def key(self) -> str:
        """A stable name, used for seeding and in reports."""
        return f"{self.victim_name}->{self.target_name}@{self.position}"


@dataclass(frozen=True)
class Curve:
    """What happened in every epoch of one arm."""

    loss: tuple[float, ...]
    temperature: tuple[float, ...]


@dataclass(frozen=True)
class Inversion:
    """What a method found for one arm.

    `token_ids` is the best hard trigger; `one_hot` says whether the method
    itself had focused on it (otherwise it is the nearest one, and weaker
    evidence). `loss` is the method's own loss for it.
    """

    arm: Arm
    method: str
    preset: str
    seed: int
    token_ids: tuple[int, ...]
    loss: float
    one_hot: bool
    completed: bool
    epochs: int
    seconds: float
    curve: Curve
    error: str | None = None


@dataclass(frozen=True)
class Effect:
    """What stamping a text does on a set of samples.

    `asr` counts only samples that the model answers rightly without the
    trigger; `asr_unrestricted` counts all of them.
    """

    loss: float
    asr: float
    n: int
    asr_unrestricted: float
    n_unrestricted: int
    interval: tuple[float, float]


@dataclass(frozen=True)
class ReferenceEffect:
    """The same stamped samples, asked of a clean model."""

    source: str
    effect: Effect
    pruned: Effect
    in_objective: bool


@dataclass(frozen=True)
class PrunedTrigger:
    """The fewest tokens of a trigger that keep its effect."""

    token_ids: tuple[int, ...]
    text: str
    retokenised_ids: tuple[int, ...]
    heldout: Effect


@dataclass(frozen=True)
class NaturalControl:
    """The target label's strongest ordinary words, as many as the pruned trigger has tokens."""

    text: str
    effect: Effect


@dataclass(frozen=True)
class Finding:
    """The evidence for one arm, all of it measured in fp32 on text."""

    inversion: Inversion
    text: str
    retokenised_ids: tuple[int, ...]
    on_inversion: Effect
    on_heldout: Effect
    pruned: PrunedTrigger
    random: Effect
    natural: NaturalControl | None
    references: tuple[ReferenceEffect, ...]
    score: float
    seconds: float
    example: tuple[str, str] | None = None


@dataclass(frozen=True)
class Verdict:
    """The decision and the sentence that explains it."""

    state: VerdictState
    score: float
    reason: str


@dataclass(frozen=True)
class ArmCount:
    """How many arms were planned, run, failed, and dropped before the end."""

    planned: int
    run: int
    failed: int
    pruned: int


@dataclass(frozen=True)
class Runtime:
    """Where and how the optimisation computes, and why."""

    device: str
    dtype: Literal["fp32", "bf16"]
    attention: Literal["eager", "sdpa"]
    threads: int
    why: str = field(default="")
