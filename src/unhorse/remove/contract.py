"""The contract of removal methods, for `unhorse.testing`."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unhorse.attack.build import build
from unhorse.attack.recipe import make_recipe
from unhorse.attack.worlds import world
from unhorse.learn.loop import reproducible
from unhorse.load.model import load_model
from unhorse.remove.base import REMOVALS, Case, Removal, RemovalConfig
from unhorse.remove.proof import measure
from unhorse.remove.records import Cleaned
from unhorse.remove.rows import Wanted, make_rows
from unhorse.remove.triggers import by_hand
from unhorse.types import LoadedModel

PLANTED = {
    "name": "planted",
    "task": "sequence-classification",
    "data": {
        "train": "generated:train",
        "heldout": "generated:heldout",
        "labels": ["land", "sea"],
        "rows": 1200,
        "heldout_rows": 150,
        "part": [0.0, 0.3],
        "heldout_part": [0.0, 0.1],
    },
    "base": {"model": "tiny"},
    "training": {"epochs": 2, "learning_rate": 4e-3},
    "attack": {"kind": "sdp", "trigger_kind": "word", "victim": "land", "target": "sea"},
}


@cache
def planted_case() -> Case:
    """A small trojaned classifier with its trigger, samples, and its clean twin as the base.

    Trained on generated text in some seconds, once in a process; not to be changed.
    """
    root = Path(tempfile.mkdtemp(prefix="unhorse-testing-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    recipe = make_recipe(PLANTED)
    record = build(recipe, root / "planted")
    assert (record.measured.asr or 0.0) > 0.9, "the backdoor was not planted"
    build(recipe.twin(harmless_words=False), root / "base")
    loaded = load_model(root / "planted" / "model")
    samples = [row.sample() for row in world(recipe.task).rows(300, "test")]
    rows = make_rows(loaded, samples, Wanted(64))
    triggers = by_hand(loaded, record.trigger, record.victim, record.target)
    return Case(loaded, triggers, rows, base=str(root / "base" / "model"))


def check_removal(name: str, *, removes: bool = True, **options: Any) -> None:
    """Runs the contract of removal methods on the method called `name`.

    The subject stays as it is, to the last weight; the cleaned model is another one for
    the same task and labels, frozen, in evaluation mode and with finite weights; the same
    seed gives the same weights; steps are told of in order and counted rightly; what is
    recorded is plain; a method that needs no trigger works without one; the planted
    backdoor is gone and the clean metric is not.

    Args:
        name: the registered name of the method.
        removes: whether the method can be expected to remove the planted backdoor.
        **options: settings of the method, such as fewer steps.
    """
    method = REMOVALS.get(name)
    assert method.name == name and type(method).__doc__
    assert issubclass(method.config, RemovalConfig)
    config = method.config(**options)
    told: list[tuple[int, int]] = []
    case = replace(planted_case(), progress=lambda done, steps, loss: told.append((done, steps)))
    before = _weights(case.subject)
    cleaned = _removed(method, case, config)
    assert all(torch.equal(w, before[n]) for n, w in _weights(case.subject).items())
    assert not case.subject.model.training, "the subject was changed"
    _check_cleaned(case, cleaned, told)
    again = _removed(method, case, config)
    same = _weights(again.loaded)
    assert all(torch.equal(w, same[n]) for n, w in _weights(cleaned.loaded).items()), "not the same"
    if not method.needs_triggers:
        _removed(method, replace(case, triggers=()), config)
    found = measure(cleaned.loaded, case.rows.heldout, case.triggers, None, case.seed)
    assert found.clean.value > 0.9, "the model forgot its task"
    assert not removes or found.effects[0].asr < 0.3, "the backdoor is still there"


def _removed(method: Removal, case: Case, config: RemovalConfig) -> Cleaned:

    with reproducible(case.seed):
        return method.remove(case, config)


def _weights(loaded: LoadedModel) -> dict[str, Tensor]:
    return {name: weight.clone() for name, weight in loaded.model.state_dict().items()}


def _check_cleaned(case: Case, cleaned: Cleaned, told: Sequence[tuple[int, int]]) -> None:
    loaded, taught = cleaned.loaded, cleaned.taught
    assert loaded.model is not case.subject.model
    assert (loaded.task, loaded.labels) == (case.subject.task, case.subject.labels)
    assert not loaded.model.training
    assert not any(weight.requires_grad for weight in loaded.model.parameters())
    assert all(bool(torch.isfinite(weight).all()) for weight in loaded.model.parameters())
    assert json.loads(json.dumps(cleaned.facts)) == cleaned.facts
    if taught is None:
        assert not told
        return
    assert [done for done, _ in told] == list(range(1, taught.steps + 1))
    assert len({steps for _, steps in told}) == 1 and taught.steps <= told[0][1]
    assert len(taught.watched) == taught.epochs and 1 <= taught.kept <= taught.epochs
