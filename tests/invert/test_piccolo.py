"""PICCOLO: the public contract, and its steps on numbers that can be checked by hand."""

import dataclasses

import pytest
import torch

from unhorse.invert.discriminate import discriminativity
from unhorse.invert.engine import ModelLoss
from unhorse.invert.methods.piccolo import PiccoloConfig, WordSearch, crowding, normalised, weights
from unhorse.invert.objective import Objective
from unhorse.invert.words import Words, find_words
from unhorse.speed import random_model, random_rows
from unhorse.tasks.base import TASKS
from unhorse.testing import check_method, planted_problem


def search(problem=None, **changes):
    config = PiccoloConfig(**{"trigger_length": 3, **changes})
    return WordSearch(problem or planted_problem(), config)


def test_contract():
    check_method("piccolo", epochs=32)


def test_every_word_starts_at_the_same_small_weight():
    made = search()
    assert torch.allclose(weights(made.deltas[0]), torch.tensor(3.3535e-4), rtol=1e-4)
    assert torch.allclose(weights(made.deltas[0]), (made.deltas[0].tanh() + 1) / 2, atol=1e-7)


def test_a_restart_starts_elsewhere():
    again = search(dataclasses.replace(planted_problem(), restart=1))
    assert again.deltas[0].std().item() == pytest.approx(0.5, rel=0.3)


def test_normalised_weights_sum_to_one_and_keep_their_proportions():
    delta = torch.tensor([[0.3, -0.2, -4.0, 1.0]])
    usable = torch.tensor([[True, True, True, False]])
    p = weights(delta)[0, :3]
    after = normalised(delta, usable)
    assert torch.allclose(weights(after)[0, :3], p / p.sum(), rtol=1e-4)
    assert weights(after)[0, :3].sum() == pytest.approx(1, abs=1e-5)
    assert torch.allclose(after[0, :2], torch.atanh(2 * (p / p.sum())[:2] - 1), rtol=1e-4)
    assert after[0, 3] == 1.0, "a word that may not be used stays as it is"


def test_weights_are_normalised_before_the_named_epochs_and_adam_starts_afresh():
    made = search(normalise_at=(1,), learning_rate=1e-6)
    made.advance([0])
    first = made.adams[0]
    assert weights(made.deltas[0]).sum(-1).max() < 0.1
    made.advance([0, 1])
    assert torch.allclose(weights(made.deltas[0]).sum(-1), torch.ones(2), atol=1e-3)
    assert made.adams[0] is not first and made.adams[0].state[made.deltas[0]]["step"] == 1
    assert weights(made.deltas[1]).sum(-1).max() < 0.1, "the other arm has its own epochs"


def test_only_crowded_slots_are_pressed():
    p = torch.tensor([[[0.75, 0.75, 0.0], [0.9, 0.3, 0.2]], [[0.5, 0.5, 0.5], [0.0, 0.0, 0.0]]])
    assert crowding(p).tolist() == [pytest.approx(0.25), 0.0]


def test_a_slot_is_the_weighted_sum_of_the_words_tokens_place_by_place():
    made = search(pieces=2)
    made.words = Words(("ab", "c"), ((3, 4), (5,)))
    made.spelled = made.words.table(2)
    mixture = made.mixtures(torch.tensor([[[0.25, 0.5], [0.0, 1.0]]]))
    assert mixture.shape == (1, 3, 57)
    assert mixture[0, 0, [3, 4, 5]].tolist() == [0.25, 0.0, 0.5]
    assert mixture[0, 1, [3, 4, 5]].tolist() == [0.0, 0.25, 0.5], "a short word is repeated"
    assert mixture[0, 2, [3, 4, 5]].tolist() == [0.0, 0.0, 1.0]


def test_the_latest_of_the_best_iterates_counts_and_late_ones_before_early_ones():
    made = search(best_from=2)
    iterates = [torch.full((2, 57), value) for value in (0.1, 0.2, 0.3, 0.4)]
    for hits, p in zip((1.0, 1.0, 0.5, 0.4), iterates, strict=True):
        made._keep_best(0, hits, p)
        made.books[0].enter(0.0, 1.0)
        if len(made.books[0].losses) == 2:
            assert made.iterates[0][0, 0] == pytest.approx(0.2)
    assert made.iterates[0][0, 0] == pytest.approx(0.3)


def test_reasr_is_that_of_the_best_word():
    made = search()
    for _ in range(32):
        made.advance([0])
    found = made.found(0)
    assert found.native.measure == "REASR" and not found.native.low_is_bad
    assert found.native.value == 1.0 and found.native.convicts and found.one_hot
    assert 17 in made.problem.allowed[found.choice].tolist()


def test_a_mixture_that_flips_too_little_is_not_tried_word_by_word():
    made = search(verify_from=1.0)
    made.advance([0])
    made.best[0] = (False, 0.5)
    before = made.problem.meter.forward_tokens
    assert not made.found(0).one_hot
    one_pass = sum(b.tokens for b in made.problem.objective.subject.buckets([0]))
    assert made.problem.meter.forward_tokens - before == one_pass


class SmallTokenizer:
    """Knows `the`, `cat` and `rain`; everything else is letters behind `##`."""

    names = ("the", "cat", "##s", "rain", "##y", "[X]")

    def convert_ids_to_tokens(self, ids):
        return [self.names[i] for i in ids]

    def convert_tokens_to_string(self, tokens):
        return " ".join(tokens).replace(" ##", "")

    def __call__(self, text, add_special_tokens=True):
        if isinstance(text, list):
            return {"input_ids": [self(each)["input_ids"] for each in text]}
        ids = []
        for word in text.split():
            if word in self.names:
                ids.append(self.names.index(word))
            elif word[:-1] in self.names and f"##{word[-1]}" in self.names:
                ids += [self.names.index(word[:-1]), self.names.index(f"##{word[-1]}")]
            else:
                ids.append(5)
        return {"input_ids": ids}


def test_words_are_whole_tokens_and_listed_words_that_are_short_enough():
    words = find_words(SmallTokenizer(), torch.tensor([1, 2, 3, 4]), pieces=2)
    assert words.texts[:2] == ("cat", "rain") and words.spelled[:2] == ((0,), (2,))
    longer = dict(zip(words.texts[2:], words.spelled[2:], strict=True))
    assert all(len(spelled) == 2 for spelled in longer.values())
    assert find_words(SmallTokenizer(), torch.tensor([1, 2, 3, 4]), pieces=1).texts == (
        "cat",
        "rain",
    )
    assert words.usable(torch.tensor([True, False, False, False])).tolist()[:2] == [False, True]


def test_discriminativity_is_read_from_the_last_linear_layer():
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        loaded = random_model(vocab_size=30522, intermediate_size=16, **size)
    problem = planted_problem(arms=1)
    task = TASKS.get("sequence-classification")
    loss = ModelLoss(loaded, task, random_rows(1, 5, 3), torch.arange(1000, 1100))
    problem = dataclasses.replace(problem, objective=Objective(loss), allowed=loss.allowed)
    others, words = torch.tensor([[1] * 3, [2] * 3]), torch.tensor([[7] * 3])
    score = discriminativity(problem, 0, words, others)
    assert score is not None and 0 < score < 3
    with torch.no_grad():
        loaded.model.classifier.weight[:] = loaded.model.classifier.weight[:1]
    assert discriminativity(problem, 0, words, others) == 0, "a head that hears nothing"
    assert discriminativity(planted_problem(), 0, words, others) is None, "it has no linear head"
