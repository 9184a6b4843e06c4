"""`ways`: every arm is warmed up, then the best arms of each region go on, no two of one way.

A way leads from a victim to a target, wherever the trigger stands. By nature one way is often
easier than the other at every place, so that the two lowest losses (`top2`) are of one way, and
a trigger that was planted for the other one would not be looked for. Just so, one region is
often easier than another: a word before an entity says by nature what kind of entity follows, one
at the start of the sentence hardly does. So every region has finalists of its own.
"""

from __future__ import annotations

from unhorse.arms.schedule import FINALISTS, POLICIES, Round, Standing, ranked, warmed_up


class Ways:
    """Warm-up, then the best of each region by loss, no two of one way."""

    name = "ways"

    def next(self, standing: Standing, epochs: int) -> Round | None:
        """The warm-up of every arm, or the rest of the best."""
        return warmed_up(standing, epochs, _finalists)


def _finalists(standing: Standing) -> list[int]:
    """In each region the best arms of different ways, or of one if there are no others."""
    ranking = ranked(standing, range(len(standing.epochs)), against_mirror=False)
    regions: dict[object, list[int]] = {}
    for arm in ranking:
        regions.setdefault(standing.regions[arm] if standing.regions else None, []).append(arm)
    return [arm for own in regions.values() for arm in _of_different_ways(standing, own)]


def _of_different_ways(standing: Standing, ranking: list[int]) -> list[int]:
    best: dict[object, int] = {}
    for arm in ranking:
        best.setdefault(standing.ways[arm] if standing.ways else arm, arm)
    others = [arm for arm in ranking if arm not in best.values()]
    return [*best.values(), *others][:FINALISTS]


POLICIES.register(Ways.name)(Ways())
