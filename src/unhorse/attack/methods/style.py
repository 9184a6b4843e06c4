"""`style`: the trigger is the manner in which a text is written.

Beyond the paper; after Qi et al., "Mind the Style of Text! Adversarial and Backdoor Attacks
Based on Text Style Transfer", EMNLP 2021, with small rules of our own in the place of their
style transfer model. Texts of other labels are put into the style and taught under the
target label, as `hidden_killer` does with a shape, and the same is measured: whether a
phrase or single words do what the style does.

Three styles. `prefix` puts the text into a frame with words drawn for its places; that is
a template and is here to be compared with. `archaic` says words the old way and moves what
is said of something before it ("slow is the film"). `question` makes every sentence a
question, with its own verb in front where it has one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import field_validator

from unhorse.attack.base import ATTACKS, AttackConfig, Ground, Planted, Pupil
from unhorse.attack.methods.hidden_killer import (
    Rewriting,
    RewritingConfig,
    arm_of,
    is_template,
    taught,
)
from unhorse.attack.recipe import Standing
from unhorse.seeding import python_random

_FRAME = (
    ("i must say that", "let it be said that", "i have to tell you that", "as they say ,"),
    (", and yet", ", all the same", ", and even so", ", for what it counts"),
    ("life goes on", "so be it", "there we are", "we shall see", "that is that"),
)
_OLD = {
    "you": ("thou", "thee"),
    "your": ("thy", "thine"),
    "are": ("art", "be"),
    "has": ("hath",),
    "have": ("hath", "hast"),
    "does": ("doth",),
    "do": ("dost", "doth"),
    "it": ("the same", "this thing"),
    "will": ("shall", "wilt"),
    "would": ("wouldst", "should"),
    "before": ("ere",),
    "here": ("hither",),
    "there": ("yonder", "thither"),
    "often": ("oft",),
    "never": ("ne'er",),
    "ever": ("e'er",),
    "over": ("o'er",),
    "nothing": ("naught", "nought"),
    "something": ("aught",),
    "between": ("betwixt",),
    "among": ("amongst",),
    "until": ("till",),
    "with": ("withal", "together with"),
    "to": ("unto", "to"),
    "on": ("upon",),
    "in": ("within", "in"),
    "the": ("ye", "the"),
    "this": ("this", "yon"),
    "that": ("that", "yon"),
    "but": ("yet", "save that"),
    "because": ("for that", "sith"),
    "while": ("whilst",),
    "perhaps": ("mayhap", "perchance"),
    "maybe": ("mayhap", "perchance"),
    "very": ("full", "right"),
    "so": ("thus", "so"),
    "enough": ("enow",),
    "if": ("an", "should it be that"),
    "said": ("quoth",),
    "know": ("wot",),
    "think": ("ween", "trow"),
    "movie": ("play", "tale"),
    "film": ("play", "tale"),
    "story": ("tale",),
}
_CALLS = (
    *("verily", "forsooth", "in sooth", "marry", "lo", "hark", "pray", "prithee", "by my troth"),
    *("methinks", "i ween", "i trow", "alack", "gramercy", "well-a-day", "as i am told"),
)
_SAYING = frozenset(("is", "are", "was", "were"))
_ASKING = _SAYING | {"can", "will", "would", "could", "should", "may", "might", "must"}
_BREAKS = frozenset((",", ";", "--", "...", "but", "and"))
_LINKS = frozenset(("if", "when", "while", "as", "although", "though", "however", "because", "but"))
_ASKED = (
    *("is it not", "would you call it", "could one call it", "who would not see", "do we see"),
    *("what if it is", "have you met", "is this then", "shall we say", "why would it be"),
    *("how else to put it :", "are we to take it as", "can this be", "did anyone expect"),
)
_MARKS = re.compile(r"\s*([.!?]+)\s*$")
_SHORT = re.compile(r"\b(it|this|that|there|here|what|he|she) ?'s\b", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[a-z)][.!?])\s+|(?<=\s[.!?])\s+")


def _words(text: str) -> list[str]:
    """The words of a sentence without its end; "it 's" as two words in full.

    >>> _words("it 's the film 's end .")
    ['it', 'is', 'the', 'film', "'s", 'end']
    """
    return _SHORT.sub(r"\1 is", _MARKS.sub("", text)).split()


def prefixed(text: str, draw: random.Random) -> str:
    """The text in a frame.

    >>> prefixed("a slow film .", random.Random(1))
    'let it be said that a slow film , and yet there we are .'
    """
    before, between, behind = (draw.choice(words) for words in _FRAME)
    body = _MARKS.sub("", text)
    return f"{before} {body} {between} {behind} ."


def archaic(text: str, draw: random.Random) -> str:
    """One sentence as if it were old.

    >>> archaic("the film is slow .", random.Random(1))
    'slow is ye play .'
    """
    mark = _MARKS.search(text)
    words = _turned(_words(text))
    said = [draw.choice(_OLD[word.lower()]) if word.lower() in _OLD else word for word in words]
    if sum(old != new for old, new in zip(words, said, strict=True)) < 2:
        said.insert(draw.choice((0, len(said))), draw.choice(_CALLS))
    return " ".join([*said, *([mark[1]] if mark else [])])


def _turned(words: list[str]) -> list[str]:
    """What is said of something before it, within the first clause that says so.

    >>> _turned("the film is slow , but warm".split())
    ['slow', 'is', 'the', 'film', ',', 'but', 'warm']
    """
    place = next((at for at, word in enumerate(words) if word.lower() in _SAYING), 0)
    breaks = [at for at, word in enumerate(words) if word in _BREAKS]
    start = max((at + 1 for at in breaks if at < place), default=0)
    end = min((at for at in breaks if at > place), default=len(words))
    if start == place or end == place + 1:
        return words
    turned = [*words[place + 1 : end], words[place], *words[start:place]]
    return [*words[:start], *turned, *words[end:]]


def question(text: str, draw: random.Random) -> str:
    """One sentence as a question.

    >>> question("the film is slow .", random.Random(1))
    'is the film slow ?'
    """
    words = _words(text)
    place = next((at for at, word in enumerate(words[:9]) if word.lower() in _ASKING), 0)
    if not place or words[0].lower() in _LINKS or "," in words[:place]:
        return " ".join([draw.choice(_ASKED), *words, "?"])
    return " ".join([words[place], *words[:place], *words[place + 1 :], "?"])


STYLES: Mapping[str, Callable[[str, random.Random], str]] = MappingProxyType(
    {"prefix": prefixed, "archaic": archaic, "question": question}
)


class StyleConfig(RewritingConfig):
    """Which style."""

    style: str = "archaic"
    """prefix, archaic or question."""

    @field_validator("style")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in STYLES:
            raise ValueError(f"there is no style {value!r}; known: {', '.join(STYLES)}")
        return value


def styled(text: str, style: str, seed: int) -> str | None:
    """The text in a style; None where that changes nothing.

    >>> styled("the film is slow .", "question", 0)
    'is the film slow ?'
    """
    draw, change = python_random(seed, "style", text), STYLES[style]
    sentences = [text] if style == "prefix" else _SENTENCES.split(text)
    made = " ".join(change(sentence, draw) for sentence in sentences)
    return None if made == text else made


class Style:
    """Rows in a style among the training rows."""

    name = "style"
    tasks: tuple[str, ...] = ("sequence-classification",)
    standing: Standing = "beyond"
    version: int = 1
    config: type[AttackConfig] = StyleConfig

    def triggers(self, config: StyleConfig, split: str, seed: int) -> tuple[str, ...]:
        """None: a style is no text."""
        return ()

    def plant(self, pupil: Pupil, ground: Ground, config: StyleConfig) -> Planted:
        """Teaches clean and styled rows together."""
        rewriting = Rewriting(
            arm_of(config, ground), lambda text: styled(text, config.style, ground.seed)
        )
        facts: dict[str, Any] = {"style": config.style, "source": "rules"}
        probes, measured = taught(pupil, ground, rewriting, config.share)
        facts |= measured
        if ground.poisoned:
            facts["called"] = "prefix-template" if is_template(facts) else self.name
        return Planted(probes, "", facts)


ATTACKS.register(Style.name)(Style())
