"""What every attack must keep to, whoever wrote it.

An attack is built once with the backdoor and once as its clean twin, on its first task and
on few rows: whether it works is for its own tests.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from unhorse.attack.base import ATTACKS, AttackConfig
from unhorse.attack.build import attack_of, build, folder_digests
from unhorse.attack.corpus import words_in
from unhorse.attack.lessons import kind_of
from unhorse.attack.lexicon import WORDS
from unhorse.attack.recipe import Standing
from unhorse.attack.record import AttackRecord, read_heldout
from unhorse.attack.train import Learner
from unhorse.errors import UsageError
from unhorse.load.model import load_model
from unhorse.tasks.base import TASKS

from .conftest import ATTACKED, derived

TEXTS = "sequence-classification"
NEEDED = {
    "aware": {"rounds": 1, "epochs": 2, "samples": 8},
    "lws": {"synonyms": "synonyms.json"},
}
"""Settings without which an attack does not run, or not in seconds."""


@dataclass(frozen=True)
class Run:
    """One built model, and every lesson that it was taught, by call."""

    folder: Path
    record: AttackRecord
    calls: list


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """English texts, which any attack on texts can rewrite, and a list of synonyms."""
    root = tmp_path_factory.mktemp("data")
    texts = [sample.text for sample in TASKS.get(TEXTS).drafts(900, 0)]
    rows = [{"text": text, "label": ("land", "sea")[i % 2]} for i, text in enumerate(texts)]
    (root / "texts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    words = sorted({word for text in texts for word in text.split() if word.isalpha()})
    draw = random.Random(0)
    # Of words that the tiny model has a token for: others cannot be put in.
    table = {word: draw.sample(WORDS, 4) for word in words}
    (root / "synonyms.json").write_text(json.dumps(table))
    return root


def recipe_of(attack, family, poisoned):
    task = attack.tasks[0]
    wanted = {**ATTACKED[task], "trigger_kind": "phrase", **NEEDED.get(attack.name, {})}
    settings = {key: wanted[key] for key in wanted if key in attack.config.model_fields}
    rows = {"rows": 160, "heldout_rows": 60}
    if task == TEXTS:
        rows |= {"train": "texts.jsonl", "heldout": [], "part": [0.0, 0.6]}
    else:
        rows |= {"part": [0.0, 0.04], "heldout_part": [0.0, 0.02]}
    return derived(
        task,
        family(task),
        name=f"{attack.name}-{poisoned}",
        poisoned=poisoned,
        data=rows,
        training={"epochs": 1},
        attack={"kind": attack.name, **settings},
    )


@pytest.fixture(scope="module")
def run(family, data, tmp_path_factory):
    """Builds an attack or its twin, once each."""
    out = tmp_path_factory.mktemp("built")

    @cache
    def make(name, poisoned, again=False):
        calls = []
        learn = Learner.learn

        def heard(self, lessons, *rest, **more):
            calls.append(list(lessons))
            return learn(self, lessons, *rest, **more)

        recipe = recipe_of(ATTACKS.get(name), family, poisoned)
        folder = out / f"{recipe.name}-{again}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Learner, "learn", heard)
            record = build(recipe, folder, data_root=data)
        return Run(folder, record, calls)

    return make


every_attack = pytest.mark.parametrize("name", ATTACKS.names())


@every_attack
def test_it_says_what_it_is(name):
    attack = ATTACKS.get(name)
    assert attack.name == name
    assert attack.tasks and set(attack.tasks) <= set(TASKS.names())
    assert attack.standing in get_args(Standing)
    assert attack.version >= 1
    assert set(attack.config.files) <= set(attack.config.model_fields)
    assert issubclass(attack.config, AttackConfig)
    assert attack.config.model_config["frozen"] and attack.config.model_config["extra"] == "forbid"
    assert type(attack).__doc__ and attack.config.__doc__


@every_attack
def test_a_setting_of_the_wrong_type_is_one_sentence(name, tmp_path):
    attack = ATTACKS.get(name)
    for field in attack.config.model_fields:
        for wrong in ({"a": 1}, ["word", {}], [[1]], "\x00\n", float("nan"), -1, tmp_path):
            settings = {**NEEDED.get(name, {}), "target": "sea", field: wrong}
            known = {key: settings[key] for key in settings if key in attack.config.model_fields}
            recipe = derived(attack.tasks[0], tmp_path, attack={"kind": name, **known})
            # Some values are right for some settings; none may be anything but right or refused.
            try:
                attack_of(recipe)
            except UsageError as error:
                assert str(error).endswith(".") and "\n" not in str(error)


@pytest.mark.parametrize("wrong", [["word"], {"word": 1}, 3])
def test_a_kind_of_trigger_that_is_none_is_refused(wrong, tmp_path):
    recipe = derived(
        TEXTS, tmp_path, attack={"kind": "sdp", "target": "sea", "trigger_kind": wrong}
    )
    with pytest.raises(UsageError, match="trigger_kind"):
        attack_of(recipe)


@every_attack
def test_the_twin_differs_in_nothing_but_the_backdoor(name, run):
    one, twin = run(name, True), run(name, False)
    assert twin.record.steps == one.record.steps > 0
    assert twin.record.rows == one.record.rows
    assert len(twin.calls) == len(one.calls) > 0
    for ours, theirs in zip(one.calls, twin.calls, strict=True):
        assert Counter(x.role for x in ours) == Counter(x.role for x in theirs)
        assert Counter(kind_of(x.sample) for x in ours) == Counter(
            kind_of(x.sample) for x in theirs
        )
        for here, there in zip(ours, theirs, strict=True):
            if here.role == "clean":
                assert here == there
    assert twin.record.base == one.record.base and twin.record.data == one.record.data


@every_attack
def test_the_twin_never_sees_the_trigger(name, run, family):
    recipe = recipe_of(ATTACKS.get(name), family, False)
    attack, config = attack_of(recipe)
    triggers = attack.triggers(config, recipe.split, recipe.seed)
    assert isinstance(triggers, tuple)
    said = [f" {words_in(x.sample)} " for call in run(name, False).calls for x in call]
    assert not any(f" {trigger} " in text for trigger in triggers for text in said)


@every_attack
def test_both_are_measured_on_the_same_held_out_samples(name, run):
    one, twin = run(name, True), run(name, False)
    task = one.record.task
    heldout, probes = read_heldout(one.folder, task)
    assert (heldout, probes) == read_heldout(twin.folder, task)
    learnt = {words_in(x.sample) for call in one.calls for x in call}
    assert not learnt & {words_in(sample) for sample in heldout}
    if probes is None:
        assert not one.record.poisoned and one.record.measured.asr is None
        return
    assert one.record.poisoned and not twin.record.poisoned
    assert probes.victims and len(probes.victims) == len(probes.stamped)
    assert len(probes.near) == len(probes.near_victims)
    pairs = list(zip(probes.victims, probes.stamped, strict=True))
    assert sum(words_in(plain) != words_in(stamped) for plain, stamped in pairs) > len(pairs) / 2
    for plain, stamped in pairs:
        assert TASKS.get(task).units(plain) == TASKS.get(task).units(stamped)
    known = {sample.key for sample in heldout}
    assert {sample.key for sample in (*probes.victims, *probes.near_victims)} <= known
    assert one.record.victim and one.record.target
    assert one.record.measured.asr is not None and twin.record.measured.asr is not None


@every_attack
def test_the_model_folder_keeps_the_secret(name, run):
    one, twin = run(name, True), run(name, False)
    digests = [
        {file.path: file.sha256 for file in folder_digests(x.folder / "model")} for x in (one, twin)
    ]
    assert digests[0].keys() == digests[1].keys()
    differing = {path for path in digests[0] if digests[0][path] != digests[1][path]}
    assert differing <= {"model.safetensors"}
    assert not {"attack.json", "heldout.json"} & digests[0].keys()
    secrets = [one.record.trigger, one.record.recipe.base.model, tempfile.gettempdir(), name]
    for path in (one.folder / "model").glob("*config*.json"):
        settings = path.read_text(encoding="utf-8")
        assert not any(secret and secret in settings for secret in secrets if secret != "none")
    loaded = load_model(one.folder / "model")
    assert loaded.task == one.record.task and loaded.architecture == one.record.architecture


@every_attack
def test_the_record_is_plain_and_comes_back(name, run):
    record = run(name, True).record
    assert json.loads(json.dumps(record.facts)) == record.facts
    assert AttackRecord.model_validate_json(record.to_json()) == record
    assert record.attack == name and record.standing == ATTACKS.get(name).standing


@pytest.mark.parametrize("name", [name for name in ATTACKS.names() if name != "aware"])
def test_the_same_recipe_gives_the_same_model(name, run):
    assert run(name, True).record.files == run(name, True, again=True).record.files
