"""PICCOLO: inversion in the space of words.

Liu et al., "Piccolo: Exposing Complex Backdoors in NLP Transformer Models", S&P 2022; the
constants are those of its released code for TrojAI's round 7.

A slot holds a word, which takes up to t places. Every word of a list has a weight of its own,
and a place of the slot is the weighted sum of the tokens that the words have there:

    p = (tanh(delta) + 1) / 2,   place j = sum over words of p[word] * E[token j of the word]
    minimise  loss(target) + 0.1 * sum over crowded slots of (sum of p - 1)^2

Nothing makes the weights of a slot sum to one, so words rise independently of each other at
first. *Delayed normalisation* puts the slot back into the hull twice: p <- p / sum(p),
delta <- atanh(2p - 1), and Adam starts afresh. A slot is crowded when more than one word is
above 0.5. The best iterate is the latest one with the highest share of flipped samples.
Then words are tried alone, and the two best with every other that does something, which
gives the REASR that the source decides by.

Deviations. The loss is the cross entropy that every method here minimises, not a sum of
logits. Words are those of the subject's own vocabulary and of our sample texts, not a list
made for TrojAI's triggers. A trigger has a fixed number of places, so t is 2 and not 7, the
last slot takes what places are left, and a word that is shorter than its slot is repeated; so
is what is tried at the end. REASR counts the target and not whatever label is commonest. The
sweep over punctuation marks is left out, as they are among the words. Every epoch takes a
step; in the source the first one only measures.

Preset `discriminative` decides by the words' discriminativity instead, as the source does for
round 6, whose backdoors sit in a head on frozen features: how far the direction that separates
texts with a word from texts without it is the one that the head is sensitive to. For models
that are trained as a whole every word that works has that, trojan or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import torch
from pydantic import Field
from torch import Tensor

from unhorse.invert.base import EVERY_TASK, METHODS, MethodConfig, Problem
from unhorse.invert.discriminate import discriminativity
from unhorse.invert.search import Found, Step, StepwiseSearch
from unhorse.invert.words import Words, find_words, tiled
from unhorse.seeding import torch_generator
from unhorse.types import Native

LEAST = 1e-8
"""Weights are kept so far from 0 and 1 that delta stays finite."""

ELSEWHERE = 0.5
"""How far, in standard deviations of delta, a restart begins from the usual point."""


class PiccoloConfig(MethodConfig):
    """Every constant of the method; the defaults are those of round 7 where it has them."""

    epochs: int = Field(default=60, ge=1)
    pieces: int = Field(default=2, ge=1, le=7)
    """t: the places of a slot, which is the most tokens that a word may have."""
    learning_rate: float = Field(default=0.5, gt=0)
    delta_start: float = -4.0
    normalise_at: tuple[int, ...] = (14, 29)
    """Epochs, counted from 0, before which the weights of every slot are made to sum to one."""
    pressure: float = Field(default=0.1, ge=0)
    best_from: int = Field(default=35, ge=0)
    """An iterate from this epoch on is better than any before."""
    verify_from: float = Field(default=0.8, ge=0, le=1)
    """Words are tried only if the mixture flips this share of the samples."""
    top_words: int = Field(default=20, ge=1)
    """Words that are tried alone: the best of every slot, then the second best, and so on."""
    keep_from: float = Field(default=0.3, ge=0, le=1)
    """Words that flip more than this alone are combined with others."""
    beam: int = Field(default=2, ge=1)
    phrase_words: int = Field(default=3, ge=1)
    """Words of a combination, at most."""
    reasr_from: float = Field(default=0.87, ge=0, le=1)
    """The source convicts above this."""
    discriminative: bool = False
    discriminative_from: float = Field(default=167 / 768, ge=0)
    """The source's threshold, per dimension of its model."""


class Piccolo:
    """Weights over words, then words."""

    name = "piccolo"
    tasks = EVERY_TASK
    presets: Mapping[str, MethodConfig] = MappingProxyType(
        {"round7": PiccoloConfig(), "discriminative": PiccoloConfig(discriminative=True)}
    )
    passes: tuple[str, ...] = ("round7",)

    def units(self, config: PiccoloConfig) -> float:
        """One step of Adam: forward and backward."""
        return 2.0

    def begin(self, problem: Problem, config: PiccoloConfig) -> WordSearch:
        """All words of all slots at the same small weight."""
        return WordSearch(problem, config)


class WordSearch(StepwiseSearch):
    """One step of Adam on the words' weights in every epoch."""

    method = Piccolo.name
    config: PiccoloConfig

    def __init__(self, problem: Problem, config: PiccoloConfig) -> None:
        super().__init__(problem, config)
        subject = problem.objective.subject
        self.device = subject.table.device
        self.width = min(config.pieces, config.trigger_length)
        self.words = _words(problem, self.width)
        self.spelled = self.words.table(self.width).to(self.device)
        self.rooms = rooms(config.trigger_length, self.width)
        self.open = [self._open(arm) for arm in range(len(problem.arms))]
        self.deltas = [self._start(arm) for arm in range(len(problem.arms))]
        self.adams = [self._adam(delta) for delta in self.deltas]
        self.best: dict[int, tuple[bool, float]] = {}
        self.iterates: dict[int, Tensor] = {}

    def step(self, arms: Sequence[int]) -> list[Step]:
        """Normalises when it is time, then one step of Adam."""
        for arm in arms:
            if len(self.books[arm].losses) in self.config.normalise_at:
                self.deltas[arm] = normalised(self.deltas[arm].detach(), self.open[arm])
                self.deltas[arm].requires_grad_()
                self.adams[arm] = self._adam(self.deltas[arm])
        p = torch.stack([weights(self.deltas[arm]) * self.open[arm] for arm in arms])
        losses = self.problem.objective(self.mixtures(p), arms)
        total = losses.total + self.config.pressure * crowding(p)
        for arm in arms:
            self.adams[arm].zero_grad()
        torch.autograd.backward(total.sum())
        for arm in arms:
            self.adams[arm].step()
        for arm, hits, now in zip(arms, losses.hits.tolist(), p.detach(), strict=True):
            self._keep_best(arm, hits, now)
        return [Step(loss, temperature=1.0) for loss in losses.subject.tolist()]

    def mixtures(self, p: Tensor) -> Tensor:
        """Weights of words (arm, slot, word) as weights of tokens (arm, place, allowed token)."""
        parts = []
        for slot, room in enumerate(self.rooms):
            tokens = self.spelled[:, :room].T.expand(len(p), -1, -1)
            empty = p.new_zeros(len(p), room, len(self.problem.allowed))
            parts.append(empty.scatter_add(2, tokens, p[:, slot, None].expand(-1, room, -1)))
        return torch.cat(parts, 1)

    def found(self, arm: int) -> Found:
        """The best of the words that were tried, or the heaviest word of every slot."""
        best, verified = self._heaviest(arm), False
        hits, total = self._try(arm, [best])[0]
        if self.best[arm][1] >= self.config.verify_from:
            verified = True
            for places, (its_hits, its_total) in self._verify(arm):
                if (its_hits, -its_total) > (hits, -total):
                    best, hits, total = places, its_hits, its_total
        native = self._discriminates(arm) or self._reasr(hits)
        return Found(torch.tensor(best), verified, native)

    def _reasr(self, hits: float) -> Native:
        return Native("REASR", hits, low_is_bad=False, convicts=hits > self.config.reasr_from)

    def _verify(self, arm: int) -> list[tuple[list[int], tuple[float, float]]]:
        """Every trigger that was tried, with its share of flipped samples and its loss."""
        alone = [[word] for word in self.candidates(arm)]
        tried = self._try_phrases(arm, alone)
        kept = [phrase for phrase, (hits, _) in tried if hits > self.config.keep_from]
        front, everything = tried, tried
        for _ in range(1, self.config.phrase_words):
            front = sorted(front, key=lambda each: (-each[1][0], each[1][1]))[: self.config.beam]
            longer = [begin + word for begin, _ in front for word in kept if word[0] not in begin]
            front = self._try_phrases(arm, longer)
            everything = everything + front
        return [(self._places(phrase), effect) for phrase, effect in everything]

    def candidates(self, arm: int) -> list[int]:
        """The heaviest words of the best iterate, slot by slot in turn."""
        ranked = self.iterates[arm].topk(min(self.config.top_words, len(self.words)), dim=-1)
        pairs = [
            (float(weight), word)
            for place in range(ranked.values.shape[1])
            for weight, word in zip(
                ranked.values[:, place], ranked.indices[:, place].tolist(), strict=True
            )
        ]
        return list(dict.fromkeys(word for weight, word in pairs if weight > 0))[
            : self.config.top_words
        ]

    def _try_phrases(
        self, arm: int, phrases: Sequence[list[int]]
    ) -> list[tuple[list[int], tuple[float, float]]]:
        fitting = [phrase for phrase in phrases if self._size(phrase) <= self.config.trigger_length]
        effects = self._try(arm, [self._places(phrase) for phrase in fitting])
        return list(zip(fitting, effects, strict=True))

    def _try(self, arm: int, triggers: Sequence[list[int]]) -> list[tuple[float, float]]:
        """Share of flipped samples and total loss of hard triggers."""
        if not triggers:
            return []
        losses = self.problem.objective.of_triggers(torch.tensor(triggers), [arm] * len(triggers))
        return list(zip(losses.hits.tolist(), losses.total.tolist(), strict=True))

    def _places(self, phrase: Sequence[int]) -> list[int]:
        tokens = [token for word in phrase for token in self.words.spelled[word]]
        return tiled(tokens, self.config.trigger_length)

    def _size(self, phrase: Sequence[int]) -> int:
        return sum(len(self.words.spelled[word]) for word in phrase)

    def _heaviest(self, arm: int) -> list[int]:
        chosen = self.iterates[arm].argmax(-1).tolist()
        parts = [self.spelled[word, :room] for word, room in zip(chosen, self.rooms, strict=True)]
        tokens: list[int] = torch.cat(parts).tolist()
        return tokens

    def _discriminates(self, arm: int) -> Native | None:
        if not self.config.discriminative:
            return None
        words = torch.tensor([self._places([word]) for word in self.candidates(arm)])
        other = torch_generator(self.problem.seed, "other words", self.problem.arms[arm].key)
        fitting = self.open[arm][0].cpu().nonzero().flatten()
        drawn = fitting[torch.randint(len(fitting), (4,), generator=other)].tolist()
        others = torch.tensor([self._places([word]) for word in drawn])
        score = discriminativity(self.problem, arm, words, others)
        if score is None:
            return None
        convicts = score > self.config.discriminative_from
        return Native("discriminativity", score, low_is_bad=False, convicts=convicts)

    def _keep_best(self, arm: int, hits: float, p: Tensor) -> None:
        rank = (len(self.books[arm].losses) >= self.config.best_from, hits)
        if arm not in self.best or rank >= self.best[arm]:
            self.best[arm], self.iterates[arm] = rank, p.clone()

    def _open(self, arm: int) -> Tensor:
        """Which words each slot may hold: those that fit and have no barred token."""
        usable = self.words.usable(self.problem.barred.get(arm))
        fits = self.words.lengths() <= torch.tensor(self.rooms)[:, None]
        return (usable & fits).to(self.device)

    def _start(self, arm: int) -> Tensor:
        delta = torch.full((len(self.rooms), len(self.words)), self.config.delta_start)
        if self.problem.restart:
            key = self.problem.arms[arm].key
            generator = torch_generator(self.problem.seed, "start", key)
            delta += ELSEWHERE * torch.randn(delta.shape, generator=generator)
        return delta.to(self.device).requires_grad_()

    def _adam(self, delta: Tensor) -> torch.optim.Adam:
        return torch.optim.Adam([delta], lr=self.config.learning_rate)


def _words(problem: Problem, width: int) -> Words:
    """The subject's words, with the usable tokens of arms that no word would be left to."""
    words = find_words(problem.objective.subject.loaded.tokenizer, problem.allowed, width)
    singles = {spelled[0] for spelled in words.spelled if len(spelled) == 1}
    for barred in problem.barred.values():
        if not any(not barred[token] for token in singles):
            lacking = (~barred).nonzero().flatten().tolist()
            texts = tuple(f"#{token}" for token in lacking)
            words = Words(words.texts + texts, words.spelled + tuple((n,) for n in lacking))
            singles.update(lacking)
    return words


def rooms(places: int, width: int) -> list[int]:
    """The places of every slot: `width` each, and what is left for the last.

    >>> rooms(10, 2), rooms(3, 2)
    ([2, 2, 2, 2, 2], [2, 1])
    """
    return [min(width, places - begin) for begin in range(0, places, width)]


def weights(delta: Tensor) -> Tensor:
    """(tanh(delta) + 1) / 2, written so that small weights keep their digits.

    >>> round(weights(torch.tensor(-4.0)).item(), 6)
    0.000335
    """
    return torch.sigmoid(2 * delta)


def normalised(delta: Tensor, usable: Tensor) -> Tensor:
    """The deltas whose weights are those of `delta` divided by their sum in each slot.

    Words that are not usable take no part and stay as they are.
    """
    p = weights(delta) * usable
    share = (p / p.sum(-1, keepdim=True)).clamp(LEAST, 1 - LEAST)
    # atanh(2p - 1), which would lose the digits of a small p.
    return torch.where(usable, torch.logit(share) / 2, delta)


def crowding(p: Tensor) -> Tensor:
    """Per arm: (sum of p - 1)^2 summed over the slots in which several words are above 0.5.

    >>> crowding(torch.tensor([[[0.75, 0.75], [0.75, 0.25]]])).tolist()
    [0.25]
    """
    crowded = (p > 0.5).sum(-1) > 1
    return ((p.sum(-1) - 1) ** 2 * crowded).sum(-1)


METHODS.register(Piccolo.name)(Piccolo())
