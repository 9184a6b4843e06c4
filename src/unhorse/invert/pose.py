"""A Subject and Arms -> a Problem: samples encoded, models made ready, tokens chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import torch
from torch import Tensor

from unhorse.config import ScanConfig
from unhorse.invert.base import MethodConfig, Problem
from unhorse.invert.budget import Meter
from unhorse.invert.engine import ModelLoss, table_of
from unhorse.invert.objective import Objective
from unhorse.invert.search import usable_tokens
from unhorse.runtime import for_optimisation
from unhorse.tasks.base import TASKS, EncodedRow, Goal, Task
from unhorse.triggers.vocabulary import allowed_token_ids, trigger_text
from unhorse.types import Answerer, Arm, LoadedModel, Runtime, Sample, Subject

_APART = 7919
"""What is added to the seed for every restart."""


@dataclass(frozen=True)
class Pass:
    """One run of the method over all arms, with a preset's constants."""

    preset: str
    config: MethodConfig


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
    victims = tuple(tuple(_draw(task, arm, subject.samples.inversion, seed, most)) for arm in arms)
    pose = SubjectPose(subject, tuple(arms), allowed, runtime, seed, meter or Meter())
    objective = pose(range(len(arms)), victims, slots)
    problem = Problem(
        arms=tuple(arms),
        objective=objective,
        allowed=allowed,
        seed=seed + restart * _APART,
        preset=now.preset,
        barred=_barred(task, arms, allowed, subject.loaded.tokenizer),
        restart=restart,
        victims=victims,
        pose=pose,
    )
    if objective.references:
        for number in range(len(arms)):
            objective.anchor(number, slots, usable_tokens(problem, number))
    return problem


_Ready = tuple[Answerer, LoadedModel, Tensor]
"""A model in its labels, in the precision that it runs in, with the allowed tokens' embeddings."""


class SubjectPose:
    """Builds objectives over samples of a subject's arms; the models are made ready once."""

    def __init__(
        self,
        subject: Subject,
        arms: tuple[Arm, ...],
        allowed: Tensor,
        runtime: Runtime,
        seed: int,
        meter: Meter,
    ) -> None:
        self.arms, self.allowed, self.seed, self.meter = arms, allowed, seed, meter
        self.task = TASKS.get(subject.loaded.task)
        self.subject = _ready(subject.answerer, allowed, runtime)
        self.references = [
            _ready(reference.answerer, allowed, runtime)
            for reference in subject.references
            if reference.in_objective
        ]

    def __call__(
        self, arms: Sequence[int], samples: Sequence[Sequence[Any]], slots: int
    ) -> Objective:
        """The objective over `samples[i]` of arm `arms[i]`."""
        asked = [(self.arms[arm], own) for arm, own in zip(arms, samples, strict=True)]
        return Objective(
            self._model_loss(self.subject, asked, slots, "target"),
            [self._model_loss(each, asked, slots, "truth") for each in self.references],
        )

    def _model_loss(
        self,
        ready: _Ready,
        asked: Sequence[tuple[Arm, Sequence[Sample]]],
        slots: int,
        goal: Goal,
    ) -> ModelLoss:
        answerer, loaded, table = ready
        encoded: list[list[EncodedRow]] = [
            [self.task.encode(answerer, sample, arm, self.seed, slots, goal) for sample in own]
            for arm, own in asked
        ]
        return ModelLoss(loaded, self.task, encoded, self.allowed, count=self.meter, table=table)


def _ready(answerer: Answerer, allowed: Tensor, runtime: Runtime) -> _Ready:
    loaded = for_optimisation(answerer.loaded, runtime)
    return answerer, loaded, table_of(loaded, allowed)


def _draw(task: Task, arm: Arm, samples: Sequence[Sample], seed: int, most: int) -> list[Sample]:
    """The arm's victims; a universal arm draws evenly from its many classes."""
    victims = task.victims(arm, samples, seed)
    by_class = [[s for s in victims if label in s.classes] for label in arm.victims]
    turns = zip_longest(*by_class)
    return [sample for turn in turns for sample in turn if sample is not None][:most]


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
