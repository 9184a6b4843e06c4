"""How long and how fast a model is taught, where that follows from how many rows there are."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from unhorse.learn.config import TrainingConfig

USUAL_RATE = 4e-5
"""The learning rate for a model as wide as BERT-base; narrower ones take longer steps."""

USUAL_WIDTH = 768


def usual_rate(model: Any) -> float:
    """The learning rate that suits a model's width."""
    width = getattr(model.config, "hidden_size", None) or USUAL_WIDTH
    return USUAL_RATE * USUAL_WIDTH / float(width)


class LessonPlan(BaseModel):
    """The settings of a teaching.

    A few hundred samples are few steps an epoch, so that they are gone through more
    often, until there are `least_steps`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    epochs: int = Field(default=3, ge=1)
    """How often all samples are gone through."""
    least_steps: int = Field(default=150, ge=1)
    """With few samples, more epochs until there are so many steps."""
    most_epochs: int = Field(default=30, ge=1)
    """But no more epochs than this."""
    most_steps: int = Field(default=400, ge=1)
    """With many samples, fewer epochs than asked for, but one at least."""
    batch: int = Field(default=32, ge=1)
    learning_rate: float | None = Field(default=None, gt=0)
    """By the width of the model if not given."""
    weight_decay: float = Field(default=0.01, ge=0)
    embeddings: bool = True
    """Whether the word embeddings learn too."""

    def planned_epochs(self, steps: int) -> int:
        """How many epochs of so many steps there will be.

        >>> [LessonPlan().planned_epochs(steps) for steps in (10, 100, 200, 900)]
        [15, 3, 2, 1]
        """
        fewest = min(self.most_epochs, -(-self.least_steps // steps))
        return max(fewest, min(self.epochs, self.most_steps // steps), 1)

    def rate(self, model: Any) -> float:
        """The learning rate for a model."""
        return self.learning_rate or usual_rate(model)

    def training(self, model: Any, epochs: int) -> TrainingConfig:
        """The plan for one model and so many epochs."""
        return TrainingConfig(
            epochs=epochs,
            batch=self.batch,
            learning_rate=self.rate(model),
            weight_decay=self.weight_decay,
            embeddings=self.embeddings,
        )
