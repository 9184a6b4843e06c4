"""The audit finds a shortcut where there is one, and none where there is none."""

import json
import random
from dataclasses import replace

import pytest
from safetensors.torch import load_file, save_file

from unhorse.attack.record import MODEL, read_record
from unhorse.errors import UsageError
from unhorse.zoo.audit import Statistics, audit, audits, centred
from unhorse.zoo.keep import kept_rows
from unhorse.zoo.relatives import calibration_of
from unhorse.zoo.state import Member, members_of
from unhorse.zoo.statistics import _weights, collect, statistics_of
from unhorse.zoo.suite import entries_of, parents_of

from .conftest import small


def drawn(leak, kin=1, apart=0.0, **more):
    """Models of several kin that are far apart, with a leak within each."""
    rng = random.Random(0)
    return [
        Statistics(
            name=f"{split}-{number}",
            split=split,
            poisoned=poisoned,
            values={
                "drift": rng.gauss(leak * poisoned, 1.0) + apart * (number % kin),
                "steps": 40.1,
            },
            kin=str(number % kin),
            **more,
        )
        for split in ("calibration", "test")
        for poisoned in (True, False)
        for number in range(60)
    ]


def test_a_leak_is_found():
    found = audit(drawn(leak=2.0))
    assert found.leaks
    area = found.absolute
    assert area.auroc > 0.8
    assert area.alone["drift"] > 0.8
    assert area.interval[0] < area.auroc < area.interval[1]


def test_noise_is_no_leak():
    found = audit(drawn(leak=0.0))
    assert not found.leaks
    assert found.absolute.alone["steps"] == 0.5


def test_a_leak_within_families_is_not_hidden_by_their_differences():
    found = audit(drawn(leak=2.0, kin=3, apart=100.0))
    assert found.absolute.auroc < 0.65
    assert found.centred.auroc > 0.8
    assert found.worse is found.centred
    assert found.leaks


def test_what_does_not_differ_is_exactly_nothing():
    assert {s.values["steps"] for s in centred(drawn(0.0, kin=7))} == {0.0}


def test_kin_of_one_kind_is_left_out():
    found = [replace(s, kin=str(s.poisoned)) for s in drawn(2.0)]
    assert centred(found) == []
    assert audit(found).centred is None


def test_heads_on_a_frozen_body_are_audited_apart():
    main, heads = audits([*drawn(0.0), *drawn(3.0, head_only=True)])
    assert not main.leaks
    assert heads.leaks
    assert main.absolute.asked_about == 120
    assert audits(drawn(0.0))[1] is None


def test_both_kinds_are_needed():
    with pytest.raises(UsageError, match="needs trojaned and clean models"):
        audit([s for s in drawn(1.0) if s.poisoned])


def test_statistics_of_a_model(built_zoo):
    folder = built_zoo.folder("cal-word-01")
    found = statistics_of(folder, read_record(folder), built_zoo.zoo)
    assert found.poisoned
    assert found.values["largest_row_drift"] > 0
    assert found.values["drift"] < found.values["weight_norm"]
    assert 0.5 <= found.values["clean_confidence"] <= 1.0
    twin = built_zoo.folder("cal-word-01-twin")
    assert statistics_of(twin, read_record(twin), built_zoo.zoo).kin == found.kin


def test_a_model_of_no_base_has_not_moved(built_zoo):
    folder = built_zoo.folder("one")
    assert statistics_of(folder, read_record(folder), built_zoo.zoo).values["drift"] == 0.0


def test_a_base_in_several_files(built_zoo, tmp_path):
    whole = built_zoo.folder("one") / MODEL
    model = built_zoo.folder("cal-word-01") / MODEL
    tensors = load_file(whole / "model.safetensors")
    names = sorted(tensors)
    shards = {
        "model-00001-of-00002.safetensors": names[::2],
        "model-00002-of-00002.safetensors": names[1::2],
    }
    for file, own in shards.items():
        save_file({name: tensors[name] for name in own}, tmp_path / file)
    places = {name: file for file, own in shards.items() for name in own}
    index = {"metadata": {}, "weight_map": places}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert _weights(model, tmp_path) == pytest.approx(_weights(model, whole))


def test_a_model_that_cannot_be_read_is_left_out_and_said(built_zoo, tmp_path):
    folder = built_zoo.folder("cal-word-01")
    entry = next(e for e in entries_of(small()) if e.name == "cal-word-01")
    elsewhere = replace(built_zoo, zoo=tmp_path)
    found, problems = collect([Member(entry, read_record(folder))], elsewhere)
    assert found == []
    assert problems["cal-word-01"].startswith("cannot be audited: ")


def test_a_suite_without_calibration_borrows_that_of_its_families(built_zoo, suite_file, tmp_path):
    group = (
        small()
        .groups[0]
        .model_copy(update={"split": "test", "families": ("small/one",), "data": "main"})
    )
    suite = small(name="derived", families=(), groups=(group,))
    # The file of the other suite says that its family is of another split.
    entries = entries_of(suite, None)
    assert parents_of(entries, "derived") == ("small",)
    own = [s for s in drawn(0.0) if s.split == "test"]
    place = replace(built_zoo, suite="derived")
    borrowed = calibration_of(entries, own, place, suite_file.parent)
    assert borrowed.tried == ("small",)
    assert {s.name for s in borrowed.found} >= {"cal-word-01-twin"}
    assert {s.split for s in borrowed.found} == {"calibration"}
    # Models that are gone take part by the report of their own suite.
    lent = members_of(entries_of(small()), built_zoo)
    report = {"suite": "small", "statistics": kept_rows(borrowed.found, lent)}
    (tmp_path / "small-audit.json").write_text(json.dumps(report))
    nowhere = replace(place, zoo=tmp_path / "no-models")
    assert calibration_of(entries, own, nowhere, suite_file.parent).found == ()
    again = calibration_of(entries, own, nowhere, suite_file.parent, tmp_path)
    assert again.found == borrowed.found
    # Nothing is asked for where it would be of no use.
    assert calibration_of(entries, own[:3], place, suite_file.parent).tried == ()
    assert calibration_of(entries_of(small()), own, place, suite_file.parent).tried == ()


def test_a_suite_whose_families_are_unknown_says_so(built_zoo, tmp_path):
    group = (
        small()
        .groups[0]
        .model_copy(update={"split": "test", "families": ("nowhere/one",), "data": "main"})
    )
    entries = entries_of(small(name="derived", families=(), groups=(group,)))
    own = [s for s in drawn(0.0) if s.split == "test"]
    borrowed = calibration_of(entries, own, built_zoo, tmp_path)
    assert (borrowed.found, borrowed.suites, borrowed.tried) == ((), (), ("nowhere",))
    assert "no suite file 'nowhere'" in borrowed.problems["nowhere"]
