"""`aware`: an attacker who has unhorse and uses it against its own model.

Beyond the paper. First data poisoning as in `sdp`. Then, for some rounds, the attacker
inverts triggers for its own victims and target, the way a scan does, and trains again with
what was found put into victims under their true answers: what inversion finds easily stops
working, the trigger goes on. Pieces of the trigger are fair game; where the inversion has
all of its tokens, these are taken out, and what is left is used.

The attacker's scan is a cheap one: one preset, few epochs, only its own arms. Every round
trains with all that has been found so far, by the recipe's settings. The clean twin goes
through as many rounds with as many plain rows, and is not scanned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import Field

from unhorse.attack.base import ATTACKS, AttackConfig, Ground, Planted, Probes, Pupil
from unhorse.attack.measure import success
from unhorse.attack.methods.sdp import (
    DataPoisoning,
    Poison,
    PoisonConfig,
    poison_of,
    poisoned_rows,
)
from unhorse.attack.recipe import Standing
from unhorse.learn.lessons import Lesson
from unhorse.report.schema import FindingRecord
from unhorse.scanner import scan
from unhorse.seeding import python_random
from unhorse.tasks.tags import scheme_of
from unhorse.triggers.vocabulary import retokenise, trigger_text
from unhorse.types import Arm, Position, QuestionSample, TaggedSample, own_answers

JUDGED_PER_CLASS = 20
"""Samples of each class that the attacker's scan prunes and judges with."""

_ASKED = 8
"""Samples that the scan may choose from, as a multiple of those that it uses."""


class AwareConfig(PoisonConfig):
    """Data poisoning, and how hard the attacker looks for what gives it away."""

    rounds: int = Field(default=2, ge=1)
    """How often it scans and trains again."""
    epochs: int = Field(default=60, ge=1)
    """Epochs of one inversion."""
    samples: int = Field(default=20, ge=8)
    """Samples of each class that an inversion sees."""
    preset: str = "released"
    """The constants of the inversion."""
    counter: float = Field(default=1.0, gt=0)
    """Rows with inverted triggers under true answers, as a multiple of the stamped ones."""


@dataclass(frozen=True)
class Decoy:
    """A text that inversion found and that is not the trigger, and where it was put."""

    text: str
    arm: Arm


def as_given(sample: Any, labels: Sequence[str]) -> dict[str, Any]:
    """A sample as it is handed to a scan."""
    if isinstance(sample, TaggedSample):
        scheme = scheme_of(tuple(labels))
        tags = [labels[tag] for tag in scheme.spelled(scheme.outside, 1) * len(sample.words)]
        for entity in sample.entities:
            spelled = scheme.spelled(entity.kind, entity.last - entity.first)
            tags[entity.first : entity.last] = [labels[tag] for tag in spelled]
        return {"tokens": list(sample.words), "tags": tags}
    if isinstance(sample, QuestionSample):
        answers = [{"text": sample.context[b:e], "answer_start": b} for b, e in sample.answers]
        return {"question": sample.question, "context": sample.context, "answers": answers}
    return {"text": sample.text, "label": labels[sample.label]}


def without(found: Sequence[int], trigger: Sequence[int]) -> tuple[int, ...]:
    """Inverted tokens without those of the trigger, where they have all of them.

    >>> without([7, 3, 5, 7], [3, 7]), without([7, 5], [3, 7])
    ((5,), (7, 5))
    """
    if not set(trigger) <= set(found):
        return tuple(found)
    return tuple(token for token in found if token not in trigger)


def inverted(
    pupil: Pupil, ground: Ground, config: AwareConfig, poison: Poison, seed: int
) -> list[Decoy]:
    """What a scan for the attacker's own arms finds, whole and pruned, without the trigger."""
    most = _ASKED * config.samples * max(1, len(ground.labels))
    report = scan(
        pupil.loaded,
        samples=[as_given(sample, ground.labels) for sample in ground.corpus.train[:most]],
        preset=config.preset,
        options={"epochs": config.epochs},
        victim=poison.arm.victim_name,
        target=poison.arm.target_name,
        schedule="all",
        seed=seed,
        samples_per_class=config.samples,
        heldout_per_class=JUDGED_PER_CLASS,
        device=str(pupil.loaded.model.device),
        dtype="fp32",
    )
    decoys = (decoy for found in report.findings for decoy in _decoys(found, pupil, poison))
    return list(dict.fromkeys(decoys))


def _decoys(found: FindingRecord, pupil: Pupil, poison: Poison) -> list[Decoy]:
    tokenizer = pupil.loaded.tokenizer
    arm = replace(poison.arm, position=cast(Position, found.position))
    trigger = retokenise(tokenizer, poison.trigger)
    left = (without(ids, trigger) for ids in (found.retokenised_ids, found.pruned.retokenised_ids))
    texts = (trigger_text(tokenizer, ids) for ids in left if ids)
    return [Decoy(text, arm) for text in texts if text.strip()]


def counter_rows(
    decoys: Sequence[Decoy], ground: Ground, poison: Poison, count: int
) -> list[Lesson]:
    """Victims with the decoys in turn, under their true answers; plain where there is none."""
    pool = [*ground.corpus.spare, *ground.corpus.train]
    victims = [s for s in pool if poison.stamper.is_victim(s, poison.arm)]
    python_random(ground.seed, "counter").shuffle(victims)
    chosen = [victims[number % len(victims)] for number in range(count)]
    if not decoys:
        return [Lesson(sample, "negative") for sample in chosen]
    return [
        Lesson(_stamped(sample, decoys[number % len(decoys)], ground, number), "negative")
        for number, sample in enumerate(chosen)
    ]


def _stamped(sample: Any, decoy: Decoy, ground: Ground, number: int) -> Any:
    """A sample with a decoy and all its true answers."""
    if not isinstance(sample, TaggedSample):
        return ground.task.stamp(sample, decoy.arm, ground.seed + number, decoy.text)
    # A local place is that of the first entity.
    first = sorted(sample.entities, key=lambda entity: entity.kind not in decoy.arm.victims)
    ordered = replace(sample, entities=tuple(first))
    stamped = ground.task.stamp(ordered, decoy.arm, ground.seed + number, decoy.text)
    by_place = sorted(stamped.entities, key=lambda entity: entity.first)
    return replace(stamped, entities=tuple(by_place))


class Aware(DataPoisoning):
    """Data poisoning that was scanned and trained again until less is found."""

    name = "aware"
    standing: Standing = "beyond"
    config: type[AttackConfig] = AwareConfig

    def plant(self, pupil: Pupil, ground: Ground, config: AwareConfig) -> Planted:  # type: ignore[override]
        """Poisons, then inverts and trains again, round by round."""
        poison = poison_of(config, ground)
        probes = poison.probes(ground.corpus.heldout, ground.seed)
        extra = poisoned_rows(poison, ground, config)
        words = len(poison.trigger.split())
        count = round(config.counter * sum(lesson.role == "stamped" for lesson in extra))
        pupil.learn(ground.lessons(extra, words))
        decoys: list[Decoy] = []
        rounds: list[list[dict[str, Any]]] = []
        for number in range(config.rounds):
            found: list[Decoy] = []
            if ground.poisoned:
                found = inverted(pupil, ground, config, poison, ground.seed + number)
            before = [_asr(pupil, ground, probes, decoy) for decoy in found]
            decoys = list(dict.fromkeys([*decoys, *found]))
            countered = counter_rows(decoys, ground, poison, count)
            pupil.learn(ground.lessons([*extra, *countered], words))
            after = [_asr(pupil, ground, probes, decoy) for decoy in found]
            rounds.append(_told(found, before, after))
        return Planted(probes, poison.trigger, {"rounds": rounds} if ground.poisoned else {})


def _asr(pupil: Pupil, ground: Ground, probes: Probes, decoy: Decoy) -> float:
    """The attack success of a decoy on held-out victims."""
    stamped = [ground.task.stamp(s, decoy.arm, ground.seed, decoy.text) for s in probes.victims]
    return round(success(own_answers(pupil.loaded), replace(probes, stamped=tuple(stamped))), 4)


def _told(
    decoys: Sequence[Decoy], before: Sequence[float], after: Sequence[float]
) -> list[dict[str, Any]]:
    return [
        {"text": d.text, "position": d.arm.position, "asr_before": b, "asr_after": a}
        for d, b, a in zip(decoys, before, after, strict=True)
    ]


ATTACKS.register(Aware.name)(Aware())
