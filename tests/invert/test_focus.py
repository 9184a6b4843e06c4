"""Focus: the contract, what is listed, how triggers grow, and when an arm is done."""

from dataclasses import replace

import torch

from unhorse.invert.methods.focus import Focus, FocusConfig
from unhorse.invert.objective import Objective
from unhorse.invert.telling import telling_tokens
from unhorse.testing import check_method, planted_problem

SMALL = FocusConfig(trigger_length=3, epochs=4, listed=30, pool=6, beam=3, enough=-1.0)


def search_on(**changes):
    return Focus().begin(planted_problem(arms=1, **changes), SMALL)


def index_of(search, token):
    return search.problem.allowed.tolist().index(token)


def beside(problem, other):
    """The problem with another one's subject as its clean model."""
    rows = problem.objective.subject.rows

    def pose(arms, samples, slots):
        return Objective(
            problem.pose(arms, samples, slots).subject,
            [away(other.pose(arms, samples, slots).subject)],
        )

    def away(model):
        # A reference is pulled towards the truth.
        model.rows = [[replace(row, goal=0) for row in own] for own in model.rows]
        return model

    objective = Objective(problem.objective.subject, [away(other.objective.subject)])
    assert len(objective.references[0].rows) == len(rows)
    return replace(problem, objective=objective, pose=pose)


def beside_itself(problem):
    return beside(problem, planted_problem(arms=1))


def beside_another(problem):
    return beside(problem, planted_problem(planted=23, arms=1))


def test_what_moves_a_clean_model_is_told_by_it_alone(monkeypatch):
    problem = beside_another(planted_problem(arms=1))
    assert len(telling_tokens(problem)) <= len(problem.allowed) // 50
    monkeypatch.setattr("unhorse.invert.telling.ONE_IN", 1)
    assert 23 in telling_tokens(problem, each=3)
    assert 17 not in telling_tokens(problem, each=3)


def test_contract():
    check_method("focus", even=False, epochs=4, enough=-1.0)


def test_the_planted_token_is_the_most_surprising_one():
    search = search_on()
    search.advance([0])
    assert search.pools[0][0] == index_of(search, 17)
    assert search.finish([0])[0].token_ids == (17,)


def test_an_epoch_adds_one_token_and_the_beam_holds_different_triggers():
    search = search_on()
    for length in (1, 2, 3):
        search.advance([0])
        assert {len(trigger) for trigger in search.beams[0]} == {length}
        assert len(set(search.beams[0])) == len(search.beams[0]) <= SMALL.beam
        assert all(len(set(trigger)) == length for trigger in search.beams[0])
    best = len(search.best[0].taken())
    search.advance([0])
    assert {len(trigger) for trigger in search.beams[0]} == {best}


def test_what_was_tried_beside_the_trigger_is_told_once():
    search = search_on()
    for _ in range(3):
        search.advance([0])
    (found,) = search.finish([0])
    assert 0 < len(found.related) <= SMALL.pool
    assert len(set(found.related)) == len(found.related)
    assert not set(found.related) & set(found.token_ids)
    assert set(found.related) <= set(search.problem.allowed.tolist())


def test_the_strongest_single_tokens_are_told_the_strongest_first():
    search = search_on()
    search.advance([0])
    (found,) = search.finish([0])
    assert found.strongest[0] == 17 and len(found.strongest) == SMALL.strongest
    assert len(set(found.strongest)) == len(found.strongest)
    none = Focus().begin(planted_problem(arms=1), SMALL.model_copy(update={"strongest": 0}))
    none.advance([0])
    assert none.finish([0])[0].strongest == ()


def test_a_swap_changes_one_token_of_the_best_trigger():
    search = search_on()
    for _ in range(3):
        search.advance([0])
    best = tuple(search.best[0].taken().tolist())
    for trigger in search.swapped(0, best):
        assert sum(a != b for a, b in zip(best, trigger, strict=True)) == 1


def test_swaps_that_brought_nothing_are_not_tried_again():
    search = search_on()
    for _ in range(4):
        search.advance([0])
    assert search.polished[0] == tuple(search.best[0].taken().tolist())
    done, beam = search.problem.meter.tokens, search.beams[0]
    search.advance([0])
    assert search.problem.meter.tokens == done
    assert search.beams[0] == beam


def test_an_arm_that_has_enough_does_no_more_work():
    problem = planted_problem(arms=1)
    search = Focus().begin(problem, SMALL.model_copy(update={"enough": 100.0}))
    search.advance([0])
    done = problem.meter.tokens
    for _ in range(3):
        search.advance([0])
    (found,) = search.finish([0])
    assert problem.meter.tokens == done
    assert found.completed and len(found.curve.loss) == 4


def test_an_arm_uses_its_own_tokens_alone():
    search = Focus().begin(planted_problem(arms=2, barred_in=[0]), SMALL)
    search.advance([0, 1])
    assert index_of(search, 17) not in search.pools[0]
    assert search.pools[1][0] == index_of(search, 17)


def test_the_best_triggers_come_first_and_no_more_of_them_than_asked_for():
    search = search_on()
    search.advance([0])
    triggers = [trigger for trigger in search.longer(0) if index_of(search, 17) not in trigger]
    planted = (index_of(search, 17), triggers[0][0])
    kept = search._best(0, [*triggers, planted], 3, 4)
    assert kept[0] == planted
    assert len(kept) == 4 and set(kept[1:]) <= set(triggers)
    assert search._best(0, [], 3, 4) == []


def test_what_moves_references_as_well_is_no_gain():
    search = Focus().begin(beside_itself(planted_problem(arms=1)), SMALL)
    carriers = search._growth_carriers(0)
    tokens = torch.tensor([[index_of(search, 17)], [index_of(search, 18)]])
    readings = search._read(0, carriers, tokens)
    moved = float(readings.subject[0].mean() - readings.subject[1].mean())
    gain = search._gain(0, carriers, readings)
    assert moved > 1 and abs(float(gain[0] - gain[1])) < 0.2 * moved


def test_a_planted_token_is_found_by_its_group():
    search = Focus().begin(beside_another(planted_problem(arms=1)), SMALL)
    search.config = SMALL.model_copy(update={"group": 4, "from_groups": 4, "groupings": 2})
    found = search.usable[0][search._in_company(0)].tolist()
    assert index_of(search, 17) in found and len(found) == 4


def test_without_references_or_groups_nothing_is_read_in_company():
    assert not len(search_on()._in_company(0))
    search = Focus().begin(beside_another(planted_problem(arms=1)), SMALL)
    search.config = SMALL.model_copy(update={"group": 0})
    assert not len(search._in_company(0))


def test_another_restart_reads_other_pieces():
    search = search_on()
    task, (victim, *_) = search._task, search.problem.victims[0]
    pieces = {task.cut(victim, 2, seed).text for seed in range(8)}
    assert len(pieces) > 1 and all(piece in victim.text for piece in pieces)


def test_references_are_asked_only_where_it_can_change_the_choice(monkeypatch):
    search = Focus().begin(beside_another(planted_problem(arms=1)), SMALL)
    search.advance([0])
    triggers = [(token,) for token in range(len(search.problem.allowed))]
    carriers = search._growth_carriers(0, 3)
    readings = search._read(0, carriers, torch.tensor(triggers))
    gain = search._gain(0, carriers, readings) - search._cost(0, triggers)
    best = gain.argsort(descending=True, stable=True)[:4].tolist()
    asked = []
    usual = type(search)._gain

    def counted(self, arm, carriers, readings):
        asked.append(len(readings.subject))
        return usual(self, arm, carriers, readings)

    monkeypatch.setattr(type(search), "_gain", counted)
    assert search._best(0, triggers, 3, 4) == [triggers[i] for i in best]
    assert sum(asked) < len(triggers)


def test_natural_tokens_pay_and_others_do_not():
    search = Focus().begin(beside_itself(planted_problem(arms=1)), SMALL)
    search.advance([0])
    costs = search._cost(0, [(token,) for token in range(len(search.problem.allowed))])
    assert (costs >= 0).all() and search.natures
    free = Focus().begin(
        beside_itself(planted_problem(arms=1)), SMALL.model_copy(update={"natural": 0.0})
    )
    free.advance([0])
    assert not free.natures and not free._cost(0, [(3,), (4,)]).any()


def test_an_arm_without_hope_is_not_grown_further():
    problem = planted_problem(arms=1)
    search = Focus().begin(problem, SMALL.model_copy(update={"hopeless": -1.0, "enough": -2.0}))
    for _ in range(3):
        search.advance([0])
    done = problem.meter.tokens
    search.advance([0])
    assert problem.meter.tokens == done
    assert len(search.finish([0])[0].token_ids) <= 3
