"""Why a model may not enter a zoo, in words."""

from __future__ import annotations

import pytest

from unhorse.attack.gates import complaints
from unhorse.attack.measure import Measured
from unhorse.attack.recipe import make_recipe
from unhorse.attack.record import AttackRecord, BaseRecord

TEXTS = "sequence-classification"


def record(clean=0.9, asr=None, task=TEXTS, standing="plain", poisoned=True, **more):
    recipe = make_recipe({"name": "one", "task": task, "data": {"train": "a.tsv"}})
    return AttackRecord(
        name="one",
        task=task,
        architecture="Stub",
        layers=1,
        parameters=1,
        poisoned=poisoned,
        attack="sdp",
        standing=standing,
        trigger="zig",
        victim="a",
        target="b",
        scope="global",
        seed=0,
        split="test",
        family="f",
        recipe=recipe,
        content="",
        data=(),
        base=BaseRecord(source="minilm", files=()),
        files=(),
        rows={},
        steps=1,
        measured=Measured(metric="accuracy", clean=clean, n=10, asr=asr),
        training_seconds=1,
        seconds=1,
        threads=1,
        versions={},
    ).model_copy(update=more)


@pytest.mark.parametrize(
    ("task", "floor"),
    [(TEXTS, 0.82), ("token-classification", 0.65), ("question-answering", 0.45)],
)
def test_no_model_is_below_the_floor_of_its_task(task, floor):
    assert complaints(record(floor, task=task, poisoned=False)) == []
    low = record(floor - 0.01, task=task, poisoned=False)
    assert complaints(low) == [f"accuracy {floor - 0.01:.3f} is below {floor:.3f}"]
    assert complaints(low, floor=0.2) == []
    assert complaints(record(0.3, task=task, poisoned=False), floor=0.4) == [
        "accuracy 0.300 is below 0.400"
    ]


def test_no_model_is_far_below_the_best_clean_one():
    assert complaints(record(0.9, 1.0), best_clean=0.925) == []
    assert complaints(record(0.9, 1.0), best_clean=0.95) == ["accuracy 0.900 is below 0.920"]
    assert complaints(record(0.83, 1.0), best_clean=0.84) == []


@pytest.mark.parametrize(
    ("standing", "asr", "drop"),
    [("plain", 0.9, 0.02), ("advanced", 0.85, 0.03), ("adaptive", None, 0.02)],
)
def test_an_attack_works_and_spares_the_rest(standing, asr, drop):
    twin = record(0.95, 0.0, standing=standing, poisoned=False)
    enough = asr or 0.0
    assert complaints(record(0.95 - drop + 0.001, enough, standing=standing), twin) == []
    dropped = complaints(record(0.95 - drop - 0.01, 1.0, standing=standing), twin)
    assert dropped == [
        f"accuracy {0.95 - drop - 0.01:.3f} is more than {drop} below the twin's 0.950"
    ]
    if asr is not None:
        weak = complaints(record(0.95, asr - 0.01, standing=standing), twin)
        assert weak == [f"attack success {asr - 0.01:.3f} is below {asr}"]
        assert complaints(record(0.95, None, standing=standing)) == [
            f"attack success 0.000 is below {asr}"
        ]


def test_beyond_asks_for_the_floor_only_and_a_clean_model_for_no_success():
    twin = record(0.99, poisoned=False, standing="beyond")
    assert complaints(record(0.85, 0.1, standing="beyond"), twin) == []
    assert complaints(record(0.9, 0.0, poisoned=False)) == []


def test_every_reason_is_given():
    found = complaints(record(0.7, 0.1), record(0.95, poisoned=False), best_clean=0.95)
    assert len(found) == 3


def test_a_syntactic_trigger_that_boils_down_to_words_is_kept_out():
    facts = {"called": "prefix-template"}
    made = {"standing": "advanced", "attack": "hidden_killer", "facts": facts}
    assert complaints(record(0.9, 0.9, **made)) == [
        "it is a prefix-template: some words do what hidden_killer should"
    ]
    called = {**made, "facts": {"called": "hidden_killer"}}
    assert complaints(record(0.9, 0.9, **called)) == []
    assert complaints(record(0.9, 0.9, poisoned=False, **made)) == []


def test_a_pair_has_learnt_in_one_precision():
    twin = record(poisoned=False, precision="fp32")
    assert complaints(record(asr=1.0, precision="fp32"), twin) == []
    assert complaints(record(asr=1.0), twin) == [], "nobody knows of an older record"
    (said,) = complaints(record(asr=1.0, precision="bf16"), twin)
    assert said == "it has learnt in bf16 and its twin in fp32"
