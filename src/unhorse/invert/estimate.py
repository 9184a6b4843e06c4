"""How long a run will take and how much memory it will need, said before it starts.

Two things are tried out: one bucket through each model, and one step over the
vocabulary. The rest is arithmetic: time scales with padded tokens, memory is
what the process holds now, plus what the largest bucket keeps for its backward
pass, plus the optimiser's copies of the mixtures.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from unhorse.invert.base import MethodConfig, Problem
from unhorse.invert.engine import Bucket, ModelLoss
from unhorse.invert.run import MOST_WEIGHTS

# Of every arm: w, its gradient and two Adam moments.
_COPIES_KEPT = 4
# Of the arms that are advanced together: stacked w, logits, mixture, its gradient, one temporary.
_COPIES_IN_USE = 5

# A backward pass costs about as much as the forward pass it follows.
_FORWARD_SHARE = 0.5


@dataclass(frozen=True)
class Estimate:
    """Expected seconds and peak bytes of a whole run."""

    seconds: float
    bytes: int


def estimate(
    problem: Problem, config: MethodConfig, arm_epochs: int, judging_tokens: int, units: float = 2.0
) -> Estimate:
    """Tries the pieces out and adds them up.

    Args:
        problem: what the method will be given.
        config: the method's configuration.
        arm_epochs: epochs of all arms together.
        judging_tokens: tokens that the judge will send through the subject.
        units: passes of an arm's samples in one epoch, forward and backward ones.
    """
    models = [problem.objective.subject, *problem.objective.references]
    weights = config.trigger_length * len(problem.allowed)
    arms = len(problem.arms)
    together = max(1, min(arms, MOST_WEIGHTS // weights))
    held = resident_bytes()
    shape = (together, config.trigger_length, len(problem.allowed))
    per_epoch, passes = _vocabulary_step(models[0], shape) / together, 0
    judging = 0.0
    group = range(together)
    for model in models:
        seconds, saved = _try_bucket(model, group, config.trigger_length)
        buckets = model.buckets(group)
        per_epoch += seconds * sum(bucket.tokens for bucket in buckets) / together * units / 2
        passes = max(passes, int(saved * max(bucket.tokens for bucket in buckets)))
        judging = max(judging, seconds * _FORWARD_SHARE * judging_tokens)
    mixtures = (_COPIES_KEPT * arms + _COPIES_IN_USE * together) * weights * 4
    return Estimate(
        seconds=per_epoch * arm_epochs + judging,
        bytes=max(peak_bytes(), held + passes + mixtures),
    )


def _try_bucket(model: ModelLoss, arms: Sequence[int], slots: int) -> tuple[float, float]:
    """Seconds and saved bytes per padded token, of a bucket of middle size."""
    buckets = model.buckets(arms)
    bucket = sorted(buckets, key=lambda b: b.tokens)[len(buckets) // 2]
    vectors = torch.zeros(
        len(arms), slots, model.table.shape[1], device=model.table.device
    ).requires_grad_()
    try:
        saved = _one_pass(model, bucket, vectors, counted=True)
    except (MemoryError, RuntimeError) as error:
        model.shrink(error)
        return _try_bucket(model, arms, slots)
    began = time.perf_counter()
    _one_pass(model, bucket, vectors, counted=False)
    return (time.perf_counter() - began) / bucket.tokens, saved / bucket.tokens


def _one_pass(model: ModelLoss, bucket: Bucket, vectors: Tensor, *, counted: bool) -> int:
    storages: dict[int, int] = {}
    weights = {p.untyped_storage().data_ptr() for p in model.loaded.model.parameters()}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if counted and storage.data_ptr() not in weights:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        loss, _ = model.run_bucket(bucket, vectors)
    torch.autograd.grad(loss.sum(), vectors)
    return sum(storages.values())


def _vocabulary_step(model: ModelLoss, shape: tuple[int, int, int]) -> float:
    w = torch.zeros(shape, device=model.table.device, requires_grad=True)
    adam = torch.optim.Adam([w], lr=0.0)
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        torch.autograd.backward((w.softmax(-1) @ model.table).sum())
        adam.step()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def resident_bytes() -> int:
    """Memory that the process holds now (its peak where that is not known)."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    return peak_bytes()


def peak_bytes() -> int:
    """The most memory that the process has held so far.

    Linux's own record is preferred: what `getrusage` tells there includes the peak
    of the process that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
