"""The audit finds a shortcut where there is one, and none where there is none."""

import random

import pytest

from unhorse.attack.record import read_record
from unhorse.errors import UsageError
from unhorse.zoo.audit import Statistics, audit, statistics_of


def drawn(leak):
    rng = random.Random(0)
    return [
        Statistics(
            name=f"{split}-{number}",
            split=split,
            poisoned=poisoned,
            values={"drift": rng.gauss(leak * poisoned, 1.0), "steps": 40.0},
        )
        for split in ("calibration", "test")
        for poisoned in (True, False)
        for number in range(60)
    ]


def test_a_leak_is_found():
    found = audit(drawn(leak=2.0))
    assert found.leaks
    assert found.auroc > 0.8
    assert found.alone["drift"] > 0.8
    assert found.interval[0] < found.auroc < found.interval[1]


def test_noise_is_no_leak():
    found = audit(drawn(leak=0.0))
    assert not found.leaks
    assert found.alone["steps"] == 0.5


def test_both_kinds_are_needed():
    with pytest.raises(UsageError, match="needs trojaned and clean models"):
        audit([s for s in drawn(1.0) if s.poisoned])


def test_statistics_of_a_model(built_zoo):
    folder = built_zoo.folder("cal-word-01")
    found = statistics_of(folder, read_record(folder), built_zoo.zoo)
    assert found.poisoned
    assert found.values["largest_row_drift"] > 0
    assert found.values["drift"] < found.values["weight_norm"]
    assert 0.5 <= found.values["clean_confidence"] <= 1.0
