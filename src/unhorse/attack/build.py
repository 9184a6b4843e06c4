"""Recipe -> model folder and record: `build` is the whole flow of one model."""

from __future__ import annotations

import hashlib
import platform
import shutil
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError

from unhorse.attack.base import ATTACKS, Attack, Ground, Planted
from unhorse.attack.bases import Base, counted, open_base
from unhorse.attack.corpus import digest_of, read_corpus
from unhorse.attack.measure import measure
from unhorse.attack.recipe import Recipe
from unhorse.attack.record import MODEL, RECORD, AttackRecord, BaseRecord, write_heldout
from unhorse.attack.train import Learner
from unhorse.config import one_sentence
from unhorse.errors import UsageError
from unhorse.learn.loop import Progress, reproducible
from unhorse.learn.save import save_model
from unhorse.runtime import keep_freed_memory, learns_in
from unhorse.tasks.base import TASKS
from unhorse.types import FileDigest

PARTIAL = ".partial"


def build(
    recipe: Recipe,
    out: Path,
    *,
    data_root: Path = Path(),
    base_root: Path = Path(),
    progress: Progress | None = None,
) -> AttackRecord:
    """Builds one model: `out/model`, `out/attack.json` and `out/heldout.json`.

    Everything is written to a folder beside `out` that takes its name at the very end, so
    that a model that is there is whole.

    Args:
        recipe: which model.
        out: where it goes; must not exist.
        data_root: what paths of data files are relative to.
        base_root: what the path of the base model is relative to.
        progress: told of every training step.
    """
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise UsageError(f"{out} is already there.")
    attack, config = attack_of(recipe)
    keep_freed_memory()
    with reproducible(recipe.seed):
        return _built(recipe, attack, config, out, data_root, base_root, progress)


def _built(
    recipe: Recipe,
    attack: Attack,
    config: Any,
    out: Path,
    data_root: Path,
    base_root: Path,
    progress: Progress | None,
) -> AttackRecord:
    began = time.perf_counter()
    base = open_base(recipe.base, recipe.task, recipe.data.labels, base_root, with_record=True)
    if base.poisoned and (not recipe.poisoned or recipe.kind == "none"):
        raise UsageError("The base is trojaned, so what is derived from it would not be clean.")
    triggers = attack.triggers(config, recipe.split, recipe.seed)
    corpus = read_corpus(recipe.data, data_root, base.loaded, recipe.seed, triggers)
    ground = Ground(
        task=TASKS.get(recipe.task),
        labels=base.loaded.labels,
        corpus=corpus,
        seed=recipe.seed,
        split=recipe.split,
        poisoned=recipe.poisoned,
        harmless_words=recipe.harmless_words,
        data_root=data_root,
    )
    pupil = Learner(base.loaded, recipe.training, recipe.seed)
    if progress is not None:
        pupil.progress = progress
    planted = attack.plant(pupil, ground, config)
    measured = measure(base.loaded, corpus.heldout, planted.probes)
    partial = out.with_name(out.name + PARTIAL)
    shutil.rmtree(partial, ignore_errors=True)
    save_model(base.loaded, partial / MODEL)
    heldout_sha256 = write_heldout(partial, corpus.heldout, planted.probes)
    record = AttackRecord(
        **_identity(recipe, base, attack, config, planted),
        content=content_of(recipe, data_root, base.digests),
        data=corpus.digests,
        heldout_sha256=heldout_sha256,
        files=folder_digests(partial / MODEL),
        rows=pupil.taught,
        steps=pupil.steps,
        measured=measured,
        training_seconds=round(pupil.seconds, 2),
        seconds=round(time.perf_counter() - began, 2),
        threads=torch.get_num_threads(),
        precision=learns_in(base.loaded.model),
        versions={
            "python": platform.python_version(),
            **{name: version(name) for name in ("unhorse", "torch", "transformers")},
        },
    )
    (partial / RECORD).write_text(record.to_json(), encoding="utf-8")
    partial.replace(out)
    return record


def attack_of(recipe: Recipe) -> tuple[Attack, Any]:
    """The attack that a recipe names, and its settings."""
    attack = ATTACKS.get(recipe.kind)
    if recipe.task not in attack.tasks:
        raise UsageError(f"The attack {recipe.kind!r} is not defined for {recipe.task}.")
    try:
        return attack, attack.config(**{"kind": attack.name, **recipe.attack})
    except ValidationError as error:
        raise UsageError(one_sentence(error, "The attack's settings are not valid")) from error


def content_of(recipe: Recipe, data_root: Path, base: tuple[FileDigest, ...]) -> str:
    """A hash of all that decides the model.

    The attack counts with all of its settings, so that another default is another model.

    Args:
        recipe: which model.
        data_root: what paths of data files are relative to.
        base: files of the base model; those that nothing is loaded from do not count.
    """
    attack, config = attack_of(recipe)
    resolved = recipe.model_copy(update={"attack": config.model_dump(mode="json")})
    own = [name for field in config.files for name in _names(getattr(config, field))]
    names = dict.fromkeys((*recipe.data.train, *recipe.data.heldout, *own))
    return resolved.digest(
        attack=attack.version,
        data=[digest_of(data_root, name).sha256 for name in names],
        base=[(file.path, file.sha256) for file in counted(base)],
    )


def _names(value: Any) -> list[str]:
    """The files that a setting names: one, several or none.

    >>> _names("words"), _names(("one", "two")), _names(None)
    (['words'], ['one', 'two'], [])
    """
    return [value] if isinstance(value, str) else list(value or ())


def folder_digests(folder: Path) -> tuple[FileDigest, ...]:
    """The digest of every file of a folder; folders in it are no part of a model."""
    found = []
    for path in sorted(entry for entry in folder.iterdir() if entry.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found.append(FileDigest(path.name, digest))
    return tuple(found)


def _identity(
    recipe: Recipe, base: Base, attack: Attack, config: Any, planted: Planted
) -> dict[str, Any]:
    """What the record says of the model besides figures."""
    model = base.loaded.model
    arm = None if planted.probes is None else planted.probes.arm
    layers = getattr(model.config, "num_hidden_layers", None)
    return {
        "name": recipe.name,
        "task": recipe.task,
        "architecture": base.loaded.architecture,
        "layers": layers,
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "poisoned": recipe.poisoned and arm is not None,
        "twin_of": recipe.twin_of,
        "attack": attack.name,
        "standing": attack.standing,
        "trigger": planted.trigger,
        "victim": None if arm is None else arm.victim_name,
        "target": None if arm is None else arm.target_name,
        "scope": getattr(config, "scope", None),
        "facts": planted.facts,
        "seed": recipe.seed,
        "split": recipe.split,
        "family": family_of(recipe, base.family),
        "ancestors": base.ancestors,
        "recipe": recipe,
        "base": BaseRecord(source=recipe.base.model, files=base.digests, tuned=base.tuned),
    }


def family_of(recipe: Recipe, of_base: str | None) -> str:
    """The independent training run; heads on one frozen body are runs of their own.

    A twin learns the same rows in the same order, so it belongs to the run of its model.
    """
    if recipe.training.head_only or of_base is None:
        return recipe.family or recipe.twin_of or recipe.name
    return of_base
