"""Sets a method to work on the arms of a subject, in the rounds of a policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Protocol

import torch
from pydantic import ValidationError
from torch import Tensor

from unhorse.arms.schedule import Policy, Round, Standing, mirrors
from unhorse.config import ScanConfig, one_sentence
from unhorse.errors import OutOfMemory, UsageError
from unhorse.invert.base import METHODS, MethodConfig, Problem, Search
from unhorse.invert.budget import BudgetSpent, Meter
from unhorse.invert.engine import ModelLoss
from unhorse.invert.objective import Objective
from unhorse.invert.search import usable_tokens
from unhorse.runtime import for_optimisation
from unhorse.tasks.base import TASKS, EncodedRow, Goal, Task
from unhorse.triggers.vocabulary import allowed_token_ids, trigger_text
from unhorse.types import Answerer, Arm, Curve, Inversion, Mirror, Runtime, Sample, Subject

MOST_WEIGHTS = 10_000_000
"""Trigger weights (arms x slots x tokens) that are advanced together, to bound memory."""

JUDGED_WHEN_STOPPED = 4
"""Arms, at most, that are judged after the user or the budget has stopped the search."""

_APART = 7919
"""What is added to the seed for every restart."""


@dataclass(frozen=True)
class Pass:
    """One run of the method over all arms, with a preset's constants."""

    preset: str
    config: MethodConfig


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


def pose_problem(
    subject: Subject,
    arms: Sequence[Arm],
    now: Pass,
    config: ScanConfig,
    runtime: Runtime,
    meter: Meter | None = None,
    restart: int = 0,
) -> Problem:
    """Encodes the samples of all arms and builds the objective over them.

    Args:
        subject: model, samples and references.
        arms: what is asked.
        now: the pass that it is for.
        config: seed and sample counts.
        runtime: where and how to compute.
        meter: counts the work of all models together.
        restart: how many times all passes have been made already, with other seeds.
    """
    task, seed = TASKS.get(subject.loaded.task), config.seed
    rows = subject.loaded.model.get_input_embeddings().weight.shape[0]
    allowed = torch.tensor(allowed_token_ids(subject.loaded.tokenizer, rows))
    slots = now.config.trigger_length
    most = config.samples_per_class
    counted = meter or Meter()
    victims = [_draw(task, arm, subject.samples.inversion, seed, most) for arm in arms]

    def model_loss(answerer: Answerer, goal: Goal) -> ModelLoss:
        encoded: list[list[EncodedRow]] = [
            [task.encode(answerer, sample, arm, seed, slots, goal) for sample in samples]
            for arm, samples in zip(arms, victims, strict=True)
        ]
        ready = for_optimisation(answerer.loaded, runtime)
        return ModelLoss(ready, task, encoded, allowed, count=counted)

    references = [
        model_loss(reference.answerer, "truth")
        for reference in subject.references
        if reference.in_objective
    ]
    objective = Objective(model_loss(subject.answerer, "target"), references)
    barred = _barred(task, arms, allowed, subject.loaded.tokenizer)
    now_seed = seed + restart * _APART
    problem = Problem(tuple(arms), objective, allowed, now_seed, now.preset, barred, restart)
    if references:
        for number in range(len(arms)):
            objective.anchor(number, slots, usable_tokens(problem, number))
    return problem


def _barred(
    task: Task, arms: Sequence[Arm], allowed: Tensor, tokenizer: object
) -> dict[int, Tensor]:
    """For the arms that may not use every token, a mask of those that they may not."""
    texts = [trigger_text(tokenizer, [token]) for token in allowed.tolist()]
    places = {arm.position for arm in arms}
    masks = {
        place: torch.tensor([not task.may_use(place, text) for text in texts]) for place in places
    }
    # An arm without any token of its kind is better searched with all than not at all.
    partly = {place for place, mask in masks.items() if mask.any() and not mask.all()}
    return {n: masks[arm.position] for n, arm in enumerate(arms) if arm.position in partly}


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


def _draw(task: Task, arm: Arm, samples: Sequence[Sample], seed: int, most: int) -> list[Sample]:
    """The arm's victims; a universal arm draws evenly from its many classes."""
    victims = task.victims(arm, samples, seed)
    by_class = [[s for s in victims if label in s.classes] for label in arm.victims]
    turns = zip_longest(*by_class)
    return [sample for turn in turns for sample in turn if sample is not None][:most]


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
