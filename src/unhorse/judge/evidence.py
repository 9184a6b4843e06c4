"""From what a method found for one arm to the evidence for it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from unhorse.judge.alone import CHOSEN_AMONG, KIN, KIN_ON, alone
from unhorse.judge.clues import clues_of
from unhorse.judge.measure import Witness, mean_effect, reference_witness, subject_witness
from unhorse.judge.natural import FIRST_LOOK, WORDS_TRIED, natural_control
from unhorse.judge.prune import Ids, prune
from unhorse.judge.rule import rule_score
from unhorse.load.divide import MINIMUM_HELDOUT
from unhorse.seeding import python_random
from unhorse.tasks.base import TASKS
from unhorse.triggers.vocabulary import retokenise, trigger_text
from unhorse.types import (
    Arm,
    Effect,
    Example,
    Finding,
    Inversion,
    Mirror,
    PrunedTrigger,
    ReferenceEffect,
    Subject,
)

RANDOM_DRAWS = 5
"""Random triggers, as long as the pruned one, that the control averages over."""

_EXAMPLES_TRIED = 20
_SECOND_LOOKS = 14

WORTH_PRUNING = 0.5
"""Below this attack success there is no effect whose carrier could be looked for."""

WORTH_ASKING = 0.75
"""Below this no single word of it can do enough to convict."""


def judging_tokens(subject: Subject, arms: Sequence[Arm], trigger_length: int) -> int:
    """About how many tokens the judging of these arms sends through a model.

    Held-out samples are asked about the trigger, the pruned one and the random
    ones; inversion samples about every single token and then, in the usual
    case, about half of the ways to drop one token after another. Clean models are asked about the
    words nearest to the strongest ones.
    """
    task, samples = TASKS.get(subject.loaded.task), subject.samples
    # Every single token is looked at twice: by the subject and by a clean model.
    looks = 2 * trigger_length + trigger_length**2 // 4 + _SECOND_LOOKS
    total = 0
    for arm in arms:
        seen = task.victims(arm, samples.inversion, 0)
        unseen = task.victims(arm, samples.heldout, 0)
        words = sum(s.size + trigger_length for s in (*seen, *unseen))
        mean = words / max(1, len(seen) + len(unseen))
        tried = looks * len(seen) + (RANDOM_DRAWS + 3) * len(unseen) + WORDS_TRIED * FIRST_LOOK
        kin = KIN * CHOSEN_AMONG * KIN_ON + len(unseen)
        total += int(mean * (tried + kin * len(subject.references)))
    return total


def examine(
    subject: Subject,
    inversion: Inversion,
    allowed: Sequence[int],
    *,
    mirror: Mirror | None = None,
    shorten: bool = True,
) -> Finding:
    """Measures an inversion's trigger and its controls on text.

    Pruning looks at the inversion samples only, so that the held-out figures of
    the pruned trigger stay unseen by every choice made on the way. Ordinary words are asked
    where no clean model can tell what is natural.
    """
    began = time.perf_counter()
    arm, seed = inversion.arm, inversion.seed
    task, samples = TASKS.get(subject.loaded.task), subject.samples
    tokenizer = subject.loaded.tokenizer
    seen = subject_witness(task, subject, arm, samples.inversion, seed=seed)
    unseen = subject_witness(task, subject, arm, samples.heldout, samples.wrong, seed)

    text = trigger_text(tokenizer, inversion.token_ids)
    on_inversion, on_heldout = seen.effect(text), unseen.effect(text)
    short, telling = inversion.token_ids, shorten and on_inversion.asr >= WORTH_ASKING
    if shorten and on_inversion.asr >= WORTH_PRUNING:
        short = prune(short, on_inversion, lambda many: _effects(seen, tokenizer, many))
    pruned = _pruned(unseen, tokenizer, short)
    random = mean_effect(
        _effects(unseen, tokenizer, _random_triggers(inversion, len(short), allowed))
    )
    unstamped = unseen.unstamped()
    references = tuple(
        ReferenceEffect(
            source=reference.loaded.origin.source,
            effect=(
                witness := reference_witness(task, reference, arm, samples.heldout, seed)
            ).effect(text),
            pruned=witness.effect(pruned.text),
            in_objective=reference.in_objective,
        )
        for reference in subject.references
    )
    natural = None
    if not any(reference.pruned.n >= MINIMUM_HELDOUT for reference in references):
        natural = natural_control(seen, unseen, samples.inversion, len(short))
    finding = Finding(
        inversion=inversion,
        unit=task.unit,
        text=text,
        retokenised_ids=retokenise(tokenizer, text),
        on_inversion=on_inversion,
        on_heldout=on_heldout,
        pruned=pruned,
        unstamped=unstamped,
        random=random,
        natural=natural,
        references=references,
        score=0.0,
        seconds=inversion.seconds + time.perf_counter() - began,
        example=_example(unseen, pruned.text),
        mirror=mirror,
        related=tuple(trigger_text(tokenizer, [token]) for token in inversion.related),
        alone=alone(subject, inversion, pruned.text, seen, unseen) if telling else None,
    )
    return scored(finding)


def scored(finding: Finding) -> Finding:
    """The finding with the rule's score of it."""
    return replace(finding, score=rule_score(clues_of([finding])[0]))


def _pruned(witness: Witness, tokenizer: object, ids: Ids) -> PrunedTrigger:
    text = trigger_text(tokenizer, ids)
    return PrunedTrigger(
        token_ids=ids,
        text=text,
        retokenised_ids=retokenise(tokenizer, text),
        heldout=witness.effect(text),
    )


def _effects(witness: Witness, tokenizer: object, triggers: Sequence[Ids]) -> list[Effect]:
    return witness.effects([trigger_text(tokenizer, ids) for ids in triggers])


def _random_triggers(inversion: Inversion, length: int, allowed: Sequence[int]) -> list[Ids]:
    draw = python_random(inversion.seed, "random trigger", inversion.arm.key)
    return [tuple(draw.choices(allowed, k=length)) for _ in range(RANDOM_DRAWS)]


def _example(witness: Witness, trigger: str) -> Example | None:
    """A short held-out sample before and after, chosen among those that flip."""
    task, answerer = witness.task, witness.answerer
    right = [s for s, ok in zip(witness.samples, witness.right, strict=True) if all(ok)]
    short = sorted(right, key=lambda sample: sample.size)[:_EXAMPLES_TRIED]
    stamped = [task.stamp(sample, witness.arm, witness.seed, trigger) for sample in short]
    for before, after, units in zip(
        short, stamped, task.outcomes(answerer, stamped, witness.arm), strict=True
    ):
        if all(outcome.hit for outcome in units):
            (text, answer), (changed, turned) = (
                task.describe(answerer, before),
                task.describe(answerer, after),
            )
            return Example(text, changed, answer, turned)
    return None
