"""Sets a method to work on the arms of a subject, in the rounds of a policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pydantic import ValidationError

from unhorse.arms.schedule import Policy, Round, Standing, mirrors, regions_of, ways_of
from unhorse.config import ScanConfig, one_sentence
from unhorse.errors import OutOfMemory, UsageError
from unhorse.invert.base import METHODS, MethodConfig, Problem, Search
from unhorse.invert.budget import BudgetSpent
from unhorse.invert.pose import Pass
from unhorse.types import Arm, Curve, Inversion, Mirror

MOST_WEIGHTS = 10_000_000
"""Trigger weights (arms x slots x tokens) that are advanced together, to bound memory."""

AUTO = "auto"
WITH_REFERENCE = "focus"
ALONE = "dbs"

JUDGED_WHEN_STOPPED = 4
"""Arms, at most, that are judged after the user or the budget has stopped the search."""


@dataclass(frozen=True)
class Inverted:
    """What a pass found: arms that went to the end, and arms that a policy dropped.

    After an interruption, or once the budget is spent, `found` has the most promising
    arms as far as they came, and `unreached` are those that had not begun.
    """

    found: list[Inversion]
    dropped: list[Inversion]
    interrupted: bool = False
    spent: bool = False
    unreached: tuple[Arm, ...] = ()


class Progress(Protocol):
    """Told about every epoch of every group of arms."""

    def epoch(self, done: int, loss: list[float], temperature: list[float]) -> None:
        """So many epochs of single arms are done; these values are the last of every arm."""


class SilentProgress:
    """Tells nobody."""

    def epoch(self, done: int, loss: list[float], temperature: list[float]) -> None:
        """Does nothing."""


def choose_method(config: ScanConfig, *, compared: bool) -> ScanConfig:
    """The configuration with a method of its own, if none was asked for by name.

    Args:
        config: what was asked for.
        compared: whether a clean model takes part in the objective.
    """
    if config.method != AUTO:
        return config
    known = config.preset is None or config.preset in METHODS.get(WITH_REFERENCE).presets
    method = WITH_REFERENCE if compared and known else ALONE
    return config.model_copy(update={"method": method})


def plan_passes(config: ScanConfig) -> tuple[Pass, ...]:
    """The preset that is asked for, or the method's own passes, changed by the options."""
    method = METHODS.get(config.method)
    if config.preset is not None and config.preset not in method.presets:
        known = ", ".join(method.presets)
        raise UsageError(
            f"The method {config.method} has no preset {config.preset!r}; known: {known}."
        )
    names = (config.preset,) if config.preset is not None else method.passes
    return tuple(Pass(name, _changed(config, method.presets[name])) for name in names)


def fallback_passes(config: ScanConfig) -> tuple[Pass, ...]:
    """What is run if no reference turns out to fit; nothing else if a method was asked for."""
    if config.method != AUTO or config.preset is not None or config.options:
        return ()
    return plan_passes(choose_method(config, compared=False))


def _changed(config: ScanConfig, preset: MethodConfig) -> MethodConfig:
    try:
        return type(preset)(**{**preset.model_dump(), **config.options})
    except ValidationError as error:
        raise UsageError(one_sentence(error, f"An option of {config.method} is wrong")) from error


def check_task(config: ScanConfig, task: str) -> None:
    """A method that is not defined for a task says so before any work is done."""
    tasks = METHODS.get(config.method).tasks
    if tasks and task not in tasks:
        known = ", ".join(tasks)
        raise UsageError(f"The method {config.method} is defined for {known}, not for {task}.")


def invert_arms(
    problem: Problem, method: str, config: MethodConfig, policy: Policy, progress: Progress
) -> Inverted:
    """Runs the method; arms that do not fit into memory are failed, not lost."""
    try:
        return _search(
            problem, METHODS.get(method).begin(problem, config), config, policy, progress
        )
    except OutOfMemory as error:
        return Inverted([_failed(arm, problem, method, str(error)) for arm in problem.arms], [])


def _search(
    problem: Problem, search: Search, config: MethodConfig, policy: Policy, progress: Progress
) -> Inverted:
    together = max(1, MOST_WEIGHTS // (config.trigger_length * len(problem.allowed)))
    if problem.meter.left is None:
        # Arms that gain nothing from each other come one by one, so that progress is seen; a
        # budget that ends early leaves them equally far only if they are together.
        together = min(together, getattr(search, "arms_at_once", together))
    done, ended = 0, ""
    try:
        for now in _rounds(problem, search, config, policy):
            groups = [now.arms[i : i + together] for i in range(0, len(now.arms), together)]
            for _ in range(now.epochs):
                for group in groups:
                    search.advance(group)
                    done += len(group)
                    states = search.states()
                    progress.epoch(done, [s.loss for s in states], [s.temperature for s in states])
    except KeyboardInterrupt:
        ended = "interrupted"
    except BudgetSpent:
        ended = "spent"
    problem.meter.lift()
    try:
        return _results(problem, search, config, ended)
    except KeyboardInterrupt:
        return _results(problem, search, config, "interrupted")


def _results(problem: Problem, search: Search, config: MethodConfig, ended: str) -> Inverted:
    """What the search has found when it ends, or as far as it came."""
    states = search.states()
    begun = [arm for arm, state in enumerate(states) if state.epochs]
    if ended:
        if not begun and ended == "interrupted":
            raise KeyboardInterrupt
        # A schedule took some further than others: those it believed in.
        most = max((state.epochs for state in states), default=0)
        far = (
            begun if ended == "interrupted" else [a for a in begun if states[a].epochs + 1 >= most]
        )
        chosen = sorted(far, key=lambda arm: states[arm].best_loss)[:JUDGED_WHEN_STOPPED]
    else:
        chosen = [arm for arm in begun if states[arm].epochs >= config.epochs]
    rest = [arm for arm in begun if arm not in chosen]
    found = search.finish(sorted(chosen)) if chosen else []
    if ended == "spent":
        found = [replace(each, completed=each.error is None) for each in found]
    return Inverted(
        found,
        search.finish(rest) if rest else [],
        interrupted=ended == "interrupted",
        spent=ended == "spent",
        unreached=tuple(arm for n, arm in enumerate(problem.arms) if n not in begun),
    )


def _rounds(
    problem: Problem, search: Search, config: MethodConfig, policy: Policy
) -> Iterator[Round]:
    """What the policy says, until it says that nothing is left to do."""
    opposite = mirrors(problem.arms)
    families = tuple(arm.family for arm in problem.arms)
    while True:
        states = search.states()
        standing = Standing(
            epochs=tuple(state.epochs for state in states),
            losses=tuple(state.best_loss for state in states),
            mirrors=opposite,
            families=families,
            seed=problem.seed,
            warm_up=config.warm_up,
            ways=ways_of(problem.arms),
            regions=regions_of(problem.arms),
        )
        now = policy.next(standing, config.epochs)
        if now is None:
            return
        yield now


def compared_with_mirror(inversion: Inversion, others: Sequence[Inversion]) -> Mirror | None:
    """The loss of the arm that goes the opposite way, after as many epochs as both had."""
    for other in others:
        if inversion.arm.mirrors(other.arm) and other.preset == inversion.preset:
            epochs = min(inversion.epochs, other.epochs)
            return Mirror(
                arm=other.arm.key,
                loss=min(other.curve.loss[:epochs]),
                own_loss=min(inversion.curve.loss[:epochs]),
                epochs=epochs,
            )
    return None


def _failed(arm: Arm, problem: Problem, method: str, error: str) -> Inversion:
    return Inversion(
        arm=arm,
        method=method,
        preset=problem.preset,
        seed=problem.seed,
        token_ids=(),
        loss=float("inf"),
        one_hot=False,
        completed=False,
        epochs=0,
        seconds=0.0,
        curve=Curve((), ()),
        error=error,
    )
