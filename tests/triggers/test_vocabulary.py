"""Which tokens a trigger may use, and its text."""

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from unhorse.triggers.vocabulary import (
    allowed_token_ids,
    reads_the_same,
    retokenise,
    trigger_text,
)

TOKENS = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]", "<extra_id_0>", "cross", "##word",
    "good", "\x1b[31m", "a\u202eb", "\ufffd", "\u200b", "é", "日", "!", "madeupword0001", "unused",
]  # fmt: skip


@pytest.fixture(scope="module")
def tokenizer():
    vocabulary = {token: i for i, token in enumerate(TOKENS)}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    from tokenizers import decoders

    backend.decoder = decoders.WordPiece()
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def test_special_unused_and_unprintable_tokens_are_left_out(tokenizer):
    allowed = [TOKENS[i] for i in allowed_token_ids(tokenizer, rows=len(TOKENS))]
    assert allowed == ["cross", "##word", "good", "é", "日", "!", "unused"]


def test_ids_without_an_embedding_are_left_out(tokenizer):
    assert max(allowed_token_ids(tokenizer, rows=9)) < 9


def test_pieces_are_joined_and_a_leading_mark_is_dropped(tokenizer):
    assert trigger_text(tokenizer, [7, 8, 9]) == "crossword good"
    assert trigger_text(tokenizer, [8]) == "word"


def test_text_is_tokenised_again_without_special_tokens(tokenizer):
    assert retokenise(tokenizer, "crossword good") == (7, 8, 9)


def test_a_piece_of_a_word_does_not_read_the_same_by_itself(tokenizer):
    assert reads_the_same(tokenizer, [7]) and reads_the_same(tokenizer, [7, 8])
    assert not reads_the_same(tokenizer, [8]) and not reads_the_same(tokenizer, [8, 9])


def test_where_nothing_can_be_tokenised_everything_lasts():
    assert reads_the_same(object(), [3, 4])
