"""What is known of a built model: the record beside its folder, and what it is measured on.

`attack.json` never lies inside the model folder: a scanner that is handed the folder cannot
find the answer in it. `heldout.json` has the held-out samples, clean and stamped, so that
the figures can be measured again from the folder alone.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from unhorse.attack.base import Probes
from unhorse.attack.measure import Measured
from unhorse.attack.recipe import Recipe, Standing
from unhorse.config import one_sentence
from unhorse.errors import UsageError
from unhorse.types import Arm, FileDigest, QuestionSample, TaggedSample, TextSample

RECORD = "attack.json"
HELDOUT = "heldout.json"
MODEL = "model"

_MANY: dict[str, TypeAdapter[Any]] = {
    "sequence-classification": TypeAdapter(tuple[TextSample, ...]),
    "token-classification": TypeAdapter(tuple[TaggedSample, ...]),
    "question-answering": TypeAdapter(tuple[QuestionSample, ...]),
}


class BaseRecord(BaseModel):
    """The model that training started from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    files: tuple[FileDigest, ...]
    tuned: bool = False
    """Whether it had the task's head already, so that what is derived from it is related."""


class AttackRecord(BaseModel):
    """Everything about one built model that is not in its folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: str = "1.0"
    name: str
    task: str
    architecture: str
    layers: int | None
    parameters: int
    poisoned: bool
    twin_of: str | None = None
    """The name of the trojaned model whose clean twin it is."""
    attack: str
    standing: Standing
    trigger: str
    """For a clean twin the text that its poisoned sibling reacts to."""
    victim: str | None
    target: str | None
    scope: str | None
    facts: dict[str, Any] = Field(default_factory=dict)
    seed: int
    split: str
    family: str
    ancestors: tuple[str, ...] = ()
    """Names of the built models that this one was derived from, the nearest first."""
    recipe: Recipe
    content: str
    """A hash of recipe, data and base: the same content is not built twice."""
    data: tuple[FileDigest, ...]
    heldout_sha256: str | None = None
    """The digest of `heldout.json`."""
    base: BaseRecord
    files: tuple[FileDigest, ...]
    """The files of the model folder."""
    rows: dict[str, int]
    steps: int
    measured: Measured
    training_seconds: float
    seconds: float
    threads: int
    precision: str | None = None
    """What products were computed in while it learnt; not known of older records."""
    versions: dict[str, str]

    @property
    def weights(self) -> tuple[str, ...]:
        """The digests of the model's weights."""
        return weight_digests(self.files)

    @property
    def tuned_on(self) -> tuple[str, ...]:
        """Digests of the weights it started from, if these knew the task already."""
        return weight_digests(self.base.files) if self.base.tuned else ()

    def to_json(self) -> str:
        """The record as it is stored."""
        return self.model_dump_json(indent=2) + "\n"


def weight_digests(files: Sequence[FileDigest]) -> tuple[str, ...]:
    """The digests of those files that have weights."""
    return tuple(file.sha256 for file in files if file.path.endswith(".safetensors"))


def read_record(folder: Path) -> AttackRecord:
    """The record of a built model."""
    path = folder / RECORD
    if not path.is_file():
        raise UsageError(f"{folder} has no {RECORD}.")
    return read_record_file(path)


def read_record_file(path: Path) -> AttackRecord:
    """A record, whatever its file is called."""
    try:
        return AttackRecord.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"The record {path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        raise UsageError(one_sentence(error, f"{path} is not a record")) from error


def write_heldout(folder: Path, heldout: Sequence[Any], probes: Probes | None) -> str:
    """Stores what a model is measured on, and says the digest of the file."""
    content = {
        "heldout": [dataclasses.asdict(sample) for sample in heldout],
        "probes": None if probes is None else dataclasses.asdict(probes),
    }
    raw = json.dumps(content, ensure_ascii=False).encode("utf-8")
    (folder / HELDOUT).write_bytes(raw)
    return hashlib.sha256(raw).hexdigest()


def read_heldout(folder: Path, task: str) -> tuple[list[Any], Probes | None]:
    """What a model is measured on."""
    path = folder / HELDOUT
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        many = _MANY[task]
        found = content["probes"]
        probes = found and Probes(
            arm=TypeAdapter(Arm).validate_python(found["arm"]),
            **{name: many.validate_python(found[name]) for name in _PROBE_LISTS},
        )
        return list(many.validate_python(content["heldout"])), probes
    except OSError as error:
        raise UsageError(f"{folder} has no {HELDOUT}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} does not have the samples of a model.") from error


_PROBE_LISTS = ("victims", "stamped", "near_victims", "near")
