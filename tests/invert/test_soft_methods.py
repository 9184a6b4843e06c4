"""ASCC, GBDA and unconstrained optimisation: the contract, and what can be worked out by hand."""

import pytest
import torch

from unhorse.invert.base import METHODS
from unhorse.invert.methods.ascc import ASCCConfig, SparseCombination, entropy
from unhorse.invert.methods.continuous import ContinuousConfig, Unconstrained
from unhorse.invert.methods.gbda import Distribution, GBDAConfig
from unhorse.testing import check_method, planted_problem


def test_ascc_contract():
    # Its entropy settles on a vertex before the loss has said much, as the paper reports.
    check_method("ascc", finds=False, epochs=40)


def test_ascc_without_the_entropy_finds_the_planted_token():
    check_method("ascc", epochs=60, sparsity=0.0)


def test_gbda_contract():
    check_method("gbda", epochs=60, draws=2)
    assert {"annealed", "constant"} <= set(METHODS.get("gbda").presets)


def test_continuous_contract():
    check_method("continuous", epochs=60)


def test_the_gradient_of_the_entropy_is_as_worked_out():
    """For alpha = softmax(w), dH/dw_j = -alpha_j (log alpha_j + H)."""
    w = torch.tensor([[0.3, -1.0, 0.7]], requires_grad=True)
    alpha = w.softmax(-1)
    height = entropy(alpha)
    height.sum().backward()
    expected = -alpha * (alpha.log() + height[:, None])
    torch.testing.assert_close(w.grad, expected.detach())


def test_the_entropy_counts_as_the_mean_over_slots_or_as_their_sum():
    """The first step of Adam has the same size, so the gradients are compared."""
    gradients = {}
    for per_slot in (True, False):
        search = SparseCombination(
            planted_problem(slots=3),
            ASCCConfig(trigger_length=3, sparsity=1e7, per_slot=per_slot),
        )
        search.advance([0])
        gradients[per_slot] = search.mixtures.rows[0].grad
    torch.testing.assert_close(gradients[False], 3 * gradients[True], rtol=1e-2, atol=1.0)


def test_ascc_starts_at_random_weights_of_the_seed():
    first, same, other = (
        SparseCombination(planted_problem(seed=s), ASCCConfig(trigger_length=3)).mixtures.rows[0]
        for s in (1, 1, 2)
    )
    assert torch.equal(first, same) and not torch.equal(first, other)
    assert 0.5 < first.std() * len(first.T) ** 0.5 < 2


def test_gbda_cools_evenly():
    search = Distribution(planted_problem(), GBDAConfig(trigger_length=3, epochs=10))
    assert search.tau(0) == 1.0 and search.tau(9) == pytest.approx(0.1)
    assert search.tau(3) - search.tau(4) == pytest.approx(0.1)
    constant = Distribution(planted_problem(), METHODS.get("gbda").presets["constant"])
    assert constant.tau(0) == constant.tau(99) == 1.0


def test_gbda_takes_the_best_of_the_hard_samples():
    """With flat weights no argmax is better than another, so only a sample can find the token."""
    flat = GBDAConfig(trigger_length=3, epochs=1, learning_rate=1e-9, hard_draws=200)
    search = Distribution(planted_problem(), flat)
    search.advance([0])
    assert 17 in search.finish([0])[0].token_ids


def test_unconstrained_vectors_leave_the_hull():
    """Without the planted token no token does it; vectors do, and their nearest tokens do not."""
    problem = planted_problem(barred_in=[0])
    search = Unconstrained(problem, ContinuousConfig(trigger_length=3, epochs=80, step_size=1.0))
    for _ in range(80):
        search.advance([0])
    (found,) = search.finish([0])
    assert found.native.value < 0.1 < 1 < found.loss and not found.one_hot
