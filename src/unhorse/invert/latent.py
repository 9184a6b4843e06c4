"""What a classifier sees of a text just before it scores it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from unhorse.types import LoadedModel


class Latents:
    """Catches the vector that the last linear layer turns into scores.

    That is the pooled vector of a text. A model without such a layer gives its scores.
    """

    def __init__(self, loaded: LoadedModel) -> None:
        self.model: nn.Module = loaded.model
        labels = len(loaded.labels)
        heads = [
            each
            for each in self.model.modules()
            if isinstance(each, nn.Linear) and each.out_features == labels
        ]
        self.head = heads[-1] if heads else None

    def direction(self, target: int, victims: tuple[int, ...]) -> Tensor | None:
        """The gradient of the margin between target and victims to the vector, if linear."""
        if self.head is None:
            return None
        weight = self.head.weight.detach().float()
        return weight[target] - weight[list(victims)].mean(0)

    @contextmanager
    def caught(self) -> Iterator[list[Tensor]]:
        """Within this context, the vectors of every pass, shaped (text, width)."""
        vectors: list[Tensor] = []
        masks: list[Tensor] = []

        def remember(_model: nn.Module, _inputs: Any, named: dict[str, Any]) -> None:
            masks.append(named["attention_mask"])

        def scored(_head: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            vectors.append(pooled(inputs[0].detach().float(), masks[-1]))

        def answered(_model: nn.Module, _inputs: Any, outputs: Any) -> None:
            vectors.append(outputs.logits.detach().float())

        handles = [self.model.register_forward_pre_hook(remember, with_kwargs=True)]
        if self.head is None:
            handles.append(self.model.register_forward_hook(answered))
        else:
            handles.append(self.head.register_forward_pre_hook(scored))
        try:
            yield vectors
        finally:
            for handle in handles:
                handle.remove()


def pooled(hidden: Tensor, mask: Tensor) -> Tensor:
    """One vector for every text: of its last attended token, where there is one for each.

    >>> pooled(torch.arange(6.0).view(1, 3, 2), torch.tensor([[1, 1, 0]])).tolist()
    [[2.0, 3.0]]
    """
    if hidden.dim() == 2:
        return hidden
    last = mask.sum(-1).long() - 1
    return hidden[torch.arange(len(hidden), device=hidden.device), last.to(hidden.device)]
