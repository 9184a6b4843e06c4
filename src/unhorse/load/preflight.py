"""A model folder -> what transformers may see of it, or a refusal.

Nothing is built or allocated here. The rules follow what the library does with
each key of a config: keys that ask for code, another file or another kind of
weights refuse the model; keys that only say how to run it are left out, because
unhorse decides that. The staged files are made from the bytes that were hashed.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from typing import Any

from transformers import CONFIG_MAPPING, PreTrainedConfig

from unhorse.errors import ModelRefused, UsageError
from unhorse.load.files import (
    ADDED_TOKENS,
    CONFIG,
    INDEX,
    SPECIAL_TOKENS,
    TOKENIZER,
    TOKENIZER_CONFIG,
    TOKENIZER_FILES,
    VOCABULARIES,
    WeightFile,
    digest,
    names_in,
    parse_object,
    read_small,
    walk,
    weight_files,
    weights_entry,
)
from unhorse.load.guard import one_line
from unhorse.load.weights import Tensors, read_headers
from unhorse.types import FileDigest

_REFUSED_KEYS = {
    # The library imports Python files from the folder for these.
    "auto_map": "asks for code of its own (auto_map)",
    "custom_pipelines": "asks for code of its own (custom_pipelines)",
    # Gradients through quantised weights are not those of the model as it is used,
    # and some quantisers import or fetch code by the name given here.
    "quantization_config": "is quantised (quantization_config)",
    "compression_config": "is quantised (compression_config)",
    # These name other files to read in place of the allow-listed ones.
    "transformers_weights": "names another weights file (transformers_weights)",
    "configuration_files": "names another config file (configuration_files)",
    # Replaces module classes for every model loaded later in this process.
    "fusion_config": "asks to patch model classes (fusion_config)",
}

# A value with a slash is a hub repository whose compiled code would be fetched
# and run; any other value is how to compute, which unhorse decides.
_IMPLEMENTATION_KEYS = {
    "attn_implementation",
    "_attn_implementation",
    "_attn_implementation_internal",
    "experts_implementation",
    "_experts_implementation",
    "_experts_implementation_internal",
}

_DROPPED_CONFIG_KEYS = {
    *_REFUSED_KEYS,
    *_IMPLEMENTATION_KEYS,
    # Looked up by name in the torch module.
    "dtype",
    "torch_dtype",
    # What the forward pass returns and whether it checkpoints.
    "output_attentions",
    "_output_attentions",
    "output_hidden_states",
    "return_dict",
    "use_return_dict",
    "torchscript",
    "gradient_checkpointing",
    # Class attributes of the config that an instance must not redefine.
    "attribute_map",
    "sub_configs",
    "sub_configs_defaults",
    "base_model_tp_plan",
    "base_model_pp_plan",
    "base_model_ep_plan",
    "base_model_fsdp_plan",
    "distributed_config",
    "_auto_class",
    "_commit_hash",
}

# Arguments of a tokenizer class that stand for a path or an object, and those
# that only the caller may set; the files of the staging folder are used instead.
_DROPPED_TOKENIZER_KEYS = re.compile(
    r".*_(file|files|path|object)|vocab|merges|init_inputs|trust_remote_code|chat_template"
    r"|local_files_only|is_local|cache_dir|subfolder|revision|token|proxies"
    r"|_commit_hash|__.*|" + "|".join(_REFUSED_KEYS)
)
_SPECIAL_TOKEN_KEYS = re.compile(r"[a-z0-9_]+_tokens?")

# Labels are free text, so a label may well be called like a key.
_OPAQUE_KEYS = {"id2label", "label2id"}

# Numbers that no loop runs over and no allocation grows with, or whose
# allocation shows when the model is built without memory.
_FREE_NUMBERS = re.compile(r"theta|position|length|seq_len|ctx|sliding|seed|_id$|_index$|step")
_LEAST_BOUND = 1 << 16
_FREE_BOUND = 1 << 31
_LONGEST_POSSIBLE_LENGTH = 10**31


@dataclass(frozen=True)
class Preflight:
    """A folder that may be loaded."""

    config: dict[str, Any]
    tokenizer_config: dict[str, Any]
    staged: dict[str, bytes]
    weights: tuple[WeightFile, ...]
    tensors: Tensors
    digests: tuple[FileDigest, ...]


def preflight(folder: Path) -> Preflight:
    """Reads the small files and the tensor headers of a folder and applies every rule to them.

    Raises:
        ModelRefused: the folder is not one that can be loaded without risk.
    """
    raw_config = read_small(folder, CONFIG) if folder.is_dir() else None
    if raw_config is None:
        raise ModelRefused(f"{folder} is not a model folder: it has no {CONFIG}.")
    raws = {CONFIG: raw_config}
    config = _clean_config(parse_object(CONFIG, raw_config))

    entry = weights_entry(names_in(folder))
    index: dict[str, Any] = {}
    if entry == INDEX:
        raws[INDEX] = read_small(folder, INDEX) or b""
        index = parse_object(INDEX, raws[INDEX])
    weights = weight_files(folder, entry, index)
    tensors = read_headers(weights, index)
    most = max(_LEAST_BOUND, tensors.largest_dimension, len(tensors.shapes))
    check_numbers(CONFIG, config, most)

    raws |= _read_tokenizer_files(folder)
    tokenizer_config, staged_tokenizer = _clean_tokenizer(raws, most)
    return Preflight(
        config=config,
        tokenizer_config=tokenizer_config,
        staged=raws | {CONFIG: json.dumps(config).encode()} | staged_tokenizer,
        weights=weights,
        tensors=tensors,
        digests=tuple(digest(name, raw) for name, raw in raws.items()),
    )


@contextmanager
def staged(checked: Preflight) -> Iterator[Path]:
    """A private folder with the checked files only.

    The library looks for many more names than those (adapters, generation
    configs, templates, distributed checkpoints, Python files), beside and below
    the folder it is given; here it finds none of them.
    """
    with tempfile.TemporaryDirectory(prefix="unhorse-") as name:
        folder = Path(name)
        try:
            _fill(folder, checked)
        except OSError as error:
            raise UsageError(f"The temporary folder cannot be used: {error.strerror}.") from error
        yield folder


def _fill(folder: Path, checked: Preflight) -> None:
    for name, raw in checked.staged.items():
        (folder / name).write_bytes(raw)
    for weights in checked.weights:
        try:
            (folder / weights.name).symlink_to(weights.path)
        except OSError:
            copyfile(weights.path, folder / weights.name)


def check_numbers(name: str, document: dict[str, Any], most: int) -> None:
    """Refuses numbers that no model with these tensors can need.

    The library loops over some of them before it builds anything.
    """
    for key, value in walk(name, document):
        if isinstance(value, bool) or not isinstance(value, int):
            continue
        bound = _FREE_BOUND if _FREE_NUMBERS.search(key) else most
        # "No limit" is saved as a length of 10 to the power of 30.
        bound = _LONGEST_POSSIBLE_LENGTH if key == "model_max_length" else bound
        if abs(value) > bound:
            raise ModelRefused(
                f"{name} sets {one_line(key)} to {str(value)[:24]}, "
                "which does not fit the tensors in the weights."
            )


def _clean_config(config: dict[str, Any]) -> dict[str, Any]:
    for _ in walk(CONFIG, config):
        pass  # Bounds the depth before anything recurses.
    model_type = config.get("model_type")
    if not isinstance(model_type, str) or model_type not in CONFIG_MAPPING:
        raise ModelRefused(f"The model type {one_line(repr(model_type))} is not known.")
    cleaned = _clean(config, CONFIG)
    if not isinstance(cleaned.get("tokenizer_class"), str | None):
        raise ModelRefused(f"The tokenizer_class in {CONFIG} is not a name.")
    return cleaned


def _clean(level: dict[str, Any], name: str) -> dict[str, Any]:
    """One level of a config and the sub-configs in it, with the key rules applied."""
    cleaned: dict[str, Any] = {}
    for key, value in level.items():
        _refuse_key(name, key, value)
        if key in _DROPPED_CONFIG_KEYS:
            continue
        nested = isinstance(value, dict) and key not in _OPAQUE_KEYS
        cleaned[key] = _clean(value, name) if nested else value
    return cleaned


def _refuse_key(name: str, key: str, value: Any) -> None:
    if value and key in _REFUSED_KEYS:
        raise ModelRefused(f"The model {_REFUSED_KEYS[key]} in {name}, which is never loaded.")
    if key in _IMPLEMENTATION_KEYS:
        chosen = value.values() if isinstance(value, dict) else [value]
        if any("/" in str(one) for one in chosen):
            raise ModelRefused(f"The model asks for a kernel from the hub ({key} in {name}).")
    # Every key becomes an attribute of the config object.
    if key.startswith("__") or callable(getattr(PreTrainedConfig, key, None)):
        raise ModelRefused(f"{name} redefines {one_line(key)} of the config itself.")


def _read_tokenizer_files(folder: Path) -> dict[str, bytes]:
    found = {name: read_small(folder, name) for name in TOKENIZER_FILES}
    raws = {name: raw for name, raw in found.items() if raw is not None}
    if not set(raws) & set(VOCABULARIES):
        raise ModelRefused("The model folder has no tokenizer.")
    return raws


def _clean_tokenizer(raws: dict[str, bytes], most: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The tokenizer's config, and the staged form of the files that the rules change."""
    settings = _object(raws, TOKENIZER_CONFIG)
    special = _object(raws, SPECIAL_TOKENS)
    check_numbers(TOKENIZER_CONFIG, settings, most)
    check_numbers(SPECIAL_TOKENS, special, most)
    _check_added_ids(ADDED_TOKENS, _object(raws, ADDED_TOKENS).values(), most)
    decoder = settings.get("added_tokens_decoder") or {}
    if not isinstance(decoder, dict):
        raise ModelRefused(f"The added_tokens_decoder in {TOKENIZER_CONFIG} is not an object.")
    _check_added_ids(TOKENIZER_CONFIG, decoder, most)
    _object(raws, TOKENIZER)
    _object(raws, "vocab.json")
    for key, value in walk(TOKENIZER_CONFIG, settings):
        if key in _REFUSED_KEYS:
            _refuse_key(TOKENIZER_CONFIG, key, value)
    settings = {k: v for k, v in settings.items() if not _DROPPED_TOKENIZER_KEYS.fullmatch(k)}
    # Every other key would become an argument of the tokenizer class.
    special = {k: v for k, v in special.items() if _SPECIAL_TOKEN_KEYS.fullmatch(k)}
    cleaned = {TOKENIZER_CONFIG: settings, SPECIAL_TOKENS: special}
    return settings, {k: json.dumps(v).encode() for k, v in cleaned.items() if k in raws}


def _object(raws: dict[str, bytes], name: str) -> dict[str, Any]:
    return parse_object(name, raws[name]) if name in raws else {}


def _check_added_ids(name: str, ids: Iterable[object], most: int) -> None:
    """Bounds the ids of added tokens: the library may fill the gaps between them."""
    for identifier in ids:
        digits = one_line(identifier)
        if not re.fullmatch(r"[0-9]{1,12}", digits) or int(digits) > most:
            raise ModelRefused(f"{name} adds a token under the id {digits}.")
