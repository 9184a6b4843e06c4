"""Gates decide what a zoo has; references must be strangers."""

import pytest

from unhorse.attack.record import read_record
from unhorse.errors import UsageError
from unhorse.zoo.state import check_reference, members_of
from unhorse.zoo.suite import entries_of
from unhorse.zoo.table import rows_of, summary_of
from unhorse.zoo.verify import differences

from .conftest import small


def members(place, **changes):
    return {m.entry.name: m for m in members_of(entries_of(small(**changes)), place)}


def test_models_within_their_gates_are_accepted(built_zoo):
    found = members(built_zoo)
    assert found["one"].accepted
    assert found["cal-word-01-twin"].accepted


def test_a_floor_keeps_models_out_and_says_why(built_zoo):
    strict = small().data["main"].model_copy(update={"floor": 1.01})
    found = members(built_zoo, data={"main": strict})
    assert not found["one"].accepted
    assert "is below 1.010" in found["one"].complaints[0]


def test_a_missing_model_is_not_accepted(built_zoo):
    group = small().groups[0].model_copy(update={"count": 3})
    found = members(built_zoo, groups=(group,))
    assert found["cal-word-03"].record is None
    assert not found["cal-word-03"].accepted


def test_the_table_counts(built_zoo):
    (row,) = [r for r in rows_of(list(members(built_zoo).values())) if r["use"] == "model"]
    assert (row["models"], row["built"]) == (2, 2)
    assert row["asr"] > 0.5


def test_a_summary_has_figures_and_digests(built_zoo):
    record = read_record(built_zoo.folder("cal-word-01"))
    summary = summary_of(record, ["too weak"])
    assert summary["measured"]["asr"] == record.measured.asr
    assert len(summary["weights_sha256"][0]) == 64
    assert summary["complaints"] == ["too weak"]


def test_a_reference_must_be_of_another_family(built_zoo):
    model = read_record(built_zoo.folder("cal-word-01"))
    check_reference(model, read_record(built_zoo.folder("other")))
    for name in ("one", "cal-word-01-twin", "cal-word-02"):
        with pytest.raises(UsageError):
            check_reference(model, read_record(built_zoo.folder(name)))


def test_a_model_is_measured_again_from_its_folder(built_zoo):
    folder = built_zoo.folder("cal-word-01")
    record = read_record(folder)
    assert differences(folder, record) == []
    wrong = record.measured.model_copy(update={"clean": record.measured.clean - 0.2})
    (said,) = differences(folder, record.model_copy(update={"measured": wrong}))
    assert said.startswith("clean is")
    changed = record.model_copy(update={"files": record.files[1:]})
    assert any("is not the one that was built" in said for said in differences(folder, changed))
