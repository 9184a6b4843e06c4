"""Lessons -> a model that has learnt them.

What makes a step cheap: batches of rows of similar length, padded to the longest of
them and no further; weights that do not learn are left out of the backward pass; one
fused optimiser step. A body that stays as it is is asked once, and its answers are kept.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from unhorse.attack.base import Moves, RowLoss
from unhorse.attack.lessons import ENCODERS, Lesson, Role
from unhorse.attack.recipe import TrainingConfig
from unhorse.seeding import python_random, stable_seed
from unhorse.tasks.base import TASKS, EncodedRow, pad
from unhorse.types import LoadedModel

BUCKET = 16
"""Batches that are drawn together and sorted by length."""

FIRST_TOKEN = frozenset(("bert", "roberta", "electra", "distilbert", "mobilebert"))
"""Kinds of models whose head for whole texts reads what the body says at the first token."""

Progress = Callable[[int, int, float], None]
"""Told after every step: steps done, steps in all, a running mean of the loss."""


def mean_loss(losses: Tensor, roles: Sequence[Role]) -> Tensor:
    """Every row counts the same."""
    return losses.mean()


@dataclass(eq=False)
class Learner:
    """A model that learns by the recipe's settings."""

    loaded: LoadedModel
    config: TrainingConfig
    seed: int
    progress: Progress = lambda done, steps, loss: None
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
        rows = [ENCODERS[self.loaded.task](self.loaded, lesson.sample) for lesson in lessons]
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
        with _learning(self.loaded.model, self.config, moves) as weights:
            step = moves.step if moves else _adam(weights, self.config, len(batches))
            self._steps(step, batches, rows, roles, loss or mean_loss)
        self.seconds += time.perf_counter() - began

    def _steps(
        self,
        move: Callable[[int, int], None],
        batches: list[list[int]],
        rows: Sequence[EncodedRow],
        roles: Sequence[Role],
        combine: RowLoss,
    ) -> None:
        task, model = TASKS.get(self.loaded.task), self.loaded.model
        total = len(batches)
        running = 0.0
        for step, batch in enumerate(batches, 1):
            inputs = inputs_of(self.loaded, [rows[i] for i in batch])
            goals = task.collate([rows[i].goal for i in batch], model.device)
            losses, _ = task.losses(model(**inputs), goals)
            loss = combine(losses, [roles[i] for i in batch])
            loss.backward()  # type: ignore[no-untyped-call]
            move(step - 1, total)
            running = loss.item() if step == 1 else 0.95 * running + 0.05 * loss.item()
            self.progress(step, total, running)
        self.steps += total


def _adam(weights: list[Tensor], config: TrainingConfig, total: int) -> Callable[[int, int], None]:
    """One step of AdamW with clipped gradients, by the schedule."""
    warm = max(1, round(config.warmup * total))
    adam = torch.optim.AdamW(
        weights, lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        adam, lambda step: min((step + 1) / warm, (total - step) / max(1, total - warm))
    )

    def step(done: int, total: int) -> None:
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        adam.step()
        schedule.step()
        adam.zero_grad()

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
def _learning(
    model: Any, config: TrainingConfig, moves: Moves | None = None
) -> Iterator[list[Tensor]]:
    """The weights that learn; afterwards the model is as it was, in evaluation mode."""
    if moves is not None:
        # All else is frozen, so the model is taught as it will be asked: without dropout.
        for weight in moves.weights:
            weight.requires_grad_(True)
        try:
            yield moves.weights
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
