"""The clean metric row by row, its intervals, and the fall between two models."""

import numpy as np
import pytest

from unhorse.attack.measure import clean_metric
from unhorse.remove.metric import Scores, fall, row_scores
from unhorse.testing import planted_case


def accuracy(right, of):
    return Scores("accuracy", np.repeat([1.0, 0.0], [right, of - right]), np.ones(of))


def test_it_is_the_metric_that_attacks_are_measured_by():
    case = planted_case()
    name, value, _ = clean_metric(case.subject, case.rows.heldout)
    found = row_scores(case.subject, case.rows.heldout)
    assert (found.metric, found.value) == (name, pytest.approx(value))


def test_a_ratio_of_sums_is_no_mean_of_ratios():
    scores = Scores("entity_f1", np.array([2.0, 0.0]), np.array([2.0, 6.0]))
    assert scores.value == 0.25


def test_nothing_to_find_and_nothing_found_is_right():
    assert Scores("entity_f1", np.zeros(3), np.zeros(3)).value == 1.0


def test_intervals_hold_the_value():
    low, high = accuracy(80, 100).interval()
    assert low < 0.8 < high
    mixed = Scores("answer_f1", np.linspace(0, 1, 60), np.ones(60))
    low, high = mixed.interval()
    assert 0.3 < low < mixed.value < high < 0.7


def test_a_fall_is_paired():
    """The same rows wrong in both models say nothing of a fall, however many they are."""
    before, after = accuracy(60, 200), accuracy(58, 200)
    found = fall(before, after)
    assert found.value == pytest.approx(0.01)
    assert found.interval[1] - found.interval[0] < 0.04
    shuffled = Scores("accuracy", after.hits[::-1].copy(), np.ones(200))
    wide = fall(before, shuffled).interval
    assert wide[1] - wide[0] > 0.1


def test_the_same_seed_gives_the_same_interval():
    before, after = accuracy(90, 100), accuracy(80, 100)
    assert fall(before, after, 3) == fall(before, after, 3)


def test_few_rows_see_only_a_large_fall():
    assert fall(accuracy(30, 30), accuracy(30, 30)).visible == pytest.approx(0.1)
    many = fall(accuracy(900, 1000), accuracy(890, 1000)).visible
    assert many < 0.01
