"""Which arms are worth more epochs: how the arms stand -> the next round.

A policy looks at how far every arm is and how low its loss has come, and says
which arms go on and for how long. It keeps no state of its own, so the same
standing gives the same round, and every method can be scheduled by every policy.
The idea is K-Arm's (Shen et al., ICML 2021): give every arm a warm-up, then spend
the rest where it promises most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol

from unhorse.plugins import Registry
from unhorse.triggers.place import IN_TEXT
from unhorse.types import Arm

WARM_UP = 20
"""Epochs that every arm gets before arms are compared, as in the paper, if nobody says."""

FINALISTS = 2
"""Arms that get all epochs, as in the paper."""

FEW = 4
"""Arms up to which all of them get all epochs, if no policy is asked for."""

AUTO = "auto"

TEXT = "text"
"""The region of all places in running text."""


@dataclass(frozen=True)
class Standing:
    """How the arms stand.

    `losses[i]` is the lowest loss of arm `i` so far, `mirrors[i]` the number of
    the arm that goes the opposite way, if there is one, and `families[i]` says which
    arms its loss can be compared with. `warm_up` is what the method asks for before
    arms are compared.
    """

    epochs: tuple[int, ...]
    losses: tuple[float, ...]
    mirrors: tuple[int | None, ...]
    families: tuple[str, ...]
    seed: int = 0
    warm_up: int = WARM_UP
    ways: tuple[str, ...] = ()
    """From which victims to which target every arm leads, if that is known."""
    regions: tuple[str, ...] = ()
    """Where in an input every arm's trigger stands, if that is known."""


@dataclass(frozen=True)
class Round:
    """Take these arms further by so many epochs."""

    arms: tuple[int, ...]
    epochs: int


class Policy(Protocol):
    """The contract of a policy plug-in."""

    name: str

    def next(self, standing: Standing, epochs: int) -> Round | None:
        """The next round, or None when nothing is left to do.

        Args:
            standing: how the arms stand.
            epochs: what an arm that goes to the end gets in all.
        """


POLICIES: Registry[Policy] = Registry("schedule", "unhorse.arms.policies")


def choose_policy(name: str, arms: int, usual: str | None = None) -> Policy:
    """The policy of that name; `auto` lets few arms all go on and halves many.

    Args:
        name: what is asked for.
        arms: how many there are.
        usual: what `auto` means for a method that knows better.
    """
    if name == AUTO:
        name = usual or ("all" if arms <= FEW else "halving")
    return POLICIES.get(name)


def mirrors(arms: Sequence[Arm]) -> tuple[int | None, ...]:
    """For every arm the number of the one that goes the opposite way.

    >>> pair = [Arm((0,), 1, "start", "a", "b"), Arm((1,), 0, "start", "b", "a")]
    >>> mirrors(pair), mirrors(pair[:1])
    ((1, 0), (None,))
    """
    place = {(arm.victims, arm.target, arm.position): i for i, arm in enumerate(arms)}
    return tuple(
        place.get(((arm.target,), arm.victims[0], arm.position)) if len(arm.victims) == 1 else None
        for arm in arms
    )


def ways_of(arms: Sequence[Arm]) -> tuple[str, ...]:
    """From which victims to which target each arm leads, wherever its trigger stands.

    >>> ways_of([Arm((0,), 1, "start", "a", "b"), Arm((0,), 1, "end", "a", "b")])
    ('0->1', '0->1')
    """
    return tuple(f"{','.join(map(str, arm.victims))}->{arm.target}" for arm in arms)


def regions_of(arms: Sequence[Arm]) -> tuple[str, ...]:
    """In which part of an input each arm's trigger stands: in the text, at an entity, ...

    >>> regions_of([Arm((0,), 1, place, "a", "b") for place in ("start", "end", "before")])
    ('text', 'text', 'before')
    """
    return tuple(TEXT if arm.position in IN_TEXT else arm.position for arm in arms)


def arm_epochs(policy: Policy, arms: Sequence[Arm], epochs: int, warm_up: int = WARM_UP) -> int:
    """How many epochs all arms get together, if no arm stands out."""
    done = [0] * len(arms)
    total = 0
    opposite, families = mirrors(arms), tuple(arm.family for arm in arms)
    while True:
        losses = tuple(1.0 if d else float("inf") for d in done)
        standing = Standing(
            tuple(done),
            losses,
            opposite,
            families,
            warm_up=warm_up,
            ways=ways_of(arms),
            regions=regions_of(arms),
        )
        now = policy.next(standing, epochs)
        if now is None:
            return total
        for arm in now.arms:
            done[arm] += now.epochs
        total += now.epochs * len(now.arms)


def up_to(standing: Standing, arms: Sequence[int], epochs: int) -> Round | None:
    """A round that brings the least advanced of these arms to so many epochs, or to the others."""
    behind = [arm for arm in arms if standing.epochs[arm] < epochs]
    if not behind:
        return None
    least = min(standing.epochs[arm] for arm in behind)
    now = tuple(arm for arm in behind if standing.epochs[arm] == least)
    others = [standing.epochs[arm] for arm in behind if standing.epochs[arm] > least]
    return Round(now, min(others, default=epochs) - least)


def warmed_up(
    standing: Standing, epochs: int, finalists: Callable[[Standing], Sequence[int]]
) -> Round | None:
    """The warm-up of every arm, then all the rest for those that are chosen after it.

    Args:
        standing: how the arms stand.
        epochs: what an arm that goes to the end gets in all.
        finalists: chooses them; asked once, since whoever is beyond the warm-up has been chosen.
    """
    everyone = range(len(standing.epochs))
    warming = up_to(standing, everyone, min(standing.warm_up, epochs))
    if warming is not None:
        return warming
    on = [arm for arm in everyone if standing.epochs[arm] > standing.warm_up]
    return up_to(standing, sorted(on or finalists(standing)), epochs)


def ranked(standing: Standing, arms: Sequence[int], *, against_mirror: bool) -> list[int]:
    """The arms, most promising first: the lowest loss so far.

    Two classes that are alike by nature are easily turned into each other both
    ways; a planted trigger works one way. So, if asked for, an arm is also
    compared with its mirror: its loss counts times the square root of the ratio
    of the two.

    >>> standing = Standing((20,) * 4, (0.2, 0.2, 0.25, 2.0), (1, 0, 3, 2), ("start",) * 4)
    >>> ranked(standing, range(4), against_mirror=False)[0]
    0
    >>> ranked(standing, range(4), against_mirror=True)[0]
    2
    """

    def loss(arm: int) -> float:
        own, other = standing.losses[arm], standing.mirrors[arm]
        known = other is not None and math.isfinite(standing.losses[other])
        if not against_mirror or other is None or not known or not math.isfinite(own):
            return own
        return own * math.sqrt(max(own, 1e-6) / max(standing.losses[other], 1e-6))

    return sorted(arms, key=lambda arm: (loss(arm), arm))


def spread(standing: Standing, ranking: Sequence[int], count: int) -> list[int]:
    """The first of a ranking, taking one of every family in turn.

    Losses of different families are hard to compare: where fewer tokens are possible, or
    one victim class that is like the target by nature, a loss comes down faster without
    coming further.

    >>> standing = Standing((20,) * 4, (0.1, 0.2, 0.3, 0.4), (None,) * 4, ("a", "a", "b", "a"))
    >>> spread(standing, [0, 1, 2, 3], 3)
    [0, 2, 1]
    """
    families: dict[str, list[int]] = {}
    for arm in ranking:
        families.setdefault(standing.families[arm], []).append(arm)
    turns = zip_longest(*families.values())
    return [arm for turn in turns for arm in turn if arm is not None][:count]
