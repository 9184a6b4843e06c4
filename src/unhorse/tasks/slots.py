"""Free places for a trigger in a row of token ids.

While a text is tokenised a stand-in holds the trigger's place, so that the tokens
around it are exactly those that a pasted trigger would have around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unhorse.types import Span

STAND_IN = "the"
"""Stands where a trigger is put as words of its own."""

GLUED_STAND_IN = "~"
"""Stands where a trigger is stuck to a word: most tokenizers keep it apart from letters."""


@dataclass(frozen=True)
class Opened:
    """Ids with free places; `ends[i]` is where opening number `i` began and ended before."""

    ids: tuple[int, ...]
    slots: tuple[int, ...]
    slot_of: tuple[int, ...]
    count: int
    ends: tuple[tuple[int, int], ...]

    def moved(self, column: int) -> int:
        """Where the token that was at `column` stands now.

        >>> opened = open_slots([5, 6, 7, 8], [(1, 2)], 3)
        >>> opened.ids, [opened.moved(i) for i in (0, 2, 3)]
        ((5, 6, 6, 6, 7, 8), [0, 4, 5])
        """
        return column + sum(self.count - (b - a) for a, b in self.ends if b <= column)

    def first_slot(self, opening: int = -1) -> int:
        """The first place of one opening."""
        return self.slots[range(len(self.ends))[opening] * self.count]

    def widened(self, values: Sequence[int]) -> tuple[int, ...]:
        """Values of the original columns, those at an opening repeated for every place."""
        return _replaced(values, self.ends, self.count)


def open_slots(ids: Sequence[int], ends: Sequence[tuple[int, int]], count: int) -> Opened:
    """Replaces the tokens of every stand-in by `count` places for one and the same trigger.

    Args:
        ids: token ids with stand-ins.
        ends: first token of each stand-in and the one behind its last, in order.
        count: tokens of the trigger.
    """
    slots: list[int] = []
    shift = 0
    for first, last in ends:
        slots += range(first + shift, first + shift + count)
        shift += count - (last - first)
    return Opened(
        ids=_replaced(ids, ends, count),
        slots=tuple(slots),
        slot_of=tuple(range(count)) * len(ends),
        count=count,
        ends=tuple(ends),
    )


def tokens_of(span: Span, offsets: Sequence[Span]) -> tuple[int, int] | None:
    """The first token that touches a span of characters, and the one behind the last.

    >>> tokens_of((4, 7), [(0, 0), (0, 3), (3, 5), (5, 7), (8, 9)])
    (2, 4)
    """
    begin, end = span
    inside = [i for i, (a, b) in enumerate(offsets) if a < end and b > begin and a < b]
    return (inside[0], inside[-1] + 1) if inside else None


def plain_encoding(tokenizer: Any, text: str) -> tuple[list[int], list[Span]]:
    """Ids of a text with special tokens, and the characters that each stands for."""
    encoded = tokenizer(text, return_offsets_mapping=True)
    return encoded["input_ids"], [(a, b) for a, b in encoded["offset_mapping"]]


def _replaced(
    values: Sequence[int], ends: Sequence[tuple[int, int]], count: int
) -> tuple[int, ...]:
    made: list[int] = []
    begin = 0
    for first, last in ends:
        made += [*values[begin:first], *[values[first]] * count]
        begin = last
    return (*made, *values[begin:])
