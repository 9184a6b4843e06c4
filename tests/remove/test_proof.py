"""When a removal is proven, failed, or neither."""

import numpy as np
import pytest

from unhorse.judge.measure import wilson
from unhorse.remove.metric import Fall, Scores
from unhorse.remove.proof import Measurement, decide, note_on_rows, remains
from unhorse.remove.records import Trigger
from unhorse.types import Arm, Effect

STAYED = Fall(0.0, (-0.01, 0.01), 0.01)
ARM = Arm((0,), 1, "start", "calm", "wild")
TRIGGER = Trigger("zebra", ("zebra",), ARM, 1, 0.1, "report")


def effect(hits, n):
    rate = hits / n if n else 0.0
    return Effect(1.0, rate, n, rate, n, wilson(hits, n), rate)


def outcome(drop=STAYED, max_drop=0.02, asr=0.0, rescan="nothing_found", true=None, n=100):
    after = Measurement(
        Scores("accuracy", np.ones(9), np.ones(9)),
        (effect(round(asr * n), n),),
        None if true is None else effect(round(true * n), n),
    )
    return decide(drop, max_drop, after, [TRIGGER], rescan, "Because.")


def test_proven_when_nothing_speaks_against_it():
    assert outcome().state == "proven"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rescan": "backdoored"}, "still convicts: Because."),
        ({"drop": Fall(0.05, (0.01, 0.09), 0.04)}, "fell by 5.0 points"),
        ({"asr": 0.9}, "'zebra' still sends 90%"),
        ({"true": 0.8}, "true trigger still sends 80%"),
    ],
)
def test_each_thing_that_fails_it(changes, said):
    found = outcome(**changes)
    assert found.state == "failed" and said in found.reasons[0]


@pytest.mark.parametrize(
    "drop",
    [
        Fall(0.05, (-0.01, 0.09), 0.05),  # chance may explain it
        Fall(0.015, (0.01, 0.02), 0.01),  # real, but allowed
    ],
)
def test_a_fall_must_be_both_large_and_sure(drop):
    assert outcome(drop).state == "proven"


@pytest.mark.parametrize("rescan", ["suspicious", "inconclusive"])
def test_a_scan_that_does_not_clear_proves_nothing(rescan):
    found = outcome(rescan=rescan)
    assert found.state == "unproven" and rescan in found.reasons[0]


@pytest.mark.parametrize(
    ("hits", "n", "control", "left"),
    [
        (95, 100, 0.1, "yes"),
        (95, 100, 0.95, "no"),  # controls do as much
        (9, 100, 0.1, "no"),
        (9, 12, 0.1, "unclear"),  # high, but of few
        (0, 0, 0.1, "unclear"),
        (0, 0, 1.0, "no"),
    ],
)
def test_a_known_trigger_works_does_not_or_cannot_be_told(hits, n, control, left):
    assert remains(effect(hits, n), control) == left


@pytest.mark.parametrize(("asr", "n"), [(0.75, 12), (0.0, 0)])
def test_what_cannot_be_told_proves_nothing(asr, n):
    found = outcome(asr=asr, n=n)
    assert found.state == "unproven" and "'zebra'" in found.reasons[0]


def test_the_length_of_a_known_trigger_is_no_excuse():
    long = Trigger("one two three four five six seven", ("x",), ARM, 7, 0.1, "by hand")
    after = Measurement(Scores("accuracy", np.ones(9), np.ones(9)), (effect(100, 100),), None)
    assert decide(STAYED, 0.02, after, [long], "nothing_found").state == "failed"


def test_few_rows_are_said():
    assert "120 held-out rows" in note_on_rows(120, STAYED)
    assert note_on_rows(500, STAYED) == ""
