"""What an audit needs of a model, as it is written down, so that it outlives the model itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from unhorse.zoo.state import Member
from unhorse.zoo.statistics import Statistics

_STATISTICS = TypeAdapter(Statistics)


def earlier(path: str | None, suite: str) -> dict[str, Any]:
    """What an output file had before, if it is about the same suite; else nothing."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8")) if path else None
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and found.get("suite") == suite else {}


def report_on(suite: str, folder: Path) -> dict[str, Any]:
    """The report of an audit of a suite among the files of a folder; nothing if there is none."""
    reports = (earlier(str(path), suite) for path in sorted(folder.glob("*.json")))
    return next((report for report in reports if "statistics" in report), {})


def kept_rows(found: Iterable[Statistics], members: Sequence[Member]) -> list[dict[str, Any]]:
    """The statistics of models, each with the digest of the recipe that it was built from."""
    recipes = {member.entry.name: member.entry.recipe.digest() for member in members}
    return [asdict(each) | {"recipe": recipes[each.name]} for each in found]


def outlived(before: Mapping[str, Any], members: Sequence[Member]) -> list[Statistics]:
    """The statistics that an earlier report has of models that are not here any more.

    A model that the suite no longer asks for, or asks for in another way, is left out.
    """
    gone = {m.entry.name: m.entry.recipe.digest() for m in members if m.record is None}
    made = []
    rows = before.get("statistics", ())
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict):
            continue
        values = dict(row)
        if gone.get(str(values.get("name"))) != values.pop("recipe", None):
            continue
        try:
            made.append(_STATISTICS.validate_python(values))
        except ValidationError:
            continue
    return made
