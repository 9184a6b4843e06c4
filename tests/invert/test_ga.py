"""GA: the public contract, elitism, selection, crossover and mutation."""

import itertools
import math

import pytest
import torch

from unhorse.invert.budget import BudgetSpent
from unhorse.invert.methods.ga import GA, PAPER, GAConfig, parenthood
from unhorse.testing import check_method, planted_problem

SMALL = GAConfig(trigger_length=3, epochs=6, population=30)


def begun(problem=None, **changes):
    return GA().begin(problem or planted_problem(arms=1), SMALL.model_copy(update=changes))


def test_contract():
    check_method("ga", epochs=6, population=60)


def test_paper_constants():
    assert (PAPER.population, PAPER.mutation, PAPER.epochs) == (300, 0.5, 10)
    assert PAPER.tau == 0.3 and PAPER.warm_up == 1
    assert GA().units(PAPER) * PAPER.epochs == 3000


def test_the_best_never_gets_worse():
    search = begun(planted_problem(arms=1, barred_in=[0]))
    least = []
    for _ in range(SMALL.epochs):
        search.advance([0])
        least.append(search.totals[0].min().item())
    assert all(b <= a + 1e-7 for a, b in itertools.pairwise(least)) and least[-1] < least[0]
    assert least[-1] == pytest.approx(search.best[0].loss)


def test_the_elite_is_the_first_of_the_next_generation():
    search = begun()
    search.advance([0])
    best = search.population[0][search.totals[0].argmin()]
    assert torch.equal(search._born(0)[0], best)


def test_one_individual_without_mutation_stays_as_it_is():
    search = begun(population=1, mutation=0.0)
    search.advance([0])
    first = search.population[0].clone()
    for _ in range(3):
        search.advance([0])
    assert torch.equal(search.population[0], first)
    assert len(set(search.books[0].losses)) == 1


def test_children_have_only_the_genes_of_the_population_without_mutation():
    search = begun(mutation=0.0)
    search.advance([0])
    old = search.population[0].clone()
    children = search._children(0, 200)
    for slot in range(3):
        assert set(children[:, slot].tolist()) <= set(old[:, slot].tolist())


@pytest.mark.parametrize("per_slot", [False, True])
def test_rate_of_mutation(per_slot):
    search = begun(mutation=0.5, mutation_per_slot=per_slot)
    mutates = search._mutates(torch.zeros(20_000, 3), search.generators[0])
    assert mutates.float().sum(-1).mean().item() == pytest.approx(0.5, abs=0.02)
    assert (mutates.sum(-1).max() == 1) != per_slot


def test_parents_are_drawn_by_their_loss_or_by_the_probability_of_the_target():
    losses = torch.tensor([0.0, math.log(2)])
    better, worse = parenthood(losses, 0.3, "loss").tolist()
    assert better / worse == pytest.approx(2 ** (1 / 0.3))
    # Probabilities 1 and 1/2: exp(1 / 0.3) to exp(0.5 / 0.3).
    better, worse = parenthood(losses, 0.3, "probability").tolist()
    assert better / worse == pytest.approx(math.exp(0.5 / 0.3))


def test_a_budget_that_ends_in_the_first_generation_leaves_arms_equally_far():
    problem = planted_problem(arms=3)
    search = begun(problem, population=300)
    once = sum(bucket.tokens for bucket in problem.objective.subject.buckets())
    problem.meter.allow(40 * once)
    with pytest.raises(BudgetSpent):
        search.advance([0, 1, 2])
    problem.meter.lift()
    assert [state.epochs for state in search.states()] == [1, 1, 1]
    found = search.finish([0, 1, 2])
    assert all(not each.completed and each.epochs == 1 for each in found)
    assert all(each.loss == pytest.approx(search.best[i].loss) for i, each in enumerate(found))
