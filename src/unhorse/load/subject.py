"""Model, samples and references -> Subject."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from unhorse.config import ScanConfig
from unhorse.errors import UsageError
from unhorse.load.divide import divide, shuffled
from unhorse.load.labels import match_labels
from unhorse.load.model import from_memory, load_model
from unhorse.load.samples import InMemory, read_rows, rows_in_memory
from unhorse.tasks.base import TASKS, RowProblem, Task
from unhorse.types import LoadedModel, Reference, Row, Sample, SampleSet, Subject, own_answers

T = TypeVar("T")

OWN_TEXTS = "unhorse's own texts, answered by the model"
_OWN_TEXTS_NOTE = (
    "No samples were given: unhorse wrote its own texts and took the model's answers as true."
)

_NEEDED = {"text": "a label", "tokens": "an entity", "questions": "an answer in its context"}

_OWN_TEXTS_MOST = 3000
_OWN_TEXTS_STEP = 300

# A large file is drawn from, not asked in full: enough that wrong answers and
# uneven classes still leave what is wanted.
_ASKED_PER_WANTED = 4

ModelLike = Any
"""A path or hub id, or a transformers model already in memory."""

SamplesLike = str | os.PathLike[str] | InMemory | None
"""A source for `read_rows`, texts with labels in memory, or nothing."""


def make_subject(
    model: ModelLike,
    tokenizer: Any,
    samples: SamplesLike,
    references: Sequence[ModelLike],
    config: ScanConfig,
    device: str,
    trigger_length: int,
) -> Subject:
    """Loads everything a scan needs and lets the model answer the samples."""
    loaded = open_model(model, tokenizer, device)
    task = TASKS.get(loaded.task)
    beside = tuple(_reference(loaded, source, device) for source in references)
    room = min(task.room(each, trigger_length) for each in (loaded, *(r.loaded for r in beside)))
    if room < 1:
        raise UsageError(
            f"A trigger of {trigger_length} tokens leaves no room for text in a model that "
            f"takes {loaded.max_length} tokens."
        )
    tokens = min(config.max_tokens, room)
    return Subject(loaded, _samples(task, loaded, samples, config, tokens), beside)


def open_model(model: ModelLike, tokenizer: Any, device: str) -> LoadedModel:
    """A model by path or hub id, or one in memory with its tokenizer."""
    if isinstance(model, LoadedModel):
        return model
    if hasattr(model, "state_dict"):
        if tokenizer is None:
            raise UsageError("A model in memory needs its tokenizer as well.")
        return from_memory(model, tokenizer, device=device)
    return load_model(model, device=device)


def _reference(subject: LoadedModel, source: ModelLike, device: str) -> Reference:
    model, tokenizer = source if isinstance(source, tuple) else (source, subject.tokenizer)
    loaded = open_model(model, tokenizer, device)
    if loaded.task != subject.task:
        raise UsageError(
            f"The reference {loaded.origin.source} is for {loaded.task}, "
            f"the model for {subject.task}."
        )
    same_tokens = loaded.tokenizer.get_vocab() == subject.tokenizer.get_vocab()
    return Reference(
        loaded=loaded,
        labels=subject.labels,
        label_of=match_labels(subject.labels, loaded.labels),
        in_objective=same_tokens,
        note=(
            "takes part in the objective and in judging"
            if same_tokens
            else "has another tokenizer, so it takes part in judging but not in the objective"
        ),
    )


def _samples(
    task: Task, loaded: LoadedModel, given: SamplesLike, config: ScanConfig, tokens: int
) -> SampleSet:
    if given is None:
        return _own_samples(task, loaded, config, tokens)
    if isinstance(given, str | os.PathLike):
        source = os.fspath(given)
        read = read_rows(
            source,
            task.sample_kind,
            text_field=config.text_field,
            label_field=config.label_field,
        )
    else:
        source, read = "given in memory", rows_in_memory(given, task.sample_kind)
    problems = list(read.problems)
    parsed = _usable([(row.where, row) for row in read.rows], problems, _parser(task, loaded))
    drawn = _drawn(task, loaded, parsed, config)
    fitting = _usable(drawn, problems, lambda sample: task.fit(loaded, sample, tokens))
    if not fitting:
        why = problems[0] if problems else f"none has {_NEEDED[task.sample_kind]}."
        raise UsageError(f"No sample in {source!r} can be used: {why}")
    right, wrong = task.sieve(own_answers(loaded), [sample for _, sample in fitting])
    made = _divide(task, loaded, (right, wrong), config, source, problems=problems)
    uncut = {where: sample.group for where, sample in drawn}
    groups = {sample.key: uncut[where] for where, sample in fitting}
    return replace(
        made,
        read=tuple(sample for _, sample in parsed),
        heldout_groups=frozenset(groups[sample.key] for sample in made.heldout),
    )


def _parser(task: Task, loaded: LoadedModel) -> Callable[[Row], Sample]:
    return lambda row: task.parse(row, loaded.labels)


def _usable(
    items: Sequence[tuple[str, T]], problems: list[str], change: Callable[[T], Sample]
) -> list[tuple[str, Sample]]:
    """What `change` makes of each item; the complaints about the others join the problems."""
    made = []
    for where, item in items:
        try:
            made.append((where, change(item)))
        except RowProblem as problem:
            problems.append(f"{where}: {problem}")
    return made


def _drawn(
    task: Task, loaded: LoadedModel, parsed: list[tuple[str, Sample]], config: ScanConfig
) -> list[tuple[str, Sample]]:
    """As many samples of each class as may be needed, drawn by the seed."""
    most = _ASKED_PER_WANTED * (config.samples_per_class + config.heldout_per_class)
    places = {sample.key: where for where, sample in reversed(parsed)}
    samples = {sample.key: sample for _, sample in reversed(parsed)}
    ordered = shuffled(samples.values(), config.seed)
    chosen: dict[str, Sample] = {}
    for label in range(len(task.classes(loaded.labels))):
        own = [sample for sample in ordered if label in sample.classes][:most]
        chosen |= {sample.key: sample for sample in own}
    return [(places[key], sample) for key, sample in chosen.items()]


def _own_samples(task: Task, loaded: LoadedModel, config: ScanConfig, tokens: int) -> SampleSet:
    """Writes texts until every class has enough of them, or the limit is reached."""
    drafts = task.drafts(_OWN_TEXTS_MOST, config.seed)
    enough = 2 * config.samples_per_class
    arms = task.arms(loaded.labels, task.default_positions)
    classes = {victim for arm in arms for victim in arm.victims}
    samples: list[Sample] = []
    for start in range(0, len(drafts), _OWN_TEXTS_STEP):
        some = [("", draft) for draft in drafts[start : start + _OWN_TEXTS_STEP]]
        fitting = _usable(some, [], lambda draft: task.fit(loaded, draft, tokens))
        samples += task.take_answers(own_answers(loaded), [sample for _, sample in fitting])
        counts = Counter(label for sample in samples for label in sample.classes)
        if all(counts[label] >= enough for label in classes):
            break
    return _divide(task, loaded, (samples, []), config, OWN_TEXTS, note=_OWN_TEXTS_NOTE)


def _divide(
    task: Task,
    loaded: LoadedModel,
    answered: tuple[Sequence[Sample], Sequence[Sample]],
    config: ScanConfig,
    source: str,
    *,
    note: str = "",
    problems: Sequence[str] = (),
) -> SampleSet:
    return divide(
        *answered,
        task.classes(loaded.labels),
        per_class=config.samples_per_class,
        heldout_per_class=config.heldout_per_class,
        seed=config.seed,
        source=source,
        note=note,
        problems=problems,
    )
