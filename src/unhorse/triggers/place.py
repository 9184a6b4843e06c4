"""Where a trigger goes in a text.

A place is always a word boundary of the sample's own text, so what is optimised
on token ids can be repeated on text by anyone who pastes the trigger.
"""

from __future__ import annotations

import re
from typing import get_args

from unhorse.seeding import python_random
from unhorse.types import Position

POSITIONS: tuple[Position, ...] = get_args(Position)


def boundary(text: str, position: Position, seed: int, key: str) -> int:
    """The character offset at which a trigger is put into `text`.

    `start` and `end` are the ends of the text. The halves draw a word boundary
    from that half of the text, by the sample's own length and key.

    >>> boundary("one two three four", "start", 0, "k"), boundary("one two", "end", 0, "k")
    (0, 7)
    >>> boundary("one two three four", "second_half", 0, "k") >= 8
    True
    """
    starts = [match.start() for match in re.finditer(r"\S+", text)]
    places = [*starts, len(text)]
    words = len(starts)
    if position == "start":
        low, high = 0, 0
    elif position == "end":
        low, high = words, words
    elif position == "first_half":
        low, high = 0, words // 2
    else:
        low, high = (words + 1) // 2, words
    return places[python_random(seed, "place", position, key).randint(low, high)]


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
