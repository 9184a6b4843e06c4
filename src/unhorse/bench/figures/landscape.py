"""A trojaned model -> the data of Figures 1 and 2: the loss around its true trigger.

A point of the landscape is a matrix of weights over tokens, one row for each slot; its loss
at a temperature is that of the mixtures ``softmax(weights / temperature)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from torch import Tensor

from unhorse.attack.record import MODEL
from unhorse.bench.figures.figure1 import Figure1
from unhorse.bench.figures.figure2 import Figure2, Panel, Step
from unhorse.bench.handed import Handed
from unhorse.bench.truth import place
from unhorse.config import ScanConfig
from unhorse.errors import UsageError
from unhorse.invert.base import Problem
from unhorse.invert.methods.dbs import PAPER, DBSConfig, Dynamic
from unhorse.invert.pose import Pass, pose_problem
from unhorse.load.subject import make_subject
from unhorse.runtime import choose_runtime
from unhorse.seeding import torch_generator
from unhorse.tasks.base import TASKS
from unhorse.triggers.vocabulary import retokenise

PEAK = 10.0
"""The weight of a true token in its slot: about what DBS reaches."""

LOW = 0.1
"""The temperature of Figure 1."""

PANELS = (("high", 2.0, 1.0, 1e9), ("moderate", 0.5, 0.2, 1.0), ("low", 0.1, 0.0, 0.2))
"""Title and temperature of Figure 2's panels, and the temperatures of the path in them."""

AT_ONCE = 8


@dataclass(frozen=True, eq=False)
class Scene:
    """A model with its true trigger: one arm, and the trigger's place among the tokens."""

    model: str
    trigger: str
    problem: Problem
    true: Tensor
    config: DBSConfig

    def at_truth(self) -> Tensor:
        """The weights that single out the true tokens."""
        weights = torch.zeros(len(self.true), len(self.problem.allowed))
        weights[torch.arange(len(self.true)), self.true] = PEAK
        return weights

    def losses(self, weights: Tensor, temperature: float) -> list[float]:
        """The subject's loss at many points, shaped (point, slot, token)."""
        with torch.no_grad():
            mixtures = (weights / temperature).softmax(-1)
            return self.problem.objective.subject(mixtures, [0] * len(weights)).loss.tolist()


def open_scene(handed: Handed, config: ScanConfig, epochs: int) -> Scene:
    """Reads a trojaned model that has a trigger of words."""
    record, probes = handed.record, handed.probes
    if not record.poisoned or probes is None or not record.trigger:
        raise UsageError(f"{record.name} has no trigger of words to look around.")
    runtime = choose_runtime(config.device, config.dtype)
    task = TASKS.get(record.task)
    subject = make_subject(
        handed.folder / MODEL,
        None,
        handed.samples,
        (),
        config,
        runtime.device,
        PAPER.trigger_length,
    )
    ids = retokenise(subject.loaded.tokenizer, record.trigger)
    where = place(record.scope, record.trigger, probes.arm, task.positions)
    constants = PAPER.model_copy(update={"trigger_length": len(ids), "epochs": epochs})
    arms = [replace(probes.arm, position=where)]
    problem = pose_problem(subject, arms, Pass("paper", constants), config, runtime)
    known = {token: number for number, token in enumerate(problem.allowed.tolist())}
    if any(token not in known for token in ids):
        raise UsageError(f"The trigger of {record.name} has tokens that no search may use.")
    true = torch.tensor([known[token] for token in ids])
    return Scene(record.name, record.trigger, problem, true, constants)


def square(scene: Scene, axes: tuple[Tensor, Tensor, Tensor], x: Sequence[float],
           y: Sequence[float], temperature: float) -> tuple[tuple[float, ...], ...]:  # fmt: skip
    """Losses on a grid: at `y[i]` and `x[j]` in row `i` and column `j`.

    Args:
        scene: the model.
        axes: the point in the middle and the two directions.
        x: steps along the first direction.
        y: steps along the second.
        temperature: of the mixtures.
    """
    middle, first, second = axes
    rows = []
    for down in y:
        row: list[float] = []
        for begin in range(0, len(x), AT_ONCE):
            steps = torch.tensor(x[begin : begin + AT_ONCE])[:, None, None]
            row += scene.losses(middle + steps * first + down * second, temperature)
        rows.append(tuple(float(f"{loss:.4g}") for loss in row))
    return tuple(rows)


def figure1(scene: Scene, points: int, seed: int) -> Figure1:
    """The square around the true trigger along two random directions."""
    directions = []
    for name in ("first", "second"):
        drawn = torch.randn(scene.at_truth().shape, generator=torch_generator(seed, name))
        # At a step of 1 the strongest other token weighs as much as the true one.
        directions.append(PEAK * drawn / drawn.abs().max())
    steps = _steps(-2.0, 2.0, points)
    axes = (scene.at_truth(), directions[0], directions[1])
    return Figure1(
        model=scene.model,
        trigger=scene.trigger,
        temperature=LOW,
        x=steps,
        y=steps,
        loss=square(scene, axes, steps, steps, LOW),
    )


@dataclass(frozen=True, eq=False)
class Walk:
    """Where DBS was before every epoch, how that epoch went, and what came after it."""

    weights: list[Tensor]
    losses: list[float]
    temperatures: list[float]
    rolled_back: list[bool]

    @property
    def warmed(self) -> int | None:
        """The number of the first epoch after which the temperature was raised."""
        both = enumerate(pairwise(self.temperatures))
        return next((number for number, (now, then) in both if then > now), None)


def walk(scene: Scene, seed: int) -> Walk:
    """DBS as in the paper on the true arm, with as many slots as the trigger has tokens."""
    search = Dynamic(replace(scene.problem, seed=seed), scene.config)
    state, weights, counts = search.arms[0], [], []
    for _ in range(scene.config.epochs):
        weights.append(state.w.detach().clone().cpu())
        search.advance([0])
        counts.append(state.rollbacks)
    books = search.books[0]
    # What an epoch begins with belongs to the end of the one before.
    rolled_back = [later > now for now, later in pairwise(counts)]
    return Walk(weights, books.losses, books.temperatures, [*rolled_back, False])


def telling_walk(scene: Scene, seed: int, tries: int) -> Walk:
    """The first walk of some seeds in which the temperature was raised, else the first one."""
    made = [walk(scene, seed)]
    while made[-1].warmed is None and len(made) < tries:
        made.append(walk(scene, seed + len(made)))
    return made[-1] if made[-1].warmed is not None else made[0]


def figure2(scene: Scene, points: int, seed: int, tries: int) -> Figure2:
    """The plane through the start, the true trigger and the first rollback; and the path."""
    made = telling_walk(scene, seed, tries)
    turned = made.warmed
    first = _unit(scene.at_truth())
    third = made.weights[turned if turned is not None else -1]
    second = _unit(third - (third * first).sum() * first)
    places = [((w * first).sum().item(), (w * second).sum().item()) for w in made.weights]
    true = ((scene.at_truth() * first).sum().item(), 0.0)
    x = _steps(*_around([true[0], *(p[0] for p in places)]), points)
    y = _steps(*_around([true[1], *(p[1] for p in places)]), points)
    axes = (torch.zeros_like(first), first, second)
    return Figure2(
        model=scene.model,
        trigger=scene.trigger,
        x=x,
        y=y,
        panels=tuple(
            Panel(
                title=title,
                temperature=temperature,
                above=above,
                below=below,
                loss=square(scene, axes, x, y, temperature),
            )
            for title, temperature, above, below in PANELS
        ),
        path=tuple(
            Step(epoch=n, x=a, y=b, loss=loss, temperature=temperature, rolled_back=back)
            for n, ((a, b), loss, temperature, back) in enumerate(
                zip(places, made.losses, made.temperatures, made.rolled_back, strict=True), 1
            )
        ),
        true=true,
        third="where it ended" if turned is None else "the first rollback",
    )


def _unit(direction: Tensor) -> Tensor:
    length: Tensor = direction.norm().clamp_min(1e-9)
    return direction / length


def _around(values: Sequence[float]) -> tuple[float, float]:
    """An interval that has all values with some room.

    >>> _around([0.0, 10.0])
    (-2.0, 12.0)
    """
    room = 0.2 * max(max(values) - min(values), 1.0)
    return min(values) - room, max(values) + room


def _steps(low: float, high: float, points: int) -> tuple[float, ...]:
    """Evenly spaced numbers.

    >>> _steps(0.0, 1.0, 3)
    (0.0, 0.5, 1.0)
    """
    return tuple(low + (high - low) * n / (points - 1) for n in range(points))
