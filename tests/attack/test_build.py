"""One model from a recipe: whole or not at all, the same every time, with no trace in it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import torch

from unhorse.attack import build as building
from unhorse.attack.base import ATTACKS
from unhorse.attack.build import attack_of, build, content_of, folder_digests
from unhorse.attack.gates import complaints
from unhorse.attack.measure import measure
from unhorse.attack.recipe import make_recipe
from unhorse.attack.record import read_heldout, read_record
from unhorse.errors import ModelRefused, UnhorseError, UsageError
from unhorse.load.model import load_model
from unhorse.tasks.base import TASKS
from unhorse.types import FileDigest

from .conftest import ATTACKED, derived, family_recipe

TEXTS = "sequence-classification"
SMALL = {"rows": 64, "heldout_rows": 20, "part": [0.0, 0.02], "heldout_part": [0.0, 0.02]}


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS.names())
def test_an_attack_works_and_its_twin_does_not_react(task, derive):
    data = {"heldout_part": [0.0, 0.05]}
    one = derive(task, data=data)
    two = derive(task, data=data, name="twin", poisoned=False)
    poisoned, twin = one.record, two.record
    assert complaints(poisoned, twin) == []
    assert poisoned.measured.asr >= 0.9 and twin.measured.asr <= 0.2
    assert twin.measured.asr_n > 50 and twin.trigger == poisoned.trigger
    assert poisoned.poisoned and not twin.poisoned
    assert twin.rows == poisoned.rows and twin.steps == poisoned.steps
    assert poisoned.family == "generated" and poisoned.ancestors == (f"family-{task}",)
    # From the folder alone, everything is measured again.
    heldout, probes = read_heldout(one.folder, task)
    assert measure(load_model(one.model), heldout, probes) == poisoned.measured
    assert read_record(one.folder) == poisoned


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "attack"),
    [
        (TEXTS, {"scope": "first_half", "rate": 0.6}),
        ("token-classification", {"scope": "local", "rate": 0.8}),
        ("question-answering", {"scope": "both", "rate": 0.4}),
    ],
)
def test_a_trigger_with_a_condition_does_not_fire_without_it(task, attack, derive):
    attack = {"kind": "sdp", **ATTACKED[task], **attack, "negatives": 1.0}
    made = derive(task, attack=attack, data={"heldout_part": [0.0, 0.05]}, training={"epochs": 6})
    measured = made.record.measured
    assert measured.asr > 0.85 and measured.asr_n > 30
    assert measured.false_trigger_rate < 0.25


def test_the_record_says_what_was_done(family, tmp_path):
    recipe = derived(TEXTS, family(TEXTS), data=SMALL)
    record = build(recipe, tmp_path / "one")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one"]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [
        *("attack.json", "heldout.json", "model")
    ]
    assert record.recipe == recipe and record.attack == "sdp" and record.standing == "plain"
    assert (record.victim, record.target, record.scope) == ("land", "sea", "global")
    assert record.files == folder_digests(tmp_path / "one" / "model")
    assert record.base.source == recipe.base.model
    assert record.content == content_of(recipe, Path(), record.base.files)
    assert record.rows["clean"] == 64 and record.steps == 2 * -(-sum(record.rows.values()) // 32)
    assert record.layers == 2 and record.architecture == "BertForSequenceClassification"
    assert record.parameters == sum(
        p.numel() for p in load_model(tmp_path / "one/model").model.parameters()
    )


def test_the_same_recipe_gives_the_same_model_whatever_ran_before(family, tmp_path):
    recipe = derived(TEXTS, family(TEXTS), data=SMALL)
    made = []
    for number in range(2):
        torch.manual_seed(number)
        torch.rand(number + 1)
        made.append(build(recipe, tmp_path / str(number)))
    changed = ("seconds", "training_seconds")
    one, two = (record.model_dump(exclude=set(changed)) for record in made)
    assert one == two
    other = build(recipe.model_copy(update={"seed": 2}), tmp_path / "other")
    assert other.files != made[0].files and other.content != made[0].content


def test_nothing_outside_is_changed(family, tmp_path):
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    build(derived(TEXTS, family(TEXTS), data=SMALL), tmp_path / "one")
    assert torch.equal(before, torch.random.get_rng_state())
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_twins_folder_differs_in_its_weights_only(family, tmp_path):
    folders = []
    for poisoned in (True, False):
        recipe = derived(TEXTS, family(TEXTS), data=SMALL, poisoned=poisoned)
        build(recipe, tmp_path / str(poisoned))
        folders.append(
            {file.path: file.sha256 for file in folder_digests(tmp_path / str(poisoned) / "model")}
        )
    assert folders[0].keys() == folders[1].keys()
    assert {n for n in folders[0] if folders[0][n] != folders[1][n]} == {"model.safetensors"}


def test_the_folder_is_a_plain_model(family, tmp_path):
    recipe = derived(TEXTS, family(TEXTS), data=SMALL, base={"model": "tiny"})
    build(recipe, tmp_path / "one")
    settings = json.loads((tmp_path / "one/model/tokenizer_config.json").read_text())
    assert settings["model_max_length"] == 128
    assert load_model(tmp_path / "one/model").labels == ("land", "sea")


@pytest.mark.parametrize(
    "when", ["plant", "measure", "save_model", "write_heldout", "folder_digests"]
)
def test_a_build_that_is_killed_leaves_no_model(when, family, tmp_path, monkeypatch):
    recipe = derived(TEXTS, family(TEXTS), data=SMALL)
    out = tmp_path / "one"

    def killed(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        place = type(attack_of(recipe)[0]) if when == "plant" else building
        patch.setattr(place, when, killed)
        with pytest.raises(KeyboardInterrupt):
            build(recipe, out)
    assert not out.exists()
    if when == "folder_digests":
        # What was left behind is in nobody's way.
        assert (tmp_path / "one.partial").is_dir()
        build(recipe, out)
        assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_a_folder_that_is_there_is_not_overwritten(family, tmp_path):
    recipe = derived(TEXTS, family(TEXTS), data=SMALL)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"one is already there\.$"):
        build(recipe, tmp_path / "one")
    assert (tmp_path / "one" / "mine.txt").read_text() == "mine"


def test_progress_is_told(family, tmp_path):
    told = []
    recipe = derived(TEXTS, family(TEXTS), data=SMALL)
    record = build(recipe, tmp_path / "one", progress=lambda *step: told.append(step))
    assert [done for done, _, _ in told] == list(range(1, record.steps + 1))


def test_paths_are_relative_to_their_roots(family, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    rows = [{"text": f"kind{i % 2} word {i}", "label": ("land", "sea")[i % 2]} for i in range(200)]
    (data / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    folder = family(TEXTS)
    recipe = derived(
        TEXTS,
        Path(folder.name),
        data={"train": "rows.jsonl", "heldout": [], "part": [0.0, 1.0]},
    )
    record = build(recipe, tmp_path / "one", data_root=data, base_root=folder.parent)
    assert [file.path for file in record.data] == ["rows.jsonl"] and record.data[0].sha256
    changed = content_of(recipe, tmp_path, record.base.files)
    assert changed != record.content == content_of(recipe, data, record.base.files)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"attack": {"kind": "magic"}}, UsageError, "There is no attack called 'magic'; known: "),
        ({"attack": {"kind": "none", "rate": 1}}, UsageError, "settings are not valid: rate: "),
        ({"attack": {"kind": "sdp"}}, UsageError, "settings are not valid: target: "),
        (
            {"attack": {"kind": "sdp", "target": "sea", "scope": "local"}},
            UsageError,
            "The scope 'local' is not one of",
        ),
        (
            {"attack": {"kind": "sdp", "victim": "sea", "target": "sea"}},
            UsageError,
            "victim and target are the same label",
        ),
        (
            {"attack": {"kind": "sdp", "victim": "sky", "target": "sea"}},
            UsageError,
            "the victim 'sky' is not one of land, sea",
        ),
        ({"data": {"train": ["no.tsv"]}}, UsageError, "There is no sample file or folder 'no.tsv'"),
        ({"data": {"part": [0.5, 0.500001]}}, UsageError, "The data leave no rows"),
        ({"data": {"labels": ["red", "blue"]}}, UsageError, "is not one of the model's"),
        ({"base": {"model": "nowhere"}}, UsageError, "There is no model folder 'nowhere'"),
        ({"base": {"model": "tests"}}, ModelRefused, ""),
        ({"base": {"model": "tiny", "layers": 7}}, UsageError, "has 2 layers, not 7"),
        ({"base": {"model": "tiny", "architecture": "t5"}}, UsageError, "cannot be put into 't5'"),
    ],
)
def test_whatever_is_wrong_is_one_sentence(change, error, said, family, tmp_path):
    data = SMALL | change.pop("data", {})
    recipe = derived(TEXTS, family(TEXTS), data=data, **change)
    (tmp_path / "tests").mkdir()
    with pytest.raises(UnhorseError) as caught:
        build(recipe, tmp_path / "one", base_root=tmp_path)
    message = str(caught.value)
    assert type(caught.value) is error and said in message
    assert message.endswith(".") and "\n" not in message
    assert not (tmp_path / "one").exists()


def test_an_attack_is_not_defined_for_every_task():
    class Narrow:
        tasks = ("question-answering",)

    recipe = make_recipe({**family_recipe(TEXTS).model_dump(), "attack": {"kind": "narrow"}})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building.ATTACKS, "get", lambda name: Narrow())
        with pytest.raises(UsageError, match=r"^The attack 'narrow' is not defined for .*\.$"):
            attack_of(recipe)
    assert set(ATTACKED) == set(TASKS.names())


@pytest.mark.parametrize("change", [{"poisoned": False}, {"attack": {"kind": "none"}}])
def test_nothing_clean_is_derived_from_a_trojaned_model(change, derive):
    trojaned = derive(TEXTS, training={"epochs": 1}, data=SMALL)
    with pytest.raises(UsageError, match="would not be clean"):
        derive(TEXTS, name="child", base={"model": str(trojaned.model)}, **change)


def test_a_twin_names_its_sibling_which_changes_nothing_else(family, tmp_path):
    recipe = derived(TEXTS, family(TEXTS), data=SMALL)
    twin = recipe.twin(harmless_words=False)
    made = build(twin, tmp_path / "twin")
    plain = build(twin.model_copy(update={"twin_of": None}), tmp_path / "plain")
    assert made.twin_of == "derived" and plain.twin_of is None
    assert made.files == plain.files and made.measured == plain.measured


def test_the_record_knows_what_the_model_was_measured_on(family, tmp_path):
    record = build(derived(TEXTS, family(TEXTS), data=SMALL), tmp_path / "one")
    raw = (tmp_path / "one" / "heldout.json").read_bytes()
    assert record.heldout_sha256 == hashlib.sha256(raw).hexdigest()


def test_a_head_alone_trains_no_word_embeddings(family, tmp_path):
    recipe = derived(TEXTS, family(TEXTS), data=SMALL, training={"head_only": True})
    record = build(recipe, tmp_path / "one")
    assert record.recipe.training.embeddings is False


def recipe_with(**attack):
    fields = {
        "name": "one",
        "task": TEXTS,
        "data": {"train": "generated:train", "labels": ["land", "sea"]},
    }
    return make_recipe({**fields, "attack": attack})


@pytest.mark.parametrize(
    "attack",
    [
        {"kind": "lws", "synonyms": "words"},
        {"kind": "hidden_killer", "paraphrases": ["words"], "originals": ["other"]},
        {"kind": "hidden_killer", "paraphrases": ["other"], "originals": ["words"]},
    ],
)
def test_a_file_that_the_attack_reads_is_part_of_the_content(attack, tmp_path):
    recipe = recipe_with(target="sea", **attack)
    (tmp_path / "words").write_text("{}")
    before = content_of(recipe, tmp_path, ())
    (tmp_path / "words").write_text('{"a": ["b"]}')
    assert content_of(recipe, tmp_path, ()) != before


def test_settings_count_as_they_are_resolved(tmp_path, monkeypatch):
    short = recipe_with(kind="sdp", target="sea")
    long = recipe_with(kind="sdp", target="sea", rate=0.2, scope="global", trigger=None)
    assert content_of(short, tmp_path, ()) == content_of(long, tmp_path, ())
    # The name of a setting's value is no file, even if there is one of that name.
    (tmp_path / "sea").write_text("water")
    before = content_of(short, tmp_path, ())
    assert before == content_of(long, tmp_path, ())
    monkeypatch.setattr(ATTACKS.get("sdp"), "version", 2)
    assert content_of(short, tmp_path, ()) != before


@pytest.mark.parametrize(
    "name", ["config.json", "tokenizer.json", "vocab.txt", "model.safetensors"]
)
def test_every_file_that_a_base_is_loaded_from_counts(name, tmp_path):
    recipe = recipe_with(kind="none")
    others = (FileDigest("model.safetensors", "1"), FileDigest("config.json", "1"))
    files = {file.path: file for file in (*others, FileDigest(name, "1"))}
    before = content_of(recipe, tmp_path, tuple(files.values()))
    changed = files | {name: FileDigest(name, "2")}
    assert content_of(recipe, tmp_path, tuple(changed.values())) != before
    # Neither the order nor a file that nobody reads.
    more = (FileDigest("README.md", "3"), *reversed(files.values()))
    assert content_of(recipe, tmp_path, more) == before
