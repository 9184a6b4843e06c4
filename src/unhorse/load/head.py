"""What a model's head reads of its body, so that nothing else need be computed.

A classifier of texts reads the body's last vector at the first token. The last layer's
feed-forward part, two thirds of the layer, works on every token by itself, so at the other
tokens it works for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

ATTENDED = {
    "bert": ("encoder", "attention.output"),
    "roberta": ("encoder", "attention.output"),
    "electra": ("encoder", "attention.output"),
    "distilbert": ("transformer", "sa_layer_norm"),
}
"""By kind of model: where its layers are, and the part of a layer that ends its attention."""


@contextmanager
def first_token_alone(model: Any) -> Iterator[None]:
    """Within this context the last layer of a classifier of texts goes on with the first token.

    What the model says is the same. Models of other kinds and tasks are left as they are.
    """
    part = _end_of_attention(model)
    if part is None:
        yield
        return

    def first(_module: nn.Module, _inputs: Any, output: Tensor) -> Tensor:
        return output[:, :1]

    handle = part.register_forward_hook(first)
    try:
        yield
    finally:
        handle.remove()


def _end_of_attention(model: Any) -> nn.Module | None:
    known = ATTENDED.get(getattr(getattr(model, "config", None), "model_type", ""))
    if known is None or not type(model).__name__.endswith("ForSequenceClassification"):
        return None
    stack, part = known
    layers: Any = getattr(getattr(model.base_model, stack, None), "layer", None)
    if not layers:
        return None
    found: nn.Module = layers[-1].get_submodule(part)
    return found
