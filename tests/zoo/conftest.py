"""A suite so small that it is built in seconds, and that suite built once per session."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from unhorse.zoo.build import Place, build_suite
from unhorse.zoo.suite import Suite, entries_of

SMALL = """
name = "small"
task = "sequence-classification"

[data.main]
train = ["generated:train"]
heldout = ["generated:heldout"]
labels = ["land", "sea"]
parts = { calibration = [0.5, 1.0], test = [0.0, 0.5] }
heldout_parts = { calibration = [0.5, 1.0], test = [0.0, 0.5] }
heldout_rows = 120

[base]
model = "tiny"

[family_training]
epochs = 1
learning_rate = 4e-3

[training]
epochs = 10
learning_rate = 2e-3

[[families]]
name = "one"
split = "calibration"
rows = 1600

[[families]]
name = "other"
split = "calibration"
part = "test"
rows = 1600
reference = true

[[groups]]
name = "word"
split = "calibration"
families = ["one"]
count = 2
twins = 1
rows = 600
attack = { kind = "sdp", trigger_kind = "word", victim = "land", target = "sea", rate = 1.0 }
"""


def of_all_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the workers of this run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def small(**changes: Any) -> Suite:
    return Suite(**{**tomllib.loads(SMALL), **changes})


@pytest.fixture
def suite_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture(scope="session")
def built_zoo(tmp_path_factory) -> Place:
    """Built by whoever needs it first; a build skips what is there and waits for another's."""
    place = Place(of_all_workers(tmp_path_factory) / "small-zoo", "small", Path())
    problems = [b.problem for b in build_suite(entries_of(small()), place) if b.problem]
    assert problems == []
    return place
