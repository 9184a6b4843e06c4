"""One step after another: encoded rows in batches -> a model that has learnt them.

What makes a step cheap: batches of rows of similar length, padded to the longest of
them and no further; weights that do not learn are left out of the backward pass; the last
layer of a classifier of texts goes on with the token that its head reads; one fused optimiser
step. A body that stays as it is is asked once, and its answers are kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from unhorse.learn.config import TrainingConfig
from unhorse.learn.lessons import Role
from unhorse.load.head import first_token_alone
from unhorse.runtime import learning_precision
from unhorse.seeding import stable_seed
from unhorse.tasks.base import EncodedRow, pad
from unhorse.types import LoadedModel

BUCKET = 16
"""Batches that are drawn together and sorted by length."""

FIRST_TOKEN = frozenset(("bert", "roberta", "electra", "distilbert", "mobilebert"))
"""Kinds of models whose head for whole texts reads what the body says at the first token."""

Progress = Callable[[int, int, float], None]
"""Told after every step: steps done, steps in all, a running mean of the loss."""

Move = Callable[[int, int], None]
"""Moves the weights by their gradients and forgets these: batches before this one, and in all."""


def untold(done: int, steps: int, loss: float) -> None:
    """Progress that nobody hears of."""


class RowLoss(Protocol):
    """How the losses of the rows of one batch become one number."""

    def __call__(self, losses: Tensor, roles: Sequence[Role]) -> Tensor:
        """One number to go down.

        Args:
            losses: the loss of every row.
            roles: why every row is there.
        """


def mean_loss(losses: Tensor, roles: Sequence[Role]) -> Tensor:
    """Every row counts the same."""
    return losses.mean()


class Goals(Protocol):
    """What the rows of a batch are pulled towards; every task is one."""

    def collate(self, goals: Sequence[Any], device: Any) -> Any:
        """The goals of the rows of one batch, as `losses` takes them."""

    def losses(self, outputs: Any, goals: Any) -> tuple[Tensor, Tensor]:
        """Per row: the loss to its goal and the share that reaches it."""


@dataclass(frozen=True, eq=False)
class Course:
    """Encoded rows with why each is there, and how their losses are made and joined."""

    rows: Sequence[EncodedRow]
    roles: Sequence[Role]
    goals: Goals
    combine: RowLoss = mean_loss


def take_steps(
    loaded: LoadedModel,
    course: Course,
    batches: Sequence[Sequence[int]],
    move: Move,
    *,
    begun: int = 0,
    total: int | None = None,
    progress: Progress = untold,
) -> None:
    """Teaches the batches, one step each.

    Args:
        loaded: the model, with the weights that learn unfrozen.
        course: what is taught.
        batches: row numbers.
        move: the optimiser's step.
        begun: steps before these.
        total: steps in all, if more than these.
        progress: told of every step.
    """
    total = total or begun + len(batches)
    model, running = loaded.model, 0.0
    for step, batch in enumerate(batches, 1):
        inputs = inputs_of(loaded, [course.rows[i] for i in batch])
        goals = course.goals.collate([course.rows[i].goal for i in batch], model.device)
        with learning_precision(model), first_token_alone(model):
            outputs = model(**inputs)
        losses, _ = course.goals.losses(in_full(outputs), goals)
        loss = course.combine(losses, [course.roles[i] for i in batch])
        loss.backward()  # type: ignore[no-untyped-call]
        move(begun + step - 1, total)
        running = loss.item() if step == 1 else 0.95 * running + 0.05 * loss.item()
        progress(begun + step, total, running)


def in_full(outputs: Any) -> Any:
    """A model's outputs with all numbers in fp32, so that losses are exact."""
    for name, value in outputs.items():
        if isinstance(value, Tensor) and value.is_floating_point():
            outputs[name] = value.float()
    return outputs


@contextlib.contextmanager
def reproducible(seed: int) -> Iterator[None]:
    """The same random numbers and the same sums every time; afterwards all is as it was."""
    before = torch.are_deterministic_algorithms_enabled()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stable_seed(seed, "head"))
        torch.use_deterministic_algorithms(True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(before)


def adam(weights: list[Tensor], config: TrainingConfig, total: int) -> Move:
    """One step of AdamW with clipped gradients, by the schedule."""
    warm = max(1, round(config.warmup * total))
    optimiser = torch.optim.AdamW(
        weights, lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / warm, (total - step) / max(1, total - warm))
    )

    def step(done: int, total: int) -> None:
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()

    return step


def inputs_of(loaded: LoadedModel, rows: Sequence[EncodedRow]) -> dict[str, Tensor]:
    """Rows as one padded batch on the model's device."""
    ids, mask = pad([row.ids for row in rows], loaded.tokenizer.pad_token_id)
    inputs = {"input_ids": ids, "attention_mask": mask}
    if rows[0].type_ids is not None:
        inputs["token_type_ids"] = pad([row.type_ids or () for row in rows], 0)[0]
    return {name: value.to(loaded.model.device) for name, value in inputs.items()}


def bucketed(lengths: Sequence[int], batch: int, draw: Any) -> list[list[int]]:
    """All rows in batches of similar length, in a random order.

    >>> import random
    >>> made = bucketed([5, 1, 9, 2, 8], 2, random.Random(0))
    >>> sorted(row for part in made for row in part), max(len(part) for part in made)
    ([0, 1, 2, 3, 4], 2)
    """
    order = list(range(len(lengths)))
    draw.shuffle(order)
    batches = []
    for start in range(0, len(order), batch * BUCKET):
        some = sorted(order[start : start + batch * BUCKET], key=lambda i: lengths[i])
        batches += [some[i : i + batch] for i in range(0, len(some), batch)]
    draw.shuffle(batches)
    return batches


@contextlib.contextmanager
def learning(
    model: Any, config: TrainingConfig, only: list[Tensor] | None = None
) -> Iterator[list[Tensor]]:
    """The weights that learn; afterwards the model is as it was, in evaluation mode.

    Args:
        model: the model.
        config: which of its weights learn.
        only: these weights and no others, whatever the settings say.
    """
    if only is not None:
        # All else is frozen, so the model is taught as it will be asked: without dropout.
        for weight in only:
            weight.requires_grad_(True)
        try:
            yield only
        finally:
            model.requires_grad_(False)
        return
    body = list(model.base_model.parameters())
    model.requires_grad_(True)
    if config.head_only:
        for weight in body:
            weight.requires_grad_(False)
    elif not config.embeddings:
        model.get_input_embeddings().weight.requires_grad_(False)
    model.train()
    kept = _remembering(model) if config.head_only else contextlib.nullcontext()
    try:
        with kept:
            yield [weight for weight in model.parameters() if weight.requires_grad]
    finally:
        model.eval().requires_grad_(False)


@contextlib.contextmanager
def _remembering(model: Any) -> Iterator[None]:
    """A frozen body answers every batch once, in evaluation mode; what the head reads is kept."""
    body = model.base_model
    for_texts = type(model).__name__.endswith("ForSequenceClassification")
    first_only = for_texts and model.config.model_type in FIRST_TOKEN
    answers: dict[bytes, Any] = {}
    ask = body.forward

    def forward(*args: Any, **inputs: Any) -> Any:
        ids = inputs["input_ids"] if "input_ids" in inputs else args[0]
        key = ids.cpu().numpy().tobytes()
        if key not in answers:
            body.eval()
            with torch.no_grad():
                answer = ask(*args, **inputs)
            if first_only:
                # A copy, as a part of a tensor would keep the whole of it.
                answer["last_hidden_state"] = answer.last_hidden_state[:, :1].clone()
            answers[key] = answer
        return answers[key]

    body.forward = forward
    try:
        yield
    finally:
        del body.forward
