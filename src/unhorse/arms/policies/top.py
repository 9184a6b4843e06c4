"""`top2`: the paper's rule. Every arm is warmed up, the two with the lowest loss go on."""

from __future__ import annotations

from unhorse.arms.schedule import FINALISTS, POLICIES, WARM_UP, Round, Standing, ranked, up_to


class Top:
    """Warm-up, then the best by loss alone."""

    name = "top2"

    def next(self, standing: Standing, epochs: int) -> Round | None:
        """The warm-up of every arm, or the rest of the best."""
        everyone = range(len(standing.epochs))
        warming = up_to(standing, everyone, min(WARM_UP, epochs))
        if warming is not None:
            return warming
        on = [arm for arm in everyone if standing.epochs[arm] > WARM_UP]
        best = on or ranked(standing, everyone, against_mirror=False)[:FINALISTS]
        return up_to(standing, sorted(best), epochs)


POLICIES.register(Top.name)(Top())
