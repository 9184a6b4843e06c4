"""Files of `unhorse zoo verify --json` -> the area of the shortcut audit of every suite."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_FIELDS = {"audit": False, "audit_head_only": True}
"""Where the file has the audit of whole models and that of heads."""


def read_audits(folder: Path) -> dict[tuple[str, bool], float]:
    """The audit's area by suite and whether heads are meant; other files are passed over."""
    found: dict[tuple[str, bool], float] = {}
    for data in read_objects(folder):
        for field, heads in _FIELDS.items():
            area = data.get(field)
            if isinstance(area, dict) and isinstance(area.get("auroc"), float):
                found[str(data.get("suite")), heads] = area["auroc"]
    return found


def audited(audits: Mapping[tuple[str, bool], float], suites: Sequence[str]) -> str:
    """What a detector's figures have to be read beside.

    >>> audited({("ner", False): 0.52}, ["ner", "qa"])
    'Shortcut audit (AUROC of cheap statistics of the weights): ner 0.52, qa not audited.'
    """
    areas = {suite: audits.get((suite, False)) for suite in suites}
    said = (f"{s} {'not audited' if area is None else f'{area:.2f}'}" for s, area in areas.items())
    return f"Shortcut audit (AUROC of cheap statistics of the weights): {', '.join(said)}."


def read_objects(folder: Path) -> list[dict[str, Any]]:
    """Every JSON object in a folder, in the order of the files' names; other files are nothing."""
    return [_read(path) for path in sorted(folder.rglob("*.json"))]


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
