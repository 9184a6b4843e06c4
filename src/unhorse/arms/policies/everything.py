"""`all`: every arm gets all epochs."""

from __future__ import annotations

from unhorse.arms.schedule import POLICIES, Round, Standing, up_to


class Everything:
    """No arm is dropped."""

    name = "all"

    def next(self, standing: Standing, epochs: int) -> Round | None:
        """All arms to the end."""
        return up_to(standing, range(len(standing.epochs)), epochs)


POLICIES.register(Everything.name)(Everything())
