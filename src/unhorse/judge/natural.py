"""The control that asks: would ordinary words do the same?

A text can be turned by strong words of the other label; that is what a classifier
is for, and no backdoor. So a found trigger is compared with the strongest words
that go with the target in the samples, as many as the trigger has tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

from unhorse.judge.measure import Witness
from unhorse.seeding import python_random
from unhorse.types import NaturalControl, Sample

WORDS_TRIED = 150
"""Different words of samples with the target that are tried one by one."""

FIRST_LOOK = 6
"""Victims that every word is tried on; the loss on them ranks the words well enough."""

_SECOND_LOOK = 12


def natural_control(
    seen: Witness, unseen: Witness, samples: Sequence[Sample], length: int
) -> NaturalControl | None:
    """What ordinary words do to the held-out samples of `unseen`; None without any words.

    Tried are the strongest different words and the strongest one repeated; the
    better of the two on the samples of `seen` is the control.

    Args:
        seen: the subject on the samples that words are chosen on.
        unseen: the subject on the held-out samples.
        samples: where the words are taken from.
        length: how many words.
    """
    words = strongest_words(seen, samples, length)
    if not words:
        return None
    texts = list(dict.fromkeys([" ".join(words), " ".join(words[:1] * length)]))
    effects = seen.effects(texts)
    best = max(range(len(texts)), key=lambda i: (effects[i].asr, -effects[i].loss))
    return NaturalControl(texts[best], unseen.effect(texts[best]))


def strongest_words(victims: Witness, samples: Sequence[Sample], count: int) -> tuple[str, ...]:
    """The words that go with the target and move the victims most, strongest first.

    Every word is tried alone on a few victims, the best of them again on all.
    """
    words = _drawn(victims.task.ordinary_words(victims.arm, samples), victims.seed)
    if not words:
        return ()
    shortlist = _ranked(victims.first(FIRST_LOOK), words)[: max(_SECOND_LOOK, count)]
    return tuple(_ranked(victims, shortlist)[:count])


def _ranked(victims: Witness, words: Sequence[str]) -> list[str]:
    effects = victims.effects(words)
    order = sorted(range(len(words)), key=lambda i: (-effects[i].asr, effects[i].loss))
    return [words[i] for i in order]


def _drawn(words: Sequence[str], seed: int) -> list[str]:
    """The words, drawn evenly when there are more than are tried."""
    if len(words) <= WORDS_TRIED:
        return list(words)
    return sorted(python_random(seed, "natural words").sample(list(words), WORDS_TRIED))
