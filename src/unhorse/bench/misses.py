"""The models that a method has wrong, with what it found in them beside what is there."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unhorse.bench.group import given_of, is_first, method_of
from unhorse.bench.result import Result
from unhorse.bench.sheet import NOTHING, Sheet, number
from unhorse.report.curves import sparkline
from unhorse.report.safe_text import safe_text

COLUMNS = (
    "model",
    "given",
    "attack",
    "true trigger",
    "its ASR",
    "its loss",
    "verdict",
    "score",
    "found",
    "arm",
    "ASR",
    "in references",
    "loss",
    "curve",
)

NOTES = (
    "true trigger: as pruned on the scan's samples, with the success and loss of the whole one. "
    "found: the strongest finding, pruned, and its success on held-out samples and in references.",
    "curve: the loss over the epochs of the arm with the least loss, on a logarithmic scale.",
)


BARS = 24
"""How wide a curve is."""


def misses(results: Sequence[Result], splits: Sequence[str], method: str) -> Sheet:
    """One row for each model that the method has wrong: missed ones first."""
    wrong = [
        r
        for r in results
        if r.model.split in splits and r.label == method and is_first(r) and not r.is_right
    ]
    wrong.sort(key=lambda r: (not r.model.poisoned, r.model.suite, r.model.name, given_of(r)))
    title = f"Models that {method} has wrong, split {' and '.join(splits)}"
    return Sheet("misses", title, COLUMNS, tuple(map(_cells, wrong)), NOTES)


def _cells(result: Result) -> tuple[str, ...]:
    model, truth = result.model, result.truth
    found = result.triggers[0] if result.triggers else None
    kinds = (model.attack, model.trigger_kind, model.scope)
    return (
        f"{model.suite}/{model.name}",
        f"{method_of(result)}, {given_of(result)}",
        "/".join(kind for kind in kinds if kind) if model.poisoned else "clean",
        NOTHING if truth is None else safe_text(truth.pruned),
        number(truth.asr if truth else None),
        number(truth.loss if truth else None, 4),
        result.state,
        number(result.score),
        NOTHING if found is None else safe_text(found.pruned.text),
        NOTHING if found is None else safe_text(found.arm),
        number(found.pruned.heldout.asr if found else None),
        number(found.reference_asr if found else None),
        number(found.inversion_loss if found else None, 4),
        _curve(result),
    )


def _curve(result: Result) -> str:
    least = result.least_loss
    for curve in result.curves:
        if least is not None and (curve.arm, curve.preset) == (least.arm, least.preset):
            return sparkline([math.nan if x is None else x for x in curve.loss], BARS)
    return NOTHING
