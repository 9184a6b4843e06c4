"""A path, hub id or model in memory -> LoadedModel.

A model folder is untrusted. It is checked (`preflight`), staged, built without
memory and compared with its tensors (`weights`), and only then loaded, from the
staging folder and never from its own.
"""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig

from unhorse.errors import ModelRefused, UsageError
from unhorse.load.files import WeightFile, check_unchanged, digest_weights
from unhorse.load.guard import offline, one_line, quiet, refusing
from unhorse.load.hub import Located, locate
from unhorse.load.preflight import Preflight, preflight, staged
from unhorse.load.tokenizer import fit_tokenizer, load_tokenizer
from unhorse.load.weights import check_finite, check_loaded, check_sizes
from unhorse.tasks.base import TASKS, Task
from unhorse.types import LoadedModel, Origin


def load_model(source: str | os.PathLike[str], *, device: str = "cpu") -> LoadedModel:
    """Loads an untrusted model: fp32, evaluation mode, weights frozen.

    Nothing in the folder is executed, pickles are never opened, and no file that
    is not on the allow-list is read.

    Args:
        source: a local folder, or a hub id ``org/name[@revision]``.
        device: where the model computes.

    Raises:
        UsageError: the path, the hub or the device is not there.
        ModelRefused: the model cannot be loaded without risk, or not be scanned.
    """
    target = _device(device)
    located = locate(source)
    with offline(), quiet():
        checked = preflight(located.folder)
        task = _task_of(_architecture(checked.config))
        with staged(checked) as folder:
            return _load(folder, checked, task, located, target)


def from_memory(
    model: Any, tokenizer: Any, *, source: str = "in memory", device: str = "cpu"
) -> LoadedModel:
    """A model that is already in memory, by the same rules for its task and tokenizer.

    Model and tokenizer are copied, so that the caller's keep their mode,
    precision, gradients and pad token.

    Args:
        model: a transformers model with a head that a task knows.
        tokenizer: its fast tokenizer.
        source: what reports call the model.
        device: where the copy computes.
    """
    target = _device(device)
    architecture = type(model).__name__
    task = _task_of(architecture)
    with offline(), quiet(), refusing("The model in memory cannot be used"):
        labels = task.labels(model.config)
        model, tokenizer = copy.deepcopy(model), copy.deepcopy(tokenizer)
        model.float()
        model.set_attn_implementation(_attention(model))
        _plain_outputs(model.config)
        return _finish(model, tokenizer, task, labels, Origin(source), target)


def _load(
    folder: Path, checked: Preflight, task: Task, located: Located, target: torch.device
) -> LoadedModel:
    """Loads from the staging folder."""
    with refusing("The config cannot be used"):
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        labels = task.labels(config)
    empty = check_sizes(task.auto_class(), copy.deepcopy(config), checked.tensors)
    tokenizer = load_tokenizer(folder, checked.tokenizer_config, config)
    weights = [WeightFile(file.name, folder / file.name) for file in checked.weights]
    hashed = [digest_weights(file) for file in weights]
    with refusing("The weights cannot be loaded"):
        model, report = task.auto_class().from_pretrained(
            folder,
            config=config,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            dtype=torch.float32,
            attn_implementation=_attention(empty),
            output_loading_info=True,
        )
        check_loaded(model, report)
        _detach(model)
    check_unchanged(folder, hashed)
    digests = [*checked.digests, *(digest for digest, _ in hashed)]
    origin = Origin(
        located.source, located.revision, tuple(sorted(digests, key=lambda digest: digest.path))
    )
    # The staging folder is about to disappear.
    model.config.name_or_path = tokenizer.name_or_path = located.source
    with refusing("The model cannot be used"):
        return _finish(model, tokenizer, task, labels, origin, target)


def _finish(
    model: Any,
    tokenizer: Any,
    task: Task,
    labels: tuple[str, ...],
    origin: Origin,
    target: torch.device,
) -> LoadedModel:
    check_finite(model)
    model.eval().requires_grad_(False).to(target)
    return LoadedModel(
        model=model,
        tokenizer=tokenizer,
        task=task.name,
        labels=labels,
        architecture=type(model).__name__,
        max_length=fit_tokenizer(model, tokenizer),
        origin=origin,
    )


def _device(name: str) -> torch.device:
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError, TypeError, ValueError) as error:
        raise UsageError(f"The device {name!r} cannot be used: {one_line(error)}") from error


def _architecture(config: dict[str, Any]) -> str:
    architectures = config.get("architectures")
    if (
        not isinstance(architectures, list)
        or not architectures
        or not isinstance(architectures[0], str)
    ):
        raise ModelRefused("The config does not say which architecture the model has.")
    return architectures[0]


def _task_of(architecture: str) -> Task:
    for task in TASKS.all():
        if architecture.endswith(task.head):
            return task
    known = ", ".join(f"...{task.head}" for task in TASKS.all())
    raise ModelRefused(
        f"The model is a {one_line(architecture)}; models that can be scanned: {known}."
    )


def _attention(model: Any) -> str:
    return "sdpa" if model._supports_sdpa else "eager"


def _plain_outputs(config: Any) -> None:
    """The forward pass returns named outputs, without hidden states and attentions."""
    config.return_dict = True
    config.output_attentions = False
    config.output_hidden_states = False


def _detach(model: Any) -> None:
    """Copies the weights into memory.

    The library maps the file instead, so that whoever can write to it could
    change the model after its digest was taken.
    """
    for tensor in (*model.parameters(), *model.buffers()):
        tensor.data = tensor.data.clone()
