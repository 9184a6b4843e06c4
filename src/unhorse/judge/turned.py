"""The control that asks: does the same search find as much in the clean model?

A search for what two models disagree about always finds something, in clean models too: one of
them happens to dislike a word that leaves the other cold. How much there is to be found by luck
differs from pair to pair, and nothing tells it better than the same search with the two
models in each other's place. What is planted in one of them has no counterpart in the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unhorse.arms.schedule import POLICIES
from unhorse.config import ScanConfig
from unhorse.invert.budget import Meter
from unhorse.invert.pose import Pass, pose_problem
from unhorse.invert.run import SilentProgress, invert_arms
from unhorse.judge.measure import subject_witness
from unhorse.load.divide import MINIMUM_HELDOUT
from unhorse.tasks.base import TASKS
from unhorse.triggers.vocabulary import trigger_text
from unhorse.types import Arm, Effect, Finding, Reference, Runtime, Sample, Subject, Turned

WORTH_TURNING = 0.75
"""Below this attack success a finding will not convict, whatever a clean model would do."""

FEWEST = 10
"""Samples that a search needs to be worth comparing."""


def turned_about(
    subject: Subject,
    finding: Finding,
    now: Pass,
    config: ScanConfig,
    runtime: Runtime,
    meter: Meter,
) -> Turned | None:
    """What the search of a finding's arm finds in the first clean model that took part in it.

    Args:
        subject: model, samples and references.
        finding: what was found in the subject.
        now: the pass that found it.
        config: the method, seed and sample counts.
        runtime: where and how to compute.
        meter: counts the work.

    Returns:
        None where it is not worth it or cannot be asked: too weak a finding, no clean model in
        the objective, one with other labels, or one that is right on too few of the samples.
    """
    if finding.on_heldout.asr < WORTH_TURNING:
        return None
    for reference in subject.references:
        other = exchanged(subject, reference, finding.inversion.arm)
        if other is not None:
            return _searched(other, finding.inversion.arm, now, config, runtime, meter)
    return None


def exchanged(subject: Subject, reference: Reference, arm: Arm) -> Subject | None:
    """The clean model as what is scanned, with the subject as the clean model beside it."""
    same_labels = reference.label_of == tuple(range(len(reference.labels)))
    if not reference.in_objective or not same_labels:
        return None
    task, samples = TASKS.get(subject.loaded.task), subject.samples

    def right(given: Sequence[Sample]) -> tuple[Sample, ...]:
        return tuple(task.sieve(reference.answerer, given)[0])

    seen, unseen = right(samples.inversion), right(samples.heldout)
    victims = len(task.victims(arm, seen, 0)), len(task.victims(arm, unseen, 0))
    if victims[0] < FEWEST or victims[1] < MINIMUM_HELDOUT:
        return None
    own = tuple(range(len(subject.loaded.labels)))
    return Subject(
        loaded=reference.loaded,
        samples=replace(samples, inversion=seen, heldout=unseen, wrong=(), read=()),
        references=(Reference(subject.loaded, subject.loaded.labels, own, in_objective=True),),
    )


def _searched(
    subject: Subject, arm: Arm, now: Pass, config: ScanConfig, runtime: Runtime, meter: Meter
) -> Turned | None:
    problem = pose_problem(subject, [arm], now, config, runtime, meter)
    everything = POLICIES.get("all")
    made = invert_arms(problem, config.method, now.config, everything, SilentProgress())
    if made.interrupted or not made.found or made.found[0].error:
        return None
    text = trigger_text(subject.loaded.tokenizer, made.found[0].token_ids)
    seen, unseen = (
        _effect(subject, arm, samples, config.seed, text)
        for samples in (subject.samples.inversion, subject.samples.heldout)
    )
    source = subject.loaded.origin.source
    return Turned(source, text, max(seen.loss, unseen.loss), unseen.asr, unseen.n)


def _effect(subject: Subject, arm: Arm, samples: Sequence[Sample], seed: int, text: str) -> Effect:
    task = TASKS.get(subject.loaded.task)
    return subject_witness(task, subject, arm, samples, seed=seed).effect(text)
