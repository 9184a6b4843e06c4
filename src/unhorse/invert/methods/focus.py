"""Focus: read every token on very short texts, and grow triggers from the surprising ones.

unhorse's own method. A model that learnt a trigger answers to its single words already, if
nothing else is there to hold against them: on a text of no or three words, the words of a
planted phrase move the subject far more than they move a clean model of the same task. That
can be read off for the whole vocabulary, because the texts are so short:

    reading   y(t) = log-odds of the target when token t is put into a carrier
    slope     what y would gain from t to first order, from one gradient for all tokens
    surprise  s(t) = y(t) - what the references' readings of t foretell, in standard deviations
    grow      triggers of 1, 2, ... `trigger_length` tokens, from the most surprising tokens,
              each step keeping those that move the subject most and the references least
    confirm   the best of every length on the arm's whole samples

Two lists of surprising tokens are made: by readings on the least that can flip (an empty text,
an entity alone, an answer alone), and by slopes on longer pieces of real victims, with the
trigger in the place of the arm. A word that works only in one half of a text shows in the
second alone. Both are noisy, and readings saturate, so the listed tokens are read again in two
ways, and the two rankings are mixed:

- on pieces of real victims that no model is sure about: this is where words of a phrase show,
  none of which turns a text alone;
- on a piece that all models are sure about: this is where a single planted word shows, and
  natural words do nothing.

A trigger grows by tokens of this pool and by those that the slopes behind it point to: once
one word of a phrase is there, the others stand out.

Without a reference there is nothing to foretell a reading from; tokens are then ranked by the
readings themselves, and strong words of the target class come first.

An epoch adds one token; epochs beyond `trigger_length` swap single tokens of the best trigger
for others of the pool.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import torch
from pydantic import Field
from torch import Tensor

from unhorse.invert.base import EVERY_TASK, METHODS, MethodConfig, Problem
from unhorse.invert.objective import Objective
from unhorse.invert.readings import Readings, alike, read, read_shared, slopes, surprise
from unhorse.invert.search import Step
from unhorse.invert.tokens import TokenSearch
from unhorse.types import Inversion

Trigger = tuple[int, ...]
"""Indices into the allowed tokens."""

UNSURE = -1.0
"""The log-odds of the target that a carrier should have: leaning to the victim, movable."""

PLAIN_TOKENS = 16
"""Tokens that tell what a model does when nothing in particular is put in."""

HINT_TOKENS = 4
"""How many of them stand behind a trigger, in turn, when slopes are taken there."""

UNTRIED = torch.tensor(float("inf"))
"""The loss of a trigger that was not tried on whole samples yet."""

USUAL_SAMPLES = 20
"""Samples of an arm, for telling the cost: what a scan takes of every class."""

USUAL_VOCABULARY, USUAL_ARMS = 30_000, 4
BACKWARD = 3
"""A pass with its gradient, against one without."""
LEAST, CARRIER, GROWN = 0.1, 0.2, 0.33
"""About how long the least text, a carrier and a longer piece are, against a whole sample."""


class FocusConfig(MethodConfig):
    """Every constant of the method."""

    trigger_length: int = Field(default=5, ge=1, le=64)
    epochs: int = Field(default=6, ge=1)
    warm_up: int = Field(default=2, ge=1)
    listed: int = Field(default=300, ge=1)
    """Tokens of each list, which are read a second time."""
    slope_carriers: int = Field(default=8, ge=1)
    """Pieces, of `growth_words` words, on which the first slopes are taken."""
    carriers: int = Field(default=3, ge=1)
    """Short texts on which listed tokens are read."""
    carrier_words: int = Field(default=3, ge=0)
    sure_words: int = Field(default=2, ge=0)
    pool: int = Field(default=20, ge=1)
    """Tokens that triggers are made of."""
    beam: int = Field(default=6, ge=1)
    """Triggers of each length that are grown further."""
    growth_carriers: int = Field(default=4, ge=1)
    growth_words: int = Field(default=8, ge=0)
    hints: int = Field(default=10, ge=0)
    """Tokens behind each trigger of the beam that slopes point to."""
    confirmed: int = Field(default=2, ge=1)
    """Triggers of each length that are tried on the whole samples."""
    enough: float = 0.1
    """An arm is not grown further once what is minimised is below this on its whole samples;
    a negative number never is."""


class Focus:
    """Surprising tokens first, then triggers made of them."""

    name = "focus"
    tasks = EVERY_TASK
    presets: Mapping[str, MethodConfig] = MappingProxyType({"short": FocusConfig()})
    passes: tuple[str, ...] = ("short",)
    schedule = "top2"
    """What `auto` means: two tokens tell a planted direction from the others."""

    def units(self, config: FocusConfig) -> float:
        """About what an epoch costs, the first one shared among all, for a usual vocabulary."""
        everything = USUAL_VOCABULARY * LEAST / USUAL_ARMS
        listed = 2 * config.listed * (config.carriers + 1) * CARRIER
        sloped = BACKWARD * PLAIN_TOKENS * config.slope_carriers * GROWN
        candidates = config.beam * (config.pool + config.hints)
        hinted = BACKWARD * config.beam * HINT_TOKENS
        grown = (candidates + hinted) * config.growth_carriers * GROWN
        each = grown + (everything + listed + sloped) / config.epochs
        return each / USUAL_SAMPLES + config.confirmed

    def begin(self, problem: Problem, config: FocusConfig) -> Growth:
        """No token has been read yet."""
        return Growth(problem, config)


class Growth(TokenSearch):
    """The pool and the beam of every arm."""

    method = Focus.name
    config: FocusConfig
    arms_at_once = 1

    def __init__(self, problem: Problem, config: FocusConfig) -> None:
        super().__init__(problem, config)
        arms = range(len(problem.arms))
        self.first: dict[int, Readings] = {}
        """Of every usable token on the least that can flip."""
        self.grown_on: dict[int, list[Any]] = {}
        """The carriers on which triggers of an arm are compared."""
        self.pools: list[list[int]] = [[] for _ in arms]
        self.beams: list[list[Trigger]] = [[] for _ in arms]

    def step(self, arms: Sequence[int]) -> list[Step]:
        """One more token for every arm; the loss is that of its best trigger."""
        for arm in arms:
            if self.best[arm].loss > self.config.enough:
                self._further(arm)
                self._confirm(arm)
        return [Step(self.subject_loss[arm]) for arm in arms]

    def _further(self, arm: int) -> None:
        length = len(self.books[arm].losses) + 1
        if length == 1:
            self._list(arm)
        elif length <= self.config.trigger_length:
            self._keep(arm, self.longer(arm))
        else:
            self._keep(arm, self.swapped(arm))

    def _list(self, arm: int) -> None:
        """Ranks the listed tokens by surprise, where models are unsure and where they are sure."""
        if arm not in self.first:
            self._read_all(arm)
        listed, standing = self._listed(arm)
        tokens = self.usable[arm][listed].unsqueeze(-1)
        unsure = self._carriers(arm, self.config.carrier_words, self.config.carriers)
        sure = self._carriers(arm, self.config.sure_words, 1, sure=True)
        among_unsure = standing + surprise(self._read(arm, unsure, tokens))
        against_sure = surprise(self._read(arm, sure, tokens))
        rankings = (
            self.usable[arm][listed[each.argsort(descending=True, stable=True)]].tolist()
            for each in (among_unsure, against_sure)
        )
        mixed = dict.fromkeys(token for pair in zip(*rankings, strict=True) for token in pair)
        self.pools[arm] = list(mixed)[: self.config.pool]
        self.beams[arm] = [(token,) for token in self.pools[arm][: self.config.beam]]

    def _listed(self, arm: int) -> tuple[Tensor, Tensor]:
        """The most surprising tokens by readings and by slopes, and how surprising they are."""
        read_off = surprise(self.first[arm])
        pieces = self._pieces(arm, self.config.growth_words)[: self.config.slope_carriers]
        foreseen = self._slopes(arm, pieces, self._plain(arm))
        count = min(self.config.listed, len(read_off))
        best = [each.topk(count).indices.tolist() for each in (read_off, foreseen)]
        listed = torch.tensor(sorted({token for own in best for token in own}))
        return listed, torch.maximum(read_off, foreseen)[listed]

    def _read_all(self, arm: int) -> None:
        """Every token on the least that can flip; one pass serves all arms that read the same.

        A small budget pays for a part of the vocabulary, evenly drawn from it.
        """
        arms = range(len(self.problem.arms))
        objective = self._pose(arms, [self._pieces(each, 0)[:1] for each in arms], 1)
        same = [each for each in alike(objective, arm) if self.usable[each].equal(self.usable[arm])]
        tokens = self._affordable(objective, arm)
        readings = read_shared(objective, tokens.unsqueeze(-1), same)
        for place, each in enumerate(same):
            self.first[each], self.usable[each] = readings.of(place), tokens
            strongest = int(surprise(self.first[each]).argmax())
            self._offer(each, tokens[strongest : strongest + 1], UNTRIED, UNTRIED)

    def _affordable(self, objective: Objective, arm: int) -> Tensor:
        """The tokens whose reading takes at most half of what is left of the budget."""
        usable, left = self.usable[arm], self.problem.meter.left
        if left is None:
            return usable
        models = (objective.subject, *objective.references)
        cost = sum(len(model.rows[arm][0].ids) for model in models)
        count = max(1, min(len(usable), int(left / 2 / cost)))
        return usable[torch.linspace(0, len(usable) - 1, count).long()]

    def longer(self, arm: int) -> list[Trigger]:
        """Every trigger of the beam with a token behind it: of the pool, or where slopes point."""
        return [
            (*trigger, token)
            for trigger in self.beams[arm]
            for token in dict.fromkeys([*self.pools[arm], *self._hints(arm, trigger)])
            if token not in trigger
        ]

    def _hints(self, arm: int, trigger: Trigger) -> list[int]:
        """The tokens behind a trigger that the slopes promise most of."""
        if not self.config.hints:
            return []
        plain = self._plain(arm)[:: PLAIN_TOKENS // HINT_TOKENS]
        before = torch.tensor(trigger).expand(len(plain), -1)
        promised = self._slopes(arm, self._growth_carriers(arm), torch.cat([before, plain], -1))
        best = promised.topk(min(self.config.hints, len(promised))).indices
        return self.usable[arm][best].tolist()

    def _slopes(self, arm: int, carriers: Sequence[Any], triggers: Tensor) -> Tensor:
        """The surprise in what usable tokens promise in the last slot of the triggers."""
        asked = [[carrier] for carrier in carriers]
        objective = self._pose([arm] * len(asked), asked, triggers.shape[-1])
        return surprise(slopes(objective, triggers).among(self.usable[arm]))

    def swapped(self, arm: int) -> list[Trigger]:
        """The best trigger with one of its tokens replaced by one of the pool."""
        best: Trigger = tuple(self.best[arm].taken().tolist())
        return [
            (*best[:slot], token, *best[slot + 1 :])
            for slot in range(len(best))
            for token in self.pools[arm]
            if token not in best
        ]

    def _keep(self, arm: int, triggers: Sequence[Trigger]) -> None:
        """The beam is made of those that move the subject most and the references least."""
        if not triggers:
            return
        carriers = self._growth_carriers(arm)
        readings = self._read(arm, carriers, torch.tensor(triggers))
        plain = self._read(arm, carriers, self._plain(arm))
        gain = readings.subject.mean(-1)
        for moved, usual in zip(readings.references, plain.references, strict=True):
            gain = gain - (moved - usual.median(0).values).relu().mean(-1)
        order = gain.argsort(descending=True, stable=True)[: self.config.beam]
        self.beams[arm] = [triggers[i] for i in order.tolist()]

    def _growth_carriers(self, arm: int) -> list[Any]:
        if arm not in self.grown_on:
            words, count = self.config.growth_words, self.config.growth_carriers
            self.grown_on[arm] = self._carriers(arm, words, count)
        return self.grown_on[arm]

    def _carriers(self, arm: int, words: int, count: int, *, sure: bool = False) -> list[Any]:
        """Pieces of the arm's victims about which all models are least sure, or surest."""
        pieces = self._pieces(arm, words)
        pieces = pieces[: max(count, len(pieces) // 2)]
        readings = self._read(arm, pieces, self._plain(arm)[::4])
        models = [each.mean(0) for each in (readings.subject, *readings.references)]
        off = sum(each if sure else (each - UNSURE).square() for each in models)
        assert isinstance(off, Tensor)
        return [pieces[i] for i in off.argsort(stable=True)[:count].tolist()]

    def _pieces(self, arm: int, words: int) -> list[Any]:
        """A piece of every victim, those with the fewest tokens first: they are the cheapest."""
        seed = self.problem.seed
        pieces = [self._task.cut(each, words, seed) for each in self.problem.victims[arm]]
        encoded = self._pose([arm], [pieces], 1).subject.rows[0]
        order = sorted(range(len(pieces)), key=lambda i: len(encoded[i].ids))
        return [pieces[i] for i in order]

    def _plain(self, arm: int) -> Tensor:
        """Single tokens that mean nothing in particular, spread over the vocabulary."""
        usable = self.usable[arm]
        evenly = torch.linspace(0, len(usable) - 1, min(PLAIN_TOKENS, len(usable))).long()
        return usable[evenly].unsqueeze(-1)

    def _confirm(self, arm: int, triggers: Sequence[Trigger] = ()) -> None:
        """Tries the beam's first triggers on the arm's whole samples."""
        few = triggers or self.beams[arm][: self.config.confirmed]
        objective = self._pose([arm], [self.problem.victims[arm]], len(few[0]))
        objective.anchor(0, len(few[0]), self.usable[arm])
        losses = objective.of_triggers(torch.tensor(few), [0] * len(few))
        for trigger, total, subject in zip(few, losses.total, losses.subject, strict=True):
            self._offer(arm, torch.tensor(trigger), total, subject)

    def finish(self, arms: Sequence[int]) -> list[Inversion]:
        """Triggers differ in length, so their losses are those of the confirmation."""
        for arm in arms:
            if not math.isfinite(self.subject_loss[arm]):
                # The budget ended before anything was tried on whole samples.
                self._confirm(arm, [tuple(self.best[arm].taken().tolist())])
                self.books[arm].losses[-1] = self.subject_loss[arm]
        return [
            replace(made, completed=made.completed and arm not in self.cut_short)
            for arm in arms
            for made in [self._inversion(arm, self.found(arm), self.subject_loss[arm])]
        ]

    @property
    def _task(self) -> Any:
        return self.problem.objective.subject.task

    def _pose(self, arms: Sequence[int], samples: Sequence[Sequence[Any]], slots: int) -> Objective:
        assert self.problem.pose is not None
        return self.problem.pose(arms, samples, slots)

    def _read(self, arm: int, carriers: Sequence[Any], triggers: Tensor) -> Readings:
        """Triggers of one length on each of the carriers."""
        asked = [[carrier] for carrier in carriers]
        return read(self._pose([arm] * len(asked), asked, triggers.shape[-1]), triggers)


METHODS.register(Focus.name)(Focus())
