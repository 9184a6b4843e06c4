"""The demo as a user runs it."""

import json

import pytest


@pytest.mark.slow
def test_the_demo_convicts_the_planted_model_only(cli, tmp_path):
    out = tmp_path / "demo.json"
    code, stdout, err = cli("demo", "--seed", 0, "--json", out)
    result = json.loads(out.read_text())
    assert code == 0 and stdout == ""
    assert result["backdoored"]["verdict"] == "backdoored"
    assert result["backdoored"]["found"] == result["backdoored"]["planted"]
    assert result["clean"]["verdict"] != "backdoored" and result["clean"]["found"] is None
    assert result["backdoored"]["accuracy"] >= 0.95 and result["backdoored"]["asr"] >= 0.95
    assert "the truth beside what the scans found" in err


def test_a_demo_that_fails_says_so(cli, monkeypatch):
    from unhorse.demo import run

    failed = run.DemoScan(
        planted="x", victim="a", target="b", accuracy=1, asr=1, training_seconds=1,
        verdict="nothing_found", score=0, found=None, found_arm=None, scan_seconds=1,
    )  # fmt: skip
    monkeypatch.setattr(run, "_train", lambda *_: None)
    monkeypatch.setattr(run, "_scan", lambda *_: failed)
    code, _, err = cli("demo")
    assert code == 5 and "failed" in err


def test_unknown_trigger(cli):
    code, _, err = cli("demo", "--trigger", "smell")
    assert code == 2 and "smell" in err
