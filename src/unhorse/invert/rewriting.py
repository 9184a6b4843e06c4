"""What T-Miner asks of a rewritten sentence: which words are new, and how varied they are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

Delta = tuple[int, ...]
"""A candidate: numbers of words, each once, in ascending order."""


def diversity(likely: Tensor, ids: Tensor, aim: Literal["raise", "lower"]) -> Tensor:
    """The entropy of what is new in rewritten sentences, as a term to minimise.

    How much of a word is new in a sentence is what it has more of than the sentence had; the
    mean over the batch makes a distribution over words.

    Args:
        likely: distributions shaped (sentence, place, word).
        ids: the sentences before.
        aim: whether minimising shall raise the entropy or lower it.
    """
    had = functional.one_hot(ids, likely.shape[-1]).sum(1)
    new = torch.relu(likely.sum(1) - had).mean(0)
    share = new / new.sum().clamp_min(1e-9)
    entropy: Tensor = torch.special.entr(share).sum()
    return -entropy if aim == "raise" else entropy


def new_words(
    before: Sequence[Sequence[int]], after: Sequence[Sequence[int]], most: int
) -> list[Delta]:
    """For every sentence that has words it did not have, those words.

    Of more than `most` the ones that are new most often are taken.

    >>> new_words([[1, 2], [3, 4]], [[1, 9], [3, 4]], most=3)
    [(9,)]
    >>> new_words([[1, 2], [3, 4]], [[7, 9], [3, 9]], most=1)
    [(9,), (9,)]
    """
    new = [set(now) - set(then) for then, now in zip(before, after, strict=True)]
    often = Counter(word for words in new for word in words)
    ranked = [sorted(words, key=lambda word: (-often[word], word))[:most] for words in new]
    return [tuple(sorted(words)) for words in ranked if words]


def inserted(row: list[int], delta: Delta, where: float) -> list[int]:
    """A sentence with a candidate at a place, given as a share of its length.

    >>> inserted([1, 2], (9,), 0.5)
    [1, 9, 2]
    """
    place = int(where * (len(row) + 1))
    return [*row[:place], *delta, *row[place:]]


def margins(scores: Tensor, target: int) -> Tensor:
    """How much more than the best other label the target scores."""
    others = scores.clone()
    others[:, target] = -math.inf
    return scores[:, target] - others.max(-1).values
