"""Results as a run would leave them, made by hand."""

from __future__ import annotations

from unhorse.bench.result import Population, Result, Scanned, Trigger
from unhorse.judge.circumstances import EVIDENCE_VERSION
from unhorse.report.schema import Measured, NativeRecord, Pruned

SCANNED = {
    "suite": "small",
    "name": "m",
    "split": "test",
    "family": "f",
    "task": "sequence-classification",
    "architecture": "A",
    "layers": 1,
    "head_only": False,
    "poisoned": True,
    "twin_of": None,
    "attack": "sdp",
    "standing": "plain",
    "trigger_kind": "word",
    "scope": "global",
    "trigger": "cup",
    "victim": "a",
    "target": "b",
    "phi": None,
    "clean": 0.9,
    "asr": 1.0,
    "digest": "d",
}

RESULT = {
    "method": "dbs",
    "preset": None,
    "method_version": 1,
    "evidence_version": EVIDENCE_VERSION,
    "seed": 0,
    "budget": None,
    "reference": None,
    "reference_digest": None,
    "reference_seed": 0,
    "own_samples": True,
    "config": {},
    "settings": "s",
    "state": "backdoored",
    "score": 0.9,
    "reason": "",
    "profile": None,
    "truth": None,
    "curves": (),
    "arms_planned": 2,
    "arms_run": 2,
    "arms_failed": 0,
    "arms_pruned": 0,
    "seconds": 2.0,
    "forward_tokens": 3_000_000,
    "backward_tokens": 1_000_000,
    "spent": False,
    "threads": 1,
    "commit": None,
    "versions": {},
}


def measured(asr=1.0, loss=0.1, n=20):
    return Measured(
        loss=loss,
        asr=asr,
        n=n,
        interval=(max(0.0, asr - 0.1), asr),
        asr_unrestricted=asr,
        n_unrestricted=n,
        asr_in_part=asr,
    )


def own(value, low=True, convicts=None):
    return NativeRecord(measure="soft loss", value=value, low_is_bad=low, convicts=convicts)


def trigger(**changes):
    fields = {
        "victim": "a",
        "target": "b",
        "position": "start",
        "method": "dbs",
        "preset": "paper",
        "seed": 0,
        "token_ids": (5, 6),
        "text": "cup tin",
        "retokenised_ids": (5, 6),
        "one_hot": True,
        "inversion_loss": 0.1,
        "native": None,
        "pruned": Pruned(token_ids=(5,), text="cup", retokenised_ids=(5,), heldout=measured()),
        "inversion": measured(),
        "heldout": measured(),
        "unstamped": measured(0.0),
        "random": measured(0.0),
        "natural": None,
        "references": (),
        "mirror": None,
        "score": 0.9,
        "example": None,
        "seconds": 1.0,
        "true_arm": True,
        "precision": 1.0,
        "recall": 1.0,
        "recovered": True,
    }
    return Trigger(**{**fields, **changes})


def result(name="m", **changes):
    """One result; names of fields of the model, of the result or of its one finding."""
    score = changes.get("score", 0.9)
    model = Scanned(
        **{**SCANNED, "name": name, **{k: changes.pop(k) for k in list(changes) if k in SCANNED}}
    )
    triggers = changes.pop("triggers", None)
    if triggers is None:
        triggers = (trigger(score=score, native=changes.pop("native", None)),)
    population = Population(labels=2, words=9, used=40, heldout=100, positions=("start",))
    return Result(
        **{**RESULT, "model": model, "triggers": triggers, "population": population, **changes}
    )
