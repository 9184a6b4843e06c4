"""Entries -> built models: resumable, several at a time, one line each.

A model that is there with the same content is skipped; nothing half-written counts, because
a model's folder takes its name only when it is whole. Models are built in processes of one
thread each, which is what makes the same recipe give the same weights.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from unhorse.attack.bases import base_folder
from unhorse.attack.build import build, content_of, folder_digests
from unhorse.attack.generated import TINY
from unhorse.attack.recipe import Recipe
from unhorse.attack.record import RECORD, AttackRecord, read_record
from unhorse.errors import UnhorseError
from unhorse.types import FileDigest
from unhorse.zoo.suite import Entry

WEIGHTS = ".safetensors"


@dataclass(frozen=True)
class Place:
    """Where things are: the zoo's root, the suite's folder in it, and the data."""

    zoo: Path
    suite: str
    data: Path

    def folder(self, name: str) -> Path:
        """The folder of one of the suite's models."""
        return self.zoo / self.suite / name


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
) -> Iterable[Built]:
    """Builds what is not there yet, families first; yields every model as it is done.

    Args:
        entries: all models of the suite.
        place: where they go and where the data are.
        workers: how many are built at a time.
        only: the names of those to build, with the families they need; all if empty.
    """
    wanted = _with_families(entries, set(only))
    pace = _Pace(workers)
    left = len(wanted)
    for entries_now in (_bases(wanted), _others(wanted)):
        todo = []
        for entry in entries_now:
            record = standing(entry.recipe, place)
            if record is None:
                todo.append(entry)
                continue
            left -= 1
            yield Built(entry, record, skipped=True, left=left)
        for built in _in_processes(todo, place, workers):
            left -= 1
            if built.record is not None:
                pace.seconds.append(built.record.seconds)
            yield Built(built.entry, built.record, False, built.problem, left, pace.left(left))


def standing(recipe: Recipe, place: Place) -> AttackRecord | None:
    """The record of a model that is there already and has the content that is asked for."""
    folder = place.folder(recipe.name)
    if not (folder / RECORD).is_file():
        return None
    record = read_record(folder)
    try:
        content = content_of(recipe, place.data, base_digests(recipe, place.zoo))
    except UnhorseError:
        return None
    return record if record.content == content else None


def base_digests(recipe: Recipe, zoo: Path) -> tuple[FileDigest, ...]:
    """The digests of the weights that a recipe starts from."""
    if recipe.base.model == TINY:
        return ()
    folder = base_folder(recipe.base.model, zoo)
    if (folder.parent / RECORD).is_file():
        files = read_record(folder.parent).files
    else:
        files = folder_digests(folder)
    return tuple(file for file in files if file.path.endswith(WEIGHTS))


def _with_families(entries: Sequence[Entry], only: set[str]) -> list[Entry]:
    if not only:
        return list(entries)
    chosen = [entry for entry in entries if entry.name in only or entry.group in only]
    bases = {entry.recipe.base.model.split("/")[-2] for entry in chosen if _is_derived(entry)}
    return [e for e in entries if e in chosen or (e.use == "family" and e.name in bases)]


def _is_derived(entry: Entry) -> bool:
    return "/" in entry.recipe.base.model


def _bases(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.use in ("family", "reference")]


def _others(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.use not in ("family", "reference")]


def _in_processes(entries: Sequence[Entry], place: Place, workers: int) -> Iterable[Built]:
    if not entries:
        return
    # Read by the numeric libraries of the new processes when they are loaded.
    before = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    os.environ.update(dict.fromkeys(before, "1"))
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    try:
        running: dict[Future[AttackRecord], Entry] = {
            pool.submit(build_one, entry.recipe, place): entry for entry in entries
        }
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield _outcome(running.pop(future), future)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _outcome(entry: Entry, future: Future[AttackRecord]) -> Built:
    try:
        return Built(entry, future.result())
    except UnhorseError as error:
        return Built(entry, None, problem=str(error))
    except Exception as error:
        # One model that cannot be built must not cost the others.
        return Built(entry, None, problem=f"{type(error).__name__}: {error}")


def build_one(recipe: Recipe, place: Place) -> AttackRecord:
    """Builds one model in this process, in the place of one with other content."""
    import torch
    from transformers.utils import logging

    torch.set_num_threads(1)
    logging.disable_progress_bar()
    out = place.folder(recipe.name)
    out.parent.mkdir(parents=True, exist_ok=True)
    old = out.with_name(out.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if out.exists():
        out.rename(old)
    record = build(recipe, out, data_root=place.data, base_root=place.zoo)
    shutil.rmtree(old, ignore_errors=True)
    return record


def default_zoo() -> Path:
    """Where models go if nobody says."""
    from platformdirs import user_cache_path

    return user_cache_path("unhorse") / "zoo"
