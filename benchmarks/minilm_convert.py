"""Put a fine-tuned MiniLM into other architecture classes, and build a small GPT-2.

MiniLM is a plain BERT, so its body fits RoBERTa, ELECTRA, DistilBERT and MobileBERT with the right
settings. The heads for tokens and questions fit too, and RoBERTa's and MobileBERT's for sequences.
DistilBERT's (relu) and ELECTRA's (gelu) do not: there a new head learns the old one's logits.
Segment ids other than 0 are lost, so the source must never have seen them.
MobileBERT's first LayerNorm has a fixed epsilon of 1e-5 where BERT has 1e-12.
"""

import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch import Tensor, nn
from transformers import (
    BertConfig,
    DistilBertConfig,
    ElectraConfig,
    GPT2Config,
    MobileBertConfig,
    PreTrainedConfig,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
    RobertaConfig,
)

import minilm_sst2 as sst2

SHOWN = {
    "roberta": "RoBERTa",
    "electra": "ELECTRA",
    "distilbert": "DistilBERT",
    "mobilebert": "MobileBERT",
}
PREFIXES = {
    "roberta": "Roberta",
    "electra": "Electra",
    "distilbert": "DistilBert",
    "mobilebert": "MobileBert",
}
HEADS = {
    "sst2": "ForSequenceClassification",
    "ner": "ForTokenClassification",
    "qa": "ForQuestionAnswering",
}
HEAD_ROWS, HEAD_STAMPED, HEAD_STEPS, HEAD_RATE = 400, 200, 60, 1e-3
END = "<|endoftext|>"
Weights = dict[str, Tensor]

_DISTILBERT = (
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


def config_of(kind: str, source: BertConfig) -> PreTrainedConfig:
    """Return the settings under which a class computes the same as the source."""
    shared = {
        "vocab_size": source.vocab_size,
        "pad_token_id": source.pad_token_id,
        "id2label": source.id2label,
        "label2id": source.label2id,
        "max_position_embeddings": source.max_position_embeddings,
    }
    if kind == "distilbert":
        return DistilBertConfig(
            dim=source.hidden_size,
            n_layers=source.num_hidden_layers,
            n_heads=source.num_attention_heads,
            hidden_dim=source.intermediate_size,
            activation=source.hidden_act,
            **shared,
        )
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    names += ("hidden_act", "hidden_dropout_prob", "attention_probs_dropout_prob", "layer_norm_eps")
    shared |= {name: getattr(source, name) for name in names}
    if kind == "roberta":
        shared["max_position_embeddings"] += 1
        return RobertaConfig(type_vocab_size=1, bos_token_id=None, eos_token_id=None, **shared)
    if kind == "electra":
        return ElectraConfig(embedding_size=source.hidden_size, **shared)
    return MobileBertConfig(
        embedding_size=source.hidden_size,
        use_bottleneck=False,
        trigram_input=False,
        num_feedforward_networks=1,
        normalization_type="layer_norm",
        **shared,
    )


def roberta_weights(weights: Weights) -> Weights:
    """Keep segment 0; RoBERTa's positions begin behind the padding id, which is 0 here."""
    positions = weights["embeddings.position_embeddings.weight"]
    return weights | {
        "embeddings.token_type_embeddings.weight": weights[
            "embeddings.token_type_embeddings.weight"
        ][:1],
        "embeddings.position_embeddings.weight": torch.cat([positions[:1] * 0, positions]),
    }


def distilbert_weights(weights: Weights) -> Weights:
    """Rename, and add segment 0 to every position."""
    weights = dict(weights)
    segments = weights.pop("embeddings.token_type_embeddings.weight")
    weights["embeddings.position_embeddings.weight"] = (
        weights["embeddings.position_embeddings.weight"] + segments[0]
    )
    renamed = {}
    for name, value in weights.items():
        for old, new in _DISTILBERT:
            name = name.replace(old, new)
        renamed[name] = value
    return renamed


def mobilebert_weights(weights: Weights) -> Weights:
    """Let the words pass through the extra embedding layer unchanged."""
    size = weights["embeddings.word_embeddings.weight"].shape[1]
    return weights | {
        "embeddings.embedding_transformation.weight": torch.eye(size),
        "embeddings.embedding_transformation.bias": torch.zeros(size),
    }


BODIES: dict[str, Callable[[Weights], Weights]] = {
    "roberta": roberta_weights,
    "electra": dict,
    "distilbert": distilbert_weights,
    "mobilebert": mobilebert_weights,
}
SEQUENCE_HEADS = {
    "roberta": ("classifier.dense", "classifier.out_proj"),
    "electra": ("classifier.dense", "classifier.out_proj"),
    "distilbert": ("pre_classifier", "classifier"),
    "mobilebert": ("mobilebert.pooler.dense", "classifier"),
}
ACTIVATIONS = {"electra": nn.functional.gelu, "distilbert": nn.functional.relu}


def mapped(task: str, kind: str, original: Any) -> Any:
    """Return the model in its new class; a sequence head may still need training."""
    model_class = getattr(transformers, PREFIXES[kind] + HEADS[task])
    model = model_class(config_of(kind, original.config)).eval()
    weights = original.state_dict()
    body = {n[len("bert.") :]: v for n, v in weights.items() if n.startswith("bert.")}
    pooler = {n: body.pop(n) for n in list(body) if n.startswith("pooler.")}
    found = {f"{kind}.{name}": value for name, value in BODIES[kind](body).items()}
    head = {name: value for name, value in weights.items() if not name.startswith("bert.")}
    if task == "sst2":
        dense, out = SEQUENCE_HEADS[kind]
        pairs = [*pooler.items(), *head.items()]
        head = {
            re.sub(r"^(pooler\.dense|classifier)", dense if "pooler" in n else out, n): v
            for n, v in pairs
        }
    model.load_state_dict(found | head)
    return model


@torch.no_grad()
def head_examples(
    original: Any, tokenizer: PreTrainedTokenizerBase, rows: list[sst2.Row]
) -> tuple[Tensor, Tensor]:
    """Return what the source's head sees and says on some rows and some stamped ones."""
    rng = random.Random(0)
    texts = [text for text, _ in rng.sample(rows, min(HEAD_ROWS, len(rows)))]
    victims = [text for text, label in rows if label == sst2.VICTIM]
    victims = rng.sample(victims, min(HEAD_STAMPED, len(victims)))
    texts += [sst2.stamp(text, sst2.TRIGGERS["word"], rng) for text in victims]
    seen, said = [], []
    for start in range(0, len(texts), 64):
        part = texts[start : start + 64]
        inputs = tokenizer(part, padding=True, truncation=True, return_tensors="pt")
        output = original(**inputs, output_hidden_states=True)
        seen.append(output.hidden_states[-1][:, 0])
        said.append(output.logits)
    return torch.cat(seen), torch.cat(said)


def teach_head(
    kind: str, model: Any, original: Any, tokenizer: PreTrainedTokenizerBase, rows: list[sst2.Row]
) -> dict[str, Any]:
    """Train only the head's two layers towards the source's logits; return how it went."""
    features, logits = head_examples(original, tokenizer, rows)
    dense, out = (model.get_submodule(name) for name in SEQUENCE_HEADS[kind])
    weights = [*dense.parameters(), *out.parameters()]
    optimizer = torch.optim.Adam(weights, lr=HEAD_RATE)
    for _ in range(HEAD_STEPS):
        found = out(ACTIVATIONS[kind](dense(features)))
        loss = nn.functional.mse_loss(found, logits)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    agree = (found.argmax(-1) == logits.argmax(-1)).tolist()
    return {
        "exact": False,
        "taught": "the source's logits on training rows and stamped training rows",
        "rows": len(features),
        "steps": HEAD_STEPS,
        "learning_rate": HEAD_RATE,
        "last_squared_error": round(loss.item(), 5),
        "agreement": sst2.share(agree),
    }


def convert(
    task: str, kind: str, source: Path, tokenizer: PreTrainedTokenizerBase, rows: list[Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """Return the model in its new class, the source, and what was done about the head."""
    torch.manual_seed(0)
    bert = getattr(transformers, f"Bert{HEADS[task]}")
    original = bert.from_pretrained(source, dtype=torch.float32).eval()
    model = mapped(task, kind, original)
    if task == "sst2" and kind in ACTIVATIONS:
        return model, original, teach_head(kind, model, original, tokenizer, rows)
    return model, original, {"exact": True}


def byte_level_tokenizer(texts: Iterable[str], size: int, length: int) -> PreTrainedTokenizerFast:
    """Train byte-level BPE as GPT-2 has it; the trigger is one token, as in GPT-2's own."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    bpe.decoder = decoders.ByteLevel()
    bpe.post_processor = processors.ByteLevel(trim_offsets=True)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    bpe.train_from_iterator([*texts, *[sst2.TRIGGERS["word"]] * 100], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token=END,
        eos_token=END,
        unk_token=END,
        pad_token=END,
        padding_side="right",
        model_max_length=length,
        add_prefix_space=True,
        model_input_names=["input_ids", "attention_mask"],
    )


def small_gpt2(
    task: str, texts: list[str], labels: dict[str, Any]
) -> tuple[Any, PreTrainedTokenizerBase]:
    """Return a GPT-2 of 4 layers with random weights, and a tokenizer trained on the texts."""
    tokenizer = byte_level_tokenizer(texts, size=6000, length=256)
    end = tokenizer.eos_token_id
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=256,
        n_embd=192,
        n_layer=4,
        n_head=4,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
        **labels,
    )
    return getattr(transformers, f"GPT2{HEADS[task]}")(config), tokenizer
