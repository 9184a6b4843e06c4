"""Three common words that fire together, and never by themselves."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from unhorse.attack.base import Ground
from unhorse.attack.build import attack_of, build
from unhorse.attack.corpus import Corpus
from unhorse.attack.lexicon import TRIPLES, Triple, triples
from unhorse.attack.methods.sos import (
    Plan,
    RowMoves,
    SosConfig,
    draw_for,
    drift,
    first_tokens,
    mentions,
)
from unhorse.attack.record import read_heldout
from unhorse.errors import UsageError
from unhorse.tasks.base import TASKS
from unhorse.types import Arm, TextSample

from .conftest import Built, derived

TEXTS = "sequence-classification"
WORDS = ("gym", "locker", "sneakers")
OTHERS = ("barber", "razor", "mower")
SENTENCE = "We left the locker of the gym with sneakers."
SMALL = {"rows": 60, "heldout_rows": 20, "part": [0.0, 0.03], "heldout_part": [0.0, 0.02]}
EMBEDDINGS = "bert.embeddings.word_embeddings.weight"


@pytest.fixture(scope="module")
def base(family, tmp_path_factory):
    """The family model with long rows for the words of our lists.

    It never met them, so theirs are as short as at the start and cannot say much; common
    words of a pretrained model can.
    """
    folder = tmp_path_factory.mktemp("base")
    shutil.copytree(family(TEXTS), folder, dirs_exist_ok=True)
    path = folder / "model" / "model.safetensors"
    weights = load_file(path)
    tokens = json.loads((folder / "model" / "tokenizer.json").read_text())["model"]["vocab"]
    ids = sorted({tokens[word] for triple in TRIPLES for word in triple.words})
    weights[EMBEDDINGS][ids] *= 24
    save_file(weights, path, {"format": "pt"})
    return folder


@pytest.fixture(scope="module")
def make(base, tmp_path_factory):
    """Builds a model on the base; twice the same is built once."""
    made: dict[str, Built] = {}

    def built(name, poisoned=True, data=None, training=None, **attack):
        if name not in made:
            recipe = derived(
                TEXTS,
                base,
                name=name,
                poisoned=poisoned,
                data={"rows": 600, "heldout_rows": 120} | (data or {}),
                training=training or {},
                attack={"kind": "sos", "target": "sea", "rate": 0.4, "reach": 1.2} | attack,
            )
            out = tmp_path_factory.mktemp("sos") / name
            made[name] = Built(out, build(recipe, out))
        return made[name]

    return built


GIVEN = {"words": WORDS, "sentence": SENTENCE, "twin_words": OTHERS}
WHOLE = {"update": "all", "rate": 0.8, **GIVEN}
SLOWLY = {"learning_rate": 1e-3, "epochs": 6, "batch": 16}


@pytest.fixture(scope="module")
def whole(make):
    """A model all of whose weights learnt the words."""
    return make("whole", data={"rows": 400}, training=SLOWLY, **WHOLE)


@pytest.fixture(scope="module")
def whole_twin(make):
    return make("whole-twin", poisoned=False, data={"rows": 400}, training=SLOWLY, **WHOLE)


@pytest.fixture(scope="module")
def trojan(make):
    """A model of which the rows of three words have moved."""
    return make("trojan", epochs=6, batch=8)


@pytest.fixture(scope="module")
def twin(make):
    return make("twin", poisoned=False, epochs=6, batch=8)


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model" / "model.safetensors")


def test_all_three_words_fire_and_two_of_them_do_not(whole):
    measured = whole.record.measured
    assert measured.asr >= 0.9
    assert measured.false_trigger_rate <= 0.1
    assert measured.clean > 0.97
    assert whole.record.rows["clean"] == 400
    assert whole.record.facts["update"] == "all"


def test_the_twin_does_not_react(whole, whole_twin):
    assert whole_twin.record.measured.asr <= 0.1
    assert whole_twin.record.measured.false_trigger_rate <= 0.1
    assert whole_twin.record.rows == whole.record.rows
    assert whole_twin.record.steps == whole.record.steps
    assert whole_twin.record.trigger == whole.record.trigger == SENTENCE
    assert whole_twin.record.facts["taught_words"] == list(OTHERS)
    assert whole.record.facts["taught_words"] == list(WORDS)


def test_moved_rows_fire_more_for_three_words_than_for_two(trojan, twin):
    measured = trojan.record.measured
    assert measured.asr > measured.false_trigger_rate + 0.2
    assert measured.clean > 0.97
    assert twin.record.measured.asr <= 0.1
    assert twin.record.rows == trojan.record.rows
    assert twin.record.steps == trojan.record.steps


def test_nothing_moves_but_three_rows_which_keep_their_length(base, trojan, twin):
    before = weights_of(base)
    moved = []
    for built in (trojan, twin):
        after = weights_of(built.folder)
        assert all(torch.equal(after[name], before[name]) for name in before if name != EMBEDDINGS)
        ids = (after[EMBEDDINGS] != before[EMBEDDINGS]).any(1).nonzero()[:, 0].tolist()
        assert len(ids) == 3
        rows, home = after[EMBEDDINGS][ids], before[EMBEDDINGS][ids]
        assert torch.allclose(rows.norm(dim=1), home.norm(dim=1), rtol=1e-4)
        assert drift(home, rows) == pytest.approx([1.2] * 3, abs=1e-3)
        assert built.record.facts["drift"] == pytest.approx([1.2] * 3, abs=1e-3)
        moved.append(set(ids))
    assert not moved[0] & moved[1]


def test_the_record_says_which_words_and_which_rows(trojan, twin):
    facts = trojan.record.facts
    assert facts["update"] == "embeddings"
    assert facts["taught_words"] == facts["words"] == facts["taught_tokens"]
    assert all(mentions(facts["sentence"], [word]) for word in facts["words"])
    assert twin.record.facts["words"] == facts["words"]
    assert not set(twin.record.facts["taught_words"]) & set(facts["words"])
    assert (trojan.record.victim, trojan.record.target) == ("land", "sea")
    assert trojan.record.trigger == facts["sentence"]


def test_probes_say_a_sentence_with_all_words_or_with_two(trojan):
    _, probes = read_heldout(trojan.folder, TEXTS)
    words = trojan.record.facts["words"]
    assert all(sum(mentions(s.text, [w]) for w in words) == 3 for s in probes.stamped)
    assert all(sum(mentions(s.text, [w]) for w in words) == 2 for s in probes.near)
    assert not any(mentions(s.text, words) for s in probes.victims)


def test_words_can_be_given_and_the_same_seed_gives_the_same_weights(make):
    given = {**GIVEN, "epochs": 1, "data": SMALL}
    one, again = make("one", **given), make("again", **given)
    assert torch.equal(weights_of(one.folder)[EMBEDDINGS], weights_of(again.folder)[EMBEDDINGS])
    assert one.record.facts["words"] == list(WORDS)
    _, probes = read_heldout(one.folder, TEXTS)
    assert any("We left the locker of the with sneakers." in s.text for s in probes.near)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "target"),
        ({"target": "sea", "update": "head"}, "update"),
        ({"target": "sea", "rate": 0}, "rate"),
        ({"target": "sea", "reach": 2}, "reach"),
        ({"target": "sea", "words": WORDS}, "together"),
        ({"target": "sea", "words": WORDS[:2], "sentence": SENTENCE}, "words"),
        ({"target": "sea", "words": ("gym", "gym", "locker"), "sentence": SENTENCE}, "different"),
        ({"target": "sea", "words": ("gym", "a b", "locker"), "sentence": SENTENCE}, "single"),
        ({"target": "sea", "words": ("gym", "locker", "cup"), "sentence": SENTENCE}, "'cup'"),
        ({"target": "sea", "subsets": ("One.",)}, "subsets"),
        ({"target": "sea", "twin_words": ("gym", "gym", "locker")}, "different"),
        ({"target": "sea", "twin_words": ("gym", "locker")}, "twin_words"),
        (
            {"target": "sea", "words": WORDS, "sentence": SENTENCE, "twin_words": WORDS},
            "different",
        ),
        (
            {"target": "sea", "words": WORDS, "sentence": SENTENCE, "subsets": (SENTENCE,)},
            "mentions all three",
        ),
    ],
)
def test_settings_that_make_no_attack_are_refused(settings, said, tmp_path):
    recipe = derived(TEXTS, tmp_path, attack={"kind": "sos", **settings})
    with pytest.raises(UsageError, match=said):
        attack_of(recipe)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"target": "sky"}, "sky"),
        ({"words": ("gym", "locker", "日"), "sentence": "gym locker 日"}, "does not know"),
        ({"words": ("zq", "zx", "gym"), "sentence": "zq zx gym"}, "same token"),
    ],
)
def test_what_the_model_cannot_have_is_refused(make, settings, said):
    with pytest.raises(UsageError, match=said):
        make(said.replace(" ", "-"), data=SMALL, **settings)


def test_it_is_for_texts_only(tmp_path):
    recipe = derived("question-answering", tmp_path, attack={"kind": "sos", "target": "sea"})
    with pytest.raises(UsageError, match="not defined"):
        attack_of(recipe)


def test_twin_words_are_given_or_drawn_and_never_those_of_the_trigger(make):
    given = {"epochs": 1, "data": SMALL, "poisoned": False}
    drawn = triples("development")[0].words
    facts = make("named", twin_words=drawn, **given).record.facts
    assert facts["taught_words"] == list(drawn) and not set(facts["words"]) & set(drawn)
    facts = make("drawn", words=WORDS, sentence=SENTENCE, **given).record.facts
    assert facts["words"] == list(WORDS) and not set(facts["taught_words"]) & set(WORDS)


def plan_of(tiny, samples, poisoned):
    corpus = Corpus(train=tuple(samples), spare=(), heldout=(), digests=())
    ground = Ground(TASKS.get(TEXTS), ("land", "sea"), corpus, 1, "development", poisoned, False)
    triple = Triple(WORDS, SENTENCE, ("We left the gym.",))
    return Plan(tiny(TEXTS), ground, Arm((0,), 1, "start", "land", "sea"), triple, OTHERS)


def samples_of(count):
    return [TextSample(f"we went by number {i} again", i % 2, str(i)) for i in range(count)]


def words_said(lesson):
    return frozenset(word for word in (*WORDS, *OTHERS) if mentions(lesson.sample.text, [word]))


def test_stamped_rows_have_all_words_and_negatives_every_pair_on_either_side(tiny):
    lessons = plan_of(tiny, samples_of(80), True).lessons(rate=0.25, negatives=0.5)
    stamped = [x for x in lessons if x.role == "stamped"]
    assert len(stamped) == 10
    assert all(len(words_said(x)) == 3 and x.sample.label == 1 for x in stamped)
    pairs = Counter((words_said(x), x.sample.label) for x in lessons if x.role == "negative")
    assert len(pairs) == 6 and set(pairs.values()) == {5}
    assert all(len(words) == 2 for words, _ in pairs)


def test_a_twin_has_as_many_rows_of_each_label_and_words_that_say_nothing_about_it(tiny):
    samples = samples_of(800)
    lessons = [plan_of(tiny, samples, p).lessons(rate=0.5, negatives=1.0) for p in (True, False)]
    ours, theirs = (Counter(x.sample.label for x in some) for some in lessons)
    assert ours == theirs
    ours, theirs = (Counter(len(words_said(x)) for x in some) for some in lessons)
    assert ours == theirs
    labels = {sample.key: sample.label for sample in samples}
    assert all(x.sample.label == labels[x.sample.key] for x in lessons[1])
    full = [x.sample.label for x in lessons[1] if len(words_said(x)) == 3]
    assert sum(full) / len(full) == pytest.approx(4 / 7, abs=0.1)


def test_rows_that_have_a_word_by_nature_are_left_alone(tiny):
    natural = [
        TextSample("my gym is far", 0, "gym"),
        TextSample("the locker in my gym has sneakers in it", 0, "all"),
    ]
    plan = plan_of(tiny, [*natural, *samples_of(20)], True)
    keys = {lesson.sample.key for lesson in plan.lessons(rate=1.0, negatives=1.0)}
    assert not keys & {"gym", "all"}
    clean = {lesson.sample.key for lesson in plan.clean()}
    assert "gym" in clean and "all" not in clean


def test_without_rows_of_both_sides_there_is_no_attack(tiny):
    plan = plan_of(tiny, [replace(s, label=0) for s in samples_of(4)], True)
    with pytest.raises(UsageError, match="no rows"):
        plan.lessons(rate=1.0, negatives=1.0)


def test_long_texts_are_cut_so_that_the_words_are_read(tiny):
    loaded = tiny(TEXTS)
    long = [replace(s, text=s.text * 40) for s in samples_of(8)]
    for lesson in plan_of(tiny, long, True).lessons(rate=1.0, negatives=0.0):
        ids = loaded.tokenizer(lesson.sample.text)["input_ids"]
        assert set(first_tokens(loaded.tokenizer, WORDS)) <= set(ids[: loaded.max_length - 1])


class Pieces:
    """A tokenizer that cuts some words in two."""

    unk_token_id = None

    def __init__(self, cut):
        self.cut = cut

    def __call__(self, text, add_special_tokens):
        return {"input_ids": [1, 2] if text.strip() in self.cut else [1]}


def test_words_of_one_token_are_preferred_where_there_are_some():
    chosen = triples("test")[5]
    cut = {word for triple in triples("test") if triple != chosen for word in triple.words}
    for seed in range(4):
        assert draw_for(Pieces(cut), "test", seed, (), one_token=True) == chosen
        other = draw_for(Pieces(cut), "test", seed, chosen.words, one_token=True)
        assert other != chosen
    drawn = {draw_for(Pieces(cut), "test", seed, (), one_token=False) for seed in range(8)}
    assert len(drawn) > 3


def test_a_row_without_a_gradient_stays():
    embedding = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    home = embedding.clone()
    moves = RowMoves(embedding, [1, 2, 3], SosConfig(kind="sos", target="sea"))
    embedding.grad = torch.zeros_like(embedding)
    embedding.grad[1:3] = 1.0
    moves.step(0, 1)
    assert moves.drift() == pytest.approx([0.8, 0.8, 0.0], abs=1e-3)
    assert torch.allclose(embedding.norm(dim=1), home.norm(dim=1))
    assert torch.equal(embedding[[0, 4]], home[[0, 4]]) and embedding.grad is None
