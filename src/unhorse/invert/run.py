"""Sets a method to work on the arms of a subject, in the rounds of a policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol

import torch
from pydantic import ValidationError
from torch import Tensor

from unhorse.arms.schedule import Policy, Round, Standing, mirrors
from unhorse.config import ScanConfig, one_sentence
from unhorse.errors import OutOfMemory, UsageError
from unhorse.invert.base import METHODS, MethodConfig, Problem, Search
from unhorse.invert.engine import ModelLoss
from unhorse.invert.objective import Objective
from unhorse.runtime import for_optimisation
from unhorse.tasks.base import TASKS, EncodedRow, Goal, Task
from unhorse.triggers.vocabulary import allowed_token_ids, trigger_text
from unhorse.types import Answerer, Arm, Curve, Inversion, Mirror, Runtime, Sample, Subject

MOST_WEIGHTS = 10_000_000
"""Trigger weights (arms x slots x tokens) that are advanced together, to bound memory."""

JUDGED_WHEN_STOPPED = 4
"""Arms, at most, that are judged after the user has stopped the search."""


@dataclass(frozen=True)
class Pass:
    """One run of the method over all arms, with a preset's constants."""

    preset: str
    config: MethodConfig


@dataclass(frozen=True)
class Inverted:
    """What a pass found: arms that went to the end, and arms that a policy dropped.

    After an interruption `found` has the most promising arms as far as they came.
    """

    found: list[Inversion]
    dropped: list[Inversion]
    interrupted: bool = False


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


def pose_problem(
    subject: Subject, arms: Sequence[Arm], now: Pass, config: ScanConfig, runtime: Runtime
) -> Problem:
    """Encodes the samples of all arms and builds the objective over them."""
    task, seed = TASKS.get(subject.loaded.task), config.seed
    rows = subject.loaded.model.get_input_embeddings().weight.shape[0]
    allowed = torch.tensor(allowed_token_ids(subject.loaded.tokenizer, rows))
    slots = now.config.trigger_length
    most = config.samples_per_class
    victims = [_draw(task, arm, subject.samples.inversion, seed, most) for arm in arms]

    def model_loss(answerer: Answerer, goal: Goal) -> ModelLoss:
        encoded: list[list[EncodedRow]] = [
            [task.encode(answerer, sample, arm, seed, slots, goal) for sample in samples]
            for arm, samples in zip(arms, victims, strict=True)
        ]
        return ModelLoss(for_optimisation(answerer.loaded, runtime), task, encoded, allowed)

    references = [
        model_loss(reference.answerer, "truth")
        for reference in subject.references
        if reference.in_objective
    ]
    objective = Objective(model_loss(subject.answerer, "target"), references)
    barred = _barred(task, arms, allowed, subject.loaded.tokenizer)
    return Problem(tuple(arms), objective, allowed, seed, now.preset, barred)


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
    done, interrupted = 0, False
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
        interrupted = True
    try:
        return _results(search, config, interrupted)
    except KeyboardInterrupt:
        return _results(search, config, True)


def _results(search: Search, config: MethodConfig, interrupted: bool) -> Inverted:
    """What the search has found when it ends, or as far as it came."""
    states = search.states()
    begun = [arm for arm, state in enumerate(states) if state.epochs]
    if interrupted:
        if not begun:
            raise KeyboardInterrupt
        chosen = sorted(begun, key=lambda arm: states[arm].best_loss)[:JUDGED_WHEN_STOPPED]
    else:
        chosen = [arm for arm in begun if states[arm].epochs >= config.epochs]
    rest = [arm for arm in begun if arm not in chosen]
    return Inverted(search.finish(sorted(chosen)), search.finish(rest) if rest else [], interrupted)


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
