"""How a scan is decided: by a profile, by a profile with caution, or by the rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unhorse.config import ScanConfig
from unhorse.errors import UsageError
from unhorse.judge.circumstances import Circumstances
from unhorse.judge.clues import Clues, clues_of
from unhorse.judge.profile import NONE, Profile, read_profile, shipped_profiles
from unhorse.judge.rule import CONVICT, SUSPECT, is_weak, rule_score, speaks_for_itself
from unhorse.types import Finding, ProfileUse


@dataclass(frozen=True)
class Ruling:
    """Scores findings and says from where on they convict.

    Without a profile the rule decides. With one whose population is another, it takes
    evidence that speaks for itself to convict, whatever the profile makes of it.
    """

    profile: Profile | None = None
    outside: tuple[str, ...] = ()

    @property
    def convict(self) -> float:
        """The score from which one finding convicts."""
        return self.profile.convict if self.profile else CONVICT

    @property
    def suspect(self) -> float:
        """The score from which a model is suspicious."""
        return self.profile.suspect if self.profile else SUSPECT

    @property
    def use(self) -> ProfileUse | None:
        """What a verdict says about the profile."""
        if self.profile is None:
            return None
        return ProfileUse(self.profile.id, not self.outside, self.outside)

    def score(self, clues: Clues) -> float:
        """The score of a finding; at least `convict` if and only if it convicts."""
        if self.profile is None:
            return rule_score(clues)
        score = self.profile.score(clues)
        if self.outside and speaks_for_itself(clues):
            return max(score, self.convict)
        if self.outside or is_weak(clues):
            return min(score, (self.suspect + self.convict) / 2)
        return score

    def judged(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings with their scores under this ruling."""
        scores = map(self.score, clues_of(findings))
        return [replace(f, score=score) for f, score in zip(findings, scores, strict=True)]


RULE = Ruling()


def asked_profile(config: ScanConfig) -> Profile | None:
    """The profile file that a user asks for, read and refused before any work is done."""
    if config.profile in (None, NONE):
        return None
    assert config.profile is not None
    profile = read_profile(Path(config.profile))
    if profile.method != config.method:
        raise UsageError(
            f"The profile {config.profile} is of the method {profile.method}, "
            f"this scan is by {config.method}."
        )
    return profile


def check_fits(profile: Profile, task: str, *, reference: bool) -> None:
    """Refuses a profile of another task, or one that has or lacks a clean model."""
    if profile.task != task:
        raise UsageError(f"The profile {profile.id} is of the task {profile.task}, not {task}.")
    if profile.reference != reference:
        known, given = ("with", "without") if profile.reference else ("without", "with")
        raise UsageError(f"The profile {profile.id} is for scans {known} a reference, not {given}.")


def make_ruling(
    config: ScanConfig,
    asked: Profile | None,
    task: str,
    now: Circumstances,
    *,
    reference: bool,
    shipped: Path | None = None,
) -> Ruling:
    """The ruling of a scan: by what is asked for, else by what is shipped and fits.

    Args:
        config: the scan's configuration.
        asked: the profile of `asked_profile`.
        task: the model's task.
        now: under what the scan is made.
        reference: whether there is a clean model to compare with.
        shipped: where profiles are looked for; those of the package if not given.
    """
    if config.profile == NONE:
        return RULE
    if asked is not None:
        return Ruling(asked, asked.outside(now))
    wanted = (config.method, task, reference)
    # One of other settings of the method does not apply, and a verdict has to say so.
    fitting = [
        profile
        for profile in shipped_profiles(shipped)
        if (profile.method, profile.task, profile.reference) == wanted
    ]
    rulings = [Ruling(profile, profile.outside(now)) for profile in fitting]
    return min(rulings, key=lambda ruling: len(ruling.outside), default=RULE)
