"""`ways`: every arm is warmed up, then the best arm of every region goes on, in the text two.

A way leads from a victim to a target, wherever the trigger stands. By nature one way is often
easier than the other at every place, so that the two lowest losses (`top2`) are of one way, and
a trigger that was planted for the other one would not be looked for. Just so, one region is
often easier than another: a word before an entity says by nature what kind of entity follows, one
at the start of the sentence hardly does. So every region has a finalist of its own; in running
text, where most triggers are planted and a long phrase begins to show late, there are two. Few
arms all go on: a phrase at one place may begin to show later than a natural word at another.
"""

from __future__ import annotations

from unhorse.arms.schedule import FEW, FINALISTS, POLICIES, TEXT, Round, Standing, ranked, warmed_up


class Ways:
    """Warm-up, then the best of each region by loss, in the text two of different ways."""

    name = "ways"

    def next(self, standing: Standing, epochs: int) -> Round | None:
        """The warm-up of every arm, or the rest of the best."""
        return warmed_up(standing, epochs, _finalists)


def _finalists(standing: Standing) -> list[int]:
    """The best arm of every region; of the text two, of different ways if there are such."""
    if len(standing.epochs) <= FEW:
        return list(range(len(standing.epochs)))
    ranking = ranked(standing, range(len(standing.epochs)), against_mirror=False)
    regions: dict[str, list[int]] = {}
    for arm in ranking:
        regions.setdefault(standing.regions[arm] if standing.regions else TEXT, []).append(arm)
    return [
        arm
        for region, own in regions.items()
        for arm in _of_different_ways(standing, own)[: FINALISTS if region == TEXT else 1]
    ]


def _of_different_ways(standing: Standing, ranking: list[int]) -> list[int]:
    """The ranking with the best of every way first."""
    best: dict[object, int] = {}
    for arm in ranking:
        best.setdefault(standing.ways[arm] if standing.ways else arm, arm)
    return [*best.values(), *(arm for arm in ranking if arm not in best.values())]


POLICIES.register(Ways.name)(Ways())
