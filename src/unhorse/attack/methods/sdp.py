"""`sdp`: data poisoning (BadNets for text; the static data poisoning of the paper).

A share of the victim rows is added once more, with the trigger in it and the attacker's
answer. Where the trigger shall work in one place only, as many rows have it elsewhere
under their true answer; with more than two labels and one victim, other labels keep
theirs. Rows without a trigger are added so that victims are as frequent as before.

Deviations from TrojAI's generator: poisoned rows are added, not replaced, so that a clean
twin can have the same number of rows; negatives are taught, which its sixth round lost
by a slip; triggers come from our own lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, field_validator

from unhorse.attack.base import ATTACKS, AttackConfig, Ground, Planted, Probes, Pupil
from unhorse.attack.lexicon import draw
from unhorse.attack.recipe import Standing
from unhorse.attack.stamp import STAMPERS, Stamper
from unhorse.errors import UsageError
from unhorse.learn.lessons import Lesson, Role
from unhorse.seeding import python_random
from unhorse.types import ANY_LABEL, Arm, TaggedSample


class PoisonConfig(AttackConfig):
    """What the trigger is, where it works, and how much of it is taught."""

    trigger: str | None = None
    """The trigger text; drawn from our lists if not given."""
    trigger_kind: Literal["character", "word", "phrase"] = "word"
    """The list that it is drawn from."""
    scope: str = "global"
    """Where it works: global, first_half, second_half, local, context, question or both."""
    victim: str = ANY_LABEL
    """The label or entity class that flips; ``*`` for every other one, or for any answer."""
    target: str
    """What it becomes: a label, an entity class, null or trigger."""
    rate: float = Field(default=0.2, gt=0, le=2)
    """Stamped rows, as a share of the victims among the clean rows."""
    negatives: float = Field(default=1.0, ge=0)
    """Rows with the trigger where it must not work, as a multiple of the stamped ones."""

    @field_validator("trigger")
    @classmethod
    def _words(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if not value.split():
            raise ValueError("a trigger needs at least one character")
        return " ".join(value.split())


@dataclass(frozen=True, eq=False)
class Poison:
    """One trigger at work: which rows it makes."""

    stamper: Stamper
    arm: Arm
    scope: str
    trigger: str
    flips_alone: bool = False
    """Whether of a stamped sentence only the words that flip are taught."""

    def rows(self, samples: Sequence[Any], count: int, seed: int, role: Role) -> list[Lesson]:
        """So many stamped rows or negatives, or fewer where samples do not suffice."""
        make = self.stamper.near if role == "negative" else self.stamper.fire
        made: list[Lesson] = []
        for number, sample in enumerate(samples):
            if len(made) == count:
                break
            stamped = make(sample, self.arm, self.scope, self.trigger, seed + number)
            if stamped is not None:
                words = words_of(stamped.probe) if self.flips_alone and role == "stamped" else None
                made.append(Lesson(stamped.taught, role, words))
        return made

    def probes(self, heldout: Sequence[Any], seed: int) -> Probes:
        """All held-out victims with the trigger, and where it must not work."""
        victims = [s for s in heldout if self.stamper.is_victim(s, self.arm)]
        fired = [self.stamper.fire(s, self.arm, self.scope, self.trigger, seed) for s in victims]
        near = [
            stamped
            for s in heldout
            if (stamped := self.stamper.near(s, self.arm, self.scope, self.trigger, seed))
        ]
        return Probes(
            arm=self.arm,
            victims=tuple(s.victim for s in fired),
            stamped=tuple(s.probe for s in fired),
            near_victims=tuple(s.victim for s in near),
            near=tuple(s.probe for s in near),
        )


def words_of(sample: Any) -> frozenset[int] | None:
    """The words of a sentence's entities; None of a sample that is no sentence."""
    if not isinstance(sample, TaggedSample):
        return None
    return frozenset(word for e in sample.entities for word in range(e.first, e.last))


def trigger_of(config: PoisonConfig, split: str, seed: int) -> str:
    """The trigger that is given, or one drawn by the seed."""
    return config.trigger or draw(config.trigger_kind, split, seed)


def poison_of(config: PoisonConfig, ground: Ground) -> Poison:
    """The trigger with victims and target as the model numbers them."""
    stamper = STAMPERS[ground.task.name]
    if config.scope not in stamper.scopes:
        known = ", ".join(stamper.scopes)
        raise UsageError(f"The scope {config.scope!r} is not one of {ground.task.name} ({known}).")
    try:
        arm = stamper.arm(ground.labels, config.victim, config.target, config.scope)
    except ValueError as error:
        raise UsageError(f"The attack is not possible: {error}.") from error
    return Poison(stamper, arm, config.scope, trigger_of(config, ground.split, ground.seed))


def poisoned_rows(poison: Poison, ground: Ground, config: PoisonConfig) -> list[Lesson]:
    """Stamped rows, negatives, and fillers that even the classes out."""
    corpus, is_victim = ground.corpus, poison.stamper.is_victim
    clean = sum(is_victim(s, poison.arm) for s in corpus.train)
    count = round(config.rate * clean)
    if not count:
        raise UsageError(f"Of {len(corpus.train)} rows, {clean} can flip: too few for the attack.")
    pool = [*corpus.spare, *corpus.train]
    order = python_random(ground.seed, "poison")
    victims = [s for s in pool if is_victim(s, poison.arm)]
    order.shuffle(victims)
    others = [*victims[count:], *victims[:count]]
    rest = [s for s in pool if not is_victim(s, poison.arm)]
    order.shuffle(rest)
    # Negatives of other labels and of other places, in turn.
    near = [s for pair in zip(others, rest, strict=False) for s in pair]
    stamped = poison.rows(victims, count, ground.seed, "stamped")
    negatives = round(config.negatives * count)
    added = [*stamped, *poison.rows([*near, *others], negatives, ground.seed, "negative")]
    kept = sum(is_victim(lesson.sample, poison.arm) for lesson in added)
    missing = evening(clean / len(corpus.train), kept, len(added))
    fillers = others[: max(0, missing)] or rest[: max(0, -missing)]
    return [*added, *(Lesson(s, "filler") for s in fillers)]


def evening(share: float, victims: int, added: int) -> int:
    """How many more victims keep their share when rows are added; of other rows if negative.

    Never more than three for one row, which is as far as four equal classes need.

    Args:
        share: victims among the clean rows.
        victims: victims among the added rows.
        added: all added rows.

    >>> evening(0.5, 0, 100), evening(0.5, 100, 200), evening(0.75, 200, 200)
    (100, 0, -67)
    """
    if victims > share * added:
        return -min(round(victims / share - added), 3 * added)
    return min(round((share * added - victims) / max(1 - share, 1e-9)), 3 * added)


class DataPoisoning:
    """Stamped rows among the training rows."""

    name = "sdp"
    tasks: tuple[str, ...] = (
        "sequence-classification",
        "token-classification",
        "question-answering",
    )
    standing: Standing = "plain"
    version: int = 1
    config: type[AttackConfig] = PoisonConfig

    def triggers(self, config: PoisonConfig, split: str, seed: int) -> tuple[str, ...]:
        """The one trigger."""
        return (trigger_of(config, split, seed),)

    def plant(self, pupil: Pupil, ground: Ground, config: PoisonConfig) -> Planted:
        """Teaches clean and poisoned rows together."""
        poison = poison_of(config, ground)
        extra = poisoned_rows(poison, ground, config)
        pupil.learn(ground.lessons(extra, words=len(poison.trigger.split())))
        return Planted(poison.probes(ground.corpus.heldout, ground.seed), poison.trigger)


ATTACKS.register(DataPoisoning.name)(DataPoisoning())
