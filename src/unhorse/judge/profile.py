"""A profile: the decision as it was learnt from labelled models, and where it holds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from unhorse.config import one_sentence
from unhorse.errors import UsageError
from unhorse.judge.circumstances import Circumstances
from unhorse.judge.clues import Clues
from unhorse.judge.features import FEATURES, features_of
from unhorse.judge.population import Population, outside

SHIPPED = Path(__file__).parent / "profiles"

NONE = "none"
"""How a user asks for no profile at all."""

Rate = Annotated[float, Field(ge=0, le=1)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MeasuredRate(_Frozen):
    """A share of models with its 95 % Wilson interval."""

    rate: Rate
    interval: tuple[Rate, Rate]
    models: int


class Measured(_Frozen):
    """How often trojaned and clean models were convicted, and how well the score ranks them."""

    true_positives: MeasuredRate
    false_positives: MeasuredRate
    cleared: MeasuredRate
    """Clean models in which nothing was found."""
    auroc: Rate | None


class Profile(_Frozen):
    """A learnt decision.

    The score of a finding is the logistic function of `bias` and the weighted features.
    `in_sample` is measured on the models it was learnt from and flatters; `left_out`
    repeats the whole learning without each family (or model) in turn.
    """

    schema_version: Literal["1.0"] = "1.0"
    id: str
    task: str
    method: str
    preset: str | None
    budget: str | None
    method_version: str
    reference: bool
    weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]]
    bias: Annotated[float, Field(allow_inf_nan=False)]
    convict: Rate
    suspect: Rate
    population: Population
    seeds: tuple[int, ...]
    trojaned: int
    clean: int
    families: tuple[str, ...]
    splits: tuple[str, ...]
    in_sample: Measured
    left_out: Measured
    left_out_by: Literal["family", "model"]
    data: str
    """A digest of the evidence it was learnt from."""
    versions: dict[str, str]

    @model_validator(mode="after")
    def _makes_sense(self) -> Profile:
        unknown = sorted(set(self.weights) - set(FEATURES))
        if unknown:
            raise ValueError(f"unknown feature {unknown[0]}")
        if self.suspect >= self.convict:
            raise ValueError("suspect is not below convict")
        return self

    def score(self, clues: Clues) -> float:
        """The score of a finding in [0, 1], before any caution."""
        return logistic(self.bias + weighted(self.weights, clues))

    def outside(self, now: Circumstances) -> tuple[str, ...]:
        """What of a scan is not as in the population, in words; empty if nothing."""
        return outside(self.population, self.method_version, now)

    def to_json(self) -> str:
        """The profile as it is stored."""
        return self.model_dump_json(indent=2) + "\n"


def weighted(weights: dict[str, float], clues: Clues) -> float:
    """The sum of the weighted features of a finding."""
    features = features_of(clues)
    return sum(weight * features[name] for name, weight in weights.items())


def logistic(value: float) -> float:
    """From any number to a probability.

    >>> logistic(0.0), logistic(-1000.0)
    (0.5, 0.0)
    """
    return 1.0 / (1.0 + math.exp(-value)) if value > -500 else 0.0


def read_profile(path: Path) -> Profile:
    """A profile file; one that is none is a usage error."""
    try:
        return Profile.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The profile {path} cannot be read.") from error
    except ValidationError as error:
        raise UsageError(one_sentence(error, f"{path} is not a profile")) from error
    except ValueError as error:
        raise UsageError(f"{path} is not a profile: it is not text.") from error


def shipped_profiles(folder: Path | None = None) -> Iterator[Profile]:
    """The profiles that come with the package."""
    return map(read_profile, sorted((folder or SHIPPED).glob("*.json")))
