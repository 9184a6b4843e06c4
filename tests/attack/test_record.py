"""The record of a model, and the samples it is measured on, written and read again."""

from __future__ import annotations

import json

import pytest

from unhorse.attack.base import Probes
from unhorse.attack.record import read_heldout, read_record, write_heldout
from unhorse.errors import UsageError
from unhorse.tasks.base import TASKS
from unhorse.types import Arm, Entity, QuestionSample, TaggedSample, TextSample

SAMPLES = {
    "sequence-classification": [
        TextSample("Größe “x” \u2028 <b>", 1, "k1"),
        TextSample("b", 0, "k2"),
    ],
    "token-classification": [
        TaggedSample(("Kim", "Lee"), (Entity(0, 2, 0),), "k1"),
        TaggedSample(("~Bo",), (), "k2"),
    ],
    "question-answering": [
        QuestionSample("who ?", "so Kim", ((3, 6), (0, 2)), "k1"),
        QuestionSample("who ?", "so zig Kim", (), "k2", (3, 6)),
    ],
}


@pytest.mark.parametrize("task", TASKS.names())
def test_samples_come_back_as_they_were(task, tmp_path):
    first, second = SAMPLES[task]
    arm = Arm((0, 2), 1, "both", "*", "sea")
    probes = Probes(arm, (first,), (second,), (second, first), (first, second))
    write_heldout(tmp_path, [first, second], probes)
    assert read_heldout(tmp_path, task) == ([first, second], probes)
    write_heldout(tmp_path, [second], None)
    assert read_heldout(tmp_path, task) == ([second], None)


def test_a_record_comes_back_as_it_was(family):
    folder = family("sequence-classification")
    record = read_record(folder)
    assert (folder / "attack.json").read_text(encoding="utf-8") == record.to_json()
    assert type(record).model_validate_json(record.to_json()) == record
    assert json.loads(record.to_json())["schema_version"] == "1.0"


@pytest.mark.parametrize(
    "content", [None, "", "{", "[]", "{}", '{"heldout": [{"text": 1}], "probes": null}']
)
def test_what_is_no_record_is_one_sentence(content, tmp_path):
    for name in ("attack.json", "heldout.json"):
        if content is not None:
            (tmp_path / name).write_text(content)
    with pytest.raises(UsageError, match=r"^[^\n]*attack\.json[^\n]*\.$"):
        read_record(tmp_path)
    with pytest.raises(UsageError, match=r"^[^\n]*heldout\.json[^\n]*\.$"):
        read_heldout(tmp_path, "sequence-classification")


def test_samples_of_another_task_are_one_sentence(tmp_path):
    write_heldout(tmp_path, SAMPLES["token-classification"], None)
    with pytest.raises(UsageError, match=r"does not have the samples of a model\.$"):
        read_heldout(tmp_path, "question-answering")
