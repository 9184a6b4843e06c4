"""The control that asks: would ordinary words of the target label do the same?

A text can be turned by strong words of the other label; that is what a classifier
is for, and no backdoor. So a found trigger is compared with the strongest words
that the target label's own samples contain, as many as the trigger has tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from unhorse.judge.measure import Witness
from unhorse.seeding import python_random
from unhorse.types import NaturalControl, Sample

WORDS_TRIED = 150
"""Different words of the target label's samples that are tried one by one."""

_FIRST_LOOK = 6
_SECOND_LOOK = 12


def natural_control(
    seen: Witness, unseen: Witness, target_samples: Sequence[Sample], length: int
) -> NaturalControl | None:
    """What ordinary words do to the held-out samples of `unseen`; None without any words.

    Tried are the strongest different words and the strongest one repeated; the
    better of the two on the samples of `seen` is the control.
    """
    words = strongest_words(seen, target_samples, length)
    if not words:
        return None
    texts = list(dict.fromkeys([" ".join(words), " ".join(words[:1] * length)]))
    effects = seen.effects(texts)
    best = max(range(len(texts)), key=lambda i: (effects[i].asr, -effects[i].loss))
    return NaturalControl(texts[best], unseen.effect(texts[best]))


def strongest_words(
    victims: Witness, target_samples: Sequence[Sample], count: int
) -> tuple[str, ...]:
    """The words of the target label's samples that move the victims most, strongest first.

    Every word is tried alone on a few victims, the best of them again on all.
    """
    words = _words(target_samples, victims.seed)
    if not words:
        return ()
    few = replace(victims, samples=victims.samples[:_FIRST_LOOK], right=victims.right[:_FIRST_LOOK])
    shortlist = _ranked(few, words)[: max(_SECOND_LOOK, count)]
    return tuple(_ranked(victims, shortlist)[:count])


def _ranked(victims: Witness, words: Sequence[str]) -> list[str]:
    effects = victims.effects(words)
    order = sorted(range(len(words)), key=lambda i: (-effects[i].asr, effects[i].loss))
    return [words[i] for i in order]


def _words(samples: Sequence[Sample], seed: int) -> list[str]:
    """Distinct words, drawn evenly when there are more than are tried."""
    found = sorted({word for sample in samples for word in re.findall(r"\w[\w'-]*", sample.text)})
    if len(found) <= WORDS_TRIED:
        return found
    return sorted(python_random(seed, "natural words").sample(found, WORDS_TRIED))
