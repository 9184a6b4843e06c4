"""`top2`: the paper's rule. Every arm is warmed up, the two with the lowest loss go on."""

from __future__ import annotations

from unhorse.arms.schedule import FINALISTS, POLICIES, Round, Standing, ranked, warmed_up


class Top:
    """Warm-up, then the best by loss alone."""

    name = "top2"

    def next(self, standing: Standing, epochs: int) -> Round | None:
        """The warm-up of every arm, or the rest of the best."""
        return warmed_up(standing, epochs, _finalists)


def _finalists(standing: Standing) -> list[int]:
    return ranked(standing, range(len(standing.epochs)), against_mirror=False)[:FINALISTS]


POLICIES.register(Top.name)(Top())
