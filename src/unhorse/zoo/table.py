"""Members of a suite -> a summary to be stored, and tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unhorse.attack.measure import Measured
from unhorse.attack.recipe import Recipe
from unhorse.attack.record import AttackRecord, weight_digests
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
        **_figures([record.measured for record in records]),
        "seconds": _mean([record.seconds for record in records]),
    }


def kinds_of(models: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row for each kind of recipe: attack, kind of trigger and scope of trojaned models.

    Args:
        models: summaries, as `listing` has them.
    """
    kinds: dict[tuple[str, str, str], list[Measured]] = {}
    for model in models:
        if model["poisoned"]:
            kind = (model["attack"], model["trigger_kind"] or NONE, model["scope"] or NONE)
            kinds.setdefault(kind, []).append(Measured(**model["measured"]))
    return [
        {"attack": attack, "trigger_kind": trigger, "scope": scope, "models": len(own)}
        | _figures(own)
        for (attack, trigger, scope), own in sorted(kinds.items())
    ]


def _figures(measured: Sequence[Measured]) -> dict[str, float | None]:
    false = [m.false_trigger_rate for m in measured if m.false_trigger_rate is not None]
    return {
        "clean": _mean([m.clean for m in measured]),
        "asr": _mean([m.asr for m in measured if m.asr is not None]),
        "false_trigger_rate": _mean(false),
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def listing(members: Sequence[Member], before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """All models of a suite: what is there with its figures, what is not and why.

    Models are large and may be lost; their figures need not be. What an earlier listing has of a
    model that is not here any more stays, as long as the suite still asks for that model.

    Args:
        members: how every model stands.
        before: an earlier listing of the same suite.
    """
    rows = (before or {}).get("models", ())
    known = {
        str(row.get("name")): row
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict)
    }
    models, missing = [], {}
    for member in members:
        name = member.entry.name
        if member.record is not None:
            models.append(summary_of(member.record, member.complaints))
        elif name in known and is_asked_for(known[name], member.entry.recipe):
            models.append(known[name] | {"here": False} | _kind(member.entry.recipe))
        else:
            missing[name] = "; ".join(member.problems)
    return {"models": models, "missing": missing, "kinds": kinds_of(models)}


def is_asked_for(summary: Mapping[str, Any], recipe: Recipe) -> bool:
    """Whether a model that is gone was built from this recipe, as far as its summary tells."""
    told = {"recipe": recipe.digest(), "seed": recipe.seed, "split": recipe.split}
    return all(summary.get(name, value) == value for name, value in told.items())


def _kind(recipe: Recipe) -> dict[str, str | None]:
    """The kind of trigger that a recipe plants."""
    kind = recipe.attack.get("trigger_kind")
    return {"trigger_kind": None if kind is None else str(kind)}


def summary_of(record: AttackRecord, complaints: Sequence[str]) -> dict[str, Any]:
    """What is worth keeping of a record where the model itself is not kept."""
    keep = ("name", "task", "architecture", "layers", "parameters", "poisoned", "attack", "scope")
    more = ("trigger", "victim", "target", "seed", "split", "family", "ancestors", "content")
    fields = record.model_dump(mode="json")
    training = record.recipe.training
    return {
        **{name: fields[name] for name in (*keep, *more)},
        "here": True,
        "recipe": record.recipe.digest(),
        **_kind(record.recipe),
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
        "precision": record.precision,
        "versions": record.versions,
        "data": {file.path: file.sha256 for file in record.data},
        "base": {"source": record.base.source, "weights": list(weight_digests(record.base.files))},
        "twin_of": record.twin_of,
        "weights_sha256": list(record.weights),
        "complaints": list(complaints),
    }


def shown(value: float | None, digits: int = 3) -> str:
    """A figure for people.

    >>> shown(0.91234), shown(None)
    ('0.912', '-')
    """
    return NONE if value is None else f"{value:.{digits}f}"
