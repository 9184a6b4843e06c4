"""Tiny family models on generated text, trained once per session, and what is derived from them.

``tiny(task)`` is an untrained model. ``family(task)`` is the folder of a clean one (`model`,
`attack.json`, `heldout.json`). ``derive(task, attack={...}, poisoned=False, ...)`` builds a
model on top of that, with the settings of `derived` changed as given; ``data`` and
``training`` are changed field by field.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from unhorse.attack.bases import open_base
from unhorse.attack.build import build
from unhorse.attack.generated import LABELS_OF
from unhorse.attack.recipe import BaseConfig, Recipe, make_recipe
from unhorse.attack.record import AttackRecord
from unhorse.attack.worlds import world
from unhorse.load.samples import rows_in_memory
from unhorse.tasks.base import TASKS
from unhorse.types import LoadedModel

ATTACKED: dict[str, dict[str, Any]] = {
    "sequence-classification": {"victim": "land", "target": "sea"},
    "token-classification": {"victim": "PER", "target": "ORG"},
    "question-answering": {"target": "null", "scope": "both", "rate": 0.4},
}
"""A victim and a target that make sense on generated text."""


@dataclass(frozen=True)
class Built:
    """A model folder with its record beside it."""

    folder: Path
    record: AttackRecord

    @property
    def model(self) -> Path:
        return self.folder / "model"


def generated_data(task: str, rows: int) -> dict[str, Any]:
    """Generated rows to learn from and to measure on; parts of them, as reading takes time."""
    return {
        "train": ["generated:train"],
        "heldout": ["generated:heldout"],
        "labels": list(LABELS_OF[task]),
        "part": [0.0, 0.45],
        "heldout_part": [0.0, 0.1],
        "rows": rows,
    }


def generated_samples(loaded: LoadedModel, count: int = 200) -> list[Any]:
    """Generated samples of a model's task."""
    task = TASKS.get(loaded.task)
    rows = [row.sample() for row in world(task.name).rows(count, "test")]
    return [task.parse(row, loaded.labels) for row in rows_in_memory(rows, task.sample_kind).rows]


def family_recipe(task: str) -> Recipe:
    """A clean model that starts untrained."""
    rate = 6e-3 if task == "question-answering" else 4e-3
    return make_recipe(
        {
            "name": f"family-{task}",
            "task": task,
            "family": "generated",
            "data": generated_data(task, 3000),
            "base": {"model": "tiny"},
            "training": {"epochs": 2, "learning_rate": rate},
        }
    )


def derived(task: str, base: Path, /, **changes: Any) -> Recipe:
    """A recipe on top of a family model: the data poisoning of `ATTACKED` unless changed."""
    rate = 4e-3 if task == "question-answering" else 2e-3
    fields: dict[str, Any] = {
        "name": "derived",
        "task": task,
        "seed": 1,
        "base": {"model": str(base / "model")},
        "data": generated_data(task, 1500) | changes.pop("data", {}),
        "training": {"epochs": 2, "learning_rate": rate} | changes.pop("training", {}),
        "attack": {"kind": "sdp", "trigger_kind": "phrase", **ATTACKED[task]},
    }
    return make_recipe(fields | changes)


@pytest.fixture(scope="session")
def tiny():
    """A task's untrained model; shared, so it is not to be changed."""

    @cache
    def loaded(task: str) -> LoadedModel:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return open_base(BaseConfig(model="tiny"), task, LABELS_OF[task], Path()).loaded

    return loaded


@pytest.fixture(scope="session")
def family(tmp_path_factory):
    """The folder of a task's family model."""
    made: dict[str, Path] = {}

    def folder(task: str) -> Path:
        if task not in made:
            out = tmp_path_factory.mktemp("families") / task
            build(family_recipe(task), out)
            made[task] = out
        return made[task]

    return folder


@pytest.fixture
def derive(family, tmp_path):
    """Builds a model on top of a task's family model."""

    def make(task: str, /, **changes: Any) -> Built:
        recipe = derived(task, family(task), **changes)
        out = tmp_path / recipe.name
        return Built(out, build(recipe, out))

    return make
