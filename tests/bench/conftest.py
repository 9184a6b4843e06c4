"""A folder with the small suite's file, so that a table knows what is planned."""

from __future__ import annotations

import pytest
from tests.zoo.conftest import SMALL

TESTED = """
[[families]]
name = "two"
split = "test"
rows = 1600

[[groups]]
name = "word"
split = "test"
families = ["two"]
count = 3
attack = { kind = "sdp", trigger_kind = "word", victim = "land", target = "sea" }
"""


@pytest.fixture
def suite_folder(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL + TESTED)
    return tmp_path
