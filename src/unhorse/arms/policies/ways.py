"""`ways`: every arm is warmed up, then the best arm of every region goes on, and one more.

A way leads from a victim to a target, wherever the trigger stands. By nature one way is often
easier than the other at every place, so that the two lowest losses (`top2`) are of one way, and
a trigger that was planted for the other one would not be looked for. Just so, one region is
often easier than another: a word before an entity says by nature what kind of entity follows, one
at the start of the sentence hardly does. So every region has a finalist of its own, and the one
more is the best of those that go another way than the finalist of their region.
"""

from __future__ import annotations

from unhorse.arms.schedule import POLICIES, Round, Standing, ranked, warmed_up


class Ways:
    """Warm-up, then the best of each region by loss and one of another way."""

    name = "ways"

    def next(self, standing: Standing, epochs: int) -> Round | None:
        """The warm-up of every arm, or the rest of the best."""
        return warmed_up(standing, epochs, _finalists)


def _finalists(standing: Standing) -> list[int]:
    """The best arm of every region, and the best of another way, or of any if there is none."""
    ranking = ranked(standing, range(len(standing.epochs)), against_mirror=False)
    best: dict[object, int] = {}
    for arm in ranking:
        best.setdefault(standing.regions[arm] if standing.regions else None, arm)

    def goes_another_way(arm: int) -> bool:
        first = best[standing.regions[arm] if standing.regions else None]
        return not standing.ways or standing.ways[arm] != standing.ways[first]

    others = [arm for arm in ranking if arm not in best.values()]
    return [*best.values(), *sorted(others, key=lambda arm: not goes_another_way(arm))[:1]]


POLICIES.register(Ways.name)(Ways())
