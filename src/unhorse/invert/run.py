"""Sets a method to work on the arms of a subject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import torch
from pydantic import ValidationError

from unhorse.config import ScanConfig, one_sentence
from unhorse.errors import OutOfMemory, UsageError
from unhorse.invert.base import METHODS, MethodConfig, Problem, Progress
from unhorse.invert.engine import ModelLoss
from unhorse.invert.objective import Objective
from unhorse.runtime import for_optimisation
from unhorse.tasks.base import TASKS, EncodedRow, Task
from unhorse.triggers.vocabulary import allowed_token_ids
from unhorse.types import Arm, Curve, Inversion, LoadedModel, Reference, Runtime, Sample, Subject

MOST_SAMPLES = 40
"""Samples of one arm, at most: a universal arm draws evenly from its many victims."""


@dataclass(frozen=True)
class Pass:
    """One run of the method over all arms, with a preset's constants."""

    preset: str
    config: MethodConfig


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
    subject: Subject, arms: Sequence[Arm], now: Pass, seed: int, runtime: Runtime
) -> Problem:
    """Encodes the samples of all arms and builds the objective over them."""
    task = TASKS.get(subject.loaded.task)
    rows = subject.loaded.model.get_input_embeddings().weight.shape[0]
    allowed = torch.tensor(allowed_token_ids(subject.loaded.tokenizer, rows))
    slots = now.config.trigger_length
    victims = [_draw(task, arm, subject.samples.inversion) for arm in arms]

    def model_loss(loaded: LoadedModel, goal: Callable[[Arm, Sample], int]) -> ModelLoss:
        encoded: list[list[EncodedRow]] = [
            [
                task.encode(loaded, sample, arm.position, seed, slots, goal(arm, sample))
                for sample in samples
            ]
            for arm, samples in zip(arms, victims, strict=True)
        ]
        return ModelLoss(for_optimisation(loaded, runtime), task, encoded, allowed)

    def true_label(reference: Reference) -> Callable[[Arm, Sample], int]:
        return lambda _, sample: reference.label_of[sample.label]

    references = [
        model_loss(reference.loaded, true_label(reference))
        for reference in subject.references
        if reference.in_objective
    ]
    objective = Objective(model_loss(subject.loaded, lambda arm, _: arm.target), references)
    return Problem(tuple(arms), objective, allowed, seed, now.preset)


def invert_arms(
    problem: Problem, method: str, config: MethodConfig, progress: Progress
) -> list[Inversion]:
    """Runs the method; arms that do not fit into memory are failed, not lost."""
    try:
        return METHODS.get(method).invert(problem, config, progress)
    except OutOfMemory as error:
        return [_failed(arm, problem, method, str(error)) for arm in problem.arms]


def _draw(task: Task, arm: Arm, samples: Sequence[Sample]) -> list[Sample]:
    by_label = [task.victims(arm, [s for s in samples if s.label == v]) for v in arm.victims]
    turns = zip_longest(*by_label)
    return [sample for turn in turns for sample in turn if sample is not None][:MOST_SAMPLES]


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
