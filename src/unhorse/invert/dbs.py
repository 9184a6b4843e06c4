"""DBS: dynamic bound-scaling.

Shen et al., "Constrained Optimization with Dynamic Bound-scaling for Effective
NLP Backdoor Defense", ICML 2022, Algorithm 1.

A trigger slot is a point in the convex hull of all token embeddings,
``softmax(w / temperature) @ E``. Adam moves ``w``. Every ``s`` epochs the
temperature is looked at: while the loss is under the bound it falls, which
focuses each slot onto one token; when the loss is not, it rises again and noise
moves the point elsewhere. A trigger counts once every slot has focused while
the loss is under the bound.

Two presets. ``paper`` is Algorithm 1 with the paper's constants; what the paper
leaves open is chosen as follows: it looks every s=5 epochs, bound 0.1, starts at
temperature u=2 (all as in the released code), delta=10 is the variance of the
noise (the usual reading of N(0, delta)), the learning rate halves every 50
epochs ("initial" 0.5 says that it falls; the released code does this), a trigger is
one-hot when what its slots lack to 1 sums to less than 1e-3, and w starts at zero.
``released`` is what the released code does instead: the temperature rises by 2
and not 5; the noise is uniform, added after the division by the temperature, and
lasts one epoch; the bound follows the best loss; nothing is rolled back before
the first time the loss is under the bound.

They fail on different models: without noise at the start, ``released`` always
descends from the same point into the same basin; with it, ``paper`` may never
settle. So a scan that names no preset makes a pass with ``released`` and, unless
that convicts, one with ``paper``.

Where the constants of the algorithm stand in `DBSConfig`: c `cool`, d `warm`,
u `temperature_max`, s `check_every`, beta' `bound`, epsilon and delta `noise`
and `noise_scale`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor

from unhorse.invert.base import METHODS, MethodConfig, Problem, Progress
from unhorse.seeding import torch_generator
from unhorse.types import Arm, Curve, Inversion


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


@dataclass
class _ArmState:
    """What the algorithm remembers of one arm."""

    arm: Arm
    generator: torch.Generator
    temperature: float
    bound: float
    loss: float = float("inf")
    was_under_bound: bool = False
    rollbacks: int = 0
    noise_now: bool = False
    best_choice: Tensor | None = None
    best_loss: float = float("inf")
    nearest_choice: Tensor | None = None
    nearest_gap: float = float("inf")
    losses: list[float] = field(default_factory=list)
    temperatures: list[float] = field(default_factory=list)


class DBS:
    """Algorithm 1, on all arms at once; every arm keeps a state of its own."""

    name = "dbs"
    presets: Mapping[str, MethodConfig] = MappingProxyType({"released": RELEASED, "paper": PAPER})
    passes: tuple[str, ...] = ("released", "paper")

    def invert(self, problem: Problem, config: MethodConfig, progress: Progress) -> list[Inversion]:
        """Optimises every arm of the problem for `config.epochs` epochs."""
        assert isinstance(config, DBSConfig)
        began = time.perf_counter()
        states = [
            _ArmState(
                arm,
                torch_generator(problem.seed, "noise", arm.key),
                config.temperature_start,
                config.bound,
            )
            for arm in problem.arms
        ]
        device = problem.objective.subject.table.device
        shape = (len(states), config.trigger_length, len(problem.allowed))
        w = torch.zeros(shape, device=device, requires_grad=True)
        adam = torch.optim.Adam([w], lr=config.learning_rate)
        falling = torch.optim.lr_scheduler.StepLR(
            adam, config.learning_rate_halves_every, gamma=0.5
        )
        epochs = 0
        try:
            while epochs < config.epochs:
                if epochs and epochs % config.check_every == 0:
                    for state, weights in zip(states, w.data, strict=True):
                        _focus_or_backtrack(state, weights, config)
                _one_epoch(problem, states, w, adam, config)
                falling.step()
                epochs += 1
                progress.epoch(
                    epochs, [s.loss for s in states], [s.temperatures[-1] for s in states]
                )
        except KeyboardInterrupt:
            if not epochs:
                raise
        return _results(problem, config, states, epochs, time.perf_counter() - began)


def _one_epoch(
    problem: Problem,
    states: list[_ArmState],
    w: Tensor,
    adam: torch.optim.Optimizer,
    config: DBSConfig,
) -> None:
    temperature = torch.tensor([s.temperature for s in states], device=w.device)
    logits = w / temperature[:, None, None]
    if any(s.noise_now for s in states):
        logits = logits + _transient_noise(states, w, config)
    alpha = logits.softmax(-1)
    losses = problem.objective(alpha)
    adam.zero_grad()
    torch.autograd.backward(losses.total.sum())
    adam.step()

    peak, choice = alpha.detach().max(-1)
    gaps = (1 - peak).sum(-1).tolist()
    for state, loss, gap, chosen in zip(states, losses.subject.tolist(), gaps, choice, strict=True):
        state.loss = loss
        state.losses.append(loss)
        state.temperatures.append(state.temperature)
        state.was_under_bound |= loss < state.bound
        _keep_best(state, loss, gap, chosen, config)


def _keep_best(
    state: _ArmState, loss: float, gap: float, choice: Tensor, config: DBSConfig
) -> None:
    if gap < state.nearest_gap or state.nearest_choice is None:
        state.nearest_gap, state.nearest_choice = gap, choice.clone()
    if gap < config.one_hot_tolerance and loss < min(state.bound, state.best_loss):
        state.best_loss, state.best_choice = loss, choice.clone()
        if config.bound_follows_best:
            state.bound, state.rollbacks = loss / 2, 0


def _focus_or_backtrack(state: _ArmState, w: Tensor, config: DBSConfig) -> None:
    """Lines 3 to 10 of Algorithm 1 for one arm; `w` is changed in place."""
    state.noise_now = False
    if not config.scale_temperature:
        return
    if state.rollbacks >= config.patience and config.bound_follows_best:
        state.rollbacks = 0
        state.bound = min(2 * state.bound, state.best_loss - 1e-3)
    if not (config.rollback_before_success or state.was_under_bound):
        return
    if state.loss < state.bound:
        state.temperature = max(state.temperature / config.cool, config.temperature_min)
    elif config.backtrack:
        state.rollbacks += 1
        state.temperature = min(state.temperature * config.warm, config.temperature_max)
        if config.noise == "persistent-normal":
            noise = torch.randn(w.shape, generator=state.generator) * config.noise_scale
            w += noise.to(w.device)
        else:
            state.noise_now = True


def _transient_noise(states: list[_ArmState], w: Tensor, config: DBSConfig) -> Tensor:
    noise = torch.zeros(w.shape)
    for number, state in enumerate(states):
        if state.noise_now:
            noise[number] = torch.rand(w.shape[1:], generator=state.generator) * config.noise_scale
            state.noise_now = False
    return noise.to(w.device)


def _results(
    problem: Problem, config: DBSConfig, states: list[_ArmState], epochs: int, seconds: float
) -> list[Inversion]:
    choices = [s.best_choice if s.best_choice is not None else s.nearest_choice for s in states]
    chosen = torch.stack([c for c in choices if c is not None])
    hard_losses = problem.objective.of_tokens(chosen).tolist()
    return [
        Inversion(
            arm=state.arm,
            method=DBS.name,
            preset=problem.preset,
            seed=problem.seed,
            token_ids=tuple(problem.allowed[choice.cpu()].tolist()),
            loss=loss,
            one_hot=state.best_choice is not None,
            completed=epochs == config.epochs and math.isfinite(state.loss),
            epochs=epochs,
            seconds=seconds / len(states),
            curve=Curve(tuple(state.losses), tuple(state.temperatures)),
            error=None if math.isfinite(state.loss) else "its loss is not a number",
        )
        for state, choice, loss in zip(states, chosen, hard_losses, strict=True)
    ]


METHODS.register(DBS.name)(DBS())
