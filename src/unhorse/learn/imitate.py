"""A teacher, a base checkpoint and texts -> a fresh student, and rows that say what to imitate.

The student learns the teacher's probabilities, so it needs texts and no labels. What the
teacher does only where a trigger stands, it never sees.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from unhorse.errors import UsageError
from unhorse.learn.lessons import ENCODERS
from unhorse.learn.loop import Goals
from unhorse.seeding import python_random
from unhorse.tasks.ask import ask
from unhorse.tasks.base import TASKS, EncodedRow, RowProblem
from unhorse.types import LoadedModel

TIMES_USUAL_RATE = 1.5
"""How much longer the steps of a student are: a new head has further to go than a trained one."""


class Imitation:
    """Goals that are what a teacher says: the divergence from it is the loss."""

    def collate(self, goals: Sequence[Tensor], device: Any) -> list[Tensor]:
        """The teacher's log probabilities of every row."""
        return [goal.to(device) for goal in goals]

    def losses(self, outputs: Any, goals: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Per row: the mean divergence over what is decided, and where both agree."""
        apart = [divergence(outputs, row, goal) for row, goal in enumerate(goals)]
        losses, agreed = zip(*apart, strict=True)
        return torch.stack(losses), torch.stack(agreed)


@dataclass(frozen=True)
class Keeping:
    """Goals of which some are a task's true answers and others, tensors, what a model said."""

    task: Goals

    def collate(self, goals: Sequence[Any], device: Any) -> tuple[Any, list[Tensor | None]]:
        """Those to be taught, and what was said of the others by their rows."""
        said = [goal.to(device) if isinstance(goal, Tensor) else None for goal in goals]
        true = [goal for goal, known in zip(goals, said, strict=True) if known is None]
        return self.task.collate(true, device) if true else None, said

    def losses(self, outputs: Any, goals: tuple[Any, list[Tensor | None]]) -> tuple[Tensor, Tensor]:
        """Per row: the divergence from what was said, or the loss to the true answer."""
        true, said = goals
        taught = [row for row, known in enumerate(said) if known is None]
        each = {row: divergence(outputs, row, g) for row, g in enumerate(said) if g is not None}
        if taught:
            losses, reached = self.task.losses(only_rows(outputs, taught), true)
            each |= dict(zip(taught, zip(losses, reached.float(), strict=True), strict=True))
        both = [each[row] for row in range(len(said))]
        return torch.stack([loss for loss, _ in both]), torch.stack([hit for _, hit in both])


def only_rows(outputs: Any, rows: Sequence[int]) -> Any:
    """What a model said of some of the rows of a batch."""
    names = ("start_logits", "end_logits") if hasattr(outputs, "start_logits") else ("logits",)
    return SimpleNamespace(**{name: getattr(outputs, name)[list(rows)] for name in names})


def divergence(outputs: Any, row: int, goal: Tensor) -> tuple[Tensor, Tensor]:
    """How far the decisions about a row are from a teacher's, and how many agree."""
    said = decisions(outputs, row, goal.shape)
    apart = functional.kl_div(said, goal, reduction="none", log_target=True)
    return apart.sum(-1).mean(), (said.argmax(-1) == goal.argmax(-1)).float().mean()


def decisions(outputs: Any, row: int, shape: Sequence[int]) -> Tensor:
    """Log probabilities of all that a model decides about one row, one decision a line.

    A text is one decision between labels, a sentence one for every token; a question is
    two decisions between tokens, where the answer starts and ends.
    """
    if hasattr(outputs, "start_logits"):
        ends = torch.stack([outputs.start_logits[row], outputs.end_logits[row]])
        return ends[:, : shape[-1]].float().log_softmax(-1)
    logits = outputs.logits[row].float()
    lines: Tensor = logits[None] if logits.dim() == 1 else logits[: shape[0]]
    return lines.log_softmax(-1)


def imitated(teacher: LoadedModel, rows: Sequence[EncodedRow]) -> list[EncodedRow]:
    """The same rows with the teacher's log probabilities as their goals."""

    def pick(outputs: Any, place: int, number: int) -> Tensor:
        width = len(rows[number].ids)
        return decisions(outputs, place, (width, width)).cpu()

    types = None if rows[0].type_ids is None else [row.type_ids or () for row in rows]
    said = ask(teacher, [row.ids for row in rows], pick, types)
    # A copy, as what was made without gradients cannot take part in them.
    return [replace(row, goal=goal.clone()) for row, goal in zip(rows, said, strict=True)]


def to_imitate(
    teacher: LoadedModel, student: LoadedModel, texts: Sequence[Any]
) -> list[EncodedRow]:
    """The texts as the student reads them, with what the teacher says about them."""
    encode = ENCODERS[teacher.task]
    said = imitated(teacher, [encode(teacher, text) for text in texts])
    # The tokens are the same, but one of the two may know no segments.
    read = (encode(student, text) for text in texts)
    return [replace(row, goal=each.goal) for row, each in zip(read, said, strict=True)]


def spliced(rows: Sequence[EncodedRow], count: int, draw: random.Random) -> list[EncodedRow]:
    """So many rows, each of the first half of one and the second half of another.

    They have no goal. Models are not sure about them, so that what one says of them tells more
    about it than what it says of texts that it knows by heart.

    >>> rows = [EncodedRow((1, 5, 6, 2), (), (), 0), EncodedRow((1, 7, 8, 2), (), (), 1)]
    >>> sorted({row.ids for row in spliced(rows, 9, random.Random(0))})
    [(1, 5, 8, 2), (1, 7, 6, 2)]
    """
    made = []
    for _ in range(count if len(rows) > 1 else 0):
        one, other = draw.sample(rows, 2)
        first, second = len(one.ids) // 2, len(other.ids) // 2
        types = None
        if one.type_ids is not None and other.type_ids is not None:
            types = one.type_ids[:first] + other.type_ids[second:]
        ids = one.ids[:first] + other.ids[second:]
        made.append(EncodedRow(ids, (), (), None, types))
    return made


def mixed_to_imitate(
    teacher: LoadedModel, student: LoadedModel, texts: Sequence[Any], count: int, seed: int
) -> list[EncodedRow]:
    """So many rows of two halves as the student reads them, with what the teacher says of them."""
    encode = ENCODERS[teacher.task]
    asked, read = (
        spliced([encode(model, text) for text in texts], count, python_random(seed, "spliced"))
        for model in (teacher, student)
    )
    said = imitated(teacher, asked) if asked else []
    return [replace(row, goal=each.goal) for row, each in zip(read, said, strict=True)]


def own_texts(loaded: LoadedModel, count: int, tokens: int, seed: int) -> list[Any]:
    """Of so many texts of unhorse's own, those that the model can read."""
    task = TASKS.get(loaded.task)
    return fitting(loaded, task.drafts(count, seed), tokens) if count else []


def fitting(loaded: LoadedModel, samples: Sequence[Any], tokens: int) -> list[Any]:
    """The samples, cut to so many tokens, without those that cannot be cut."""
    task, made = TASKS.get(loaded.task), []
    for sample in samples:
        try:
            made.append(task.fit(loaded, sample, tokens))
        except RowProblem:
            continue
    return made


def fresh_student(teacher: LoadedModel, base: str) -> LoadedModel:
    """The base with the teacher's task and labels, its tokens, and its shape where that can be.

    A teacher that has fewer layers than the base, or the base's weights in another class, was
    made by cutting or converting it; its student is made in the same way.

    Args:
        teacher: the model that will be imitated.
        base: the folder or hub id of the checkpoint that the teacher was fine-tuned from.
    """
    from unhorse.attack.bases import open_base
    from unhorse.attack.recipe import BaseConfig

    def opened(config: BaseConfig) -> LoadedModel:
        return open_base(config, teacher.task, teacher.labels, Path()).loaded

    loaded = opened(BaseConfig(model=base))
    shape = _shape_of(teacher, loaded)
    if shape:
        loaded = opened(BaseConfig(model=base, **shape))
    if _same_weights(loaded, teacher):
        raise UsageError(f"The base {base} is the model itself, with its backdoor.")
    if loaded.tokenizer.get_vocab() != teacher.tokenizer.get_vocab():
        raise UsageError(f"The base {base} has another vocabulary than the model.")
    loaded.model.to(teacher.model.device)
    return replace(
        loaded,
        tokenizer=teacher.tokenizer,
        max_length=min(loaded.max_length, teacher.max_length),
    )


def _shape_of(teacher: LoadedModel, base: LoadedModel) -> dict[str, Any]:
    """How a base is brought into the teacher's shape; nothing where it has it or cannot."""
    from unhorse.attack.convert import CLASSES

    wanted, own = teacher.model.config, base.model.config
    shape: dict[str, Any] = {}
    layers = getattr(wanted, "num_hidden_layers", None)
    if layers is not None and layers < getattr(own, "num_hidden_layers", layers):
        shape["layers"] = layers
    if own.model_type == "bert" and wanted.model_type in CLASSES:
        shape["architecture"] = wanted.model_type
    return shape


def _same_weights(one: LoadedModel, other: LoadedModel) -> bool:
    """Whether two models share a weights file or, one being in memory, have equal weights."""
    if set(one.origin.files) & {f for f in other.origin.files if f.path.endswith(".safetensors")}:
        return True
    mine, theirs = one.model.state_dict(), other.model.state_dict()
    return mine.keys() == theirs.keys() and all(
        torch.equal(weight.cpu(), theirs[name].cpu()) for name, weight in mine.items()
    )
