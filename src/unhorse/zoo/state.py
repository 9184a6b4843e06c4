"""Built models of a suite -> what may be scanned, what failed its gates, what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unhorse.attack.gates import complaints
from unhorse.attack.record import RECORD, AttackRecord, read_record
from unhorse.errors import UsageError
from unhorse.zoo.build import Place
from unhorse.zoo.suite import Entry


@dataclass(frozen=True)
class Member:
    """One model of a suite; without a record it is missing, with complaints it is kept out."""

    entry: Entry
    record: AttackRecord | None
    complaints: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether it may be used."""
        return self.record is not None and not self.complaints


def members_of(entries: Sequence[Entry], place: Place) -> list[Member]:
    """How every model of a suite stands against its gates."""
    records = {
        entry.name: read_record(folder)
        for entry in entries
        if ((folder := place.folder(entry.name)) / RECORD).is_file()
    }
    best = _best_clean(records.values())
    made = []
    for entry in entries:
        record = records.get(entry.name)
        if record is None:
            made.append(Member(entry, None))
            continue
        twin = records.get(entry.twin or "")
        found = complaints(record, twin, best.get(_size(record)), entry.floor)
        made.append(Member(entry, record, tuple(found)))
    return made


def _size(record: AttackRecord) -> tuple[int | None, bool, tuple[str, ...]]:
    """Models of one size and data can be compared in their clean metric."""
    training = record.recipe.training
    return record.layers, training.head_only, record.recipe.data.heldout


def _best_clean(records: Iterable[AttackRecord]) -> dict[object, float]:
    best: dict[object, float] = {}
    for record in records:
        if not record.poisoned:
            size = _size(record)
            best[size] = max(best.get(size, 0.0), record.measured.clean)
    return best


def check_reference(subject: AttackRecord, reference: AttackRecord) -> None:
    """Refuses a reference that the model descends from, or that shares its family."""
    name = reference.name
    if reference.poisoned:
        raise UsageError(f"{name} is trojaned, so it cannot be a reference.")
    if name in subject.ancestors or subject.name in reference.ancestors:
        raise UsageError(f"{name} and {subject.name} descend from each other.")
    if reference.family == subject.family:
        raise UsageError(f"{name} is of the same family as {subject.name} ({subject.family}).")
