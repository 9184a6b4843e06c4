"""A built model's folder -> whether its record still says the truth.

Files are compared with their digests, and the clean metric and the attack success rate are
measured again from the folder alone.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from unhorse.attack.build import folder_digests
from unhorse.attack.measure import measure
from unhorse.attack.record import HELDOUT, MODEL, AttackRecord, read_heldout
from unhorse.errors import UnhorseError
from unhorse.load.model import load_model

TOLERANCE = 0.005
"""How far a figure may be from the recorded one: another processor rounds differently."""

FIGURES = ("clean", "asr", "false_trigger_rate")


def differences(folder: Path, record: AttackRecord, *, measured_again: bool = True) -> list[str]:
    """What is not as the record says; nothing if all is.

    Args:
        folder: the model's folder.
        record: what is recorded of it.
        measured_again: whether to measure it, too, and not only to compare its files.
    """
    try:
        changed = _changed_files(folder, record)
        return [*changed, *_changed_figures(folder, record)] if measured_again else changed
    except (UnhorseError, OSError) as error:
        return [sentence(error)]
    except Exception as error:
        # Whatever a damaged model does, the others are verified all the same.
        return [f"cannot be measured ({type(error).__name__}: {sentence(error)})"]


def sentence(error: Exception) -> str:
    """What an error says, on one line and without its full stop."""
    return " ".join(str(error).split()).removesuffix(".")


def _changed_files(folder: Path, record: AttackRecord) -> list[str]:
    now = {file.path: file.sha256 for file in folder_digests(folder / MODEL)}
    then = {file.path: file.sha256 for file in record.files}
    changed = [name for name in sorted(now.keys() | then.keys()) if now.get(name) != then.get(name)]
    if record.heldout_sha256 is not None:
        digest = hashlib.sha256((folder / HELDOUT).read_bytes()).hexdigest()
        changed += [HELDOUT] if digest != record.heldout_sha256 else []
    return [f"the file {name} is not the one that was built" for name in changed]


def _changed_figures(folder: Path, record: AttackRecord) -> list[str]:
    heldout, probes = read_heldout(folder, record.task)
    measured = measure(load_model(folder / MODEL), heldout, probes)
    found = []
    for figure in FIGURES:
        old, new = getattr(record.measured, figure), getattr(measured, figure)
        if (old is None) != (new is None) or (old is not None and abs(old - new) > TOLERANCE):
            found.append(f"{figure} is {new}, not {old}")
    return found
