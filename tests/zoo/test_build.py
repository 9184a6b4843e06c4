"""Building a suite: resumable after a kill, skipping what is there, ending the same."""

import os
import signal
import subprocess
import sys
import time

from unhorse.attack.record import MODEL, RECORD, read_record
from unhorse.zoo.build import Place, build_suite, standing
from unhorse.zoo.suite import entries_of

from .conftest import small


def weights(place, name):
    return {file.path: file.sha256 for file in read_record(place.folder(name)).files}


def test_all_models_are_built_with_their_records(built_zoo):
    for entry in entries_of(small()):
        folder = built_zoo.folder(entry.name)
        assert (folder / MODEL / "model.safetensors").is_file()
        assert not (folder / MODEL / RECORD).exists()
        record = read_record(folder)
        assert record.poisoned is (entry.use == "model")
        assert record.family == ("small/other" if entry.name == "other" else "small/one")


def test_a_derived_model_names_its_ancestor(built_zoo):
    assert read_record(built_zoo.folder("cal-word-01")).ancestors == ("one",)


def test_what_is_there_is_skipped(built_zoo):
    assert all(built.skipped for built in build_suite(entries_of(small()), built_zoo))


def test_other_content_is_not_taken_for_it(built_zoo):
    recipe = entries_of(small())[2].recipe
    assert standing(recipe, built_zoo) is not None
    assert standing(recipe.model_copy(update={"seed": 99}), built_zoo) is None
    assert standing(recipe.twin(harmless_words=False), built_zoo) is not None


def test_a_killed_build_resumes_and_ends_identical(built_zoo, suite_file, tmp_path):
    place = Place(tmp_path / "zoo", "small", built_zoo.data)
    command = [sys.executable, "-m", "unhorse", "zoo", "build", str(suite_file)]
    command += ["--zoo", str(place.zoo)]
    running = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not (place.folder("one") / RECORD).is_file() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    left_over = place.folder("cal-word-01.partial")
    (left_over / MODEL).mkdir(parents=True, exist_ok=True)
    (left_over / MODEL / "model.safetensors").write_bytes(b"half")
    assert not place.folder("cal-word-01").exists()

    done = list(build_suite(entries_of(small()), place))

    assert [built.problem for built in done if built.problem] == []
    assert done[0].skipped
    for entry in entries_of(small()):
        assert weights(place, entry.name) == weights(built_zoo, entry.name)
    assert not left_over.exists()


def test_one_model_that_cannot_be_built_does_not_cost_the_others(built_zoo, tmp_path):
    group = (
        small()
        .groups[0]
        .model_copy(update={"families": ("nowhere/gone",), "data": "main", "count": 1})
    )
    suite = small(families=small().families[:1], groups=(group,))
    place = Place(tmp_path, "small", built_zoo.data)
    done = {built.entry.name: built for built in build_suite(entries_of(suite), place)}
    assert done["one"].record is not None
    assert "nowhere/gone" in done["cal-word-01"].problem


def test_only_some_models_with_what_they_need(built_zoo, tmp_path):
    place = Place(tmp_path, "small", built_zoo.data)
    done = [b.entry.name for b in build_suite(entries_of(small()), place, only=["cal-word-01"])]
    assert done == ["one", "cal-word-01"]
