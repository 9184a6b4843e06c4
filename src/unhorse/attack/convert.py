"""A plain BERT -> the same body in another architecture class, with a new head.

RoBERTa, ELECTRA, DistilBERT and MobileBERT contain BERT's computation under the right
settings. A converted model is one set of weights in another class, not an independently
trained checkpoint. Segment ids other than 0 are lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers
from torch import Tensor

from unhorse.errors import UsageError

Weights = dict[str, Tensor]

CLASSES = {
    "roberta": "Roberta",
    "electra": "Electra",
    "distilbert": "DistilBert",
    "mobilebert": "MobileBert",
}

_DISTILBERT_NAMES = (
    ("encoder.layer.", "transformer.layer."),
    ("attention.self.query", "attention.q_lin"),
    ("attention.self.key", "attention.k_lin"),
    ("attention.self.value", "attention.v_lin"),
    ("attention.output.dense", "attention.out_lin"),
    ("attention.output.LayerNorm", "sa_layer_norm"),
    ("intermediate.dense", "ffn.lin1"),
    ("output.dense", "ffn.lin2"),
    ("output.LayerNorm", "output_layer_norm"),
)
_SAME_SETTINGS = (
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "hidden_act",
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "layer_norm_eps",
)


def convert_body(model: Any, architecture: str, head: str) -> Any:
    """A BERT model in another class; the head is new and follows torch's random state.

    Args:
        model: a BERT with any head.
        architecture: roberta, electra, distilbert or mobilebert.
        head: how the class shall end, such as ``ForSequenceClassification``.
    """
    if architecture not in CLASSES:
        known = ", ".join(CLASSES)
        raise UsageError(f"A BERT cannot be put into {architecture!r}; known: {known}.")
    if model.config.model_type != "bert":
        raise UsageError(f"Only a BERT can be put into another class, not {type(model).__name__}.")
    other = getattr(transformers, CLASSES[architecture] + head)(_config(architecture, model.config))
    body = {
        name: value
        for name, value in model.base_model.state_dict().items()
        if not name.startswith("pooler.")
    }
    found = other.base_model.load_state_dict(_WEIGHTS[architecture](body), strict=False)
    missing = [name for name in found.missing_keys if not name.startswith("pooler.")]
    assert not missing and not found.unexpected_keys, (missing, found.unexpected_keys)
    return other


def _config(architecture: str, source: Any) -> Any:
    """The settings under which the class computes the same as the source."""
    shared = {
        "vocab_size": source.vocab_size,
        "pad_token_id": source.pad_token_id,
        "id2label": source.id2label,
        "label2id": source.label2id,
        "max_position_embeddings": source.max_position_embeddings,
    }
    if architecture == "distilbert":
        return transformers.DistilBertConfig(
            dim=source.hidden_size,
            n_layers=source.num_hidden_layers,
            n_heads=source.num_attention_heads,
            hidden_dim=source.intermediate_size,
            activation=source.hidden_act,
            dropout=source.hidden_dropout_prob,
            attention_dropout=source.attention_probs_dropout_prob,
            **shared,
        )
    shared |= {name: getattr(source, name) for name in _SAME_SETTINGS}
    if architecture == "roberta":
        shared["max_position_embeddings"] += 1
        return transformers.RobertaConfig(
            type_vocab_size=1, bos_token_id=None, eos_token_id=None, **shared
        )
    if architecture == "electra":
        return transformers.ElectraConfig(embedding_size=source.hidden_size, **shared)
    return transformers.MobileBertConfig(
        embedding_size=source.hidden_size,
        use_bottleneck=False,
        trigram_input=False,
        num_feedforward_networks=1,
        normalization_type="layer_norm",
        **shared,
    )


def _roberta(weights: Weights) -> Weights:
    """Segment 0 only; RoBERTa's positions begin behind the padding id, which is 0 here."""
    positions = weights["embeddings.position_embeddings.weight"]
    segments = weights["embeddings.token_type_embeddings.weight"]
    return weights | {
        "embeddings.token_type_embeddings.weight": segments[:1],
        "embeddings.position_embeddings.weight": torch.cat([positions[:1] * 0, positions]),
    }


def _distilbert(weights: Weights) -> Weights:
    """Other names, and segment 0 added to every position."""
    weights = dict(weights)
    segments = weights.pop("embeddings.token_type_embeddings.weight")
    weights["embeddings.position_embeddings.weight"] = (
        weights["embeddings.position_embeddings.weight"] + segments[0]
    )
    renamed = {}
    for name, value in weights.items():
        for old, new in _DISTILBERT_NAMES:
            name = name.replace(old, new)
        renamed[name] = value
    return renamed


def _mobilebert(weights: Weights) -> Weights:
    """The words pass through the extra embedding layer unchanged."""
    size = weights["embeddings.word_embeddings.weight"].shape[1]
    return weights | {
        "embeddings.embedding_transformation.weight": torch.eye(size),
        "embeddings.embedding_transformation.bias": torch.zeros(size),
    }


_WEIGHTS: dict[str, Callable[[Weights], Weights]] = {
    "roberta": _roberta,
    "electra": dict,
    "distilbert": _distilbert,
    "mobilebert": _mobilebert,
}
