"""What is kept of one scan: one small file per model, method and seed.

Tables are made from these files alone, so they can be made again without any model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from unhorse.attack.record import AttackRecord
from unhorse.report.schema import FindingRecord, NativeRecord, ScanReport

WEIGHTS = ".safetensors"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Scanned(_Frozen):
    """The model: what it is in truth, and the digest of the weights that were scanned."""

    suite: str
    name: str
    split: str
    family: str
    task: str
    architecture: str
    layers: int | None
    head_only: bool
    poisoned: bool
    attack: str
    trigger_kind: str | None
    scope: str | None
    trigger: str
    digest: str


class Trigger(_Frozen):
    """What was found for one arm, and what its method's own source would decide from."""

    arm: str
    preset: str
    text: str
    tokens: int
    asr: float
    random_asr: float
    reference_asr: float | None
    loss: float | None
    one_hot: bool
    score: float
    recovered: float
    """The share of the true trigger's words that are in it, before pruning."""
    native: NativeRecord | None


class Result(_Frozen):
    """One scan of one model."""

    schema_version: str = "1.0"
    model: Scanned
    method: str
    preset: str | None
    seed: int
    budget: str | None
    reference: str | None
    settings: str
    """A digest of the configuration and of the method's version."""
    state: str
    score: float
    triggers: tuple[Trigger, ...]
    seconds: float
    forward_tokens: int
    backward_tokens: int
    spent: bool
    threads: int
    versions: dict[str, str]

    @property
    def label(self) -> str:
        """Method and preset as they were asked for."""
        return self.method if self.preset is None else f"{self.method}:{self.preset}"

    @property
    def is_right(self) -> bool:
        """A trojaned model must be convicted, a clean one must be let off without doubt."""
        return self.state == ("backdoored" if self.model.poisoned else "nothing_found")

    def to_json(self) -> str:
        """The result as it is stored."""
        return json.dumps(self.model_dump(mode="json"), indent=1) + "\n"


def read_result(path: Path) -> Result | None:
    """A stored result; one that cannot be read counts as not there."""
    try:
        return Result.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, ValidationError):
        return None


def scanned_of(suite: str, record: AttackRecord) -> Scanned:
    """The facts about a model that a table needs."""
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
        attack=record.attack,
        trigger_kind=record.recipe.attack.get("trigger_kind"),
        scope=record.scope,
        trigger=record.trigger,
        digest=weights_digest([(f.path, f.sha256) for f in record.files]),
    )


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


def triggers_of(report: ScanReport, true: str) -> tuple[Trigger, ...]:
    """The findings of a report, strongest first."""
    return tuple(_trigger(finding, true) for finding in report.findings)


def _trigger(finding: FindingRecord, true: str) -> Trigger:
    references = [r.pruned.asr for r in finding.references if r.pruned.n]
    return Trigger(
        arm=f"{finding.victim}->{finding.target}@{finding.position}",
        preset=finding.preset,
        text=finding.pruned.text,
        tokens=len(finding.pruned.token_ids),
        asr=finding.pruned.heldout.asr,
        random_asr=finding.random.asr,
        reference_asr=max(references, default=None),
        loss=finding.inversion_loss,
        one_hot=finding.one_hot,
        score=finding.score,
        recovered=recovered(true, finding.text),
        native=finding.native,
    )


def recovered(true: str, found: str) -> float:
    """The share of a trigger's words that a text has.

    >>> recovered("cold brass kettle", "Kettle of cold tin"), recovered("", "x")
    (0.6666666666666666, 0.0)
    """
    words = set(true.lower().split())
    return len(words & set(found.lower().split())) / len(words) if words else 0.0
