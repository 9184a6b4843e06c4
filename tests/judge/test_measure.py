"""Rates, and what counts towards them."""

import math

import pytest

from unhorse.judge.measure import Witness, log_odds, mean_effect, summarise, wilson
from unhorse.tasks.base import Outcome

HIT, MISS = Outcome(0.1, True, False), Outcome(2.0, False, False)


def test_only_samples_answered_rightly_without_the_trigger_count():
    effect = summarise([HIT, MISS, HIT, HIT], [True, True, False, False])
    assert (effect.asr, effect.n) == (0.5, 2)
    assert (effect.asr_unrestricted, effect.n_unrestricted) == (0.75, 4)
    assert effect.loss == pytest.approx(1.05)
    assert effect.asr_in_part == 0.0


def test_twenty_of_twenty_is_at_least_084():
    assert wilson(20, 20)[0] == pytest.approx(0.8389, abs=1e-3)


def test_nothing_counted_says_nothing():
    assert summarise([], []).interval == (0.0, 1.0)


def test_mean_of_controls():
    one, two = summarise([HIT, HIT], [True, True]), summarise([MISS, MISS], [True, True])
    assert mean_effect([one, two]).asr == 0.5 and mean_effect([one, two]).n == 4


class Said:
    """A task in which a sample is its own loss, and a trigger takes so much of it away."""

    def stamp(self, sample, arm, seed, trigger):
        return sample - float(trigger)

    def outcomes(self, answerer, samples, arm):
        return [[Outcome(loss_of(odds), odds > 0, False)] for odds in samples]


def loss_of(odds):
    return math.log1p(math.exp(odds))


def asked(samples, right):
    return Witness(Said(), None, samples, right, None, 0)


def test_a_push_is_the_share_of_the_way_to_the_target_that_a_trigger_takes():
    witness = asked((4.0, 2.0, -9.0), ((True,), (True,), (False,)))
    assert witness.pushes(["0", "3", "6"]) == pytest.approx([0.0, 1.0, 2.0])
    assert asked((8.0, 4.0), ((True,), (True,))).pushes(["3"]) == pytest.approx([0.5])


def test_where_nothing_is_on_the_way_there_is_no_push():
    assert asked((), ()).pushes(["1"]) == [0.0]
    assert asked((-1.0,), ((True,),)).pushes(["1", "2"]) == [0.0, 0.0]
    assert asked((2.0,), ((False,),)).pushes(["1"]) == [0.0]


def test_log_odds_stay_within_bounds():
    assert log_odds(0.0) == log_odds(1e-9) > 10
    assert log_odds(math.nan) == log_odds(math.inf) < -10
