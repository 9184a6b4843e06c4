"""The whole removal on a small planted backdoor."""

import json
from dataclasses import replace

import pytest
import torch

import unhorse
from unhorse.load.model import load_model
from unhorse.remove.config import RemoveConfig
from unhorse.remove.methods.unlearn import Lessons, UnlearnConfig
from unhorse.remove.rescan import scan_config
from unhorse.testing import planted_case

from .conftest import QUICK_SCAN


def timeless(report):
    """A report without what may differ between two runs."""
    data = json.loads(report.to_json())
    for name in ("seconds", "removal_seconds", "scan_seconds"):
        del data[name]
    for each in data["rounds"]:
        del each["seconds"], each["rescan"]["seconds"]
    if data["control"] is not None:
        del data["control"]["seconds"]
    return data


def test_the_planted_trigger_is_removed(proven):
    report = proven.report
    assert report.outcome.state == "proven" and report.exit_code() == 0
    assert {trigger.text for trigger in report.triggers} == {"zebra"}
    for trigger in report.triggers:
        assert trigger.before.asr >= 0.95 and trigger.after.asr <= 0.1
    assert report.clean.after.value >= report.clean.before.value - 0.02
    assert "78 held-out rows" in report.clean.note
    low, high = report.clean.after.interval
    assert low <= report.clean.after.value <= high


def test_plain_fine_tuning_is_reported_beside_it(proven):
    control = proven.report.control
    assert control.method == "finetune" and control.seconds > 0
    assert len(control.triggers) == len(proven.report.triggers)
    left = zip(control.triggers, proven.report.triggers, strict=True)
    assert all(alone.asr > 0.5 > trigger.after.asr for alone, trigger in left)


def test_the_proof_is_made_with_another_seed_and_the_scans_own_settings(proven, quick_report):
    (only,) = proven.report.rounds
    assert only.rescan.seed == 1 != quick_report.config["seed"]
    assert only.rescan.verdict.state == "nothing_found" and only.rescan.rows == "heldout"
    assert proven.report.scan_config["options"] == QUICK_SCAN["options"]
    assert proven.report.scan_seconds == quick_report.seconds


def test_same_seed_same_removal(proven, planted, many_samples, quick_report):
    again = unhorse.remove_backdoor(planted.folder, samples=many_samples, report=quick_report)
    assert timeless(again.report) == timeless(proven.report)
    mine, same = (each.loaded.model.state_dict() for each in (proven, again))
    assert all(torch.equal(weight, same[name]) for name, weight in mine.items())


def test_what_is_watched_is_in_the_report(proven):
    (only,) = proven.report.rounds
    assert len(only.watched) == only.epochs and 1 <= only.kept_epoch <= only.epochs
    assert all(epoch.stamped is not None for epoch in only.watched)


def test_fine_tuning_alone_fails_and_says_why(planted, many_samples, quick_report):
    removed = unhorse.remove_backdoor(
        planted.folder, samples=many_samples, report=quick_report, method="finetune"
    )
    assert removed.report.control is None
    assert removed.report.outcome.state == "failed" and removed.report.exit_code() == 1
    assert "still convicts" in removed.report.outcome.reasons[0]
    assert "zebra" in removed.report.rounds[0].rescan.strongest


def test_rounds_go_on_until_the_limit(planted, many_samples, quick_report):
    """Fine-tuning never gets rid of it, so that every round finds the same trigger again."""
    removed = unhorse.remove_backdoor(
        planted.folder, samples=many_samples, report=quick_report, method="finetune",
        until_clean=2, options={"least_steps": 5, "epochs": 1},
    )  # fmt: skip
    assert [each.rescan.seed for each in removed.report.rounds] == [1, 2]


def test_it_scans_first_where_nothing_is_known(planted, many_samples):
    removed = unhorse.remove_backdoor(
        planted.folder, samples=many_samples, until_clean=3, scan=QUICK_SCAN, control=False
    )
    assert removed.report.control is None
    assert len(removed.report.rounds) == 1 and removed.report.outcome.state == "proven"
    assert removed.report.triggers[0].origin == "report"
    assert removed.report.scan_seconds is not None


def test_a_model_in_memory_and_a_trigger_by_hand(planted, many_samples):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(planted.folder).train()
    tokenizer = AutoTokenizer.from_pretrained(planted.folder)
    rows = [json.loads(line) for line in many_samples.read_text().splitlines()]
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    removed = unhorse.remove_backdoor(
        model, tokenizer, rows, trigger="zebra", victim="calm", target="wild", scan=QUICK_SCAN
    )
    assert removed.report.outcome.state == "proven"
    assert model.training
    assert all(torch.equal(before[name], weight) for name, weight in model.state_dict().items())


def test_what_a_method_needs_is_asked_for_first(planted, many_samples, quick_report):
    def refused(match, **given):
        with pytest.raises(unhorse.UsageError, match=match):
            unhorse.remove_backdoor(planted.folder, samples=many_samples, **given)

    refused("needs --base", method="distill")
    refused("needs a trigger")
    refused("no removal called 'magic'", method="magic", report=quick_report)
    refused("share", report=quick_report, options={"share": 2})
    refused("until_clean", report=quick_report, until_clean=0)
    nothing = quick_report.verdict.model_copy(update={"state": "nothing_found"})
    refused("no findings", report=quick_report.model_copy(update={"verdict": nothing}))
    unsure = quick_report.verdict.model_copy(update={"state": "inconclusive"})
    refused("is inconclusive", report=quick_report.model_copy(update={"verdict": unsure}))


def test_what_would_end_the_re_scan_is_said_before_the_removal(planted, many_samples, quick_report):
    def refused(match, **scan):
        with pytest.raises(unhorse.UsageError, match=match):
            unhorse.remove_backdoor(
                planted.folder, samples=many_samples, report=quick_report, scan=scan
            )

    refused("nowhere", profile="nowhere.json")
    refused("device", device="cuda:99")


def test_the_re_scan_is_made_where_the_removal_is(quick_report):
    far = quick_report.model_copy(update={"config": {**quick_report.config, "device": "cuda"}})
    assert scan_config(far, RemoveConfig()).device == RemoveConfig().device


def test_rows_with_a_trigger_in_them_keep_no_answer_of_the_model():
    case = planted_case()
    first = case.rows.train[0]
    marked = replace(first, text=f"{first.text} {case.triggers[0].text}")
    given = replace(case, rows=replace(case.rows, train=(marked, *case.rows.train[1:])))
    assert not given.is_clear(0) and given.is_clear(1)
    lessons = Lessons.of(given, UnlearnConfig())
    assert lessons.said[0].goal == first.label and isinstance(lessons.said[1].goal, torch.Tensor)


def test_a_cleaned_model_is_saved_and_loads_as_any_other(proven, tmp_path):
    proven.save(tmp_path / "clean")
    loaded = load_model(tmp_path / "clean")
    assert loaded.labels == ("calm", "wild")
    mine = proven.loaded.model.state_dict()
    assert all(torch.equal(mine[n], w) for n, w in loaded.model.state_dict().items())
    card = (tmp_path / "clean" / "README.md").read_text()
    for part in ("zebra", "accuracy", "before", "unlearn", "seed 1", "nothing_found", "sha256"):
        assert part in card
    assert str(tmp_path) not in card
    assert [path.name for path in tmp_path.iterdir()] == ["clean"]


def test_a_folder_is_never_written_over(proven, tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(unhorse.UsageError, match="never written over"):
        proven.save(tmp_path / "there")
    assert not any((tmp_path / "there").iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_an_interrupted_save_leaves_nothing(proven, tmp_path, monkeypatch, error):
    from unhorse.remove import folder

    def broken(report):
        raise error

    monkeypatch.setattr(folder, "model_card", broken)
    expected = unhorse.UsageError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        proven.save(tmp_path / "clean")
    assert not any(tmp_path.iterdir())


def test_a_card_names_the_base_where_it_is_one_of_the_hub(proven, tmp_path):
    from unhorse.report.removal_card import model_card

    for base, named in (("org/name@main", True), (str(tmp_path), False), (None, False)):
        card = model_card(proven.report.model_copy(update={"base": base}))
        assert ("base_model: org/name\n" in card) is named


def test_hostile_text_does_nothing_in_a_card(proven):
    from unhorse.report.removal_card import model_card

    evil = "\x1b[2J`|<script>\u202e\n# x"
    first = proven.report.triggers[0].model_copy(update={"text": evil, "victim": evil})
    changed = {"triggers": (first, *proven.report.triggers[1:])}
    card = model_card(proven.report.model_copy(update=changed))
    assert "\x1b" not in card and "\u202e" not in card and "\n# x" not in card
