"""Focus: the contract, what is listed, how triggers grow, and when an arm is done."""

from unhorse.invert.methods.focus import Focus, FocusConfig
from unhorse.testing import check_method, planted_problem

SMALL = FocusConfig(trigger_length=3, epochs=4, listed=30, pool=6, beam=3, enough=-1.0)


def search_on(**changes):
    return Focus().begin(planted_problem(arms=1, **changes), SMALL)


def index_of(search, token):
    return search.problem.allowed.tolist().index(token)


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


def test_references_are_asked_about_the_most_moving_triggers_alone():
    search = search_on()
    search.advance([0])
    search.config = SMALL.model_copy(update={"compared": 3})
    triggers = search.longer(0)
    kept = search._most_moving(0, search._growth_carriers(0), triggers)
    assert len(kept) == 3 and set(kept) <= set(triggers)


def test_another_restart_reads_other_pieces():
    search = search_on()
    task, (victim, *_) = search._task, search.problem.victims[0]
    pieces = {task.cut(victim, 2, seed).text for seed in range(8)}
    assert len(pieces) > 1 and all(piece in victim.text for piece in pieces)
