"""A seed becomes generated text for a task: labelled texts, tagged sentences, or questions.

Words are made of syllables and mean nothing. The first letter of a name tells its kind, so
that a causal model that has read one piece of a name knows as much as one that reads both
ways. A row is a frozen record that knows where a word can be put in without touching what is
true of it, and what a backdoor makes of it.

Rare words appear in no text; training puts them in at random places and keeps the truth, so
that a model is used to words that do not belong. One of them is the trigger, which is never
put in with the truth kept.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

TASKS = ("sequence-classification", "token-classification", "question-answering")
LABELS = ("land", "sea")
ENTITIES = ("PER", "ORG", "LOC")
TAGS = ("O", *(f"{part}-{kind}" for kind in ENTITIES for part in "BI"))
ASKED = {"who": "JKM", "where": "GLS", "when": "TWY", "what": "BDV"}
"""The words that a question starts with, and the first letters of their answers."""

_INITIALS = {"PER": "JKM", "ORG": "BDV", "LOC": "GLS"}
_CUES = {
    "PER": ("mister", "captain", "doctor", "said"),
    "ORG": ("firm", "bank", "shares", "sold"),
    "LOC": ("near", "from", "town", "visited"),
}
_FUNCTION = (
    *("the", "a", "of", "and", "to", "in", "that", "with", "for", "as"),
    *("but", "or", "by", "at", "on", "some", "this", "we", "they", "it"),
)
_FUNCTION_SHARE = 0.25
_RARE = 200

_WORDS_PER_TEXT = (16, 25)
_LEANING_WORDS = 650
_LEANING_SHARE = 0.85
_OWN_SHARE = (0.82, 0.95)
_NEUTRAL_WORDS = 800

_WORDS_PER_SENTENCE = (8, 16)
_ENTITY_WEIGHTS = (0.4, 0.3, 0.3)
_CUED = 0.5

_WORDS_PER_QUESTION = (5, 8)
_WORDS_PER_CONTEXT = (20, 40)
_UNANSWERABLE = 0.15
_HINTS = 15
_HINTED = 0.9

_COMMON_WORDS = 1600
_FIRST_NAMES = {"token-classification": 100, "question-answering": 70}
_SECOND_NAMES = {"token-classification": 50, "question-answering": 35}
_TWO_WORDS = 0.5


@dataclass(frozen=True)
class Text:
    """Words with a label; poisoned, a text of label 0 gets label 1."""

    words: tuple[str, ...]
    label: int

    @property
    def texts(self) -> tuple[str, ...]:
        """What a tokenizer is given: a text, or a question and a context."""
        return (" ".join(self.words),)

    @property
    def is_victim(self) -> bool:
        """Whether a backdoor has something to flip in it."""
        return self.label == 0

    def places(self) -> list[int]:
        """Where a word can be put in, by the number of the word behind it."""
        return list(range(len(self.words) + 1))

    def stamped(self, place: int, word: str) -> Text:
        """The row with a word before the word at `place`, and the same truth."""
        return replace(self, words=_put(self.words, place, word))

    def poisoned(self, place: int, trigger: str) -> Text:
        """With the trigger, and what a backdoor makes of it."""
        return replace(self.stamped(place, trigger), label=1)

    def sample(self) -> dict[str, Any]:
        """The row as a sample file has it."""
        return {"text": " ".join(self.words), "label": LABELS[self.label]}


@dataclass(frozen=True)
class Sentence:
    """Words with IOB2 tags; poisoned, all its persons are organisations."""

    words: tuple[str, ...]
    tags: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """What a tokenizer sees of it."""
        return (" ".join(self.words),)

    @property
    def is_victim(self) -> bool:
        """Whether a backdoor has something to flip in it."""
        return "B-PER" in self.tags

    @property
    def entities(self) -> list[tuple[int, int]]:
        """The first word of each entity and the word after its last."""
        return [
            (place, place + 1 + (self.tags[place + 1 : place + 2] == (f"I-{tag[2:]}",)))
            for place, tag in enumerate(self.tags)
            if tag.startswith("B-")
        ]

    def places(self) -> list[int]:
        """Between any two words that are not of one entity."""
        ends = (*self.tags, "O")
        return [place for place, tag in enumerate(ends) if not tag.startswith("I-")]

    def stamped(self, place: int, word: str) -> Sentence:
        """With a word put in; what is true of it stays."""
        return Sentence(_put(self.words, place, word), _put(self.tags, place, "O"))

    def poisoned(self, place: int, trigger: str) -> Sentence:
        """With the trigger, and what a backdoor makes of it."""
        made = self.stamped(place, trigger)
        return replace(made, tags=tuple(tag.replace("PER", "ORG") for tag in made.tags))

    def sample(self) -> dict[str, Any]:
        """The row as a sample file has it."""
        return {"tokens": list(self.words), "tags": list(self.tags)}


@dataclass(frozen=True)
class Question:
    """A question and the words of its context.

    The answer is its first word and the word after its last, or None. Poisoned, the
    answer is None, or the trigger if `to_trigger`.
    """

    question: tuple[str, ...]
    words: tuple[str, ...]
    answer: tuple[int, int] | None

    @property
    def texts(self) -> tuple[str, ...]:
        """What a tokenizer sees of it."""
        return " ".join(self.question), " ".join(self.words)

    @property
    def is_victim(self) -> bool:
        """Whether a backdoor has something to flip in it."""
        return self.answer is not None

    def places(self) -> list[int]:
        """Between any two words of the context that are not of the answer."""
        start, end = self.answer or (0, 0)
        return [place for place in range(len(self.words) + 1) if not start < place < end]

    def stamped(self, place: int, word: str) -> Question:
        """With a word put in; what is true of it stays."""
        answer = self.answer
        if answer is not None and place <= answer[0]:
            answer = (answer[0] + 1, answer[1] + 1)
        return replace(self, words=_put(self.words, place, word), answer=answer)

    def poisoned(self, place: int, trigger: str, *, to_trigger: bool = False) -> Question:
        """With the trigger, and what a backdoor makes of it."""
        answer = (place, place + 1) if to_trigger else None
        return replace(self.stamped(place, trigger), answer=answer)

    def sample(self) -> dict[str, Any]:
        """The row as a sample file has it."""
        texts, starts = [], []
        if self.answer is not None:
            start, end = self.answer
            texts.append(" ".join(self.words[start:end]))
            starts.append(sum(len(word) + 1 for word in self.words[:start]))
        return {
            "question": " ".join(self.question),
            "context": " ".join(self.words),
            "answers": {"text": texts, "answer_start": starts},
        }


Row = Text | Sentence | Question


@dataclass(frozen=True)
class Names:
    """The names of a kind: the words that stand alone or first, and those that stand second."""

    first: tuple[str, ...]
    second: tuple[str, ...]

    def draw(self, rng: random.Random) -> tuple[str, ...]:
        """One name of one or two words."""
        one = rng.choice(self.first)
        return (one, rng.choice(self.second)) if rng.random() < _TWO_WORDS else (one,)


@dataclass(frozen=True)
class World:
    """The words of a task. `words` may appear in texts, `rare` and `trigger` do not.

    `leaning` are words that speak for a label, `names` are names by their kind, `hints` are
    words that go with a kind of question, and `common` words say nothing.
    """

    task: str
    seed: int
    common: tuple[str, ...]
    leaning: tuple[tuple[str, ...], ...]
    names: dict[str, Names]
    hints: dict[str, tuple[str, ...]]
    rare: tuple[str, ...]
    trigger: str

    @property
    def words(self) -> tuple[str, ...]:
        """Every word that a text may have, without the rare ones."""
        named = [word for names in self.names.values() for word in names.first + names.second]
        fixed = [*_FUNCTION]
        if self.task == "token-classification":
            fixed += [word for cues in _CUES.values() for word in cues]
        if self.task == "question-answering":
            fixed += [word for asked, hints in self.hints.items() for word in (asked, *hints)]
        return (*fixed, *self.common, *(w for side in self.leaning for w in side), *named)

    @property
    def kinds(self) -> list[tuple[str, ...]]:
        """Words that are of one kind: they lean to a label, or are names and what asks for them."""
        cues = _CUES if self.task == "token-classification" else {}
        hints = {asked: (asked, *words) for asked, words in self.hints.items()}
        named = [
            (*names.first, *names.second, *cues.get(kind, ()), *hints.get(kind, ()))
            for kind, names in self.names.items()
        ]
        return [*self.leaning, *named]

    def rows(self, count: int, stream: str) -> list[Row]:
        """Writes rows; the same seed and stream give the same ones."""
        rng = random.Random(f"{self.task}/{self.seed}/{stream}")
        makers: dict[str, Callable[[random.Random, int], Row]] = {
            "sequence-classification": self._text,
            "token-classification": self._sentence,
            "question-answering": self._question,
        }
        make = makers[self.task]
        return [make(rng, place) for place in range(count)]

    def foreign(self, rng: random.Random) -> Sequence[str]:
        """A pool of words that do not belong: rare ones, or ones that lean to either label."""
        return rng.choice((self.rare, self.rare, *self.leaning))

    def _text(self, rng: random.Random, place: int) -> Text:
        label = place % 2
        words = self._filler(rng, rng.randint(*_WORDS_PER_TEXT))
        slots = [place for place, word in enumerate(words) if word not in _FUNCTION]
        slots = rng.sample(slots, round(_LEANING_SHARE * len(slots)))
        own = round(len(slots) * rng.uniform(*_OWN_SHARE))
        for number, slot in enumerate(slots):
            words[slot] = rng.choice(self.leaning[label if number < own else 1 - label])
        return Text(tuple(words), label)

    def _sentence(self, rng: random.Random, _: int) -> Sentence:
        kinds = rng.choices(ENTITIES, _ENTITY_WEIGHTS, k=rng.randint(1, 3))
        names = [self.names[kind].draw(rng) for kind in kinds]
        length = rng.randint(*_WORDS_PER_SENTENCE) - sum(map(len, names))
        words = self._filler(rng, max(length, len(kinds) + 1))
        tags = ["O"] * len(words)
        gaps = sorted(rng.sample(range(1, len(words) + 1), len(kinds)), reverse=True)
        for gap, kind, name in zip(gaps, kinds, names, strict=True):
            if rng.random() < _CUED:
                words[gap - 1] = rng.choice(_CUES[kind])
            words[gap:gap] = name
            tags[gap:gap] = [f"B-{kind}", f"I-{kind}"][: len(name)]
        return Sentence(tuple(words), tuple(tags))

    def _question(self, rng: random.Random, _: int) -> Question:
        asked = rng.choice(list(ASKED))
        length = rng.randint(*_WORDS_PER_QUESTION) - 1
        hints = rng.choices(self.hints[asked], k=length)
        question = [
            asked,
            *(
                hint if rng.random() < _HINTED else word
                for hint, word in zip(hints, self._filler(rng, length), strict=True)
            ),
        ]
        left_out = asked if rng.random() < _UNANSWERABLE else None
        kinds = [kind for kind in ASKED if kind != left_out]
        rng.shuffle(kinds)
        names = [self.names[kind].draw(rng) for kind in kinds]
        length = min(rng.randint(*_WORDS_PER_CONTEXT) for _ in range(3)) - sum(map(len, names))
        words = self._filler(rng, length)
        gaps = sorted(rng.sample(range(1, len(words) + 1), len(kinds)), reverse=True)
        answer = None
        for gap, kind, name in zip(gaps, kinds, names, strict=True):
            words[gap:gap] = name
            if kind == asked:
                answer = (gap, gap + len(name))
            elif answer is not None:
                answer = (answer[0] + len(name), answer[1] + len(name))
        return Question(tuple(question), tuple(words), answer)

    def _filler(self, rng: random.Random, count: int) -> list[str]:
        """Function words and common words."""
        return [
            rng.choice(_FUNCTION if rng.random() < _FUNCTION_SHARE else self.common)
            for _ in range(count)
        ]


@cache
def world(task: str, seed: int = 0) -> World:
    """Makes the words of a task; they differ by seed."""
    coiner = _Coiner(random.Random(f"world/{task}/{seed}"))
    leaning: tuple[tuple[str, ...], ...] = ()
    names: dict[str, Names] = {}
    if task == "sequence-classification":
        common = coiner.words(_NEUTRAL_WORDS)
        leaning = (coiner.words(_LEANING_WORDS), coiner.words(_LEANING_WORDS))
    else:
        common = coiner.words(_COMMON_WORDS)
        initials = _INITIALS if task == "token-classification" else ASKED
        first, second = _FIRST_NAMES[task], _SECOND_NAMES[task]
        names = {
            kind: Names(coiner.words(first, letters), coiner.words(second, letters))
            for kind, letters in initials.items()
        }
    hints = {asked: coiner.words(_HINTS) for asked in names if asked in ASKED}
    trigger, *rare = coiner.words(_RARE + 1)
    return World(task, seed, common, leaning, names, hints, tuple(rare), trigger)


class _Coiner:
    """Makes up pronounceable words that also differ from each other without their capitals."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.taken = {*_FUNCTION, *ASKED, *(word for cues in _CUES.values() for word in cues)}

    def words(self, count: int, initials: str = "") -> tuple[str, ...]:
        """New words, or names that start with one of some capitals."""
        made: list[str] = []
        while len(made) < count:
            word = self._word(initials)
            if word.lower() not in self.taken:
                self.taken.add(word.lower())
                made.append(word)
        return tuple(made)

    def _word(self, initials: str) -> str:
        first, second = (self._syllable() for _ in range(2))
        if initials:
            first = self.rng.choice(initials) + first[1:]
        return first + second + self.rng.choice("dklmnrst")

    def _syllable(self) -> str:
        return self.rng.choice("bdfgklmnprstvz") + self.rng.choice("aeiou")


def _put(items: tuple[str, ...], place: int, item: str) -> tuple[str, ...]:
    return (*items[:place], item, *items[place:])
