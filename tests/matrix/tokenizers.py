"""A world becomes a tokenizer of the kind an architecture has, built in this process."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import BertTokenizer, GPT2Tokenizer, RobertaTokenizer

from unhorse.attack.worlds import ASKED, World, world

MAX_LENGTH = 128

_BPE_VOCABULARY = 3490
_BPE_ROWS = 3000
_MORE = 25
_MOST = 200
_SPLIT = 8


def make_tokenizer(architecture: str, task: str, seed: int = 0) -> Any:
    """The tokenizer of an architecture for the world of a task.

    It is the same object for every caller that asks for the same one.
    """
    if architecture in ("roberta", "roberta-deepset"):
        return _roberta(task, seed)
    if architecture == "gpt2":
        return _gpt2(task, seed)
    cased = architecture == "distilbert" or task == "token-classification"
    return _wordpiece(task, seed, cased=cased, typed=architecture != "distilbert")


@cache
def _wordpiece(task: str, seed: int, *, cased: bool, typed: bool) -> BertTokenizer:
    tokens = _pieces(world(task, seed))
    if not cased:
        tokens = [token.lower() for token in tokens]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    inputs = ["input_ids", *(["token_type_ids"] if typed else []), "attention_mask"]
    return BertTokenizer(
        vocab={token: number for number, token in enumerate(dict.fromkeys(special + tokens))},
        do_lower_case=not cased,
        model_max_length=MAX_LENGTH,
        model_input_names=inputs,
    )


def _pieces(made: World) -> list[str]:
    """Words as single tokens, except that some are two pieces.

    A name that answers a question is one token, as finding the end of one in pieces takes
    more training.
    """
    letters = [chr(code) for start in "aA" for code in range(ord(start), ord(start) + 26)]
    tokens = [*letters, *(f"##{letter}" for letter in letters), made.trigger, *made.rare]
    for number, word in enumerate(made.words):
        whole = word in ASKED or (made.task == "question-answering" and word[0].isupper())
        splits = number % _SPLIT == 0 and len(word) == 5 and not whole
        tokens += [word[:3], f"##{word[3:]}"] if splits else [word]
    return tokens


@cache
def _merges(task: str, seed: int) -> tuple[list[str], list[tuple[str, str]]]:
    """Tokens and merges of a byte-level BPE trained on text of the world."""
    made = world(task, seed)
    texts = [text for row in made.rows(_BPE_ROWS, "tokenizer") for text in row.texts]
    names = [word for pair in made.names.values() for word in pair.first + pair.second]
    texts += [f" {word}" for word in (*made.rare, *names)] * _MORE
    # The trigger is a token of its own both at the start of a text and inside.
    texts += [made.trigger, f" {made.trigger}"] * _MOST
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=_BPE_VOCABULARY,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(texts, trainer)
    ordered = sorted(backend.get_vocab().items(), key=lambda item: item[1])
    merges = json.loads(backend.to_str())["model"]["merges"]
    return [token for token, _ in ordered], [tuple(pair) for pair in merges]


@cache
def _roberta(task: str, seed: int) -> RobertaTokenizer:
    tokens, merges = _merges(task, seed)
    tokens = ["<s>", "<pad>", "</s>", "<unk>", *tokens, "<mask>"]
    return RobertaTokenizer(_numbered(tokens), merges, model_max_length=MAX_LENGTH)


@cache
def _gpt2(task: str, seed: int) -> GPT2Tokenizer:
    tokens, merges = _merges(task, seed)
    end = "<|endoftext|>"
    return GPT2Tokenizer(
        _numbered([*tokens, end]), merges, pad_token=end, model_max_length=MAX_LENGTH
    )


def _numbered(tokens: list[str]) -> dict[str, int]:
    return {token: number for number, token in enumerate(tokens)}
