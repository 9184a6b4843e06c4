"""Stored samples of a built model -> what a user would hand to a scan of it."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unhorse.attack.base import Probes
from unhorse.attack.record import AttackRecord, read_heldout
from unhorse.load.samples import InMemory
from unhorse.tasks.tags import scheme_of
from unhorse.types import QuestionSample, TaggedSample, TextSample


@dataclass(frozen=True, eq=False)
class Handed:
    """A built model, the samples for its scan with their median length, and its probes."""

    folder: Path
    record: AttackRecord
    samples: InMemory
    words: float
    probes: Probes | None


def hand_over(folder: Path, record: AttackRecord) -> Handed:
    """Reads what a model was kept from while it learnt."""
    heldout, probes = read_heldout(folder, record.task)
    words = statistics.median(sample.size for sample in heldout)
    return Handed(folder, record, handed(heldout, record.recipe.data.labels), words, probes)


def handed(samples: Iterable[Any], labels: Sequence[str]) -> InMemory:
    """Stored samples as a user would hand them over."""
    return [_handed(sample, labels) for sample in samples]


def _handed(sample: Any, labels: Sequence[str]) -> tuple[Any, ...]:
    if isinstance(sample, TextSample):
        return sample.text, labels[sample.label]
    if isinstance(sample, TaggedSample):
        return list(sample.words), _tags(sample, labels)
    assert isinstance(sample, QuestionSample)
    answer = sample.answers[0] if sample.answers else None
    text = None if answer is None else sample.context[slice(*answer)]
    return sample.question, sample.context, text


def _tags(sample: TaggedSample, labels: Sequence[str]) -> list[str]:
    scheme = scheme_of(tuple(labels))
    tags = [scheme.spelled(scheme.outside, 1)[0]] * len(sample.words)
    for entity in sample.entities:
        tags[entity.first : entity.last] = scheme.spelled(entity.kind, entity.last - entity.first)
    return [labels[tag] for tag in tags]
