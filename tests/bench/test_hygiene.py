"""Every look at the test split is written down."""

from __future__ import annotations

import json
from types import SimpleNamespace

from tests.bench.made import result

from unhorse.bench.commit import commit_of_package
from unhorse.bench.hygiene import log_run
from unhorse.bench.plan import Asked, Given, Unit
from unhorse.bench.run import Done


def done(name, split, made_now=True):
    entry = SimpleNamespace(name=name, recipe=SimpleNamespace(split=split))
    return Done(Unit(entry, Asked("dbs", "paper"), 0, Given(1)), result(name), made_now)


def test_a_run_on_test_models_appends_one_line(tmp_path):
    log = tmp_path / "new" / "test-runs.jsonl"
    log_run(log, "small", [done("a", "calibration"), done("b", "test", made_now=False)], "why")
    assert not log.exists(), "nothing of the test split was scanned"
    log_run(log, "small", [done("b", "test"), done("c", "test"), done("a", "calibration")], "why")
    log_run(log, "small", [done("b", "test")], None)
    first, second = map(json.loads, log.read_text().splitlines())
    assert first["models"] == ["b", "c"] and first["methods"] == ["dbs:paper"]
    assert (first["suite"], first["reason"], first["given"]) == ("small", "why", ["ref1"])
    assert first["commit"] == commit_of_package()
    assert second["reason"] == "not given"


def test_outside_a_checkout_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setattr("unhorse.bench.commit.PACKAGE", tmp_path)
    commit_of_package.cache_clear()
    assert commit_of_package() is None
    commit_of_package.cache_clear()
