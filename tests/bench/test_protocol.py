"""Thresholds, figures and tests on scores made by hand."""

from __future__ import annotations

import math

import pytest
from tests.bench.made import own, result, trigger

from unhorse.bench.metrics import auroc, bootstrap, cross_entropy, mcnemar, tpr_at_fpr
from unhorse.bench.protocol import (
    best_threshold,
    learnt_threshold,
    own_score,
    paper_decisions,
)


def test_beta_is_learnt_on_the_least_loss_of_all_arms():
    arms = (trigger(native=own(2.0)), trigger(native=own(0.1)), trigger(native=None))
    assert own_score(result(triggers=arms)) == -0.1
    calibration = [
        result("a", triggers=arms),
        result("b", native=own(0.3)),
        result("c", poisoned=False, native=own(1.3)),
        result("d", poisoned=False, native=own(None)),
    ]
    beta = learnt_threshold(calibration)
    assert beta == pytest.approx(-0.8)
    decided = paper_decisions([result(native=own(v)) for v in (0.7, 0.9, None)], beta)
    assert decided == [True, False, False]


def test_a_measure_that_is_bad_when_high_is_decided_the_other_way():
    calibration = [
        result("a", native=own(0.9, low=False)),
        result("b", poisoned=False, native=own(0.3, low=False)),
    ]
    beta = learnt_threshold(calibration)
    assert beta == pytest.approx(0.6)
    assert paper_decisions([result(native=own(0.7, low=False))], beta) == [True]


def test_a_method_with_a_test_of_its_own_needs_no_threshold():
    results = [result(native=own(1.0, convicts=True)), result(native=own(1.0, convicts=False))]
    assert paper_decisions(results, None) == [True, False]
    assert paper_decisions([result(native=own(1.0))], None) is None


def test_no_threshold_can_be_learnt_from_one_kind_or_from_equal_scores():
    assert best_threshold([True, True], [1.0, 2.0]) is None
    assert best_threshold([True, False], [-math.inf, -math.inf]) is None
    assert learnt_threshold([]) is None


def test_a_threshold_may_make_errors_where_it_must():
    truth = [True, False, True, True, False, False]
    threshold = best_threshold(truth, [5.0, 4.0, 3.0, 2.0, 1.0, 0.0])
    assert threshold == 1.5


def test_figures_of_a_detector():
    truth = [True] * 20 + [False] * 40
    scores = [1.0] * 10 + [0.5] * 10 + [0.7] * 2 + [0.4] * 38
    assert tpr_at_fpr(truth, scores) == 1.0, "two of forty clean ones may pass"
    assert tpr_at_fpr(truth, scores, 0.0) == 0.5
    assert tpr_at_fpr([True], [1.0]) is None
    assert cross_entropy([True, False], [1.0, 0.0]) == pytest.approx(0.0, abs=1e-9)
    assert cross_entropy([True], [0.0]) == pytest.approx(27.6, abs=0.1)
    assert auroc([True, False], [math.inf, -math.inf]) == 1.0


def test_an_interval_by_drawing_models_anew():
    right = [True] * 18 + [False] * 2
    low, high = bootstrap(lambda rows: sum(right[i] for i in rows) / 20, 20)
    assert 0.7 <= low < 0.9 < high <= 1.0
    assert bootstrap(lambda rows: 1.0, 1) is None
    assert bootstrap(lambda rows: None, 5) is None


def test_the_paired_test_is_exact():
    assert mcnemar(5, 5) == 1.0
    assert mcnemar(0, 6) == pytest.approx(2 * 0.5**6)
