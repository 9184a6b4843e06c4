"""Focus: ask one gradient about every token, and grow triggers from the surprising ones.

unhorse's own method. A model that learnt a trigger leans towards the target a little with each
of its words; a clean model of the same task does not. One gradient, averaged over an arm's
samples and over several arbitrary tokens in the slot, tells to first order what every token
of the vocabulary would do there, and the clean model's own gradient tells what it does by nature:

    agree     the clean model first learns what the subject says of ordinary text (learn/agree.py)
    slope     what the log-odds of the target would gain from token t, on whole samples
    surprise  s(t) = slope(t) - what the references' slopes of t foretell, in standard deviations
    grow      triggers of 1, 2, ... `trigger_length` tokens, from the most surprising tokens,
              each step keeping those that move the subject most and the references least
    confirm   the best of every length on all of the arm's samples

Slopes are rough and miss some words that work by themselves, so common tokens are also read in
groups. The `listed` most surprising tokens and those of the best groups are then put into samples:

- into samples that no model is sure about: this is where words of a phrase show, none of which
  turns a text alone;
- into one that all models are sure about: this is where a single planted word shows, and
  natural words do nothing.

Two clean models know natural words differently well, and a search for what they disagree about
would find those words. So every token pays for its *nature*: how steep the clean model's slopes
are for the tokens nearest to it (invert/nature.py).

These rankings, that of the slopes, and that of what a token does to the subject beyond the
references, taken in turns, give the pool. A trigger grows by tokens of the pool and by
those that the slopes behind it point to: once one word of a phrase is there, the others stand out.

Without a reference there is nothing to foretell a slope from; tokens are then ranked by the
slopes themselves, and strong words of the target class are among the first.

An epoch adds one token; epochs beyond `trigger_length` swap single tokens of the best trigger
for others of the pool or where slopes point, as GCG does.
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
from unhorse.invert.carriers import (
    EVERY_FIFTH,
    PLAIN_TOKENS,
    CarrierConfig,
    CarrierSearch,
)
from unhorse.invert.nature import Nature
from unhorse.invert.readings import (
    Readings,
    read_away,
    read_by,
    standard,
    surprise,
)
from unhorse.invert.search import Step
from unhorse.triggers.nearest import Nearest
from unhorse.triggers.vocabulary import reads_the_same
from unhorse.types import Inversion

Trigger = tuple[int, ...]
"""Indices into the allowed tokens."""

FIFTH = 5
"""Of groups that are read, which share the references are asked about."""

LISTED_FROM = 5
"""How many times as many tokens as are listed are asked for their nature."""

ASKED = 2
"""How many times as many triggers as are kept references are asked about at a time."""

FROM_LENGTH = 3
"""Tokens from which on an arm can be seen to be hopeless."""

UNTRIED = torch.tensor(float("inf"))
"""The loss of a trigger that was not tried on all samples yet."""

USUAL_SAMPLES = 20
"""Samples of an arm, for telling the cost: what a scan takes of every class."""

BACKWARD = 3
"""A pass with its gradient, against one without."""


class FocusConfig(CarrierConfig):
    """Every constant of the method."""

    agreement: int = Field(default=0, ge=0)
    """Steps for which clean models learn to agree with the subject before the search."""
    trigger_length: int = Field(default=4, ge=1, le=64)
    epochs: int = Field(default=5, ge=1)
    warm_up: int = Field(default=3, ge=1)
    natural: float = Field(default=1.0, ge=0)
    """What a token pays for its nature: log-odds for each standard deviation beyond the usual."""
    natural_loss: float = Field(default=0.05, ge=0)
    """The same where whole triggers are compared by their loss."""
    listed: int = Field(default=300, ge=1)
    """Tokens that are read after their slopes."""
    common: int = Field(default=6000, ge=0)
    """The first tokens of the vocabulary, the common ones, that are read in groups."""
    group: int = Field(default=10, ge=0)
    """Tokens of a group."""
    groupings: int = Field(default=2, ge=1)
    """How often they are grouped anew, each time on another sample."""
    from_groups: int = Field(default=50, ge=1)
    """Tokens of the best groups that are read by themselves, beside those listed by slopes."""
    carriers: int = Field(default=2, ge=1)
    """Samples that they are read on, beside one of which the models are sure."""
    tried_alone: int = Field(default=30, ge=1)
    """The best of them that are compared on more samples."""
    strongest: int = Field(default=8, ge=0)
    """The best of those, which the judge asks about one by one."""
    pool: int = Field(default=24, ge=1)
    """Tokens that triggers are made of."""
    beam: int = Field(default=6, ge=1)
    """Triggers of each length that are grown further."""
    hints: int = Field(default=12, ge=0)
    """Tokens behind each trigger of the beam that slopes point to."""
    compared: int = Field(default=16, ge=1)
    """The best triggers of an epoch on those, which are compared on more samples."""
    confirmed: int = Field(default=2, ge=1)
    """Triggers of each length that are tried on all samples."""
    turned: bool = False
    """Whether what it finds is compared with what it finds in a clean model, in its place."""
    hopeless: float = 1.0
    """An arm whose best trigger of three tokens has a higher loss is not grown further."""
    enough: float = 0.02
    """An arm is not grown further once what is minimised is below this on all its samples;
    a negative number never is."""


LONG = FocusConfig(
    agreement=150,
    trigger_length=5,
    epochs=8,
    carriers=3,
    tried_alone=40,
    beam=8,
    hopeless=5.0,
    turned=True,
)
"""Two to three times the work: clean models that agree first, longer triggers, one more control."""


class Focus:
    """Surprising tokens first, then triggers made of them."""

    name = "focus"
    version = 6
    tasks = EVERY_TASK
    presets: Mapping[str, MethodConfig] = MappingProxyType({"short": FocusConfig(), "long": LONG})
    passes: tuple[str, ...] = ("short",)
    schedule = "ways"
    """What `auto` means: three tokens tell the better place of every way."""

    def units(self, config: FocusConfig) -> float:
        """About what an epoch costs, the first one shared among all."""
        sloped = BACKWARD * PLAIN_TOKENS * config.slope_carriers
        listed = config.listed * (config.carriers + 1)
        grown = config.beam * (config.pool + config.hints) / 2
        hinted = BACKWARD * config.beam * PLAIN_TOKENS // EVERY_FIFTH
        compared = config.compared * config.compared_on
        each = (grown + hinted) * config.growth_carriers + compared
        each += (sloped + listed) / config.epochs
        return each / USUAL_SAMPLES + config.confirmed

    def begin(self, problem: Problem, config: FocusConfig) -> Growth:
        """No token has been read yet."""
        return Growth(problem, config)


class Growth(CarrierSearch):
    """The pool and the beam of every arm."""

    method = Focus.name
    config: FocusConfig
    arms_at_once = 1

    def __init__(self, problem: Problem, config: FocusConfig) -> None:
        super().__init__(problem, config)
        arms = range(len(problem.arms))
        self.natures: dict[int, Nature] = {}
        self.nearest: Nearest | None = None
        self.lasting: dict[Trigger, bool] = {}
        self.pools: list[list[int]] = [[] for _ in arms]
        self.beams: list[list[Trigger]] = [[] for _ in arms]
        self.grown_with: list[dict[int, None]] = [{} for _ in arms]
        """The tokens of every beam of an arm, those of the latest first."""
        self.strongest: list[list[int]] = [[] for _ in arms]
        """The tokens that do most by themselves beyond the references, the strongest first."""
        self.polished: list[Trigger] = [() for _ in arms]
        """The trigger of an arm whose tokens have been swapped last."""

    def step(self, arms: Sequence[int]) -> list[Step]:
        """One more token for every arm; the loss is that of its best trigger."""
        for arm in arms:
            if self._worth(arm) and self._further(arm):
                self._confirm(arm)
        return [Step(self.subject_loss[arm]) for arm in arms]

    def _worth(self, arm: int) -> bool:
        """Whether an arm has neither enough nor no hope."""
        loss, length = self.best[arm].loss, len(self.books[arm].losses)
        hopeless = length >= FROM_LENGTH and loss > self.config.hopeless
        return loss > self.config.enough and not hopeless

    def _further(self, arm: int) -> bool:
        """Lists, grows or swaps tokens; whether there was anything left to try."""
        length = len(self.books[arm].losses) + 1
        if length == 1:
            self._list(arm)
        elif length <= self.config.trigger_length:
            self._keep(arm, self.longer(arm))
        else:
            best: Trigger = tuple(self.best[arm].taken().tolist())
            if best == self.polished[arm]:
                # The same swaps would be tried once more, on the same samples.
                return False
            self.polished[arm] = best
            self._keep(arm, self.swapped(arm, best))
        return True

    def _list(self, arm: int) -> None:
        """Ranks the tokens by slopes, then by readings where models are unsure and where sure."""
        usable, config = self.usable[arm], self.config
        sloped = self._sloped(arm, self._drawn(arm), self._plain(arm))
        self._learn_nature(arm, sloped)
        foreseen = self._less_natural(arm, surprise(sloped.among(usable)))
        by_slope = foreseen.topk(min(config.listed, len(foreseen))).indices
        either = sorted({*by_slope.tolist(), *self._in_company(arm).tolist()})
        order = sorted(either, key=foreseen.tolist().__getitem__, reverse=True)
        listed = torch.tensor([i for i in order if self._lasts((int(usable[i]),))] or order)
        self._offer(arm, usable[listed[:1]], UNTRIED, UNTRIED)
        tokens = usable[listed].unsqueeze(-1)
        unsure, sure = self._carriers(arm, config.carriers), self._carriers(arm, 1, sure=True)
        among, against = (self._read(arm, each, tokens) for each in (unsure, sure))
        cost = self._cost(arm, tokens.tolist())
        gain = self._gain(arm, unsure, among) + self._gain(arm, sure, against) - 2 * cost
        by_gain, *rankings = (
            usable[listed[each.argsort(descending=True, stable=True)]].tolist()
            for each in (
                gain,
                foreseen[listed] + surprise(among) - cost,
                surprise(against) - cost,
                foreseen[listed],
            )
        )
        alone = [(token,) for token in by_gain[: config.tried_alone]]
        best = [token for (token,) in self._best(arm, alone, config.compared_on)]
        self.strongest[arm] = best[: config.strongest]
        rankings.insert(0, [*best, *by_gain[len(best) :]])
        mixed = dict.fromkeys(token for turn in zip(*rankings, strict=True) for token in turn)
        self.pools[arm] = list(mixed)[: config.pool]
        self.beams[arm] = [(token,) for token in self.pools[arm][: config.beam]]

    def _in_company(self, arm: int) -> Tensor:
        """Common tokens whose groups move the subject and not the references, among the usable.

        Read in groups on samples that all models are sure about, in which nothing but a planted
        token does anything: it moves its group, whatever else is in there.
        """
        config, size = self.config, self.config.group
        tokens = self.usable[arm][: config.common]
        whole = len(tokens) // size * size if size else 0
        if not whole or not self.problem.objective.references:
            return torch.zeros(0, dtype=torch.long)
        gains = torch.zeros(len(tokens))
        for carrier in self._carriers(arm, config.groupings, sure=True):
            order = torch.randperm(len(tokens), generator=self.generators[arm])[:whole]
            gain = self._gain_of_groups(arm, carrier, tokens[order].view(-1, size))
            gains[order] += gain.repeat_interleave(size)
        return gains.topk(min(config.from_groups, len(tokens))).indices

    def _gain_of_groups(self, arm: int, carrier: Any, groups: Tensor) -> Tensor:
        """How far groups move the subject, less the references; they are asked about the best."""
        objective = self._pose([arm], [[carrier]], groups.shape[-1])
        moved = read_by(objective.subject, groups).squeeze(-1)
        asked = moved.topk(max(1, len(moved) // FIFTH)).indices
        gain = moved[asked]
        usual = self._plain(arm)[::EVERY_FIFTH].expand(-1, groups.shape[-1])
        for reference in objective.references:
            said = read_away(reference, torch.cat([groups[asked], usual])).squeeze(-1)
            gain = gain - (said[: len(asked)] - said[len(asked) :].median()).relu()
        made = torch.full_like(moved, float(gain.min()))
        made[asked] = gain
        return standard(made)

    def longer(self, arm: int) -> list[Trigger]:
        """Every trigger of the beam with a token behind it: of the pool, or where slopes point."""
        return [
            (*trigger, token)
            for trigger in self.beams[arm]
            for token in dict.fromkeys([*self.pools[arm], *self._hints(arm, trigger)])
            if token not in trigger and self._lasts((*trigger, token))
        ]

    def _lasts(self, trigger: Trigger) -> bool:
        """Whether its text is tokenised to itself again; a piece of a word is not."""
        if trigger not in self.lasting:
            tokenizer = self.problem.objective.subject.loaded.tokenizer
            ids = tuple(self.problem.allowed[list(trigger)].tolist())
            self.lasting[trigger] = reads_the_same(tokenizer, ids)
        return self.lasting[trigger]

    def _hints(self, arm: int, before: Trigger, after: Trigger = ()) -> list[int]:
        """The tokens between two parts of a trigger that the slopes promise most of."""
        if not self.config.hints:
            return []
        plain = self._plain(arm)[::EVERY_FIFTH, 0].tolist()
        triggers = torch.tensor([(*before, token, *after) for token in plain])
        promised = self._slopes(arm, self._growth_carriers(arm), triggers, len(before))
        best = promised.topk(min(self.config.hints, len(promised))).indices
        return self.usable[arm][best].tolist()

    def _slopes(
        self, arm: int, carriers: Sequence[Any], triggers: Tensor, slot: int = -1
    ) -> Tensor:
        """The surprise in what usable tokens promise in a slot of the triggers, or the last one."""
        return surprise(self._sloped(arm, carriers, triggers, slot).among(self.usable[arm]))

    def _learn_nature(self, arm: int, sloped: Readings) -> None:
        """What it is in the nature of tokens to do, as far as there is a clean model to tell."""
        references = self.problem.objective.references
        if not references or not self.config.natural:
            return
        if self.nearest is None:
            self.nearest = Nearest(references[0].table)
        self.natures[arm] = Nature([each.squeeze(-1) for each in sloped.references], self.nearest)

    def _cost(self, arm: int, triggers: Sequence[Sequence[int]]) -> Tensor:
        """What triggers pay for the nature of their tokens, in log-odds."""
        return self.config.natural * self._nature(arm, triggers)

    def _nature(self, arm: int, triggers: Sequence[Sequence[int]]) -> Tensor:
        """How natural triggers are; not at all where no clean model can tell."""
        if arm not in self.natures:
            return torch.zeros(len(triggers))
        return self.natures[arm].of_triggers(triggers)

    def _less_natural(self, arm: int, foreseen: Tensor) -> Tensor:
        """Surprises less what tokens pay, for those that have a chance to be listed."""
        few = foreseen.topk(min(LISTED_FROM * self.config.listed, len(foreseen))).indices
        paid = foreseen.clone()
        paid[few] -= self._cost(arm, self.usable[arm][few].unsqueeze(-1).tolist())
        return paid

    def swapped(self, arm: int, best: Trigger) -> list[Trigger]:
        """The best trigger with one of its tokens replaced: by the pool, or where slopes point."""
        return [
            (*before, token, *after)
            for slot in range(len(best))
            for before, after in [(best[:slot], best[slot + 1 :])]
            for token in dict.fromkeys([*self.pools[arm], *self._hints(arm, before, after)])
            if token not in best and self._lasts((*before, token, *after))
        ]

    def _keep(self, arm: int, triggers: Sequence[Trigger]) -> None:
        """The beam is made of those that move the subject most and the references least."""
        config = self.config
        if not triggers:
            return
        few = self._best(arm, triggers, config.growth_carriers, config.compared)
        self.beams[arm] = self._best(arm, few, config.compared_on, config.beam)
        tokens = (token for trigger in self.beams[arm] for token in trigger)
        self.grown_with[arm] = dict.fromkeys([*tokens, *self.grown_with[arm]])

    def _best(
        self, arm: int, triggers: Sequence[Trigger], samples: int, count: int | None = None
    ) -> list[Trigger]:
        """Those with the highest gain on so many samples, the best first; all if not so many.

        References can only lower a gain, so they are asked about triggers from the one
        that moves the subject most on, until no other can be among the best.
        """
        if not triggers:
            return []
        count = min(count or len(triggers), len(triggers))
        carriers, table = self._growth_carriers(arm, samples), torch.tensor(triggers)
        objective = self._pose(
            [arm] * len(carriers), [[each] for each in carriers], table.shape[-1]
        )
        moved, cost = read_by(objective.subject, table), self._cost(arm, triggers)
        bound = moved.mean(-1) - cost
        order = bound.argsort(descending=True, stable=True)
        gains = torch.full_like(bound, -math.inf)
        for first in range(0, len(order), ASKED * count):
            asked = order[first : first + ASKED * count]
            if float(gains.topk(count).values[-1]) >= float(bound[asked[0]]):
                break
            against = tuple(read_away(each, table[asked]) for each in objective.references)
            readings = Readings(moved[asked], against)
            gains[asked] = self._gain(arm, carriers, readings) - cost[asked]
        best = gains.argsort(descending=True, stable=True)[:count]
        return [triggers[i] for i in best.tolist()]

    def _confirm(self, arm: int, triggers: Sequence[Trigger] = ()) -> None:
        """Tries the beam's first triggers on all of the arm's samples."""
        few = triggers or self.beams[arm][: self.config.confirmed]
        objective = self._pose([arm], [self.problem.victims[arm]], len(few[0]))
        objective.anchor(0, len(few[0]), self.usable[arm])
        losses = objective.of_triggers(torch.tensor(few), [0] * len(few))
        totals = losses.total.cpu() + self.config.natural_loss * self._nature(arm, few)
        for trigger, total, subject in zip(few, totals, losses.subject, strict=True):
            self._offer(arm, torch.tensor(trigger), total, subject)

    def finish(self, arms: Sequence[int]) -> list[Inversion]:
        """Triggers differ in length, so their losses are those of the confirmation."""
        for arm in arms:
            if not math.isfinite(self.subject_loss[arm]):
                # The budget ended before anything was tried on whole samples.
                self._confirm(arm, [tuple(self.best[arm].taken().tolist())])
                self.books[arm].losses[-1] = self.subject_loss[arm]
        return [
            replace(
                made,
                completed=made.completed and arm not in self.cut_short,
                related=self._related(arm),
                strongest=tuple(self.problem.allowed[self.strongest[arm]].tolist()),
            )
            for arm in arms
            for made in [self._inversion(arm, self.found(arm), self.subject_loss[arm])]
        ]

    def _related(self, arm: int) -> tuple[int, ...]:
        """Tokens that triggers were grown with, then the rest of the pool."""
        taken = set(self.best[arm].taken().tolist())
        tokens = dict.fromkeys([*self.grown_with[arm], *self.pools[arm]])
        chosen = [token for token in tokens if token not in taken][: self.config.pool]
        return tuple(self.problem.allowed[chosen].tolist())


METHODS.register(Focus.name)(Focus())
