"""A built model's folder -> whether its record still says the truth.

Files are compared with their digests, and the clean metric and the attack success rate are
measured again from the folder alone.
"""

from __future__ import annotations

from pathlib import Path

from unhorse.attack.build import folder_digests
from unhorse.attack.measure import measure
from unhorse.attack.record import MODEL, AttackRecord, read_heldout
from unhorse.load.model import load_model

TOLERANCE = 0.005
"""How far a figure may be from the recorded one: another processor rounds differently."""

FIGURES = ("clean", "asr", "false_trigger_rate")


def differences(folder: Path, record: AttackRecord) -> list[str]:
    """What is not as the record says; nothing if all is."""
    found = []
    now = {file.path: file.sha256 for file in folder_digests(folder / MODEL)}
    then = {file.path: file.sha256 for file in record.files}
    for name in sorted(now.keys() | then.keys()):
        if now.get(name) != then.get(name):
            found.append(f"the file {name} is not the one that was built")
    heldout, probes = read_heldout(folder, record.task)
    measured = measure(load_model(folder / MODEL), heldout, probes)
    for figure in FIGURES:
        old, new = getattr(record.measured, figure), getattr(measured, figure)
        if (old is None) != (new is None) or (old is not None and abs(old - new) > TOLERANCE):
            found.append(f"{figure} is {new}, not {old}")
    return found
