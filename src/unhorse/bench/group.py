"""Results -> groups that one row of a table is about, and how much of each is done."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from unhorse.attack.recipe import Recipe
from unhorse.bench.plan import as_in_paper
from unhorse.bench.result import Result, Scanned
from unhorse.errors import UsageError
from unhorse.zoo.schema import Suite
from unhorse.zoo.suite import SCANNED, Entry, entries_of, find_suite, read_suite

CALIBRATION = "calibration"


@dataclass(frozen=True, order=True)
class Kind:
    """What results must share so that one row may be made of them."""

    suite: str
    head_only: bool
    several_classes: bool
    """Whether texts have more than two classes: neither beta nor profile of two holds there."""
    attack: str
    """Only where attacks are told apart; else empty."""
    given: str
    method: str

    @property
    def task(self) -> str:
        """How a table names the models."""
        heads = " (heads)" if self.head_only else ""
        classes = " (several classes)" if self.several_classes else ""
        return f"{self.suite}{heads}{classes}" + (f": {self.attack}" if self.attack else "")


def given_of(result: Result) -> str:
    """What a scan had beside the model.

    A scan that was to have a reference and found none that may be one counts as without.
    """
    parts = ["reference" if result.reference is not None else "no reference"]
    parts = ["distilled reference"] if result.is_distilled else parts
    parts += [] if result.own_samples else ["no samples"]
    return ", ".join([*parts, *filter(None, [result.config.get("schedule")])])


def method_of(result: Result) -> str:
    """Method, preset and budget as a row names them."""
    return result.label if result.budget is None else f"{result.label} @ {result.budget}"


def kind_of(result: Result, *, by_attack: bool = False) -> Kind:
    """The row that a result belongs to."""
    model = result.model
    attack = model.attack if by_attack else ""
    several = has_several_classes(model.task, result.population.labels)
    given, method = given_of(result), method_of(result)
    return Kind(model.suite, model.head_only, several, attack, given, method)


def has_several_classes(task: str, labels: int) -> bool:
    """Whether texts are sorted into more than two classes."""
    return task == "sequence-classification" and labels > 2


def grouped(results: Iterable[Result], *, by_attack: bool = False) -> dict[Kind, list[Result]]:
    """Results by their rows; of every model only the first seed and reference.

    Of a method that has become another one since some scans were made, only the newest version
    counts: scores of two versions cannot be compared.
    """
    rows: dict[Kind, dict[str, Result]] = {}
    for result in newest(results):
        if is_first(result):
            kind = kind_of(result, by_attack=by_attack)
            rows.setdefault(kind, {}).setdefault(result.model.name, result)
    return {kind: list(models.values()) for kind, models in sorted(rows.items())}


def newest(results: Iterable[Result]) -> list[Result]:
    """The results of every method's newest version among them, and of its newest evidence."""
    every = list(results)
    last: dict[str, tuple[int, int]] = {}
    for result in every:
        last[result.method] = max(last.get(result.method, (0, 0)), result.made_by)
    return [result for result in every if result.made_by == last[result.method]]


class About(Protocol):
    """What is about one model: a result or a cure."""

    @property
    def model(self) -> Scanned:
        """The model."""


Kept = TypeVar("Kept", bound=About)


def of_today(made: Iterable[Kept], suites: Path | None) -> list[Kept]:
    """What is of models that their suite still asks for, by the same recipe.

    What is of a suite that cannot be found stays; so does what names no recipe, if its split
    was never drawn anew.
    """

    def stays(model: Scanned) -> bool:
        known = _recipes(model.suite, suites)
        if known is None:
            return True
        if model.recipe is None:
            return _draws(model.suite, suites).get(model.split, 1) == 1
        return model.recipe == known.get(model.name)

    return [each for each in made if stays(each.model)]


def is_first(result: Result) -> bool:
    """Whether it is not a repetition with another seed or reference."""
    return result.seed == 0 and result.reference_seed in (0, None)


def is_plain(result: Result) -> bool:
    """Whether a scan had the model's samples and all the work it takes, and is no repetition."""
    return (
        is_first(result)
        and not result.is_distilled
        and result.own_samples
        and result.budget is None
    )


def is_usual(result: Result) -> bool:
    """Whether a scan is as `bench` makes it if nothing else is asked for."""
    given = result.reference_seed == 0 and result.config.get("schedule") is None
    return is_plain(result) and given


def to_be_shown(results: Iterable[Result]) -> list[Result]:
    """One plain scan of every model by every method for a figure, the most like the paper's."""
    best: dict[tuple[str, str, str], Result] = {}
    for result in sorted(filter(is_plain, newest(results)), key=lambda r: -_like_the_paper(r)):
        best.setdefault((result.model.suite, result.model.name, result.label), result)
    return list(best.values())


def _like_the_paper(result: Result) -> int:
    return 2 * as_in_the_paper(result) + is_usual(result)


def calibration_for(some: Result, results: Iterable[Result]) -> list[Result]:
    """The calibration results by which a method's threshold for some models is learnt.

    Of the same task, method and circumstances; of plain attacks, since a threshold that
    knows an advanced attack is not the paper's.
    """
    return [
        result
        for result in results
        if result.model.split == CALIBRATION
        and result.model.standing == "plain"
        and is_first(result)
        and result.model.task == some.model.task
        and result.model.head_only == some.model.head_only
        and result.population.labels == some.population.labels
        and method_of(result) == method_of(some)
        and given_of(result) == given_of(some)
    ]


def as_in_the_paper(result: Result) -> bool:
    """Whether the scan had what the paper's had: a reference for texts, none for other tasks."""
    wanted = as_in_paper(result.model.task)
    return (
        (result.reference is None) == (wanted.reference_seed is None)
        and not result.is_distilled
        and result.own_samples
        and result.config.get("schedule") == wanted.schedule
    )


def planned_in(suite: str, splits: Sequence[str], beside: Path | None = None) -> list[Recipe]:
    """The recipe of every model that is scanned of a suite's splits.

    Nothing if the suite cannot be found, as of results from elsewhere.
    """
    return [
        entry.recipe
        for entry in _entries(suite, beside)
        if entry.use in SCANNED and entry.recipe.split in splits
    ]


def planned(kind: Kind, splits: Sequence[str], suites: Path | None) -> int:
    """How many models of a kind there are to be scanned."""
    return sum(
        recipe.training.head_only == kind.head_only
        and has_several_classes(recipe.task, len(recipe.data.labels)) == kind.several_classes
        and kind.attack in ("", recipe.kind)
        for recipe in planned_in(kind.suite, splits, suites)
    )


def unfinished(
    rows: Mapping[Kind, Sequence[Result]], splits: Sequence[str], suites: Path | None
) -> list[str]:
    """Says how much of a table is done, if not all of it is."""
    done = sum(map(len, rows.values()))
    wanted = sum(max(planned(kind, splits, suites), len(own)) for kind, own in rows.items())
    if done == wanted:
        return []
    return [f"Partial: {done} of {wanted} scans are done ({done / wanted:.0%})."]


@functools.cache
def _read(suite: str, beside: Path | None) -> tuple[Suite, list[Entry]] | None:
    """A suite and all of its models; nothing if it cannot be found."""
    try:
        path = find_suite(suite, beside)
        read = read_suite(path)
        return read, entries_of(read, path.parent)
    except UsageError:
        return None


def _entries(suite: str, beside: Path | None) -> list[Entry]:
    read = _read(suite, beside)
    return [] if read is None else read[1]


def _draws(suite: str, beside: Path | None) -> Mapping[str, int]:
    read = _read(suite, beside)
    return {} if read is None else read[0].draws


@functools.cache
def _recipes(suite: str, beside: Path | None) -> Mapping[str, str] | None:
    """The digests of a suite's recipes by the names of its models."""
    if _read(suite, beside) is None:
        return None
    return {entry.name: entry.recipe.digest() for entry in _entries(suite, beside)}
