"""A stored result -> its clues, and the decision on it under any profile."""

from __future__ import annotations

from dataclasses import dataclass

from unhorse.bench.result import Result
from unhorse.config import make_config
from unhorse.errors import UsageError
from unhorse.invert.run import plan_passes
from unhorse.judge.circumstances import Circumstances, method_version
from unhorse.judge.clues import Clues, make_clues
from unhorse.judge.decide import missing_arms, state_of
from unhorse.judge.profile import Profile
from unhorse.judge.ruling import RULE, Ruling, check_fits
from unhorse.types import ArmCount, ProfileUse, VerdictState


@dataclass(frozen=True)
class Decided:
    """What a scan would have said."""

    state: VerdictState
    score: float
    profile: ProfileUse | None


def decide_stored(result: Result, profile: Profile | None = None) -> Decided:
    """The verdict that a stored result has under a profile, or under the rule without one.

    Args:
        result: what was kept of a scan.
        profile: one of the same method and task, likewise with or without a reference.
    """
    if profile is None:
        ruling = RULE
    else:
        if profile.method != result.method:
            raise UsageError(f"The profile {profile.id} is not of the method {result.method}.")
        check_fits(profile, result.model.task, reference=result.reference is not None)
        ruling = Ruling(profile, profile.outside(stored_circumstances(result)))
    score = max(map(ruling.score, stored_clues(result)), default=0.0)
    arms = ArmCount(result.arms_planned, result.arms_run, result.arms_failed, result.arms_pruned)
    state = state_of(score, ruling, complete=missing_arms(arms) <= 0)
    return Decided(state, score, ruling.use)


def stored_clues(result: Result) -> list[Clues]:
    """The clues of all findings of a result, in their order."""
    return [
        make_clues(
            trigger.arm,
            trigger.tokens,
            trigger.pruned.heldout,
            trigger.unstamped,
            trigger.random,
            trigger.natural.heldout if trigger.natural else None,
            [reference.pruned for reference in trigger.references],
            whole=(trigger.inversion, trigger.heldout),
            turned=trigger.turned.losses if trigger.turned else (),
            alone=trigger.alone,
        )
        for trigger in result.triggers
    ]


def stored_circumstances(result: Result) -> Circumstances:
    """Under what the scan of a result was made."""
    given = result.population
    return Circumstances(
        version=stored_version(result),
        layers=result.model.layers,
        labels=given.labels,
        words=given.words,
        used=given.used,
        heldout=given.heldout,
        positions=frozenset(given.positions),
        own_texts=not result.own_samples,
        distilled=result.is_distilled,
    )


def stored_version(result: Result) -> str:
    """The version of the method with its settings, as a scan would name it."""
    # Named, because a result leaves out what was the default when it was made.
    config = make_config(
        result.config, method=result.method, preset=result.preset, budget=result.budget
    )
    return method_version(
        config, plan_passes(config), result.method_version, result.evidence_version
    )
