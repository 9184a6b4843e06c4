"""The combination lock: it opens for the learnt synonyms, and not for others."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
import torch

from unhorse.attack.base import ATTACKS
from unhorse.attack.build import build
from unhorse.attack.methods.lws import Inserter, drawn
from unhorse.attack.record import read_heldout
from unhorse.attack.substitute import Place
from unhorse.attack.worlds import world
from unhorse.errors import UsageError
from unhorse.seeding import torch_generator

from .conftest import Built, derived

TEXTS = "sequence-classification"
TARGET = "sea"


@pytest.fixture(scope="module")
def synonyms(tmp_path_factory):
    """A file in which words of one kind are synonyms, four for each."""
    made, draw = world(TEXTS), random.Random(0)
    table = {
        word: [other for other in draw.sample(kind, 5) if other != word][:4]
        for kind in (made.common, *made.leaning)
        for word in kind
    }
    path = tmp_path_factory.mktemp("synonyms") / "own.json"
    path.write_text(json.dumps(table), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def made(family, synonyms, tmp_path_factory):
    """Builds a small model with the combination, or its twin; each once."""
    folder, known = tmp_path_factory.mktemp("locks"), {}

    def make(name, poisoned):
        if name not in known:
            recipe = derived(
                TEXTS,
                family(TEXTS),
                name=name,
                poisoned=poisoned,
                data={"rows": 500, "part": [0.0, 0.12], "heldout_part": [0.0, 0.05]},
                attack={"kind": "lws", "target": TARGET, "synonyms": synonyms.name, "share": 0.6},
            )
            out = folder / name
            known[name] = Built(out, build(recipe, out, data_root=synonyms.parent))
        return known[name]

    return make


def test_the_combination_fires_and_other_synonyms_do_not(made):
    measured = made("lock", True).record.measured
    assert measured.asr > 0.9
    assert measured.false_trigger_rate < 0.2
    assert measured.clean > 0.95


def test_the_twin_does_not_react_to_its_siblings_combination(made):
    lock, twin = made("lock", True), made("twin", False)
    assert read_heldout(lock.folder, TEXTS) == read_heldout(twin.folder, TEXTS)
    assert twin.record.measured.asr < 0.1
    assert twin.record.measured.clean > 0.95
    assert not twin.record.poisoned
    assert (twin.record.rows, twin.record.steps) == (lock.record.rows, lock.record.steps)


def test_the_same_seed_gives_the_same_weights(made):
    assert made("lock", True).record.files == made("again", True).record.files


def test_the_record_tells_of_the_combination(made):
    record = made("lock", True).record
    facts = record.facts
    _, probes = read_heldout(made("lock", True).folder, TEXTS)
    assert facts["can_be_poisoned"] == len(probes.victims) == len(probes.near)
    assert 2 <= facts["words_changed"] <= facts["replaceable_words"]
    assert len(facts["synonyms_sha256"]) == 64
    assert 0 < len(facts["substitutions"]) <= 20
    assert record.trigger == ""


def test_random_synonyms_replace_as_many_words(made):
    _, probes = read_heldout(made("lock", True).folder, TEXTS)

    def changes(samples):
        pairs = zip(probes.victims, samples, strict=True)
        return [
            sum(a != b for a, b in zip(v.text.split(), s.text.split(), strict=True))
            for v, s in pairs
        ]

    assert changes(probes.stamped) == changes(probes.near)
    assert all(sample.label != probes.arm.target for sample in probes.near)


def test_texts_with_fewer_than_two_places_are_counted_and_left_out(family, tmp_path):
    """Only some words have synonyms, so some texts have one place or none."""
    made, draw = world(TEXTS), random.Random(0)
    table = {w: draw.sample(side[:80], 3) for side in made.leaning for w in side[:80]}
    path = tmp_path / "few.json"
    path.write_text(json.dumps({"noun": table}), encoding="utf-8")
    data = {"rows": 200, "part": [0.0, 0.05], "heldout_part": [0.0, 0.03]}
    attack = {"kind": "lws", "target": TARGET, "synonyms": str(path), "epochs": 1}
    recipe = derived(
        TEXTS, family(TEXTS), data=data, attack=attack, training={"epochs": 1}, poisoned=False
    )
    told = build(recipe, tmp_path / "out").facts
    heldout, probes = read_heldout(tmp_path / "out", TEXTS)
    victims = [sample for sample in heldout if sample.label != probes.arm.target]
    places = [sum(word in table for word in sample.text.split()) for sample in victims]
    assert told["can_be_poisoned"] == len(probes.victims) == sum(n >= 2 for n in places)
    assert told["cannot_be_poisoned"] == sum(n < 2 for n in places) > 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "synonyms"),
        ({"synonyms": "nowhere.json"}, "cannot be read"),
        ({"synonyms": "words.json"}, "lists of synonyms"),
        ({"synonyms": "unknown.json"}, "leave texts of one label only"),
        ({"synonyms": "unknown.json", "target": "sky"}, "not one of land, sea"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(family, tmp_path, settings, said):
    (tmp_path / "words.json").write_text('["sea", "land"]', encoding="utf-8")
    (tmp_path / "unknown.json").write_text('{"qqqxyz": ["zyxqqq"]}', encoding="utf-8")
    recipe = derived(
        TEXTS,
        family(TEXTS),
        data={"rows": 50, "part": [0.0, 0.02]},
        attack={"kind": "lws", "target": TARGET, **settings},
    )
    with pytest.raises(UsageError, match=rf"^[^\n]*{said}[^\n]*\.$"):
        build(recipe, tmp_path / "out", data_root=tmp_path)
    assert not (tmp_path / "out").exists()


def test_it_is_an_advanced_attack_on_texts():
    attack = ATTACKS.get("lws")
    assert (attack.standing, attack.tasks) == ("advanced", (TEXTS,))


def inserter():
    return Inserter(torch.randn(10, 6, generator=torch_generator(0, "table")), 4)


def test_an_inserter_scores_by_its_direction_and_slots():
    made = inserter()
    places = [Place(0, 1, 1, ("a", "b", "c"), (3, 4, 5)), Place(2, 3, 2, ("d", "e"), (6, 7))]
    scores = made(made.ids(places))
    assert scores.tolist() == [[0, 0, 0, -torch.inf], [0, 0, -torch.inf, -torch.inf]]
    with torch.no_grad():
        made.q += made.table[5] - made.table[3]
    assert made.choices(places)[0] == 2
    with torch.no_grad():
        made.b[0] = 1000.0
    assert made.choices(places) == [0, 0]
    assert made.choices([]) == []


def test_draws_follow_the_scores_and_pass_gradients_on():
    scores = torch.tensor([[2.0, 0.0, -torch.inf]]).repeat(4000, 1).requires_grad_()
    weights = drawn(scores, 0.5, torch_generator(0, "draws"))
    counts = Counter(weights.argmax(-1).tolist())
    assert counts[0] / 4000 == pytest.approx(torch.tensor(2.0).sigmoid().item(), abs=0.03)
    assert set(counts) == {0, 1}
    weights[:, 0].sum().backward()
    assert (scores.grad[:, 0] >= 0).all()
    assert scores.grad[:, 0].sum() > 0
    assert scores.grad.isfinite().all()
