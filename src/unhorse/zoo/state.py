"""Built models of a suite -> what may be scanned, what failed its gates, what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from unhorse.attack.gates import GATES, complaints
from unhorse.attack.record import RECORD, AttackRecord, read_record
from unhorse.errors import UnhorseError
from unhorse.zoo.standing import Place, read_whole, standing
from unhorse.zoo.suite import Entry, parents_of

NO_TWIN = "is not there to compare with"

_ONLY_FOR_LEARNING = {"train", "rows"}


@dataclass(frozen=True)
class Member:
    """One model of a suite; without a record it is missing, with complaints it is kept out."""

    entry: Entry
    record: AttackRecord | None
    complaints: tuple[str, ...] = ()
    note: str = ""
    """Why its data and base could not be compared, only its recipe."""

    @property
    def accepted(self) -> bool:
        """Whether it may be used."""
        return self.record is not None and not self.complaints

    @property
    def problems(self) -> tuple[str, ...]:
        """Why it may not be used."""
        return self.complaints or (() if self.record is not None else ("is missing",))


def members_of(entries: Sequence[Entry], place: Place) -> list[Member]:
    """How every model of a suite stands against its gates.

    A model that was built from another recipe, or that cannot be read, counts as missing.
    """
    found = {entry.name: standing(entry.recipe, place) for entry in entries}
    records = {name: one.record for name, one in found.items() if one.record is not None}
    best = _best_clean([*records.values(), *_clean_parents(entries, place)])
    made = []
    for entry in entries:
        here, record = found[entry.name], records.get(entry.name)
        if record is None:
            made.append(Member(entry, None, (here.wrong,) if here.wrong else ()))
            continue
        twin = _twin(entry, found.keys(), records, place)
        said = complaints(record, twin, best.get(_peers(record)), entry.floor)
        if record.poisoned and twin is None and GATES[record.standing].drop is not None:
            said.append(f"its clean twin {entry.twin} {NO_TWIN}")
        made.append(Member(entry, record, tuple(said), here.blocked))
    return made


def lacks_only_a_twin(member: Member) -> bool:
    """Whether nothing is said against a model, or only that its twin is gone."""
    return all(said.endswith(NO_TWIN) for said in member.complaints)


def _twin(
    entry: Entry, own: Iterable[str], records: Mapping[str, AttackRecord], place: Place
) -> AttackRecord | None:
    """The record of the clean model that a trojaned one is compared with."""
    name = (entry.twin or "").removeprefix(f"{place.suite}/")
    if not name or name in own:
        return records.get(name)
    try:
        return read_whole(place.folder(name))
    except UnhorseError:
        return None


def _clean_parents(entries: Sequence[Entry], place: Place) -> Iterator[AttackRecord]:
    """The clean models of the suites that models are derived from."""
    for suite in parents_of(entries, place.suite):
        for path in sorted((place.zoo / suite).glob(f"*/{RECORD}")):
            try:
                record = read_record(path.parent)
            except (UnhorseError, UnicodeDecodeError):
                continue
            if not record.poisoned:
                yield record


def _peers(record: AttackRecord) -> tuple[object, ...]:
    """Models of one split, size and data are measured on the same rows and can be compared.

    References learn from another part of the rows, often a larger one, so they set no bar for
    models that do not have it.
    """
    recipe = record.recipe
    data = recipe.data.model_dump_json(exclude=_ONLY_FOR_LEARNING)
    return record.split, record.layers, recipe.training.head_only, data


def _best_clean(records: Iterable[AttackRecord]) -> dict[object, float]:
    best: dict[object, float] = {}
    for record in records:
        if not record.poisoned:
            peers = _peers(record)
            best[peers] = max(best.get(peers, 0.0), record.measured.clean)
    return best
