"""Policies, played with losses that are written down; and a method under a policy."""

from dataclasses import replace

import pytest

from unhorse.arms.schedule import (
    POLICIES,
    Standing,
    arm_epochs,
    choose_policy,
    mirrors,
    ranked,
)
from unhorse.errors import UsageError
from unhorse.invert.methods.dbs import PAPER
from unhorse.invert.run import SilentProgress, compared_with_mirror, invert_arms
from unhorse.testing import planted_problem
from unhorse.types import Arm


def arms_of(count, places=("start",)):
    return [Arm((i, i), i, places[i % len(places)], f"v{i}", f"t{i}") for i in range(count)]


def play(policy, finals, epochs=200, opposite=None, places=None):
    """Plays a policy on arms whose loss is known from the first epoch on."""
    done = [0] * len(finals)
    places = places or ("start",) * len(finals)
    rounds = []
    while True:
        losses = tuple(f if d else float("inf") for f, d in zip(finals, done, strict=True))
        standing = Standing(tuple(done), losses, opposite or (None,) * len(finals), places, seed=3)
        now = POLICIES.get(policy).next(standing, epochs)
        if now is None:
            return done, rounds
        assert now.epochs > 0 and now.arms
        rounds.append(now)
        for arm in now.arms:
            done[arm] += now.epochs
            assert done[arm] <= epochs


@pytest.mark.parametrize("policy", ["all", "top2", "halving", "bandit"])
@pytest.mark.parametrize("arms", [1, 2, 3, 12, 40])
@pytest.mark.parametrize("epochs", [1, 20, 50, 200])
def test_every_policy_warms_up_every_arm_and_takes_the_best_to_the_end(policy, arms, epochs):
    finals = [1.0 + i for i in range(arms)]
    best = arms // 2
    finals[best] = 0.01
    done, _ = play(policy, finals, epochs)
    assert min(done) >= min(20, epochs)
    assert done[best] == epochs
    assert sum(d == epochs for d in done) >= min(2, arms)


def test_the_papers_rule():
    done, rounds = play("top2", [3.0, 0.2, 2.0, 0.1, 5.0])
    assert done == [20, 200, 20, 200, 20]
    assert [(r.arms, r.epochs) for r in rounds] == [((0, 1, 2, 3, 4), 20), ((1, 3), 180)]


def test_halving_has_a_rung_between():
    done, _ = play("halving", [float(i + 1) for i in range(12)])
    assert done == [200, 200, 60, 60] + [20] * 8


def test_halving_prefers_the_direction_that_is_easier_than_its_mirror():
    """Classes that are alike by nature (arms 0 and 1) do not take both places."""
    opposite = (1, 0, 3, 2, 5, 4)
    done, _ = play("halving", [0.10, 0.11, 0.12, 3.0, 2.5, 2.6], opposite=opposite)
    assert done[2] == 200 and done[0] + done[1] == 260
    plain, _ = play("top2", [0.10, 0.11, 0.12, 3.0, 2.5, 2.6], opposite=opposite)
    assert plain[0] == plain[1] == 200, "the paper's rule looks at the loss alone"


def test_halving_takes_arms_from_every_place():
    """Losses at one place (here that of the first four arms) may be lower by nature."""
    finals = [0.1, 0.11, 0.12, 0.13, 0.14, 0.9, 2.0, 2.0, 2.0, 2.0]
    places = ("glued",) * 5 + ("start",) * 5
    done, _ = play("halving", finals, places=places)
    assert done[0] == done[5] == 200 and sum(d == 200 for d in done) == 2


def test_a_bandit_spends_more_on_promising_arms_and_stays_within_its_means():
    done, rounds = play("bandit", [0.05, 4.0, 4.0, 0.1, 4.0, 4.0, 4.0, 4.0])
    assert done[0] == done[3] == 200
    assert sum(done) <= 8 * 20 + 2 * 2 * 180 + 2 * 180
    assert all(r.epochs <= 5 for r in rounds[1:])


def test_cost_is_foretold():
    assert arm_epochs(POLICIES.get("all"), arms_of(7), 50) == 350
    assert arm_epochs(POLICIES.get("top2"), arms_of(12), 200) == 12 * 20 + 2 * 180
    halving = POLICIES.get("halving")
    assert arm_epochs(halving, arms_of(12), 200) == 12 * 20 + 4 * 40 + 2 * 140
    three = arms_of(12, ("start", "before", "glued"))
    assert arm_epochs(halving, three, 200) == 12 * 20 + 4 * 40 + 3 * 140


def test_few_arms_are_all_run_unless_a_policy_is_asked_for():
    assert choose_policy("auto", 4).name == "all" and choose_policy("auto", 5).name == "halving"
    assert choose_policy("top2", 2).name == "top2"
    with pytest.raises(UsageError, match="no schedule called 'best'"):
        choose_policy("best", 3)


def test_mirrors_are_the_same_place_and_the_opposite_way():
    arms = [
        Arm((0,), 1, "start", "a", "b"), Arm((1,), 0, "end", "b", "a"),
        Arm((1,), 0, "start", "b", "a"), Arm((1, 2), 0, "start", "*", "a"),
    ]  # fmt: skip
    assert mirrors(arms) == (2, None, 0, None)
    assert arms[0].mirrors(arms[2]) and not arms[0].mirrors(arms[1])


def test_an_arm_that_has_not_begun_says_nothing_about_its_mirror():
    standing = Standing((20, 0, 20), (0.5, float("inf"), 0.4), (1, 0, None), ("start",) * 3)
    assert ranked(standing, [0, 2], against_mirror=True) == [2, 0]


def test_a_loss_that_is_no_number_comes_last_and_lends_its_mirror_nothing():
    inf = float("inf")
    standing = Standing((20,) * 6, (2.0, inf, 0.3, inf, 0.1, 1.0), (1, 0, 3, 2, 5, 4), ("a",) * 6)
    assert ranked(standing, range(6), against_mirror=True)[:3] == [4, 2, 0]
    assert set(ranked(standing, range(6), against_mirror=True)[-2:]) == {1, 3}


def test_a_method_is_scheduled_and_reports_who_was_dropped():
    config = PAPER.model_copy(update={"epochs": 70, "trigger_length": 3})
    told = []

    class Told(SilentProgress):
        def epoch(self, done, loss, temperature):
            told.append(done)

    made = invert_arms(planted_problem(arms=8), "dbs", config, POLICIES.get("halving"), Told())
    # The problem's arms stand at four places, so four go to the end.
    assert [i.epochs for i in made.found] == [70] * 4 and not made.interrupted
    assert [i.epochs for i in made.dropped] == [20] * 4
    assert told[-1] == arm_epochs(POLICIES.get("halving"), planted_problem(arms=8).arms, 70)
    assert all(i.completed for i in made.found) and not any(i.completed for i in made.dropped)


def test_a_scheduled_arm_finds_what_it_finds_alone():
    config = PAPER.model_copy(update={"epochs": 70, "trigger_length": 3})
    every = invert_arms(
        planted_problem(arms=6), "dbs", config, POLICIES.get("all"), SilentProgress()
    )
    alone = {i.arm.key: i for i in every.found}
    made = invert_arms(
        planted_problem(arms=6), "dbs", config, POLICIES.get("top2"), SilentProgress()
    )
    for inversion in made.found:
        assert inversion.token_ids == alone[inversion.arm.key].token_ids
        assert inversion.curve.loss == pytest.approx(alone[inversion.arm.key].curve.loss, abs=1e-5)


def test_a_finding_is_compared_with_its_mirror_at_equal_epochs():
    from dataclasses import replace

    config = PAPER.model_copy(update={"epochs": 30, "trigger_length": 3})
    made = invert_arms(planted_problem(), "dbs", config, POLICIES.get("all"), SilentProgress())
    one, two = made.found
    there = replace(one, arm=Arm((0,), 1, "start", "a", "b"))
    back = replace(two, arm=Arm((1,), 0, "start", "b", "a"), epochs=10)
    mirror = compared_with_mirror(there, [there, back])
    assert mirror.epochs == 10 and mirror.own_loss == min(there.curve.loss[:10])
    assert mirror.ratio == pytest.approx(mirror.loss / mirror.own_loss)
    assert compared_with_mirror(there, [there]) is None


def test_ways_takes_no_two_finalists_of_one_way():
    losses = (0.1, 0.2, 0.4, 0.3, 0.5, 0.6)
    ways = ("0->1", "0->1", "1->0", "1->0", "0->1", "1->0")
    standing = Standing((20,) * 6, losses, (2, 3, 0, 1, 5, 4), ("a", "b") * 3, ways=ways)
    policy = POLICIES.get("ways")
    assert policy.next(standing, 50).arms == (0, 3)
    assert POLICIES.get("top2").next(standing, 50).arms == (0, 1)
    regions = ("text", "before", "text", "before", "text", "text")
    # Both ways of the text, and the best before an entity.
    assert policy.next(replace(standing, regions=regions), 50).arms == (0, 1, 2)
    apart = replace(standing, regions=("text", "text", "text", "before", "before", "before"))
    assert policy.next(apart, 50).arms == (0, 2, 3)


def test_ways_lets_few_arms_all_go_on():
    policy, ways = POLICIES.get("ways"), ("0->1", "0->1", "1->0", "1->0")
    standing = Standing((20,) * 4, (0.1, 0.2, 0.4, 0.3), (2, 3, 0, 1), ("a", "b") * 2, ways=ways)
    assert policy.next(standing, 50).arms == (0, 1, 2, 3)
    one_way = Standing((20,) * 2, (0.3, 0.1), (None, None), ("a", "b"), ways=("0->1",) * 2)
    assert policy.next(one_way, 50).arms == (0, 1)
