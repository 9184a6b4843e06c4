"""A suite without calibration models -> those of the suites that it derives from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unhorse.errors import UsageError
from unhorse.zoo.audit import ASKED, FIT
from unhorse.zoo.keep import outlived, report_on
from unhorse.zoo.standing import Place
from unhorse.zoo.state import members_of
from unhorse.zoo.statistics import Statistics, collect
from unhorse.zoo.suite import Entry, entries_of, find_suite, parents_of, read_suite


@dataclass(frozen=True)
class Borrowed:
    """Calibration models of other suites."""

    found: tuple[Statistics, ...] = ()
    suites: tuple[str, ...] = ()
    """The suites that had some."""
    tried: tuple[str, ...] = ()
    """The suites that were asked."""
    problems: dict[str, str] = field(default_factory=dict)


def calibration_of(
    entries: Sequence[Entry],
    own: Sequence[Statistics],
    place: Place,
    beside: Path,
    reports: Path | None = None,
) -> Borrowed:
    """What an audit of a suite without calibration models is fitted on.

    Models that are gone take part by what the report of their own suite's audit has of them.

    Args:
        entries: all models of the suite.
        own: the statistics of those that are built.
        place: where models are.
        beside: the folder of the suite's file.
        reports: a folder with reports of audits.
    """
    asked = {s.poisoned for s in own if s.split in ASKED}
    if any(entry.recipe.split == FIT for entry in entries) or len(asked) < 2:
        return Borrowed()
    found: list[Statistics] = []
    suites, problems = [], {}
    tried = parents_of(entries, place.suite)
    for name in tried:
        there = Place(place.zoo, name, place.data)
        try:
            others = entries_of(read_suite(find_suite(name, beside)), beside)
        except UsageError as error:
            problems[name] = str(error)
            continue
        members = [m for m in members_of(others, there) if m.entry.recipe.split == FIT]
        more, odd = collect(members, there)
        more += outlived(report_on(name, reports), members) if reports else []
        found += more
        problems |= {f"{name}/{model}": why for model, why in odd.items()}
        suites += [name] if more else []
    return Borrowed(tuple(found), tuple(suites), tried, problems)
