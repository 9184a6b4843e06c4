"""One configuration object: command-line flags and a TOML file fill the same fields."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from unhorse.errors import UsageError
from unhorse.types import Position


class ScanConfig(BaseModel):
    """Everything that decides what a scan does; all of it is in the report."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str = "auto"
    """The inversion method; auto is focus where a clean model stands by, and dbs otherwise."""
    preset: str | None = None
    """A named set of the method's constants; if none is given, the method's passes are run."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Constants of the method that differ from the preset."""
    victim: str | None = None
    """Run only the arms with this victim (``*`` for the universal ones)."""
    target: str | None = None
    """Run only the arms with this target: a label, an entity class or ``O``, null or trigger."""
    positions: tuple[Position, ...] | None = Field(default=None, min_length=1)
    """Where a trigger is looked for; the task's usual places if not given."""
    budget: str | None = None
    """How much work: quick, standard, thorough, <N>s or <N>tok; else all that the method asks."""
    schedule: str = "auto"
    """How arms share the epochs: all, top2, ways, halving, bandit, or auto."""
    profile: str | None = None
    """A profile file to decide by, or none; the shipped one that fits if not given."""
    base: str | None = None
    """The folder or hub id of the checkpoint that the model was fine-tuned from."""
    seed: int = Field(default=0, ge=0)
    """Decides every random draw."""
    text_field: str | None = None
    """The column or key that holds the text, where it cannot be guessed."""
    label_field: str | None = None
    """The column or key that holds the label, where it cannot be guessed."""
    samples_per_class: int = Field(default=20, ge=8)
    """Samples of each class that the optimisation sees."""
    heldout_per_class: int = Field(default=100, ge=4)
    """Samples of each class, at most, that the evidence is measured on."""
    max_tokens: int = Field(default=128, ge=8)
    """Texts are cut to this many tokens before anything else."""
    device: str = "auto"
    """cpu, cuda, mps, or auto."""
    dtype: Literal["auto", "fp32", "bf16"] = "auto"
    """Precision of the optimisation; the evidence is always measured in fp32."""
    fail_on: Literal["backdoored", "suspicious"] = "backdoored"
    """The weakest verdict that ends with exit code 1."""

    @field_validator("base", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return os.fspath(value) if isinstance(value, os.PathLike) else value


def make_config(start: dict[str, Any] | None = None, /, **changes: Any) -> ScanConfig:
    """A configuration from a start and changes; None means "not given".

    >>> make_config({"seed": 3}, seed=None, method="dbs").seed
    3
    """
    given = {key: value for key, value in changes.items() if value is not None}
    try:
        return ScanConfig(**{**(start or {}), **given})
    except ValidationError as error:
        raise UsageError(one_sentence(error, "The configuration is not valid")) from error


def read_toml(path: Path) -> dict[str, Any]:
    """The fields of a TOML configuration file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The configuration file {path} cannot be read.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}.") from error


def one_sentence(error: ValidationError, begin: str) -> str:
    """The first complaint of a validation error as a sentence that names the field."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"]) or "value"
    return f"{begin}: {field}: {first['msg']}."
