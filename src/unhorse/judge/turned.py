"""The control that asks: does the same search find as much in the clean model?

A search for what two models disagree about always finds something, in clean models too: one of
them happens to dislike a word that leaves the other cold. How much there is to be found by luck
differs from pair to pair and grows with the length of a text, and nothing tells it better than the
same search with the two models in each other's place, asked for texts of the same length. What
is planted in one of them has no counterpart in the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from unhorse.arms.schedule import POLICIES
from unhorse.config import ScanConfig
from unhorse.invert.budget import Meter
from unhorse.invert.pose import Pass, pose_problem
from unhorse.invert.run import SilentProgress, invert_arms
from unhorse.judge.measure import subject_witness
from unhorse.load.divide import MINIMUM_HELDOUT
from unhorse.tasks.base import TASKS
from unhorse.triggers.vocabulary import trigger_text
from unhorse.types import Arm, Finding, Reference, Runtime, Sample, Subject, Turned

WORTH_TURNING = 0.9
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

    Raises:
        KeyboardInterrupt: the search was interrupted, so nothing can be compared.
    """
    if finding.on_heldout.asr < WORTH_TURNING:
        return None
    for reference in subject.references:
        other = exchanged(subject, reference, finding.inversion.arm)
        if other is not None:
            # Every epoch adds a token, and texts of one length are compared.
            tokens = max(1, len(finding.pruned.token_ids))
            short = replace(now, config=now.config.model_copy(update={"epochs": tokens}))
            return _searched(other, finding.inversion.arm, short, config, runtime, meter)
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
    if made.interrupted:
        raise KeyboardInterrupt
    if not made.found or made.found[0].error:
        return None
    (found,) = made.found
    text = trigger_text(subject.loaded.tokenizer, found.token_ids)
    task, heldout = TASKS.get(subject.loaded.task), subject.samples.heldout
    unseen = subject_witness(task, subject, arm, heldout, seed=config.seed).effect(text)
    # Every epoch adds a token; the loss is that of the best text so far.
    losses = tuple(accumulate(found.curve.loss, min))
    return Turned(subject.loaded.origin.source, text, losses, unseen.asr, unseen.n)
