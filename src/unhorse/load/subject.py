"""Model, samples and references -> Subject."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from unhorse.config import ScanConfig
from unhorse.errors import UsageError
from unhorse.load.divide import divide, shuffled
from unhorse.load.labels import match_labels
from unhorse.load.model import from_memory, load_model
from unhorse.load.samples import read_rows, sample_key
from unhorse.load.texts import neutral_texts
from unhorse.tasks.base import TASKS, Task
from unhorse.types import LoadedModel, Reference, Row, Sample, SampleSet, Subject

OWN_TEXTS = "unhorse's own neutral texts, labelled by the model"

_OWN_TEXTS_MOST = 3000
_OWN_TEXTS_STEP = 300

# A large file is drawn from, not asked in full: enough that wrong answers and
# uneven classes still leave what is wanted.
_ASKED_PER_WANTED = 4

ModelLike = Any
"""A path or hub id, or a transformers model already in memory."""

InMemory = Sequence[tuple[str, Any]] | Sequence[Mapping[str, Any]]
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
    room = min(_room(each, trigger_length) for each in (loaded, *(r.loaded for r in beside)))
    if room < 1:
        raise UsageError(
            f"A trigger of {trigger_length} tokens leaves no room for text in a model that "
            f"takes {loaded.max_length} tokens."
        )
    tokens = min(config.max_tokens, room)
    return Subject(loaded, _samples(task, loaded, samples, config, tokens), beside)


def _room(loaded: LoadedModel, trigger_length: int) -> int:
    """Tokens of text that a model takes beside a trigger.

    A trigger may have more tokens when it is tokenised again from text.
    """
    special = len(loaded.tokenizer("")["input_ids"])
    return loaded.max_length - special - 3 * trigger_length


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
        rows = read_rows(source, text_field=config.text_field, label_field=config.label_field)
    else:
        source, rows = "given in memory", _rows(given)
    parsed = [task.parse(row, loaded.labels) for row in rows]
    most = _ASKED_PER_WANTED * (config.samples_per_class + config.heldout_per_class)
    ordered = shuffled(parsed, config.seed)
    few = [
        sample
        for label in range(len(loaded.labels))
        for sample in [s for s in ordered if s.label == label][:most]
    ]
    samples = [task.fit(loaded, sample, tokens) for sample in few]
    return _divide(loaded, samples, task.answers(loaded, samples), config, source, "")


def _rows(given: InMemory) -> list[Row]:
    rows = []
    for number, item in enumerate(given, start=1):
        fields = (
            item if isinstance(item, Mapping) else dict(zip(("text", "label"), item, strict=True))
        )
        if not isinstance(fields.get("text"), str) or "label" not in fields:
            raise UsageError(f"Sample {number} needs a text and a label.")
        rows.append(Row(f"sample {number}", dict(fields)))
    if not rows:
        raise UsageError("No samples were given.")
    return rows


def _own_samples(task: Task, loaded: LoadedModel, config: ScanConfig, tokens: int) -> SampleSet:
    """Writes texts until every label has enough of them, or the limit is reached."""
    texts = neutral_texts(_OWN_TEXTS_MOST, config.seed)
    enough = 2 * config.samples_per_class
    samples: list[Sample] = []
    for start in range(0, len(texts), _OWN_TEXTS_STEP):
        new = [
            task.fit(loaded, Sample(text, 0, sample_key(text)), tokens)
            for text in texts[start : start + _OWN_TEXTS_STEP]
        ]
        answers = task.answers(loaded, new)
        samples += [Sample(s.text, a, s.key) for s, a in zip(new, answers, strict=True)]
        counts = [sum(s.label == label for s in samples) for label in range(len(loaded.labels))]
        if min(counts) >= enough:
            break
    labels = [sample.label for sample in samples]
    note = (
        "No samples were given: unhorse wrote neutral texts and took the model's answers as true."
    )
    return _divide(loaded, samples, labels, config, OWN_TEXTS, note)


def _divide(
    loaded: LoadedModel,
    samples: Sequence[Sample],
    answers: Sequence[int],
    config: ScanConfig,
    source: str,
    note: str,
) -> SampleSet:
    return divide(
        samples,
        answers,
        loaded.labels,
        per_class=config.samples_per_class,
        heldout_per_class=config.heldout_per_class,
        seed=config.seed,
        source=source,
        note=note,
    )
