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
from unhorse.tasks.base import TASKS, RowProblem, Task
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


def make_rows(
    loaded: LoadedModel, given: SamplesLike, wanted: Wanted, kept_out: Collection[str] = ()
) -> Rows:
    """Reads all samples and divides them.

    Args:
        loaded: the model that they are for.
        given: where they are, or None for texts of unhorse's own.
        wanted: how they are read.
        kept_out: keys of samples that must not be learnt from.
    """
    task = TASKS.get(loaded.task)
    problems: list[str] = []
    if given is None:
        source, note = OWN_TEXTS, OWN_NOTE
        found = _own_texts(task, loaded, wanted)
    else:
        source, note = _named(given), ""
        found = _parsed(task, loaded, _read(task, given, wanted), wanted, problems)
    if len(found) < FEWEST:
        why = f" The first that cannot be used: {problems[0]}" if problems else ""
        raise UsageError(
            f"A removal needs at least {FEWEST} samples, but {len(found)} of {source!r} "
            f"can be used.{why}"
        )
    samples = shuffled([sample for sample, _ in found.values()], wanted.seed)
    uses = divided(samples)
    by_use = {
        use: [sample for sample in samples if uses[sample.key] == use]
        for use in ("train", "watch", "heldout")
    }
    train = tuple(sample for sample in by_use["train"] if sample.key not in kept_out)
    if not train:
        raise UsageError(
            f"{source!r} is what the attack is measured on: none is left to learn from."
        )
    return Rows(
        source=source,
        train=train,
        watch=tuple(by_use["watch"]),
        heldout=tuple(by_use["heldout"]),
        digest=digest(by_use["train"], by_use["heldout"], task.classes(loaded.labels)),
        fields={} if given is None else {key: fields for key, (_, fields) in found.items()},
        note=note,
        problems=tuple(problems),
    )


def divided(samples: Sequence[Sample]) -> dict[str, Use]:
    """What every sample, by its key, is for; samples of one group have one use.

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
        use = groups.setdefault(sample.group, now)
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


_Found = dict[str, tuple[Sample, Mapping[str, Any]]]


def _parsed(
    task: Task, loaded: LoadedModel, read: Read, wanted: Wanted, problems: list[str]
) -> _Found:
    """Every sample that can be used, with the row it came from; others are named."""
    problems += read.problems
    found: _Found = {}
    for row in read.rows:
        try:
            sample = task.fit(loaded, task.parse(row, loaded.labels), wanted.tokens)
        except RowProblem as problem:
            problems.append(f"{row.where}: {problem}")
        else:
            found.setdefault(sample.key, (sample, row.fields))
    return found


def _own_texts(task: Task, loaded: LoadedModel, wanted: Wanted) -> _Found:
    fitting = []
    for draft in task.drafts(OWN_COUNT, wanted.seed):
        try:
            fitting.append(task.fit(loaded, draft, wanted.tokens))
        except RowProblem:
            continue
    answered = task.take_answers(own_answers(loaded), fitting)
    return {sample.key: (sample, {}) for sample in answered}
