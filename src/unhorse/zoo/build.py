"""Entries -> built models: resumable, several at a time, one line each.

A model that is there with the same content is skipped. Nothing half-written counts, because
a model is built aside and takes its name only when it is whole; one that it replaces stays
until then. A lock for each model keeps two builds of one suite apart. Models are built in
processes of one thread each, which is what makes the same recipe give the same weights.
"""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock

from unhorse.attack.build import build
from unhorse.attack.recipe import Recipe
from unhorse.attack.record import MODEL, AttackRecord
from unhorse.zoo.standing import Place, default_zoo, standing
from unhorse.zoo.suite import Entry
from unhorse.zoo.workers import Failure, run_all

__all__ = ["Built", "Place", "build_one", "build_suite", "default_zoo"]

NEW, OLD, LOCK = "new", "old", "lock"


@dataclass(frozen=True)
class Built:
    """What came of one entry."""

    entry: Entry
    record: AttackRecord | None
    skipped: bool = False
    problem: str = ""
    left: int = 0
    seconds_left: float = 0.0


@dataclass
class _Pace:
    """How long models take, for an estimate of the rest."""

    workers: int
    seconds: list[float] = field(default_factory=list)

    def left(self, models: int) -> float:
        if not self.seconds:
            return 0.0
        return models * sum(self.seconds) / len(self.seconds) / self.workers


def build_suite(
    entries: Sequence[Entry], place: Place, workers: int = 1, only: Iterable[str] = ()
) -> Generator[Built]:
    """Builds what is not there yet, families first; yields every model as it is done.

    Args:
        entries: all models of the suite.
        place: where they go and where the data are.
        workers: how many are built at a time.
        only: the names of those to build, with the families and twins they need; all if empty.
    """
    wanted = _with_families(entries, place, set(only))
    pace = _Pace(workers)
    left = len(wanted)
    failed: set[str] = set()
    for entries_now in _rounds(wanted, place):
        todo: list[Entry] = []
        for entry in entries_now:
            built = _without_building(entry, place, failed)
            if built is None:
                todo.append(entry)
                continue
            left -= 1
            if built.problem:
                failed.add(_base_name(entry, place))
            yield Built(entry, built.record, built.skipped, built.problem, left, pace.left(left))
        jobs = [(entry.recipe, place) for entry in todo]
        with closing(run_all(build_one, jobs, workers)) as outcomes:
            for number, outcome in outcomes:
                left -= 1
                entry = todo[number]
                if isinstance(outcome, Failure):
                    failed.add(_base_name(entry, place))
                    yield Built(entry, None, False, outcome.why, left, pace.left(left))
                    continue
                pace.seconds.append(outcome.seconds)
                yield Built(entry, outcome, False, "", left, pace.left(left))


def _without_building(entry: Entry, place: Place, failed: set[str]) -> Built | None:
    """A model that is there, or one that cannot be built; None if it is to be built."""
    base = entry.recipe.base.model
    if base in failed:
        return Built(entry, None, problem=f"What it derives from, {base}, could not be built.")
    found = standing(entry.recipe, place)
    if found.blocked:
        return Built(entry, None, problem=found.blocked)
    return Built(entry, found.record, skipped=True) if found.record is not None else None


def _base_name(entry: Entry, place: Place) -> str:
    """How the recipes of what is derived from an entry name it."""
    return f"{place.suite}/{entry.name}/{MODEL}"


def _with_families(entries: Sequence[Entry], place: Place, only: set[str]) -> list[Entry]:
    if not only:
        return list(entries)
    by_base = {_base_name(entry, place): entry for entry in entries}
    by_name = {entry.name: entry for entry in entries}
    todo = [entry for entry in entries if entry.name in only or entry.group in only]
    wanted: set[str] = set()
    while todo:
        entry = todo.pop()
        # The gate compares a model with its twin, so that one is needed as well.
        twin = by_name.get((entry.twin or "").removeprefix(f"{place.suite}/"))
        needed = (by_base.get(entry.recipe.base.model), twin)
        todo += [other for other in needed if other is not None and other.name not in wanted]
        wanted.add(entry.name)
    return [entry for entry in entries if entry.name in wanted]


def _rounds(entries: Sequence[Entry], place: Place) -> Iterator[list[Entry]]:
    """Entries by turns, each after what it is derived from."""
    left = list(entries)
    while left:
        to_come = {_base_name(entry, place) for entry in left}
        now = [entry for entry in left if entry.recipe.base.model not in to_come]
        # Those that derive from each other in a circle are told so one by one.
        yield now or left
        left = [entry for entry in left if now and entry not in now]


def build_one(recipe: Recipe, place: Place) -> AttackRecord:
    """Builds one model in this process, in the place of one with other content."""
    import torch
    from transformers.utils import logging

    torch.set_num_threads(1)
    logging.disable_progress_bar()
    out, side = place.folder(recipe.name), place.side(recipe.name)
    side.mkdir(parents=True, exist_ok=True)
    with FileLock(side / LOCK):
        _tidy(side, out)
        # Another build may have made it while this one waited for the lock.
        found = standing(recipe, place)
        if found.record is not None and not found.blocked:
            return found.record
        try:
            record = build(recipe, side / NEW, data_root=place.data, base_root=place.zoo)
            _swap(side, out)
        finally:
            _tidy(side, out)
    return record


def _swap(side: Path, out: Path) -> None:
    """Puts the new model into the place of the old one."""
    if out.exists():
        out.rename(side / OLD)
    (side / NEW).rename(out)


def _tidy(side: Path, out: Path) -> None:
    """Removes what a build has left over, and puts back what it had only moved aside."""
    if (side / OLD).exists() and not out.exists():
        (side / OLD).rename(out)
    for path in side.iterdir():
        if path.name != LOCK:
            shutil.rmtree(path, ignore_errors=True)
