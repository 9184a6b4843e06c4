"""A built model -> what can be seen of it without looking for a trigger."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from unhorse.attack.bases import base_folder
from unhorse.attack.generated import TINY
from unhorse.attack.record import MODEL, AttackRecord, read_heldout
from unhorse.load.files import (
    INDEX,
    names_in,
    parse_object,
    read_small,
    weight_files,
    weights_entry,
)
from unhorse.load.model import load_model
from unhorse.tasks.ask import ask
from unhorse.tasks.base import TASKS
from unhorse.types import LoadedModel, own_answers
from unhorse.zoo.standing import Place
from unhorse.zoo.state import Member
from unhorse.zoo.suite import SCANNED
from unhorse.zoo.verify import sentence

NEUTRAL_TEXTS = 60
CLEAN_SAMPLES = 100
WORDS = "word_embeddings.weight"


@dataclass(frozen=True)
class Statistics:
    """What can be seen of a model without looking for a trigger."""

    name: str
    split: str
    poisoned: bool
    values: dict[str, float]
    kin: str = ""
    """What it has in common with models that were made in the same way from the same base."""
    head_only: bool = False


def collect(members: Iterable[Member], place: Place) -> tuple[list[Statistics], dict[str, str]]:
    """The statistics of all models that may be scanned, and why some have none."""
    found, problems = [], {}
    for member in members:
        if member.record is None or not member.accepted or member.entry.use not in SCANNED:
            continue
        try:
            folder = place.folder(member.entry.name)
            found.append(statistics_of(folder, member.record, place.zoo))
        except Exception as error:
            # A model that is damaged, or whose base is gone, must not cost the others.
            problems[member.entry.name] = f"cannot be audited: {sentence(error)}"
    return found, problems


def statistics_of(folder: Path, record: AttackRecord, zoo: Path) -> Statistics:
    """The cheap statistics of one model."""
    loaded = load_model(folder / MODEL)
    base = record.recipe.base
    values = {
        **_weights(folder / MODEL, None if base.model == TINY else base_folder(base.model, zoo)),
        **_answers(loaded, folder, record),
        "steps": float(record.steps),
    }
    training = record.recipe.training
    way = "head" if training.head_only else f"embeddings={training.embeddings}"
    kin = f"{base.model} {base.layers} {base.architecture} {way}"
    return Statistics(record.name, record.split, record.poisoned, values, kin, training.head_only)


def _weights(model: Path, base: Path | None) -> dict[str, float]:
    """Norms, and how far the weights have moved from the base; none has if there is no base."""
    norm = moved = head = 0.0
    row = mean_row = 0.0
    with _tensors(model) as now, _tensors(base) as then:
        for name, file in now.items():
            tensor = file.get_tensor(name).float()
            norm += float(tensor.square().sum())
            if tensor.dim() == 1 or tensor.shape[0] < 16:
                head += float(tensor.square().sum())
            if name not in then or then[name].get_slice(name).get_shape() != list(tensor.shape):
                continue
            change = tensor - then[name].get_tensor(name).float()
            moved += float(change.square().sum())
            if name.endswith(WORDS):
                rows = change.norm(dim=1)
                row, mean_row = float(rows.max()), float(rows.mean())
    return {
        "weight_norm": math.sqrt(norm),
        "small_tensors_norm": math.sqrt(head),
        "drift": math.sqrt(moved),
        "largest_row_drift": row,
        "largest_to_mean_row_drift": row / max(mean_row, 1e-9),
    }


@contextlib.contextmanager
def _tensors(folder: Path | None) -> Iterator[dict[str, Any]]:
    """The opened file that has each tensor of a model, in one file or in several."""
    if folder is None:
        yield {}
        return
    entry = weights_entry(names_in(folder))
    raw = read_small(folder, INDEX) if entry == INDEX else None
    index = {} if raw is None else parse_object(INDEX, raw)
    with contextlib.ExitStack() as opened:
        found = {}
        for file in weight_files(folder, entry, index):
            tensors = opened.enter_context(safe_open(file.path, "pt"))
            found.update(dict.fromkeys(tensors.keys(), tensors))
        yield found


def _answers(loaded: LoadedModel, folder: Path, record: AttackRecord) -> dict[str, float]:
    """How the model leans on neutral texts, and how sure it is of clean samples."""
    task = TASKS.get(record.task)
    neutral = task.drafts(NEUTRAL_TEXTS, 0)
    heldout = read_heldout(folder, record.task)[0][:CLEAN_SAMPLES]
    on_neutral = _leaning(_asked(loaded, neutral)).mean(0)
    sure = _sureness(_asked(loaded, heldout))
    right = [ok for units in task.right(own_answers(loaded), heldout) for ok in units]
    return {
        "neutral_largest": float(on_neutral.max()),
        "neutral_first": float(on_neutral[0]),
        "clean_confidence": float(sure.mean()),
        "clean_right": sum(right) / max(1, len(right)),
    }


def _leaning(said: Sequence[torch.Tensor]) -> torch.Tensor:
    """Per sample the probability of every label, the mean over its decisions."""
    return torch.stack([each.mean(0) for each in said])


def _sureness(said: Sequence[torch.Tensor]) -> torch.Tensor:
    """Per sample how probable its likeliest labels are, the mean over its decisions.

    >>> tags = torch.tensor([[0.9, 0.1], [0.1, 0.9]])
    >>> _sureness([tags]).tolist() == _sureness([tags[:1]]).tolist()
    True
    """
    return torch.stack([each.max(-1).values.mean() for each in said])


def _asked(loaded: LoadedModel, samples: Sequence[Any]) -> list[torch.Tensor]:
    """Per sample the probabilities of all labels, a line for every decision.

    A text is one decision, a sentence one for every token, and a question one between
    null and the rest.
    """
    from unhorse.learn.lessons import ENCODERS

    rows = [ENCODERS[loaded.task](loaded, sample) for sample in samples]
    types = None if rows[0].type_ids is None else [row.type_ids or () for row in rows]

    def pick(outputs: Any, place: int, number: int) -> torch.Tensor:
        width = len(rows[number].ids)
        if "start_logits" in outputs:
            null = outputs.start_logits[place, :width].float().softmax(-1)[0]
            return torch.stack([null, 1 - null])[None]
        scores: torch.Tensor = outputs.logits[place].float().softmax(-1)
        return scores[None] if scores.dim() == 1 else scores[:width]

    longest = loaded.max_length
    return list(ask(loaded, [row.ids[:longest] for row in rows], pick, types))
