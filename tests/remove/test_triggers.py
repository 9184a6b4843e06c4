"""Which findings of a report are removed, and triggers given by hand."""

import pytest

from unhorse.errors import ModelRefused, UsageError
from unhorse.load.model import load_model
from unhorse.remove.triggers import by_hand, check_same_model, from_report, joined, read_report
from unhorse.types import FileDigest, Origin


def scored(report, state, *scores):
    findings = tuple(
        finding.model_copy(update={"score": score})
        for finding, score in zip(report.findings, scores, strict=False)
    )
    verdict = report.verdict.model_copy(update={"state": state})
    return report.model_copy(update={"findings": findings, "verdict": verdict})


def test_the_strongest_and_those_nearly_as_strong(planted_report):
    found = from_report(scored(planted_report, "backdoored", 0.9, 0.5, 0.2))
    assert len(found) == 2 and found[0].text == "zebra"
    assert found[0].arm.victim_name == "calm" and found[0].arm.target_name == "wild"
    assert found[0].text in found[0].forms and 0 <= found[0].control < 0.5


@pytest.mark.parametrize("state", ["nothing_found", "inconclusive"])
def test_what_was_not_found_is_not_removed(planted_report, state):
    assert from_report(scored(planted_report, state, 0.2, 0.1)) == ()


def test_a_trigger_is_listed_once(planted_report):
    found = from_report(planted_report)
    assert joined(found, found) == found


def test_by_hand(planted):
    loaded = load_model(planted.folder)
    found = by_hand(loaded, " zebra ", "calm", "wild")
    assert {(t.text, t.tokens, t.origin) for t in found} == {("zebra", 1, "by hand")}
    assert [t.arm.position for t in found] == ["start", "end"], "where it works is not known"
    universal = by_hand(loaded, "zebra", "*", "wild")
    assert {trigger.arm.victims for trigger in universal} == {(0,)}
    assert by_hand(loaded, None, None, None) == ()


@pytest.mark.parametrize(
    "given",
    [
        ("zebra", None, "wild"),
        (None, "calm", "wild"),
        ("  ", "calm", "wild"),
        ("zebra", "calm", "calm"),
        ("zebra", "calm", "odd"),
    ],
)
def test_half_a_trigger_is_refused(planted, given):
    with pytest.raises(UsageError, match=r"\.$"):
        by_hand(load_model(planted.folder), *given)


def test_a_trigger_without_a_token_is_refused(planted, monkeypatch):
    monkeypatch.setattr("unhorse.remove.triggers.retokenise", lambda tokenizer, text: ())
    with pytest.raises(UsageError, match="no token that the model can read"):
        by_hand(load_model(planted.folder), "\u200b", "calm", "wild")


def test_a_report_of_another_model_is_refused(planted_report):
    files = tuple(FileDigest(file.path, file.sha256) for file in planted_report.model.files)
    check_same_model(planted_report, Origin("x", None, files))
    with pytest.raises(ModelRefused, match="another model"):
        check_same_model(planted_report, Origin("x", None, files[1:]))


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"schema_version": 1}', "\udcff"])
def test_what_is_no_report_is_one_sentence(tmp_path, content):
    path = tmp_path / "report.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=r"is not the report of a scan.*\.$"):
        read_report(path)
