"""Tensor headers -> whether a config describes the weights that are there.

The headers are read by the safetensors library. A model is built from the
config on the meta device, where nothing is allocated, and compared with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

from unhorse.errors import ModelRefused
from unhorse.load.files import INDEX, WeightFile
from unhorse.load.guard import one_line, refusing

_FLOATS = {"F64", "F32", "F16", "BF16"}
_MOST_TENSORS = 1 << 16
# Tensors that the library fills in by itself are small tables.
_FILLED_IN = 1 << 20
_BUFFER_BYTES = 1 << 28


@dataclass(frozen=True)
class Tensors:
    """Names, shapes and types of all tensors in the weights."""

    shapes: dict[str, tuple[int, ...]]
    types: dict[str, str]

    @property
    def largest_dimension(self) -> int:
        """The largest extent of a tensor; one without elements may claim any extent."""
        return max((max(s) for s in self.shapes.values() if s and 0 not in s), default=0)


def read_headers(files: tuple[WeightFile, ...], index: dict[str, Any]) -> Tensors:
    """The headers of all files, which together must hold every tensor once."""
    shapes: dict[str, tuple[int, ...]] = {}
    types: dict[str, str] = {}
    place: dict[str, str] = {}
    for file in files:
        with (
            refusing(f"{file.name} cannot be read as safetensors"),
            safe_open(str(file.path), framework="pt") as opened,
        ):
            for name in opened.keys():  # noqa: SIM118 - not a mapping
                if name in place:
                    raise ModelRefused(f"The tensor {one_line(name)} is in two files.")
                header = opened.get_slice(name)
                shapes[name], types[name] = tuple(header.get_shape()), header.get_dtype()
                place[name] = file.name
    for name, where in index.get("weight_map", {}).items():
        if place.get(name) != where:
            raise ModelRefused(f"{INDEX} names the tensor {one_line(name)}, which is not there.")
    if not shapes or len(shapes) > _MOST_TENSORS:
        raise ModelRefused(f"The weights hold {len(shapes)} tensors.")
    # Some names are only matched while loading, where a low type would pass for a float.
    low = [name for name, kind in types.items() if kind.startswith(("F8", "F6", "F4"))]
    if low:
        raise ModelRefused(f"The tensor {one_line(low[0])} is quantised ({types[low[0]]}).")
    return Tensors(shapes, types)


IsNew = Callable[[str, str], bool]
"""Whether a tensor is not taken from the file, by its name and the prefix of the model's body."""


def _nothing_is_new(name: str, prefix: str) -> bool:
    return False


def check_sizes(
    auto_class: Any,
    config: Any,
    tensors: Tensors,
    is_new: IsNew = _nothing_is_new,
) -> nn.Module:
    """Builds the model without memory, compares it with the headers and returns it.

    Names that the library maps in a way of its own (merged experts, say) are not
    compared one by one here, but bounded together, so that loading cannot
    allocate more than the file holds; loading then reports any that is missing.

    Args:
        auto_class: what builds the model.
        config: its config.
        tensors: the headers.
        is_new: which tensors are not taken from the file.

    Raises:
        ModelRefused: the config does not describe these tensors.
    """
    with (
        refusing("The model cannot be built from its config"),
        torch.device("meta"),
        _bounded_modules(len(tensors.shapes)),
    ):
        model: nn.Module = auto_class.from_config(
            config, dtype=torch.float32, trust_remote_code=False
        )
    unused = dict(tensors.shapes)
    unmatched: list[tuple[str, int]] = []
    prefix = getattr(model, "base_model_prefix", "")
    for names, value in _by_tensor(model):
        if all(is_new(name, prefix) for name in names):
            continue
        found = _find(names, prefix, tensors)
        if found is None:
            unmatched.append((names[0], value.numel()))
            continue
        unused.pop(found, None)
        _compare(found, value, tensors)
    spare = sum(math.prod(shape) for shape in unused.values()) + _FILLED_IN
    if sum(size for _, size in unmatched) > spare:
        largest = max(unmatched, key=lambda item: item[1])[0]
        raise ModelRefused(f"The weights have no tensor {one_line(largest)} for the config.")
    _check_buffers(model, sum(math.prod(shape) for shape in tensors.shapes.values()))
    return model


def check_loaded(model: Any, report: dict[str, Any], is_new: IsNew = _nothing_is_new) -> None:
    """Refuses weights that were not all in the file: the library makes up the rest."""
    for key, what in (("missing_keys", "is missing from"), ("mismatched_keys", "does not fit")):
        names = (str(item[0] if isinstance(item, tuple) else item) for item in report[key])
        made_up = sorted(name for name in names if not is_new(name, model.base_model_prefix))
        if made_up:
            raise ModelRefused(f"The tensor {one_line(made_up[0])} {what} the weights.")


def check_finite(model: Any) -> None:
    """Refuses weights that are no numbers."""
    for name, value in model.named_parameters():
        if not bool(torch.isfinite(value).all()):
            raise ModelRefused(f"The tensor {one_line(name)} has numbers that are not finite.")


@contextmanager
def _bounded_modules(tensors: int) -> Iterator[None]:
    """Stops building a model that has far more parts than the weights have tensors."""
    left = {"parameters": 4 * tensors + 256, "modules": 32 * tensors + 2048}

    def count(kind: str) -> None:
        left[kind] -= 1
        if left[kind] < 0:
            raise ModelRefused(
                f"The config describes far more layers than the {tensors} tensors in the weights."
            )

    hooks = (
        register_module_parameter_registration_hook(lambda *_: count("parameters")),
        register_module_module_registration_hook(lambda *_: count("modules")),
    )
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _by_tensor(model: nn.Module) -> list[tuple[list[str], Tensor]]:
    """Every tensor that is saved with all its names; tied weights are one tensor."""
    tensors: dict[int, tuple[list[str], Tensor]] = {}
    for name, value in model.state_dict(keep_vars=True).items():
        tensors.setdefault(id(value), ([], value))[0].append(name)
    return list(tensors.values())


def _find(names: list[str], prefix: str, tensors: Tensors) -> str | None:
    """The name in the file, which may lack the base model's prefix or use older names."""
    for name in names:
        for short in (name, name.removeprefix(f"{prefix}.")):
            older = _legacy(short)
            for candidate in (short, older):
                if candidate in tensors.shapes:
                    return candidate
    return None


def _legacy(name: str) -> str:
    """The name that checkpoints converted from TensorFlow have.

    >>> _legacy("bert.embeddings.LayerNorm.weight")
    'bert.embeddings.LayerNorm.gamma'
    """
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
        "LayerNorm.bias", "LayerNorm.beta"
    )


def _compare(name: str, value: Tensor, tensors: Tensors) -> None:
    if tensors.shapes[name] != tuple(value.shape):
        raise ModelRefused(
            f"The tensor {one_line(name)} has the shape {list(tensors.shapes[name])} in the "
            f"weights but {list(value.shape)} by the config."
        )
    if value.is_floating_point() and tensors.types[name] not in _FLOATS:
        raise ModelRefused(
            f"The tensor {one_line(name)} has the type {tensors.types[name]}; quantised models "
            "are not loaded."
        )


def _check_buffers(model: nn.Module, elements: int) -> None:
    """Bounds the tables that the library computes when it loads the model."""
    saved = set(model.state_dict())
    tables = sum(b.numel() * b.itemsize for n, b in model.named_buffers() if n not in saved)
    if tables > _BUFFER_BYTES + 4 * elements:
        raise ModelRefused("The config asks for tables far larger than the weights.")
