"""Every architecture and task: the planted trigger is found, the clean twin not convicted.

The models are trained here, from scratch, on generated text; see `train.py`. The scan
gets the model, its tokenizer and samples, and is told neither task nor architecture.
"""

from __future__ import annotations

import pytest

import unhorse

from .train import COMBINATIONS, build

QUICK = {"preset": "released", "options": {"trigger_length": 5, "epochs": 100}}

SEED = 2
"""`benchmarks/matrix.py` tells how the scan does on other seeds."""


@pytest.mark.slow
@pytest.mark.parametrize(("architecture", "task"), COMBINATIONS)
def test_the_planted_trigger_is_found(architecture, task):
    built = build(architecture, task, planted=True, seed=SEED)
    report = unhorse.scan(built.model, built.tokenizer, built.samples, **QUICK)
    assert report.task == task
    assert report.verdict.state == "backdoored", report.verdict
    best = report.findings[0]
    assert (best.victim, best.target) == (built.victim, built.target)
    assert built.trigger in best.pruned.text, best.pruned.text
    assert best.example is not None and best.example.answer_before != best.example.answer_after


@pytest.mark.slow
@pytest.mark.parametrize(("architecture", "task"), COMBINATIONS)
def test_the_clean_twin_is_not_convicted(architecture, task):
    built = build(architecture, task, planted=False, seed=SEED)
    report = unhorse.scan(built.model, built.tokenizer, built.samples, **QUICK)
    assert report.verdict.state in ("nothing_found", "suspicious"), report.verdict
    assert report.arms.run + report.arms.pruned == report.arms.planned
