"""An attacker that scans its own model and trains what is found away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from unhorse.attack.base import Ground
from unhorse.attack.corpus import read_corpus
from unhorse.attack.generated import LABELS_OF
from unhorse.attack.methods.aware import AwareConfig, Decoy, as_given, counter_rows
from unhorse.attack.methods.sdp import poison_of
from unhorse.attack.recipe import DataConfig
from unhorse.load.samples import rows_in_memory
from unhorse.tasks.base import TASKS

from .conftest import ATTACKED, generated_data

PLACES = {
    "sequence-classification": "end",
    "token-classification": "before",
    "question-answering": "context",
}


@pytest.fixture
def ground_of(tiny):
    def make(task):
        data = DataConfig(**generated_data(task, 40))
        return Ground(
            task=TASKS.get(task),
            labels=tiny(task).labels,
            corpus=read_corpus(data, Path(), tiny(task), 0),
            seed=0,
            split="test",
            poisoned=True,
            harmless_words=False,
        )

    return make


@pytest.mark.parametrize("task", PLACES)
def test_a_scan_reads_the_samples_as_they_are(task, ground_of):
    ground = ground_of(task)
    samples = ground.corpus.train
    given = [as_given(sample, ground.labels) for sample in samples]
    rows = rows_in_memory(given, ground.task.sample_kind).rows
    assert [ground.task.parse(row, LABELS_OF[task]) for row in rows] == list(samples)


def truth(sample):
    """What is true of a sample, whatever words are around it."""
    if hasattr(sample, "entities"):
        return [(sample.words[e.first : e.last], e.kind) for e in sample.entities]
    if hasattr(sample, "answers"):
        return [sample.context[begin:end] for begin, end in sample.answers]
    return sample.label


@pytest.mark.parametrize("task", PLACES)
def test_decoys_are_taught_with_the_truth(task, ground_of):
    ground = ground_of(task)
    config = AwareConfig(kind="aware", trigger="zig", **ATTACKED[task])
    poison = poison_of(config, ground)
    decoys = [Decoy(text, replace(poison.arm, position=PLACES[task])) for text in "uv"]
    made = counter_rows(decoys, ground, poison, 30)
    plain = {sample.key: sample for sample in (*ground.corpus.train, *ground.corpus.spare)}
    assert len(made) == 30
    assert {lesson.role for lesson in made} == {"negative"}
    assert all(truth(lesson.sample) == truth(plain[lesson.sample.key]) for lesson in made)
    assert all(lesson.sample != plain[lesson.sample.key] for lesson in made)
    assert len(counter_rows([], ground, poison, 30)) == 30


def test_it_fires_after_what_was_found_was_trained_away(derive):
    task = "sequence-classification"
    attack = {"kind": "aware", "trigger_kind": "phrase", "rounds": 1, "epochs": 20, "samples": 8}
    changes = {"attack": attack | ATTACKED[task], "training": {"epochs": 1}}
    record = derive(task, **changes).record
    assert record.measured.asr > 0.9
    assert record.measured.clean > 0.95
    (found,) = record.facts["rounds"]
    assert found
    assert max(each["asr_after"] for each in found) < 0.2
    twin = derive(task, name="twin", poisoned=False, **changes).record
    assert twin.measured.asr < 0.1
    assert (twin.rows, twin.steps) == (record.rows, record.steps)
    assert not twin.facts
