"""A tagger's label names <-> entities: IOB, IOB2, BIOES, BILOU and plain tags.

A label is a prefix and a class, such as ``B-PER``; a plain one is a class alone.
Reading is lenient, because models and files mix the conventions: an entity starts
at a prefix that starts one, after `O`, and where the class changes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from unhorse.types import Entity

OUTSIDE = "O"

_PREFIXED = re.compile(r"(?P<prefix>[BILUSEM])[-_](?P<kind>.+)", re.IGNORECASE)
_GENERIC = re.compile(r"label_\d+", re.IGNORECASE)
_STARTS = frozenset("BSU")
_ENDS = frozenset("ELSU")
_SAME = {
    "person": "per",
    "people": "per",
    "organization": "org",
    "organisation": "org",
    "location": "loc",
    "miscellaneous": "misc",
}


@dataclass(frozen=True)
class Tag:
    """One label taken apart; `kind` is None outside of entities."""

    prefix: str
    kind: str | None


def read_tag(name: str) -> Tag:
    """A label name taken apart.

    >>> read_tag("B-PER"), read_tag("O"), read_tag("LOC")
    (Tag(prefix='B', kind='PER'), Tag(prefix='', kind=None), Tag(prefix='', kind='LOC'))
    """
    name = name.strip()
    if name.upper() in (OUTSIDE, "OUTSIDE", "OTHER") or not name:
        return Tag("", None)
    match = _PREFIXED.fullmatch(name)
    if match is None:
        return Tag("", name)
    return Tag(match["prefix"].upper(), match["kind"])


@dataclass(frozen=True)
class TagScheme:
    """The labels of one tagger.

    `kinds` are its entity classes in the order of their first label; class number
    `len(kinds)` is the outside.
    """

    labels: tuple[str, ...]
    tags: tuple[Tag, ...]
    kinds: tuple[str, ...]

    @property
    def outside(self) -> int:
        """The class number of words that belong to no entity."""
        return len(self.kinds)

    def kind_of(self, label: int) -> int:
        """The class of a label."""
        kind = self.tags[label].kind
        return self.outside if kind is None else self.kinds.index(kind)

    def spelled(self, kind: int, length: int, *, inside: bool = False) -> tuple[int, ...]:
        """The labels that an entity of `length` words has in this scheme.

        Args:
            kind: its class.
            length: its words.
            inside: whether the inner label starts entities too (IOB1).

        >>> scheme = scheme_of(("O", "B-PER", "I-PER"))
        >>> scheme.spelled(0, 3), scheme.spelled(scheme.outside, 2)
        ((1, 2, 2), (0, 0))
        """
        inner = self._label(kind, "IM")
        first = inner if inside else self._label(kind, "SUB" if length == 1 else "B")
        last = self._label(kind, "ELI")
        return (first, *[inner] * (length - 2), last)[:length] if length > 1 else (first,)

    def entities(self, labels: Sequence[int]) -> list[Entity]:
        """The entities that the labels of a sentence's words spell.

        >>> scheme = scheme_of(("O", "B-PER", "I-PER", "B-LOC", "I-LOC"))
        >>> [(e.first, e.last, e.kind) for e in scheme.entities([1, 2, 0, 4, 3])]
        [(0, 2, 0), (3, 4, 1), (4, 5, 1)]
        """
        return joined([(self.tags[label].prefix, self.kind_of(label)) for label in labels], self)

    def number(self, kind: str) -> int | None:
        """The class that a name in a sample file means."""
        exact = [i for i, own in enumerate(self.kinds) if own == kind]
        alike = [i for i, own in enumerate(self.kinds) if _plain(own) == _plain(kind)]
        found = exact or alike
        return found[0] if len(found) == 1 else None

    def _label(self, kind: int, prefixes: str) -> int:
        """The label of a class with the first of these prefixes that the scheme has."""
        name = None if kind == self.outside else self.kinds[kind]
        own = [i for i, tag in enumerate(self.tags) if tag.kind == name]
        by_prefix = {self.tags[i].prefix: i for i in reversed(own)}
        return next((by_prefix[p] for p in prefixes if p in by_prefix), own[0])


def joined(tags: Sequence[tuple[str, int]], scheme: TagScheme) -> list[Entity]:
    """Prefix and class of every word -> entities."""
    found: list[Entity] = []
    before = scheme.outside
    for place, (prefix, kind) in enumerate(tags):
        if kind != scheme.outside:
            if kind == before and prefix not in _STARTS:
                found[-1] = Entity(found[-1].first, place + 1, kind)
            else:
                found.append(Entity(place, place + 1, kind))
        before = scheme.outside if prefix in _ENDS else kind
    return found


@lru_cache(maxsize=64)
def scheme_of(labels: tuple[str, ...]) -> TagScheme:
    """The scheme of a tagger's label names."""
    tags = tuple(read_tag(name) for name in labels)
    kinds = dict.fromkeys(tag.kind for tag in tags if tag.kind is not None)
    return TagScheme(labels, tags, tuple(kinds))


def nameless(labels: Sequence[str]) -> bool:
    """Whether the labels are only numbered, so that nobody knows what they mean."""
    return all(_GENERIC.fullmatch(name.strip()) for name in labels)


def _plain(kind: str) -> str:
    folded = kind.strip().casefold()
    return _SAME.get(folded, folded)
