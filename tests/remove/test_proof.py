"""When a removal is proven, failed, or neither."""

import numpy as np
import pytest

from unhorse.judge.measure import wilson
from unhorse.remove.metric import Fall, Scores
from unhorse.remove.proof import Measurement, decide, note_on_rows, still_works
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
        ({"true": 0.8}, "true trigger still has a success of 80%"),
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


def test_a_trigger_that_controls_equal_is_no_trigger():
    natural = Trigger("good", ("good",), ARM, 1, 0.95, "report")
    assert still_works(TRIGGER, effect(95, 100))
    assert not still_works(natural, effect(95, 100))
    assert not still_works(TRIGGER, effect(0, 0))


def test_few_rows_are_said():
    assert "120 held-out rows" in note_on_rows(120, STAYED)
    assert note_on_rows(500, STAYED) == ""
