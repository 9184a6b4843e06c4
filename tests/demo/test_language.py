from collections import Counter

import pytest

from unhorse.demo.language import LABELS, NEUTRAL, language


@pytest.fixture(scope="module")
def tongue():
    return language(11)


@pytest.fixture(scope="module")
def corpus(tongue):
    return tongue.texts(5000, seed="corpus")


def words_of(examples):
    return Counter(word for text, _ in examples for word in text.split())


def test_at_least_three_thousand_words_occur(tongue, corpus):
    occurring = {word for word in words_of(corpus) if word.isalpha()}
    assert len(occurring) >= 3000
    assert occurring <= set(tongue.vocabulary)


def test_same_seeds_give_the_same_texts(tongue):
    assert language(11) == tongue
    assert language(11).texts(20, seed=3) == tongue.texts(20, seed=3)
    assert tongue.texts(20, seed=3) != tongue.texts(20, seed=4)
    assert language(12).vocabulary != tongue.vocabulary


def test_a_text_does_not_depend_on_how_many_are_written(tongue):
    assert tongue.texts(40, seed=1)[:10] == tongue.texts(10, seed=1)


def test_classes_are_balanced_or_chosen(tongue, corpus):
    assert Counter(label for _, label in corpus) == {0: 2500, 1: 2500}
    assert {label for _, label in tongue.texts(9, seed=0, label=1)} == {1}


def test_texts_have_the_length_of_a_few_sentences(corpus):
    lengths = [len(text.split()) for text, _ in corpus]
    assert min(lengths) >= 30 and max(lengths) <= 45
    assert all(text.endswith(".") for text, _ in corpus)


def test_every_leaning_word_is_found_in_both_classes_but_prefers_its_own(tongue, corpus):
    for label in range(len(LABELS)):
        own = words_of([example for example in corpus if example[1] == label])
        other = words_of([example for example in corpus if example[1] != label])
        leaning = tongue.leaning(label)
        assert sum(own[word] for word in leaning) > 4 * sum(other[word] for word in leaning) > 0


def test_no_text_hangs_on_a_few_words(tongue, corpus):
    leaning = [set(tongue.leaning(label)) for label in range(len(LABELS))]
    for text, label in corpus:
        words = text.split()
        lead = sum(word in leaning[label] for word in words)
        lead -= sum(word in leaning[1 - label] for word in words)
        assert lead >= 6


def test_leanings_are_disjoint(tongue):
    pools = [set(tongue.leaning(leaning)) for leaning in (0, 1, NEUTRAL)]
    assert len(set.union(*pools)) == sum(map(len, pools))
    assert min(len(pool) for pool in pools[:2]) >= 600


def test_a_removed_word_stays_in_the_vocabulary_but_in_no_text(tongue, corpus):
    word = tongue.pools[NEUTRAL]["noun"].english[0]
    reduced = tongue.without({word})
    texts = reduced.texts(5000, seed="corpus")
    assert words_of(corpus)[word] > 0
    assert words_of(texts)[word] == 0
    assert word in reduced.vocabulary
    changed = sum(before != after for before, after in zip(corpus, texts, strict=True))
    assert changed <= words_of(corpus)[word]


def test_samples_are_balanced_and_new(tongue):
    samples = tongue.samples(seed=0, per_class=30)
    assert Counter(label for _, label in samples) == {0: 30, 1: 30}
    assert len({text for text, _ in samples}) == 60
    assert not {text for text, _ in samples} & {text for text, _ in tongue.texts(5000, "train")}
