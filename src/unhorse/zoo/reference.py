"""Two models -> whether one may be the clean reference of the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from unhorse.attack.corpus import KEPT_BACK
from unhorse.attack.recipe import Recipe
from unhorse.errors import UsageError
from unhorse.types import FileDigest


class Kin(Protocol):
    """What has to be known of a model, built or not: a record has it, and so has a plan."""

    @property
    def name(self) -> str:
        """The model's name."""

    @property
    def poisoned(self) -> bool:
        """Whether it is trojaned."""

    @property
    def family(self) -> str:
        """The independent fine-tuning run that it descends from."""

    @property
    def ancestors(self) -> tuple[str, ...]:
        """The names of the models that it is derived from, the next first."""

    @property
    def twin_of(self) -> str | None:
        """The trojaned model that it is the clean twin of."""

    @property
    def tuned_on(self) -> tuple[str, ...]:
        """Digests of the weights it started from, if these knew the task already."""

    @property
    def recipe(self) -> Recipe:
        """How it is made."""

    @property
    def data(self) -> Sequence[FileDigest]:
        """The files that it has learnt from, as far as they are known."""


def check_reference(subject: Kin, reference: Kin) -> None:
    """Refuses a reference that is trojaned or a relative, or has learnt the same rows.

    Raises:
        UsageError: the reference cannot be one, and why.
    """
    check_lineage(subject, reference)
    rows = _shared_file(subject, reference)
    if rows is not None:
        raise UsageError(
            f"{reference.name} and {subject.name} have learnt from the same rows of {rows}."
        )


def check_clean(reference: Kin) -> None:
    """Refuses a reference that is trojaned, whatever it is compared with.

    Raises:
        UsageError: it is.
    """
    if reference.poisoned:
        raise UsageError(f"{reference.name} is trojaned, so it cannot be a reference.")


def check_lineage(subject: Kin, reference: Kin) -> None:
    """Refuses a reference that is trojaned or a relative.

    Heads on one frozen body may be compared although they share that body: nothing but the
    head was learnt.

    Raises:
        UsageError: the reference cannot be one, and why.
    """
    name, other = reference.name, subject.name
    check_clean(reference)
    if name in subject.ancestors or other in reference.ancestors:
        raise UsageError(f"{name} and {other} descend from each other.")
    if reference.twin_of == other or subject.twin_of == name:
        raise UsageError(f"{name} and {other} are twins.")
    if reference.family == subject.family:
        raise UsageError(f"{name} is of the same family as {other} ({subject.family}).")
    shared = [one for one in subject.ancestors if one in reference.ancestors]
    heads = all(one.recipe.training.head_only for one in (subject, reference))
    if shared and not heads:
        raise UsageError(f"{name} and {other} are both derived from {shared[0]}.")
    if not heads and set(subject.tuned_on) & set(reference.tuned_on):
        raise UsageError(f"{name} and {other} are derived from the same trained model.")


def _shared_file(one: Kin, other: Kin) -> str | None:
    """A file of which both have learnt the same part, or parts that overlap."""
    (begin, end), (other_begin, other_end) = _part(one), _part(other)
    if min(end, other_end) <= max(begin, other_begin):
        return None
    theirs = _files(other)
    known = {digest for digest in theirs.values() if digest}
    both = (name for name, digest in _files(one).items() if name in theirs or digest in known)
    return next(both, None)


def _files(record: Kin) -> dict[str, str]:
    """The files that a model has learnt from and their digests, where they have one."""
    digests = {file.path: file.sha256 for file in record.data}
    return {name: digests.get(name, "") for name in record.recipe.data.train}


def _part(record: Kin) -> tuple[float, float]:
    """The part of the rows that a model has learnt from."""
    data = record.recipe.data
    scale = 1.0 if data.heldout else KEPT_BACK[0]
    return data.part[0] * scale, data.part[1] * scale
