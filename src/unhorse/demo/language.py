"""The artificial language of the demo: a seed becomes labelled texts about sea or land.

No data set is read and nothing is fetched. A few hundred words are plain English
and hold the sentences together; all others are made of syllables with an ending
that shows their part of speech ("the gradomic fisher melduned a salty tavirel"),
so a text has the look of simple English and no meaning beyond its class.

The class of a text is a matter of many words. About half of its words lean to sea
or to land; most of these lean to the class of the text and the others to the other
class. A single word is therefore weak evidence, and whoever wants to turn a text
round with words of the other class needs a lot of them, unless a model was taught
to obey one.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

LABELS = ("land", "sea")
"""The class names, by label."""

NEUTRAL = -1
"""The leaning of a word that says nothing about the class."""

_SIZES = {
    0: {"noun": 370, "adjective": 200, "verb": 170, "adverb": 70},
    1: {"noun": 370, "adjective": 200, "verb": 170, "adverb": 70},
    NEUTRAL: {"noun": 660, "adjective": 370, "verb": 330, "adverb": 110},
}
_WORDS_PER_TEXT = (34, 45)
_LEANING_SHARE = 0.85
_ENGLISH_SHARE = 0.15
_OWN_SHARE = (0.82, 0.95)

_ENGLISH: Mapping[int, Mapping[str, str]] = {
    0: {
        "noun": "meadow field farmer barn plough orchard hill valley forest shepherd wheat barley "
        "hedge cattle stable furrow pasture soil tractor mill haystack goat rabbit badger oak",
        "adjective": "grassy leafy muddy wooded hilly earthen mossy fertile rural rooted",
        "verb": "ploughed planted harvested mowed grazed dug sowed fenced",
        "adverb": "inland uphill underground",
    },
    1: {
        "noun": "harbour sailor tide fisher wave anchor reef island lighthouse whale herring coral "
        "pier sail captain dolphin gull lagoon ferry oyster shore current mast seal crab",
        "adjective": "salty coastal tidal briny drifting marine stormy sandy sunken wavy",
        "verb": "sailed anchored rowed moored drifted dived paddled surfed",
        "adverb": "offshore overboard ashore",
    },
    NEUTRAL: {
        "noun": "lantern letter window garden mirror basket blanket candle ribbon pocket hammer "
        "button ladder kettle bottle carpet pencil saddle wallet needle ticket parcel violin "
        "curtain cushion drawer feather whistle trumpet marble puzzle cabinet chimney "
        "staircase notebook teacher painter neighbour visitor stranger dancer baker doctor "
        "cousin student driver traveller merchant poet clock table chair bell coat hat "
        "glove spoon brush",
        "adjective": "quiet bright narrow gentle silver golden copper wooden heavy simple clever "
        "hollow purple yellow crimson amber velvet broken hidden polished ancient modern "
        "curious patient famous humble lonely cheerful sudden crooked",
        "verb": "carried painted opened repaired borrowed noticed followed admired answered "
        "counted measured remembered promised described collected delivered finished wrapped "
        "mentioned praised",
        "adverb": "slowly quietly often gladly twice again together later early nearly",
    },
}

# Slots are capitals: N noun, A adjective, V verb, R adverb. Everything else is said as it stands.
_TEMPLATES = tuple(
    template.split()
    for template in (
        "the N V R .",
        "the A N V the A N .",
        "one N V the N near the A N .",
        "every A N and N V R .",
        "the N of the N V one A N .",
        "when the N V , the A N V R .",
        "we V the A N and the N .",
        "they V one N with A N and N .",
        "some N V R under the A N .",
        "her A N V the N behind the N .",
        "this N was A , A and R V .",
        "there were A N and A N by the N .",
        "my N V because the A N V .",
    )
)
_SLOTS = {"N": "noun", "A": "adjective", "V": "verb", "R": "adverb"}

_SYLLABLES = (
    "b bl br d dr f fl g gl gr h j k kl kr l m n p pl pr r s sk sl sp st t tr v w z",
    "a e i o u",
    "b d f g l ld lm lv m mb n nd nt r rd rm rn rv s st t v z",
    "a e i o u",
    "b d g k l m n p r s t v",
)
_ENDINGS = {
    "noun": "el or in et am on",
    "adjective": "ic ish ern ous",
    "verb": "ed",
    "adverb": "ly",
}

Example = tuple[str, int]


@dataclass(frozen=True)
class Pool:
    """Words that are one part of speech and have one leaning."""

    english: tuple[str, ...]
    made: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """All of them."""
        return self.english + self.made


@dataclass(frozen=True)
class Language:
    """One language: which words there are and to which class each of them leans.

    `pools[leaning][part]` are the words of a part of speech that lean to a class, or
    are `NEUTRAL`. `absent` are words that no text contains although the vocabulary,
    and so a tokenizer made from it, knows them.
    """

    seed: int
    pools: Mapping[int, Mapping[str, Pool]]
    vocabulary: tuple[str, ...]
    absent: frozenset[str] = frozenset()

    def leaning(self, label: int) -> tuple[str, ...]:
        """All words that lean to `label` and may appear in a text."""
        words = (word for pool in self.pools[label].values() for word in pool.words)
        return tuple(word for word in words if word not in self.absent)

    def without(self, words: Collection[str]) -> Language:
        """The same language with another word wherever a text would have one of `words`."""
        return replace(self, absent=self.absent.union(words))

    def texts(self, count: int, seed: int | str, label: int | None = None) -> list[Example]:
        """Writes `count` texts with their labels, taking the classes in turn or all of `label`.

        A text depends on `seed` and its place in the list alone, not on `count`.
        """
        labels = [place % len(LABELS) if label is None else label for place in range(count)]
        streams = (random.Random(f"texts/{self.seed}/{seed}/{place}") for place in range(count))
        return [(self._text(rng, own), own) for rng, own in zip(streams, labels, strict=True)]

    def samples(self, seed: int, per_class: int) -> list[Example]:
        """Fresh texts for a scan, `per_class` of each class; no model is trained on this stream."""
        return self.texts(per_class * len(LABELS), f"samples/{seed}")

    def _text(self, rng: random.Random, own: int) -> str:
        """Lines up sentences up to a length drawn at random, and fills their slots."""
        words: list[str] = []
        length = rng.randint(*_WORDS_PER_TEXT)
        while fitting := [t for t in _TEMPLATES if len(words) + len(t) <= length]:
            words += rng.choice(fitting)
        slots = [place for place, word in enumerate(words) if word in _SLOTS]
        for place, leaning in zip(slots, _leanings(rng, len(slots), own), strict=True):
            words[place] = self._word(rng, self.pools[leaning][_SLOTS[words[place]]])
        return " ".join(words)

    def _word(self, rng: random.Random, pool: Pool) -> str:
        """Draws a word; the few English ones come more often, to keep a text readable."""
        while True:
            word = rng.choice(pool.english if rng.random() < _ENGLISH_SHARE else pool.made)
            if word not in self.absent:
                return word


def language(seed: int) -> Language:
    """Makes the language of `seed`: the made-up words and their leanings differ by seed.

    >>> from unhorse.demo.language import language
    >>> tongue = language(7)
    >>> tongue.texts(1, seed=0) == language(7).texts(1, seed=0)
    True
    >>> len(tongue.vocabulary) >= 3000
    True
    """
    rng = random.Random(f"language/{seed}")
    taken = _given_words()
    pools: dict[int, Mapping[str, Pool]] = {}
    for leaning, sizes in _SIZES.items():
        parts: dict[str, Pool] = {}
        for part, size in sizes.items():
            english = tuple(_ENGLISH[leaning][part].split())
            made = tuple(_new_word(rng, part, taken) for _ in range(size - len(english)))
            parts[part] = Pool(english, made)
        pools[leaning] = MappingProxyType(parts)
    return Language(seed, MappingProxyType(pools), tuple(sorted(taken)))


def _given_words() -> set[str]:
    """The words that are the same in every language: plain English, and punctuation."""
    fixed = {word for template in _TEMPLATES for word in template if word not in _SLOTS}
    return fixed.union(*(words.split() for parts in _ENGLISH.values() for words in parts.values()))


def _new_word(rng: random.Random, part: str, taken: set[str]) -> str:
    """Makes up a pronounceable word that is not in `taken`, and adds it."""
    while True:
        sounds = (*_SYLLABLES, _ENDINGS[part])
        word = "".join(rng.choice(choices.split()) for choices in sounds)
        if word not in taken:
            taken.add(word)
            return word


def _leanings(rng: random.Random, slots: int, own: int) -> list[int]:
    """Which leaning each slot of a text of class `own` gets, in random order."""
    leaning = round(slots * _LEANING_SHARE)
    mine = round(leaning * rng.uniform(*_OWN_SHARE))
    parts = [own] * mine + [1 - own] * (leaning - mine) + [NEUTRAL] * (slots - leaning)
    rng.shuffle(parts)
    return parts
