"""`bandit`: K-Arm's own rule, epsilon-greedy over pulls of a few epochs.

After a warm-up the arm is pulled that promises most: how much its loss has fallen
per pull, plus the reciprocal of the loss it has reached. Now and then another one
is drawn at random. It ends when two arms have had all epochs. Once exploring has
cost as much again as that, only the arms with the lowest loss are pulled.
"""

from __future__ import annotations

from unhorse.arms.schedule import FINALISTS, POLICIES, Round, Standing, ranked, up_to
from unhorse.seeding import python_random

PULL = 5
EPSILON = 0.3
REACHED_WEIGHT = 0.1
"""Makes both terms of the promise about 1: a loss of 0.1 counts like a fall of 1 per pull."""


class Bandit:
    """One arm at a time, chosen anew after every pull."""

    name = "bandit"

    def next(self, standing: Standing, epochs: int) -> Round | None:
        """The warm-up of every arm, then pulls."""
        everyone = range(len(standing.epochs))
        warming = up_to(standing, everyone, min(standing.warm_up, epochs))
        if warming is not None:
            return warming
        open_arms = [arm for arm in everyone if standing.epochs[arm] < epochs]
        done = len(standing.epochs) - len(open_arms)
        if done >= min(FINALISTS, len(standing.epochs)) or not open_arms:
            return None
        spent = sum(standing.epochs) - standing.warm_up * len(standing.epochs)
        if spent >= 2 * FINALISTS * (epochs - standing.warm_up):
            open_arms = ranked(standing, open_arms, against_mirror=False)[: FINALISTS - done]
        draw = python_random(standing.seed, "pull", str(sum(standing.epochs)))
        arm = (
            draw.choice(open_arms)
            if draw.random() < EPSILON
            else max(open_arms, key=lambda a: (_promise(standing, a), -a))
        )
        return Round((arm,), min(PULL, epochs - standing.epochs[arm]))


def _promise(standing: Standing, arm: int) -> float:
    pulls = max(1, standing.epochs[arm] // PULL)
    # Before any epoch an arm's loss is about that of a confident wrong answer.
    fallen = (_START - standing.losses[arm]) / pulls
    return fallen + REACHED_WEIGHT / max(standing.losses[arm], 1e-3)


_START = 5.0

POLICIES.register(Bandit.name)(Bandit())
