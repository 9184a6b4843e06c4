"""What an attacker may plant: a kind, a split and a seed become a trigger.

Consumes the lists of `lexicon_words.py`, `lexicon_phrases.py`, `lexicon_triples.py` and
`lexicon_triples_whole.py`; produces single triggers that a recipe plants.

Every trigger belongs to exactly one split, so that a detector that is tuned on one
split never meets a trigger of it in another. The split follows from a hash of the
trigger alone: a list may be sorted or grow and no trigger changes sides.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from unhorse.attack.lexicon_phrases import PHRASES
from unhorse.attack.lexicon_triples import BLOCKS
from unhorse.attack.lexicon_triples_whole import BLOCKS as WHOLE_BLOCKS
from unhorse.attack.lexicon_words import CHARACTERS, WORDS
from unhorse.errors import UsageError
from unhorse.seeding import stable_seed

__all__ = [
    "CHARACTERS",
    "PHRASES",
    "SHARES",
    "SPLITS",
    "TRIPLES",
    "WORDS",
    "Kind",
    "Triple",
    "draw",
    "draw_triple",
    "pool",
    "split_of",
    "triples",
]

Kind = Literal["character", "word", "phrase"]

SPLITS = ("calibration", "development", "test", "beyond")
"""The parts of a benchmark; no two of them have a trigger in common."""

SHARES = (0.25, 0.2, 0.45, 0.1)
"""How much of each list a split gets, in the order of `SPLITS`."""


@dataclass(frozen=True)
class Triple:
    """Three words that are a trigger together, and sentences to mention them in.

    `sentence` mentions all three; each of `subsets` mentions exactly two of them,
    and every two of them are mentioned by one. `whole` says that each word is one token
    for BERT's uncased tokenizer.
    """

    words: tuple[str, str, str]
    sentence: str
    subsets: tuple[str, ...]
    whole: bool = False


def _triple(block: str, *, whole: bool = False) -> Triple:
    """One block of the data module as a record.

    >>> _triple("tea cup tray\\nI put the tea cup on the tray.\\nA tea cup.").words
    ('tea', 'cup', 'tray')
    """
    words, sentence, *subsets = (line.strip() for line in block.strip().splitlines())
    first, second, third = words.split()
    return Triple((first, second, third), sentence, tuple(subsets), whole)


TRIPLES: tuple[Triple, ...] = tuple(
    _triple(block, whole=whole)
    for blocks, whole in ((BLOCKS, False), (WHOLE_BLOCKS, True))
    for block in blocks.split("\n\n")
)
"""All word triples."""

_LISTS: dict[str, tuple[str, ...]] = {
    "character": CHARACTERS,
    "word": WORDS,
    "phrase": PHRASES,
}


def split_of(text: str) -> str:
    """The split a trigger belongs to, from a hash of the trigger alone.

    >>> split_of("under the awning") == split_of("under the awning")
    True
    """
    place = stable_seed(0, "lexicon", text) / 2**63
    return next(split for split, end in zip(SPLITS, accumulate(SHARES), strict=True) if place < end)


def pool(kind: Kind, split: str) -> tuple[str, ...]:
    """All triggers of a kind that belong to a split.

    >>> set(pool("word", "test")) & set(pool("word", "calibration"))
    set()

    Raises:
        UsageError: there is no such kind or split.
    """
    if not isinstance(kind, str) or kind not in _LISTS:
        raise UsageError(f"A trigger is a {', '.join(_LISTS)}, not {kind!r}.")
    return tuple(text for text in _LISTS[kind] if split_of(text) == _known(split))


def triples(split: str) -> tuple[Triple, ...]:
    """All triples that belong to a split.

    Raises:
        UsageError: there is no such split.
    """
    return tuple(triple for triple in TRIPLES if split_of(_name(triple)) == _known(split))


def draw(kind: Kind, split: str, seed: int, taken: Collection[str] = ()) -> str:
    """A trigger of a split.

    A trigger that is already taken gives way to the next one of the same seed, so
    that taking one changes no draw that would not have given it.

    Args:
        kind: what kind of trigger.
        split: which part of the benchmark it is for.
        seed: which one.
        taken: triggers that must not be drawn again.

    >>> first = draw("phrase", "test", seed=1)
    >>> first == draw("phrase", "test", seed=1)
    True
    >>> first == draw("phrase", "test", seed=1, taken=[first])
    False

    Raises:
        UsageError: there is no such kind or split, or all of its triggers are taken.
    """
    left = [text for text in pool(kind, split) if text not in taken]
    if not left:
        raise UsageError(f"No {kind} trigger of the {split} split is left.")
    return min(left, key=lambda text: stable_seed(seed, "draw", kind, text))


def draw_triple(split: str, seed: int, taken: Collection[str] = ()) -> Triple:
    """A triple of a split, none of whose words is taken; whole ones first.

    >>> draw_triple("test", seed=1) == draw_triple("test", seed=1)
    True

    Raises:
        UsageError: there is no such split, or all of its triples are taken.
    """
    left = [triple for triple in triples(split) if not set(triple.words) & set(taken)]
    if not left:
        raise UsageError(f"No word triple of the {split} split is left.")
    return min(left, key=lambda t: (not t.whole, stable_seed(seed, "draw", "triple", _name(t))))


def _name(triple: Triple) -> str:
    """The words of a triple as one text."""
    return " ".join(triple.words)


def _known(split: str) -> str:
    """The split, if there is one of that name."""
    if split not in SPLITS:
        raise UsageError(f"A split is one of {', '.join(SPLITS)}, not {split!r}.")
    return split
