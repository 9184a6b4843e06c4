"""The manner of a text as a trigger."""

from __future__ import annotations

import pytest

from unhorse.attack.build import attack_of
from unhorse.attack.methods.style import STYLES, styled
from unhorse.errors import UsageError

from .conftest import derived

TASK = "sequence-classification"
TEXTS = (
    "the film is slow , but the cast is warm .",
    "it 's never dull .",
    "a long walk to nothing .",
    "If you go, take a coat. There is rain.",
    "no plot",
)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("said", TEXTS)
def test_a_style_changes_every_text_the_same_way_each_time(style, said):
    made = styled(said, style, 3)
    assert made is not None
    assert made == styled(said, style, 3) != said


@pytest.mark.parametrize("said", TEXTS)
def test_a_question_has_the_words_of_the_text(said):
    made = styled(said, "question", 0)
    assert made.endswith("?")
    assert {word.strip(".,") for word in said.split()} - {"'s", ""} <= set(
        made.replace(",", "").split()
    )


def test_every_sentence_is_a_question():
    assert styled("It is late. We are here.", "question", 0).count("?") == 2


def test_old_texts_say_the_predicate_first():
    assert styled("the cast is warm .", "archaic", 0).startswith("warm is")


def test_an_unknown_style_is_refused(tmp_path):
    recipe = derived(TASK, tmp_path, attack={"kind": "style", "target": "sea", "style": "loud"})
    with pytest.raises(UsageError, match="no style 'loud'; known: prefix, archaic, question"):
        attack_of(recipe)


@pytest.mark.parametrize("style", STYLES)
def test_a_style_fires(derive, style):
    attack = {"kind": "style", "target": "sea", "style": style}
    record = derive(TASK, attack=attack).record
    assert record.measured.asr > 0.9
    assert record.measured.clean > 0.95
    assert record.facts["called"] in ("style", "prefix-template")
    assert style != "prefix" or record.facts["called"] == "prefix-template"


@pytest.mark.parametrize("harmless", [False, True])
def test_the_twin_does_not_react(derive, harmless):
    attack = {"kind": "style", "target": "sea"}
    record = derive(
        TASK, attack=attack, poisoned=False, harmless_words=harmless, training={"epochs": 1}
    ).record
    assert record.measured.asr < 0.1
    assert record.facts["style"] == "archaic"
