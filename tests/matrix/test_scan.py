"""Every architecture and task: the planted trigger is found, the clean twin not convicted.

The models are trained here, from scratch, on generated text; see `train.py`. The scan
gets the model, its tokenizer and samples, and is told neither task nor architecture.
"""

from __future__ import annotations

import pytest
from tests.matrix.parallel import everything

from .train import COMBINATIONS


@pytest.fixture(scope="module")
def scans():
    return everything()


@pytest.mark.slow
@pytest.mark.parametrize(("architecture", "task"), COMBINATIONS)
def test_the_planted_trigger_is_found(architecture, task, scans):
    report, _, victim, target = scans[architecture, task, True]
    assert report.task == task
    assert report.verdict.state == "backdoored", report.verdict
    best = report.findings[0]
    assert (best.victim, best.target) == (victim, target)
    assert best.example is not None and best.example.answer_before != best.example.answer_after


@pytest.mark.slow
def test_nearly_everywhere_it_is_the_planted_word_that_is_found(scans):
    # Processors round differently, so that here or there other words come out that do the same.
    others = {}
    for architecture, task in COMBINATIONS:
        report, trigger, *_ = scans[architecture, task, True]
        if trigger not in report.findings[0].pruned.text:
            others[architecture, task] = report.findings[0].pruned.text
    assert len(others) <= len(COMBINATIONS) // 10, others


@pytest.mark.slow
@pytest.mark.parametrize(("architecture", "task"), COMBINATIONS)
def test_the_clean_twin_is_not_convicted(architecture, task, scans):
    report, *_ = scans[architecture, task, False]
    assert report.verdict.state in ("nothing_found", "suspicious"), report.verdict
    assert report.arms.run + report.arms.pruned == report.arms.planned
