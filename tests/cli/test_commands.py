"""Commands as a user calls them."""

import json


def test_version(cli):
    code, out, _ = cli("--version")
    assert code == 0 and out.startswith("unhorse ")


def test_help_names_every_command(cli):
    code, out, _ = cli("--help")
    assert code == 0
    for name in ("scan", "invert", "demo", "doctor"):
        assert name in out


def test_json_goes_to_stdout_only_when_asked(cli, planted):
    quick = ("--samples", planted.samples, "--set", "epochs=5", "--set", "trigger_length=3")
    _, out, err = cli("scan", planted.folder, *quick)
    assert out == "" and "unhorse" in err
    _, out, err = cli("scan", planted.folder, *quick, "--json", "-", "--quiet")
    assert json.loads(out)["schema_version"] == "1.8" and err == ""


def test_toml_and_flags_fill_the_same_fields(cli, planted, tmp_path):
    (tmp_path / "scan.toml").write_text(
        'seed = 3\npositions = ["end"]\npreset = "paper"\n[options]\nepochs = 5\n'
    )
    out = tmp_path / "report.json"
    cli(
        "scan", planted.folder, "--samples", planted.samples, "--config", tmp_path / "scan.toml",
        "--seed", 4, "--set", "trigger_length=2", "--json", out, "--quiet",
    )  # fmt: skip
    config = json.loads(out.read_text())["config"]
    assert (config["seed"], config["positions"]) == (4, ["end"])
    assert config["options"] == {"epochs": 5, "trigger_length": 2}
    assert list(config["passes"]) == ["paper"] and config["passes"]["paper"]["epochs"] == 5


def test_invert_runs_one_arm_and_draws_its_curves(cli, planted, tmp_path):
    out, figure = tmp_path / "report.json", tmp_path / "curves.png"
    code, _, err = cli(
        "invert", planted.folder, "--samples", planted.samples, "--victim", "calm",
        "--target", "wild", "--position", "second_half", "--preset", "released",
        "--json", out, "--figure", figure,
    )  # fmt: skip
    report = json.loads(out.read_text())
    assert code == 0 and len(report["curves"]) == 1 and len(report["curves"][0]["loss"]) == 200
    assert report["findings"][0]["pruned"]["text"] == planted.trigger
    assert figure.read_bytes()[:4] == b"\x89PNG"
    assert "temperature" in err and "lowest" in err


def test_fail_on_suspicious(cli, planted, monkeypatch):
    from unhorse.types import Verdict

    monkeypatch.setattr(
        "unhorse.scanner.decide", lambda *_, **__: Verdict("suspicious", 0.3, "Because.")
    )
    quick = ("--samples", planted.samples, "--set", "epochs=5", "--set", "trigger_length=3")
    assert cli("scan", planted.folder, *quick)[0] == 3
    assert cli("scan", planted.folder, *quick, "--fail-on", "suspicious")[0] == 1


def test_doctor_tells_device_precision_and_speed(cli, monkeypatch):
    from unhorse import speed

    small = {"num_hidden_layers": 1, "hidden_size": 48, "intermediate_size": 96}
    monkeypatch.setattr(speed, "MINILM", {**speed.MINILM, **small})
    code, _, err = cli("doctor")
    assert code == 0
    for word in ("torch", "device", "threads", "precision", "because", "GFLOP/s"):
        assert word in err
