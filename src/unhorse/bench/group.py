"""Results -> groups that one row of a table is about, and how much of each is done."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unhorse.bench.plan import as_in_paper
from unhorse.bench.result import Result
from unhorse.errors import UsageError
from unhorse.zoo.suite import Entry, entries_of, find_suite, read_suite

CALIBRATION = "calibration"


@dataclass(frozen=True, order=True)
class Kind:
    """What results must share so that one row may be made of them."""

    suite: str
    head_only: bool
    attack: str
    """Only where attacks are told apart; else empty."""
    given: str
    method: str

    @property
    def task(self) -> str:
        """How a table names the models."""
        heads = " (heads)" if self.head_only else ""
        return f"{self.suite}{heads}" + (f": {self.attack}" if self.attack else "")


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
    return Kind(model.suite, model.head_only, attack, given_of(result), method_of(result))


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


def of_today(results: Sequence[Result], suites: Path | None) -> list[Result]:
    """The results of models that their suite still asks for, by the same recipe.

    Those of a suite that cannot be found stay.
    """
    recipes = {
        suite: {entry.name: entry.recipe.digest() for entry in _entries(suite, suites) or ()}
        for suite in {result.model.suite for result in results}
    }

    def stays(result: Result) -> bool:
        known = recipes[result.model.suite]
        return not known or result.model.recipe in (None, known.get(result.model.name))

    return [result for result in results if stays(result)]


def is_first(result: Result) -> bool:
    """Whether it is not a repetition with another seed or reference."""
    return result.seed == 0 and result.reference_seed in (0, None)


def is_usual(result: Result) -> bool:
    """Whether a figure may show it: no repetition, nothing distilled, and all the work it takes."""
    return is_first(result) and not result.is_distilled and result.budget is None


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


def planned_in(
    suite: str, splits: Sequence[str], beside: Path | None = None
) -> list[tuple[str, bool, str]]:
    """Name, kind of training and attack of every model that is scanned of a suite's splits.

    Nothing if the suite cannot be found, as of results from elsewhere.
    """
    entries = _entries(suite, beside) or []
    return [
        (entry.name, entry.recipe.training.head_only, entry.recipe.kind)
        for entry in entries
        if entry.use in ("model", "twin") and entry.recipe.split in splits
    ]


def planned(kind: Kind, splits: Sequence[str], suites: Path | None) -> int:
    """How many models of a kind there are to be scanned."""
    return sum(
        heads == kind.head_only and kind.attack in ("", attack)
        for _, heads, attack in planned_in(kind.suite, splits, suites)
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
def _entries(suite: str, beside: Path | None) -> list[Entry] | None:
    """All models of a suite; nothing if it cannot be found."""
    try:
        path = find_suite(suite, beside)
        return entries_of(read_suite(path), path.parent)
    except UsageError:
        return None
