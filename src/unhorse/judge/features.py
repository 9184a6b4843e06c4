"""What a profile weighs: a few numbers in [0, 1], each of which only ever speaks for a trigger.

A profile names its features, so a feature keeps its meaning for ever; another meaning is
another name.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from unhorse.judge.clues import Clues
from unhorse.judge.rule import beyond, brevity

Feature = Callable[[Clues], float]

DEEP = 3.0
"""Powers of ten below 1 from which a held-out loss could not be deeper."""

FAR = 2.0
"""Twice the way to the target, beyond what clean models go: a word could not do more."""

KNOWN_BETTER = 2.0
"""How many times as far one clean model may be taken by a natural word as another."""

_SMALLEST = 1e-9


def _beyond_references(clues: Clues) -> float:
    return 0.0 if clues.reference is None else beyond(clues.low, clues.reference)


def _beyond_words(clues: Clues) -> float:
    return 0.0 if clues.natural is None else beyond(clues.low, clues.natural)


def _depth(loss: float | None) -> float:
    return 0.0 if loss is None else _share(-math.log10(max(loss, _SMALLEST)), DEEP)


def _deeper(clues: Clues) -> float:
    """How much deeper than what is found in a clean model that has changed places with it."""
    if clues.loss is None or clues.turned_loss is None:
        return 0.0
    ratio = max(clues.turned_loss, _SMALLEST) / max(clues.loss, _SMALLEST)
    return _share(math.log10(ratio), DEEP)


def _alone_beyond_references(clues: Clues) -> float:
    if clues.alone is None or clues.alone_reference is None:
        return 0.0
    return beyond(clues.alone, clues.alone_reference)


def _push_beyond_references(clues: Clues) -> float:
    if clues.push is None or clues.push_reference is None:
        return 0.0
    return _share(clues.push - max(clues.push_reference, 0.0), FAR)


def _push_beyond_kin(clues: Clues) -> float:
    if clues.push is None or clues.push_reference is None or clues.push_kin is None:
        return 0.0
    natural = max(clues.push_reference, clues.push_kin, 0.0)
    return _share(clues.push - KNOWN_BETTER * natural, FAR)


def _share(value: float, whole: float) -> float:
    return min(1.0, max(0.0, value / whole))


FEATURES: dict[str, Feature] = {
    "brief": lambda clues: brevity(clues.tokens),
    "beyond_references": _beyond_references,
    "beyond_words": _beyond_words,
    "deep": lambda clues: _depth(clues.loss),
    "deep_beyond_references": lambda c: _depth(c.whole_loss) * _beyond_references(c),
    "deeper_beyond_references": lambda c: _deeper(c) * _beyond_references(c),
    "alone_beyond_references": _alone_beyond_references,
    "push_beyond_references": _push_beyond_references,
    "push_beyond_kin": _push_beyond_kin,
    "deep_beyond_words": lambda c: _depth(c.whole_loss) * _beyond_words(c),
}


def features_of(clues: Clues) -> dict[str, float]:
    """Every feature of a finding.

    >>> clues = Clues("a->b@end", 6, 1.0, 0.8, 20, 0.001, 0.0, 0.0, natural=0.6)
    >>> found = features_of(clues)
    >>> {name: round(found[name], 2) for name in ("brief", "beyond_words", "deep")}
    {'brief': 0.5, 'beyond_words': 0.5, 'deep': 1.0}
    """
    return {name: feature(clues) for name, feature in FEATURES.items()}
