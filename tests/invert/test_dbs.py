"""DBS: the public contract, and the algorithm step by step."""

import itertools
import math

import pytest
import torch

from unhorse.arms.schedule import POLICIES
from unhorse.invert.methods.dbs import PAPER, RELEASED, _focus_or_backtrack, _start
from unhorse.invert.run import SilentProgress, invert_arms
from unhorse.invert.search import Books
from unhorse.testing import check_method, planted_problem


def test_contract():
    check_method("dbs", epochs=80)


def state(config, loss, shape=(2, 5), **changes):
    problem = planted_problem()
    made = _start(0, problem, config, Books())
    made.w.data = torch.zeros(shape)
    made.losses.append(loss)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def test_paper_constants():
    assert (PAPER.cool, PAPER.warm, PAPER.temperature_max) == (2, 5, 2)
    assert PAPER.noise_scale**2 == pytest.approx(10)
    assert (PAPER.trigger_length, PAPER.epochs, PAPER.learning_rate) == (10, 200, 0.5)
    assert not PAPER.bound_follows_best and PAPER.rollback_before_success


def test_released_differs_where_the_released_code_does():
    assert RELEASED.warm == 2 and RELEASED.noise == "transient-uniform"
    assert RELEASED.noise_scale == 10 and RELEASED.bound_follows_best
    assert not RELEASED.rollback_before_success


def test_temperature_falls_while_the_loss_is_under_the_bound():
    made = state(PAPER, loss=0.05)
    _focus_or_backtrack(made, PAPER)
    assert made.temperature == 1.0 and not made.w.any()


def test_temperature_rises_with_persistent_noise_otherwise():
    made = state(PAPER, loss=0.5, shape=(10, 5000), temperature=0.125)
    _focus_or_backtrack(made, PAPER)
    assert made.temperature == 0.625
    assert made.w.std().item() == pytest.approx(math.sqrt(10), rel=0.02)
    _focus_or_backtrack(made, PAPER)
    assert made.temperature == 2.0, "never above u"


def test_released_noise_lasts_one_epoch_and_leaves_w_alone():
    made = state(RELEASED, loss=0.5, was_under_bound=True, temperature=0.5)
    _focus_or_backtrack(made, RELEASED)
    assert made.temperature == 1.0 and made.noise_now and not made.w.any()


def test_released_waits_for_the_first_success():
    made = state(RELEASED, loss=0.5)
    _focus_or_backtrack(made, RELEASED)
    assert made.rollbacks == 0 and not made.noise_now


def test_released_bound_doubles_after_five_failures_but_stays_under_the_best():
    made = state(RELEASED, loss=9.0, was_under_bound=True, rollbacks=5, bound=0.01, best_loss=0.5)
    _focus_or_backtrack(made, RELEASED)
    assert made.bound == 0.02
    made = state(RELEASED, loss=9.0, was_under_bound=True, rollbacks=5, bound=0.4, best_loss=0.5)
    _focus_or_backtrack(made, RELEASED)
    assert made.bound == pytest.approx(0.499)


@pytest.mark.parametrize("switch", ["scale_temperature", "backtrack"])
def test_ablation_switches(switch):
    config = PAPER.model_copy(update={switch: False, "epochs": 40, "trigger_length": 3})
    everything = POLICIES.get("all")
    made = invert_arms(planted_problem(), "dbs", config, everything, SilentProgress())
    temperatures = made.found[0].curve.temperature
    if switch == "scale_temperature":
        assert set(temperatures) == {2.0}
        native = made.found[0].native
        assert (native.measure, native.value) == ("soft loss", made.found[0].curve.loss[-1])
    else:
        assert all(b <= a for a, b in itertools.pairwise(temperatures))


def test_an_interrupted_run_keeps_its_best():
    class Impatient:
        def epoch(self, done, loss, temperature):
            if done == 2 * 60:
                raise KeyboardInterrupt

    config = PAPER.model_copy(update={"trigger_length": 3})
    made = invert_arms(planted_problem(), "dbs", config, POLICIES.get("all"), Impatient())
    assert made.interrupted and not made.dropped
    assert all(not inversion.completed and inversion.epochs == 60 for inversion in made.found)
    assert all(17 in inversion.token_ids for inversion in made.found)
