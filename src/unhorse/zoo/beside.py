"""Model folders that a zoo has made -> whether one may be the reference of the other.

What `unhorse attack` and `unhorse zoo build` make has a record beside it. Whoever scans such a
model beside its own twin or family would see nothing: what both have is no difference.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unhorse.attack.build import folder_digests
from unhorse.attack.record import RECORD, AttackRecord, read_record_file, weight_digests
from unhorse.errors import UsageError
from unhorse.zoo.reference import check_clean, check_lineage


def check_beside(model: Any, references: Sequence[Any]) -> None:
    """Refuses references that records call trojaned or relatives of the model.

    Args:
        model: what is scanned; one in memory or on the hub has no record.
        references: what it is compared with.

    Raises:
        UsageError: one of the references cannot be one, and why.
    """
    subject = _record_of(model)
    for reference in references:
        record = _record_of(reference)
        if record is None:
            _check_not_the_base(subject, reference)
            continue
        check_clean(record)
        if subject is not None:
            check_lineage(subject, record)


def _check_not_the_base(subject: AttackRecord | None, reference: Any) -> None:
    """Refuses a folder without a record that has the weights which the subject started from."""
    if subject is None or not subject.tuned_on or not isinstance(reference, str | os.PathLike):
        return
    folder = Path(reference).expanduser()
    if folder.is_dir() and set(weight_digests(folder_digests(folder))) & set(subject.tuned_on):
        raise UsageError(f"{subject.name} is derived from {reference}, so that is no reference.")


def _record_of(model: Any) -> AttackRecord | None:
    """The record beside a model folder; one that is none, or not there, says nothing."""
    if not isinstance(model, str | os.PathLike):
        return None
    try:
        path = Path(model).expanduser().resolve().parent / RECORD
        return read_record_file(path) if path.is_file() else None
    except (UsageError, OSError, RuntimeError, ValueError):
        return None
