"""A model folder -> the bytes that may be read of it.

Only the files named here are ever opened, each must be a regular file, and what
was hashed is what is used: the small ones are kept as bytes, the weights are
fingerprinted so that a change between hashing and loading is noticed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

from unhorse.errors import ModelRefused, UsageError
from unhorse.load.guard import one_line
from unhorse.types import FileDigest

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
SPECIAL_TOKENS = "special_tokens_map.json"
ADDED_TOKENS = "added_tokens.json"
VOCABULARIES = (
    TOKENIZER,
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "sentencepiece.bpe.model",
    "spm.model",
)

_MIB = 1 << 20
_LARGEST = {
    CONFIG: 4 * _MIB,
    INDEX: 16 * _MIB,
    TOKENIZER_CONFIG: 16 * _MIB,
    SPECIAL_TOKENS: 4 * _MIB,
    ADDED_TOKENS: 16 * _MIB,
    "merges.txt": 64 * _MIB,
    **dict.fromkeys(VOCABULARIES, 128 * _MIB),
}
TOKENIZER_FILES = tuple(sorted(set(_LARGEST) - {CONFIG, INDEX}))

_SHARD = re.compile(r"model-[0-9A-Za-z_.]+-of-[0-9A-Za-z_.]+\.safetensors")
_PICKLE = re.compile(r".*\.(bin|pt|pth|ckpt|pkl|pickle)", re.IGNORECASE)
_DEEPEST = 32


@dataclass(frozen=True)
class WeightFile:
    """One file of tensors: its name in the folder and where it really is."""

    name: str
    path: Path


def is_shard(name: str) -> bool:
    """Whether a name is one that a shard may have.

    >>> is_shard("model-00001-of-00002.safetensors"), is_shard("../model-1-of-2.safetensors")
    (True, False)
    """
    return _SHARD.fullmatch(name) is not None


def weights_entry(names: Iterable[str]) -> str:
    """The file that the weights start from, chosen by name alone.

    Raises:
        ModelRefused: there is no safetensors file; a pickle is not opened, only named.
    """
    present = set(names)
    for name in (WEIGHTS, INDEX):
        if name in present:
            return name
    pickles = sorted(name for name in present if _PICKLE.fullmatch(name))
    if pickles:
        raise ModelRefused(
            f"The weights are a pickle ({one_line(pickles[0])}), which can run code when it is "
            f"opened; only {WEIGHTS} is loaded."
        )
    raise ModelRefused(f"There are no weights: neither {WEIGHTS} nor {INDEX} is in the folder.")


@contextmanager
def open_regular(path: Path) -> Iterator[BufferedReader]:
    """Opens a file that must be a regular one; a pipe or a device is refused, not waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except PermissionError as error:
        raise UsageError(f"{path} cannot be read: permission denied.") from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ModelRefused(f"{path.name} in the model folder is not a regular file.") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ModelRefused(f"{path.name} in the model folder is not a regular file.")
    with os.fdopen(descriptor, "rb") as file:
        yield file


def read_small(folder: Path, name: str) -> bytes | None:
    """The bytes of one allow-listed file, or None where it does not exist."""
    most = _LARGEST[name]
    try:
        with open_regular(folder / name) as file:
            raw = file.read(most + 1) or b""
    except FileNotFoundError:
        return None
    if len(raw) > most:
        raise ModelRefused(f"{name} is larger than {most // _MIB} MiB.")
    return raw


def parse_object(name: str, raw: bytes) -> dict[str, Any]:
    """The JSON object in a file of the model folder."""
    try:
        value = json.loads(raw.decode("utf-8"))
    except RecursionError as error:
        raise ModelRefused(f"{name} is nested too deeply.") from error
    except ValueError as error:
        raise ModelRefused(f"{name} is not valid JSON in UTF-8.") from error
    if not isinstance(value, dict):
        raise ModelRefused(f"{name} does not hold a JSON object.")
    return value


def walk(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every value in a JSON document with the key it stands under.

    Items of a list stand under the list's key. The depth is bounded because
    transformers copies such values recursively.
    """
    stack: list[tuple[str, Any, int]] = [("", value, 0)]
    while stack:
        key, item, depth = stack.pop()
        if depth > _DEEPEST:
            raise ModelRefused(f"{name} is nested too deeply.")
        if depth:
            yield key, item
        if isinstance(item, dict):
            stack += [(child, item[child], depth + 1) for child in item]
        elif isinstance(item, list):
            stack += [(key, child, depth + 1) for child in item]


def names_in(folder: Path) -> list[str]:
    """The names in a folder; nothing is opened."""
    try:
        return [child.name for child in folder.iterdir()]
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}.") from error


def weight_files(folder: Path, entry: str, index: dict[str, Any]) -> tuple[WeightFile, ...]:
    """The safetensors files that hold the weights, all of them regular files."""
    names = [entry] if entry == WEIGHTS else _shard_names(index)
    files = []
    for name in names:
        try:
            with open_regular(folder / name):
                files.append(WeightFile(name, (folder / name).resolve()))
        except FileNotFoundError as error:
            raise ModelRefused(f"{name} is missing from the model folder.") from error
    return tuple(files)


def _shard_names(index: dict[str, Any]) -> list[str]:
    weight_map = index.get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise ModelRefused(f"{INDEX} has no weight_map.")
    for name in weight_map.values():
        if not isinstance(name, str) or not is_shard(name):
            raise ModelRefused(
                f"{INDEX} names {one_line(repr(name))}, which is not the name of a shard."
            )
    return sorted(set(weight_map.values()))


def digest(name: str, raw: bytes) -> FileDigest:
    """The digest of a small file."""
    return FileDigest(name, hashlib.sha256(raw).hexdigest())


def digest_weights(file: WeightFile) -> tuple[FileDigest, tuple[int, ...]]:
    """The digest of a file of tensors, and a fingerprint of the file that was hashed."""
    with open_regular(file.path) as opened:
        before = fingerprint(os.fstat(opened.fileno()))
        sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
    return FileDigest(file.name, sha256), before


def check_unchanged(folder: Path, hashed: Sequence[tuple[FileDigest, tuple[int, ...]]]) -> None:
    """Refuses files of a folder that are not those that were hashed any more."""
    for digest, before in hashed:
        if fingerprint((folder / digest.path).stat()) != before:
            raise ModelRefused(f"{digest.path} changed while it was being read.")


def fingerprint(status: os.stat_result) -> tuple[int, ...]:
    """What changes when a file is written to or replaced."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )
