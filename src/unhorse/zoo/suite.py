"""A suite file (TOML) -> Entries: the recipe of every model, in the order they are built.

A suite names data, *families* (independent fine-tuning runs) and *groups* of attacks that
are derived from them. What varies within a group is written as lists that are gone through
in turn, so that a suite of a hundred models stays readable. Every trojaned model may have a
clean twin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unhorse.attack.build import attack_of
from unhorse.attack.lexicon import draw
from unhorse.attack.recipe import Part, Recipe, make_recipe
from unhorse.attack.record import MODEL
from unhorse.config import one_sentence, read_toml
from unhorse.errors import UsageError
from unhorse.seeding import stable_seed

Use = Literal["family", "reference", "model", "twin"]
"""What a model is for: to derive from, to compare with, or to be scanned."""

SUITES = Path(__file__).parent / "suites"


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
    twins: int | None = None
    """How many of the models get a clean twin; all if not given."""
    rows: int | None = None
    attack: dict[str, Any]
    training: dict[str, Any] = Field(default_factory=dict)
    vary: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    """Dotted names of recipe fields, and the values that they take in turn."""


class Suite(_Frozen):
    """A suite file."""

    name: str
    task: str
    about: str = ""
    seed: int = 0
    data: dict[str, SuiteData]
    base: dict[str, Any] = Field(default_factory=dict)
    family_training: dict[str, Any] = Field(default_factory=dict)
    training: dict[str, Any] = Field(default_factory=dict)
    families: tuple[Family, ...] = ()
    groups: tuple[Group, ...] = ()


@dataclass(frozen=True)
class Entry:
    """One model of a suite: where it goes, what it is for, and how it is made."""

    recipe: Recipe
    use: Use
    group: str
    twin: str | None = None
    """The name of a trojaned model's clean twin."""
    floor: float | None = None
    """What the clean metric must reach, if not the task's own floor."""

    @property
    def name(self) -> str:
        """The recipe's name, and the folder's."""
        return self.recipe.name


def find_suite(name: str) -> Path:
    """The path of a suite file, or of the suite of that name that comes with unhorse."""
    path, own = Path(name), SUITES / f"{name}.toml"
    if path.is_file():
        return path
    if own.is_file():
        return own
    known = ", ".join(sorted(found.stem for found in SUITES.glob("*.toml")))
    raise UsageError(f"There is no suite file {name!r}; suites that come with unhorse: {known}.")


def read_suite(path: Path) -> Suite:
    """A suite file."""
    try:
        return Suite(**{"name": path.stem, **read_toml(path)})
    except ValidationError as error:
        raise UsageError(one_sentence(error, f"{path} is not a suite")) from error


def entries_of(suite: Suite) -> list[Entry]:
    """Every model of a suite: the families, then every trojaned model with its twin."""
    made = [*_families(suite), *_groups(suite)]
    twice = [name for name, count in Counter(entry.name for entry in made).items() if count > 1]
    if twice:
        raise UsageError(f"The suite has two models called {twice[0]!r}.")
    for entry in made:
        attack_of(entry.recipe)
    return made


def _families(suite: Suite) -> Iterator[Entry]:
    for family in suite.families:
        fields = {
            "name": family.name,
            "task": suite.task,
            "seed": _seed(suite, family.name),
            "split": family.split,
            "family": f"{suite.name}/{family.name}",
            "poisoned": False,
            "data": _data(suite, family.data).fields(
                family.split, family.part, **_given(rows=family.rows)
            ),
            "base": {**suite.base, **family.base},
            "training": {**suite.family_training, **family.training},
        }
        use: Use = "reference" if family.reference else "family"
        recipe = make_recipe(fields, f"The family {family.name}")
        yield Entry(recipe, use, "families", floor=_data(suite, family.data).floor)


def _groups(suite: Suite) -> Iterator[Entry]:
    references = {family.name for family in suite.families if family.reference}
    taken: set[str] = set()
    harmless = 0
    for group in suite.groups:
        derived = references.intersection(group.families)
        if derived:
            raise UsageError(
                f"The group {group.name} derives from {min(derived)}, which is a reference."
            )
        for number in range(group.count):
            family = group.families[number % len(group.families)]
            data = _data(suite, group.data or _data_of(suite, family))
            recipe = _recipe(suite, group, number, family, data, taken)
            has_twin = group.twins is None or number < group.twins
            if not has_twin:
                yield Entry(recipe, "model", group.name, floor=data.floor)
                continue
            # Every second twin sees harmless words, counted over the whole suite.
            twin = recipe.twin(harmless_words=harmless % 2 == 1)
            harmless += 1
            yield Entry(recipe, "model", group.name, twin.name, data.floor)
            yield Entry(twin, "twin", group.name, floor=data.floor)


def _recipe(
    suite: Suite, group: Group, number: int, family: str, data: SuiteData, taken: set[str]
) -> Recipe:
    name = f"{group.split[:3]}-{group.name}-{number + 1:02d}"
    folder = family if "/" in family else f"{suite.name}/{family}"
    fields: dict[str, Any] = {
        "name": name,
        "task": suite.task,
        "seed": _seed(suite, name),
        "split": group.split,
        "data": data.fields(group.split, **_given(rows=group.rows)),
        "base": {"model": f"{folder}/{MODEL}"},
        "training": {**suite.training, **group.training},
        "attack": dict(group.attack),
    }
    for path, values in group.vary.items():
        _set(fields, path, values[number % len(values)])
    attack = fields["attack"]
    if "trigger_kind" in attack and attack.get("trigger") is None:
        # Drawn here rather than when it is built, so that no two models share a trigger.
        trigger = draw(attack["trigger_kind"], group.split, fields["seed"], taken)
        attack["trigger"] = trigger
        taken.add(trigger)
    return make_recipe(fields, f"The group {group.name}")


def _data(suite: Suite, name: str) -> SuiteData:
    if name not in suite.data:
        raise UsageError(f"The suite has no data called {name!r}.")
    return suite.data[name]


def _data_of(suite: Suite, family: str) -> str:
    for own in suite.families:
        if own.name == family:
            return own.data
    if "/" in family:
        raise UsageError(f"A group that derives from {family} must name its data.")
    raise UsageError(f"The suite has no family called {family!r}.")


def _seed(suite: Suite, name: str) -> int:
    return stable_seed(suite.seed, suite.name, name) % 2**31


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _set(fields: dict[str, Any], path: str, value: Any) -> None:
    """Sets a field by its dotted name; a value that is a table sets several.

    >>> fields = {"attack": {"kind": "sdp"}}
    >>> _set(fields, "attack.target", "sea")
    >>> _set(fields, "attack", {"scope": "global"})
    >>> fields
    {'attack': {'kind': 'sdp', 'target': 'sea', 'scope': 'global'}}
    """
    *parents, last = path.split(".")
    for parent in parents:
        fields = fields.setdefault(parent, {})
    if isinstance(value, dict):
        fields.setdefault(last, {}).update(value)
    else:
        fields[last] = value
