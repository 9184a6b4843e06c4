"""`ways`: every arm is warmed up, then the best arm of each of the two best ways goes on.

A way leads from a victim to a target, wherever the trigger stands. By nature one way is often
easier than the other at every place, so that the two lowest losses (`top2`) are of one way, and
a trigger that was planted for the other one would not be looked for.
"""

from __future__ import annotations

from unhorse.arms.schedule import FINALISTS, POLICIES, Round, Standing, ranked, warmed_up


class Ways:
    """Warm-up, then the best by loss, no two of one way."""

    name = "ways"

    def next(self, standing: Standing, epochs: int) -> Round | None:
        """The warm-up of every arm, or the rest of the best."""
        return warmed_up(standing, epochs, _finalists)


def _finalists(standing: Standing) -> list[int]:
    """The best arms of different ways, and of the same ones where there are no others."""
    ranking = ranked(standing, range(len(standing.epochs)), against_mirror=False)
    best: dict[object, int] = {}
    for arm in ranking:
        best.setdefault(standing.ways[arm] if standing.ways else arm, arm)
    others = [arm for arm in ranking if arm not in best.values()]
    return [*best.values(), *others][:FINALISTS]


POLICIES.register(Ways.name)(Ways())
