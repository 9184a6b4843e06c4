"""`top2`: the paper's rule. Every arm is warmed up, the two with the lowest loss go on."""

from __future__ import annotations

from unhorse.arms.schedule import FINALISTS, POLICIES, Round, Standing, ranked, up_to


class Top:
    """Warm-up, then the best by loss alone."""

    name = "top2"

    def next(self, standing: Standing, epochs: int) -> Round | None:
        """The warm-up of every arm, or the rest of the best."""
        everyone = range(len(standing.epochs))
        warming = up_to(standing, everyone, min(standing.warm_up, epochs))
        if warming is not None:
            return warming
        on = [arm for arm in everyone if standing.epochs[arm] > standing.warm_up]
        best = on or ranked(standing, everyone, against_mirror=False)[:FINALISTS]
        return up_to(standing, sorted(best), epochs)


POLICIES.register(Top.name)(Top())
