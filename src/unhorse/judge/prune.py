"""The fewest tokens of a trigger that keep its effect.

An inverted trigger has a fixed number of slots; a planted one needs only a few
of them. How few suffice is evidence of its own: one planted word against
several natural words of the target class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unhorse.types import Effect

Ids = tuple[int, ...]

KEEP = 0.9
"""The share of the full trigger's attack success that a shorter one must keep."""

ROOM = 0.05
"""What its loss may be above the full trigger's. A natural word of a trigger often flips almost
as many samples as the whole, but not as surely; without this it would be all that is left."""


def prune(ids: Ids, full: Effect, effects_of: Callable[[Sequence[Ids]], list[Effect]]) -> Ids:
    """Drops tokens as long as the effect stays.

    Single tokens are tried first, because a one-word trigger is the commonest
    answer and costs one look; otherwise the least needed token is dropped, one
    after another.

    Args:
        ids: the full trigger.
        full: its effect on the samples that `effects_of` measures on.
        effects_of: measures many triggers at once.
    """

    def keeps(effect: Effect) -> bool:
        return effect.asr >= KEEP * full.asr and not effect.loss > full.loss + ROOM

    singles = [(token,) for token in dict.fromkeys(ids)]
    best = _best(singles, effects_of(singles))
    if keeps(best[1]):
        return best[0]
    while len(ids) > 2:
        shorter = list(dict.fromkeys(ids[:i] + ids[i + 1 :] for i in range(len(ids))))
        candidate, effect = _best(shorter, effects_of(shorter))
        if not keeps(effect):
            return ids
        ids = candidate
    return ids


def _best(triggers: Sequence[Ids], effects: Sequence[Effect]) -> tuple[Ids, Effect]:
    pairs = zip(triggers, effects, strict=True)
    return max(pairs, key=lambda pair: (pair[1].asr, -pair[1].loss))
