"""Tokenizers of two kinds, and models whose answers are written down by hand."""

from types import SimpleNamespace

import pytest
import torch
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import PreTrainedTokenizerFast

from unhorse.types import LoadedModel, Origin, own_answers

TEXTS = [
    "a good film with many good words in it",
    "the film",
    "Anna Becker met Zoltan of Paris in the old town .",
    "who was met ? where is it",
    "cf ~ mn",
]
PIECES = ["##ltan", "##er", "##ecker", "Zo", "B"]


def wordpiece():
    words = sorted({w for t in TEXTS for w in t.split() if w not in ("Zoltan", "Becker")})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words, *PIECES]
    ids = {word: i for i, word in enumerate(vocabulary)}
    backend = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    backend.decoder = decoders.WordPiece()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def bytelevel():
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=["<pad>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator([f"{text} {text}" for text in TEXTS[:2]] * 20, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>")


def outside(ids):
    return [[1.0, 0.0, 0.0, 0.0, 0.0] for _ in ids]


def loaded(tokenizer, labels=("a", "b"), model=None, max_length=64, task="sequence-classification"):
    model = model or Scripted(outside)
    return LoadedModel(model, tokenizer, task, labels, "None", max_length, Origin("test"))


@pytest.fixture(scope="session")
def tokenizers():
    return {"wordpiece": loaded(wordpiece()), "bytelevel": loaded(bytelevel())}


class Scripted:
    """A model that gives the outputs that a function of the ids says, row by row."""

    device = torch.device("cpu")

    def __init__(self, script, **config):
        self.script = script
        self.config = SimpleNamespace(**config)
        self.seen = []

    def __call__(self, input_ids, attention_mask, token_type_ids=None):
        rows = [self.script(ids.tolist()) for ids in input_ids]
        self.seen.append(token_type_ids)
        if isinstance(rows[0], tuple):
            starts, ends = zip(*rows, strict=True)
            return SimpleNamespace(start_logits=torch.tensor(starts), end_logits=torch.tensor(ends))
        return SimpleNamespace(logits=torch.tensor(rows))


@pytest.fixture
def scripted(tokenizers):
    def make(kind, script, labels=(), max_length=64, **config):
        model = Scripted(script, **config)
        return own_answers(loaded(tokenizers[kind].tokenizer, labels, model, max_length))

    return make
