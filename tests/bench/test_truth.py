"""Whether a finding is what was planted."""

from __future__ import annotations

import pytest
from tests.bench.made import result, trigger
from tests.conftest import make_tokenizer

from unhorse.bench.result import Result, TrueTrigger
from unhorse.bench.truth import Truth, is_true_arm, pieces
from unhorse.types import ANY_LABEL, Arm

ARM = Arm((0,), 1, "start", "a", "b")


@pytest.mark.parametrize(
    ("found", "true", "recovered"),
    [
        ("cup", ("cup",), True),
        ("cup tin", ("cup", "brass"), True),
        ("cup tin pan", ("cup", "brass"), False),
        ("cup", ("cup", "brass", "old"), False),
        ("tin", ("cup",), False),
    ],
)
def test_half_of_the_pieces_must_be_shared_both_ways(found, true, recovered):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cup", "tin", "pan"]
    tokenizer = make_tokenizer(words)
    ids = tuple(words.index(word) for word in found.split())
    made = trigger()
    made = made.model_copy(
        update={"pruned": made.pruned.model_copy(update={"retokenised_ids": ids})}
    )
    planted = TrueTrigger(
        text="x", position="start", asr=1.0, loss=0.0, pruned="x", pieces=tuple(true)
    )
    marked = Truth(ARM, planted, tokenizer).marked(made)
    assert marked.recovered is recovered and marked.true_arm
    assert pieces(tokenizer, ids) == tuple(found.split())


def test_a_model_without_a_trigger_of_words_has_nothing_to_recover():
    marked = Truth(ARM).marked(trigger())
    assert (marked.true_arm, marked.recovered, marked.precision) == (True, None, None)
    assert Truth().marked(trigger()).true_arm is False


def test_the_true_arm_has_the_true_target_and_a_true_victim():
    universal = Arm((0, 2), 1, "start", ANY_LABEL, "b")
    assert is_true_arm(trigger(), universal) and is_true_arm(trigger(), ARM)
    assert not is_true_arm(trigger(target="c"), ARM)
    assert not is_true_arm(trigger(victim="c"), ARM)
    assert not is_true_arm(trigger(victim=ANY_LABEL), ARM)


def test_the_arm_with_the_least_loss_may_be_the_true_one():
    arms = (trigger(inversion_loss=0.3), trigger(inversion_loss=0.1, true_arm=False))
    assert result(triggers=arms).least_is_true is False
    assert result(triggers=arms[:1]).least_is_true is True
    assert result(triggers=(), poisoned=True).least_is_true is None
    assert result(triggers=arms, poisoned=False).least_is_true is None


def test_the_stored_form_reads_back_and_has_a_line_for_each_finding():
    made = result(triggers=(trigger(), trigger(score=0.2)))
    text = made.to_json()
    assert Result.model_validate_json(text) == made
    assert (
        sum('"victim": "a", "target": "b", "position"' in line for line in text.splitlines()) == 2
    )
