"""`halving`: successive halving (Jamieson and Talwalkar, 2016) with two rungs.

Every arm is warmed up; the best eighth, but at least four, go on to three times as
many epochs; the best two of these, or one for every family (place of the trigger, one
victim class or all), get the rest. Arms are compared with their mirrors, so that a pair
of classes that are alike does not win both ways, and are taken from the families in turn.
"""

from __future__ import annotations

from unhorse.arms.schedule import (
    FINALISTS,
    POLICIES,
    Round,
    Standing,
    ranked,
    spread,
    up_to,
)

KEEP_ONE_IN = 8
KEEP_AT_LEAST = 4
SECOND_RUNG = 3
"""In multiples of the warm-up."""


class Halving:
    """Fewer and fewer arms get more and more epochs."""

    name = "halving"

    def next(self, standing: Standing, epochs: int) -> Round | None:
        """The first rung that some arm has not reached yet."""
        arms = list(range(len(standing.epochs)))
        rungs = (
            (min(standing.warm_up, epochs), len(arms)),
            (
                min(SECOND_RUNG * standing.warm_up, epochs),
                max(KEEP_AT_LEAST, -(-len(arms) // KEEP_ONE_IN)),
            ),
            (epochs, max(FINALISTS, len(set(standing.families)))),
        )
        before = 0
        for rung, places in rungs:
            # Whoever is beyond the rung before has been chosen already.
            beyond = [arm for arm in arms if standing.epochs[arm] > before]
            best = ranked(standing, arms, against_mirror=True)
            arms = sorted(beyond or spread(standing, best, places))
            now = up_to(standing, arms, rung)
            if now is not None:
                return now
            before = rung
        return None


POLICIES.register(Halving.name)(Halving())
