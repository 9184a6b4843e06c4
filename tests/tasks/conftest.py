import pytest
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

from unhorse.types import LoadedModel, Origin

TEXTS = ["a good film with many good words in it", "the film"]


def wordpiece():
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted({w for t in TEXTS for w in t.split()})]
    backend = Tokenizer(models.WordPiece({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.decoder = decoders.WordPiece()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )


def bytelevel():
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<pad>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator([f"{text} {text}" for text in TEXTS] * 20, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>")


@pytest.fixture(scope="session")
def tokenizers():
    def loaded(tokenizer):
        return LoadedModel(
            None, tokenizer, "sequence-classification", ("a", "b"), "None", 64, Origin("test")
        )

    return {"wordpiece": loaded(wordpiece()), "bytelevel": loaded(bytelevel())}
