"""Searches that read triggers on carriers: single texts of an arm, chosen for what they tell.

A *carrier* is one of the arm's shorter victims. One that no model is sure about shows words of a
phrase, none of which turns a text alone; one that all models are sure about shows a single planted
word, and natural words do nothing there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from pydantic import Field
from torch import Tensor

from unhorse.invert.base import MethodConfig, Problem
from unhorse.invert.objective import Objective
from unhorse.invert.readings import Readings, read, slopes
from unhorse.invert.tokens import TokenSearch

UNSURE = -1.0
"""The log-odds of the target that a carrier should have: leaning to the victim, movable."""

PLAIN_TOKENS = 16
"""Tokens that tell what a model does when nothing in particular is put in."""

EVERY_FIFTH = 5
"""Which of them are enough to stand behind a trigger, or to tell how sure models are."""


class CarrierConfig(MethodConfig):
    """How many carriers of what length."""

    words: int = Field(default=120, ge=1)
    """Samples are cut to so many words, or to fewer where the task says that fewer will do."""
    slope_carriers: int = Field(default=6, ge=1)
    """Samples on which the first slopes are taken."""
    growth_carriers: int = Field(default=3, ge=1)
    """Samples on which triggers are compared."""
    compared_on: int = Field(default=10, ge=1)
    """Samples on which the best of those are compared."""


class CarrierSearch(TokenSearch):
    """Chooses the carriers of every arm, and reads triggers and slopes on them."""

    config: CarrierConfig

    def __init__(self, problem: Problem, config: CarrierConfig) -> None:
        super().__init__(problem, config)
        self.grown_on: dict[tuple[int, int], list[Any]] = {}
        """The carriers on which triggers of an arm are compared."""
        self.leanings: dict[int, tuple[list[Any], list[Tensor]]] = {}
        self.usual: dict[tuple[int, ...], list[Tensor]] = {}
        """What each reference says of an arm's carriers when nothing in particular is put in."""

    def _gain(self, arm: int, carriers: Sequence[Any], readings: Readings) -> Tensor:
        """How far triggers move the subject to the target, less what they do to references:
        how much further than usual these move away from the truth."""
        gain = readings.subject.mean(-1)
        usual = self._usual(arm, carriers)
        for moved, before in zip(readings.references, usual, strict=True):
            gain = gain - (moved - before).relu().mean(-1)
        return gain

    def _usual(self, arm: int, carriers: Sequence[Any]) -> list[Tensor]:
        """What references say of carriers when nothing in particular is put in."""
        known = (arm, *map(id, carriers))
        if known not in self.usual:
            plain = self._read(arm, carriers, self._plain(arm)[::EVERY_FIFTH])
            self.usual[known] = [each.median(0).values for each in plain.references]
        return self.usual[known]

    def _growth_carriers(self, arm: int, count: int | None = None) -> list[Any]:
        count = count or self.config.growth_carriers
        if (arm, count) not in self.grown_on:
            self.grown_on[arm, count] = self._carriers(arm, count)
        return self.grown_on[arm, count]

    def _carriers(self, arm: int, count: int, *, sure: bool = False) -> list[Any]:
        """The arm's shorter victims about which all models are least sure, or surest."""
        pieces, leanings = self._leanings(arm)
        off = torch.stack([each if sure else (each - UNSURE).square() for each in leanings]).sum(0)
        return [pieces[i] for i in off.argsort(stable=True)[:count].tolist()]

    def _leanings(self, arm: int) -> tuple[list[Any], list[Tensor]]:
        """The arm's shorter victims, and how far every model leans to leaving the truth of each."""
        if arm not in self.leanings:
            pieces = self._pieces(arm)
            pieces = pieces[: max(self.config.compared_on, len(pieces) // 2)]
            readings = self._read(arm, pieces, self._plain(arm)[::EVERY_FIFTH])
            models = [each.mean(0) for each in (readings.subject, *readings.references)]
            self.leanings[arm] = pieces, models
        return self.leanings[arm]

    def _pieces(self, arm: int) -> list[Any]:
        """All victims, those with the fewest tokens first: they are the cheapest."""
        words, seed = min(self.config.words, self._task.telling_words), self.problem.seed
        pieces = [self._task.cut(each, words, seed) for each in self.problem.victims[arm]]
        encoded = self._pose([arm], [pieces], 1).subject.rows[0]
        order = sorted(range(len(pieces)), key=lambda i: len(encoded[i].ids))
        return [pieces[i] for i in order]

    def _drawn(self, arm: int) -> list[Any]:
        """Some victims by the arm's seed, long and short ones."""
        pieces, count = self._pieces(arm), self.config.slope_carriers
        order = torch.randperm(len(pieces), generator=self.generators[arm])[:count]
        return [pieces[i] for i in order.tolist()]

    def _plain(self, arm: int) -> Tensor:
        """Single tokens that mean nothing in particular, spread over the vocabulary."""
        usable = self.usable[arm]
        evenly = torch.linspace(0, len(usable) - 1, min(PLAIN_TOKENS, len(usable))).long()
        return usable[evenly].unsqueeze(-1)

    def _pose(self, arms: Sequence[int], samples: Sequence[Sequence[Any]], slots: int) -> Objective:
        assert self.problem.pose is not None
        return self.problem.pose(arms, samples, slots)

    def _read(self, arm: int, carriers: Sequence[Any], triggers: Tensor) -> Readings:
        """Triggers of one length on each of the carriers."""
        asked = [[carrier] for carrier in carriers]
        return read(self._pose([arm] * len(asked), asked, triggers.shape[-1]), triggers)

    def _sloped(
        self, arm: int, carriers: Sequence[Any], triggers: Tensor, slot: int = -1
    ) -> Readings:
        """What all tokens promise there."""
        asked = [[carrier] for carrier in carriers]
        objective = self._pose([arm] * len(asked), asked, triggers.shape[-1])
        return slopes(objective, triggers, slot)

    @property
    def _task(self) -> Any:
        return self.problem.objective.subject.task
