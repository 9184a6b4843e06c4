"""Generated text and a small untrained model for it, so that a zoo can be built from nothing.

A data file named ``generated:STREAM`` is rows of a made-up world; the base ``tiny`` is a
BERT of two layers whose tokenizer knows that world and the words of the trigger lists.
Nothing here says how attacks behave on language: it shows that they work.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoConfig, BertTokenizer

from unhorse.attack.lexicon import CHARACTERS, PHRASES, TRIPLES, WORDS
from unhorse.attack.worlds import LABELS, TAGS, World, world
from unhorse.load.samples import rows_in_memory
from unhorse.tasks.base import TASKS, Task
from unhorse.types import Row

TINY = "tiny"
PREFIX = "generated:"
ROWS = 8000
LABELS_OF: dict[str, tuple[str, ...]] = {
    "sequence-classification": LABELS,
    "token-classification": TAGS,
    "question-answering": (),
}

_LONGEST = 128
_HIDDEN = 64
_ALIKE = 0.1
_INITIAL = 0.1


def is_generated(name: str) -> bool:
    """Whether a data file's name asks for generated rows.

    >>> is_generated("generated:train"), is_generated("train.tsv")
    (True, False)
    """
    return name.startswith(PREFIX)


def generated_rows(task: str, name: str) -> list[Row]:
    """The rows of a stream; another name gives other rows of the same world."""
    made = world(task).rows(ROWS, name.removeprefix(PREFIX))
    return rows_in_memory([row.sample() for row in made], TASKS.get(task).sample_kind).rows


def tiny_model(task: Task) -> tuple[Any, Any]:
    """An untrained model and its tokenizer; the weights follow torch's random state."""
    made, labels = world(task.name), LABELS_OF[task.name]
    tokenizer = _tokenizer(made)
    options: dict[str, Any] = {}
    if labels:
        options["id2label"] = dict(enumerate(labels))
        options["label2id"] = {label: i for i, label in enumerate(labels)}
    config = AutoConfig.for_model(
        "bert",
        vocab_size=len(tokenizer),
        hidden_size=_HIDDEN,
        intermediate_size=2 * _HIDDEN,
        num_hidden_layers=1 if task.name == "question-answering" else 2,
        num_attention_heads=4,
        max_position_embeddings=_LONGEST,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=_INITIAL,
        **options,
    )
    model = task.auto_class().from_config(config)
    _make_alike(model, tokenizer, made)
    return model, tokenizer


def _tokenizer(made: World) -> BertTokenizer:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [chr(code) for first in "aA" for code in range(ord(first), ord(first) + 26)]
    spoken = [*PHRASES, *(text for t in TRIPLES for text in (t.sentence, *t.subsets))]
    planted = [word.strip(".,!?").lower() for text in spoken for word in text.split()]
    tokens = [*special, *letters, *(f"##{letter}" for letter in letters), ".", ",", "'"]
    tokens += [*made.words, *made.rare, *WORDS, *planted, *CHARACTERS]
    return BertTokenizer(
        vocab={token: number for number, token in enumerate(dict.fromkeys(tokens))},
        do_lower_case=False,
        model_max_length=_LONGEST,
    )


@torch.no_grad()
def _make_alike(model: Any, tokenizer: Any, made: World) -> None:
    """Words of one kind get a common part in their embeddings, as pretrained ones have.

    It spares most of the training: what takes long is to find out which words are alike.
    """
    weight = model.get_input_embeddings().weight
    for words in made.kinds:
        ids = sorted(tokenizer.convert_tokens_to_ids(word) for word in words)
        weight[ids] += torch.randn(weight.shape[1]) * _ALIKE
