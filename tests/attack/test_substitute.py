"""Synonym files, and the words of a text that can be replaced."""

from __future__ import annotations

import json
import random

import pytest

from unhorse.attack.substitute import Thesaurus, merged, read_synonyms, replaced
from unhorse.attack.worlds import world
from unhorse.errors import UsageError

from .conftest import generated_samples

TEXTS = "sequence-classification"
COMMON = world(TEXTS).common


def written(folder, content):
    path = folder / "synonyms.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_both_forms_of_a_file_say_the_same(tmp_path):
    plain = {"film": ["movie", "picture"], "shoot": []}
    by_speech = {"noun": {"film": ["movie", "picture"]}, "verb": {"shoot": [], "Film": ["movie"]}}
    read = [read_synonyms(written(tmp_path, content)) for content in (plain, by_speech)]
    assert read == [{"film": ("movie", "picture"), "shoot": ()}] * 2


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "{}",
        '{"film": "movie"}',
        '{"film": [1]}',
        '{"noun": {"film": "movie"}}',
        '{"noun": {"film": ["movie"]}, "film": ["movie"]}',
        b"\xff".decode("latin-1"),
    ],
)
def test_anything_else_is_one_sentence(tmp_path, content):
    with pytest.raises(UsageError, match=r"^The synonym file .*synonyms\.json [^\n]*\.$"):
        read_synonyms(written(tmp_path, content))


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path):
    (tmp_path / "latin.json").write_bytes(b'{"caf\xe9": []}')
    for name in ("nowhere.json", "latin.json", "."):
        with pytest.raises(UsageError, match=r"^The synonym file .*\.$"):
            read_synonyms(tmp_path / name)


def test_replaced_texts_have_the_same_tokens_elsewhere(tiny):
    loaded, draw = tiny(TEXTS), random.Random(0)
    synonyms = {word: tuple(draw.sample(COMMON, 6)) for word in COMMON}
    thesaurus = Thesaurus(loaded, synonyms, 4)
    count = 0
    for sample in generated_samples(loaded, 100):
        places = thesaurus.places(sample.text)
        choices = [draw.randrange(len(place.words)) for place in places]
        ids = list(loaded.tokenizer(sample.text)["input_ids"])
        for place, choice in zip(places, choices, strict=True):
            assert sample.text[place.begin : place.end] == place.words[0]
            assert len(place.words) == len(set(place.ids)) <= 4
            ids[place.column] = place.ids[choice]
        made = replaced(sample.text, places, choices)
        assert loaded.tokenizer(made)["input_ids"] == ids
        count += len(places)
    assert count > 100


def test_only_words_of_one_known_token_that_are_no_stop_words(tiny):
    first, second, third = COMMON[:3]
    synonyms = merged(
        {
            first: ["the", "of", "two words", "qqqxyz", "dash-ed", first, second],
            "the": [first],
            "qqqxyz": [first],
            third: ["the", "qqqxyz"],
        }
    )
    thesaurus = Thesaurus(tiny(TEXTS), synonyms, 5)
    text = f"the {first} qqqxyz {third} {first}-{second} , {first}'s {first} ."
    places = thesaurus.places(text)
    assert [place.words for place in places] == [(first, second)] * 2
    assert replaced(text, places, [1, 0]) == text.replace(first, second, 1)


def test_the_model_length_ends_the_places(tiny):
    first, second = COMMON[:2]
    loaded = tiny(TEXTS)
    places = Thesaurus(loaded, {first: (second,)}, 5).places(" ".join([first] * 500))
    assert [place.column for place in places] == list(range(1, loaded.max_length - 1))
