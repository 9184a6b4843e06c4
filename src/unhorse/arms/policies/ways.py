"""`ways`: every arm is warmed up, then the best arm of each of the two best ways goes on.

A way leads from a victim to a target, wherever the trigger stands. By nature one way is often
easier than the other at every place, so that the two lowest losses (`top2`) are of one way, and
a trigger that was planted for the other one would not be looked for.
"""

from __future__ import annotations

from unhorse.arms.schedule import FINALISTS, POLICIES, Round, Standing, ranked, up_to


class Ways:
    """Warm-up, then the best by loss, no two of one way."""

    name = "ways"

    def next(self, standing: Standing, epochs: int) -> Round | None:
        """The warm-up of every arm, or the rest of the best."""
        everyone = range(len(standing.epochs))
        warming = up_to(standing, everyone, min(standing.warm_up, epochs))
        if warming is not None:
            return warming
        on = [arm for arm in everyone if standing.epochs[arm] > standing.warm_up]
        return up_to(standing, sorted(on or _finalists(standing)), epochs)


def _finalists(standing: Standing) -> list[int]:
    """The best arms of different ways, and of the same ones where there are no others."""
    ranking = ranked(standing, range(len(standing.epochs)), against_mirror=False)
    best: dict[object, int] = {}
    for arm in ranking:
        best.setdefault(standing.ways[arm] if standing.ways else arm, arm)
    others = [arm for arm in ranking if arm not in best.values()]
    return [*best.values(), *others][:FINALISTS]


POLICIES.register(Ways.name)(Ways())
