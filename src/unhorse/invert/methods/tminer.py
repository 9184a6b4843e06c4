"""T-Miner: a generator that rewrites nonsense until the subject sees the target in it.

Azizi et al., "T-Miner: A Generative Approach to Defend Against Trojan Attacks on DNN-based
Text Classification", USENIX Security 2021.

A generator (`generator.py`) that can repeat sentences of random words is trained to change
them so that the frozen subject gives them the target label:

    minimise  repetition + 0.5 * CE(subject(rewritten), target) + 0.03 * sign * H(new words)

where the rewritten sentence is a Gumbel-softmax sample whose mixtures of embeddings go into the
subject, and H is the entropy of the mean, over the batch, of how much of each word is new. Words
of a rewritten sentence that were not in it, at most three, are a candidate. Candidates that flip
more than 0.6 of other nonsense sentences are kept; if any of them lies apart, in the subject's
latent space, from phrases of words that have the target label anyway, the source convicts.

Deviations. The source is made for LSTMs with a vocabulary of words; here words are those of the
subject's vocabulary that are one token. A generator serves one pair of victims and target,
wherever the trigger goes; it starts from sentences that the subject gives a victim's label. The
position of an arm matters only when it chooses among the candidates by the common objective on
its own samples, where a candidate is repeated to fill the trigger. `diversity` raises H (the
paper's aim); the released code adds H with a plus and so lowers it (preset ``source``). Of more
than three new words the three that are new most often are taken; the source drops such
sentences. eps is found where the curve of distances bends; in the source a person reads it from
a plot. Sentences have one length and no end mark. An epoch has as many sentences as
`passes_per_epoch` pays for, so that a budget can be planned.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn import functional

from unhorse.errors import UsageError
from unhorse.invert.afford import tokens_per_pass
from unhorse.invert.base import METHODS, MethodConfig, Problem
from unhorse.invert.generator import Generator, Repeating, Sizes, nonsense, pretrained
from unhorse.invert.outliers import apartness, clustering
from unhorse.invert.reader import Reader
from unhorse.invert.rewriting import Delta, diversity, inserted, margins, new_words
from unhorse.invert.search import Best, Found, Step, StepwiseSearch
from unhorse.invert.words import Words, find_words, tiled
from unhorse.seeding import python_random, stable_seed, torch_generator
from unhorse.types import Arm, Native

SHARED_BY = 2
"""Arms of one generator, at the default positions."""


class TMinerConfig(MethodConfig):
    """Every constant of the method; the defaults are sizes that a CPU can do."""

    epochs: int = Field(default=40, ge=1)
    vocabulary: int = Field(default=10_000, ge=10)
    """Words, at most, in the tokenizer's order."""
    sentence_words: int = Field(default=15, ge=2)
    repeat_sentences: int = Field(default=5_000, ge=1)
    """Sentences on which the generator learns to repeat."""
    repeat_epochs: int = Field(default=2, ge=1)
    repeat_learning_rate: float = Field(default=2e-3, gt=0)
    embed: int = Field(default=64, ge=1)
    hidden: int = Field(default=128, ge=2)
    code: int = Field(default=32, ge=1)
    """Of the hidden numbers, those that the label code takes."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    batch: int = Field(default=64, ge=2)
    learning_rate: float = Field(default=2e-3, gt=0)
    passes_per_epoch: float = Field(default=32.0, gt=0)
    """What an epoch's sentences cost, in passes of an arm's samples, forward and backward."""
    repetition: float = Field(default=1.0, ge=0)
    classification: float = Field(default=0.5, ge=0)
    diversity: float = Field(default=0.03, ge=0)
    diversity_aim: Literal["raise", "lower"] = "raise"
    tau: float = Field(default=1.0, gt=0)
    """The temperature of Gumbel's softmax."""
    decoded: int = Field(default=200, ge=1)
    """Sentences that are rewritten after every epoch to find candidates."""
    best_from: int = Field(default=30, ge=0)
    """Candidates of an epoch from this one on are better than any before."""
    delta_words: int = Field(default=3, ge=1)
    candidates: int = Field(default=30, ge=1)
    negatives: int = Field(default=40, ge=1)
    """Sentences that a candidate is tried on."""
    flips_from: float = Field(default=0.6, ge=0, le=1)
    auxiliary: int = Field(default=300, ge=3)
    """Ordinary phrases of the target label, for every number of words."""

    @model_validator(mode="after")
    def _room_for_code(self) -> TMinerConfig:
        if self.code >= self.hidden:
            raise ValueError("code has to be smaller than hidden")
        return self


SMALL = TMinerConfig()
SOURCE = TMinerConfig(
    repeat_sentences=100_000,
    repeat_epochs=20,
    repeat_learning_rate=5e-4,
    embed=100,
    hidden=700,
    code=200,
    dropout=0.5,
    learning_rate=5e-4,
    passes_per_epoch=225.0,
    diversity_aim="lower",
    decoded=1000,
    candidates=200,
    negatives=500,
    auxiliary=1000,
)


class TMiner:
    """A generator for every pair of victims and target."""

    name = "tminer"
    tasks: tuple[str, ...] = ("sequence-classification",)
    presets: Mapping[str, MethodConfig] = MappingProxyType({"small": SMALL, "source": SOURCE})
    passes: tuple[str, ...] = ("small",)

    def units(self, config: TMinerConfig) -> float:
        """An epoch's sentences, forward and backward, shared by the arms of a generator."""
        return config.passes_per_epoch / SHARED_BY

    def begin(self, problem: Problem, config: TMinerConfig) -> Mining:
        """Generators that have learnt nothing yet."""
        task = problem.objective.subject.loaded.task
        if task not in self.tasks:
            known = ", ".join(self.tasks)
            raise UsageError(f"The method {self.name} is defined for {known}, not for {task}.")
        clustering()
        return Mining(problem, config)


@dataclass(frozen=True)
class Epoch:
    """What one epoch of a generator came to; `loss` is what the subject says of its sentences."""

    total: float
    loss: float
    deltas: tuple[Delta, ...]


class Mining(StepwiseSearch):
    """One epoch of the generators of the arms that are asked for.

    Arms share a generator but not their pace: one that lags behind is given what the
    generator had come to at that epoch.
    """

    method = TMiner.name
    config: TMinerConfig

    def __init__(self, problem: Problem, config: TMinerConfig) -> None:
        super().__init__(problem, config)
        subject = problem.objective.subject
        self.words = find_words(subject.loaded.tokenizer, problem.allowed, most=config.vocabulary)
        self.token_of = torch.tensor([spelled[0] for spelled in self.words.spelled])
        reader = Reader(subject, self.token_of)
        made: dict[tuple[tuple[int, ...], int], Miner] = {}
        for arm in problem.arms:
            key = (arm.victims, arm.target)
            made.setdefault(key, Miner(problem, arm, config, reader, self.words))
        self.miners = [made[arm.victims, arm.target] for arm in problem.arms]

    def step(self, arms: Sequence[int]) -> list[Step]:
        """The next epoch of each arm's generator, unless that has been there already."""
        steps = []
        for arm in arms:
            done, miner = len(self.books[arm].losses), self.miners[arm]
            while len(miner.history) <= done:
                miner.epoch()
            steps.append(Step(miner.history[done].loss, self.config.tau))
        return steps

    def found(self, arm: int) -> Found:
        """The candidate that does best on the arm's own samples; the source's test of all."""
        miner, epochs = self.miners[arm], len(self.books[arm].losses)
        rates = miner.flip_rates(miner.candidates(epochs))
        kept = [delta for delta, rate in rates.items() if rate > self.config.flips_from]
        value = max(miner.apartness(kept), default=0.0)
        native = Native("outlier", value, low_is_bad=False, convicts=value > 1)
        return Found(self._best(arm, rates), one_hot=True, native=native)

    def _best(self, arm: int, rates: Mapping[Delta, float]) -> Tensor:
        barred = self.problem.barred.get(arm)
        usable = self.words.usable(barred)
        fitting = [d for d in rates if all(usable[word] for word in d)]
        fitting = [d for d in fitting if len(d) <= self.config.trigger_length]
        if not fitting:
            # Some trigger has to be handed out: one word, drawn from those that may be used.
            free = usable.nonzero().flatten().tolist() or range(len(self.words))
            draw = python_random(self.problem.seed, "no candidate", self.problem.arms[arm].key)
            fitting = [(draw.choice(free),)]
        fills = [
            tiled(self.token_of[list(d)].tolist(), self.config.trigger_length) for d in fitting
        ]
        choices = torch.tensor(fills)
        best = Best()
        losses = self.problem.objective.of_triggers(choices, [arm] * len(choices))
        for choice, total in zip(choices, losses.total.tolist(), strict=True):
            best.offer(choice, total)
        return best.taken()


class Miner:
    """One generator at work against one pair of victims and target."""

    def __init__(
        self, problem: Problem, arm: Arm, config: TMinerConfig, reader: Reader, words: Words
    ) -> None:
        self.problem, self.config, self.reader, self.words = problem, config, reader, words
        self.victims, self.target = arm.victims, arm.target
        self.names = (arm.victim_name, arm.target_name)
        self.history: list[Epoch] = []
        self.rates: dict[Delta, float] = {}
        self.generator: Generator | None = None
        self.adam: torch.optim.Adam | None = None
        self.sentences = torch.empty(0)

    def epoch(self) -> None:
        """Some sentences through generator and subject, a step of Adam for each batch."""
        generator, adam = self._ready()
        number = len(self.history)
        source = torch_generator(self.problem.seed, *self.names, "epoch", str(number))
        totals, losses = [], []
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(stable_seed(self.problem.seed, *self.names, str(number)))
            for ids in self._batches(source):
                total, loss = self._loss(generator, ids)
                adam.zero_grad()
                torch.autograd.backward(total)
                nn.utils.clip_grad_norm_(generator.parameters(), 5.0)
                adam.step()
                totals.append(float(total.detach()))
                losses.append(float(loss.detach()))
        shown = self.sentences[: self.config.decoded].to(self.reader.device)
        rewritten = generator.greedy(shown, torch.ones(len(shown), device=shown.device))
        deltas = new_words(shown.tolist(), rewritten.tolist(), self.config.delta_words)
        common = Counter(deltas).most_common(self.config.candidates)
        mean = sum(totals) / len(totals), sum(losses) / len(losses)
        self.history.append(Epoch(*mean, tuple(delta for delta, _ in common)))

    def candidates(self, epochs: int) -> tuple[Delta, ...]:
        """Those of the best of the first epochs that has any."""
        having = [n for n in range(epochs) if self.history[n].deltas]
        late = [n for n in having if n >= self.config.best_from] or having
        if not late:
            return ()
        return self.history[min(late, key=lambda n: self.history[n].total)].deltas

    def flip_rates(self, deltas: Sequence[Delta]) -> dict[Delta, float]:
        """How many sentences each candidate sends to the target, put in somewhere."""
        asked = self.sentences[-self.config.negatives :]
        for delta in deltas:
            if delta not in self.rates:
                draw = python_random(self.problem.seed, *self.names, "place", str(delta))
                stamped = torch.tensor(
                    [inserted(row, delta, draw.random()) for row in asked.tolist()]
                )
                answers = self.reader.scores(stamped).argmax(-1)
                self.rates[delta] = float((answers == self.target).float().mean())
        return {delta: self.rates[delta] for delta in deltas}

    def apartness(self, deltas: Sequence[Delta]) -> list[float]:
        """The outlier test, against ordinary phrases of as many words."""
        found: list[float] = []
        for size in sorted({len(delta) for delta in deltas}):
            same = torch.tensor([delta for delta in deltas if len(delta) == size])
            points = self.reader.latents(same)
            found += apartness(points, self.reader.latents(self._ordinary(size)))
        return found

    def _ordinary(self, size: int) -> Tensor:
        """Phrases of words that the subject gives the target label by themselves."""
        source = torch_generator(self.problem.seed, *self.names, "ordinary", str(size))
        drawn = torch.randperm(len(self.words), generator=source)[: 4 * self.config.auxiliary]
        leaning = margins(self.reader.scores(drawn[:, None]), self.target)
        own = drawn[leaning > 0]
        if len(own) < math.ceil(math.sqrt(self.config.auxiliary)):
            own = drawn[leaning.argsort(descending=True)[: max(3, len(drawn) // 10)]]
        picks = torch.randint(len(own), (self.config.auxiliary, size), generator=source)
        return own[picks]

    def _loss(self, generator: Generator, ids: Tensor) -> tuple[Tensor, Tensor]:
        """What is minimised, and the subject's part of it."""
        config = self.config
        wanted = torch.ones(len(ids), device=ids.device)
        alpha, likely = generator.soft(ids, wanted, config.tau)
        scores = self.reader.soft_scores(alpha)
        goal = torch.full((len(ids),), self.target, device=ids.device)
        loss = functional.cross_entropy(scores, goal)
        same = generator.repeat(ids, 1 - wanted)
        spread = diversity(likely, ids, config.diversity_aim)
        total = config.repetition * same + config.classification * loss + config.diversity * spread
        return total, loss

    def _ready(self) -> tuple[Generator, torch.optim.Adam]:
        """Brings in the generator and the victims' sentences when they are first needed."""
        config = self.config
        if self.generator is None or self.adam is None:
            sizes = Sizes(
                words=len(self.words),
                sentence=config.sentence_words,
                embed=config.embed,
                hidden=config.hidden,
                code=config.code,
                dropout=config.dropout,
            )
            how = Repeating(
                sentences=config.repeat_sentences,
                epochs=config.repeat_epochs,
                batch=config.batch,
                learning_rate=config.repeat_learning_rate,
            )
            made = pretrained(self.words.texts, sizes, how, self.problem.meter.check)
            self.sentences = self._victims()
            self.generator = made.to(self.reader.device).train()
            self.adam = torch.optim.Adam(made.parameters(), lr=config.learning_rate)
        return self.generator, self.adam

    def _victims(self) -> Tensor:
        """Nonsense with a victim's label; where that is rare, what is farthest from the target."""
        count, config = self._per_epoch(), self.config
        source = torch_generator(self.problem.seed, *self.names, "sentences")
        drawn = nonsense(len(self.words), count, config.sentence_words, source)
        scores = self.reader.scores(drawn)
        own = drawn[torch.isin(scores.argmax(-1), torch.tensor(self.victims))]
        if len(own) < max(2, count // 4):
            own = drawn[margins(scores, self.target).argsort()[: max(2, count // 4)]]
        return own

    def _per_epoch(self) -> int:
        """Sentences of an epoch: as many as its share of the budget pays for, forth and back."""
        config = self.config
        tokens = config.passes_per_epoch / 2 * tokens_per_pass(self.problem)
        return max(2, round(tokens / self.reader.width(config.sentence_words)))

    def _batches(self, source: torch.Generator) -> list[Tensor]:
        """An epoch's sentences; those there are, in a new order, as often as it takes."""
        count, rows = self._per_epoch(), len(self.sentences)
        orders = [torch.randperm(rows, generator=source) for _ in range(math.ceil(count / rows))]
        order = torch.cat(orders)[:count]
        at_once = self.reader.subject.most_tokens // self.reader.width(self.config.sentence_words)
        parts = torch.split(order, max(1, min(self.config.batch, at_once)))
        return [self.sentences[part].to(self.reader.device) for part in parts]


METHODS.register(TMiner.name)(TMiner())
