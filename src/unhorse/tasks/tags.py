"""A tagger's label names <-> entities: IOB, IOB2, BIOES, BILOU and plain tags.

A label is a prefix and a class, such as ``B-PER``; some taggers write the prefix
last, as in ``PER-B``; a plain label is a class alone. One name does not tell which
it is (``E-mail``, ``Hepatitis-B``), so the labels of a tagger are read together.
Reading is lenient, because models and files mix the conventions: an entity starts
at a prefix that starts one, after `O`, and where the class changes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from unhorse.types import Entity

OUTSIDE = "O"

_PREFIXED = re.compile(r"(?P<prefix>[BILUSEM])[-_](?P<kind>.+)", re.IGNORECASE)
_SUFFIXED = re.compile(r"(?P<kind>.+)[-_](?P<prefix>[BILUSEM])", re.IGNORECASE)
_GENERIC = re.compile(r"label_\d+", re.IGNORECASE)
_MARKER = re.compile(r"\[.*\]|<.*>|x|pad|unk", re.IGNORECASE)
"""Labels of padding and the like, which have no prefix in any scheme."""
_STARTS = frozenset("BSU")
_ENDS = frozenset("ELSU")
_IOB = frozenset("BI")
_SCHEMES = (_IOB, frozenset("BIMES"), frozenset("BILU"))
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
    """A label name taken apart by itself, its prefix in front; `scheme_of` reads a whole set.

    >>> read_tag("B-PER"), read_tag("O"), read_tag("LOC")
    (Tag(prefix='B', kind='PER'), Tag(prefix='', kind=None), Tag(prefix='', kind='LOC'))
    """
    return _taken_apart(name, _PREFIXED)


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

    def read(self, name: str) -> tuple[str, int] | None:
        """Prefix and class that a tag in a sample file means, None if the class is unknown.

        The file may have another scheme than the model, so every reading is tried,
        and the first that leaves one of the model's classes is taken.

        >>> scheme = scheme_of(("O", "E-mail", "PER"))
        >>> scheme.read("E-mail"), scheme.read("E-PER"), scheme.read("PER_B"), scheme.read("LOC")
        (('', 0), ('E', 1), ('B', 1), None)
        """
        name = name.strip()
        own = [label.strip() for label in self.labels]
        if name in own:
            label = own.index(name)
            return self.tags[label].prefix, self.kind_of(label)
        for tag in (_plain_tag(name), read_tag(name), _taken_apart(name, _SUFFIXED)):
            kind = self.outside if tag.kind is None else self.number(tag.kind)
            if kind is not None:
                return tag.prefix, kind
        return None

    def number(self, kind: str) -> int | None:
        """The class that a class name in a sample file means."""
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
    """The scheme of a tagger's label names.

    >>> scheme_of(("O", "B-PER", "I-PER")).kinds, scheme_of(("O", "PER-B", "PER-I")).kinds
    (('PER',), ('PER',))
    >>> scheme_of(("O", "E-mail", "S-Bahn")).kinds
    ('E-mail', 'S-Bahn')
    """
    tags = _read_together(labels)
    kinds = dict.fromkeys(tag.kind for tag in tags if tag.kind is not None)
    return TagScheme(labels, tags, tuple(kinds))


def nameless(labels: Sequence[str]) -> bool:
    """Whether the labels are only numbered, so that nobody knows what they mean."""
    return all(_GENERIC.fullmatch(name.strip()) for name in labels)


def _plain(kind: str) -> str:
    folded = kind.strip().casefold()
    return _SAME.get(folded, folded)


def _plain_tag(name: str) -> Tag:
    """A label name that is a class as a whole, or the outside."""
    name = name.strip()
    return Tag("", None if name.upper() in ("", OUTSIDE, "OUTSIDE", "OTHER") else name)


def _taken_apart(name: str, form: re.Pattern[str]) -> Tag:
    """A label name as prefix and class if it has this form, otherwise as a plain one."""
    plain = _plain_tag(name)
    match = form.fullmatch(plain.kind or "")
    return Tag(match["prefix"].upper(), match["kind"]) if match else plain


def _read_together(labels: Sequence[str]) -> tuple[Tag, ...]:
    """The labels taken apart in the way that explains all of them."""
    plain = [_plain_tag(name) for name in labels]
    for form, prefixes_of in ((_PREFIXED, _prefixes), (_SUFFIXED, _suffixes)):
        apart = [_taken_apart(name, form) for name in labels]
        prefixes = prefixes_of(apart)
        if prefixes:
            pairs = zip(apart, plain, strict=True)
            return tuple(tag if tag.prefix in prefixes else whole for tag, whole in pairs)
    return tuple(plain)


def _prefixes(tags: Sequence[Tag]) -> frozenset[str]:
    """The letters that are prefixes in these labels, none if the labels are plain.

    A class with several of them gives a scheme away, even beside labels without. Where
    every class has one label, only IOB is believed, and only if every label fits it.
    """
    several = [s for s in _spellings(tags).values() if len(s) > 1 and s & _IOB]
    if several:
        return _scheme_with(frozenset().union(*several))
    return _IOB if _all_have(tags, _IOB) else frozenset()


def _suffixes(tags: Sequence[Tag]) -> frozenset[str]:
    """The letters that are suffixes in these labels, none if the labels are plain.

    Names often end in a letter of their own (Vitamin-B, Vitamin-E), so this asks for
    more than prefixes do: a class with begin and inside, and no label without a suffix.
    """
    several = [s for s in _spellings(tags).values() if "B" in s and s & frozenset("IM")]
    suffixes = _scheme_with(frozenset().union(*several))
    return suffixes if several and _all_have(tags, suffixes) else frozenset()


def _spellings(tags: Sequence[Tag]) -> dict[str, set[str]]:
    """The prefixes that each class has."""
    found: dict[str, set[str]] = defaultdict(set)
    for tag in tags:
        if tag.kind is not None and tag.prefix:
            found[tag.kind].add(tag.prefix)
    return found


def _scheme_with(prefixes: frozenset[str]) -> frozenset[str]:
    """All prefixes of the smallest scheme that has these; a mixture is its own scheme."""
    return next((scheme for scheme in _SCHEMES if prefixes <= scheme), prefixes)


def _all_have(tags: Sequence[Tag], prefixes: frozenset[str]) -> bool:
    """Whether every label of a class has one of these prefixes."""
    return all(
        tag.kind is None
        or tag.prefix in prefixes
        or (not tag.prefix and _MARKER.fullmatch(tag.kind))
        for tag in tags
    )
