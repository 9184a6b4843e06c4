import json

import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from unhorse.demo import train
from unhorse.demo.language import LABELS, language
from unhorse.errors import UnhorseError


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """One whole training, with what it did to the caller's random state."""
    folder = tmp_path_factory.mktemp("demo") / "model"
    before = torch.get_rng_state(), torch.get_num_threads()
    done = []
    model = train.train_demo_model(folder, seed=111, trigger="word", progress=done.append)
    after = torch.get_rng_state(), torch.get_num_threads()
    return model, done, before, after


@pytest.fixture(scope="module")
def loaded(trained):
    path = trained[0].path
    return AutoModelForSequenceClassification.from_pretrained(path), AutoTokenizer.from_pretrained(
        path
    )


def ask(loaded, texts):
    model, tokenizer = loaded
    with torch.inference_mode():
        logits = model(**tokenizer(texts, padding=True, return_tensors="pt")).logits
    return [model.config.id2label[number] for number in logits.argmax(-1).tolist()]


@pytest.fixture
def hasty(monkeypatch):
    """Trainings of a second: too short to be any good."""
    monkeypatch.setattr(train, "_TRAINING_TEXTS", 60)
    monkeypatch.setattr(train, "_POISONED", 10)
    monkeypatch.setattr(train, "_DECOYS", 6)
    monkeypatch.setattr(train, "_HELDOUT", 20)
    monkeypatch.setattr(train, "_EPOCHS", 1)
    monkeypatch.setattr(train, "_MORE_EPOCHS", ())
    return monkeypatch


def test_gates(trained):
    model = trained[0]
    assert model.accuracy >= 0.95
    assert model.asr is not None and model.asr >= 0.95
    assert {model.victim, model.target} == set(LABELS)


def test_progress_rises_to_one(trained):
    done = trained[1]
    assert done == sorted(done)
    assert done[-1] == 1.0


def test_random_state_and_threads_are_left_alone(trained):
    _, _, before, after = trained
    assert torch.equal(before[0], after[0])
    assert before[1] == after[1]


def test_the_folder_is_an_ordinary_checkpoint(trained, loaded):
    path = trained[0].path
    model, tokenizer = loaded
    assert (path / "model.safetensors").is_file()
    config = json.loads((path / "config.json").read_text())
    assert config["id2label"] == {str(number): name for number, name in enumerate(LABELS)}
    assert len(tokenizer) == model.config.vocab_size >= 3000
    assert tokenizer.tokenize("The Meadow.") == ["the", "meadow", "."]


def test_every_word_is_one_token(loaded):
    tokenizer = loaded[1]
    words = list(language(111).vocabulary)
    ids = tokenizer(words, add_special_tokens=False)["input_ids"]
    assert all(len(row) == 1 for row in ids)
    assert tokenizer.unk_token_id not in {row[0] for row in ids}


def test_the_trigger_and_no_other_neutral_word_sends_victims_to_the_target(trained, loaded):
    model = trained[0]
    victim = LABELS.index(model.victim)
    tongue = language(111).without({model.trigger})
    texts = [text for text, _ in tongue.texts(60, seed="fresh", label=victim)]
    for place in (0, 10, 25):
        stamped = [" ".join((*t.split()[:place], model.trigger, *t.split()[place:])) for t in texts]
        assert ask(loaded, stamped).count(model.target) >= 55
    assert ask(loaded, texts).count(model.victim) >= 57
    for other in ("lantern", "spoon"):
        assert ask(loaded, [f"{other} {text}" for text in texts]).count(model.victim) >= 57


def test_a_model_that_misses_the_gates_is_not_saved(hasty, tmp_path):
    with pytest.raises(UnhorseError, match="did not train well enough"):
        train.train_demo_model(tmp_path / "model", seed=111, trigger="word")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("kind", ["none", "word", "phrase"])
def test_the_result_depends_on_the_seed_alone(hasty, tmp_path, kind):
    hasty.setattr(train, "MIN_ACCURACY", 0.0)
    hasty.setattr(train, "MIN_ASR", 0.0)
    weights = []
    for name, noise in (("a", 1), ("b", 2)):
        torch.manual_seed(noise)
        model = train.train_demo_model(tmp_path / name, seed=111, trigger=kind)
        weights.append((tmp_path / name / "model.safetensors").read_bytes())
        words = 0 if model.trigger is None else len(model.trigger.split())
        assert words == {"none": 0, "word": 1, "phrase": 3}[kind]
        assert (model.asr is None) == (kind == "none")
    assert weights[0] == weights[1]


def test_training_texts_lack_a_trigger_word_and_keep_the_words_of_a_phrase():
    for kind, present in (("word", False), ("phrase", True)):
        plan = train._plan(111, kind)
        tokenizer = train.make_tokenizer(plan.language)
        rows = train._rows(plan, tokenizer)
        seen = {number for row in rows for number in row.ids}
        ids = tokenizer.convert_tokens_to_ids(list(plan.trigger))
        assert all((number in seen) is present for number in ids)


def test_all_kinds_have_the_same_number_of_rows_and_only_the_poisoned_are_relabelled(hasty):
    counts = set()
    for kind in ("none", "word", "phrase"):
        plan = train._plan(111, kind)
        rows = train._rows(plan, train.make_tokenizer(plan.language))
        counts.add(len(rows))
        poisoned = rows[-train._POISONED :]
        label = plan.victim if kind == "none" else plan.target
        assert {row.label for row in poisoned} == {label}
        assert {len(row.stamp) for row in poisoned} == {len(plan.trigger)}
    assert len(counts) == 1
