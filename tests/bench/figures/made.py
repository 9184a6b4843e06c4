"""Data of figures made by hand, shaped as real ones are."""

from __future__ import annotations

import math
import random

from unhorse.bench.figures.curves import Curve
from unhorse.bench.figures.figure1 import Figure1
from unhorse.bench.figures.figure2 import Figure2, Panel, Step
from unhorse.bench.figures.figure3 import Figure3
from unhorse.bench.figures.figure4 import Figure4
from unhorse.bench.figures.figure4 import Panel as Pair
from unhorse.bench.figures.figure5 import Figure5, Point
from unhorse.bench.figures.figure5 import Panel as Attack


def rugged(size=25, seed=0):
    draw = random.Random(seed)
    steps = [-2 + 4 * i / (size - 1) for i in range(size)]
    loss = [
        [0.01 if math.hypot(x, y) < 0.5 else draw.choice((0.3, 2.0, 4.0)) for x in steps]
        for y in steps
    ]
    return steps, loss


def figure1():
    steps, loss = rugged()
    return Figure1(model="m", trigger="brass cup", temperature=0.1, x=steps, y=steps, loss=loss)


def figure2():
    x = [-2 + 0.5 * i for i in range(33)]
    y = [-20 + 5 * i for i in range(33)]

    def bowl(width):
        return [
            [0.001 + min(4.0, ((a - 10) / width) ** 2 + (b / (8 * width)) ** 2 * 2) for a in x]
            for b in y
        ]

    panels = [
        Panel(title="high", temperature=2, above=1, below=1e9, loss=bowl(8)),
        Panel(title="moderate", temperature=0.5, above=0.2, below=1, loss=bowl(4)),
        Panel(title="low", temperature=0.1, above=0, below=0.2, loss=bowl(1.5)),
    ]
    temperatures = [2] * 10 + [0.5] * 10 + [0.1] * 10 + [0.5] * 10 + [0.1] * 20
    path = []
    for n, temperature in enumerate(temperatures, 1):
        back = 100 * (1 - abs(n - 30) / 30) if n < 40 else 60 * (60 - n) / 20
        path.append(
            Step(
                epoch=n,
                x=n / 6,
                y=back,
                loss=3 / n if n < 30 or n > 40 else 1.5,
                temperature=temperature,
                rolled_back=n == 30,
            )
        )
    return Figure2(
        model="m",
        trigger="brass cup",
        x=x,
        y=y,
        panels=panels,
        path=path,
        true=(10, 0),
        third="the first rollback",
    )


def curve(method, end, seed=0, epochs=200):
    draw = random.Random(seed)
    loss = [max(end, 4 * math.exp(-n / 25)) * draw.uniform(0.7, 1.4) for n in range(epochs)]
    return Curve(method=method, arm="a->b@start", loss=loss)


def figure3():
    ends = {"ascc": 2.0, "uat": 1.0, "dbs:paper": 0.01}
    return Figure3(model="m", trigger="t", curves=[curve(m, e) for m, e in ends.items()])


def figure4():
    ends = {"continuous": (1e-4, 2e-4), "ascc": (1, 1.2), "uat": (0.8, 1), "dbs:paper": (0.005, 1)}
    panels = [
        Pair(method=m, trojaned=curve(m, bad), clean=curve(m, good, 1))
        for m, (bad, good) in ends.items()
    ]
    return Figure4(model="tes-word-01", twin="tes-word-01-twin", panels=panels)


def figure5():
    draw = random.Random(0)

    def points(low, high, count):
        return [Point(model=f"m{i}", loss=draw.uniform(low, high)) for i in range(count)]

    panels = [
        Attack(attack=attack, trojaned=points(0.001, high, 10), clean=points(0.4, 3, 10), beta=0.35,
               accuracy=0.95)
        for attack, high in (("hidden_killer", 0.2), ("lws", 0.1), ("sos", 1.0))
    ]  # fmt: skip
    return Figure5(method="dbs:paper", panels=panels)


ALL = (figure1, figure2, figure3, figure4, figure5)
