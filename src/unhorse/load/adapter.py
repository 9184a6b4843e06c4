"""Puts vectors of our own in place of token embeddings, in any architecture.

A forward hook on the input-embedding module replaces chosen rows of its output,
while the ids still go in. So whatever the model derives from ids (positions,
padding, the token it pools) stays right, which `inputs_embeds` cannot promise.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn


class EmbeddingAdapter:
    """The embedding layer of a model, as a place where a trigger can be inserted."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.module: nn.Module = model.get_input_embeddings()

    def table(self) -> Tensor:
        """What the layer gives for every id, in fp32: one row a token.

        Asked of the module rather than read from its weight, because some
        architectures scale their embeddings inside it.
        """
        weight = self.module.weight
        assert isinstance(weight, Tensor)
        with torch.no_grad():
            rows: Tensor = self.module(torch.arange(weight.shape[0], device=weight.device))
        return rows.float()

    @contextmanager
    def stamped(self, rows: Tensor, columns: Tensor, vectors: Tensor) -> Iterator[None]:
        """Within this context, place (rows[i], columns[i]) of the input embeds as vectors[i]."""

        def replace(_module: nn.Module, _inputs: Any, output: Tensor) -> Tensor:
            return output.index_put((rows, columns), vectors.to(output.dtype))

        handle = self.module.register_forward_hook(replace)
        try:
            yield
        finally:
            handle.remove()
