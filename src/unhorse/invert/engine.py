"""The objective of a scan: all arms as one batch, gradient to the trigger only.

`ModelLoss` takes mixtures over the allowed tokens, one per arm and slot, and
gives every arm's loss. Behind it, the rows of the arms are sorted into buckets
of similar length and run through the frozen model bucket by bucket; the trigger
is put in by one scatter on the embedding layer's output; only the gradient with
respect to the trigger's vectors is kept. Methods differ in how they make the
mixtures, not in any of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from unhorse.errors import OutOfMemory
from unhorse.invert.budget import Meter
from unhorse.load.adapter import EmbeddingAdapter
from unhorse.load.head import first_token_alone
from unhorse.runtime import is_out_of_memory
from unhorse.tasks.base import EncodedRow, Task, pad, partition
from unhorse.types import LoadedModel

MOST_TOKENS = 2048
"""Tokens in one pass: enough for full-speed matrix products, little memory."""

MOST_OVERHEAD = 150
"""Padding that is worth one pass less, in tokens, for models of any size."""

_BATCHES_KEPT = 64


@dataclass(frozen=True, eq=False)
class Bucket:
    """Rows of similar length, padded, with the places of their trigger tokens."""

    inputs: dict[str, Tensor]
    arm_of_row: Tensor
    slot_row: Tensor
    slot_column: Tensor
    slot_arm: Tensor
    slot_token: Tensor
    goals: Any

    @property
    def tokens(self) -> int:
        """Padded tokens of the pass."""
        return self.inputs["input_ids"].numel()


@dataclass(frozen=True, eq=False)
class ArmLosses:
    """One evaluation: every arm's mean loss (differentiable) and share of hits."""

    loss: Tensor
    hits: Tensor


def table_of(loaded: LoadedModel, allowed: Tensor) -> Tensor:
    """The embeddings of the allowed tokens."""
    return EmbeddingAdapter(loaded.model).table()[allowed.to(loaded.model.device)]


@dataclass(eq=False)
class ModelLoss:
    """One model's loss on the stamped rows of every arm.

    Args:
        loaded: the model, in the precision it is to run in.
        task: how outputs become losses.
        rows: for every arm, its encoded samples.
        allowed: the token ids that mixtures range over.
        most_tokens: padded tokens in one pass.
        count: where work is counted, and refused once a budget is spent.
        table: the embeddings of the allowed tokens, if they have been taken out before.
    """

    loaded: LoadedModel
    task: Task
    rows: Sequence[Sequence[EncodedRow]]
    allowed: Tensor
    most_tokens: int = MOST_TOKENS
    count: Meter = field(default_factory=Meter)
    table: Tensor = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self.adapter = EmbeddingAdapter(self.loaded.model)
        if self.table is None:
            self.table = table_of(self.loaded, self.allowed)
        self._batches: dict[tuple[tuple[int, ...], int | None], list[Bucket]] = {}

    def __call__(self, mixtures: Tensor, arms: Sequence[int] | None = None) -> ArmLosses:
        """Losses of mixtures shaped (arm, slot, allowed token).

        Args:
            mixtures: one for each of the arms.
            arms: the numbers of the arms that they belong to; all of them if None.
        """
        return self.of_vectors(mixtures.to(self.table.device) @ self.table, arms)

    def of_tokens(
        self, choices: Tensor, arms: Sequence[int] | None = None, rows: int | None = None
    ) -> ArmLosses:
        """Losses of hard triggers: `choices` are indices into the allowed tokens.

        An arm may be named several times, to try several triggers of it at once.

        Args:
            choices: one trigger for each of the arms.
            arms: the numbers of the arms that they belong to; all of them if None.
            rows: how many of an arm's samples to ask, the first ones; all if None.
        """
        with torch.no_grad():
            return self.of_vectors(self.table[choices.to(self.table.device)], arms, rows)

    def of_vectors(
        self, vectors: Tensor, arms: Sequence[int] | None = None, rows: int | None = None
    ) -> ArmLosses:
        """Losses of anything that can stand in the slots: vectors shaped (arm, slot, width)."""
        chosen = tuple(range(len(self.rows)) if arms is None else arms)
        loss, hits = _Chunked.apply(vectors, self, chosen, rows)  # type: ignore[no-untyped-call]
        return ArmLosses(loss, hits)

    def run(
        self,
        vectors: Tensor,
        arms: tuple[int, ...],
        with_gradient: bool,
        rows: int | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Losses, hits and the gradient to `vectors`, with smaller passes if memory ends."""
        while True:
            try:
                return self._run(vectors, arms, with_gradient, rows)
            except (MemoryError, RuntimeError) as error:
                self.shrink(error)

    def shrink(self, error: BaseException) -> None:
        """Halves the passes after an error that was a lack of memory; others go on."""
        if not is_out_of_memory(error):
            raise error
        longest = max(len(row.ids) for rows in self.rows for row in rows)
        if self.most_tokens <= longest:
            raise OutOfMemory(
                "The machine's memory does not hold even one sample's pass through the model; "
                "use shorter samples or a machine with more memory."
            ) from error
        self.most_tokens //= 2
        self._batches.clear()

    def buckets(self, arms: Sequence[int] | None = None, rows: int | None = None) -> list[Bucket]:
        """The passes of some arms, made once and kept while the same arms are asked again."""
        chosen = tuple(range(len(self.rows)) if arms is None else arms)
        if (chosen, rows) not in self._batches:
            if len(self._batches) >= _BATCHES_KEPT:
                self._batches.clear()
            self._batches[chosen, rows] = self._bucket(chosen, rows)
        return self._batches[chosen, rows]

    def run_bucket(self, bucket: Bucket, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Per-row loss and hit of one bucket."""
        stamp = vectors[bucket.slot_arm, bucket.slot_token]
        model = self.loaded.model
        stamped = self.adapter.stamped(bucket.slot_row, bucket.slot_column, stamp)
        with stamped, first_token_alone(model):
            outputs = model(**bucket.inputs)
        return self.task.losses(outputs, bucket.goals)

    def _run(
        self, vectors: Tensor, arms: tuple[int, ...], with_gradient: bool, rows: int | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        leaf = vectors.detach().requires_grad_(with_gradient)
        loss = torch.zeros(len(arms), device=leaf.device)
        hits = torch.zeros_like(loss)
        gradient = torch.zeros_like(leaf)
        asked = [len(self.rows[i][:rows]) for i in arms]
        shares = torch.tensor([1.0 / max(n, 1) for n in asked], device=leaf.device)
        for bucket in self.buckets(arms, rows):
            self.count.check()
            share = shares[bucket.arm_of_row]
            with torch.set_grad_enabled(with_gradient):
                row_loss, row_hit = self.run_bucket(bucket, leaf)
                if with_gradient:
                    (part,) = torch.autograd.grad((row_loss * share).sum(), leaf)
                    gradient += part
                    self.count.backward_tokens += bucket.tokens
            self.count.forward_tokens += bucket.tokens
            loss.index_add_(0, bucket.arm_of_row, row_loss.detach() * share)
            hits.index_add_(0, bucket.arm_of_row, row_hit.float() * share)
        return loss, hits, gradient

    def _bucket(self, arms: tuple[int, ...], rows: int | None) -> list[Bucket]:
        flat = [(place, row) for place, arm in enumerate(arms) for row in self.rows[arm][:rows]]
        lengths = [len(row.ids) for _, row in flat]
        groups = partition(lengths, self.most_tokens, self._overhead())
        return [self._make_bucket([flat[i] for i in group]) for group in groups]

    def _make_bucket(self, rows: Sequence[tuple[int, EncodedRow]]) -> Bucket:
        device = self.loaded.model.device
        ids, mask = pad([row.ids for _, row in rows], self.loaded.tokenizer.pad_token_id)
        inputs = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
        if rows[0][1].type_ids is not None:
            types, _ = pad([row.type_ids or () for _, row in rows], 0)
            inputs["token_type_ids"] = types.to(device)
        slots = [
            (number, column, arm, token)
            for number, (arm, row) in enumerate(rows)
            for column, token in zip(row.slots, row.slot_of, strict=True)
        ]
        slot_row, slot_column, slot_arm, slot_token = torch.tensor(slots, device=device).T
        return Bucket(
            inputs=inputs,
            arm_of_row=torch.tensor([arm for arm, _ in rows], device=device),
            slot_row=slot_row,
            slot_column=slot_column,
            slot_arm=slot_arm,
            slot_token=slot_token,
            goals=self.task.collate([row.goal for _, row in rows], device),
        )

    def _overhead(self) -> int:
        """What one more pass costs beside its tokens, in tokens: more of them in a small model."""
        embedding = self.adapter.module.weight
        assert isinstance(embedding, Tensor)
        weights = sum(p.numel() for p in self.loaded.model.parameters()) - embedding.numel()
        return max(8, min(MOST_OVERHEAD, 260_000_000 // max(1, int(weights))))


class _Chunked(torch.autograd.Function):
    """Runs the passes in `forward`, one bucket's graph at a time, and keeps the gradient."""

    @staticmethod
    def forward(
        ctx: Any, vectors: Tensor, model: ModelLoss, arms: tuple[int, ...], rows: int | None
    ) -> tuple[Tensor, Tensor]:
        with_gradient = ctx.needs_input_grad[0]
        with torch.enable_grad():
            loss, hits, gradient = model.run(vectors, arms, with_gradient, rows)
        ctx.save_for_backward(gradient)
        ctx.mark_non_differentiable(hits)
        return loss, hits

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return upstream[0][:, None, None] * gradient, None, None, None
