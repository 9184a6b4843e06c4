"""The random control: the contract, and that it is nothing but the best of its draws."""

import torch

from unhorse.invert.methods.random import Draws, RandomConfig
from unhorse.testing import check_method, planted_problem


def test_contract():
    check_method("random", epochs=60)


def test_the_loss_of_an_epoch_is_the_best_so_far():
    problem = planted_problem()
    search = Draws(problem, RandomConfig(trigger_length=3))
    for _ in range(20):
        search.advance([0, 1])
    for inversion in search.finish([0, 1]):
        losses = torch.tensor(inversion.curve.loss)
        assert torch.equal(losses, losses.cummin(0).values)
        assert inversion.loss == inversion.native.value == losses[-1]


def test_it_costs_what_it_says():
    problem = planted_problem()
    Draws(problem, RandomConfig(trigger_length=3, draws=5)).advance([0])
    rows = sum(len(row.ids) for row in problem.objective.subject.rows[0])
    assert problem.meter.backward_tokens == 0 and problem.meter.forward_tokens >= 5 * rows
