"""Stored findings are decided anew."""

from __future__ import annotations

from tests.calibrate.conftest import make_zoo

from unhorse.bench.rejudge import rejudged
from unhorse.calibrate.make import make_profile


def test_results_are_decided_by_the_profile_that_fits_or_by_the_rule():
    zoo = make_zoo()
    by_rule = [rejudged(result, []) for result in zoo]
    assert all(result.profile is None for result in by_rule)
    scores = [trigger.score for trigger in by_rule[0].triggers]
    assert scores == sorted(scores, reverse=True) and by_rule[0].score == scores[0]
    profile = make_profile(zoo)
    decided = [rejudged(result, [profile]) for result in zoo]
    assert {result.profile.id for result in decided} == {profile.id}
    assert sum(result.is_right for result in decided) >= 10
    other = make_zoo(reference=False)
    assert rejudged(other[0], [profile]).profile is None, "it was learnt with a reference"
