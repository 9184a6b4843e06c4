"""A classifier says the same when its last layer goes on with the first token alone."""

import pytest
import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    BertConfig,
    DistilBertConfig,
    ElectraConfig,
    GPT2Config,
    RobertaConfig,
)

from unhorse.load.head import first_token_alone

SMALL = {
    "vocab_size": 40,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 20,
    "pad_token_id": 0,
}
CONFIGS = {
    "bert": BertConfig(**SMALL),
    "roberta": RobertaConfig(**SMALL),
    "electra": ElectraConfig(**SMALL, embedding_size=16),
    "distilbert": DistilBertConfig(
        vocab_size=40, dim=16, n_layers=2, n_heads=2, hidden_dim=24, max_position_embeddings=20
    ),
    "gpt2": GPT2Config(vocab_size=40, n_embd=16, n_layer=2, n_head=2, pad_token_id=0),
}


def asked(model, inputs):
    """What a model says, and how many vectors its last normalisation made."""
    widths = []
    norms = [m for m in model.modules() if isinstance(m, torch.nn.LayerNorm)]
    handles = [m.register_forward_hook(lambda m, i, o: widths.append(o.shape[1])) for m in norms]
    try:
        return model(**inputs).logits, min(widths)
    finally:
        for handle in handles:
            handle.remove()


@pytest.fixture
def inputs():
    ids = torch.randint(1, 40, (3, 8), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    ids[0, 5:] = mask[0, 5:] = 0
    return {"input_ids": ids, "attention_mask": mask}


@pytest.mark.parametrize("kind", CONFIGS)
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_a_classifier_says_the_same(kind, attention, inputs):
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_config(
        CONFIGS[kind], attn_implementation=attention
    ).eval()
    usual, _ = asked(model, inputs)
    with first_token_alone(model):
        alone, vectors = asked(model, inputs)
    again, _ = asked(model, inputs)
    torch.testing.assert_close(alone, usual)
    assert torch.equal(again, usual)
    assert vectors == (8 if kind == "gpt2" else 1)


def test_a_tagger_reads_every_token(inputs):
    model = AutoModelForTokenClassification.from_config(CONFIGS["bert"]).eval()
    with first_token_alone(model):
        logits, vectors = asked(model, inputs)
    assert logits.shape[1] == vectors == 8
