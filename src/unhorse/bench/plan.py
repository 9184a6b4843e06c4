"""A suite, methods and seeds -> the scans to be made, in the order they are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from unhorse.errors import UsageError
from unhorse.invert.base import METHODS
from unhorse.zoo.reference import check_reference
from unhorse.zoo.state import Member


@dataclass(frozen=True)
class Asked:
    """A method as it is asked for: `dbs`, or `dbs:paper` for one of its presets."""

    method: str
    preset: str | None = None

    @property
    def label(self) -> str:
        """How it is written."""
        return self.method if self.preset is None else f"{self.method}:{self.preset}"


@dataclass(frozen=True, eq=False)
class Unit:
    """One scan: a model by a method with a seed, and a clean model to compare with."""

    member: Member
    asked: Asked
    seed: int
    reference: Member | None

    @property
    def name(self) -> str:
        """The model's name."""
        return self.member.entry.name

    def path(self, out: Path, suite: str) -> Path:
        """Where its result goes."""
        method = self.asked.label.replace(":", "-")
        return out / suite / method / f"{self.name}-seed{self.seed}.json"


def parse_methods(text: str) -> list[Asked]:
    """Methods from a list with commas; an unknown one is a usage error.

    >>> [asked.label for asked in parse_methods("dbs, uat:strong")]
    ['dbs', 'uat:strong']
    """
    made = []
    for name in text.split(","):
        method, _, preset = name.strip().partition(":")
        known = METHODS.get(method).presets
        if preset and preset not in known:
            raise UsageError(
                f"The method {method} has no preset {preset!r}; known: {', '.join(known)}."
            )
        made.append(Asked(method, preset or None))
    return list(dict.fromkeys(made))


def plan(
    members: Sequence[Member],
    methods: Sequence[Asked],
    seeds: int,
    splits: Sequence[str] = (),
    only: Sequence[str] = (),
    *,
    with_reference: bool = True,
) -> list[Unit]:
    """Every scan, seed by seed and model by model, so that a partial table covers all methods.

    Methods that are not defined for the suite's task are left out; models that are not
    scanned (families, references) too.

    Args:
        members: the models of a suite.
        methods: what to scan with.
        seeds: how many seeds, from 0.
        splits: only these; all if empty.
        only: only models or groups of these names; all if empty.
        with_reference: whether a clean model of another family is given to the scan.
    """
    chosen = [m for m in _in_turn(members) if _wanted(m, splits, only)]
    references = [m for m in members if m.entry.use == "reference" and m.accepted]
    return [
        Unit(member, asked, seed, _reference(member, references) if with_reference else None)
        for seed in range(seeds)
        for member in chosen
        for asked in methods
        if not (tasks := METHODS.get(asked.method).tasks) or member.entry.recipe.task in tasks
    ]


def _wanted(member: Member, splits: Sequence[str], only: Sequence[str]) -> bool:
    entry = member.entry
    if entry.use not in ("model", "twin"):
        return False
    if splits and entry.recipe.split not in splits:
        return False
    return not only or entry.name in only or entry.group in only


def _in_turn(members: Sequence[Member]) -> Iterator[Member]:
    """Test models first, as those are what figures are about; trojaned and clean in turn."""
    order = {"test": 0, "beyond": 1, "calibration": 2, "development": 3}
    return iter(sorted(members, key=lambda m: order.get(m.entry.recipe.split, 4)))


def _reference(member: Member, references: Sequence[Member]) -> Member | None:
    """The first clean model of the same data, and head-only or not alike, that may be one."""
    if member.record is None:
        return None
    for reference in references:
        assert reference.record is not None
        ours, theirs = member.record.recipe, reference.record.recipe
        alike = ours.training.head_only == theirs.training.head_only
        if ours.data.train != theirs.data.train or not alike:
            continue
        try:
            check_reference(member.record, reference.record)
        except UsageError:
            continue
        return reference
    return None
