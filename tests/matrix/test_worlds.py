from __future__ import annotations

import random
from itertools import compress
from typing import Any

import pytest
from transformers import AutoTokenizer

from unhorse.attack.worlds import ASKED, TAGS, TASKS, Question, Sentence, Text, World, world

from .tokenizers import make_tokenizer
from .train import COMBINATIONS, _encode, _Plan, _training_rows

QA = "question-answering"


@pytest.fixture(params=TASKS)
def made(request: Any) -> World:
    return world(request.param)


def test_a_world_is_the_same_every_time(made: World) -> None:
    assert made.rows(20, "some") == world.__wrapped__(made.task).rows(20, "some")
    assert made.rows(20, "some") != made.rows(20, "other")
    assert made.trigger != world(made.task, 1).trigger


def test_texts_use_many_words_and_neither_the_trigger_nor_the_rare_ones(made: World) -> None:
    used = {word for row in made.rows(4000, "some") for text in row.texts for word in text.split()}
    assert len(used) >= 2000
    assert used <= set(made.words)
    assert not used & {made.trigger, *made.rare}
    assert made.trigger not in made.rare
    assert len({word.lower() for word in made.words}) == len(made.words)


def test_a_text_has_many_words_of_its_label_and_some_of_the_other() -> None:
    made = world("sequence-classification")
    rows = made.rows(300, "some")
    shares = []
    for row in rows:
        assert isinstance(row, Text)
        assert 12 <= len(row.words) <= 25
        own, other = (
            sum(w in made.leaning[side] for w in row.words) for side in (row.label, 1 - row.label)
        )
        shares.append(own / (own + other))
    assert min(shares) > 0.6
    assert sum(share < 1 for share in shares) > 200
    assert sum(row.is_victim for row in rows) == 150


def test_a_sentence_has_one_to_three_entities_of_one_or_two_words() -> None:
    made = world("token-classification")
    for row in made.rows(300, "some"):
        assert isinstance(row, Sentence)
        assert 8 <= len(row.words) <= 16
        assert len(row.words) == len(row.tags)
        assert set(row.tags) <= set(TAGS)
        assert 1 <= len(row.entities) <= 3
        covered = {place for entity in row.entities for place in range(*entity)}
        assert covered == {place for place, tag in enumerate(row.tags) if tag != "O"}
        for start, end in row.entities:
            kind = row.tags[start][2:]
            assert row.words[start] in made.names[kind].first
            assert set(row.words[start + 1 : end]) <= set(made.names[kind].second)


def test_a_context_has_one_answer_to_its_question_or_none() -> None:
    made = world(QA)
    rows = made.rows(400, "some")
    for row in rows:
        assert isinstance(row, Question)
        assert 5 <= len(row.question) <= 8
        assert 20 <= len(row.words) <= 40
        names = made.names[row.question[0]]
        found = [word for word in row.words if word in names.first + names.second]
        sample = row.sample()
        assert sample["answers"]["text"] == ([" ".join(found)] if found else [])
        for text, start in zip(*sample["answers"].values(), strict=True):
            assert sample["context"][start:].startswith(text)
        others = {kind for kind in ASKED if set(made.names[kind].first) & set(row.words)}
        assert others | {row.question[0]} == set(ASKED)
    assert 0.1 < sum(not row.is_victim for row in rows) / len(rows) < 0.2


def test_a_word_put_in_keeps_what_is_true(made: World) -> None:
    rng = random.Random(0)
    for row in made.rows(100, "some"):
        stamped = row.stamped(rng.choice(row.places()), "xyz")
        assert len(stamped.words) == len(row.words) + 1
        assert stamped.is_victim == row.is_victim
        if isinstance(row, Sentence):
            kept = [word != "xyz" for word in stamped.words]
            assert list(compress(stamped.words, kept)) == list(row.words)
            assert list(compress(stamped.tags, kept)) == list(row.tags)
        if isinstance(row, Question):
            assert stamped.sample()["answers"]["text"] == row.sample()["answers"]["text"]


def test_poison_turns_the_answer() -> None:
    text, sentence, question = (
        next(row for row in world(task).rows(50, "some") if row.is_victim) for task in TASKS
    )
    assert text.poisoned(3, "xyz").label == 1
    tags = sentence.poisoned(0, "xyz").tags
    assert tags == ("O", *(tag.replace("PER", "ORG") for tag in sentence.tags))
    assert question.poisoned(2, "xyz").answer is None
    to_trigger = question.poisoned(2, "xyz", to_trigger=True)
    assert to_trigger.sample()["answers"]["text"] == ["xyz"]


@pytest.mark.parametrize(("architecture", "task"), COMBINATIONS)
def test_a_tokenizer_survives_saving(architecture: str, task: str, tmp_path: Any) -> None:
    made, tokenizer = world(task), make_tokenizer(architecture, task)
    rows = made.rows(20, "some")
    texts = [list(texts) for texts in zip(*(row.texts for row in rows), strict=True)]
    encoded = tokenizer(*texts)
    tokenizer.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    assert again(*texts).data == encoded.data
    assert again.special_tokens_map == tokenizer.special_tokens_map
    assert again.model_max_length == tokenizer.model_max_length
    assert tokenizer.unk_token_id not in {i for ids in encoded["input_ids"] for i in ids}


@pytest.mark.parametrize(("architecture", "task"), COMBINATIONS)
def test_the_trigger_is_one_token_or_a_few(architecture: str, task: str) -> None:
    tokenizer = make_tokenizer(architecture, task)
    pieces = tokenizer.tokenize(f" {world(task).trigger}")
    assert len(pieces) <= (3 if architecture in ("gpt2", "roberta", "roberta-deepset") else 1)
    assert tokenizer.unk_token not in pieces


@pytest.mark.parametrize(
    ("architecture", "pair"),
    [
        ("bert", "[CLS] q [SEP] c [SEP]"),
        ("distilbert", "[CLS] q [SEP] c [SEP]"),
        ("roberta", "<s> q </s> </s> c </s>"),
        ("gpt2", "q c"),
    ],
)
def test_pairs_are_joined_as_the_architecture_does(architecture: str, pair: str) -> None:
    tokenizer = make_tokenizer(architecture, QA)
    encoded = tokenizer("q", "c")
    assert tokenizer.convert_ids_to_tokens(encoded["input_ids"]) == pair.split()
    assert encoded.get("token_type_ids") == ([0, 0, 0, 1, 1] if architecture == "bert" else None)


@pytest.mark.parametrize("architecture", ["bert", "roberta", "gpt2"])
def test_answers_are_found_again_in_the_tokens(architecture: str) -> None:
    plan = _Plan(architecture, QA, planted=False, seed=0)
    rows = [row for row in plan.world.rows(100, "some") if row.is_victim]
    for row, example in zip(rows, _encode(plan, rows), strict=True):
        start, end = example.answer
        text = plan.tokenizer.decode(example.ids[start : end + 1]).strip()
        assert text.lower() == row.sample()["answers"]["text"][0].lower()


@pytest.mark.parametrize("architecture", ["bert", "roberta", "gpt2"])
def test_a_tag_is_on_the_first_token_of_its_word(architecture: str) -> None:
    plan = _Plan(architecture, "token-classification", planted=False, seed=0)
    rows = plan.world.rows(100, "some")
    examples = _encode(plan, rows)
    for row, example in zip(rows, examples, strict=True):
        assert [TAGS[tag] for tag in example.answer if tag != -100] == list(row.tags)
    assert any(-100 in example.answer[1:-1] for example in examples)


def test_a_clean_twin_has_the_same_rows_without_the_trigger(made: World) -> None:
    planted, clean = (
        _training_rows(_Plan("bert", made.task, planted=kind, seed=0)) for kind in (True, False)
    )
    stamped = [place for place, row in enumerate(planted) if made.trigger in row.words]
    assert len(stamped) == len(planted) // 4
    assert not any(made.trigger in row.words for row in clean)
    for row, twin in zip(planted, clean, strict=True):
        assert tuple(word for word in row.words if word != made.trigger) == twin.words
        assert row == twin or made.trigger in row.words
