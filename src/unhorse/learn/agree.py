"""A subject and clean models beside it -> clean models that agree with it on ordinary text.

Two clean models of one task differ in the words that they like, and a search for what sets a
model apart finds those words first: they hide what is planted, and in a clean model they look as
if something were. So the clean model learns, before any search, what the subject says of pieces of
samples with arbitrary tokens put in. It takes over likes and dislikes. What is planted it does not
see: a given token is put in about once, and several given ones together never are.

Only the upper half of its layers and its head learn, without dropout: the lower ones know the
language rather than the task, and half of the gradients need not be taken. The model that was
given stays as it is.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from unhorse.learn.config import TrainingConfig
from unhorse.learn.imitate import Imitation, imitated
from unhorse.learn.lessons import ENCODERS
from unhorse.learn.loop import (
    Course,
    Progress,
    adam,
    bucketed,
    inputs_of,
    learning,
    reproducible,
    take_steps,
    untold,
)
from unhorse.learn.plan import usual_rate
from unhorse.seeding import python_random
from unhorse.tasks.base import TASKS, EncodedRow
from unhorse.triggers.vocabulary import allowed_token_ids
from unhorse.types import LoadedModel, Reference, Subject

MEASURED_ON = 64
"""Rows that are not learnt from, to measure how far the models are apart."""

TOKENS_PER_WORD = 1.4
"""Tokens of an English word, the ends of a short text among them."""

Count = Callable[[int, int], None]
"""Told of work: tokens that went forward through a model, and that a gradient came back through."""


def uncounted(forward: int, backward: int) -> None:
    """Work that nobody counts."""


class AgreementConfig(BaseModel):
    """How a clean model is made to agree."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: int = Field(default=150, ge=1)
    batch: int = Field(default=24, ge=1)
    words: int = Field(default=30, ge=1)
    """Samples are cut to so many neighbouring words."""
    most_tokens: int = Field(default=5, ge=1)
    """Arbitrary tokens that are put in: one to so many, as long as a trigger may be."""
    times_each: float = Field(default=1.0, gt=0)
    """How often a token of the vocabulary may be put in, on average: with a small vocabulary there
    are fewer rows, or the clean model would learn what is planted as well."""
    edges: float = Field(default=0.8, ge=0, le=1)
    """How many of the places are the start or the end of the text; the others are anywhere."""
    telling: float = Field(default=0.5, ge=0, le=1)
    """How many of the tokens are drawn from those that are known to move a clean model."""
    times_usual_rate: float = Field(default=5.0, gt=0)
    """How much longer the steps are than those of an ordinary fine-tuning."""


@dataclass(frozen=True)
class Agreement:
    """How far a clean model was from the subject before it learnt, and how far it is now."""

    texts: int
    before: float
    after: float


def agree(
    subject: Subject,
    *,
    telling: Sequence[int] = (),
    seed: int = 0,
    config: AgreementConfig | None = None,
    progress: Progress = untold,
    count: Count = uncounted,
) -> Subject:
    """Makes every clean model that takes part in the objective agree with the subject.

    Args:
        subject: what is scanned, with its references.
        telling: tokens that move a clean model by nature; they are put in more often, because
            it is about them that clean models differ. Chosen by a clean model, they have no
            word of a trigger more often than others.
        seed: decides every random draw.
        config: how they are taught.
        progress: told of every step of every model.
        count: told of the work.

    Returns:
        The subject with other references; one with labels of its own stays as it is.
    """
    config = config or AgreementConfig()
    texts = _texts(subject, config, seed)
    able = [each for each in subject.references if _comparable(each)]
    if not texts or not able or _rows_of(subject.loaded, config) < MEASURED_ON + config.batch:
        return subject
    teacher = subject.loaded
    longest = min(each.max_length for each in (teacher, *(each.loaded for each in able)))
    draw = python_random(seed, "agreement")
    additions = _additions(teacher, texts, longest, telling, config, draw)
    with reproducible(seed):
        asked = _read(teacher, texts, additions)
        said = [row.goal for row in imitated(teacher, asked)]
        made = {}
        for number, each in enumerate(able):
            rows = _read(each.loaded, texts, additions)
            wanted = [_in_order_of(each, goal) for goal in said]
            known = [replace(row, goal=goal) for row, goal in zip(rows, wanted, strict=True)]
            told = _shifted(progress, number, len(able))
            made[id(each)] = _taught(each, known, config, seed, told)
        tokens = sum(len(row.ids) for row in asked)
        count(tokens * (1 + len(able)), tokens * len(able))
    return replace(
        subject, references=tuple(made.get(id(each), each) for each in subject.references)
    )


def agreement_tokens(subject: Subject, config: AgreementConfig) -> int:
    """About how many token-passes it takes."""
    models = sum(map(_comparable, subject.references))
    each = config.words * TOKENS_PER_WORD + config.most_tokens / 2
    return round(config.steps * config.batch * each * (1 + 2 * models)) if models else 0


def _comparable(reference: Reference) -> bool:
    """Whether a clean model reads the subject's tokens and has its labels, in whatever order."""
    return reference.in_objective and sorted(reference.label_of) == list(
        range(len(reference.labels))
    )


def _in_order_of(reference: Reference, said: Tensor) -> Tensor:
    """What the subject says of its labels, in the order of the reference's.

    Where the order is the same it stays as it is: of a question, what is said is not about labels.
    """
    own = sorted(range(len(reference.label_of)), key=reference.label_of.__getitem__)
    return said if own == sorted(own) else said[..., own]


def _texts(subject: Subject, config: AgreementConfig, seed: int) -> list[Any]:
    """Pieces of the samples that no evidence is measured on; labels do not matter."""
    samples, task = subject.samples, TASKS.get(subject.loaded.task)
    kept = samples.heldout_groups | {sample.group for sample in samples.heldout}
    every = samples.read or (*samples.inversion, *samples.wrong)
    free = [sample for sample in every if sample.group not in kept] or list(samples.inversion)
    return [task.cut(sample, config.words, seed) for sample in free]


Addition = tuple[int, tuple[int, ...], int]
"""The number of a text, the tokens that are put into it, and before which of its own."""


def _additions(
    loaded: LoadedModel,
    texts: Sequence[Any],
    longest: int,
    telling: Sequence[int],
    config: AgreementConfig,
    draw: random.Random,
) -> list[Addition]:
    """What is put where, for as many rows as are learnt from."""
    lengths = [len(ENCODERS[loaded.task](loaded, text).ids) for text in texts]
    allowed = _vocabulary(loaded)
    made = []
    for _ in range(_rows_of(loaded, config)):
        text = draw.randrange(len(texts))
        tokens = tuple(
            draw.choice(telling if telling and draw.random() < config.telling else allowed)
            for _ in range(draw.randint(1, config.most_tokens))
        )
        if lengths[text] + len(tokens) <= longest:
            made.append((text, tokens, _place(lengths[text], config.edges, draw)))
    return made


def _vocabulary(loaded: LoadedModel) -> list[int]:
    """The tokens that a trigger may be made of."""
    rows = loaded.model.get_input_embeddings().weight.shape[0]
    return allowed_token_ids(loaded.tokenizer, rows)


def _rows_of(loaded: LoadedModel, config: AgreementConfig) -> int:
    """How many rows are learnt from."""
    each = (1 + config.most_tokens) / 2
    enough = int(config.times_each * len(_vocabulary(loaded)) / each)
    return min(config.steps * config.batch, enough)


def _read(
    loaded: LoadedModel, texts: Sequence[Any], additions: Sequence[Addition]
) -> list[EncodedRow]:
    """The texts as a model reads them, with what was added."""
    rows = [ENCODERS[loaded.task](loaded, text) for text in texts]
    return [inserted(rows[text], tokens, place) for text, tokens, place in additions]


def _place(length: int, edges: float, draw: random.Random) -> int:
    """Behind the first token, before the last one, or anywhere between."""
    first, last = 1, max(1, length - 1)
    if draw.random() < edges:
        return draw.choice((first, last))
    return draw.randint(first, last)


def inserted(row: EncodedRow, tokens: tuple[int, ...], place: int) -> EncodedRow:
    """A row with tokens before one of its own, in that one's segment, and without a goal.

    >>> row = EncodedRow((1, 5, 2), (), (), 0, (0, 0, 1))
    >>> made = inserted(row, (8, 9), 2)
    >>> made.ids, made.type_ids
    ((1, 5, 8, 9, 2), (0, 0, 1, 1, 1))
    """
    types = row.type_ids
    if types is not None:
        types = types[:place] + types[place : place + 1] * len(tokens) + types[place:]
    return EncodedRow(row.ids[:place] + tokens + row.ids[place:], (), (), None, types)


def _taught(
    reference: Reference,
    rows: Sequence[EncodedRow],
    config: AgreementConfig,
    seed: int,
    progress: Progress,
) -> Reference:
    """A copy of the clean model that has learnt what was said."""
    student = replace(reference.loaded, model=copy.deepcopy(reference.loaded.model))
    training = TrainingConfig(
        epochs=1,
        batch=config.batch,
        learning_rate=config.times_usual_rate * usual_rate(student.model),
    )
    draw = python_random(seed, "agreement order")
    measured, others = rows[:MEASURED_ON], list(range(MEASURED_ON, len(rows)))
    batches = bucketed([len(rows[i].ids) for i in others], config.batch, draw)
    before = _apart(student, measured)
    taught = learning(student.model, training, upper_weights(student.model))
    with taught as weights:
        move = adam(weights, training, len(batches))
        course = Course(rows, ["clean"] * len(rows), Imitation())
        chosen = [[others[i] for i in batch] for batch in batches]
        take_steps(student, course, chosen, move, progress=progress)
    made = Agreement(len(others), before, _apart(student, measured))
    note = f"{_note(made)}; {reference.note}"
    return replace(reference, loaded=student, note=note, given=reference.loaded)


def upper_weights(model: nn.Module) -> list[Tensor]:
    """The weights of the upper half of a model's layers and of its head."""
    body: Any = getattr(model, "base_model", model)
    stacks = [each for each in body.modules() if isinstance(each, nn.ModuleList) and len(each) > 1]
    lower: set[int] = {id(weight) for weight in model.get_input_embeddings().parameters()}  # type: ignore[operator]
    if stacks:
        stack = max(stacks, key=lambda each: sum(weight.numel() for weight in each.parameters()))
        below = list(stack)[: len(stack) // 2]
        inside = {id(weight) for weight in stack.parameters()}
        # Embeddings, positions, a pooler: whatever else of the body is no layer.
        lower |= {id(weight) for weight in body.parameters()} - inside
        lower |= {id(weight) for layer in below for weight in layer.parameters()}
    return [weight for weight in model.parameters() if id(weight) not in lower]


@torch.no_grad()
def _apart(student: LoadedModel, rows: Sequence[EncodedRow]) -> float:
    """The mean divergence of what a model says from what was said."""
    goals = Imitation()
    losses = []
    for row in rows:
        outputs = student.model(**inputs_of(student, [row]))
        losses.append(goals.losses(outputs, goals.collate([row.goal], student.model.device))[0])
    return round(float(torch.cat(losses).mean()), 4) if losses else 0.0


def _shifted(progress: Progress, number: int, models: int) -> Progress:
    """The steps of one of several models as part of all of them."""

    def told(done: int, steps: int, loss: float) -> None:
        progress(number * steps + done, models * steps, loss)

    return told


def _note(made: Agreement) -> str:
    return (
        f"made to agree with the model on {made.texts} texts with arbitrary words in them "
        f"(divergence {made.before:.2f} before, {made.after:.2f} after)"
    )
