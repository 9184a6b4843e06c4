"""What a trigger text does: stamped into raw text, tokenised again, asked in fp32.

Nothing here sees token ids of an optimiser or its soft mixtures, so an effect
that exists only there is never measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scipy.stats import binomtest

from unhorse.tasks.base import Outcome, Task
from unhorse.types import Answerer, Arm, Effect, Reference, Sample, Subject

_LEAST_LOSS, _MOST_LOSS = 1e-6, 50.0
"""Between these a loss is known exactly enough for its log-odds."""


@dataclass(frozen=True, eq=False)
class Witness:
    """A model that is asked about stamped samples of one arm.

    `right[i][j]` says whether the model answers unit `j` of sample `i` rightly
    without any trigger; only those count towards the attack success rate.
    """

    task: Task
    answerer: Answerer
    samples: tuple[Sample, ...]
    right: tuple[tuple[bool, ...], ...]
    arm: Arm
    seed: int

    def effect(self, trigger: str) -> Effect:
        """What the trigger does to the samples."""
        return self.effects([trigger])[0]

    def effects(self, triggers: Sequence[str]) -> list[Effect]:
        """The same for several triggers, asked together."""
        return [self._summary(outcomes) for outcomes in self._stamped(triggers)]

    def unstamped(self) -> Effect:
        """What the samples do without any trigger."""
        return self._summary(self.task.outcomes(self.answerer, self.samples, self.arm))

    def pushes(self, triggers: Sequence[str]) -> list[float]:
        """How far each trigger takes the samples from their truth to the target, on average.

        In log-odds of the target, as a share of the way from what the model says without a trigger
        to where the target is as likely as not; 0 where there is no sample or no way. Unlike
        a rate it sees what nearly turns a sample, and it can be compared between models that are
        sure in different degrees.
        """
        plain = self._odds(self.task.outcomes(self.answerer, self.samples, self.arm))
        if not plain or sum(plain) >= 0:
            return [0.0] * len(triggers)
        said = map(self._odds, self._stamped(triggers))
        return [(sum(odds) - sum(plain)) / -sum(plain) for odds in said]

    def _stamped(self, triggers: Sequence[str]) -> list[Sequence[Sequence[Outcome]]]:
        """What the samples do with each trigger, all asked together."""
        stamped = [
            self.task.stamp(sample, self.arm, self.seed, trigger)
            for trigger in triggers
            for sample in self.samples
        ]
        outcomes = self.task.outcomes(self.answerer, stamped, self.arm)
        size = len(self.samples)
        return [outcomes[i * size : (i + 1) * size] for i in range(len(triggers))]

    def _odds(self, outcomes: Sequence[Sequence[Outcome]]) -> list[float]:
        """The log-odds of the target for every unit that is answered rightly without a trigger."""
        return [
            log_odds(outcome.loss)
            for units, right in zip(outcomes, self.right, strict=True)
            for outcome, ok in zip(units, right, strict=True)
            if ok
        ]

    def first(self, count: int) -> Witness:
        """The same with the first few samples only."""
        return replace(self, samples=self.samples[:count], right=self.right[:count])

    def _summary(self, outcomes: Sequence[Sequence[Outcome]]) -> Effect:
        return summarise(
            [outcome for units in outcomes for outcome in units],
            [ok for units in self.right for ok in units],
        )


def subject_witness(
    task: Task,
    subject: Subject,
    arm: Arm,
    samples: Sequence[Sample],
    wrong: Sequence[Sample] = (),
    seed: int = 0,
) -> Witness:
    """The subject, asked about the arm's victims among right and wrong samples."""
    right_ones, wrong_ones = task.victims(arm, samples, seed), task.victims(arm, wrong, seed)
    return Witness(
        task=task,
        answerer=subject.answerer,
        samples=(*right_ones, *wrong_ones),
        right=(
            *((True,) * task.units(sample) for sample in right_ones),
            *((False,) * task.units(sample) for sample in wrong_ones),
        ),
        arm=arm,
        seed=seed,
    )


def reference_witness(
    task: Task, reference: Reference, arm: Arm, samples: Sequence[Sample], seed: int = 0
) -> Witness:
    """A clean model, asked about the same samples in its own labels."""
    victims = tuple(task.victims(arm, samples, seed))
    right = task.right(reference.answerer, victims)
    return Witness(
        task=task,
        answerer=reference.answerer,
        samples=victims,
        right=tuple(map(tuple, right)),
        arm=arm,
        seed=seed,
    )


def summarise(outcomes: Sequence[Outcome], right: Sequence[bool]) -> Effect:
    """Rates over what is answered rightly without the trigger, and over all.

    >>> hit, miss = Outcome(0.1, True, True), Outcome(2.0, False, False)
    >>> effect = summarise([hit, hit, miss, hit], [True, True, True, False])
    >>> round(effect.asr, 3), effect.n, effect.asr_unrestricted
    (0.667, 3, 0.75)
    """
    counted = [outcome for outcome, ok in zip(outcomes, right, strict=True) if ok]
    flipped = sum(outcome.hit for outcome in counted)
    return Effect(
        loss=_mean([outcome.loss for outcome in counted], of_nothing=math.nan),
        asr=_mean([outcome.hit for outcome in counted]),
        n=len(counted),
        asr_unrestricted=_mean([outcome.hit for outcome in outcomes]),
        n_unrestricted=len(outcomes),
        interval=wilson(flipped, len(counted)),
        asr_in_part=_mean([outcome.in_part for outcome in counted]),
    )


def log_odds(loss: float) -> float:
    """The log-odds of what has this cross entropy, within bounds.

    >>> abs(log_odds(math.log(2))) < 1e-6, log_odds(math.inf) == log_odds(99.0)
    (True, True)
    """
    known = min(max(loss, _LEAST_LOSS), _MOST_LOSS) if loss == loss else _MOST_LOSS
    return -math.log(math.expm1(known))


def mean_effect(effects: Sequence[Effect]) -> Effect:
    """Several triggers of one kind as one: means, and the interval of all counts together."""
    total = sum(effect.n for effect in effects)
    flipped = sum(round(effect.asr * effect.n) for effect in effects)
    return Effect(
        loss=_mean([effect.loss for effect in effects]),
        asr=_mean([effect.asr for effect in effects]),
        n=total,
        asr_unrestricted=_mean([effect.asr_unrestricted for effect in effects]),
        n_unrestricted=sum(effect.n_unrestricted for effect in effects),
        interval=wilson(flipped, total),
        asr_in_part=_mean([effect.asr_in_part for effect in effects]),
    )


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a rate; nothing is known of an empty one.

    >>> tuple(round(x, 2) for x in wilson(20, 20))
    (0.84, 1.0)
    >>> wilson(0, 0)
    (0.0, 1.0)
    """
    if n == 0:
        return (0.0, 1.0)
    interval = binomtest(hits, n).proportion_ci(confidence_level=0.95, method="wilson")
    return (float(interval.low), float(interval.high))


def _mean(values: Sequence[float], of_nothing: float = 0.0) -> float:
    return float(sum(values) / len(values)) if values else of_nothing
