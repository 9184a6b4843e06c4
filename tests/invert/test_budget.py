"""Budgets: how they are written, what they buy, and that nothing is done beyond them."""

import pytest

import unhorse
from unhorse.arms.schedule import POLICIES
from unhorse.errors import UsageError
from unhorse.invert.afford import affordable_arms, affordable_epochs, tokens_per_pass
from unhorse.invert.base import METHODS
from unhorse.invert.budget import BudgetSpent, Meter, parse_budget
from unhorse.invert.methods.dbs import PAPER
from unhorse.invert.run import SilentProgress, invert_arms
from unhorse.testing import planted_problem

QUICK = {"options": {"epochs": 10, "trigger_length": 3}}


@pytest.mark.parametrize(
    "text", ["", "fast", "10", "-3s", "0tok", "3 s", "1e999s", "tok", "nantok"]
)
def test_what_is_no_budget_is_said_in_one_sentence(text):
    with pytest.raises(UsageError, match="quick, standard, thorough"):
        parse_budget(text)


def test_a_meter_counts_and_refuses():
    meter = Meter()
    meter.check()
    meter.allow(10)
    meter.forward_tokens, meter.backward_tokens = 6, 3
    meter.check()
    meter.backward_tokens = 4
    with pytest.raises(BudgetSpent):
        meter.check()
    meter.lift()
    meter.check()


def test_a_search_that_runs_out_keeps_what_it_found():
    problem = planted_problem()
    problem.meter.allow(20 * 2 * tokens_per_pass(problem) * len(problem.arms))
    config = PAPER.model_copy(update={"trigger_length": 3})
    made = invert_arms(problem, "dbs", config, POLICIES.get("all"), SilentProgress())
    assert made.spent and not made.interrupted and not made.unreached
    assert [i.completed for i in made.found] == [True, True]
    assert all(19 <= i.epochs <= 20 for i in made.found)


def test_a_budget_that_ends_at_once_reaches_no_arm():
    problem = planted_problem()
    problem.meter.allow(0)
    config = PAPER.model_copy(update={"trigger_length": 3})
    made = invert_arms(problem, "dbs", config, POLICIES.get("all"), SilentProgress())
    assert made.spent and made.found == [] and made.unreached == problem.arms


def test_a_small_budget_plans_fewer_places():
    problem = planted_problem(arms=4)
    places = [arm.position for arm in problem.arms]
    assert len(set(places)) == 4
    everything = POLICIES.get("all")

    def kept(tokens):
        return affordable_arms(problem.arms, tokens, 10.0, lambda count: everything)

    assert len(kept(1e9)) == 4
    assert len(kept(2 * 40 * 2 * 10.0)) == 2
    assert [arm.position for arm in kept(1)] == places[:1]


def test_epochs_fit_the_budget():
    problem = planted_problem()
    everything = POLICIES.get("all")
    each = 2 * tokens_per_pass(problem) * len(problem.arms)
    assert affordable_epochs(PAPER, 2.0, everything, problem, 50 * each).epochs == 50
    assert affordable_epochs(PAPER, 2.0, everything, problem, 1e12).epochs == 200
    assert affordable_epochs(PAPER, 2.0, everything, problem, 1).epochs == 1


def test_a_scan_within_a_budget_is_no_inconclusive_one(planted):
    whole = unhorse.scan(planted.folder, samples=str(planted.samples), **QUICK, preset="paper")
    spent = whole.cost.forward_tokens + whole.cost.backward_tokens
    tokens = spent // 3
    report = unhorse.scan(
        planted.folder,
        samples=str(planted.samples),
        **QUICK,
        preset="paper",
        budget=f"{tokens}tok",
    )
    used = report.cost.forward_tokens + report.cost.backward_tokens
    assert report.cost.budget == f"{tokens}tok" and used <= 1.2 * tokens
    assert report.verdict.state != "inconclusive"
    assert report.arms.planned <= whole.arms.planned


def test_a_large_budget_begins_again_with_other_seeds(planted):
    """Random triggers hardly ever convict, so passes go on until the budget is spent."""
    options = {"options": {"epochs": 5, "trigger_length": 1}}
    whole = unhorse.scan(planted.folder, samples=str(planted.samples), method="random", **options)
    tokens = 3 * whole.cost.forward_tokens
    report = unhorse.scan(
        planted.folder,
        samples=str(planted.samples),
        method="random",
        budget=f"{tokens}tok",
        **options,
    )
    if report.verdict.state != "backdoored":
        assert len({finding.seed for finding in report.findings}) >= 2
    assert report.cost.forward_tokens <= 1.2 * tokens


def test_every_method_names_its_tasks_and_work():
    for method in METHODS.all():
        for config in method.presets.values():
            assert method.units(config) > 0, method.name
        assert isinstance(method.tasks, tuple)
