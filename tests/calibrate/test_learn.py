"""What is learnt: few features, weights that are never negative, thresholds above clean models."""

import random

import numpy as np
import pytest

from unhorse.calibrate.fit import Case, case_of, fit, shares_of
from unhorse.calibrate.learn import folds, learn, thresholds
from unhorse.calibrate.rates import judge, judge_left_out, measured
from unhorse.judge.features import FEATURES
from unhorse.judge.profile import logistic

from .conftest import make_zoo, scanned


def case(model, poisoned, *values, family="f", kin=None):
    """A case whose findings have one feature each."""
    bag = tuple(dict.fromkeys(FEATURES, 0.0) | {"beyond_references": value} for value in values)
    return Case(model, kin or model, family, poisoned, bag)


def plain(count=6, families=3):
    return [
        case(f"{poisoned}{i}", poisoned, 0.9 if poisoned else 0.1, 0.0, family=f"f{i % families}")
        for i in range(count)
        for poisoned in (True, False)
    ]


def test_a_model_is_as_bad_as_its_worst_finding():
    weights = fit(plain(), ("beyond_references",), 0.02)
    assert weights.values[0] > 0
    assert weights.logit(case("x", True, 0.0, 0.9)) == weights.logit(case("y", True, 0.9))
    assert weights.logit(case("x", True, 0.9)) > 0 > weights.logit(case("y", True, 0.1))


def test_a_feature_that_goes_the_wrong_way_gets_no_weight():
    cases = [
        Case(c.model, c.kin, c.family, not c.poisoned, c.features) for c in plain()
    ]  # the labels turned round
    assert fit(cases, ("beyond_references",), 0.02).values[0] == 0.0


def test_a_strong_ridge_holds_weights_back():
    loose, tight = (fit(plain(), ("beyond_references",), ridge).values[0] for ridge in (0.005, 0.1))
    assert 0 < tight < loose


def test_both_kinds_and_all_models_count_alike_whatever_their_number():
    cases = [case("a", True, 1), case("a", True, 1), case("b", True, 1), case("c", False, 0)]
    assert shares_of(cases).tolist() == pytest.approx([0.125, 0.125, 0.25, 0.5])


def test_a_scan_without_findings_is_a_case():
    none = scanned("m", False, random.Random(0), "f", triggers=())
    assert case_of(none).matrix(("beyond_references", "deep")).tolist() == [[0.0, 0.0]]


def test_weak_findings_have_no_say(zoo):
    from .conftest import effect, finding

    few = finding().pruned.model_copy(update={"heldout": effect(1.0, 0.01, n=6)})
    assert case_of(zoo[0].model_copy(update={"triggers": (finding(pruned=few),)})).features == ()


def test_families_are_left_out_whole_and_models_with_their_twins_where_there_is_one_family():
    by, parts = folds([case_of(r) for r in make_zoo(6, families=3)])
    assert by == "family" and len(parts) == 3
    cases = [case_of(r) for r in make_zoo(6, families=1)]
    by, parts = folds(cases)
    assert by == "model" and len(parts) == 6
    assert all(len({cases[i].kin for i in left}) == 1 and len(left) == 2 for _, left in parts)


def test_a_family_that_holds_all_of_a_kind_cannot_be_left_out():
    cases = [case(f"a{i}", True, 0.9, family="one") for i in range(6)]
    cases += [case(f"b{i}", False, 0.1, family="two") for i in range(6)]
    assert folds(cases)[0] == "model"


def test_thresholds_lie_between_the_clean_models_and_the_next_trojaned_one():
    cases = plain(6)
    logits = np.array([2.0 if c.poisoned else -2.0 for c in cases])
    convict, suspect = thresholds(cases, logits)
    assert -2.0 < suspect < convict < 2.0 and convict == pytest.approx(0.0)


def test_the_highest_clean_model_is_not_convicted_though_trojaned_ones_are_below():
    cases = plain(6)
    logits = np.array([2.0 if c.poisoned else -2.0 for c in cases])
    logits[1] = 3.0
    convict, _ = thresholds(cases, logits)
    assert convict > 3.0


def test_one_clean_model_of_twenty_may_be_convicted():
    cases = plain(25, 5)
    logits = np.array([2.0 if c.poisoned else -2.0 for c in cases])
    logits[1] = 1.5
    assert thresholds(cases, logits)[0] < 1.5


@pytest.mark.parametrize("reference", [True, False])
def test_what_can_be_told_apart_is_told_apart(reference):
    cases = [case_of(r) for r in make_zoo(8, reference=reference)]
    learnt = learn(cases, reference=reference)
    found = measured(judge(cases, learnt))
    assert found.true_positives.rate == 1.0 and found.false_positives.rate == 0.0
    assert found.cleared.rate == 1.0 and found.auroc == 1.0
    assert (learnt.weights.values >= 0).all() and len(learnt.weights.names) <= 4


def test_what_cannot_be_told_apart_is_not_convicted():
    draw = random.Random(3)
    cases = [
        case(f"{poisoned}{i}", poisoned, draw.random(), family=f"f{i % 3}")
        for i in range(9)
        for poisoned in (True, False)
    ]
    by, left = judge_left_out(cases, reference=True)
    assert by == "family" and len(left) == 18
    assert measured(left).false_positives.rate <= 0.2


def test_several_seeds_of_a_model_count_as_one_model():
    learnt = learn([case_of(r) for r in make_zoo(6)], reference=True)
    twice = [case_of(r) for r in [*make_zoo(6), *make_zoo(6, seed=1)]]
    assert measured(judge(twice, learnt)).true_positives.models == 6


def test_the_score_never_falls_when_a_feature_rises(zoo):
    learnt = learn([case_of(r) for r in zoo], reference=True)
    low, high = (dict.fromkeys(FEATURES, value) for value in (0.2, 0.7))
    scores = [learnt.score(Case("m", "m", "f", True, (bag,))) for bag in (low, high)]
    assert scores[0] < scores[1] and scores[0] >= 0 and scores[1] <= 1
    assert 0 < logistic(learnt.suspect) < logistic(learnt.convict) < 1
