"""What `zoo list` and `zoo verify` have written -> what was built, recipe by recipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from unhorse.bench.audits import read_audits, read_objects
from unhorse.bench.metrics import mean
from unhorse.bench.sheet import NOTHING, Sheet, number
from unhorse.zoo.audit import LIMIT

COLUMNS = (
    "suite",
    "recipe",
    "layers",
    "built",
    "within gates",
    "clean",
    "twins",
    "ASR",
    "lowest ASR",
    "twins' ASR",
    "false triggers",
    "seconds",
)

KEPT_OUT = ("suite", "model", "trigger", "why")

NOTES = (
    "clean: the mean accuracy, entity F1 or answer F1 on held-out rows, of trojaned models and, "
    "in the next column, of their clean twins. ASR: the mean and the lowest share of held-out "
    "victims, answered rightly without the trigger, that it sends to the target; then the same "
    "stamps in the twins. false triggers: the same of what is near a trigger and must not fire. "
    "All built models count, within their gates or not.",
    "seconds: for one trojaned model, training and measuring, on one thread.",
)

Model = Mapping[str, Any]

_NEEDED = {
    *("name", "poisoned", "layers", "complaints", "seconds", "measured"),
    *("attack", "trigger", "trigger_kind", "scope", "target"),
}
_FIGURES = {"clean", "asr", "false_trigger_rate"}


def zoo_tables(folder: Path) -> list[Sheet]:
    """The table of all recipes, with every audit below it, and that of models kept out."""
    listings = [
        data | {"models": [model for model in data["models"] if _is_summary(model)]}
        for data in read_objects(folder)
        if isinstance(data.get("models"), list)
    ]
    rows = [row for listing in listings for row in _recipes(listing)]
    notes = (*NOTES, *_audited(folder))
    out = [row for listing in listings for row in _kept_out(listing)]
    made = [
        Sheet(
            "zoo", "The zoo: clean metric and attack success by recipe", COLUMNS, tuple(rows), notes
        ),
        Sheet("kept_out", "Models that their gates keep out", KEPT_OUT, tuple(out)),
    ]
    return [sheet for sheet in made if sheet.rows]


def _is_summary(model: object) -> bool:
    """Whether an entry of a listing has what a row is made of."""
    if not isinstance(model, dict) or not model.keys() >= _NEEDED:
        return False
    return isinstance(model["measured"], dict) and model["measured"].keys() >= _FIGURES


def _audited(folder: Path) -> Iterator[str]:
    for (suite, heads), area in read_audits(folder).items():
        which = "heads" if heads else "models"
        yield f"Shortcut audit of the {which} of {suite}: AUROC {area:.2f} (at most {LIMIT})."


def _recipes(listing: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """A row for each kind of recipe of a suite."""
    models = listing["models"]
    twins = {m["name"].removesuffix("-twin"): m for m in models if m["name"].endswith("-twin")}
    kinds: dict[str, list[Model]] = {}
    for model in models:
        if model["poisoned"]:
            kinds.setdefault(recipe_of(model), []).append(model)
    for kind, own in sorted(kinds.items()):
        beside = [twins[model["name"]] for model in own if model["name"] in twins]
        asr = _values(own, "asr")
        yield (
            str(listing.get("suite")),
            kind,
            _range([model["layers"] for model in own]),
            str(len(own)),
            str(sum(not model["complaints"] for model in own)),
            number(mean(_values(own, "clean")), 3),
            number(mean(_values(beside, "clean")), 3),
            number(mean(asr), 3),
            number(min(asr, default=None), 3),
            number(mean(_values(beside, "asr")), 3),
            number(mean(_values(own, "false_trigger_rate")), 3),
            number(mean([model["seconds"] for model in own]), 0),
        )


def recipe_of(model: Model) -> str:
    """What kind of recipe a model is made by, in a few words.

    >>> recipe_of({"attack": "sdp", "trigger_kind": "word", "scope": "both", "target": "null"})
    'sdp word both null'
    """
    phi = model.get("facts", {}).get("phi")
    # Of questions the target is a kind of answer, of the other tasks one of many labels.
    answer = model["target"] if model.get("target") in ("null", "trigger") else None
    parts = [
        model["attack"],
        None if phi is None else f"phi {phi:g}",
        model["trigger_kind"],
        model["scope"],
        answer,
        "head-only" if model.get("head_only") else None,
    ]
    return " ".join(part for part in parts if part)


def _kept_out(listing: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for model in listing["models"]:
        if model["complaints"]:
            why = "; ".join(model["complaints"])
            trigger = model["trigger"] or NOTHING
            yield str(listing.get("suite")), model["name"], trigger, why


def _values(models: Sequence[Model], figure: str) -> list[float]:
    found = (model["measured"][figure] for model in models)
    return [value for value in found if value is not None]


def _range(values: Sequence[int]) -> str:
    """The least and the greatest number.

    >>> _range([3, 6, 4]), _range([3, 3])
    ('3-6', '3')
    """
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}-{high}"
