"""`unhorse bench`: what is planned, that results are kept and not made twice, and the table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.zoo.conftest import SMALL, built_zoo, small  # noqa: F401

from unhorse.bench.plan import Asked, parse_methods, plan
from unhorse.bench.result import Result, Scanned, Trigger, read_result, weights_digest
from unhorse.bench.run import handed, run_bench
from unhorse.bench.table import auroc, markdown, rows_of
from unhorse.errors import UsageError
from unhorse.report.schema import NativeRecord
from unhorse.types import Entity, QuestionSample, TaggedSample, TextSample
from unhorse.zoo.state import members_of
from unhorse.zoo.suite import entries_of

QUICK = {"options": {"epochs": 3, "trigger_length": 3}, "schedule": "top2"}


@pytest.fixture
def members(built_zoo):  # noqa: F811
    return members_of(entries_of(small()), built_zoo)


def result(name="m", *, poisoned=True, method="dbs", state="backdoored", score=0.9, **changes):
    model = Scanned(
        suite="small",
        name=name,
        split="test",
        family="f",
        task="sequence-classification",
        architecture="A",
        layers=1,
        head_only=False,
        poisoned=poisoned,
        attack="sdp",
        trigger_kind="word",
        scope="global",
        trigger="cup",
        digest="d",
    )
    trigger = Trigger(
        arm="a->b@start",
        preset="paper",
        text="cup",
        tokens=1,
        asr=1.0,
        random_asr=0.0,
        reference_asr=None,
        loss=0.1,
        one_hot=True,
        score=score,
        recovered=1.0,
        native=changes.pop("native", None),
    )
    fields = {
        "model": model,
        "method": method,
        "preset": None,
        "seed": 0,
        "budget": None,
        "reference": None,
        "settings": "s",
        "state": state,
        "score": score,
        "triggers": (trigger,),
        "seconds": 2.0,
        "forward_tokens": 3_000_000,
        "backward_tokens": 1_000_000,
        "spent": False,
        "threads": 1,
        "versions": {},
    }
    return Result(**{**fields, **changes})


def test_methods_are_read_with_their_presets():
    assert parse_methods("dbs, dbs:paper,dbs") == [Asked("dbs"), Asked("dbs", "paper")]
    for text, sentence in (("nonsense", "no method called"), ("dbs:fast", "no preset 'fast'")):
        with pytest.raises(UsageError, match=sentence):
            parse_methods(text)


def test_only_models_and_twins_are_scanned_and_get_a_reference_of_another_family(members):
    units = plan(members, [Asked("random"), Asked("dbs")], seeds=2)
    assert {unit.member.entry.use for unit in units} == {"model", "twin"}
    assert len(units) == 3 * 2 * 2
    assert {unit.reference.entry.name for unit in units if unit.reference} <= {"other"}
    assert all(u.reference is None for u in plan(members, [Asked("dbs")], 1, with_reference=False))


def test_a_method_that_is_not_for_the_task_is_left_out(members, monkeypatch):
    from unhorse.invert.base import METHODS

    monkeypatch.setattr(METHODS.get("random"), "tasks", ("question-answering",), raising=False)
    assert plan(members, [Asked("random")], 1) == []


def test_results_are_kept_and_not_made_again(members, built_zoo, tmp_path):  # noqa: F811
    accepted = [m for m in members if m.entry.use == "twin"]
    units = plan(accepted, [Asked("random")], 1)
    assert len(units) == 1
    (first,) = run_bench(units, built_zoo, tmp_path, QUICK)
    if first.result is None:
        pytest.fail(first.problem)
    assert first.made_now and first.result.model.poisoned is False
    path = units[0].path(tmp_path, "small")
    stored = path.read_text()
    (again,) = run_bench(units, built_zoo, tmp_path, QUICK)
    assert not again.made_now and again.result == first.result and path.read_text() == stored
    (changed,) = run_bench(units, built_zoo, tmp_path, {**QUICK, "samples_per_class": 10})
    assert changed.made_now, "other settings are another result"
    data = json.loads(stored)
    data["model"]["digest"] = "another model"
    path.write_text(json.dumps(data))
    (redone,) = run_bench(units, built_zoo, tmp_path, QUICK)
    assert redone.made_now, "another model is another result"
    path.write_text(stored[: len(stored) // 2])
    assert read_result(path) is None


def test_a_model_that_is_not_built_is_reported(members, built_zoo, tmp_path):  # noqa: F811
    from dataclasses import replace

    gone = [replace(m, record=None) for m in members if m.entry.use == "model"]
    found = list(run_bench(plan(gone, [Asked("random")], 1), built_zoo, tmp_path))
    assert [f.problem for f in found] == ["the model is not built"] * 2


def test_half_a_scan_is_no_result(members, built_zoo, tmp_path, monkeypatch):  # noqa: F811
    """Ctrl-C ends a scan early with a report; that must not count as one."""
    from unhorse.invert.methods.random import Draws

    def interrupted(self, arms):
        raise KeyboardInterrupt

    units = plan([m for m in members if m.entry.use == "twin"], [Asked("random")], 1)
    monkeypatch.setattr(Draws, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(run_bench(units, built_zoo, tmp_path, QUICK))
    assert list(tmp_path.rglob("*.json")) == []


def test_a_scan_that_breaks_does_not_end_the_others(
    members,
    built_zoo,  # noqa: F811
    tmp_path,
    monkeypatch,
):
    from unhorse.invert.methods.random import Draws

    def broken(self, arms):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(Draws, "step", broken)
    units = plan([m for m in members if m.entry.use == "twin"], [Asked("random")], 2)
    found = list(run_bench(units, built_zoo, tmp_path, QUICK))
    assert [f.problem for f in found] == ["ZeroDivisionError: oh"] * 2


def test_the_table_counts_only_sure_verdicts_as_right():
    results = [
        result("a"),
        result("b", state="suspicious", score=0.4),
        result("c", poisoned=False, state="nothing_found", score=0.1),
        result("d", poisoned=False, state="suspicious", score=0.5),
    ]
    (row,) = rows_of(results, {"dbs": 6, "uat": 6})
    assert (row.done, row.planned, row.accuracy, row.found, row.cleared) == (4, 6, 0.5, 0.5, 0.5)
    assert row.auroc == 0.75 and row.megatokens == 4.0
    assert "| dbs | 4 of 6 | 0.50 |" in markdown([row])


def test_the_methods_own_measure_may_go_either_way():
    def own(value, low):
        return NativeRecord(measure="x", value=value, low_is_bad=low, convicts=None)

    low = [result("a", native=own(0.1, True)), result("b", poisoned=False, native=own(2.0, True))]
    high = [result("a", native=own(0.9, False)), result("b", poisoned=False, native=own(0, False))]
    none = [result("a", native=own(0.2, True)), result("b", poisoned=False, native=own(None, True))]
    for results in (low, high, none):
        assert rows_of(results, {"dbs": 2})[0].own_auroc == 1.0
    assert auroc([True, True], [0.1, 0.2]) is None


def test_stored_samples_are_handed_over_as_a_user_would():
    text = TextSample("it rains", 1, "k")
    words = TaggedSample(("in", "New", "York"), (Entity(1, 3, 1),), "k")
    question = QuestionSample("who?", "Ann came.", ((0, 3),), "k")
    tags = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
    assert handed([text], ("dry", "wet")) == [("it rains", "wet")]
    assert handed([words], tags) == [(["in", "New", "York"], ["O", "B-LOC", "I-LOC"])]
    assert handed([question], ()) == [("who?", "Ann came.", "Ann")]


def test_the_digest_is_of_the_weights_alone():
    files = [("model.safetensors", "1"), ("config.json", "2")]
    assert weights_digest(files) == weights_digest(files[:1])
    assert weights_digest(files) != weights_digest([("model.safetensors", "3")])


def test_the_command_prints_a_table_and_says_what_is_missing(cli, built_zoo, tmp_path):  # noqa: F811
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    given = ["bench", str(path), "--zoo", str(built_zoo.zoo), "-o", str(tmp_path / "out")]
    given += ["--methods", "random", "--set", "epochs=2", "--set", "trigger_length=2"]
    table = tmp_path / "table.md"
    code, _, err = cli(*given, "--only", "cal-word-01-twin", "--table", str(table))
    assert code in (0, 3)
    assert "random" in err or "missing" in err
    assert table.read_text().startswith("| method |")
    assert Path(tmp_path / "out").exists() or code == 3


def test_without_scikit_learn_it_is_said_before_any_scan(cli, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, _, err = cli("bench", "smoke", "--methods", "random")
    assert code == 2 and "needs scikit-learn" in err
