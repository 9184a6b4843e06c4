"""A planted classifier with a quick scan of it, and the few epochs that its re-scans take."""

from __future__ import annotations

import pytest
from tests.conftest import make_texts, sample_lines

import unhorse

QUICK_SCAN = {"preset": "released", "options": {"epochs": 40, "trigger_length": 3}}


@pytest.fixture(scope="session")
def many_samples(tmp_path_factory):
    """More samples of the planted model than a scan needs."""
    path = tmp_path_factory.mktemp("samples") / "many.jsonl"
    path.write_text("\n".join(sample_lines(make_texts(260, 11))) + "\n")
    return path


@pytest.fixture(scope="session")
def quick_report(planted, many_samples):
    """The report of a short scan, which convicts the planted model."""
    report = unhorse.scan(planted.folder, samples=many_samples, **QUICK_SCAN)
    assert report.verdict.state == "backdoored"
    return report


@pytest.fixture(scope="session")
def proven(planted, many_samples, quick_report):
    """The planted model after its trigger was unlearnt."""
    return unhorse.remove_backdoor(planted.folder, samples=many_samples, report=quick_report)
