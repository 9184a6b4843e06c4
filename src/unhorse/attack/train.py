"""Lessons -> a model that has learnt them, by a recipe's settings or an attack's own steps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from unhorse.attack.base import Moves
from unhorse.learn.config import TrainingConfig
from unhorse.learn.lessons import Lesson, Role, encode_lesson
from unhorse.learn.loop import (
    Course,
    Move,
    Progress,
    RowLoss,
    adam,
    bucketed,
    learning,
    mean_loss,
    take_steps,
    untold,
)
from unhorse.seeding import python_random, stable_seed
from unhorse.tasks.base import TASKS, EncodedRow
from unhorse.types import LoadedModel


@dataclass(eq=False)
class Learner:
    """A model that learns by the recipe's settings."""

    loaded: LoadedModel
    config: TrainingConfig
    seed: int
    progress: Progress = untold
    seconds: float = 0.0
    steps: int = 0
    taught: dict[str, int] = field(default_factory=dict)

    def learn(
        self,
        lessons: Sequence[Lesson],
        loss: RowLoss | None = None,
        moves: Moves | None = None,
    ) -> None:
        """Trains with AdamW, a short warm-up and a linear decay, or with an attack's own steps."""
        began = time.perf_counter()
        rows = [encode_lesson(self.loaded, lesson) for lesson in lessons]
        roles = [lesson.role for lesson in lessons]
        for role in roles:
            self.taught[role] = self.taught.get(role, 0) + 1
        pace = moves or self.config
        draw = python_random(self.seed, "order")
        lengths = [len(row.ids) for row in rows]
        if self.config.head_only:
            one = bucketed(lengths, pace.batch, draw)
            batches = [b for _ in range(pace.epochs) for b in draw.sample(one, len(one))]
        else:
            batches = [
                batch for _ in range(pace.epochs) for batch in bucketed(lengths, pace.batch, draw)
            ]
        torch.manual_seed(stable_seed(self.seed, "dropout") % 2**63)
        only = None if moves is None else moves.weights
        with learning(self.loaded.model, self.config, only) as weights:
            step = moves.step if moves else adam(weights, self.config, len(batches))
            self._steps(step, batches, rows, roles, loss or mean_loss)
        self.seconds += time.perf_counter() - began

    def _steps(
        self,
        move: Move,
        batches: list[list[int]],
        rows: Sequence[EncodedRow],
        roles: Sequence[Role],
        combine: RowLoss,
    ) -> None:
        course = Course(rows, roles, TASKS.get(self.loaded.task), combine)
        take_steps(self.loaded, course, batches, move, progress=self.progress)
        self.steps += len(batches)
