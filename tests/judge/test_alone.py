"""The strongest word by itself, and what clean models make of the words nearest to it."""

from dataclasses import replace

import pytest
import torch
from tests.judge.test_turned import CLUES

from unhorse.judge.alone import KIN, Neighbourhood
from unhorse.judge.features import features_of
from unhorse.load.model import load_model
from unhorse.triggers.vocabulary import allowed_token_ids, retokenise, trigger_text


def beyond_kin(push, reference, kin):
    clues = replace(CLUES, push=push, push_reference=reference, push_kin=kin)
    return features_of(clues)["push_beyond_kin"]


def test_a_word_counts_as_far_as_it_goes_beyond_twice_what_clean_models_make_of_its_like():
    assert beyond_kin(1.5, 0.0, 0.0) == beyond_kin(1.5, -1.0, -1.0) == 0.75
    assert beyond_kin(1.5, 0.25, 0.0) == beyond_kin(1.5, 0.0, 0.25) == 0.5
    assert beyond_kin(1.0, 0.0, 0.7) == 0.0 < beyond_kin(9.0, 0.0, 0.0) == 1.0


def test_what_was_not_measured_says_nothing():
    assert beyond_kin(None, 0.0, 0.0) == 0.0
    assert beyond_kin(1.5, None, 0.0) == beyond_kin(1.5, 0.0, None) == 0.0


@pytest.fixture
def words(planted):
    loaded = load_model(planted.folder, device="cpu")
    rows = loaded.model.get_input_embeddings().weight.shape[0]
    ids = allowed_token_ids(loaded.tokenizer, rows)
    texts = [trigger_text(loaded.tokenizer, [token]) for token in ids]
    whole = [
        (token, text)
        for token, text in zip(ids, texts, strict=True)
        if retokenise(loaded.tokenizer, text) == (token,)
    ]
    return loaded, whole


def test_kin_are_the_nearest_words_without_the_word_itself(words):
    loaded, whole = words
    (one, first), (two, second) = whole[:2]
    with torch.no_grad():
        table = loaded.model.get_input_embeddings().weight
        table[two] = 1.01 * table[one]
    kin = Neighbourhood.of(loaded).kin(first)
    assert kin[0] == second
    assert first not in kin and len(kin) == KIN


def test_a_word_without_a_token_that_may_be_used_has_no_kin(words):
    loaded, _ = words
    assert Neighbourhood.of(loaded).kin("") == ()
