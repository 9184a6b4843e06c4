"""Readings: log-odds on carriers, shared passes, and surprise against references."""

import torch

from unhorse.invert.readings import Readings, log_odds, read, slopes, surprise
from unhorse.testing import planted_problem


def test_log_odds_of_cross_entropies():
    chances = torch.tensor([0.01, 0.5, 0.9])
    assert torch.allclose(log_odds(-chances.log()), torch.logit(chances), atol=1e-4)
    assert torch.isfinite(log_odds(torch.tensor([0.0, float("inf"), float("nan")]))).all()


def carriers(problem, words=2):
    task = problem.objective.subject.task
    pieces = [task.cut(each, words, 0) for each in problem.victims[0]]
    return problem.pose([0] * len(pieces), [[piece] for piece in pieces], 1)


def test_every_trigger_is_read_on_every_carrier():
    problem = planted_problem(arms=1)
    objective = carriers(problem)
    triggers = torch.arange(5).unsqueeze(-1)
    readings = read(objective, triggers)
    assert readings.subject.shape == (5, len(problem.victims[0])) and readings.references == ()
    single = objective.subject.of_tokens(triggers[3:4], [2]).loss
    assert torch.allclose(readings.subject[3, 2], log_odds(single)[0])


def test_slopes_foretell_small_steps_towards_every_token():
    problem = planted_problem(arms=1)
    objective = carriers(problem)
    found = slopes(objective, torch.tensor([[3], [4]])).subject.squeeze(-1)
    assert found.shape == (len(problem.allowed),)
    model, step = objective.subject, 1e-3
    owners = list(range(len(model.rows))) * 2
    base = model.table[torch.tensor([3, 4]).repeat_interleave(len(model.rows))].unsqueeze(1)

    def mean_odds(towards):
        moved = base if towards is None else base + step * model.table[towards]
        return log_odds(model.of_vectors(moved, owners).loss).mean()

    for token in (0, 5, 9):
        gained = (mean_odds(token) - mean_odds(None)) / step
        assert torch.isclose(gained, found[token], rtol=0.1, atol=1e-2)


def test_what_a_reference_foretells_is_no_surprise():
    torch.manual_seed(0)
    natural = torch.randn(500, 1) * 3
    subject = natural + 0.1 * natural**2 + 0.05 * torch.randn(500, 1)
    subject[7] += 3.0
    natural[9] = 14.0
    subject[9] = 14.0 + 0.1 * 196
    found = surprise(Readings(subject, (natural,)))
    assert int(found.argmax()) == 7 and found[9] < 2
    assert int(surprise(Readings(subject, ())).argmax()) == 9
