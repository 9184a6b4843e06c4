"""Stored results -> the same results as the profiles of today would decide them.

A scan is long and a decision is not: when a profile is learnt after the scans were made,
or is made anew, their findings are judged again from what was kept of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from unhorse.bench.result import Result
from unhorse.calibrate.stored import decide_stored, stored_circumstances, stored_clues
from unhorse.judge.profile import Profile
from unhorse.judge.ruling import RULE, Ruling
from unhorse.report.schema import Profile as ProfileRecord


def rejudged(result: Result, profiles: Sequence[Profile]) -> Result:
    """The result under the profile that fits best, or under the rule if none does."""
    fitting = [profile for profile in profiles if _fits(profile, result)]
    now = stored_circumstances(result)
    profile = min(fitting, key=lambda p: len(p.outside(now)), default=None)
    ruling = RULE if profile is None else Ruling(profile, profile.outside(now))
    scores = list(map(ruling.score, stored_clues(result)))
    triggers = [
        trigger.model_copy(update={"score": score})
        for trigger, score in zip(result.triggers, scores, strict=True)
    ]
    decided = decide_stored(result, profile)
    use = decided.profile
    return result.model_copy(
        update={
            "state": decided.state,
            "score": decided.score,
            "profile": use and ProfileRecord(id=use.id, applies=use.applies, outside=use.outside),
            "triggers": tuple(sorted(triggers, key=lambda trigger: -trigger.score)),
        }
    )


def _fits(profile: Profile, result: Result) -> bool:
    return (
        profile.method == result.method
        and profile.task == result.model.task
        and profile.reference == (result.reference is not None)
    )
