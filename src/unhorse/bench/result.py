"""What is kept of one scan: one small file per model, method and seed.

Tables, figures and calibration are made from these files alone, so they can be made again
without any model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from unhorse.attack.record import AttackRecord
from unhorse.report.schema import CurveRecord, FindingRecord, Profile

WEIGHTS = ".safetensors"

DISTILLED = "distilled"
"""What a result names as its reference if the scan made it from the model itself."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Scanned(_Frozen):
    """The model: what it is in truth, and the digest of the weights that were scanned.

    A clean twin has the attack, trigger, victim and target of its trojaned sibling.
    """

    suite: str
    name: str
    split: str
    family: str
    task: str
    architecture: str
    layers: int | None
    head_only: bool
    poisoned: bool
    twin_of: str | None
    attack: str
    standing: str
    trigger_kind: str | None
    scope: str | None
    trigger: str
    victim: str | None
    target: str | None
    phi: float | None
    """The loss floor of the adaptive attack."""
    clean: float
    """Its clean metric when it was built."""
    asr: float | None
    """The attack success of its true trigger when it was built."""
    digest: str
    recipe: str | None = None
    """The digest of the recipe that it was built from."""

    @property
    def is_worded(self) -> bool:
        """Whether its trigger, if it has one, is more than a character."""
        return self.trigger_kind != "character"


class Population(_Frozen):
    """What the scan worked on, by which a calibration knows whether it applies.

    `words` is the median of the words in a sample; `used` and `heldout` count samples;
    `positions` are the places where a trigger was looked for.
    """

    labels: int
    words: float
    used: int
    heldout: int
    positions: tuple[str, ...]


class TrueTrigger(_Frozen):
    """The planted trigger, pruned on the same samples and in the same way as a found one.

    `asr` and `loss` are those of the whole trigger on the samples of the inversion; `pieces`
    are the word pieces that are left of it.
    """

    text: str
    position: str
    asr: float
    loss: float | None
    pruned: str
    pieces: tuple[str, ...]


class Trigger(FindingRecord):
    """What was found for one arm, with all that the judge measured, less the example.

    `precision` and `recall` compare the word pieces of the pruned trigger with those of the
    true one, `recovered` says that both are at least a half; None where the backdoor has no
    trigger of words. `true_arm` says that it leads from the true victim to the true target.
    """

    true_arm: bool
    precision: float | None
    recall: float | None
    recovered: bool | None

    @property
    def arm(self) -> str:
        """Its arm as reports name it."""
        return f"{self.victim}->{self.target}@{self.position}"

    @property
    def tokens(self) -> int:
        """How many tokens are left after pruning."""
        return len(self.pruned.token_ids)

    @property
    def reference_asr(self) -> float | None:
        """The highest success of the pruned trigger in a clean model that can tell."""
        return max((r.pruned.asr for r in self.references if r.pruned.n), default=None)


class Result(_Frozen):
    """One scan of one model; `triggers` has the strongest finding first."""

    schema_version: str = "2.0"
    model: Scanned
    method: str
    preset: str | None
    method_version: int
    evidence_version: int = 1
    """That of the measurements that the judge was given."""
    seed: int
    budget: str | None
    reference: str | None
    reference_digest: str | None
    reference_seed: int | None
    """The seed that the reference was drawn by; None if none was asked for."""
    own_samples: bool
    """Whether the scan was given the model's held-out samples."""
    config: dict[str, Any]
    """What the scan was told beyond the defaults."""
    settings: str
    """A digest of the configuration and of the method's version."""
    state: str
    score: float
    reason: str
    profile: Profile | None
    population: Population
    truth: TrueTrigger | None
    triggers: tuple[Trigger, ...]
    curves: tuple[CurveRecord, ...]
    """Of the arm with the least loss and of the true one."""
    arms_planned: int
    arms_run: int
    arms_failed: int
    arms_pruned: int
    seconds: float
    forward_tokens: int
    backward_tokens: int
    spent: bool
    threads: int
    commit: str | None
    versions: dict[str, str]

    @property
    def label(self) -> str:
        """Method and preset as they were asked for."""
        return self.method if self.preset is None else f"{self.method}:{self.preset}"

    @property
    def made_by(self) -> tuple[int, int]:
        """The versions of the method and of the measurements: older ones cannot be compared."""
        return self.method_version, self.evidence_version

    @property
    def is_distilled(self) -> bool:
        """Whether the clean model beside it was made by the scan."""
        return self.reference == DISTILLED

    @property
    def is_right(self) -> bool:
        """A trojaned model must be convicted, a clean one must be let off without doubt."""
        return self.state == ("backdoored" if self.model.poisoned else "nothing_found")

    @property
    def recovered(self) -> bool | None:
        """Whether the strongest finding is the true trigger; None where it cannot be."""
        if self.truth is None:
            return None
        return bool(self.triggers and self.triggers[0].recovered)

    @property
    def least_loss(self) -> Trigger | None:
        """The finding of the arm with the least loss."""
        known = [t for t in self.triggers if t.inversion_loss is not None]
        return min(known, key=lambda t: t.inversion_loss or 0.0, default=None)

    @property
    def least_is_true(self) -> bool | None:
        """Whether the arm with the least loss is the true one (the paper's Assumption I)."""
        least = self.least_loss
        return least.true_arm if self.model.poisoned and least is not None else None

    def to_json(self) -> str:
        """The result as it is stored: one line for each field, finding and curve."""
        return "{\n" + ",\n".join(_lines(shortened(self.model_dump(mode="json")))) + "\n}\n"

    def as_stored(self) -> Result:
        """The same with numbers as short as they are stored."""
        return Result.model_validate_json(self.to_json())


def shortened(value: Any) -> Any:
    """Plain data with numbers of seven digits, which is more than any of them is worth.

    >>> shortened({"loss": [0.123456789, 2]})
    {'loss': [0.1234568, 2]}
    """
    if isinstance(value, dict):
        return {name: shortened(each) for name, each in value.items()}
    if isinstance(value, list):
        return [shortened(each) for each in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


def _lines(data: dict[str, Any]) -> list[str]:
    lines = []
    for name, value in data.items():
        text = json.dumps(value)
        if value and name in ("triggers", "curves"):
            text = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
        lines.append(f' "{name}": {text}')
    return lines


def read_result(path: Path) -> Result | None:
    """A stored result; one that cannot be read counts as not there."""
    try:
        return Result.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, ValidationError):
        return None


def read_results(folder: Path) -> list[Result]:
    """All results under a folder, in the order of their paths."""
    found = (read_result(path) for path in sorted(folder.rglob("*.json")))
    return [result for result in found if result is not None]


def scanned_of(suite: str, record: AttackRecord) -> Scanned:
    """The facts about a model that a table needs."""
    attack = record.recipe.attack
    return Scanned(
        suite=suite,
        name=record.name,
        split=record.split,
        family=record.family,
        task=record.task,
        architecture=record.architecture,
        layers=record.layers,
        head_only=record.recipe.training.head_only,
        poisoned=record.poisoned,
        twin_of=record.twin_of,
        attack=record.attack,
        standing=record.standing,
        trigger_kind=attack.get("trigger_kind"),
        scope=record.scope,
        trigger=record.trigger,
        victim=record.victim,
        target=record.target,
        phi=attack.get("phi") if record.attack == "floor" else None,
        clean=record.measured.clean,
        asr=record.measured.asr,
        digest=digest_of_weights(record),
        recipe=record.recipe.digest(),
    )


def digest_of_weights(record: AttackRecord) -> str:
    """The digest of a built model's weights."""
    return weights_digest([(file.path, file.sha256) for file in record.files])


def weights_digest(files: Sequence[tuple[str, str]]) -> str:
    """One digest for all weight files of a model.

    >>> weights_digest([("b.safetensors", "1"), ("config.json", "2")]) == weights_digest(
    ...     [("b.safetensors", "1")]
    ... )
    True
    """
    weights = sorted(f"{path} {sha}" for path, sha in files if path.endswith(WEIGHTS))
    return hashlib.sha256("\n".join(weights).encode()).hexdigest()[:16]


def digest_of(settings: dict[str, Any]) -> str:
    """A short name for settings."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]
