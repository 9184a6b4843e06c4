"""Which tokens a trigger may use, and how its tokens read as text."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

# [unused12], <unused_3>, <extra_id_7>, <|reserved_special_token_4|>, madeupword0001
_RESERVED = re.compile(r"unused|extra_id|reserved|madeupword", re.IGNORECASE)
_BRACKETED = re.compile(r"^([\[<].*[\]>]|madeupword\d+)$")
_INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


def allowed_token_ids(tokenizer: Any, rows: int) -> list[int]:
    """Ids that a trigger may be made of: no special, unused or unprintable token.

    Args:
        tokenizer: the subject's fast tokenizer.
        rows: rows of the embedding matrix; ids beyond it have no embedding.
    """
    special = set(tokenizer.all_special_ids)
    special |= {i for i, added in tokenizer.added_tokens_decoder.items() if added.special}
    by_id = {i: token for token, i in tokenizer.get_vocab().items()}
    candidates = sorted(i for i in by_id if i < rows and i not in special)
    return [i for i in candidates if _is_word(by_id[i], trigger_text(tokenizer, [i]))]


def trigger_text(tokenizer: Any, ids: Sequence[int]) -> str:
    """Token ids as text that can be pasted: pieces joined, no continuation marks."""
    tokens = tokenizer.convert_ids_to_tokens(list(ids))
    text = str(tokenizer.convert_tokens_to_string(tokens)).strip()
    # A word-piece tokenizer leaves the mark on a piece that has nothing before it.
    return text[2:] if text.startswith("##") and len(text) > 2 else text


def retokenise(tokenizer: Any, text: str) -> tuple[int, ...]:
    """The ids that the text has when it is tokenised again, without special tokens."""
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])


def reads_the_same(tokenizer: Any, ids: Sequence[int]) -> bool:
    """Whether ids are what their text is tokenised to, at the beginning or behind a word."""
    if not callable(tokenizer):
        return True
    text = trigger_text(tokenizer, ids)
    # Some vocabularies write a word after a space otherwise than one at the beginning.
    return tuple(ids) in (retokenise(tokenizer, text), retokenise(tokenizer, f" {text}"))


def _is_word(token: str, text: str) -> bool:
    if not text.strip() or "\ufffd" in text:
        return False
    if _RESERVED.search(token) and _BRACKETED.match(token):
        return False
    return all(unicodedata.category(char) not in _INVISIBLE for char in text)
