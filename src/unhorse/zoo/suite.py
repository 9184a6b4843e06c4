"""A suite file (TOML) -> Entries: the recipe of every model, in the order they are built.

A suite names data, *families* (independent fine-tuning runs) and *groups* of attacks that
are derived from them. What varies within a group is written as lists that are gone through
in turn, so that a suite of a hundred models stays readable. Every trojaned model may have a
clean twin, and is told which one it is compared with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from unhorse.attack.build import attack_of
from unhorse.attack.recipe import Recipe, make_recipe
from unhorse.attack.record import MODEL
from unhorse.errors import UsageError
from unhorse.seeding import stable_seed
from unhorse.zoo.families import check_families
from unhorse.zoo.schema import SUITES, Group, Suite, SuiteData, find_suite, read_suite
from unhorse.zoo.triggers import Triggers, triggers_in

__all__ = ["SCANNED", "SUITES", "Entry", "Suite", "Use", "entries_of", "find_suite", "read_suite"]

Use = Literal["family", "reference", "clean", "model", "twin"]
"""What a model is for: to derive from, to compare with, or to be scanned."""

SCANNED: tuple[Use, ...] = ("clean", "model", "twin")
"""The models that are scanned: a clean one that nothing is derived from, and both of a pair."""


@dataclass(frozen=True)
class Entry:
    """One model of a suite: where it goes, what it is for, and how it is made."""

    recipe: Recipe
    use: Use
    group: str
    twin: str | None = None
    """For a trojaned model the clean one that it is compared with; see `_compared`."""
    floor: float | None = None
    """What the clean metric must reach, if not the task's own floor."""

    @property
    def name(self) -> str:
        """The recipe's name, and the folder's."""
        return self.recipe.name


def entries_of(suite: Suite, beside: Path | None = None) -> list[Entry]:
    """Every model of a suite: the families, then every trojaned model with its twin.

    Args:
        suite: the suite.
        beside: the folder of its file, where other suites that it derives from may be.
    """
    check_families(suite, beside)
    made = [*_families(suite), *_groups(suite)]
    twice = [name for name, count in Counter(entry.name for entry in made).items() if count > 1]
    if twice:
        raise UsageError(f"The suite has two models called {twice[0]!r}.")
    for entry in made:
        attack_of(entry.recipe)
    return [_compared(entry, made) for entry in made]


def _compared(entry: Entry, made: Sequence[Entry]) -> Entry:
    """A trojaned model with the clean one that its clean metric is compared with.

    That is its own twin. Without one, it is a twin of the same base, data, embeddings and
    kind of training: if there are several, one of the same attack, then one that has learnt
    at the same rate and as long, then the first. Without any, it is the family that it is
    derived from.
    """
    if entry.use != "model" or entry.twin is not None:
        return entry
    alike = [e for e in made if e.use == "twin" and _conditions(e) == _conditions(entry)]
    own = entry.recipe
    alike.sort(key=lambda e: (e.recipe.kind != own.kind, e.recipe.training != own.training))
    twin = alike[0].name if alike else entry.recipe.base.model.removesuffix(f"/{MODEL}")
    return replace(entry, twin=twin)


def _conditions(entry: Entry) -> tuple[object, ...]:
    """What must be the same in two models so that their clean metrics can be compared."""
    recipe = entry.recipe
    return recipe.base, recipe.data, recipe.training.embeddings, recipe.training.head_only


def _families(suite: Suite) -> Iterator[Entry]:
    for family in suite.families:
        fields = {
            "name": family.name,
            "task": suite.task,
            "seed": _seed(suite, family.name, family.split),
            "split": family.split,
            "family": f"{suite.name}/{family.name}",
            "poisoned": False,
            "data": _data(suite, family.data).fields(
                family.split, family.part, **_given(rows=family.rows)
            ),
            "base": {**suite.base, **family.base},
            "training": {**suite.family_training, **family.training},
        }
        use: Use = "reference" if family.reference else "clean" if family.scanned else "family"
        recipe = make_recipe(fields, f"The family {family.name}")
        yield Entry(recipe, use, "families", floor=_data(suite, family.data).floor)


def _groups(suite: Suite) -> Iterator[Entry]:
    triggers = Triggers(_drawn_before(suite))
    harmless = 0
    for group in suite.groups:
        for number in range(group.count):
            family = group.families[number % len(group.families)]
            data = _data(suite, group.data or _data_of(suite, family))
            recipe = _recipe(suite, group, number, family, data, triggers)
            has_twin = group.twins is None or number < group.twins
            if not has_twin:
                yield Entry(recipe, "model", group.name, floor=data.floor)
                continue
            # Every second twin sees harmless words, counted over the whole suite.
            twin = recipe.twin(harmless_words=harmless % 2 == 1)
            harmless += 1
            yield Entry(recipe, "model", group.name, twin.name, data.floor)
            yield Entry(twin, "twin", group.name, floor=data.floor)


def _drawn_before(suite: Suite) -> set[str]:
    """The triggers of earlier draws of a split: a method may have been made with them in view."""
    known: set[str] = set()
    for split, latest in suite.draws.items():
        for draw in range(1, latest):
            before = suite.model_copy(update={"draws": {**suite.draws, split: draw}})
            drawn = [entry.recipe for entry in _groups(before) if entry.recipe.split == split]
            known.update(text for recipe in drawn for text in triggers_in(recipe.attack))
    return known


def _recipe(
    suite: Suite, group: Group, number: int, family: str, data: SuiteData, triggers: Triggers
) -> Recipe:
    name = f"{group.split[:3]}-{group.name}-{number + 1:02d}"
    folder = family if "/" in family else f"{suite.name}/{family}"
    fields: dict[str, Any] = {
        "name": name,
        "task": suite.task,
        "seed": _seed(suite, name, group.split),
        "split": group.split,
        "data": data.fields(group.split, **_given(rows=group.rows)),
        "base": {"model": f"{folder}/{MODEL}"},
        "training": {**suite.training, **group.training},
        "attack": dict(group.attack),
    }
    for path, values in group.vary.items():
        _set(fields, path, values[number % len(values)])
    # Drawn here rather than when it is built, so that no two models share a trigger.
    triggers.draw_for(fields["attack"], group.split, fields["seed"])
    return make_recipe(fields, f"The group {group.name}")


def _data(suite: Suite, name: str) -> SuiteData:
    if name not in suite.data:
        raise UsageError(f"The suite has no data called {name!r}.")
    return suite.data[name]


def _data_of(suite: Suite, family: str) -> str:
    for own in suite.families:
        if own.name == family:
            return own.data
    raise UsageError(f"A group that derives from {family} must name its data.")


def _seed(suite: Suite, name: str, split: str) -> int:
    """A seed of the model's own, another one with every draw of its split."""
    draw = suite.draws.get(split, 1)
    return stable_seed(suite.seed, suite.name, name, *([str(draw)] if draw > 1 else [])) % 2**31


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
    before = fields.get(last)
    if isinstance(before, dict) and isinstance(value, dict):
        value = {**before, **value}
    fields[last] = value


def parents_of(entries: Sequence[Entry], own: str) -> tuple[str, ...]:
    """The other suites that models are derived from: those of `suite/family/model`."""
    bases = (entry.recipe.base.model.split("/") for entry in entries)
    found = {parts[0] for parts in bases if len(parts) == 3 and parts[2] == MODEL}
    return tuple(sorted(found - {own}))
