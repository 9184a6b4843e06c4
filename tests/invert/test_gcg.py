"""GCG: the public contract, one-token swaps and the buffer."""

import itertools

import torch

from unhorse.invert.methods.gcg import GCG, GCGConfig
from unhorse.invert.tokens import first_order
from unhorse.testing import check_method, planted_problem

SMALL = GCGConfig(trigger_length=3, epochs=12, width=16, subset=2, rescored=4)


def test_contract():
    check_method("gcg", epochs=12, width=16, subset=2, rescored=4)


def test_units_at_the_usual_twenty_samples():
    assert GCG().units(GCGConfig()) == 2 + 64 * 6 / 20 + 8


def test_a_swap_changes_one_slot_to_a_promising_token():
    problem = planted_problem(barred_in=[0])
    search = GCG().begin(problem, SMALL.model_copy(update={"width": 200, "top_k": 5}))
    current = torch.tensor([[4, 9, 20]])
    _, scores = first_order(problem, [0], current)
    swaps = search.swaps(0, current[0], scores[0])
    assert ((swaps != current).sum(-1) == 1).all()
    promising = scores[0].topk(6, largest=False).indices
    for swap in swaps:
        slot = int((swap != current[0]).nonzero())
        assert swap[slot] in promising[slot]
    assert problem.allowed.tolist().index(17) not in swaps


def test_it_never_gets_worse():
    problem = planted_problem(arms=1, barred_in=[0])
    search = GCG().begin(problem, SMALL)
    bests, buffers = [], []
    for _ in range(SMALL.epochs):
        search.advance([0])
        bests.append(search.best[0].loss)
        buffers.append([loss for loss, _ in search.buffers[0]])
    assert all(b <= a for a, b in itertools.pairwise(bests)) and bests[-1] < bests[0]
    for before, after in itertools.pairwise(buffers):
        assert after == sorted(after) and len(after) == SMALL.buffer
        assert all(b <= a for a, b in zip(before, after, strict=True))
    assert search.books[0].losses == bests


def test_each_step_goes_one_swap_away_from_a_kept_trigger():
    problem = planted_problem(arms=1)
    search = GCG().begin(problem, SMALL.model_copy(update={"buffer": 1}))
    before = None
    for _ in range(6):
        search.advance([0])
        after = search.best[0].taken()
        assert before is None or int((after != before).sum()) <= 1
        before = after


def test_after_a_step_without_success_the_next_of_the_buffer_has_its_turn():
    problem = planted_problem(arms=1)
    search = GCG().begin(problem, SMALL)
    search.buffers[0] = [(0.1, (1, 1, 1)), (0.2, (2, 2, 2))]
    assert search._current(0) == (1, 1, 1)
    search.turn[0] = 1
    assert search._current(0) == (2, 2, 2)
    search.turn[0] = 2
    assert search._current(0) == (1, 1, 1)


def test_the_buffer_keeps_the_best_and_nothing_twice():
    search = GCG().begin(planted_problem(arms=1), SMALL.model_copy(update={"buffer": 2}))
    search._keep(0, torch.tensor([[3, 3, 3], [1, 1, 1], [1, 1, 1]]), torch.tensor([3.0, 1.0, 1.0]))
    assert search.buffers[0] == [(1.0, (1, 1, 1)), (3.0, (3, 3, 3))]
    search._keep(0, torch.tensor([[2, 2, 2]]), torch.tensor([2.0]))
    assert search.buffers[0] == [(1.0, (1, 1, 1)), (2.0, (2, 2, 2))]
