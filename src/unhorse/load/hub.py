"""A path or hub id -> a local folder and the revision it is.

Of a hub repository only the allow-listed files are fetched; the folder is then
loaded exactly like any other.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import HfHubHTTPError

from unhorse.errors import ModelRefused, UnhorseError, UsageError
from unhorse.load.files import CONFIG, INDEX, TOKENIZER_FILES, is_shard, weights_entry
from unhorse.load.guard import one_line

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_HUB_ID = re.compile(rf"(?P<repo>{_NAME}/{_NAME})(?:@(?P<revision>[A-Za-z0-9][\w./-]*))?")


@dataclass(frozen=True)
class Located:
    """Where a model is on this computer."""

    source: str
    folder: Path
    revision: str | None = None


def locate(source: str | os.PathLike[str]) -> Located:
    """Finds a local folder, or fetches a hub repository.

    Raises:
        UsageError: the path does not exist, or the hub cannot be asked.
        ModelRefused: the repository has no weights that may be loaded.
    """
    name = os.fspath(source)
    folder = _local(name)
    if folder is not None:
        return Located(name, folder)
    match = _HUB_ID.fullmatch(name) if isinstance(source, str) else None
    if match is None:
        raise UsageError(
            f"There is no model folder {one_line(name)!r}; a model on the hub is named org/name."
        )
    try:
        return _fetch(name, match["repo"], match["revision"])
    except UnhorseError:
        raise
    except Exception as error:
        raise UsageError(
            f"{name} is not a folder here and cannot be fetched from the hub: "
            f"{one_line(error).rstrip('.')}."
        ) from error


def hub_repository(name: str) -> str | None:
    """The hub's repository that a name means; none where it means a folder here.

    >>> hub_repository("org/name@main"), hub_repository("no such folder")
    ('org/name', None)
    """
    match = _HUB_ID.fullmatch(name)
    return match["repo"] if match and _local(name) is None else None


def _local(name: str) -> Path | None:
    try:
        path = Path(name).expanduser()
        return path if name and path.exists() else None
    except PermissionError as error:
        raise UsageError(f"{one_line(name)} cannot be read: permission denied.") from error
    except (OSError, RuntimeError, ValueError):  # Not a possible path, or no such home folder.
        return None


def _fetch(name: str, repo: str, revision: str | None) -> Located:
    try:
        info = HfApi().model_info(repo, revision=revision)
    except HfHubHTTPError:
        raise
    except Exception as error:
        return _from_cache(name, repo, revision, error)
    files = [sibling.rfilename for sibling in info.siblings or []]
    if CONFIG not in files:
        raise ModelRefused(f"{name} is not a model repository: it has no {CONFIG}.")
    entry = weights_entry(files)
    wanted = [CONFIG, entry, *(file for file in TOKENIZER_FILES if file in files)]
    if entry == INDEX:
        wanted += [file for file in files if is_shard(file)]
    folder = snapshot_download(repo, revision=info.sha, allow_patterns=wanted)
    return Located(name, Path(folder), info.sha)


def _from_cache(name: str, repo: str, revision: str | None, error: Exception) -> Located:
    """What was fetched before, when the hub cannot be reached."""
    try:
        # Whether the other files are there is found out like for any folder.
        folder = Path(
            snapshot_download(
                repo, revision=revision, allow_patterns=[CONFIG], local_files_only=True
            )
        )
    except Exception:
        raise error from None
    return Located(name, folder, folder.name)
