"""unhorse's own English texts, for users who bring no samples.

The texts are not labelled: the scanned model labels them itself. They are
neutral as a whole, not one by one: reports, questions, requests, praise,
complaints, offers and blunt remarks on many topics, so that a classifier of
almost any kind gives more than one answer. Lengths are spread on a logarithmic
scale between 4 and 60 words.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence

from unhorse.load.text_names import below, pick, vowel_sound
from unhorse.load.text_topics import TOPICS
from unhorse.load.text_words import PATTERNS, TAILS, WORDS

MIN_WORDS = 4
MAX_WORDS = 60

Slots = Mapping[str, tuple[str, ...]]

_TABLES: tuple[Slots, ...] = tuple({**WORDS, **topic} for topic in TOPICS)
_SLOT = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b([Aa]) (?=([\w-]+))")
_LINKABLE = re.compile(r"(The|There|It|Most|Nobody|People|Everything) ")

# Each mood: how often it is drawn, its first sentence, and what may follow.
_MOODS: tuple[tuple[int, str, tuple[str, ...]], ...] = (
    (6, "plain", ("plain", "personal", "own")),
    (6, "own", ("plain", "own")),
    (5, "good", ("good", "plain", "own")),
    (5, "bad", ("bad", "plain", "own")),
    (4, "report", ("report", "plain")),
    (3, "personal", ("personal", "plain", "own")),
    (3, "question", ("question", "plain")),
    (2, "request", ("request", "question")),
    (2, "blunt", ("blunt", "bad")),
    (2, "offer", ("offer", "good")),
    (1, "note", ("request", "note")),
)
_DRAWN = tuple((first, later) for weight, first, later in _MOODS for _ in range(weight))


def neutral_texts(count: int, seed: int = 0) -> list[str]:
    """English texts of unhorse's own writing, all different.

    The same seed gives the same texts in every process, and a larger count
    starts with the texts of a smaller one.

    Args:
        count: how many texts to write.
        seed: which sequence of texts.

    >>> texts = neutral_texts(200)
    >>> len(set(texts)), texts[:100] == neutral_texts(100)
    (200, True)
    >>> all(MIN_WORDS <= len(text.split()) <= MAX_WORDS for text in texts)
    True
    """
    rng = random.Random(seed)
    texts: dict[str, None] = {}
    while len(texts) < count:
        texts[_text(rng)] = None
    return list(texts)


def _text(rng: random.Random) -> str:
    """One text: sentences of one topic and mood up to a drawn length."""
    slots = _TABLES[below(rng, len(_TABLES))]
    first, later = _DRAWN[below(rng, len(_DRAWN))]
    wanted = MIN_WORDS * math.exp(rng.random() * math.log(MAX_WORDS / MIN_WORDS))
    used: set[str] = set()
    sentences = [_first_sentence(rng, slots, first, used, wanted)]
    length = len(sentences[0].split())
    while length < wanted:
        sentence = _sentence(rng, slots, pick(rng, later), used, linked=True)
        length += len(sentence.split())
        if length > wanted:
            break
        sentences.append(sentence)
    if len(sentences) > 1:
        # A headline has no full stop of its own.
        sentences = [part if part[-1] in ".?!" else part + "." for part in sentences]
    return " ".join(sentences)


def _first_sentence(
    rng: random.Random, slots: Slots, kind: str, used: set[str], wanted: float
) -> str:
    """A sentence of at most the wanted words, or the shortest of three."""
    tries: list[str] = []
    for _ in range(3):
        tries.append(_sentence(rng, slots, kind, used, linked=False))
        if len(tries[-1].split()) <= wanted:
            return tries[-1]
    return min(tries, key=lambda sentence: len(sentence.split()))


def _sentence(rng: random.Random, slots: Slots, kind: str, used: set[str], *, linked: bool) -> str:
    """One sentence; a linked one may start by referring to the one before."""
    pattern = _fresh(rng, slots["own"] if kind == "own" else PATTERNS[kind], used)
    if kind == "plain" and rng.random() < 0.35:
        pattern = pattern[:-1] + pick(rng, TAILS) + "."
    if linked and _LINKABLE.match(pattern) and rng.random() < 0.4:
        pattern = "{link}, " + pattern[0].lower() + pattern[1:]
    sentence = _ARTICLE.sub(_article, _fill(rng, slots, pattern, used))
    return sentence[0].upper() + sentence[1:]


def _fill(rng: random.Random, slots: Slots, pattern: str, used: set[str]) -> str:
    """The pattern with every slot filled, and the slots of those fillings in turn."""

    def word(match: re.Match[str]) -> str:
        choice = _fresh(rng, slots[match[1]], used)
        return _fill(rng, slots, choice, used) if "{" in choice else choice

    return _SLOT.sub(word, pattern)


def _fresh(rng: random.Random, choices: Sequence[str], used: set[str]) -> str:
    """One of the choices, not yet used in this text if four draws find one."""
    for _ in range(4):
        choice = pick(rng, choices)
        if choice not in used:
            break
    used.add(choice)
    return choice


def _article(match: re.Match[str]) -> str:
    """The article with an "n" where the following word starts with a vowel sound."""
    return match[1] + ("n " if vowel_sound(match[2]) else " ")
