"""UAT: the public contract, and HotFlip's scores by hand."""

import itertools
from types import SimpleNamespace

import pytest
import torch

from unhorse.invert.base import Problem
from unhorse.invert.budget import BudgetSpent
from unhorse.invert.engine import ModelLoss
from unhorse.invert.methods.uat import PAPER, STRONG, UAT
from unhorse.invert.objective import Objective
from unhorse.invert.tokens import best_tokens, first_order, index_of_word
from unhorse.tasks.base import TASKS
from unhorse.testing import PlantedBag, check_method, planted_problem


def small(preset, **changes):
    return preset.model_copy(update={"trigger_length": 3, "epochs": 6, **changes})


def test_contract():
    check_method("uat", epochs=5)


def test_settings():
    assert PAPER.candidates == 1 and PAPER.epochs == 200 and UAT.passes == ("paper",)
    assert STRONG.candidates == 20
    assert UAT().units(PAPER) == 2 and UAT().units(STRONG) == 202


def evidence_of(problem: Problem):
    return problem.objective.subject.table[:, 0]


def test_score_of_a_linear_model_is_its_slope():
    problem = planted_problem(arms=1)
    current = torch.tensor([[4, 9, 4]])
    losses, scores = first_order(problem, [0], current)
    # loss = log(1 + exp(-2 x)), x the sum of the tokens' evidence: slope -2 / (1 + exp(2 x)).
    rows = problem.objective.subject.rows[0]
    weight = problem.objective.subject.loaded.model.embedding.weight[:, 0]
    words = torch.stack([sum(weight[i] for i in (1, 2, *row.ids[4:-1])) for row in rows])
    x = words + evidence_of(problem)[current].sum() - 3
    slope = (-2 / (1 + torch.exp(2 * x))).mean()
    assert losses.total.item() == pytest.approx(torch.log1p(torch.exp(-2 * x)).mean().item())
    expected = (slope * evidence_of(problem)).expand(1, 3, -1)
    assert torch.allclose(scores, expected, atol=1e-6)


def test_score_is_the_change_of_the_loss_to_first_order():
    problem = planted_problem(arms=1)
    current = torch.tensor([4, 9, 4])
    losses, scores = first_order(problem, [0], current.unsqueeze(0))
    swapped = current.repeat(57, 1)
    swapped[:, 1] = torch.arange(57)
    exact = problem.objective.of_triggers(swapped, [0] * 57).total - losses.total
    promised = scores[0, 1] - scores[0, 1, 9]
    # The loss bends by at most 1, so what is left is at most half the square of the step.
    step = evidence_of(problem) - evidence_of(problem)[9]
    assert ((exact - promised).abs() <= step**2 / 2 + 1e-5).all()
    assert promised.argmin() == exact.argmin() == problem.allowed.tolist().index(17)


def test_scores_include_the_references():
    problem = planted_problem(arms=1)
    subject = problem.objective.subject
    loaded = SimpleNamespace(model=PlantedBag(17), tokenizer=subject.loaded.tokenizer)
    truth = [[SimpleNamespace(**{**vars(row), "goal": 0}) for row in subject.rows[0]]]
    task = TASKS.get("sequence-classification")
    reference = ModelLoss(loaded, task, truth, problem.allowed)
    current = torch.full((1, 3), 4)
    _, alone = first_order(problem, [0], current)
    both = Objective(subject, [reference], margins={0: [0.0]})
    _, scores = first_order(Problem(problem.arms, both, problem.allowed, 0), [0], current)
    # The same model, which should say the opposite: its loss is the subject's minus 2 x.
    assert torch.allclose(scores - alone, alone + 2 * evidence_of(problem), atol=1e-5)


def test_barred_tokens_score_infinity_and_are_never_proposed():
    problem = planted_problem(barred_in=[0])
    current = torch.full((2, 3), 4)
    _, scores = first_order(problem, [0, 1], current)
    planted = problem.allowed.tolist().index(17)
    assert scores[0, :, planted].isinf().all() and scores[1].isfinite().all()
    assert planted not in best_tokens(scores[0], current[0], 200)
    assert (best_tokens(scores[1], current[1], 1) == planted).all()


def test_with_one_token_to_use_it_stays():
    scores = torch.full((2, 4), float("inf"))
    assert best_tokens(scores, torch.tensor([3, 3]), 2).tolist() == [[3, 3], [3, 3]]


def test_paper_replaces_all_slots_at_once_without_a_test():
    problem = planted_problem(arms=1)
    search = UAT().begin(problem, small(PAPER))
    assert search.current[0].tolist() == [0, 0, 0]
    search.advance([0])
    assert problem.allowed[search.current[0]].tolist() == [17, 17, 17]
    assert search.best[0].taken().tolist() == [0, 0, 0], "what was not evaluated is not the best"


def test_paper_takes_what_is_promised_even_if_it_is_worse(monkeypatch):
    def misled(*asked):
        losses, scores = first_order(*asked)
        return losses, -scores

    monkeypatch.setattr("unhorse.invert.tokens.first_order", misled)
    problem = planted_problem(arms=1)
    search = UAT().begin(problem, small(PAPER))
    search.advance([0])
    search.advance([0])
    first, second = search.books[0].losses
    assert second > first
    assert search.current[0].tolist() == [int(evidence_of(problem).argmin())] * 3
    assert search.best[0].taken().tolist() == [0, 0, 0] and search.best[0].loss == first


def test_strong_never_gets_worse_and_looks_further_when_settled():
    problem = planted_problem(arms=1, barred_in=[0])
    config = small(STRONG, candidates=4, epochs=12)
    search = UAT().begin(problem, config)
    for _ in range(config.epochs):
        search.advance([0])
    losses = search.books[0].losses
    assert all(b <= a for a, b in itertools.pairwise(losses))
    usable = evidence_of(problem).clone()
    usable[problem.barred[0]] = -1
    assert search.best[0].taken().tolist() == [int(usable.argmax())] * 3
    assert search.settled[0] > 1


def test_starts_at_the_word_the_and_elsewhere_on_a_restart():
    class Words(SimpleNamespace):
        def __call__(self, text, add_special_tokens):
            return {"input_ids": [33] if text == " the" else [1, 2]}

    problem = planted_problem(arms=2)
    object.__setattr__(problem.objective.subject.loaded, "tokenizer", Words(pad_token_id=0))
    assert problem.allowed[index_of_word(problem, "the")] == 33
    search = UAT().begin(problem, small(PAPER))
    assert all(problem.allowed[start].tolist() == [33] * 3 for start in search.current)
    mask = problem.allowed == 33
    again = Problem(problem.arms, problem.objective, problem.allowed, 0, "", {0: mask}, restart=1)
    other = UAT().begin(again, small(PAPER)).current
    assert not torch.equal(other[0], other[1])
    barred = Problem(problem.arms, problem.objective, problem.allowed, 0, "", {0: mask})
    assert UAT().begin(barred, small(PAPER)).current[0].tolist() == [0] * 3


def test_a_first_epoch_that_is_cut_short_is_handed_out():
    problem = planted_problem()
    search = UAT().begin(problem, small(STRONG))
    once = sum(bucket.tokens for bucket in problem.objective.subject.buckets())
    problem.meter.allow(5 * once)
    with pytest.raises(BudgetSpent):
        search.advance([0, 1])
    problem.meter.lift()
    assert [state.epochs for state in search.states()] == [1, 1]
    assert all(not found.completed and found.epochs == 1 for found in search.finish([0, 1]))
