"""Members of a suite -> a summary to be stored, and a table for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unhorse.attack.record import AttackRecord
from unhorse.zoo.state import Member

COLUMNS = ("group", "models", "in", "clean metric", "ASR", "false triggers", "minutes each")


def rows_of(members: Sequence[Member]) -> list[dict[str, Any]]:
    """One row for each group and use: how many are built and accepted, and mean figures."""
    groups: dict[tuple[str, str], list[Member]] = {}
    for member in members:
        use = member.entry.use
        split = member.entry.recipe.split
        groups.setdefault((f"{split} {member.entry.group}", use), []).append(member)
    return [_row(name, use, own) for (name, use), own in groups.items()]


def _row(name: str, use: str, members: Sequence[Member]) -> dict[str, Any]:
    records = [member.record for member in members if member.record is not None]
    return {
        "group": name,
        "use": use,
        "models": len(members),
        "built": len(records),
        "accepted": sum(member.accepted for member in members),
        "clean": _mean([record.measured.clean for record in records]),
        "asr": _mean([r.measured.asr for r in records if r.measured.asr is not None]),
        "false_trigger_rate": _mean(
            [
                r.measured.false_trigger_rate
                for r in records
                if r.measured.false_trigger_rate is not None
            ]
        ),
        "seconds": _mean([record.seconds for record in records]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def summary_of(record: AttackRecord, complaints: Sequence[str]) -> dict[str, Any]:
    """What is worth keeping of a record where the model itself is not kept."""
    keep = ("name", "task", "architecture", "layers", "parameters", "poisoned", "attack", "scope")
    more = ("trigger", "victim", "target", "seed", "split", "family", "ancestors", "content")
    fields = record.model_dump(mode="json")
    weights = [file.sha256 for file in record.files if file.path.endswith(".safetensors")]
    return {
        **{name: fields[name] for name in (*keep, *more)},
        "head_only": record.recipe.training.head_only,
        "embeddings_trained": record.recipe.training.embeddings,
        "harmless_words": record.recipe.harmless_words,
        "facts": record.facts,
        "rows": record.rows,
        "steps": record.steps,
        "measured": fields["measured"],
        "training_seconds": record.training_seconds,
        "seconds": record.seconds,
        "threads": record.threads,
        "weights_sha256": weights,
        "complaints": list(complaints),
    }


def shown(value: float | None, digits: int = 3) -> str:
    """A figure for people.

    >>> shown(0.91234), shown(None)
    ('0.912', '-')
    """
    return "-" if value is None else f"{value:.{digits}f}"
