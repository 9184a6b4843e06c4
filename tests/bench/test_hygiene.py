"""Every look at the test split is written down."""

from __future__ import annotations

import json
from types import SimpleNamespace

from unhorse.bench.commit import commit_of_package
from unhorse.bench.hygiene import Log
from unhorse.bench.plan import Asked, Given, Unit


def unit(name, split):
    entry = SimpleNamespace(name=name, recipe=SimpleNamespace(name=name, split=split))
    return Unit(entry, Asked("dbs", "paper"), 0, Given(1))


def test_every_look_at_a_test_model_appends_one_line(tmp_path):
    path = tmp_path / "new" / "test-runs.jsonl"
    Log(path, "small", "why").look(unit("a", "calibration"))
    assert not path.exists(), "nothing of the test split was scanned"
    Log(path, "small", "why").look(unit("b", "test"))
    Log(path, "small", None).look(unit("c", "beyond"), "unlearn")
    first, second = map(json.loads, path.read_text().splitlines())
    assert first["models"] == ["b"] and first["methods"] == ["dbs:paper"]
    assert (first["suite"], first["reason"], first["given"]) == ("small", "why", ["ref1"])
    assert first["commit"] == commit_of_package()
    assert second["reason"] == "not given" and second["methods"] == ["dbs:paper", "remove:unlearn"]


def test_outside_a_checkout_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setattr("unhorse.bench.commit.PACKAGE", tmp_path)
    commit_of_package.cache_clear()
    assert commit_of_package() is None
    commit_of_package.cache_clear()
