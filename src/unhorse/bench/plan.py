"""A suite, methods and seeds -> the scans to be made, in the order they are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from unhorse.errors import UsageError
from unhorse.invert.base import METHODS
from unhorse.zoo.suite import SCANNED, Entry


@dataclass(frozen=True)
class Asked:
    """A method as it is asked for: `dbs`, or `dbs:paper` for one of its presets."""

    method: str
    preset: str | None = None

    @property
    def label(self) -> str:
        """How it is written."""
        return self.method if self.preset is None else f"{self.method}:{self.preset}"


WITH_REFERENCE = "sequence-classification"
"""The task for which the paper has a clean model in its objective; the others have none."""

PAPER_SCHEDULES = {"token-classification": "top2", "question-answering": "all"}
"""How arms share the epochs in the paper, where that is not what a scan does by itself."""


@dataclass(frozen=True)
class Given:
    """What a scan is given beside the model.

    `reference_seed` draws the clean model to compare with; None for a scan without one, or
    with one that it distils from the model itself and its base.
    `schedule` is how arms share the epochs, where it is not left to the scan, and `budget`
    how much work a scan may do.
    """

    reference_seed: int | None = 0
    samples: bool = True
    schedule: str | None = None
    distilled: bool = False
    budget: str | None = None

    @property
    def suffix(self) -> str:
        """What tells its results from those of the usual scan.

        >>> Given().suffix, Given(2).suffix, Given(None, samples=False).suffix
        ('', '-ref2', '-noref-nosamples')
        >>> Given(None, distilled=True).suffix
        '-distilled'
        >>> Given(budget="quick").suffix
        '-quick'
        """
        parts = [f"ref{self.reference_seed}"] if self.reference_seed else []
        if self.reference_seed is None:
            parts = ["distilled" if self.distilled else "noref"]
        parts += [] if self.samples else ["nosamples"]
        parts += [] if self.schedule is None else [self.schedule]
        parts += [] if self.budget is None else [self.budget]
        return "".join(f"-{part}" for part in parts)


def as_in_paper(task: str) -> Given:
    """What the paper's scans are given: a reference for texts alone, and two arms for entities.

    >>> as_in_paper("token-classification").suffix
    '-noref-top2'
    """
    return Given(0 if task == WITH_REFERENCE else None, schedule=PAPER_SCHEDULES.get(task))


@dataclass(frozen=True)
class Unit:
    """One scan: a model by a method with a seed."""

    entry: Entry
    asked: Asked
    seed: int
    given: Given = Given()

    @property
    def name(self) -> str:
        """The model's name."""
        return self.entry.name

    def path(self, out: Path, suite: str) -> Path:
        """Where its result goes."""
        method = self.asked.label.replace(":", "-")
        name = f"{self.name}-seed{self.seed}{self.given.suffix}.json"
        return out / suite / method / name


def parse_methods(text: str) -> list[Asked]:
    """Methods from a list with commas; an unknown one is a usage error.

    >>> [asked.label for asked in parse_methods("dbs, uat:strong")]
    ['dbs', 'uat:strong']
    """
    made = []
    for name in text.split(","):
        method, _, preset = name.strip().partition(":")
        known = METHODS.get(method).presets
        if preset and preset not in known:
            raise UsageError(
                f"The method {method} has no preset {preset!r}; known: {', '.join(known)}."
            )
        made.append(Asked(method, preset or None))
    return list(dict.fromkeys(made))


def plan(
    entries: Sequence[Entry],
    methods: Sequence[Asked],
    seeds: int,
    splits: Sequence[str] = (),
    only: Sequence[str] = (),
    given: Given | None = None,
) -> list[Unit]:
    """Every scan, seed by seed and model by model, so that a partial table covers all methods.

    Methods that are not defined for the suite's task are left out; models that are not
    scanned (families, references) too.

    Args:
        entries: the models of a suite.
        methods: what to scan with.
        seeds: how many seeds, from 0.
        splits: only these; all if empty.
        only: only models or groups of these names; all if empty.
        given: what a scan is given beside the model.
    """
    chosen = [entry for entry in _in_turn(entries) if _wanted(entry, splits, only)]
    return [
        Unit(entry, asked, seed, given or Given())
        for seed in range(seeds)
        for entry in chosen
        for asked in methods
        if not (tasks := METHODS.get(asked.method).tasks) or entry.recipe.task in tasks
    ]


def _wanted(entry: Entry, splits: Sequence[str], only: Sequence[str]) -> bool:
    if entry.use not in SCANNED:
        return False
    if splits and entry.recipe.split not in splits:
        return False
    return not only or entry.name in only or entry.group in only


def _in_turn(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Test models first, as those are what figures are about; trojaned and clean in turn."""
    order = {"test": 0, "beyond": 1, "calibration": 2, "development": 3}
    return iter(sorted(entries, key=lambda entry: order.get(entry.recipe.split, 4)))
