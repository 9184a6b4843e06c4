"""DBS: dynamic bound-scaling.

Shen et al., "Constrained Optimization with Dynamic Bound-scaling for Effective
NLP Backdoor Defense", ICML 2022, Algorithm 1.

A trigger slot is a point in the convex hull of all token embeddings,
``softmax(w / temperature) @ E``. Adam moves ``w``. Every ``s`` epochs the
temperature is looked at: while the loss is under the bound it falls, which
focuses each slot onto one token; when the loss is not, it rises again and noise
moves the point elsewhere. A trigger counts once every slot has focused while
the loss is under the bound.

Two presets are for use. ``paper`` is Algorithm 1 with the paper's constants; what the paper
leaves open is chosen as follows: it looks every s=5 epochs, bound 0.1, starts at
temperature u=2 (all as in the released code), delta=10 is the variance of the
noise (the usual reading of N(0, delta)), the learning rate halves every 50
epochs ("initial" 0.5 says that it falls; the released code does this), a trigger is
one-hot when what its slots lack to 1 sums to less than 1e-3, and w starts at zero.
``released`` is what the released code does instead: the temperature rises by 2
and not 5; the noise is uniform, added after the division by the temperature, and
lasts one epoch; the bound follows the best loss; nothing is rolled back before
the first time the loss is under the bound.

Two more are for the paper's ablation (Table 4): ``no-scaling`` stays at the first temperature
and ends with a mixture, ``no-backtracking`` leaves out the branch that rolls back. Both are
``paper`` otherwise.

``released`` and ``paper`` fail on different models: without noise at the start, the first always
descends from the same point into the same basin; with it, the other may never
settle. So a scan that names no preset makes a pass with ``released`` and, unless
that convicts, one with ``paper``.

Where the constants of the algorithm stand in `DBSConfig`: c `cool`, d `warm`,
u `temperature_max`, s `check_every`, beta' `bound`, epsilon and delta `noise`
and `noise_scale`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from unhorse.invert.base import EVERY_TASK, METHODS, MethodConfig, Problem
from unhorse.invert.mixtures import start
from unhorse.invert.search import Books, Found, Step, StepwiseSearch
from unhorse.seeding import torch_generator
from unhorse.types import Native


class DBSConfig(MethodConfig):
    """Every constant of the method; the defaults are the preset ``paper``."""

    learning_rate: float = Field(default=0.5, gt=0)
    learning_rate_halves_every: int = Field(default=50, ge=1)
    temperature_start: float = Field(default=2.0, gt=0)
    temperature_max: float = Field(default=2.0, gt=0)
    temperature_min: float = Field(default=0.01, gt=0)
    cool: float = Field(default=2.0, gt=1)
    warm: float = Field(default=5.0, gt=1)
    check_every: int = Field(default=5, ge=1)
    bound: float = Field(default=0.1, gt=0)
    bound_follows_best: bool = False
    patience: int = Field(default=5, ge=1)
    noise: Literal["persistent-normal", "transient-uniform"] = "persistent-normal"
    noise_scale: float = Field(default=10.0**0.5, ge=0)
    rollback_before_success: bool = True
    one_hot_tolerance: float = Field(default=1e-3, gt=0)
    scale_temperature: bool = True
    backtrack: bool = True


PAPER = DBSConfig()
RELEASED = DBSConfig(
    warm=2.0,
    bound_follows_best=True,
    noise="transient-uniform",
    noise_scale=10.0,
    rollback_before_success=False,
)
NO_SCALING = DBSConfig(scale_temperature=False)
NO_BACKTRACKING = DBSConfig(backtrack=False)


@dataclass
class _Arm:
    """What the algorithm remembers of one arm."""

    books: Books
    generator: torch.Generator
    w: Tensor
    adam: torch.optim.Adam
    falling: torch.optim.lr_scheduler.StepLR
    temperature: float
    bound: float
    was_under_bound: bool = False
    rollbacks: int = 0
    noise_now: bool = False
    best_choice: Tensor | None = None
    best_loss: float = float("inf")
    nearest_choice: Tensor | None = None
    nearest_gap: float = float("inf")

    @property
    def losses(self) -> list[float]:
        """The loss of every epoch so far."""
        return self.books.losses


class DBS:
    """Algorithm 1; every arm keeps a state of its own."""

    name = "dbs"
    tasks = EVERY_TASK
    presets: Mapping[str, MethodConfig] = MappingProxyType(
        {
            "released": RELEASED,
            "paper": PAPER,
            "no-scaling": NO_SCALING,
            "no-backtracking": NO_BACKTRACKING,
        }
    )
    passes: tuple[str, ...] = ("released", "paper")

    def units(self, config: DBSConfig) -> float:
        """One step of Adam: forward and backward."""
        return 2.0

    def begin(self, problem: Problem, config: DBSConfig) -> Dynamic:
        """All arms at the uniform mixture."""
        return Dynamic(problem, config)


class Dynamic(StepwiseSearch):
    """The loop of Algorithm 1, one epoch at a time for the arms that are asked for."""

    method = DBS.name
    config: DBSConfig

    def __init__(self, problem: Problem, config: DBSConfig) -> None:
        super().__init__(problem, config)
        self.arms = [
            _start(number, problem, config, books) for number, books in enumerate(self.books)
        ]

    def step(self, arms: Sequence[int]) -> list[Step]:
        """Looks at the temperature when it is time, then one step of Adam."""
        states = [self.arms[i] for i in arms]
        for state in states:
            if state.losses and len(state.losses) % self.config.check_every == 0:
                _focus_or_backtrack(state, self.config)
        return _one_epoch(self.problem, arms, states, self.config)

    def found(self, arm: int) -> Found:
        """The best focused trigger, or the one that was nearest to being focused."""
        state = self.arms[arm]
        focused = state.best_choice is not None
        choice = state.best_choice if focused else state.nearest_choice
        assert choice is not None
        native = Native("focused loss", state.best_loss)
        if not self.config.scale_temperature:
            # It never focuses, so it decides by where it ends.
            native = Native("soft loss", state.losses[-1])
        return Found(choice, focused, native)


def _start(number: int, problem: Problem, config: DBSConfig, books: Books) -> _Arm:
    weights = start(
        problem,
        number,
        config.trigger_length,
        config.learning_rate,
        config.learning_rate_halves_every,
    )
    return _Arm(
        books=books,
        generator=torch_generator(problem.seed, "noise", problem.arms[number].key),
        w=weights.w,
        adam=weights.adam,
        falling=weights.falling,
        temperature=config.temperature_start,
        bound=config.bound,
    )


def _one_epoch(
    problem: Problem, arms: Sequence[int], states: list[_Arm], config: DBSConfig
) -> list[Step]:
    w = torch.stack([state.w for state in states])
    temperature = torch.tensor([state.temperature for state in states], device=w.device)
    logits = w / temperature[:, None, None]
    if any(state.noise_now for state in states):
        logits = logits + _transient_noise(states, w, config)
    alpha = logits.softmax(-1)
    losses = problem.objective(alpha, arms)
    for state in states:
        state.adam.zero_grad()
    torch.autograd.backward(losses.total.sum())
    for state in states:
        state.adam.step()
        state.falling.step()

    peak, choice = alpha.detach().max(-1)
    gaps = (1 - peak).sum(-1).tolist()
    steps = []
    for state, loss, gap, chosen in zip(states, losses.subject.tolist(), gaps, choice, strict=True):
        state.was_under_bound |= loss < state.bound
        _keep_best(state, loss, gap, chosen, config)
        steps.append(Step(loss, state.temperature))
    return steps


def _keep_best(state: _Arm, loss: float, gap: float, choice: Tensor, config: DBSConfig) -> None:
    if gap < state.nearest_gap or state.nearest_choice is None:
        state.nearest_gap, state.nearest_choice = gap, choice.clone()
    if gap < config.one_hot_tolerance and loss < min(state.bound, state.best_loss):
        state.best_loss, state.best_choice = loss, choice.clone()
        if config.bound_follows_best:
            state.bound, state.rollbacks = loss / 2, 0


def _focus_or_backtrack(state: _Arm, config: DBSConfig) -> None:
    """Lines 3 to 10 of Algorithm 1 for one arm; its `w` is changed in place."""
    state.noise_now = False
    if not config.scale_temperature:
        return
    if state.rollbacks >= config.patience and config.bound_follows_best:
        state.rollbacks = 0
        state.bound = min(2 * state.bound, state.best_loss - 1e-3)
    if not (config.rollback_before_success or state.was_under_bound):
        return
    if state.losses[-1] < state.bound:
        state.temperature = max(state.temperature / config.cool, config.temperature_min)
    elif config.backtrack:
        state.rollbacks += 1
        state.temperature = min(state.temperature * config.warm, config.temperature_max)
        if config.noise == "persistent-normal":
            noise = torch.randn(state.w.shape, generator=state.generator) * config.noise_scale
            state.w.data += noise.to(state.w.device)
        else:
            state.noise_now = True


def _transient_noise(states: list[_Arm], w: Tensor, config: DBSConfig) -> Tensor:
    noise = torch.zeros(w.shape)
    for number, state in enumerate(states):
        if state.noise_now:
            noise[number] = torch.rand(w.shape[1:], generator=state.generator) * config.noise_scale
            state.noise_now = False
    return noise.to(w.device)


METHODS.register(DBS.name)(DBS())
