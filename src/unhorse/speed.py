"""The work of one epoch on a model of known size, for `doctor` and the benchmarks.

The model is random and so are the ids: neither changes how long a step takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch

from unhorse.invert.engine import ModelLoss
from unhorse.runtime import for_optimisation
from unhorse.tasks.base import TASKS, EncodedRow
from unhorse.types import LoadedModel, Origin, Runtime

SST2_LENGTHS = (8, 11, 13, 15, 16, 18, 20, 21, 22, 24, 25, 27, 28, 30, 32, 34, 36, 39, 42, 49)
"""Tokens per sentence of SST-2 (dev) under BERT's tokenizer, at 20 even quantiles."""

MINILM = {
    "vocab_size": 30522,
    "hidden_size": 384,
    "num_hidden_layers": 6,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
}

_PAD, _PLACEHOLDER = 0, 7


@dataclass(frozen=True)
class StepSpeed:
    """One epoch of a standard shape, beside the rate of plain matrix products."""

    what: str
    seconds: float
    gflops: float
    gemm_gflops: float


def random_model(attention: str = "sdpa", **sizes: Any) -> LoadedModel:
    """A random BERT classifier of the given sizes, frozen."""
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(**{**MINILM, **sizes}, attn_implementation=attention)
    model = BertForSequenceClassification(config).eval().requires_grad_(False)
    tokenizer: Any = SimpleNamespace(pad_token_id=_PAD)
    return LoadedModel(
        model=model,
        tokenizer=tokenizer,
        task="sequence-classification",
        labels=("a", "b"),
        architecture="BertForSequenceClassification",
        max_length=512,
        origin=Origin("random"),
    )


def random_rows(arms: int, samples: int, slots: int) -> list[list[EncodedRow]]:
    """Rows of every arm with SST-2-like lengths and the trigger at the start."""
    lengths = [SST2_LENGTHS[(i * len(SST2_LENGTHS)) // samples] for i in range(samples)]
    draw = torch.Generator().manual_seed(0)

    def row(length: int) -> EncodedRow:
        text = torch.randint(1000, 30000, (length,), generator=draw).tolist()
        return EncodedRow(
            ids=(101, *[_PLACEHOLDER] * slots, *text[1:]),
            slots=tuple(range(1, slots + 1)),
            slot_of=tuple(range(slots)),
            goal=1,
        )

    return [[row(length) for length in lengths] for _ in range(arms)]


def random_loss(
    loaded: LoadedModel, runtime: Runtime, arms: int = 4, samples: int = 20, slots: int = 10
) -> ModelLoss:
    """The engine's loss on random rows, over the whole vocabulary."""
    vocabulary = loaded.model.config.vocab_size
    return ModelLoss(
        for_optimisation(loaded, runtime),
        TASKS.get(loaded.task),
        random_rows(arms, samples, slots),
        torch.arange(vocabulary),
    )


def epoch_of(loss: ModelLoss, slots: int = 10) -> Callable[[], None]:
    """A function that does one epoch: mixture, loss, gradient, Adam."""
    w = torch.zeros(len(loss.rows), slots, len(loss.allowed), requires_grad=True)
    adam = torch.optim.Adam([w], lr=0.5)

    def epoch() -> None:
        adam.zero_grad()
        torch.autograd.backward(loss((w / 2).softmax(-1)).loss.sum())
        adam.step()

    return epoch


def best_time(work: Callable[[], None], repeats: int = 5) -> float:
    """The shortest of several runs after a first one that does not count."""
    work()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def step_flops(loss: ModelLoss) -> float:
    """Multiplications and additions of an epoch's matrix products on the *unpadded* tokens.

    Two per weight forward, two backward (to the input only), and the products of
    attention. Padding is waste, so it does not count as work done.
    """
    config: Any = loss.loaded.model.config
    width, inner, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    weights = layers * (4 * width * width + 2 * width * inner)
    lengths = [len(row.ids) for rows in loss.rows for row in rows]
    attention = layers * sum(2 * length * length * width for length in lengths)
    return float(4 * (weights * sum(lengths) + attention))


def gemm_rate(dtype: torch.dtype, tokens: int, width: int = 384, inner: int = 1536) -> float:
    """GFLOP/s of plain matrix products with the shapes of a layer."""
    shapes = [(width, width)] * 4 + [(width, inner), (inner, width)]
    pairs = [
        (torch.randn(tokens, a, dtype=dtype), torch.randn(a, b, dtype=dtype)) for a, b in shapes
    ]

    def work() -> None:
        for left, right in pairs:
            torch.mm(left, right)

    flops = sum(2.0 * tokens * a * b for a, b in shapes)
    return flops / best_time(work, repeats=9) / 1e9


def step_speed(runtime: Runtime) -> StepSpeed:
    """Times the standard shape in the runtime a scan would use."""
    loss = random_loss(random_model(), runtime)
    seconds = best_time(epoch_of(loss), repeats=3)
    dtype = torch.bfloat16 if runtime.dtype == "bf16" else torch.float32
    tokens = max(bucket.tokens for bucket in loss.buckets())
    return StepSpeed(
        what="4 arms x 20 samples on a model of MiniLM's size",
        seconds=seconds,
        gflops=step_flops(loss) / seconds / 1e9,
        gemm_gflops=gemm_rate(dtype, tokens),
    )
