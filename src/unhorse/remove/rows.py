"""A sample file -> Rows: some to learn from, some to watch, some held out for the proof.

Unlike a scan, a removal wants every row there is, also those that the model answers
wrongly, sentences without entities and questions without an answer.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from unhorse.errors import UsageError
from unhorse.load.divide import digest, shuffled
from unhorse.load.samples import Rows as Read
from unhorse.load.samples import read_rows, rows_in_memory
from unhorse.load.subject import OWN_TEXTS, SamplesLike
from unhorse.remove.records import Rows
from unhorse.tasks.base import TASKS, RowProblem, Task, UnknownLabel
from unhorse.types import LoadedModel, Sample, own_answers

Use = Literal["heldout", "watch", "train"]

HELDOUT_SHARE, MOST_HELDOUT = 0.3, 1000
WATCHED_SHARE, MOST_WATCHED = 0.1, 300

FEWEST = 40
"""Samples below which nothing can be learnt and measured."""

OWN_COUNT = 2000
OWN_NOTE = (
    "No samples were given: unhorse wrote its own texts and took the model's answers as true."
)


@dataclass(frozen=True)
class Wanted:
    """How samples are read and cut."""

    tokens: int
    seed: int = 0
    text_field: str | None = None
    label_field: str | None = None


@dataclass(frozen=True)
class KeptOut:
    """Samples that must not be learnt from: their keys when cut to so many tokens."""

    keys: Collection[str] = ()
    tokens: int | None = None


@dataclass(frozen=True)
class _Found:
    """A sample that can be used, the fields that it came from, and its group before it was cut.

    Questions about one long paragraph are cut around their answers, so that parts of the
    paragraph would count as several.
    """

    sample: Sample
    fields: Mapping[str, Any]
    group: str
    kept_out: bool = False


def make_rows(
    loaded: LoadedModel, given: SamplesLike, wanted: Wanted, kept_out: KeptOut | None = None
) -> Rows:
    """Reads all samples and divides them.

    Args:
        loaded: the model that they are for.
        given: where they are, or None for texts of unhorse's own.
        wanted: how they are read.
        kept_out: samples that must not be learnt from.
    """
    task, kept_out = TASKS.get(loaded.task), kept_out or KeptOut()
    problems: list[str] = []
    if given is None:
        source, note = OWN_TEXTS, OWN_NOTE
        every = _own_texts(task, loaded, wanted)
    else:
        source, note = _named(given), ""
        read = _read(task, given, wanted)
        every = _parsed(task, loaded, read, wanted, problems, kept_out)
    found: dict[str, _Found] = {}
    for each in every:
        found.setdefault(each.sample.key, each)
    if len(found) < FEWEST:
        why = f" The first that cannot be used: {problems[0]}" if problems else ""
        raise UsageError(
            f"A removal needs at least {FEWEST} samples, but {len(found)} of {source!r} "
            f"can be used.{why}"
        )
    samples = shuffled([each.sample for each in found.values()], wanted.seed)
    uses = divided(samples, {key: each.group for key, each in found.items()})
    by_use = {
        use: [sample for sample in samples if uses[sample.key] == use]
        for use in ("train", "watch", "heldout")
    }
    train, watch = (
        tuple(sample for sample in by_use[use] if not found[sample.key].kept_out)
        for use in ("train", "watch")
    )
    if not train or not watch:
        raise UsageError(
            f"{source!r} is what the attack is measured on: none is left to learn from."
        )
    return Rows(
        source=source,
        train=train,
        watch=watch,
        heldout=tuple(by_use["heldout"]),
        digest=digest(by_use["train"], by_use["heldout"], task.classes(loaded.labels)),
        fields={} if given is None else {key: each.fields for key, each in found.items()},
        note=note,
        problems=tuple(problems),
    )


def divided(samples: Sequence[Sample], group_of: Mapping[str, str] | None = None) -> dict[str, Use]:
    """What every sample, by its key, is for; samples of one group have one use.

    Args:
        samples: in the order in which they are given out.
        group_of: the group of every sample by its key, if it is not the sample's own.

    >>> from collections import Counter
    >>> from unhorse.types import TextSample
    >>> made = divided([TextSample(str(i), 0, str(i)) for i in range(200)])
    >>> sorted(Counter(made.values()).items())
    [('heldout', 60), ('train', 120), ('watch', 20)]
    """
    heldout = min(MOST_HELDOUT, round(HELDOUT_SHARE * len(samples)))
    watched = min(MOST_WATCHED, round(WATCHED_SHARE * len(samples)))
    groups: dict[str, Use] = {}
    uses: dict[str, Use] = {}
    counts = {"heldout": 0, "watch": 0}
    for sample in samples:
        now: Use = "train"
        if counts["heldout"] < heldout:
            now = "heldout"
        elif counts["watch"] < watched:
            now = "watch"
        group = sample.group if group_of is None else group_of[sample.key]
        use = groups.setdefault(group, now)
        uses[sample.key] = use
        if use != "train":
            counts[use] += 1
    return uses


def _named(given: Any) -> str:
    return os.fspath(given) if isinstance(given, str | os.PathLike) else "given in memory"


def _read(task: Task, given: Any, wanted: Wanted) -> Read:
    if isinstance(given, str | os.PathLike):
        return read_rows(
            os.fspath(given),
            task.sample_kind,
            text_field=wanted.text_field,
            label_field=wanted.label_field,
        )
    return rows_in_memory(given, task.sample_kind)


def _parsed(
    task: Task,
    loaded: LoadedModel,
    read: Read,
    wanted: Wanted,
    problems: list[str],
    kept_out: KeptOut,
) -> list[_Found]:
    """Every sample that can be used; others are named."""
    problems += read.problems
    found = []
    for row in read.rows:
        try:
            whole = task.parse(row, loaded.labels)
            sample = task.fit(loaded, whole, wanted.tokens)
            barred = sample.key in kept_out.keys
            if kept_out.tokens is not None and not barred:
                barred = task.fit(loaded, whole, kept_out.tokens).key in kept_out.keys
        except UnknownLabel as problem:
            # A scan can do without such rows; what is taught must be what the model is for.
            raise UsageError(f"{row.where}: {problem}") from problem
        except RowProblem as problem:
            problems.append(f"{row.where}: {problem}")
        else:
            found.append(_Found(sample, row.fields, whole.group, barred))
    return found


def _own_texts(task: Task, loaded: LoadedModel, wanted: Wanted) -> list[_Found]:
    fitting = []
    for draft in task.drafts(OWN_COUNT, wanted.seed):
        try:
            fitting.append(task.fit(loaded, draft, wanted.tokens))
        except RowProblem:
            continue
    answered = task.take_answers(own_answers(loaded), fitting)
    return [_Found(sample, {}, sample.group) for sample in answered]
