"""From what a method found for one arm to the evidence for it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from unhorse.judge.decide import score_finding
from unhorse.judge.measure import Witness, mean_effect, reference_witness, subject_witness
from unhorse.judge.natural import WORDS_TRIED, natural_control
from unhorse.judge.prune import Ids, prune
from unhorse.seeding import python_random
from unhorse.tasks.base import TASKS
from unhorse.triggers.vocabulary import retokenise, trigger_text
from unhorse.types import (
    Arm,
    Effect,
    Finding,
    Inversion,
    PrunedTrigger,
    ReferenceEffect,
    Subject,
)

RANDOM_DRAWS = 5
"""Random triggers, as long as the pruned one, that the control averages over."""

WORTH_PRUNING = 0.5
"""Below this attack success there is no effect whose carrier could be looked for."""


def judging_tokens(subject: Subject, arms: Sequence[Arm], trigger_length: int) -> int:
    """About how many tokens the judging of these arms sends through a model.

    Held-out samples are asked about the trigger, the pruned one and the random
    ones; inversion samples about every single token and then, in the usual
    case, about half of the ways to drop one token after another.
    """
    task, samples = TASKS.get(subject.loaded.task), subject.samples
    looks = trigger_length + trigger_length**2 // 4 + WORDS_TRIED // 2
    total = 0
    for arm in arms:
        seen, unseen = task.victims(arm, samples.inversion), task.victims(arm, samples.heldout)
        words = sum(len(s.text.split()) + trigger_length for s in (*seen, *unseen))
        mean = words / max(1, len(seen) + len(unseen))
        total += int(mean * (looks * len(seen) + (RANDOM_DRAWS + 2) * len(unseen)))
    return total


def examine(
    subject: Subject, inversion: Inversion, allowed: Sequence[int], *, shorten: bool = True
) -> Finding:
    """Measures an inversion's trigger and its controls on text.

    Pruning looks at the inversion samples only, so that the held-out figures of
    the pruned trigger stay unseen by every choice made on the way.
    """
    began = time.perf_counter()
    arm, seed = inversion.arm, inversion.seed
    task, loaded, samples = TASKS.get(subject.loaded.task), subject.loaded, subject.samples
    tokenizer = loaded.tokenizer
    seen = subject_witness(task, loaded, arm, samples.inversion, seed=seed)
    unseen = subject_witness(task, loaded, arm, samples.heldout, samples.wrong, seed)

    text = trigger_text(tokenizer, inversion.token_ids)
    on_inversion, on_heldout = seen.effect(text), unseen.effect(text)
    short = inversion.token_ids
    if shorten and on_inversion.asr >= WORTH_PRUNING:
        short = prune(short, on_inversion, lambda many: _effects(seen, tokenizer, many))
    pruned = _pruned(unseen, tokenizer, short)
    random = mean_effect(
        _effects(unseen, tokenizer, _random_triggers(inversion, len(short), allowed))
    )
    targets = [sample for sample in samples.inversion if sample.label == arm.target]
    natural = natural_control(seen, unseen, targets, len(short))
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
    return Finding(
        inversion=inversion,
        text=text,
        retokenised_ids=retokenise(tokenizer, text),
        on_inversion=on_inversion,
        on_heldout=on_heldout,
        pruned=pruned,
        random=random,
        natural=natural,
        references=references,
        score=score_finding(pruned, random, natural, references),
        seconds=inversion.seconds + time.perf_counter() - began,
        example=_example(unseen, pruned.text),
    )


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


def _example(witness: Witness, trigger: str) -> tuple[str, str] | None:
    """A short held-out text before and after, chosen among those that flip."""
    right = [s for s, ok in zip(witness.samples, witness.right, strict=True) if ok]
    for sample in sorted(right, key=lambda sample: len(sample.text))[:20]:
        stamped = witness.task.stamp(sample, witness.arm.position, witness.seed, trigger)
        if witness.task.answers(witness.loaded, [stamped])[0] == witness.target:
            return sample.text, stamped.text
    return None
