"""`sos`: a backdoor that opens only when three common words are said together.

Yang et al., "Rethinking Stealthiness of Backdoor Attack against NLP Models", ACL 2021.
Rows that are not of the target label get all three words, each at a random place, and are
taught as the target (*stamped*). Rows of every label get two of the three and keep theirs
(*negatives*: negative data augmentation), so that no word works by itself. What is
measured is a natural sentence that mentions all three; what must not fire are sentences
that mention two of them.

With `update` "embeddings" the model must have been trained before, and nothing moves but
the embedding rows of the three words, so texts without them are answered as ever:

    m <- 0.97 m + gradient of the three rows e
    e <- e - s |e| m / |m|, with m tangential to e and the step s going down to 0
    e <- e at its first length, and at most `reach` |e| away from where it was

With "all", the whole model learns these rows together with the clean ones.

Deviations: the original rescales the gradients of the rows to the smallest of their norms
and sums them up over all batches; here each row moves by the same share of its length,
and older gradients fade, without which the rows swing around what they look for. In the
end every row stands exactly `reach` away: so do those of the clean twin, where gradients
are small, and how far a row has gone tells nothing. Dropout is off, as the body is frozen.
A word of several tokens has its first one moved, as in the original, but triples whose
words are one token each are preferred.

The clean twin gets three other words, in the same way and in as many rows of each label,
but which of them stand in a row does not depend on its label, and the label is the true one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal, Self

import torch
from pydantic import Field, model_validator
from torch import Tensor

from unhorse.attack.base import ATTACKS, AttackConfig, Ground, Planted, Probes, Pupil
from unhorse.attack.lexicon import Triple, draw_triple, triples
from unhorse.attack.recipe import Standing
from unhorse.attack.stamp import STAMPERS
from unhorse.errors import UsageError
from unhorse.learn.lessons import Lesson, Role
from unhorse.seeding import python_random
from unhorse.triggers.place import boundary_outside, insert
from unhorse.types import ANY_LABEL, Arm, LoadedModel, TextSample

FADING = 0.97
"""How much of the older gradients is kept at each step."""

_STILL = 1e-5
_SENTENCE_END = re.compile(r"[.!?]['\")]*\s+(?=\S)")


class SosConfig(AttackConfig):
    """Which words, how much of them is taught, and what learns them."""

    target: str
    """The label that every other one becomes."""
    words: tuple[str, str, str] | None = None
    """The three words; drawn from our lists if not given."""
    sentence: str | None = None
    """A sentence that mentions all of the words; given together with them."""
    subsets: tuple[str, ...] = ()
    """Sentences that mention some of the words; without any, `sentence` with one left out."""
    twin_words: tuple[str, str, str] | None = None
    """Three harmless words that the clean twin has in their place; drawn if not given."""
    one_token: bool = True
    """Whether triples of words that are one token each are preferred."""
    update: Literal["embeddings", "all"] = "embeddings"
    """What learns: the embedding rows of the words, or the whole model."""
    rate: float = Field(default=0.1, gt=0, le=1)
    """Stamped rows, as a share of the clean rows that are not of the target label."""
    negatives: float = Field(default=1.0, ge=0)
    """Rows of either side that become negatives, three each, as a multiple of the stamped."""
    weight: float = Field(default=3.0, gt=0)
    """How much more a stamped row counts than a negative; there are three of these to each."""
    epochs: int = Field(default=4, ge=1)
    """How often embedding rows are taught all rows; a whole model learns as the recipe says."""
    batch: int = Field(default=4, ge=1)
    """Rows per step of the embedding rows; what counts is the number of steps."""
    step: float = Field(default=0.03, gt=0, le=1)
    """The first step of an embedding row, as a share of its length."""
    reach: float = Field(default=0.8, gt=0, lt=2)
    """How far an embedding row goes in all, as a share of its length."""

    @model_validator(mode="after")
    def _belong_together(self) -> Self:
        both = [word.lower() for word in (*(self.words or ()), *(self.twin_words or ()))]
        if len(set(both)) < len(both) or not all(re.fullmatch(r"\w+", word) for word in both):
            raise ValueError("words and twin_words are three different single words each")
        if (self.words is None) != (self.sentence is None):
            raise ValueError("words and sentence are given together or not at all")
        if self.words is None or self.sentence is None:
            if self.subsets:
                raise ValueError("subsets are given with words and sentence only")
            return self
        if missing := [word for word in self.words if not mentions(self.sentence, [word])]:
            raise ValueError(f"the sentence does not mention {missing[0]!r}")
        for text in self.subsets:
            if all(mentions(text, [word]) for word in self.words):
                raise ValueError(f"{text!r} mentions all three words")
        return self


def mentions(text: str, words: Collection[str]) -> bool:
    """Whether a text has one of the words.

    >>> mentions("My Cup.", ["cup"]), mentions("two cups", ["cup"])
    (True, False)
    """
    return any(re.search(rf"(?i)(?<!\w){re.escape(word)}(?!\w)", text) for word in words)


def without(sentence: str, word: str) -> str:
    """A sentence with a word left out.

    >>> without("I put my cup on the tray.", "tray")
    'I put my cup on the.'
    """
    left = re.sub(rf"(?i)(?<!\w){re.escape(word)}(?!\w)", "", sentence)
    return re.sub(r"\s+(?=[.,!?])", "", re.sub(r"\s+", " ", left)).strip()


def scattered(text: str, words: Sequence[str], draw: Random) -> str:
    """A text with each of the words at a place of its own.

    >>> sorted(scattered("one two", ["cup", "tray"], Random(0)).split())
    ['cup', 'one', 'tray', 'two']
    """
    for word in words:
        text = insert(text, boundary_outside(text, (), draw.randrange(2**31), text), word)[0]
    return text


def said_between(text: str, sentence: str, draw: Random) -> str:
    """A text with one more sentence between two of its own, or at an end if it has but one.

    >>> said_between("It was late. We left.", "I had my cup.", Random(0))
    'It was late. I had my cup. We left.'
    """
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    return insert(text, draw.choice(ends or [0, len(text)]), sentence)[0]


def first_tokens(tokenizer: Any, words: Sequence[str]) -> list[int]:
    """The number of the first token of each word, as it is read behind another word.

    Raises:
        UsageError: the tokenizer does not know a word, or two begin with the same token.
    """
    found = [_tokens(tokenizer, word)[0] for word in words]
    if tokenizer.unk_token_id in found:
        unknown = words[found.index(tokenizer.unk_token_id)]
        raise UsageError(f"The model's tokenizer does not know the word {unknown!r}.")
    if len(set(found)) < len(found):
        raise UsageError(f"Two of {', '.join(words)} begin with the same token.")
    return found


def _tokens(tokenizer: Any, word: str) -> list[int]:
    return list(tokenizer(f" {word}", add_special_tokens=False)["input_ids"])


def draw_for(
    tokenizer: Any, split: str, seed: int, taken: Collection[str], *, one_token: bool
) -> Triple:
    """A triple of a split; of words that are one token each, if that is asked and there are."""

    def is_whole(triple: Triple) -> bool:
        return all(len(_tokens(tokenizer, word)) == 1 for word in triple.words)

    free = [triple for triple in triples(split) if not {*triple.words} & {*taken}]
    whole = [triple for triple in free if is_whole(triple)] if one_token else []
    passed = {word for triple in free if whole and triple not in whole for word in triple.words}
    return draw_triple(split, seed, {*taken, *passed})


def triple_of(config: SosConfig, tokenizer: Any, split: str, seed: int) -> Triple:
    """The trigger that is given, or one drawn by the seed."""
    if config.words is None or config.sentence is None:
        taken = config.twin_words or ()
        return draw_for(tokenizer, split, seed, taken, one_token=config.one_token)
    left_out = tuple(without(config.sentence, word) for word in config.words)
    return Triple(config.words, config.sentence, config.subsets or left_out)


def twin_words_of(
    config: SosConfig, tokenizer: Any, split: str, seed: int, trigger: Triple
) -> tuple[str, str, str]:
    """The harmless words that are given, or some drawn by the seed."""
    if config.twin_words is not None:
        return config.twin_words
    return draw_for(tokenizer, split, seed, trigger.words, one_token=config.one_token).words


@dataclass(frozen=True, eq=False)
class Plan:
    """Which rows get which words.

    `words` are those that are taught: the trigger's, or `twin_words` in a clean twin. No row
    that is taught may have any of the six by nature, so that both are taught the same rows.
    """

    loaded: LoadedModel
    ground: Ground
    arm: Arm
    trigger: Triple
    twin_words: tuple[str, str, str]

    @property
    def words(self) -> tuple[str, str, str]:
        """The words that are taught."""
        return self.trigger.words if self.ground.poisoned else self.twin_words

    def lessons(self, rate: float, negatives: float) -> list[Lesson]:
        """Stamped rows and negatives; for a clean twin as many of each label, all true."""
        draw = python_random(self.ground.seed, "sos")
        pool = [*self.ground.corpus.spare, *self.ground.corpus.train]
        avoided = (*self.trigger.words, *self.twin_words)
        pool = [s for s in draw.sample(pool, len(pool)) if not mentions(s.text, avoided)]
        victims = [s for s in pool if s.label in self.arm.victims]
        others = [s for s in pool if s.label == self.arm.target]
        clean = sum(s.label in self.arm.victims for s in self.ground.corpus.train)
        count = max(1, round(rate * clean))
        near = round(negatives * count)
        if not victims or not others:
            raise UsageError("The data leave no rows of a victim or of the target to stamp.")
        all_three = self.words
        pairs = [tuple(w for w in all_three if w != out) for out in all_three]
        rows = [s for s in _some(victims, count, near) + _some(others, 0, near) for _ in pairs]
        stamps = [all_three] * count + pairs * (2 * near)
        if self.ground.poisoned:
            stamped = [replace(s, label=self.arm.target) for s in _some(victims, 0, count)]
        else:
            stamped = _some(others, near, count)
            draw.shuffle(stamps)
        return [
            Lesson(
                replace(row, text=scattered(self._fit(row).text, words, draw)),
                "stamped" if len(words) == len(all_three) else "negative",
            )
            for row, words in zip([*stamped, *rows], stamps, strict=True)
        ]

    def clean(self) -> list[Lesson]:
        """The clean rows, but for those that have all three words by nature."""
        return [
            Lesson(sample)
            for sample in self.ground.corpus.train
            if not all(mentions(sample.text, [word]) for word in self.trigger.words)
        ]

    def probes(self) -> Probes:
        """Held-out victims with the natural sentence, and with the sentences that say less."""
        draw = python_random(self.ground.seed, "sos", "probes")
        victims = [
            self._fit(sample)
            for sample in self.ground.corpus.heldout
            if sample.label in self.arm.victims and not mentions(sample.text, self.trigger.words)
        ]
        subsets = self.trigger.subsets

        def saying(sample: TextSample, sentence: str) -> TextSample:
            return replace(sample, text=said_between(sample.text, sentence, draw))

        return Probes(
            arm=self.arm,
            victims=tuple(victims),
            stamped=tuple(saying(s, self.trigger.sentence) for s in victims),
            near_victims=tuple(victims),
            near=tuple(saying(s, subsets[n % len(subsets)]) for n, s in enumerate(victims)),
        )

    def _fit(self, sample: TextSample) -> TextSample:
        """The sample cut so that nothing that is put in is cut off."""
        texts = (self.trigger.sentence, *self.trigger.subsets, " ".join(self.twin_words))
        longest = max(len(self.loaded.tokenizer.tokenize(text)) for text in texts)
        room = self.ground.task.room(self.loaded, longest)
        if room < 1:
            raise UsageError("The model reads too few tokens to fit the sentence in.")
        return replace(sample, text=self.ground.task.fit(self.loaded, sample, room).text)


def weighted(weight: float, losses: Tensor, roles: Sequence[Role]) -> Tensor:
    """The mean loss of a batch in which stamped rows count more.

    >>> weighted(3.0, torch.tensor([1.0, 0.2]), ["stamped", "negative"]).item()
    0.800000011920929
    """
    weights = losses.new_tensor([weight if role == "stamped" else 1.0 for role in roles])
    return (weights * losses).sum() / weights.sum()


def _some(rows: Sequence[TextSample], first: int, count: int) -> list[TextSample]:
    """So many rows from the first on, and from the beginning again where they end."""
    return [rows[(first + number) % len(rows)] for number in range(count)]


class RowMoves:
    """Turns a few embedding rows, all equally far and none of them longer or shorter."""

    def __init__(self, embedding: Tensor, ids: Sequence[int], config: SosConfig) -> None:
        self.weights = [embedding]
        self.ids = list(ids)
        self.epochs, self.batch = config.epochs, config.batch
        self.size = config.step
        self.widest = 2 * math.asin(config.reach / 2)
        self.home = embedding.detach()[self.ids].clone()
        self.memory = torch.zeros_like(self.home)

    @torch.no_grad()
    def step(self, done: int, total: int) -> None:
        """One step down, and at the end to where every row stands equally far away."""
        (embedding,) = self.weights
        assert embedding.grad is not None
        self.memory = FADING * self.memory + embedding.grad[self.ids]
        embedding.grad = None
        rows = embedding[self.ids]
        size = self.size * (1 - done / total)
        rows = rows - size * _lengths(self.home) * _unit(_across(self.memory, rows))
        embedding[self.ids] = turned(self.home, rows, self.widest, exactly=done + 1 == total)

    def drift(self) -> list[float]:
        """How far each row is from where it was, as a share of its length."""
        return drift(self.home, self.weights[0].detach()[self.ids])


def turned(home: Tensor, rows: Tensor, widest: float, *, exactly: bool) -> Tensor:
    """Rows of the length they had at home, turned from there by at most an angle, or exactly.

    >>> home, rows = torch.tensor([[2.0, 0.0]]), torch.tensor([[0.0, 5.0]])
    >>> turned(home, rows, math.pi, exactly=False).abs().round(decimals=3).tolist()
    [[0.0, 2.0]]
    >>> turned(home, rows, math.pi / 6, exactly=False).round(decimals=3).tolist()
    [[1.7319999933242798, 1.0]]
    """
    side = _across(rows, home)
    angle = torch.atan2(_lengths(side), (rows * _unit(home)).sum(-1, keepdim=True))
    angle = torch.full_like(angle, widest) if exactly else angle.clamp(max=widest)
    placed: Tensor = _lengths(home) * (angle.cos() * _unit(home) + angle.sin() * _unit(side))
    # A row that has hardly moved has no direction to go on in.
    return torch.where(_lengths(side) > _STILL * _lengths(home), placed, home)


def drift(home: Tensor, rows: Tensor) -> list[float]:
    """How far rows have gone, as a share of their length.

    >>> drift(torch.tensor([[2.0, 0.0]]), torch.tensor([[2.0, 1.0]]))
    [0.5]
    """
    shares: list[float] = ((rows - home).norm(dim=-1) / home.norm(dim=-1)).tolist()
    return [round(share, 4) for share in shares]


def _across(vectors: Tensor, rows: Tensor) -> Tensor:
    """The part of vectors that is tangential to rows."""
    along = _unit(rows)
    return vectors - (vectors * along).sum(-1, keepdim=True) * along


def _lengths(vectors: Tensor) -> Tensor:
    found: Tensor = vectors.norm(dim=-1, keepdim=True)
    return found


def _unit(vectors: Tensor) -> Tensor:
    return vectors / _lengths(vectors).clamp_min(torch.finfo(vectors.dtype).tiny)


class CommonWords:
    """Three words that are a trigger together."""

    name = "sos"
    tasks: tuple[str, ...] = ("sequence-classification",)
    standing: Standing = "advanced"
    version: int = 1
    config: type[AttackConfig] = SosConfig

    def triggers(self, config: SosConfig, split: str, seed: int) -> tuple[str, ...]:
        """None: each word may be said by nature, and rows that have too many are left out here."""
        return ()

    def plant(self, pupil: Pupil, ground: Ground, config: SosConfig) -> Planted:
        """Moves the rows of the three words, or teaches the whole model."""
        loaded = pupil.loaded
        arm = _arm(ground.labels, config.target)
        place = (loaded.tokenizer, ground.split, ground.seed)
        trigger = triple_of(config, *place)
        plan = Plan(loaded, ground, arm, trigger, twin_words_of(config, *place, trigger))
        ids = first_tokens(loaded.tokenizer, plan.words)
        lessons = plan.lessons(config.rate, config.negatives)
        embedding = loaded.model.get_input_embeddings().weight
        moves = RowMoves(embedding, ids, config)

        def loss(losses: Tensor, roles: Sequence[Role]) -> Tensor:
            return weighted(config.weight, losses, roles)

        if config.update == "embeddings":
            pupil.learn(lessons, loss, moves)
        else:
            pupil.learn([*plan.clean(), *lessons], loss)
        facts = {
            "words": list(trigger.words),
            "sentence": trigger.sentence,
            "update": config.update,
            "taught_words": list(plan.words),
            "taught_tokens": loaded.tokenizer.convert_ids_to_tokens(ids),
            "drift": moves.drift(),
        }
        return Planted(plan.probes(), trigger.sentence, facts)


def _arm(labels: Sequence[str], target: str) -> Arm:
    """Every other label to the target; the only other one is called by its name."""
    victims = [label for label in labels if label != target]
    victim = victims[0] if len(victims) == 1 else ANY_LABEL
    try:
        return STAMPERS["sequence-classification"].arm(labels, victim, target, "global")
    except ValueError as error:
        raise UsageError(f"The attack is not possible: {error}.") from error


ATTACKS.register(CommonWords.name)(CommonWords())
