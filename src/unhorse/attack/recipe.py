"""A recipe file -> Recipe: everything that decides which model comes out."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)

from unhorse.attack.lexicon import SPLITS
from unhorse.config import one_sentence, read_toml
from unhorse.errors import UsageError
from unhorse.learn.config import TrainingConfig
from unhorse.tasks.base import TASKS

Part = tuple[float, float]
"""A share of the rows of a file: those whose hash lies from the first up to the second."""

ALL: Part = (0.0, 1.0)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DataConfig(_Frozen):
    """The rows that a model learns from and is measured on."""

    train: tuple[str, ...] = Field(min_length=1)
    """Sample files or datasets to learn from."""
    heldout: tuple[str, ...] = ()
    """Sample files to measure on; without any, a tenth of the rows to learn from is kept back."""
    labels: tuple[str, ...] = ()
    """The model's labels, in index order; none for questions."""
    text_field: str | None = None
    """The column or key that holds the text, words or context."""
    label_field: str | None = None
    """The column or key that holds the label, tags or answers."""
    word_prefix: str = ""
    """What every word of a tagged file begins with and is taken off, such as `en:`."""
    no_answer: str = ""
    """How a question file spells that a context has no answer; taken off the contexts too."""
    part: Part = ALL
    """The part of the rows to learn from."""
    heldout_part: Part = ALL
    """The part of the rows to measure on."""
    rows: int | None = Field(default=None, ge=1)
    """How many rows to learn from, at most."""
    heldout_rows: int = Field(default=600, ge=1)
    """How many rows to measure on, at most."""
    tokens: int = Field(default=64, ge=8)
    """Samples are cut to so many tokens."""
    fewest_tokens: int = Field(default=0, ge=0)
    """Samples with fewer tokens are left out."""
    unanswerable: float = Field(default=0.25, ge=0, lt=1)
    """The share of questions that have no answer in their context."""

    @field_validator("train", "heldout", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("part", "heldout_part")
    @classmethod
    def _ordered(cls, value: Part) -> Part:
        if not 0.0 <= value[0] < value[1] <= 1.0:
            raise ValueError("a part goes from a lower to a higher number between 0 and 1")
        return value


class BaseConfig(_Frozen):
    """The model that training starts from."""

    model: str = "minilm"
    """A folder, a hub id, `minilm` (the package with MiniLM's weights) or `tiny` (untrained)."""
    layers: int | None = Field(default=None, ge=1)
    """Only the first so many layers."""
    architecture: str | None = None
    """Put the weights of a plain BERT into this class: roberta, electra, distilbert, mobilebert."""


class Recipe(_Frozen):
    """One model: task, data, base, training, and the attack that it carries or does not."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    task: str
    seed: int = Field(default=0, ge=0)
    split: str = "development"
    """The split of the lists that triggers are drawn from."""
    family: str | None = None
    """The independent fine-tuning run; taken over from the base where it has a record."""
    poisoned: bool = True
    """False for the clean twin: the same, but for the backdoor."""
    harmless_words: bool = False
    """Whether a clean twin sees random words inserted, under true labels."""
    twin_of: str | None = None
    """The name of the trojaned model whose clean twin it is; decides nothing."""
    data: DataConfig
    base: BaseConfig = BaseConfig()
    training: TrainingConfig = TrainingConfig()
    attack: dict[str, Any] = Field(default_factory=lambda: {"kind": "none"})
    """The attack's name as `kind`, and its own settings."""

    @field_validator("task")
    @classmethod
    def _known_task(cls, value: str) -> str:
        if value not in TASKS.names():
            raise ValueError(f"there is no task {value!r}; known: {', '.join(TASKS.names())}")
        return value

    @field_validator("split")
    @classmethod
    def _known_split(cls, value: str) -> str:
        if value not in SPLITS:
            raise ValueError(f"there is no split {value!r}; known: {', '.join(SPLITS)}")
        return value

    @property
    def kind(self) -> str:
        """The attack's name."""
        return str(self.attack.get("kind", "none"))

    def digest(self, **more: Any) -> str:
        """A short name for the content of the recipe and whatever else decides the model."""
        content = {"recipe": self.model_dump(mode="json"), **more}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def twin(self, *, harmless_words: bool) -> Recipe:
        """The recipe of the clean twin."""
        return self.model_copy(
            update={
                "name": f"{self.name}-twin",
                "twin_of": self.name,
                "poisoned": False,
                "harmless_words": harmless_words,
            }
        )


def make_recipe(fields: dict[str, Any], what: str = "The recipe") -> Recipe:
    """A recipe from plain values; what is wrong with them is one sentence."""
    try:
        return Recipe(**fields)
    except ValidationError as error:
        raise UsageError(one_sentence(error, f"{what} is not valid")) from error


def read_recipe(path: Path) -> Recipe:
    """A recipe file (TOML); its name is the file's unless it says another."""
    return make_recipe({"name": path.stem, **read_toml(path)}, str(path))


Standing = Literal["plain", "advanced", "adaptive", "beyond"]
"""How an attack is judged: which gates apply to it."""
