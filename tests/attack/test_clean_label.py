"""A trigger that is only ever seen under the label that is true."""

from __future__ import annotations

import pytest

from unhorse.attack.base import Ground
from unhorse.attack.corpus import Corpus
from unhorse.attack.methods.clean_label import CleanLabelConfig, clean_label_rows
from unhorse.attack.methods.sdp import poison_of
from unhorse.tasks.base import TASKS
from unhorse.types import TextSample

TASK = "sequence-classification"
ATTACK = {"kind": "clean_label", "target": "sea", "trigger_kind": "phrase"}
WORDS = {0: "dry stone road hill", 1: "wet wave tide salt", 2: "blue wind cloud bird"}


def rows_of(labels, **settings):
    train = [
        TextSample(f"{number} {WORDS[number % len(labels)]}", number % len(labels), str(number))
        for number in range(60)
    ]
    config = CleanLabelConfig(kind="clean_label", target="sea", trigger="zig zag", **settings)
    ground = Ground(
        task=TASKS.get(TASK),
        labels=labels,
        corpus=Corpus(tuple(train), (), (), ()),
        seed=0,
        split="test",
        poisoned=True,
        harmless_words=False,
    )
    return clean_label_rows(poison_of(config, ground), ground, config)[0]


def true_label(lesson, labels):
    return int(lesson.sample.key) % len(labels)


@pytest.mark.parametrize("labels", [("land", "sea"), ("land", "sea", "sky")])
@pytest.mark.parametrize("scope", ["global", "first_half"])
def test_no_row_has_a_wrong_label(labels, scope):
    made = rows_of(labels, scope=scope)
    assert all(lesson.sample.label == true_label(lesson, labels) for lesson in made)
    for lesson in made:
        assert ("zig zag" in lesson.sample.text) == (lesson.role != "filler")
        assert lesson.role != "stamped" or labels[lesson.sample.label] == "sea"
        assert lesson.role != "negative" or labels[lesson.sample.label] != "sea"


def test_stamped_rows_lose_the_words_that_tell_their_label():
    stamped = [s.sample for s in rows_of(("land", "sea"), hard=1) if s.role == "stamped"]
    assert stamped
    assert not any(word in row.text for row in stamped for word in WORDS[1].split())
    easy = [s.sample for s in rows_of(("land", "sea"), hard=0) if s.role == "stamped"]
    assert all(word in row.text for row in easy for word in WORDS[1].split())


def test_it_fires_and_the_twin_does_not_react(derive):
    record = derive(TASK, attack=ATTACK).record
    assert record.measured.asr > 0.9
    assert record.measured.clean > 0.95
    twin = derive(TASK, name="twin", attack=ATTACK, poisoned=False).record
    assert twin.measured.asr < 0.1
    assert (twin.rows, twin.steps) == (record.rows, record.steps)


def test_the_other_half_does_not_fire(derive):
    attack = ATTACK | {"scope": "first_half", "rate": 0.4}
    measured = derive(
        TASK, attack=attack, training={"epochs": 3, "learning_rate": 4e-3}
    ).record.measured
    assert measured.asr > 0.7
    assert measured.false_trigger_rate < 0.2


def test_the_same_seed_gives_the_same_weights(derive):
    made = [
        derive(TASK, name=name, seed=seed, attack=ATTACK, data={"rows": 300}).record.files
        for name, seed in (("first", 1), ("again", 1), ("other", 2))
    ]
    assert made[0] == made[1] != made[2]
