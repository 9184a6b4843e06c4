"""A model that a zoo has made is not compared with its relatives."""

from __future__ import annotations

import shutil

import pytest

from unhorse.attack.build import folder_digests
from unhorse.attack.record import MODEL, RECORD, read_record
from unhorse.errors import UsageError
from unhorse.zoo.beside import check_beside


def test_relatives_and_trojaned_models_are_refused_as_references(built_zoo, cli):
    subject, twin, other, worse = (
        built_zoo.folder(name) / MODEL
        for name in ("cal-word-01", "cal-word-01-twin", "other", "cal-word-02")
    )
    check_beside(subject, [other])
    check_beside(str(subject), ["org/name", object()])
    for reference, why in ((twin, "are twins"), (worse, "is trojaned")):
        with pytest.raises(UsageError, match=why):
            check_beside(subject, [other, reference])
    code, _, err = cli("scan", subject, "--reference", twin)
    assert code == 2 and "are twins" in err


def test_what_is_no_record_says_nothing(built_zoo, tmp_path):
    (tmp_path / RECORD).write_text("{}")
    check_beside(tmp_path / "model", [built_zoo.folder("other") / MODEL])


def test_a_trojaned_model_is_no_reference_of_a_model_without_a_record(built_zoo, tmp_path):
    with pytest.raises(UsageError, match="is trojaned"):
        check_beside(tmp_path / "model", [built_zoo.folder("cal-word-02") / MODEL])


def test_a_model_without_a_record_is_known_by_its_weights(built_zoo, tmp_path):
    """Two models of one trained checkpoint are related, and so is that checkpoint itself."""
    subject = built_zoo.folder("cal-word-01") / MODEL
    checkpoint = tmp_path / "checkpoint" / MODEL
    shutil.copytree(built_zoo.folder("other") / MODEL, checkpoint)
    check_beside(subject, [checkpoint])
    for name in ("one", "two"):
        record = read_record(built_zoo.folder("other"))
        files = folder_digests(checkpoint)
        base = record.base.model_copy(update={"files": files, "tuned": True})
        told = {"base": base, "name": name, "family": name, "ancestors": ()}
        (tmp_path / name).mkdir()
        (tmp_path / name / RECORD).write_text(record.model_copy(update=told).to_json())
    one, two = tmp_path / "one" / MODEL, tmp_path / "two" / MODEL
    with pytest.raises(UsageError, match="derived from"):
        check_beside(one, [checkpoint])
    with pytest.raises(UsageError, match="the same trained model"):
        check_beside(one, [two])
