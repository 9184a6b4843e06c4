"""How a model learns."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator


class TrainingConfig(BaseModel):
    """How a model learns."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    epochs: int = Field(default=2, ge=1)
    batch: int = Field(default=32, ge=1)
    learning_rate: float = Field(default=1e-4, gt=0)
    weight_decay: float = Field(default=0.01, ge=0)
    warmup: float = Field(default=0.06, ge=0, le=1)
    head_only: bool = False
    """Whether the body stays as it is and only the head learns."""
    embeddings: bool = Field(default=True, validate_default=True)
    """Whether the word embeddings are trained too; false where only the head learns."""

    @field_validator("embeddings")
    @classmethod
    def _part_of_the_body(cls, value: bool, info: ValidationInfo) -> bool:
        return value and not info.data.get("head_only")
