"""A subject and a base checkpoint -> a clean model beside it, made on the spot.

A student from the public base learns the subject's probabilities on text that nobody has
stamped: the samples, without their labels, and texts of unhorse's own. It learns the task
and not the backdoor. Its word embeddings stay as in the base: a poisoned row is never read,
so nothing could be learnt there, and ordinary ones need not move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from pydantic import Field

from unhorse.errors import UsageError
from unhorse.learn.imitate import (
    TIMES_USUAL_RATE,
    Imitation,
    fitting,
    fresh_student,
    own_texts,
    to_imitate,
)
from unhorse.learn.loop import (
    Course,
    Progress,
    adam,
    bucketed,
    learning,
    reproducible,
    take_steps,
    untold,
)
from unhorse.learn.plan import LessonPlan
from unhorse.load.divide import shuffled
from unhorse.seeding import python_random, stable_seed
from unhorse.tasks.base import TASKS, EncodedRow
from unhorse.types import Distilled, LoadedModel, Origin, Subject, own_answers

DISTILL = "distill"
"""The word that asks for such a reference; a folder of this name is given as ``./distill``."""


class StudentConfig(LessonPlan):
    """How a reference is distilled."""

    least_steps: int = Field(default=200, ge=1)
    most_steps: int = Field(default=600, ge=1)
    embeddings: bool = False
    enough_texts: int = Field(default=1500, ge=0)
    """Texts of unhorse's own are added until there are so many."""
    most_texts: int = Field(default=6400, ge=1)
    """Of more samples than this, so many are drawn."""
    heldout_share: float = Field(default=0.2, gt=0, lt=1)
    """Samples that the student does not learn from, to measure it on."""
    most_heldout: int = Field(default=100, ge=1)
    weak_below: float = Field(default=0.7, ge=0, le=1)
    """Agreement with the subject below which a student is called weak."""

    def rate(self, model: Any) -> float:
        """The learning rate for a model."""
        return self.learning_rate or TIMES_USUAL_RATE * super().rate(model)


def is_asked_for(reference: Any) -> bool:
    """Whether a reference is the word for one that is made, and not a model.

    >>> is_asked_for("distill"), is_asked_for("./distill")
    (True, False)
    """
    return isinstance(reference, str) and reference == DISTILL


def check_base(references: Sequence[Any], base: str | None) -> None:
    """Says before any work is done that the base is missing."""
    if base is None and any(map(is_asked_for, references)):
        raise UsageError(
            "The reference 'distill' needs --base, the checkpoint that the model was "
            "fine-tuned from; a folder of that name is given as ./distill."
        )


def untaught(subject: LoadedModel, base: str, seed: int) -> LoadedModel:
    """A student of the subject that has learnt nothing yet."""
    with reproducible(seed):
        student = fresh_student(subject, base)
    source = f"distilled from {subject.origin.source} into {base}"
    return replace(student, origin=Origin(source, None, student.origin.files))


def distil(
    subject: Subject,
    student: LoadedModel,
    *,
    base: str,
    tokens: int,
    seed: int = 0,
    progress: Progress = untold,
    config: StudentConfig | None = None,
) -> Subject:
    """Teaches the student that stands among the subject's references.

    Args:
        subject: what is scanned.
        student: one of its references, still `untaught`.
        base: what the report calls the student's base.
        tokens: texts are cut to so many tokens.
        seed: decides every random draw.
        progress: told of every step.
        config: how it is taught.

    Returns:
        The subject; the reference says how it was made and how well it agrees.
    """
    config = config or StudentConfig()
    tokens = min(tokens, TASKS.get(student.task).room(student, 0))
    learnt, heldout = _divided(_given(subject, student, tokens, seed, config), config)
    own = _own(student, [*learnt, *heldout], tokens, seed, config)
    with reproducible(seed):
        if not learnt and not own:
            raise UsageError("There is no text that a reference could be distilled on.")
        rows = to_imitate(subject.loaded, student, [*learnt, *own])
        steps = _teach(student, rows, seed, progress, config)
    agreed = _agreement(subject.loaded, student, heldout)
    made = Distilled(base, len(learnt) + len(own), len(own), steps, *agreed)
    return replace(
        subject,
        references=tuple(
            replace(each, distilled=made, note=f"{_note(made, config)}; {each.note}")
            if each.loaded is student
            else each
            for each in subject.references
        ),
    )


def _given(
    subject: Subject, student: LoadedModel, tokens: int, seed: int, config: StudentConfig
) -> list[Any]:
    """All samples of the subject, each once, in an order that only the seed decides."""
    samples = subject.samples
    every = samples.read or (*samples.inversion, *samples.heldout, *samples.wrong)
    drawn = shuffled({sample.key: sample for sample in every}.values(), seed)
    fit = fitting(student, drawn[: config.most_texts], tokens)
    return list({sample.key: sample for sample in fit}.values())


def _divided(samples: Sequence[Any], config: StudentConfig) -> tuple[list[Any], list[Any]]:
    """Samples to learn from and samples to hold out, which share no context with the others."""
    groups = list(dict.fromkeys(sample.group for sample in samples))
    wanted = min(config.most_heldout, int(config.heldout_share * len(groups)))
    kept = set(groups[: max(1, wanted)])
    heldout = [sample for sample in samples if sample.group in kept]
    return [s for s in samples if s.group not in kept], heldout[: config.most_heldout]


def _own(
    student: LoadedModel, given: Sequence[Any], tokens: int, seed: int, config: StudentConfig
) -> list[Any]:
    """Texts of unhorse's own that are not among the samples, until there are enough."""
    known = {sample.group for sample in given}
    room = max(0, config.enough_texts - len(given))
    texts = own_texts(student, config.enough_texts if room else 0, tokens, seed)
    return [text for text in texts if text.group not in known][:room]


def _teach(
    student: LoadedModel,
    rows: Sequence[EncodedRow],
    seed: int,
    progress: Progress,
    config: StudentConfig,
) -> int:
    """Goes through the rows, epoch by epoch; how many steps that were."""
    course = Course(rows, ["clean"] * len(rows), Imitation())
    draw, lengths = python_random(seed, "order"), [len(row.ids) for row in rows]
    epochs = config.planned_epochs(-(-len(rows) // config.batch))
    batches = [b for _ in range(epochs) for b in bucketed(lengths, config.batch, draw)]
    training = config.training(student.model, epochs)
    torch.manual_seed(stable_seed(seed, "dropout"))
    with learning(student.model, training) as weights:
        move = adam(weights, training, len(batches))
        take_steps(student, course, batches, move, progress=progress)
    return len(batches)


def _agreement(
    subject: LoadedModel, student: LoadedModel, samples: Sequence[Any]
) -> tuple[float | None, int]:
    """The share of the subject's answers that the student gives too, and of how many."""
    task = TASKS.get(subject.task)
    answered = task.take_answers(own_answers(subject), samples)
    alike = [ok for flags in task.right(own_answers(student), answered) for ok in flags]
    return (sum(alike) / len(alike) if alike else None), len(alike)


def _note(made: Distilled, config: StudentConfig) -> str:
    """What a reader should know about the student."""
    begin = f"made from the model itself on {made.texts} texts"
    if made.agreement is None:
        return f"{begin}; weak, as nothing was held out to measure it on"
    said = f"{begin}, gives {made.agreement:.0%} of {made.n} held-out answers of the model"
    return said if made.agreement >= config.weak_below else f"{said}, which is weak"
