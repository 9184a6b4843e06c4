"""The whole scan on a small planted backdoor."""

import json
import random
import shutil

import pytest
import torch

import unhorse
from unhorse.config import ScanConfig

QUICK = {"options": {"epochs": 10, "trigger_length": 3}}


def timeless(report):
    """A report without what may differ between two runs."""
    data = json.loads(report.to_json())
    for name in ("seconds", "estimate"):
        del data[name]
    del data["cost"]["seconds"]
    for finding in data["findings"]:
        del finding["seconds"]
    return data


def test_the_planted_trigger_is_found(planted, planted_report):
    assert planted_report.verdict.state == "backdoored"
    best = planted_report.findings[0]
    assert (best.victim, best.target, best.pruned.text) == ("calm", "wild", planted.trigger)
    assert best.pruned.heldout.asr >= 0.95 and best.random.asr < 0.3


def test_every_epoch_is_recorded(planted_report):
    assert len(planted_report.curves) == 4
    for curve in planted_report.curves:
        assert len(curve.loss) == len(curve.temperature) == 200


def test_same_seed_same_report(planted):
    one, two = (
        timeless(unhorse.scan(planted.folder, samples=str(planted.samples), **QUICK))
        for _ in range(2)
    )
    assert one == two


def test_another_seed_draws_other_samples(planted):
    digests = {
        unhorse.scan(planted.folder, samples=str(planted.samples), seed=s, **QUICK).samples.digest
        for s in (0, 1)
    }
    assert len(digests) == 2


def test_the_order_of_samples_does_not_matter(planted, tmp_path):
    lines = planted.samples.read_text().splitlines()
    random.Random(0).shuffle(lines)
    mixed = tmp_path / "samples.jsonl"
    mixed.write_text("\n".join(lines) + "\n")
    reports = [
        timeless(unhorse.scan(planted.folder, samples=str(path), **QUICK))
        for path in (planted.samples, mixed)
    ]
    for report in reports:
        del report["samples"]["source"]
    assert reports[0] == reports[1]


def test_what_else_lies_in_the_folder_does_not_matter(planted, tmp_path, monkeypatch):
    folder = tmp_path / "model"
    shutil.copytree(planted.folder, folder)
    scans = [timeless(unhorse.scan(folder, samples=str(planted.samples), **QUICK))]
    canary = tmp_path / "canary"
    code = f"open({str(canary)!r}, 'w')\n"
    for name in ("modeling.py", "tokenization.py", "conftest.py", "sitecustomize.py"):
        (folder / name).write_text(code)
        (tmp_path / name).write_text(code)
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    (folder / "generation_config.json").write_text("{broken")
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04cposix\nsystem\n.")
    (folder / "README.md").write_text("---\nbase_model: x\n---")
    monkeypatch.chdir(folder)
    scans.append(timeless(unhorse.scan(folder, samples=str(planted.samples), **QUICK)))
    assert scans[0] == scans[1]
    assert not canary.exists()


def test_a_model_in_memory_is_scanned_and_left_alone(planted):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(planted.folder).train()
    tokenizer = AutoTokenizer.from_pretrained(planted.folder)
    samples = [
        (row["text"], row["label"])
        for row in map(json.loads, planted.samples.read_text().splitlines())
    ]
    before = {name: value.clone() for name, value in model.state_dict().items()}
    report = unhorse.scan(model, tokenizer, samples=samples, **QUICK)
    assert report.arms.run == 4 and report.model.files == ()
    assert model.training and all(p.requires_grad for p in model.parameters())
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_samples_in_memory_equal_those_of_a_file(planted):
    rows = [json.loads(line) for line in planted.samples.read_text().splitlines()]
    kept = unhorse.scan(planted.folder, samples=rows, **QUICK).samples.digest
    assert (
        kept == unhorse.scan(planted.folder, samples=str(planted.samples), **QUICK).samples.digest
    )


def test_a_model_in_memory_needs_its_tokenizer(planted):
    from transformers import AutoModelForSequenceClassification

    model = AutoModelForSequenceClassification.from_pretrained(planted.folder)
    with pytest.raises(unhorse.UsageError, match="tokenizer"):
        unhorse.scan(model)


def test_without_samples_own_texts_are_used_and_said(planted):
    report = unhorse.scan(planted.folder, **QUICK)
    assert "own" in report.samples.source and "wrote" in report.samples.note


def test_a_reference_with_the_same_tokenizer_enters_the_objective(planted):
    report = unhorse.scan(
        planted.folder, samples=str(planted.samples), references=[planted.folder], **QUICK
    )
    (reference,) = report.references
    assert reference.in_objective and "objective" in reference.note
    for finding in report.findings:
        # A reference equal to the subject moves exactly as far as the subject does.
        assert finding.references[0].asr == pytest.approx(finding.heldout.asr)
    assert report.verdict.state != "backdoored"


def test_a_reference_with_another_tokenizer_only_judges(planted, other_tokenizer_folder):
    report = unhorse.scan(
        planted.folder, samples=str(planted.samples), references=[other_tokenizer_folder], **QUICK
    )
    (reference,) = report.references
    assert not reference.in_objective and "judging" in reference.note
    assert all(not f.references[0].in_objective for f in report.findings)
    # Labels are matched by name: this reference lists them in the other order.
    assert all(f.references[0].n > 0 for f in report.findings)


def test_the_estimate_is_in_the_report(planted_report):
    # Whether it is right within a factor of two is measured by benchmarks/memory.py.
    estimate = planted_report.estimate
    assert estimate.seconds > 0 and estimate.seconds_taken > 0
    assert estimate.bytes > 0 and estimate.bytes_taken > 0


def test_samples_may_be_a_path(planted):
    assert unhorse.scan(planted.folder, samples=planted.samples, **QUICK).arms.run == 4


def test_the_universal_arm_of_two_labels_is_the_pair(planted):
    report = unhorse.scan(
        planted.folder, samples=planted.samples, victim="*", target="wild", **QUICK
    )
    assert {(f.victim, f.target) for f in report.findings} == {("calm", "wild")}


def test_a_rare_label_of_a_large_file_is_not_drawn_away(planted):
    rows = [json.loads(line) for line in planted.samples.read_text().splitlines()]
    calm = [row for row in rows if row["label"] == "calm"][:14]
    wild = [
        {"text": f"{row['text']} plain{i}", "label": "wild"}
        for row in rows
        if row["label"] == "wild"
        for i in range(60)
    ]
    report = unhorse.scan(planted.folder, samples=calm + wild, **QUICK)
    assert report.arms.run == 4


def test_a_shorter_reference_limits_the_texts(planted, tmp_path):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(planted.folder)
    tokenizer = AutoTokenizer.from_pretrained(planted.folder, model_max_length=16)
    report = unhorse.scan(
        planted.folder,
        samples=planted.samples,
        references=[(model, tokenizer)],
        method="dbs",
        **QUICK,
    )
    assert report.arms.run == 4 and report.references[0].model.source == "in memory"


def test_own_label_names_that_are_no_text_are_refused(planted, tmp_path):
    folder = shutil.copytree(planted.folder, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    config["id2label"] = {"0": "calm", "1": "\ud800"}
    config["label2id"] = {"calm": 0, "\ud800": 1}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(unhorse.ModelRefused):
        unhorse.scan(folder, samples=planted.samples)


def test_a_model_without_room_for_the_trigger(planted):
    with pytest.raises(unhorse.UsageError, match="no room"):
        unhorse.scan(planted.folder, samples=str(planted.samples), options={"trigger_length": 40})


def test_every_flag_is_a_field_of_the_configuration():
    import inspect

    from unhorse.cli import invert, scan

    renamed = {"option": "options", "position": "positions"}
    not_config = {"model", "samples", "reference", "json_out", "config", "quiet", "figure"}
    for module in (scan, invert):
        names = {renamed.get(n, n) for n in inspect.signature(module.command).parameters}
        assert names - not_config <= set(ScanConfig.model_fields)
