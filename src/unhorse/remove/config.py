"""One configuration object: command-line flags and a TOML file fill the same fields."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unhorse.config import one_sentence
from unhorse.errors import UsageError


class RemoveConfig(BaseModel):
    """Everything that decides what a removal does; all of it is in the report."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str = "unlearn"
    """The removal method."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Constants of the method that differ from its own."""
    seed: int = Field(default=0, ge=0)
    """Decides every random draw."""
    until_clean: int | None = Field(default=None, ge=1)
    """Rounds of removal and scan, at most, until nothing is found; one if not given."""
    max_drop: float = Field(default=2.0, ge=0, le=100)
    """Points that the clean metric may fall."""
    control: bool = True
    """Whether plain fine-tuning on the same samples is measured beside the method."""
    text_field: str | None = None
    """The column or key that holds the text, where it cannot be guessed."""
    label_field: str | None = None
    """The column or key that holds the label, where it cannot be guessed."""
    max_tokens: int = Field(default=128, ge=8)
    """Texts are cut to this many tokens before anything else."""
    device: str = "auto"
    """cpu, cuda, mps, or auto."""
    scan: dict[str, Any] = Field(default_factory=dict)
    """Settings of the re-scan that differ from those of the report's scan."""


def make_remove_config(base: dict[str, Any] | None = None, **changes: Any) -> RemoveConfig:
    """A configuration from a base and changes; None means "not given".

    >>> make_remove_config({"seed": 3}, seed=None, method="finetune").seed
    3
    """
    given = {key: value for key, value in changes.items() if value is not None}
    try:
        return RemoveConfig(**{**(base or {}), **given})
    except ValidationError as error:
        raise UsageError(one_sentence(error, "The configuration is not valid")) from error
