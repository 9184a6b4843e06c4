import re
import time
from collections import Counter
from itertools import pairwise

import pytest

from unhorse.load import texts_entities
from unhorse.load.text_names import (
    CITIES,
    FIRST_NAMES,
    NATIONALITIES,
    ORGANISATION_PARTS,
    REGIONS,
    RIVERS,
    SURNAMES,
    TOWNS,
    vowel_sound,
)
from unhorse.load.texts_entities import (
    KINDS,
    TAILS,
    TEMPLATES,
    entity_sentences,
    tagged_sentences,
)

from .helpers import printed_elsewhere


@pytest.fixture(scope="module")
def tagged():
    return tagged_sentences(2000)


def entities(words, tags):
    """The (kind, name, first word) of every entity that was meant."""
    found = []
    for index, (word, tag) in enumerate(zip(words, tags, strict=True)):
        if tag[0] == "B":
            found.append((tag[2:], word, index))
        elif tag[0] == "I":
            kind, name, start = found[-1]
            assert kind == tag[2:]
            found[-1] = (kind, f"{name} {word}", start)
    return found


def test_two_thousand_sentences_take_less_than_a_second():
    start = time.process_time()
    assert len(entity_sentences(2000, seed=5)) == 2000
    assert time.process_time() - start < 1


def test_the_seed_decides_and_counts_only_extend():
    assert entity_sentences(50, seed=1) == entity_sentences(80, seed=1)[:50]
    assert not set(entity_sentences(50, seed=1)) & set(entity_sentences(50, seed=2))
    assert entity_sentences(0) == []


def test_sentences_are_the_same_in_every_process():
    program = (
        "from unhorse.load.texts_entities import entity_sentences;"
        "print(*(' '.join(words) for words in entity_sentences(20, 4)), sep='|')"
    )
    written = [" ".join(words) for words in entity_sentences(20, 4)]
    assert printed_elsewhere(program) == written


def test_sentences_are_distinct_and_of_the_promised_length(tagged):
    assert len({words for words, _ in tagged}) == len(tagged) == 2000
    lengths = sorted(len(words) for words, _ in tagged)
    assert lengths[0] == 5 and lengths[-1] <= 40
    assert lengths[200] <= 10 and lengths[1800] >= 18


def test_sentences_are_well_formed(tagged):
    for words, _ in tagged:
        text = " ".join(words)
        assert re.fullmatch(r"[A-Za-z0-9 .,?'\"&$%()-]+", text), text
        assert words[-1] in (".", "?", '"') and text.count('"') % 2 == 0, text
        first = words[1] if words[0] == '"' else words[0]
        assert first[0].isupper() or first[0].isdigit() or first == "$", text
        assert not any(re.search(r"\w[,?\"()%]$|^[,?\"()$].", word) for word in words), text
        assert "'s" not in text or "'s" in words, text
        assert not re.search(r"\b([A-Za-z]+) (and )?\1\b|, [,.]", text), text


def test_articles_fit_the_next_word(tagged):
    for words, _ in tagged:
        for word, following in pairwise(words):
            if word in ("a", "A", "an", "An"):
                assert vowel_sound(following) == word.endswith("n"), words


@pytest.mark.parametrize(
    ("word", "sounds"),
    [
        ("Estonian", True),
        ("Ugandan", False),
        ("Uruguayan", False),
        ("unusual", True),
        ("university", False),
        ("8", True),
        ("80", True),
        ("11", True),
        ("110", False),
        ("hour", True),
        ("house", False),
    ],
)
def test_vowel_sounds(word, sounds):
    assert vowel_sound(word) is sounds


def test_every_sentence_has_one_to_four_entities_and_one_name(tagged):
    counts = Counter()
    for words, tags in tagged:
        found = entities(words, tags)
        assert {kind for kind, _, _ in found} & {"PER", "ORG", "LOC", "MISC"}, words
        counts[len(found)] += 1
    assert set(counts) == {1, 2, 3, 4} and min(counts.values()) >= 80


def test_all_kinds_are_common(tagged):
    having = Counter()
    for words, tags in tagged:
        having.update({kind for kind, _, _ in entities(words, tags)})
    assert set(having) == set(KINDS.values())
    assert all(having[kind] > 500 for kind in ("PER", "ORG", "LOC", "MISC", "DATE"))
    assert all(having[kind] > 100 for kind in ("MONEY", "PERCENT"))


def test_many_sentences_have_two_of_a_kind(tagged):
    twice = Counter()
    for words, tags in tagged:
        kinds = Counter(kind for kind, _, _ in entities(words, tags))
        twice.update(kind for kind, times in kinds.items() if times > 1)
    assert all(twice[kind] > 50 for kind in ("PER", "ORG", "LOC", "MISC")), twice


def test_entities_start_fill_and_end_sentences(tagged):
    starts = middles = ends = 0
    for words, tags in tagged:
        starts += tags[0] != "O"
        ends += tags[-2] != "O"
        middles += any(2 < start < len(words) - 4 for _, _, start in entities(words, tags))
    assert min(starts, middles, ends) > 400


@pytest.mark.parametrize("seed", range(4))
def test_no_entity_is_in_more_than_three_percent_of_600_sentences(seed):
    having = Counter()
    for words, tags in tagged_sentences(600, seed):
        having.update({name for _, name, _ in entities(words, tags)})
    assert having.most_common(1)[0][1] <= 18, having.most_common(3)
    assert len(having) > 900


def test_no_name_is_repeated_within_a_sentence(tagged):
    for words, tags in tagged:
        names = [name for _, name, _ in entities(words, tags)]
        assert len(set(names)) == len(names), words


def test_templates_are_many_and_can_be_filled():
    assert len(set(TEMPLATES)) == len(TEMPLATES) >= 60
    known = {*texts_entities._SLOTS, "its_country", "next_town"}
    nested = [choice for choices in texts_entities._SLOTS.values() for choice in choices]
    for pattern in (*TEMPLATES, *TAILS, *nested):
        assert set(re.findall(r"\{(\w+)\}", pattern)) <= known, pattern
    for template in TEMPLATES:
        assert all(re.fullmatch(r"\{\w+\}|[^{}]+", part) for part in template.split()), template
        assert template.split()[-1] in (".", "?", '"'), template


def test_pools_are_large_and_without_repetition():
    assert len(set(FIRST_NAMES)) == len(FIRST_NAMES) >= 120
    assert len(set(SURNAMES)) == len(SURNAMES) >= 150
    assert len(CITIES) >= 120 and len({*CITIES, *NATIONALITIES, *REGIONS, *RIVERS}) >= 250
    assert sum(len(parts) for parts in ORGANISATION_PARTS.values()) >= 60
    assert set(CITIES.values()) <= set(NATIONALITIES)
    assert all(len(towns) >= 6 for towns in TOWNS.values())
