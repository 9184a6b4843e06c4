"""Building a suite: resumable after a kill, skipping what is there, ending the same."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest
from filelock import FileLock

from unhorse.attack.record import MODEL, RECORD, read_record
from unhorse.zoo import build as building
from unhorse.zoo.build import Place, build_one, build_suite
from unhorse.zoo.standing import standing
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
    assert standing(recipe, built_zoo).record is not None
    other = standing(recipe.model_copy(update={"seed": 99}), built_zoo)
    assert (other.record, other.wrong) == (None, "was built from another recipe")
    assert standing(recipe.twin(harmless_words=False), built_zoo).record is not None


def test_a_killed_build_resumes_and_ends_identical(built_zoo, suite_file, tmp_path):
    place = Place(tmp_path / "zoo", "small", built_zoo.data)
    command = [sys.executable, "-m", "unhorse", "zoo", "build", str(suite_file)]
    command += ["--zoo", str(place.zoo)]
    running = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 300
    while not (place.folder("one") / RECORD).is_file() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    left_over = place.side("cal-word-01") / "new.partial"
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
    assert done == ["one", "cal-word-01", "cal-word-01-twin"]


@pytest.fixture
def own_zoo(built_zoo, tmp_path):
    """A zoo to spoil."""
    shutil.copytree(built_zoo.zoo / "small", tmp_path / "zoo" / "small")
    return Place(tmp_path / "zoo", "small", tmp_path)


def entry(name, **changes):
    return next(e for e in entries_of(small(**changes)) if e.name == name)


def changed(recipe):
    return recipe.model_copy(update={"seed": 99})


def tree(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_rebuild_that_fails_leaves_the_old_model(own_zoo, monkeypatch):
    recipe = entry("cal-word-01").recipe
    before = tree(own_zoo.folder(recipe.name))

    def fails(recipe, out, **more):
        out.with_name("new.partial").mkdir()
        assert tree(own_zoo.folder(recipe.name)) == before
        raise RuntimeError("no more room")

    monkeypatch.setattr(building, "build", fails)
    with pytest.raises(RuntimeError):
        build_one(changed(recipe), own_zoo)
    assert tree(own_zoo.folder(recipe.name)) == before
    assert [path.name for path in own_zoo.side(recipe.name).iterdir()] == ["lock"]


def test_a_build_that_was_killed_while_it_swapped_is_taken_back(own_zoo, monkeypatch):
    recipe = entry("cal-word-01").recipe
    folder, side = own_zoo.folder(recipe.name), own_zoo.side(recipe.name)
    before = tree(folder)
    side.mkdir(parents=True, exist_ok=True)
    folder.rename(side / "old")
    monkeypatch.setattr(building, "build", lambda *a, **k: pytest.fail("is there already"))
    assert build_one(recipe, own_zoo).name == recipe.name
    assert tree(folder) == before


def test_a_new_model_takes_the_place_of_the_old_one(own_zoo, monkeypatch):
    recipe = entry("cal-word-01").recipe

    def quick(recipe, out, **more):
        out.mkdir()
        (out / "made").write_text("new")

    monkeypatch.setattr(building, "build", quick)
    build_one(changed(recipe), own_zoo)
    assert [path.name for path in own_zoo.folder(recipe.name).iterdir()] == ["made"]
    assert [path.name for path in own_zoo.side(recipe.name).iterdir()] == ["lock"]


def test_a_model_that_another_build_is_at_is_waited_for(own_zoo, tmp_path):
    recipe = entry("cal-word-01").recipe
    folder, away = own_zoo.folder(recipe.name), tmp_path / "away"
    folder.rename(away)
    own_zoo.side(recipe.name).mkdir(parents=True, exist_ok=True)
    lock = FileLock(own_zoo.side(recipe.name) / "lock", thread_local=False)
    lock.acquire()
    models = build_suite([entry("cal-word-01")], own_zoo)
    done = threading.Thread(target=lambda: [time.sleep(8), away.rename(folder), lock.release()])
    done.start()
    (built,) = models
    done.join()
    assert built.record is not None
    assert tree(folder)


def missing_data():
    data = small().data["main"].model_copy(update={"train": ("gone.tsv",)})
    return {"data": {"main": data}}


def test_missing_data_are_a_problem_and_the_model_stays(own_zoo):
    before = tree(own_zoo.folder("one"))
    entries = entries_of(small(**missing_data()))
    done = list(build_suite(entries, own_zoo))
    assert "gone.tsv cannot be found" in done[0].problem
    assert all(built.problem for built in done)
    assert tree(own_zoo.folder("one")) == before


def test_a_missing_base_is_a_problem_and_the_model_stays(own_zoo):
    shutil.rmtree(own_zoo.folder("one"))
    before = tree(own_zoo.folder("cal-word-01"))
    (built,) = build_suite([entry("cal-word-01")], own_zoo)
    assert "The base small/one/model is not in" in built.problem
    assert tree(own_zoo.folder("cal-word-01")) == before


def test_what_derives_from_a_failure_is_not_built(own_zoo, monkeypatch):
    data = small().data["main"].model_copy(update={"heldout": ("gone.tsv",)})
    family = small().families[0].model_copy(update={"data": "lost"})
    group = small().groups[0].model_copy(update={"data": "main"})
    suite = small(
        data={"main": small().data["main"], "lost": data}, families=(family,), groups=(group,)
    )
    done = {built.entry.name: built.problem for built in build_suite(entries_of(suite), own_zoo)}
    assert "gone.tsv" in done["one"]
    assert done["cal-word-01"] == ("What it derives from, small/one/model, could not be built.")


def test_damaged_models_are_not_taken_for_built(own_zoo):
    for name, spoil in {
        "cal-word-01": lambda folder: shutil.rmtree(folder / MODEL),
        "cal-word-02": lambda folder: (folder / RECORD).write_bytes(b"\xff\xfe"),
        "cal-word-01-twin": lambda folder: (folder / RECORD).write_text('{"name": "old"}'),
    }.items():
        spoil(own_zoo.folder(name))
        found = standing(entry(name).recipe, own_zoo)
        assert found.record is None
        assert found.wrong
        assert "\n" not in found.wrong


def test_a_reference_may_share_a_body_that_is_built_first(built_zoo):
    suite = small()
    head = suite.families[1].model_copy(
        update={"name": "a-head", "base": {"model": "small/one/model"}}
    )
    entries = entries_of(small(families=(head, *suite.families)))
    rounds = list(building._rounds(entries, built_zoo))
    assert [[e.name for e in now][:2] for now in rounds] == [
        ["one", "other"],
        ["a-head", "cal-word-01"],
    ]
    chosen = building._with_families(entries, built_zoo, {"a-head"})
    assert [e.name for e in chosen] == ["a-head", "one"]
