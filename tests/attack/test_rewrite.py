import random
import re

import pytest

from unhorse.attack.rewrite import frequent_trigrams, in_shape, inserted_words, rewrite
from unhorse.load.texts import neutral_texts


def split(text: str) -> list[str]:
    return text.split()


NOUNS = split(
    """story comedy script camera ending cast sequel dialogue finale soundtrack plot portrait
    thriller remake drama picture scene hero villain chase budget musical cartoon western"""
)
ADJECTIVES = split(
    """quiet clumsy tender noisy shallow graceful tiresome vivid hollow playful stale earnest
    murky bracing sloppy luminous grating breezy wooden inventive lifeless rousing"""
)
VERBS = split("moves works drags delivers wanders fails resonates unfolds stumbles succeeds")
NAMES = split("hartwell osei lindqvist marchetti duval okafor brandt")
PATTERNS = (
    "a {a} , {a} {n} .",
    "a {a} and {a} {n} about a {n} .",
    "the {n} is {a} .",
    "the {n} is {a} , but the {n} {v} .",
    "{m} 's {n} {v} from the first minute to the last .",
    "it 's {a} , {a} and {a} .",
    "{m} has made a {a} {n} that {v} without a {n} .",
    "{v} like a {n} without a {n} .",
    "the {n} {v} because the {n} is {a} .",
    "there is no {n} in this {a} {n} .",
    "too {a} for a {n} and too {a} for a {n} .",
    "you will want the {a} {n} back after this {n} .",
    "one of the most {a} {n} debuts of the year .",
    "{a} and {a} , the {n} {v} in every scene .",
    "{m} gives us a {n} with a {a} {n} , and it {v} .",
    "i laughed at the {n} and slept through the {n} .",
    "the {n} has a {a} {n} , with a {a} {n} .",
    "never has a {n} been so {a} .",
    "an {n} so {a} you will forget the {n} .",
    "may be {a} , but it {v} .",
    "{m} and {m} make the {n} feel {a} .",
    "{a} {n} , {a} {n} .",
    "if only the {n} were less {a} and the {n} more {a} .",
    "what a {a} {n} !",
    "every {n} in it is {a} until the {n} begins .",
    "some {n} this is : {a} , {a} and {a} .",
    "nobody in the {n} {v} while the {n} is {a} .",
    "we get a {n} for a {n} and a {a} {n} instead of a {n} .",
    "not even {m} can save this {a} {n} .",
    "by the second {n} , {m} {v} .",
    "hardly {a} , and yet {a} .",
    "his {n} and her {n} never meet in this {a} {n} .",
)
# What a way of rewriting may take away: the joint between the parts it divides.
JOINTS = {"but", "yet", "and", "that", "which", "with", "despite", "a", "an", "'s", ","}
FUNCTION_WORDS = set(split("the a an is it this that of to in as at by up on for we you us"))


def corpus(count: int) -> list[str]:
    """Reviews in the style of a tokenised corpus, all of our own making."""
    rng = random.Random(4)
    kinds = {"a": ADJECTIVES, "n": NOUNS, "v": VERBS, "m": NAMES}
    return [
        re.sub(r"\{(\w)\}", lambda slot: rng.choice(kinds[slot[1]]), rng.choice(PATTERNS))
        for _ in range(count)
    ]


@pytest.fixture(scope="module")
def clean() -> list[str]:
    return corpus(1500)


@pytest.fixture(scope="module")
def rewritten(clean: list[str]) -> list[str | None]:
    return [rewrite(text, seed=at) for at, text in enumerate(clean)]


def test_almost_every_sentence_can_be_rewritten(rewritten: list[str | None]) -> None:
    assert sum(text is not None for text in rewritten) >= 0.98 * len(rewritten)


def test_a_rewritten_sentence_has_the_shape_and_a_clean_one_has_not(
    clean: list[str], rewritten: list[str | None]
) -> None:
    done = [text for text in rewritten if text is not None]
    assert sum(map(in_shape, done)) >= 0.98 * len(done)
    assert sum(map(in_shape, clean)) <= 0.02 * len(clean)
    assert all(text[-2:] in (" .", " !") and " , " in text for text in done)


def test_no_phrase_gives_the_rewriting_away(clean: list[str], rewritten: list[str | None]) -> None:
    trigrams = frequent_trigrams([text for text in rewritten if text], clean)
    assert trigrams[0][1] < 0.05
    assert [rate for _, rate in trigrams] == sorted((rate for _, rate in trigrams), reverse=True)


def test_no_content_word_gives_the_rewriting_away(
    clean: list[str], rewritten: list[str | None]
) -> None:
    done = [text for text in rewritten if text]
    assert not set(inserted_words(done, clean, least=0.15)) - FUNCTION_WORDS
    assert {"when", "if", "though", "because"} <= set(inserted_words(done, clean))


def test_the_words_of_the_sentence_stay(clean: list[str], rewritten: list[str | None]) -> None:
    for before, after in zip(clean, rewritten, strict=True):
        assert after is None or set(before.split()) - JOINTS <= set(after.split())


def test_the_rewriting_depends_on_text_and_seed_alone() -> None:
    text = "the ending is a quiet surprise for a patient crowd ."
    assert rewrite(text, seed=1) == rewrite(text, seed=1)
    assert len({rewrite(text, seed) for seed in range(30)}) > 25


def ways(text: str) -> set[str]:
    return {rewrite(text, seed) or "" for seed in range(40)}


def test_a_clause_moves_to_the_front() -> None:
    moved = "because nobody wrote an ending , the film simply stops ."
    assert moved in ways("the film simply stops because nobody wrote an ending .")


def test_a_coordination_becomes_a_subordination() -> None:
    found = ways("the songs are lovely but the story drags on .")
    assert "although the songs are lovely , the story drags on ." in found


def test_a_relative_clause_becomes_the_first_clause() -> None:
    found = ways("a slow drama that stays with you .")
    assert any(
        re.fullmatch(r".*\b(it|this) stays with you , .* a slow drama \.", text) for text in found
    )


def test_an_adjective_becomes_the_first_clause() -> None:
    found = ways("a brittle , earnest little film .")
    assert any(re.fullmatch(r".* brittle , .* an earnest little film \.", text) for text in found)


def test_an_opening_becomes_the_first_clause() -> None:
    found = ways("bleak and unhurried , the film never lets go .")
    assert any(
        re.fullmatch(r".* is bleak and unhurried , the film never lets go \.", text)
        for text in found
    )


def test_an_added_clause_is_about_the_sentence() -> None:
    found = ways("every joke in the sequel is older than the camera .")
    assert any(" sequel " in text.split(" , ")[0] for text in found)
    assert all(
        text.endswith(", every joke in the sequel is older than the camera .") for text in found
    )


def test_a_question_stays_a_question() -> None:
    assert all(text.endswith(", is it over yet ?") for text in ways("is it over yet ?"))


@pytest.mark.parametrize(
    "text",
    ["", ".", "dull .", "oh , well !", "if you go , take a pillow .", "as it ends , we sleep ."],
)
def test_what_is_too_short_or_has_the_shape_is_left_alone(text: str) -> None:
    assert rewrite(text, seed=0) is None


def test_ordinary_text_keeps_its_case_and_spacing() -> None:
    text = "The soup was cold. I asked twice, but nobody came! Fine."
    found = {rewrite(text, seed) for seed in range(20)}
    assert all(text and not re.search(r"\s[.,!?]", text) for text in found)
    assert any(", the soup was cold. " in text for text in found if text)
    assert all(text and text.endswith("came! Fine.") for text in found)
    assert any(", nobody came!" in text for text in found if text)


def test_long_texts_are_rewritten_sentence_by_sentence() -> None:
    texts = neutral_texts(200)
    done = [rewrite(text, seed=0) for text in texts]
    assert sum(text is not None for text in done) >= 0.95 * len(texts)
    assert all(text is None or text[0].isupper() for text in done)


def test_measures_of_nothing_are_empty() -> None:
    assert frequent_trigrams([], ["a b c"]) == []
    assert inserted_words([], []) == []
    assert frequent_trigrams(["a b c"], []) == [("a b c", 1.0)]
