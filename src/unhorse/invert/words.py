"""Words that a trigger can be made of, spelled in the subject's allowed tokens.

A word is spelled as the subject's own tokenizer spells it behind another word. Where the
tokenizer knows no words at all (a stub in tests), every allowed token is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import torch
from torch import Tensor

from unhorse.load.text_names import CITIES, FIRST_NAMES, LANGUAGES, NATIONALITIES, SURNAMES
from unhorse.load.text_topics import TOPICS
from unhorse.load.text_words import WORDS
from unhorse.tasks.slots import STAND_IN
from unhorse.triggers.vocabulary import trigger_text

_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Words:
    """Words by their text; `spelled` has the tokens of each as indices into the allowed ones."""

    texts: tuple[str, ...]
    spelled: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.texts)

    def table(self, width: int) -> Tensor:
        """Every word in `width` places, shaped (word, place); a shorter one is repeated."""
        return torch.tensor([tiled(word, width) for word in self.spelled])

    def usable(self, barred: Tensor | None) -> Tensor:
        """A mask of the words that have no barred token."""
        if barred is None:
            return torch.ones(len(self), dtype=torch.bool)
        out = set(barred.nonzero().flatten().tolist())
        return torch.tensor([not out.intersection(word) for word in self.spelled])

    def lengths(self) -> Tensor:
        """How many tokens each has."""
        return torch.tensor([len(word) for word in self.spelled])


def tiled(tokens: Sequence[int], places: int) -> list[int]:
    """Tokens in so many places, over and over.

    >>> tiled([7, 8], 5)
    [7, 8, 7, 8, 7]
    """
    return list(islice(cycle(tokens), places))


def find_words(tokenizer: Any, allowed: Tensor, pieces: int = 1, most: int | None = None) -> Words:
    """Whole words of at most `pieces` allowed tokens.

    First those that are one token, in the tokenizer's order, then longer ones of unhorse's
    own word lists.

    Args:
        tokenizer: the subject's.
        allowed: ids that a trigger may use.
        pieces: tokens of a word, at most.
        most: words, at most.
    """
    if not hasattr(tokenizer, "convert_ids_to_tokens"):
        numbers = range(len(allowed))[:most]
        return Words(tuple(f"#{int(allowed[n])}" for n in numbers), tuple((n,) for n in numbers))
    place_of = {token: place for place, token in enumerate(allowed.tolist())}
    texts = [trigger_text(tokenizer, [token]) for token in place_of]
    made: dict[str, tuple[int, ...]] = {}
    for text, token, ids in zip(texts, place_of, _spell(tokenizer, texts), strict=True):
        if ids == (token,):
            made.setdefault(text, (place_of[token],))
    if pieces > 1:
        listed = [word for word in listed_words() if word not in made]
        for text, ids in zip(listed, _spell(tokenizer, listed), strict=True):
            if 1 < len(ids) <= pieces and all(token in place_of for token in ids):
                made[text] = tuple(place_of[token] for token in ids)
    if not made:
        return find_words(None, allowed, pieces, most)
    return Words(tuple(made)[:most], tuple(made.values())[:most])


def listed_words() -> list[str]:
    """The words of unhorse's own sample texts, in alphabetical order."""
    entries: list[str] = [entry for group in WORDS.values() for entry in group]
    entries += [entry for topic in TOPICS for group in topic.values() for entry in group]
    entries += [*FIRST_NAMES, *SURNAMES, *LANGUAGES]
    entries += [
        name for pairs in (CITIES, NATIONALITIES) for pair in pairs.items() for name in pair
    ]
    return sorted({word for entry in entries for word in _WORD.findall(_unslotted(entry))})


def _unslotted(entry: str) -> str:
    return re.sub(r"\{\w+\}", " ", entry)


def _spell(tokenizer: Any, words: Iterable[str]) -> list[tuple[int, ...]]:
    """The tokens of every word behind another one."""
    before = tokenizer(STAND_IN, add_special_tokens=False)["input_ids"]
    texts = [f"{STAND_IN} {word}" for word in words]
    if not texts:
        return []
    encoded = tokenizer(texts, add_special_tokens=False)["input_ids"]
    return [tuple(ids[len(before) :]) for ids in encoded]
