"""`fine-prune`: silences what is least active on clean samples, then fine-tunes.

Fine-pruning (Liu et al., RAID 2018): a backdoor uses neurons that clean inputs leave
alone. Theirs are channels of a convolution; here they are the inner neurons of every
feed-forward layer, whose activity is the mean size of what they hand on. They are
silenced in steps, least active first over every layer alike, until the clean metric on
the watched rows falls by more than `tolerance`; they stay silent while the rest is taught.
Needs no trigger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from pydantic import Field
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from unhorse.learn.lessons import Lesson
from unhorse.learn.loop import inputs_of
from unhorse.remove.base import REMOVALS, Case, RemovalConfig
from unhorse.remove.metric import row_scores
from unhorse.remove.records import Cleaned
from unhorse.remove.stamps import encoder
from unhorse.remove.teach import lessons_course, teach
from unhorse.tasks.base import EncodedRow, batches_by_length
from unhorse.types import LoadedModel


class FinePruneConfig(RemovalConfig):
    """Pruning, then fine-tuning."""

    step: float = Field(default=0.1, gt=0, le=1)
    """The share of the neurons of a layer that is silenced at a time."""
    most: float = Field(default=0.8, gt=0, lt=1)
    """The share that may be silenced in all."""
    tolerance: float = Field(default=0.02, ge=0)
    """The fall of the clean metric on the watched rows at which pruning ends."""


class FinePruning:
    """Silences neurons and teaches the rest."""

    name = "fine-prune"
    needs_triggers = False
    needs_base = False
    config: type[RemovalConfig] = FinePruneConfig

    def remove(self, case: Case, config: FinePruneConfig) -> Cleaned:
        """The subject without its idle neurons."""
        pupil = case.pupil()
        encode = encoder(case.task, case.subject)
        idle = idle_first(pupil, [encode(sample) for sample in case.rows.train])
        share = _prune(pupil, case, config, idle)
        course = lessons_course(case, [Lesson(sample) for sample in case.rows.train])
        taught = teach(
            pupil, case, config, lambda epoch: course, after_step=lambda: silence(idle, share)
        )
        return Cleaned(pupil, taught, {"silenced": round(share, 3), "layers": len(idle)})


Order = list[tuple[Any, Tensor]]
"""Every layer that reads inner neurons, and these neurons, the least active first."""


def outward_layers(model: Any) -> list[nn.Module]:
    """The layers of the body that lead from many inner neurons back to the model's width."""
    return [
        module
        for module in model.base_model.modules()
        if (isinstance(module, nn.Linear) and module.in_features > module.out_features)
        or (isinstance(module, Conv1D) and module.nx > module.nf)
    ]


def idle_first(loaded: LoadedModel, rows: Sequence[EncodedRow]) -> Order:
    """Asks all rows and orders the inner neurons by their activity; padding does not count."""
    layers = outward_layers(loaded.model)
    sums: dict[int, Tensor] = {}
    with torch.inference_mode():
        for batch in batches_by_length([len(row.ids) for row in rows]):
            inputs = inputs_of(loaded, [rows[i] for i in batch])
            with _listening(layers, sums, inputs["attention_mask"]):
                loaded.model(**inputs)
    return [
        (layer, sums[number].argsort(stable=True).clone())
        for number, layer in enumerate(layers)
        if number in sums
    ]


@contextmanager
def _listening(
    layers: Sequence[nn.Module], sums: dict[int, Tensor], mask: Tensor
) -> Iterator[None]:
    """Within this context, what every layer reads is added up."""

    def heard(number: int) -> Any:
        def listen(_module: nn.Module, given: tuple[Tensor, ...]) -> None:
            read = given[0].float().abs()
            if read.shape[:-1] == mask.shape:
                read = read * mask.unsqueeze(-1)
            total = read.flatten(0, -2).sum(0)
            sums[number] = sums.get(number, torch.zeros_like(total)) + total

        return listen

    handles = [
        layer.register_forward_pre_hook(heard(number)) for number, layer in enumerate(layers)
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def silence(idle: Order, share: float) -> None:
    """Nothing is read any more from this share of the inner neurons of every layer."""
    with torch.no_grad():
        for layer, neurons in idle:
            gone = neurons[: int(share * len(neurons))]
            if isinstance(layer, Conv1D):
                layer.weight[gone] = 0.0
            else:
                layer.weight[:, gone] = 0.0


def _prune(pupil: LoadedModel, case: Case, config: FinePruneConfig, idle: Order) -> float:
    """Silences more and more; the share before the metric fell too far is what stays."""
    watch, kept = case.rows.watch, 0.0
    whole = row_scores(pupil, watch).value
    original = [layer.weight.detach().clone() for layer, _ in idle]
    while kept + config.step <= config.most + 1e-9:
        silence(idle, kept + config.step)
        if row_scores(pupil, watch).value < whole - config.tolerance:
            break
        kept += config.step
    with torch.no_grad():
        for (layer, _), weight in zip(idle, original, strict=True):
            layer.weight.copy_(weight)
    silence(idle, kept)
    return kept


REMOVALS.register(FinePruning.name)(FinePruning())
