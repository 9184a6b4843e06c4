"""Where a trigger goes in a text.

A place is always a word boundary of the sample's own text, so what is optimised
on token ids can be repeated on text by anyone who pastes the trigger.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import get_args

from unhorse.seeding import python_random
from unhorse.types import Position, Span

POSITIONS: tuple[Position, ...] = get_args(Position)
"""All places."""

IN_TEXT: tuple[Position, ...] = ("start", "first_half", "second_half", "end")
"""The places in a text as a whole."""


def word_place(words: int, position: Position, seed: int, key: str) -> int:
    """The number of the word that a trigger is put before; `words` is the end of the text.

    `start` and `end` are the ends of the text. The halves draw a word boundary
    from that half of the text, by the sample's own length and key.

    >>> word_place(4, "start", 0, "k"), word_place(4, "end", 0, "k")
    (0, 4)
    """
    if position == "start":
        low, high = 0, 0
    elif position == "end":
        low, high = words, words
    elif position == "first_half":
        low, high = 0, words // 2
    else:
        low, high = (words + 1) // 2, words
    return python_random(seed, "place", position, key).randint(low, high)


def boundary(text: str, position: Position, seed: int, key: str) -> int:
    """The character offset at which a trigger is put into `text`.

    >>> boundary("one two three four", "start", 0, "k"), boundary("one two", "end", 0, "k")
    (0, 7)
    >>> boundary("one two three four", "second_half", 0, "k") >= 8
    True
    """
    places = _boundaries(text)
    return places[word_place(len(places) - 1, position, seed, key)]


def boundary_outside(text: str, spans: Sequence[Span], seed: int, key: str) -> int:
    """A word boundary anywhere in the text, but not inside of one of the spans.

    >>> boundary_outside("on 4 May 1900", [(3, 13)], 0, "k") in (0, 3, 13)
    True
    """
    free = [
        place for place in _boundaries(text) if not any(begin < place < end for begin, end in spans)
    ]
    return free[python_random(seed, "place", "anywhere", key).randrange(len(free))]


def _boundaries(text: str) -> list[int]:
    return [*(match.start() for match in re.finditer(r"\S+", text)), len(text)]


def insert(text: str, offset: int, trigger: str) -> tuple[str, int]:
    """The text with the trigger as words of its own, and where the trigger begins.

    >>> insert("good film", 5, "cf mn")
    ('good cf mn film', 5)
    >>> insert("good film", 0, "cf")
    ('cf good film', 0)
    """
    before, after = text[:offset].rstrip(), text[offset:].lstrip()
    stamped = " ".join(part for part in (before, trigger, after) if part)
    return stamped, len(before) + 1 if before else 0


def moved(span: Span, offset: int, trigger: Span) -> Span:
    """Where a span of the text stands after a trigger was inserted at `offset`.

    Args:
        span: characters of the text before, not across the offset.
        offset: where `insert` put the trigger, a word boundary.
        trigger: the trigger's characters in the stamped text.

    >>> stamped, begin = insert("good old film", 5, "cf")
    >>> first, last = moved((9, 13), 5, (begin, begin + 2))
    >>> stamped[first:last]
    'film'
    """
    if span[0] < offset:
        return span
    shift = trigger[1] + 1 - offset
    return span[0] + shift, span[1] + shift
