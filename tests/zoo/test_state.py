"""Gates decide what a zoo has; references must be strangers."""

import shutil
from dataclasses import replace

import pytest

from unhorse.attack.record import HELDOUT, MODEL, RECORD, read_record
from unhorse.errors import UsageError
from unhorse.zoo import keep, state
from unhorse.zoo.reference import check_reference
from unhorse.zoo.standing import Found
from unhorse.zoo.state import members_of
from unhorse.zoo.statistics import collect
from unhorse.zoo.suite import entries_of
from unhorse.zoo.table import listing, rows_of, summary_of
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


def test_the_table_by_kind_of_recipe(built_zoo):
    found = list(members(built_zoo).values())
    listed = listing(found)
    (kind,) = listed["kinds"]
    assert (kind["attack"], kind["trigger_kind"], kind["scope"]) == ("sdp", "word", "global")
    assert kind["models"] == 2
    assert kind["asr"] > 0.5
    assert kind["false_trigger_rate"] is None
    assert (len(listed["models"]), listed["missing"]) == (5, {})
    assert listing(list(members(built_zoo, seed=5).values()))["missing"]["one"] == (
        "was built from another recipe"
    )


def test_figures_outlive_their_models(built_zoo, tmp_path):
    before = listing(list(members(built_zoo).values()))
    nowhere = replace(built_zoo, zoo=tmp_path)
    kept = listing(list(members(nowhere).values()), before)
    assert [m["name"] for m in kept["models"]] == [m["name"] for m in before["models"]]
    assert not any(m["here"] for m in kept["models"])
    assert (kept["kinds"], kept["missing"]) == (before["kinds"], {})
    other = list(members(nowhere, seed=5).values())
    assert listing(other, before)["models"] == []


def test_statistics_outlive_their_models(built_zoo):
    found = list(members(built_zoo).values())
    statistics, _ = collect(found, built_zoo)
    before = {"statistics": keep.kept_rows(statistics, found)}
    assert keep.outlived(before, found) == []
    gone = [replace(member, record=None) for member in found]
    assert keep.outlived(before, gone) == statistics
    for row in before["statistics"]:
        row["recipe"] = "another"
    assert keep.outlived(before, gone) == []


def test_a_head_on_a_frozen_body_has_no_trained_embeddings(built_zoo):
    record = read_record(built_zoo.folder("cal-word-01"))
    assert summary_of(record, [])["embeddings_trained"]
    training = record.recipe.training.model_copy(update={"head_only": True})
    head = record.model_copy(
        update={"recipe": record.recipe.model_copy(update={"training": training})}
    )
    assert not summary_of(head, [])["embeddings_trained"]


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


def test_models_of_another_recipe_are_not_there(built_zoo):
    found = members(built_zoo, seed=5)
    assert found["one"].record is None
    assert found["one"].problems == ("was built from another recipe",)


def test_without_the_data_recipes_are_compared(built_zoo, tmp_path):
    shutil.copytree(built_zoo.zoo / "small", tmp_path / "small")
    shutil.rmtree(tmp_path / "small" / "one")
    found = members(replace(built_zoo, zoo=tmp_path))
    assert found["cal-word-01"].record is not None
    assert "small/one/model is not in" in found["cal-word-01"].note
    assert members(replace(built_zoo, zoo=tmp_path), seed=5)["cal-word-01"].record is None
    assert found["one"].problems == ("is missing",)


def test_a_model_that_cannot_be_read_does_not_cost_the_others(built_zoo, tmp_path):
    shutil.copytree(built_zoo.zoo / "small", tmp_path / "small")
    (tmp_path / "small" / "cal-word-02" / RECORD).write_text('{"schema_version": "0.1"}')
    shutil.rmtree(tmp_path / "small" / "other" / MODEL)
    found = members(replace(built_zoo, zoo=tmp_path))
    assert "is not a record" in found["cal-word-02"].problems[0]
    assert "has lost its model/" in found["other"].problems[0]
    assert found["cal-word-01"].record is not None


def test_a_model_without_anything_to_compare_with_is_kept_out(built_zoo, tmp_path):
    shutil.copytree(built_zoo.zoo / "small", tmp_path / "small")
    shutil.rmtree(tmp_path / "small" / "cal-word-01-twin")
    found = members(replace(built_zoo, zoo=tmp_path))
    said = "its clean twin cal-word-01-twin is not there to compare with"
    assert said in found["cal-word-01"].complaints
    assert said in found["cal-word-02"].complaints


def test_a_model_without_a_twin_is_compared_with_its_family(built_zoo):
    entry = next(e for e in entries_of(small()) if e.name == "cal-word-02")
    (member,) = members_of([replace(entry, twin="small/one")], built_zoo)
    assert not any("compare with" in said for said in member.complaints)
    (member,) = members_of([replace(entry, twin="small/gone")], built_zoo)
    assert any("compare with" in said for said in member.complaints)


def test_clean_models_are_compared_within_one_split(monkeypatch, built_zoo):
    entries = entries_of(small())
    one = read_record(built_zoo.folder("one"))
    better = one.measured.model_copy(update={"clean": 2.0})
    for change, kept_out in (
        ({}, True),
        ({"split": "test"}, False),
        ({"layers": 9}, False),
        ({"recipe": other_data(one.recipe)}, False),
    ):
        records = {e.name: Found(read_record(built_zoo.folder(e.name))) for e in entries}
        records["other"] = Found(one.model_copy(update={"measured": better, **change}))
        monkeypatch.setattr(state, "standing", lambda recipe, place, r=records: r[recipe.name])
        found = {m.entry.name: m for m in members_of(entries, built_zoo)}
        assert bool(found["one"].complaints) is kept_out


def other_data(recipe):
    data = recipe.data.model_copy(update={"heldout_part": (0.0, 0.1)})
    return recipe.model_copy(update={"data": data})


def test_a_model_is_measured_again_from_its_folder(built_zoo):
    folder = built_zoo.folder("cal-word-01")
    record = read_record(folder)
    assert differences(folder, record) == []
    wrong = record.measured.model_copy(update={"clean": record.measured.clean - 0.2})
    (said,) = differences(folder, record.model_copy(update={"measured": wrong}))
    assert said.startswith("clean is")
    changed = record.model_copy(update={"files": record.files[1:]})
    assert any("is not the one that was built" in said for said in differences(folder, changed))


def test_files_alone_can_be_compared(built_zoo):
    folder = built_zoo.folder("cal-word-01")
    record = read_record(folder)
    figures = record.measured.model_copy(update={"clean": record.measured.clean - 0.2})
    record = record.model_copy(update={"measured": figures})
    assert differences(folder, record, measured_again=False) == []
    changed = record.model_copy(update={"files": record.files[1:]})
    assert len(differences(folder, changed, measured_again=False)) == 1


def test_other_held_out_rows_are_noticed(built_zoo, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(built_zoo.folder("cal-word-01"), folder)
    record = read_record(folder)
    with (folder / HELDOUT).open("a") as file:
        file.write(" ")
    assert differences(folder, record) == [f"the file {HELDOUT} is not the one that was built"]
    unknown = record.model_copy(update={"heldout_sha256": None})
    assert differences(folder, unknown) == []


def test_damaged_weights_are_one_sentence(built_zoo, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(built_zoo.folder("cal-word-01"), folder)
    weights = folder / MODEL / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    (said,) = differences(folder, read_record(folder))
    assert "\n" not in said
    shutil.rmtree(folder / MODEL)
    assert len(differences(folder, read_record(folder))) == 1
