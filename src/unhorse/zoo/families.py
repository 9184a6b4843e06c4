"""A suite -> a refusal of groups that derive from what they must not."""

from __future__ import annotations

from pathlib import Path

from unhorse.errors import UsageError
from unhorse.zoo.schema import Family, Group, Suite, find_suite, read_suite


def check_families(suite: Suite, beside: Path | None = None) -> None:
    """Refuses groups that derive from references or from families of another split.

    A frozen body may be shared by the heads of all splits, and `beyond` may derive from
    families of `development`, which nothing is reported on.
    """
    others: dict[str, Suite | None] = {}
    for group in suite.groups:
        for name in group.families:
            prefix, _, own = name.rpartition("/")
            if prefix and prefix not in others:
                others[prefix] = _other_suite(prefix, beside)
            owner = others[prefix] if prefix else suite
            if owner is not None:
                _check_family(group, name, {f.name: f for f in owner.families}.get(own))


def _other_suite(name: str, beside: Path | None) -> Suite | None:
    """A suite that another one derives from; None where its file is not at hand."""
    try:
        return read_suite(find_suite(name, beside))
    except UsageError:
        return None


def _check_family(group: Group, name: str, family: Family | None) -> None:
    if family is None:
        raise UsageError(f"The group {group.name} derives from {name}: no family called {name!r}.")
    if family.reference:
        raise UsageError(f"The group {group.name} derives from {name}, which is a reference.")
    if family.scanned:
        raise UsageError(f"The group {group.name} derives from {name}, which is scanned itself.")
    allowed = {family.split, "beyond"} if family.split == "development" else {family.split}
    if group.split not in allowed and not group.training.get("head_only"):
        raise UsageError(
            f"The group {group.name} is of the split {group.split}, "
            f"its family {name} of {family.split}."
        )
