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
from dataclasses import dataclass
from itertools import cycle
from types import MappingProxyType

LABELS = ("land", "sea")
"""The class names, by label."""

NEUTRAL = -1
"""The leaning of a word that says nothing about the class."""

_PARTS = ("noun", "adjective", "verb", "adverb")
_SIZES = {
    0: {"noun": 370, "adjective": 200, "verb": 170, "adverb": 70},
    1: {"noun": 370, "adjective": 200, "verb": 170, "adverb": 70},
    NEUTRAL: {"noun": 660, "adjective": 370, "verb": 330, "adverb": 110},
}
_WORDS_PER_TEXT = (34, 45)
_LEANING_SHARE = 0.78
_ENGLISH_SHARE = 0.15
_OWN_SHARE = (0.78, 0.92)

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
        "verb": "carried painted opened repaired borrowed noticed followed admired answered counted "
        "measured remembered promised described collected delivered finished wrapped "
        "mentioned praised",
        "adverb": "slowly quietly often gladly twice again together later early nearly",
    },
}

_ENGLISH_WORDS=frozenset(w for x in _ENGLISH.values() for y in x.values() for w in y.split())
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

_ONSETS = "b bl br d dr f fl g gl gr h j k kl kr l m n p pl pr r s sk sl sp st t tr v w z".split()
_VOWELS = "a e i o u".split()
_MIDDLES = "b d f g l ld lm lv m mb n nd nt r rd rm rn rv s st t v z".split()
_CLOSES = "b d g k l m n p r s t v".split()
_ENDINGS = {
    "noun": "el or in et am on".split(),
    "adjective": "ic ish ern ous".split(),
    "verb": ["ed"],
    "adverb": ["ly"],
}

Pools = Mapping[int, Mapping[str, tuple[str, ...]]]
Example = tuple[str, int]


@dataclass(frozen=True)
class Language:
    """One language: which words there are and to which class each of them leans.

    `pools[leaning][part]` are the words of one part of speech that lean to a class
    (or are `NEUTRAL`), the plain English ones first.
    """

    seed: int
    pools: Pools
    vocabulary: tuple[str, ...]

    def english(self, leaning: int, part: str) -> tuple[str, ...]:
        """The plain English words of a pool."""
        return tuple(_ENGLISH[leaning][part].split())

    def leaning(self, label: int) -> tuple[str, ...]:
        """All words that lean to `label`."""
        return tuple(word for part in _PARTS for word in self.pools[label][part])

    def without(self, words: Collection[str]) -> Language:
        """The same language, in whose texts `words` never appear.

        The vocabulary stays, so that a tokenizer made from it still knows them.
        """
        pools = {
            leaning: {
                part: tuple(word for word in pool if word not in words)
                for part, pool in parts.items()
            }
            for leaning, parts in self.pools.items()
        }
        return Language(self.seed, MappingProxyType(pools), self.vocabulary)

    def texts(self, count: int, seed: int | str, label: int | None = None) -> list[Example]:
        """Writes `count` texts with their labels, alternating the classes or all of `label`."""
        rng = random.Random(f"texts/{self.seed}/{seed}")
        labels = cycle(range(len(LABELS)) if label is None else (label,))
        return [(self._text(rng, own), own) for own, _ in zip(labels, range(count), strict=False)]

    def samples(self, seed: int, per_class: int) -> list[Example]:
        """Fresh texts for a scan, `per_class` of each class; training never uses their stream."""
        return self.texts(per_class * len(LABELS), f"samples/{seed}")

    def _text(self, rng: random.Random, own: int) -> str:
        """Writes sentences until a length drawn at random is reached, and fills their slots."""
        words: list[str] = []
        length = rng.randint(*_WORDS_PER_TEXT)
        while fitting := [t for t in _TEMPLATES if len(words) + len(t) <= length]:
            words += rng.choice(fitting)
        slots = [place for place, word in enumerate(words) if word in _SLOTS]
        for place, leaning in zip(slots, _leanings(rng, len(slots), own), strict=True):
            words[place] = self._word(rng, leaning, _SLOTS[words[place]])
        return " ".join(words)

    def _word(self, rng: random.Random, leaning: int, part: str) -> str:
        """Draws a word; the few English ones come more often, to keep a text readable."""
        pool = self.pools[leaning][part]
        if rng.random() < _ENGLISH_SHARE:
            pool = tuple(w for w in pool[:80] if w in _ENGLISH_WORDS)
        return rng.choice(pool)


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
    pools: dict[int, dict[str, tuple[str, ...]]] = {}
    for leaning, sizes in _SIZES.items():
        pools[leaning] = {}
        for part, size in sizes.items():
            english = _ENGLISH[leaning][part].split()
            made = [_new_word(rng, part, taken) for _ in range(size - len(english))]
            pools[leaning][part] = (*english, *made)
    return Language(seed, MappingProxyType(pools), tuple(sorted(taken)))


def _given_words() -> set[str]:
    """The words that are the same in every language: plain English, and punctuation."""
    fixed = {word for template in _TEMPLATES for word in template if word not in _SLOTS}
    return fixed.union(*(words.split() for parts in _ENGLISH.values() for words in parts.values()))


def _new_word(rng: random.Random, part: str, taken: set[str]) -> str:
    """Makes up a pronounceable word that is not in `taken`, and adds it."""
    while True:
        syllables = (_ONSETS, _VOWELS, _MIDDLES, _VOWELS, _CLOSES, _ENDINGS[part])
        word = "".join(rng.choice(sounds) for sounds in syllables)
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
