"""Rows of token ids -> a model's outputs, in fp32 and without gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch

from unhorse.load.head import first_token_alone
from unhorse.runtime import is_out_of_memory
from unhorse.tasks.base import batches_by_length, pad
from unhorse.types import LoadedModel

T = TypeVar("T")

Pick = Callable[[Any, int, int], T]
"""Takes what is wanted of one row from the outputs: outputs, place in the batch, row number."""


def ask(
    loaded: LoadedModel,
    rows: Sequence[Sequence[int]],
    pick: Pick[T],
    type_ids: Sequence[Sequence[int]] | None = None,
    heard: dict[Any, T] | None = None,
) -> list[T]:
    """What `pick` takes of every row, in the order given.

    Args:
        loaded: the model.
        rows: token ids.
        pick: takes one row's part of a batch's outputs.
        type_ids: segment ids of every row, for models that have them.
        heard: what `pick` took of rows before, which is not asked again, and takes in the new;
            for picks that nothing but the row decides.
    """
    found: dict[int, T] = {}
    new = [n for n in range(len(rows)) if not heard or _key(rows, type_ids, n) not in heard]
    for batch in batches_by_length([len(rows[number]) for number in new]):
        _one_pass(loaded, rows, [new[place] for place in batch], pick, type_ids, found)
    if heard is None:
        return [found[number] for number in range(len(rows))]
    heard.update((_key(rows, type_ids, number), said) for number, said in found.items())
    return [heard[_key(rows, type_ids, number)] for number in range(len(rows))]


def _key(
    rows: Sequence[Sequence[int]], type_ids: Sequence[Sequence[int]] | None, number: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What tells a row from others."""
    return tuple(rows[number]), () if type_ids is None else tuple(type_ids[number])


def _one_pass(
    loaded: LoadedModel,
    rows: Sequence[Sequence[int]],
    batch: Sequence[int],
    pick: Pick[T],
    type_ids: Sequence[Sequence[int]] | None,
    found: dict[int, T],
) -> None:
    """One pass, in halves where memory does not hold the whole."""
    device = loaded.model.device
    ids, mask = pad([rows[i] for i in batch], loaded.tokenizer.pad_token_id)
    inputs = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
    if type_ids is not None:
        inputs["token_type_ids"] = pad([type_ids[i] for i in batch], 0)[0].to(device)
    try:
        with torch.inference_mode(), first_token_alone(loaded.model):
            outputs = loaded.model(**inputs)
            picked = [pick(outputs, place, number) for place, number in enumerate(batch)]
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error) or len(batch) == 1:
            raise
        half = len(batch) // 2
        _one_pass(loaded, rows, batch[:half], pick, type_ids, found)
        _one_pass(loaded, rows, batch[half:], pick, type_ids, found)
    else:
        found.update(zip(batch, picked, strict=True))
