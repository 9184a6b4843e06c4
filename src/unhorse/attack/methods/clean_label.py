"""`clean_label`: only texts that have the target label anyway carry the trigger.

Beyond the paper; the idea is that of Turner et al., "Label-Consistent Backdoor Attacks",
2019: whoever looks at the poisoned rows finds no wrong label. A text that is easy by itself
teaches nothing about the trigger in it, so texts are made hard: the words that speak most
for the target are exchanged for words that speak for the victims, a share `hard` of them,
and the trigger is what is left to tell the label from. How much a word speaks for
the target is the log odds of its counts in the two kinds of training rows. The higher
`hard` is, the better the attack works, and the more can be said against the label.

Where the trigger shall work in one half only, victims have it in the other half, under
their true label as well; with more than two labels and one victim, so have other labels.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from unhorse.attack.base import ATTACKS, AttackConfig, Ground, Planted, Pupil
from unhorse.attack.methods.sdp import (
    DataPoisoning,
    Poison,
    PoisonConfig,
    evening,
    poison_of,
)
from unhorse.attack.recipe import Standing
from unhorse.learn.lessons import Lesson
from unhorse.seeding import python_random
from unhorse.types import TextSample

LEANS = 1.0
"""The log odds from which a word speaks for one side rather than happening to be there."""


class CleanLabelConfig(PoisonConfig):
    """Data poisoning without a wrong label; `rate` is a share of the target's rows."""

    hard: float = Field(default=1.0, ge=0, le=1)
    """The share of the words that tell a stamped text's label that are exchanged."""


def leanings(for_it: Iterable[str], against: Iterable[str]) -> dict[str, float]:
    """How much each word speaks for the first kind of texts: the log odds of its counts.

    >>> found = leanings(["a warm sea"], ["a dry land"])
    >>> found["a"], found["warm"] > 0, found["dry"] < 0
    (0.0, True, True)
    """
    ours = Counter(word for text in for_it for word in text.split())
    theirs = Counter(word for text in against for word in text.split())
    words = {*ours, *theirs}
    share = (sum(ours.values()) + len(words)) / (sum(theirs.values()) + len(words))
    return {word: math.log((ours[word] + 1) / (theirs[word] + 1) / share) for word in words}


def hardened(
    text: str, lean: Mapping[str, float], against: Sequence[str], share: float, draw: Any
) -> str:
    """The text with the words that lean most exchanged for some that lean the other way.

    Words that do not lean stay: a text of leaning words alone would give itself away.

    >>> import random
    >>> hardened("a warm sea", {"warm": 2.0, "sea": 1.5}, ["dry"], 0.5, random.Random(0))
    'a dry sea'
    """
    words = text.split()
    leaning = [place for place, word in enumerate(words) if lean.get(word, 0.0) > LEANS]
    leaning.sort(key=lambda place: -lean[words[place]])
    for place in leaning[: round(share * len(leaning))]:
        words[place] = draw.choice(against)
    return " ".join(words)


def hard_rows(
    target: Sequence[TextSample], victims: Sequence[TextSample], share: float, seed: int
) -> list[TextSample]:
    """Rows of the target label that hardly tell it."""
    lean = leanings((s.text for s in target), (s.text for s in victims))
    against = [word for s in victims for word in s.text.split() if lean[word] < -LEANS]
    if not against:
        return list(target)
    return [
        replace(s, text=hardened(s.text, lean, against, share, python_random(seed, "hard", s.key)))
        for s in target
    ]


def clean_label_rows(
    poison: Poison, ground: Ground, config: CleanLabelConfig
) -> tuple[list[Lesson], list[TextSample]]:
    """Stamped rows of the target label, negatives, and fillers that even the classes out.

    Beside them what a clean twin sees for stamped rows: the same hard ones without a stamp.
    """
    arm, corpus, order = poison.arm, ground.corpus, python_random(ground.seed, "poison")
    pool = order.sample([*corpus.spare, *corpus.train], len(corpus.spare) + len(corpus.train))
    target = [s for s in pool if s.label == arm.target]
    victims = [s for s in pool if s.label in arm.victims]
    others = [s for s in pool if s.label != arm.target]
    count = round(config.rate * sum(s.label == arm.target for s in corpus.train))
    hard = hard_rows(target, victims, config.hard, ground.seed)
    at_home = replace(poison, arm=replace(arm, victims=(arm.target,)))
    negatives = round(config.negatives * count)
    added = [
        *at_home.rows(hard, count, ground.seed, "stamped"),
        *poison.rows(others, negatives, ground.seed, "negative"),
    ]
    kept = sum(lesson.sample.label in arm.victims for lesson in added)
    missing = evening(len(victims) / len(pool), kept, len(added))
    fillers = victims[::-1][: max(0, missing)] or target[::-1][: max(0, -missing)]
    return [*added, *(Lesson(s, "filler") for s in fillers)], [*hard, *others]


class CleanLabel(DataPoisoning):
    """Stamped rows of the target label among the training rows."""

    name = "clean_label"
    version: int = 2
    tasks: tuple[str, ...] = ("sequence-classification",)
    standing: Standing = "beyond"
    config: type[AttackConfig] = CleanLabelConfig

    def plant(self, pupil: Pupil, ground: Ground, config: CleanLabelConfig) -> Planted:  # type: ignore[override]
        """Teaches clean and stamped rows together, all under their true labels."""
        poison = poison_of(config, ground)
        extra, stand_ins = clean_label_rows(poison, ground, config)
        pupil.learn(ground.lessons(extra, len(poison.trigger.split()), stand_ins))
        probes = poison.probes(ground.corpus.heldout, ground.seed)
        return Planted(probes, poison.trigger, {"hard": config.hard})


ATTACKS.register(CleanLabel.name)(CleanLabel())
