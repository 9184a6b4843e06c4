"""Every kind of bad input: one sentence, the right exit code, no traceback."""

import json
import os
import shutil
from pathlib import Path

import pytest

QUICK = ("--set", "epochs=5")


def sentence(err):
    """The one line that tells what is wrong."""
    lines = [line for line in err.splitlines() if line.startswith("unhorse: ")]
    assert len(lines) == 1, err
    assert "Traceback" not in err
    assert lines[0].endswith(".")
    return lines[0]


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def copy(planted, tmp_path, **config_changes):
    folder = shutil.copytree(planted.folder, tmp_path / "copy")
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **config_changes}))
    return folder


def test_missing_path(cli, tmp_path):
    code, _, err = cli("scan", tmp_path / "nowhere")
    assert code == 2 and "nowhere" in sentence(err)


def test_not_a_model_folder(cli, tmp_path):
    code, _, err = cli("scan", tmp_path)
    assert code == 4 and "config.json" in sentence(err)


def test_unsupported_head(cli, planted, tmp_path):
    code, _, err = cli("scan", copy(planted, tmp_path, architectures=["BertForMaskedLM"]))
    assert code == 4 and "BertForMaskedLM" in sentence(err)


def test_one_label_model(cli, tmp_path, planted):
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    config = BertConfig(
        vocab_size=190, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=8, num_labels=1,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(tmp_path / "one")
    AutoTokenizer.from_pretrained(planted.folder).save_pretrained(tmp_path / "one")
    code, _, err = cli("scan", tmp_path / "one")
    assert code == 4 and "one label" in sentence(err)


def test_empty_samples(cli, planted, tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    code, _, err = cli("scan", planted.folder, "--samples", tmp_path / "empty.jsonl")
    assert code == 2 and "empty.jsonl" in sentence(err)


def test_missing_samples(cli, planted, tmp_path):
    code, _, err = cli("scan", planted.folder, "--samples", tmp_path / "no.jsonl")
    assert code == 2 and "no.jsonl" in sentence(err)


def test_malformed_line_is_named(cli, planted, tmp_path):
    path = write(tmp_path / "s.jsonl", {"text": "a", "label": "calm"})
    path.write_text(path.read_text() + "{not json\n")
    code, _, err = cli("scan", planted.folder, "--samples", path)
    assert code == 2 and "s.jsonl line 2" in sentence(err)


def test_label_not_in_the_config(cli, planted, tmp_path):
    path = write(tmp_path / "s.jsonl", {"text": "a", "label": "furious"})
    code, _, err = cli("scan", planted.folder, "--samples", path)
    said = sentence(err)
    assert code == 2 and "'furious'" in said and "calm, wild" in said and "line 1" in said


def test_samples_of_one_class_only_are_inconclusive(cli, planted, tmp_path):
    rows = [json.loads(line) for line in planted.samples.read_text().splitlines()]
    path = write(tmp_path / "s.jsonl", *[row for row in rows if row["label"] == "wild"])
    out = tmp_path / "report.json"
    code, _, err = cli("scan", planted.folder, "--samples", path, "--json", out, *QUICK)
    report = json.loads(out.read_text())
    assert code == 3 and report["verdict"]["state"] == "inconclusive"
    assert report["arms"]["failed"] == 2 and "calm" in report["verdict"]["reason"]
    assert "INCONCLUSIVE" in err


def test_too_few_samples_are_inconclusive(cli, planted, tmp_path):
    rows = [json.loads(line) for line in planted.samples.read_text().splitlines()][:20]
    out = tmp_path / "report.json"
    path = write(tmp_path / "s.jsonl", *rows)
    code, _, _ = cli("scan", planted.folder, "--samples", path, "--json", out)
    report = json.loads(out.read_text())
    assert code == 3 and report["arms"]["run"] == 0 and report["arms"]["planned"] == 4


def test_reference_whose_labels_cannot_be_matched(cli, planted, tmp_path):
    other = copy(
        planted, tmp_path, id2label={"0": "up", "1": "down"}, label2id={"up": 0, "down": 1}
    )
    code, _, err = cli("scan", planted.folder, "--samples", planted.samples, "--reference", other)
    assert code == 2 and "up" in sentence(err) and "calm" in sentence(err)


@pytest.mark.parametrize("name", ["missing/report.json", "."])
def test_unwritable_output_is_said_before_the_work(cli, planted, tmp_path, name):
    code, _, err = cli("scan", planted.folder, "--json", tmp_path / name)
    assert code == 2 and "expected" not in err
    sentence(err)


def test_output_in_a_folder_without_permission(cli, planted, tmp_path, monkeypatch):
    import tempfile

    def forbidden(**_):
        raise PermissionError

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", forbidden)
    code, _, err = cli("scan", planted.folder, "--json", tmp_path / "report.json")
    assert code == 2 and "cannot be written" in sentence(err)


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (("--method", "magic"), "magic"),
        (("--preset", "best"), "best"),
        (("--position", "middle"), "positions"),
        (("--set", "epochs=many"), "epochs"),
        (("--set", "colour=3"), "colour"),
        (("--set", "epochs"), "NAME=VALUE"),
        (("--device", "abacus"), "abacus"),
        (("--dtype", "fp8"), "dtype"),
        (("--fail-on", "rain"), "fail_on"),
        (("--config", "nowhere.toml"), "nowhere.toml"),
        (("--seed", "-1"), "seed"),
    ],
)
def test_wrong_flags(cli, planted, flags, word):
    code, _, err = cli("scan", planted.folder, *flags)
    assert code == 2 and word in sentence(err)


def test_unknown_flag(cli):
    code, _, err = cli("scan", "x", "--nonsense")
    assert code == 2 and "nonsense" in err and "Traceback" not in err


def test_wrong_toml(cli, planted, tmp_path):
    (tmp_path / "c.toml").write_text("seed = = 1")
    code, _, err = cli("scan", planted.folder, "--config", tmp_path / "c.toml")
    assert code == 2 and "c.toml" in sentence(err)


def test_unknown_label_of_invert(cli, planted):
    code, _, err = cli(
        "invert", planted.folder, "--samples", planted.samples,
        "--victim", "calm", "--target", "furious",
    )  # fmt: skip
    assert code == 2 and "furious" in sentence(err)


def test_out_of_memory_is_not_cleared(cli, planted, tmp_path, monkeypatch):
    from unhorse.invert.engine import ModelLoss

    def full(self, bucket, vectors):
        raise MemoryError

    monkeypatch.setattr(ModelLoss, "run_bucket", full)
    out = tmp_path / "report.json"
    code, _, _ = cli("scan", planted.folder, "--samples", planted.samples, "--json", out)
    report = json.loads(out.read_text())
    assert code == 3 and report["verdict"]["state"] == "inconclusive"
    assert report["arms"]["failed"] == 4 and "memory" in report["arms"]["failures"][0]["reason"]


def test_interrupt_writes_what_was_found(cli, planted, tmp_path, monkeypatch):
    from unhorse.cli.live import LiveProgress

    def epoch(self, done, loss, temperature):
        if done == 4 * 7:
            raise KeyboardInterrupt

    monkeypatch.setattr(LiveProgress, "epoch", epoch)
    out = tmp_path / "report.json"
    code, _, err = cli("scan", planted.folder, "--samples", planted.samples, "--json", out)
    report = json.loads(out.read_text())
    assert code == 130 and report["interrupted"]
    assert report["verdict"]["state"] == "inconclusive"
    assert len(report["findings"]) == 4 and len(report["curves"][0]["loss"]) == 7
    assert "Traceback" not in err


@pytest.mark.parametrize("preset", ["released", None])
def test_interrupt_in_the_first_epoch_clears_nothing(cli, planted, tmp_path, monkeypatch, preset):
    from unhorse.invert.objective import Objective

    calls = []

    def interrupted(self, mixtures, arms):
        calls.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(Objective, "__call__", interrupted)
    out = tmp_path / "report.json"
    flags = ("--preset", preset) if preset else ()
    code, _, _ = cli("scan", planted.folder, "--samples", planted.samples, "--json", out, *flags)
    report = json.loads(out.read_text())
    assert code == 130 and report["interrupted"] and len(calls) == 1
    assert report["verdict"]["state"] == "inconclusive" and report["arms"]["run"] == 0


def test_a_loss_that_is_not_a_number_fails_its_arm(cli, planted, tmp_path, monkeypatch):
    from unhorse.invert.engine import ModelLoss

    original = ModelLoss.run_bucket

    def broken(self, bucket, vectors):
        loss, hits = original(self, bucket, vectors)
        return loss * float("nan"), hits

    monkeypatch.setattr(ModelLoss, "run_bucket", broken)
    out = tmp_path / "report.json"
    code, _, _ = cli(
        "scan", planted.folder, "--samples", planted.samples, "--json", out, *QUICK, "--quiet"
    )
    report = json.loads(out.read_text())
    assert code == 3 and report["arms"]["failed"] == 4
    assert "not a number" in report["arms"]["failures"][0]["reason"]


def test_samples_of_the_victim_class_only_never_convict(cli, planted, tmp_path):
    rows = [json.loads(line) for line in planted.samples.read_text().splitlines()]
    path = write(tmp_path / "s.jsonl", *[row for row in rows if row["label"] == "calm"])
    out = tmp_path / "report.json"
    code, _, _ = cli("scan", planted.folder, "--samples", path, "--json", out, "--quiet")
    report = json.loads(out.read_text())
    assert code == 3 and report["verdict"]["state"] == "inconclusive"
    assert report["findings"][0]["natural"] is None


def test_a_device_as_output_stays_a_device(cli, planted):
    quick = ("--samples", planted.samples, "--quiet", *QUICK)
    cli("scan", planted.folder, "--json", os.devnull, *quick)
    assert not Path(os.devnull).is_file()


def test_a_figure_that_cannot_be_drawn_is_said_before_the_work(cli, planted, tmp_path):
    code, _, err = cli(
        "invert", planted.folder, "--victim", "calm", "--target", "wild",
        "--figure", tmp_path / "curves.xyz",
    )  # fmt: skip
    assert code == 2 and "curves.xyz" in sentence(err)


def test_internal_error_is_one_sentence(cli, planted, monkeypatch):
    monkeypatch.setattr("unhorse.scanner.plan_arms", lambda *_: 1 / 0)
    monkeypatch.delitem(os.environ, "UNHORSE_DEBUG", raising=False)
    code, _, err = cli("scan", planted.folder, "--samples", planted.samples)
    assert code == 5 and "ZeroDivisionError" in sentence(err)
