"""Staged tokenizer files -> a fast tokenizer that fits the model.

The tokenizer must be a fast one, because offsets into the text are needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoTokenizer, PreTrainedTokenizerFast
from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

from unhorse.errors import ModelRefused
from unhorse.load.guard import one_line, refusing, silent

_POSITION_TABLES = ("position_embeddings", "embed_positions", "wpe", "positions_embed")
_PROBE = "the quick brown fox"
_LONGEST = 1 << 20
_LENGTH_WITHOUT_LIMIT = 512


def check_tokenizer_class(settings: dict[str, Any], config: Any) -> None:
    """Refuses a tokenizer class before it is created.

    The library falls back to other classes for a name it does not know, and a
    name may be that of anything else in the library; slow tokenizers start
    external programs with arguments from their config.
    """
    for name in (settings.get("tokenizer_class"), getattr(config, "tokenizer_class", None)):
        if name is None:
            continue
        known = isinstance(name, str) and name.isidentifier()
        found = tokenizer_class_from_name(name) if known else None
        if not (isinstance(found, type) and issubclass(found, PreTrainedTokenizerFast)):
            raise ModelRefused(
                f"The tokenizer class {one_line(repr(name))} is not a fast tokenizer of "
                "transformers."
            )


def load_tokenizer(folder: Path, settings: dict[str, Any], config: Any) -> Any:
    """The tokenizer in a staging folder."""
    with refusing("The tokenizer cannot be loaded"), silent():
        check_tokenizer_class(settings, config)
        return AutoTokenizer.from_pretrained(
            folder, config=config, trust_remote_code=False, local_files_only=True
        )


def fit_tokenizer(model: Any, tokenizer: Any) -> int:
    """Checks the tokenizer against the model, gives both a pad token, returns the longest input.

    Both are changed in memory: padding to the right, and one pad token for both.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise ModelRefused("The tokenizer is not a fast one, which is needed for text offsets.")
    with refusing("The tokenizer does not fit the model"), silent():
        backend = tokenizer.backend_tokenizer
        # A padding to any fixed length can be saved in tokenizer.json.
        backend.no_padding()
        backend.no_truncation()
        if getattr(backend.model, "dropout", None):
            raise ModelRefused("The tokenizer splits words at random (BPE dropout).")
        tokenizer.padding_side = "right"
        rows = model.get_input_embeddings().weight.shape[0]
        _set_pad_token(model, tokenizer, rows)
        _check_ids(tokenizer, rows)
        max_length = _max_length(model, tokenizer)
        # Lengths are ours to keep from here on; the library would warn of texts yet to be cut.
        tokenizer.model_max_length = _LONGEST
        _probe(model, tokenizer, max_length)
        return max_length


def _set_pad_token(model: Any, tokenizer: Any, rows: int) -> None:
    if tokenizer.pad_token is None:
        by_config = model.config.get_text_config().pad_token_id
        if isinstance(by_config, int) and 0 <= by_config < min(rows, len(tokenizer)):
            tokenizer.pad_token = tokenizer.convert_ids_to_tokens(by_config)
        else:
            tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if tokenizer.pad_token is None:
        raise ModelRefused("The tokenizer has no token that can serve for padding.")
    # Heads that read the last token find it by the config's pad token, so it has
    # to be the one that batches are padded with.
    model.config.pad_token_id = tokenizer.pad_token_id
    model.config.get_text_config().pad_token_id = tokenizer.pad_token_id


def _check_ids(tokenizer: Any, rows: int) -> None:
    """No token id may lie outside the embedding, also those that only a template adds."""
    used = tokenizer(_PROBE, _PROBE)["input_ids"] + tokenizer(_PROBE)["input_ids"]
    largest = max(*tokenizer.get_vocab().values(), *used, tokenizer.pad_token_id)
    if largest >= rows:
        raise ModelRefused(
            f"The tokenizer has the token id {largest}, but the model embeds only {rows} tokens."
        )


def _probe(model: Any, tokenizer: Any, max_length: int) -> None:
    """Asks the model once: better a refusal now than an error in the middle of a scan."""
    tokens = tokenizer(_PROBE, truncation=True, max_length=max_length)["input_ids"]
    ids = torch.tensor([tokens], device=model.device)
    with refusing("The model cannot answer a plain text"), torch.no_grad():
        outputs = model(input_ids=ids, attention_mask=torch.ones_like(ids))
        # A question answerer has two sets of scores, other heads one.
        names = [name for name in ("logits", "start_logits", "end_logits") if name in outputs]
        finite = [bool(torch.isfinite(outputs[name]).all()) for name in names]
    if not finite or not all(finite):
        raise ModelRefused("The model answers a plain text with numbers that are not finite.")


def _max_length(model: Any, tokenizer: Any) -> int:
    """The most tokens that tokenizer and position table both allow."""
    config = model.config.get_text_config()
    limits = [tokenizer.model_max_length, getattr(config, "max_position_embeddings", None)]
    limits += [_table_capacity(module) for module in _position_tables(model)]
    usable = [int(x) for x in limits if isinstance(x, int | float) and 0 < x <= _LONGEST]
    return min(usable, default=_LENGTH_WITHOUT_LIMIT)


def _position_tables(model: nn.Module) -> list[nn.Embedding]:
    return [
        module
        for name, module in model.named_modules()
        if isinstance(module, nn.Embedding) and name.rpartition(".")[2] in _POSITION_TABLES
    ]


def _table_capacity(table: nn.Embedding) -> int:
    """How many positions a table has for tokens.

    RoBERTa and its kin count from behind the padding index, BART and OPT leave
    a fixed number of rows at the start.
    """
    if table.padding_idx is not None:
        return table.num_embeddings - table.padding_idx - 1
    return table.num_embeddings - int(getattr(table, "offset", 0))
