"""A budget -> what can be paid for: how many token-passes, which arms, how many epochs.

A small budget plans fewer arms rather than too few epochs of each: places where a trigger
is looked for are left out, the last ones first, until every arm that is left can get the
epochs that are worth spending.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unhorse.arms.schedule import Policy, arm_epochs
from unhorse.invert.base import MethodConfig, Problem
from unhorse.invert.budget import PLAIN_EPOCHS, Budget
from unhorse.types import Arm

LEAST_EPOCHS = 40
"""Epochs of a forward and a backward pass below which an arm is hardly worth beginning."""


def tokens_per_pass(problem: Problem) -> float:
    """Padded tokens of one arm's samples through all models, on average over the arms."""
    models = [problem.objective.subject, *problem.objective.references]
    total = sum(bucket.tokens for model in models for bucket in model.buckets())
    return total / max(1, len(problem.arms))


def limit(budget: Budget, problem: Problem, policy: Policy, seconds_of_plain: float) -> float:
    """The budget in token-passes; one in seconds by how long a plain run is expected to take."""
    if budget.tokens is not None:
        return budget.tokens
    plain = arm_epochs(policy, problem.arms, PLAIN_EPOCHS) * 2 * tokens_per_pass(problem)
    if budget.seconds is not None:
        return plain * budget.seconds / max(seconds_of_plain, 1e-9)
    assert budget.times_plain is not None
    return plain * budget.times_plain


def affordable_arms(
    arms: Sequence[Arm], tokens: float, per_pass: float, policy_of: Callable[[int], Policy]
) -> tuple[Arm, ...]:
    """The arms at as many places as the budget pays for, and at one at least.

    Args:
        arms: all that could be run, in the order of their places.
        tokens: the budget.
        per_pass: tokens of one pass of one arm.
        policy_of: the schedule for so many arms.
    """
    places = list(dict.fromkeys(arm.position for arm in arms))
    for count in range(len(places), 1, -1):
        some = [arm for arm in arms if arm.position in places[:count]]
        needed = arm_epochs(policy_of(len(some)), some, LEAST_EPOCHS) * 2 * per_pass
        if needed <= tokens:
            return tuple(some)
    return tuple(arm for arm in arms if arm.position == places[0])


def affordable_epochs(
    config: MethodConfig, units: float, policy: Policy, problem: Problem, tokens: float
) -> MethodConfig:
    """The configuration with as many epochs, up to its own, as the schedule can pay for."""
    per_epoch = units * tokens_per_pass(problem)

    def cost(epochs: int) -> float:
        return arm_epochs(policy, problem.arms, epochs, config.warm_up) * per_epoch

    low, high = 1, config.epochs
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if cost(middle) <= tokens else (low, middle - 1)
    return config.model_copy(update={"epochs": low})
