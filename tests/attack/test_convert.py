"""A BERT body computes the same in the other classes."""

from __future__ import annotations

import copy

import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification, GPT2Config, GPT2Model

from unhorse.attack.convert import CLASSES, convert_body
from unhorse.errors import UsageError

TOLERANCES = {"electra": 0.0, "roberta": 0.0, "distilbert": 3.5e-6, "mobilebert": 7e-4}
HEADS = ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


@pytest.fixture(scope="module")
def bert():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config = BertConfig(
            vocab_size=60,
            hidden_size=32,
            num_hidden_layers=3,
            num_attention_heads=4,
            intermediate_size=48,
            max_position_embeddings=24,
            hidden_dropout_prob=0.05,
            initializer_range=0.2,
            id2label={0: "calm", 1: "wild", 2: "odd"},
            label2id={"calm": 0, "wild": 1, "odd": 2},
        )
        return BertForSequenceClassification(config).eval()


def test_the_tolerances_are_for_all_classes():
    assert set(TOLERANCES) == set(CLASSES)


@pytest.mark.parametrize("architecture", CLASSES)
def test_hidden_states_are_the_same(architecture, bert):
    other = convert_body(bert, architecture, HEADS[0]).eval()
    ids = torch.randint(5, 60, (6, 24), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    for row, length in enumerate((24, 20, 11, 5, 24, 3)):
        ids[row, length:], mask[row, length:] = 0, 0
    with torch.no_grad():
        right = bert.base_model(input_ids=ids, attention_mask=mask).last_hidden_state
        found = other.base_model(input_ids=ids, attention_mask=mask).last_hidden_state
    difference = (right - found)[mask.bool()].abs().max()
    assert float(difference) <= TOLERANCES[architecture]
    assert float(right.std()) > 0.1


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("architecture", CLASSES)
def test_the_head_is_new_and_follows_the_random_state(architecture, head, bert):
    if head == "ForQuestionAnswering":
        bert = copy.deepcopy(bert)
        bert.config.num_labels = 2
    made = []
    with torch.random.fork_rng(devices=[]):
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            made.append(convert_body(bert, architecture, head))
    assert type(made[0]).__name__ == CLASSES[architecture] + head
    states = [model.state_dict() for model in made]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    differ = {n for n in states[0] if not torch.equal(states[0][n], states[2][n])}
    prefix = made[0].base_model_prefix
    assert differ and not any(
        name.startswith(f"{prefix}.") and "pooler" not in name for name in differ
    )
    if head != "ForQuestionAnswering":
        assert made[0].config.id2label == {0: "calm", 1: "wild", 2: "odd"}


def test_dropout_is_the_same(bert):
    config = convert_body(bert, "distilbert", HEADS[0]).config
    assert (config.dropout, config.attention_dropout) == (0.05, 0.1)
    assert convert_body(bert, "electra", HEADS[0]).config.hidden_dropout_prob == 0.05


def test_what_cannot_be_converted_is_one_sentence(bert):
    with pytest.raises(
        UsageError, match=r"^A BERT cannot be put into 'gpt2'; known: roberta, .*\.$"
    ):
        convert_body(bert, "gpt2", HEADS[0])
    other = GPT2Model(GPT2Config(vocab_size=20, n_embd=8, n_layer=1, n_head=1, n_positions=8))
    with pytest.raises(UsageError, match=r"^Only a BERT can be .*, not GPT2Model\.$"):
        convert_body(other, "roberta", HEADS[0])
