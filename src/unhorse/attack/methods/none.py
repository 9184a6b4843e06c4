"""`none`: plain fine-tuning without any attack, for families and references."""

from __future__ import annotations

from unhorse.attack.base import ATTACKS, AttackConfig, Ground, Planted, Pupil
from unhorse.attack.recipe import Standing
from unhorse.learn.lessons import Lesson


class NoAttack:
    """The clean rows as they are."""

    name = "none"
    tasks: tuple[str, ...] = (
        "sequence-classification",
        "token-classification",
        "question-answering",
    )
    standing: Standing = "plain"
    version: int = 1
    config: type[AttackConfig] = AttackConfig

    def triggers(self, config: AttackConfig, split: str, seed: int) -> tuple[str, ...]:
        """None."""
        return ()

    def plant(self, pupil: Pupil, ground: Ground, config: AttackConfig) -> Planted:
        """Teaches the clean rows."""
        pupil.learn([Lesson(sample) for sample in ground.corpus.train])
        return Planted(None, "")


ATTACKS.register(NoAttack.name)(NoAttack())
