"""What a third party needs to test a plug-in of its own against unhorse's contracts.

`tiny_model` makes randomly initialised models of every supported architecture in
milliseconds.
"""

from __future__ import annotations

from typing import Any

import torch

TINY_VOCABULARY = 99
TINY_PAD_ID = 1

_SIZES: dict[str, dict[str, Any]] = {
    "bert": {"intermediate_size": 64},
    "distilbert": {"dim": 32, "hidden_dim": 64, "n_layers": 2, "n_heads": 4},
    "roberta": {"intermediate_size": 64, "max_position_embeddings": 66},
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
    "mobilebert": {
        "intermediate_size": 64,
        "embedding_size": 16,
        "intra_bottleneck_size": 16,
        "num_feedforward_networks": 2,
    },
    "electra": {"intermediate_size": 64, "embedding_size": 16},
    "albert": {"intermediate_size": 64, "embedding_size": 16},
    "deberta-v2": {
        "intermediate_size": 64,
        "relative_attention": True,
        "position_biased_input": False,
        "pos_att_type": ["c2p", "p2c"],
    },
    "modernbert": {"intermediate_size": 64, "global_attn_every_n_layers": 2, "cls_token_id": 2},
}

TINY_ARCHITECTURES = tuple(_SIZES)

_HEADS = {
    "sequence-classification": "AutoModelForSequenceClassification",
    "token-classification": "AutoModelForTokenClassification",
    "question-answering": "AutoModelForQuestionAnswering",
}

TINY_HEADS = tuple(_HEADS)


def tiny_model(architecture: str, head: str = "sequence-classification", seed: int = 0) -> Any:
    """A small random model in evaluation mode.

    Args:
        architecture: one of `TINY_ARCHITECTURES`.
        head: one of `TINY_HEADS`.
        seed: decides the weights.
    """
    import transformers

    common = {
        "vocab_size": TINY_VOCABULARY,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 64,
        "num_labels": 2 if head == "question-answering" else 3,
        "pad_token_id": TINY_PAD_ID,
        "bos_token_id": 2,
        "eos_token_id": 3,
    }
    if architecture in ("distilbert", "gpt2"):
        # These spell their sizes differently and map the common names to their own.
        for name in ("hidden_size", "num_hidden_layers", "num_attention_heads"):
            common.pop(name)
    if architecture == "gpt2":
        common.pop("max_position_embeddings")
    config = transformers.AutoConfig.for_model(architecture, **{**common, **_SIZES[architecture]})
    auto = getattr(transformers, _HEADS[head])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return auto.from_config(config, attn_implementation="eager").eval()
