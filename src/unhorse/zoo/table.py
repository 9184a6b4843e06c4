"""Members of a suite -> a summary to be stored, and tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unhorse.attack.record import AttackRecord
from unhorse.zoo.state import Member

NONE = "-"


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
        **_figures(records),
        "seconds": _mean([record.seconds for record in records]),
    }


def kinds_of(members: Sequence[Member]) -> list[dict[str, Any]]:
    """One row for each kind of recipe: attack, kind of trigger and scope of trojaned models."""
    kinds: dict[tuple[str, str, str], list[AttackRecord]] = {}
    for member in members:
        record = member.record
        if record is not None and record.poisoned:
            trigger = str(record.recipe.attack.get("trigger_kind") or NONE)
            kinds.setdefault((record.attack, trigger, record.scope or NONE), []).append(record)
    return [
        {"attack": attack, "trigger_kind": trigger, "scope": scope, "models": len(own)}
        | _figures(own)
        for (attack, trigger, scope), own in sorted(kinds.items())
    ]


def _figures(records: Sequence[AttackRecord]) -> dict[str, float | None]:
    measured = [record.measured for record in records]
    false = [m.false_trigger_rate for m in measured if m.false_trigger_rate is not None]
    return {
        "clean": _mean([m.clean for m in measured]),
        "asr": _mean([m.asr for m in measured if m.asr is not None]),
        "false_trigger_rate": _mean(false),
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def listing(members: Sequence[Member]) -> dict[str, Any]:
    """All models of a suite: what is there with its figures, what is not and why."""
    return {
        "models": [summary_of(m.record, m.complaints) for m in members if m.record is not None],
        "missing": {m.entry.name: "; ".join(m.problems) for m in members if m.record is None},
        "kinds": kinds_of(members),
    }


def summary_of(record: AttackRecord, complaints: Sequence[str]) -> dict[str, Any]:
    """What is worth keeping of a record where the model itself is not kept."""
    keep = ("name", "task", "architecture", "layers", "parameters", "poisoned", "attack", "scope")
    more = ("trigger", "victim", "target", "seed", "split", "family", "ancestors", "content")
    fields = record.model_dump(mode="json")
    training = record.recipe.training
    weights = [file.sha256 for file in record.files if file.path.endswith(".safetensors")]
    return {
        **{name: fields[name] for name in (*keep, *more)},
        "head_only": training.head_only,
        "embeddings_trained": training.embeddings and not training.head_only,
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
    return NONE if value is None else f"{value:.{digits}f}"
