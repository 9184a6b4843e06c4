"""What a suite file (TOML) may say: data, families and groups; and where suites are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from unhorse.attack.recipe import Part
from unhorse.config import one_sentence, read_toml
from unhorse.errors import UsageError

SUITES = Path(__file__).parent / "suites"

VARIED = ("attack", "base", "data", "training")
"""The tables of a recipe that may vary within a group."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SuiteData(BaseModel):
    """The fields of a recipe's data, with the parts that each split has."""

    model_config = ConfigDict(frozen=True, extra="allow")

    parts: dict[str, Part] = Field(default_factory=dict)
    """The part of the rows to learn from that each split has."""
    heldout_parts: dict[str, Part] = Field(default_factory=dict)
    """The part of the rows to measure on that each split has."""
    floor: float | None = None
    """What the clean metric must reach, where the task's own floor does not fit the data."""

    def fields(self, split: str, part: str | None = None, **more: Any) -> dict[str, Any]:
        """A recipe's data for a split; `part` may name the part of another one to learn from."""
        fields = {**(self.model_extra or {}), **more}
        if self.parts:
            fields["part"] = self._part(self.parts, part or split)
        if self.heldout_parts:
            fields["heldout_part"] = self._part(self.heldout_parts, split)
        return fields

    @staticmethod
    def _part(parts: dict[str, Part], name: str) -> Part:
        if name not in parts:
            raise UsageError(f"The data of the suite have no part called {name!r}.")
        return parts[name]


class Family(_Frozen):
    """One independent fine-tuning run, or several that differ in seed only."""

    name: str
    split: str = "development"
    data: str = "main"
    part: str | None = None
    """The part to learn from, where it is not that of the split."""
    reference: bool = False
    """Whether it is a clean model to compare with, which nothing is derived from."""
    scanned: bool = False
    """Whether it is scanned as it is, as a clean model without a trojaned one beside it."""
    rows: int | None = None
    base: dict[str, Any] = Field(default_factory=dict)
    training: dict[str, Any] = Field(default_factory=dict)


class Group(_Frozen):
    """Models of one kind, derived from some families in turn."""

    name: str
    split: str
    families: tuple[str, ...] = Field(min_length=1)
    """Families of this suite, or `suite/family` of another one."""
    data: str | None = None
    """The data to derive with; those of the family if not given."""
    count: int = Field(ge=1)
    twins: int | None = Field(default=None, ge=0)
    """How many of the models get a clean twin; all if not given."""
    rows: int | None = None
    attack: dict[str, Any]
    training: dict[str, Any] = Field(default_factory=dict)
    vary: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    """Dotted names of recipe fields, and the values that they take in turn."""

    @field_validator("vary")
    @classmethod
    def _can_vary(cls, value: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
        for path, values in value.items():
            table, dot, name = path.partition(".")
            if table not in VARIED or "." in name or (dot and not name):
                known = ", ".join(VARIED)
                raise ValueError(f"{path!r} cannot vary, only {known} and a field of these can")
            if not values:
                raise ValueError(f"{path!r} has no values")
            if not dot and not all(isinstance(v, dict) for v in values):
                raise ValueError(f"the values of {path!r} are not tables")
        return value


class Suite(_Frozen):
    """A suite file."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    task: str
    about: str = ""
    seed: int = 0
    draws: dict[str, int] = Field(default_factory=dict)
    """How often a split has been drawn; a split that is drawn anew has other seeds and triggers."""
    data: dict[str, SuiteData]
    base: dict[str, Any] = Field(default_factory=dict)
    family_training: dict[str, Any] = Field(default_factory=dict)
    training: dict[str, Any] = Field(default_factory=dict)
    families: tuple[Family, ...] = ()
    groups: tuple[Group, ...] = ()


def find_suite(name: str, beside: Path | None = None) -> Path:
    """The path of a suite file, or of the suite of that name that comes with unhorse.

    Args:
        name: a path, or the name of a suite.
        beside: a folder that may have a suite of that name as well, and goes first.
    """
    path, own = Path(name), SUITES / f"{name}.toml"
    near = beside / f"{name}.toml" if beside is not None else own
    for found in (path, near, own):
        if found.is_file():
            return found
    known = ", ".join(sorted(found.stem for found in SUITES.glob("*.toml")))
    raise UsageError(f"There is no suite file {name!r}; suites that come with unhorse: {known}.")


def read_suite(path: Path) -> Suite:
    """A suite file."""
    try:
        return Suite(**{"name": path.stem, **read_toml(path)})
    except ValidationError as error:
        raise UsageError(one_sentence(error, f"{path} is not a suite")) from error
