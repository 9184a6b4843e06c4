"""A pupil and the course of every epoch -> the pupil with the best epoch's weights.

After every epoch the watched rows are asked, clean and, where a method stamps, stamped
as well, both by their true answers. The teaching ends when that has not been better for
some epochs, and the weights of the best epoch stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from unhorse.learn.lessons import Lesson
from unhorse.learn.loop import (
    Course,
    Move,
    RowLoss,
    adam,
    bucketed,
    learning,
    mean_loss,
    take_steps,
)
from unhorse.remove.base import Case, RemovalConfig
from unhorse.remove.metric import row_scores
from unhorse.remove.records import Taught, Watched
from unhorse.remove.stamps import encoder, stamped
from unhorse.seeding import python_random, stable_seed
from unhorse.types import LoadedModel

CourseOf = Callable[[int], Course]
"""What is taught in an epoch; every epoch has as many rows."""


def teach(
    pupil: LoadedModel,
    case: Case,
    config: RemovalConfig,
    course_of: CourseOf,
    *,
    with_stamps: bool = False,
    after_step: Callable[[], None] | None = None,
) -> Taught:
    """Teaches the pupil, epoch by epoch.

    Args:
        pupil: the model that learns.
        case: what the removal is about.
        config: how it learns.
        course_of: what is taught in each epoch.
        with_stamps: whether stamped rows are watched as well.
        after_step: called after every step of the optimiser.
    """
    course = course_of(0)
    size = -(-len(course.rows) // config.batch)
    epochs = config.planned_epochs(size)
    # The short epochs of few samples say little each.
    best = _Best(pupil, case, with_stamps, max(config.patience, epochs // 3))
    torch.manual_seed(stable_seed(case.seed, "dropout"))
    training = config.training(pupil.model, epochs)
    with learning(pupil.model, training) as weights:
        move = _then(adam(weights, training, epochs * size), after_step)
        for epoch in range(epochs):
            course = course if epoch == 0 else course_of(epoch)
            draw = python_random(case.seed, "order", str(epoch))
            batches = bucketed([len(row.ids) for row in course.rows], config.batch, draw)
            done, steps = epoch * size, epochs * size
            take_steps(
                pupil, course, batches, move, begun=done, total=steps, progress=case.progress
            )
            if best.is_over(epoch):
                break
    pupil.model.load_state_dict(best.weights)
    return Taught(len(best.seen), best.epoch + 1, len(best.seen) * size, tuple(best.seen))


def lessons_course(case: Case, lessons: Sequence[Lesson], combine: RowLoss = mean_loss) -> Course:
    """Samples with their true answers as a course."""
    encode = encoder(case.task, case.subject)
    rows = [encode(lesson.sample) for lesson in lessons]
    return Course(rows, [lesson.role for lesson in lessons], case.task, combine)


def _then(move: Move, after: Callable[[], None] | None) -> Move:
    if after is None:
        return move

    def both(done: int, total: int) -> None:
        move(done, total)
        after()

    return both


ROUNDING = 1e-9
"""What a sum of shares may be off by."""


class _Best:
    """Watches the pupil and keeps the weights of its best epoch."""

    def __init__(self, pupil: LoadedModel, case: Case, with_stamps: bool, patience: int) -> None:
        self.pupil, self.case, self.patience = pupil, case, patience
        self.seen: list[Watched] = []
        self.epoch = 0
        self.weights: dict[str, Tensor] = {}
        self.stamped: list[Any] = []
        if with_stamps:
            draw = python_random(case.seed, "watched stamps")
            made = (stamped(case.task, s, case.triggers, draw) for s in case.rows.watch)
            self.stamped = [sample for sample in made if sample is not None]

    def is_over(self, epoch: int) -> bool:
        """Asks the watched rows; whether it has not become better for long enough.

        Of epochs that are equal up to one watched row the later one is kept: it has unlearnt
        for longer, by shorter steps.
        """
        model = self.pupil.model.eval()
        clean = row_scores(self.pupil, self.case.rows.watch).value
        turned = row_scores(self.pupil, self.stamped).value if self.stamped else None
        now = Watched(epoch + 1, clean, turned)
        model.train()
        # The score is a mean over clean and, where there are any, stamped rows.
        watched = len(self.case.rows.watch) + len(self.stamped)
        one_row = 1 / max(1, watched)
        best = max((each.score for each in self.seen), default=0.0)
        if now.score >= best - one_row - ROUNDING:
            self.epoch = epoch
            self.weights = {k: v.detach().clone() for k, v in model.state_dict().items()}
        self.seen.append(now)
        return epoch - self.epoch >= self.patience
