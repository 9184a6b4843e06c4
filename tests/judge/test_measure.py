"""Rates, and what counts towards them."""

import pytest

from unhorse.judge.measure import mean_effect, summarise, wilson
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
