"""Result files -> the results of one method and task that a calibration may learn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from unhorse.bench.cure import read_cure
from unhorse.bench.group import newest
from unhorse.bench.result import Result, read_result
from unhorse.calibrate.stored import stored_version
from unhorse.errors import UsageError

CALIBRATION = "calibration"
MAY_BE_SEEN = (CALIBRATION, "development")
"""Splits that a decision may be learnt from; figures are quoted on the others."""

FEWEST = 5
"""Trojaned models, and clean ones, below which nothing can be learnt."""


@dataclass(frozen=True)
class Choice:
    """Which of the results to learn from; None where there is only one kind."""

    splits: tuple[str, ...] = (CALIBRATION,)
    method: str | None = None
    task: str | None = None
    reference: bool | None = None
    samples: bool | None = None
    budget: str | None = None
    """None is the method's own, not any."""
    schedule: str | None = None
    distilled: bool = False
    labels: int | None = None
    force: bool = False


def read_chosen(paths: Sequence[Path], choice: Choice) -> list[Result]:
    """The results under some paths that are chosen; more than one kind is a usage error."""
    hidden = sorted(set(choice.splits) - set(MAY_BE_SEEN))
    if hidden and not choice.force:
        raise UsageError(
            f"A decision must not be learnt from the split {hidden[0]}, on which figures are "
            "quoted; --force does it all the same."
        )
    found = [result for path in paths for result in _read(path)]
    chosen = newest(result for result in found if _wanted(result, choice))
    if not chosen:
        raise UsageError(
            f"None of the {len(found)} results is of the split {' or '.join(choice.splits)} "
            "and of what else was chosen."
        )
    check_one_kind(chosen)
    _check_once(chosen)
    check_enough(chosen)
    return chosen


def _read(path: Path) -> Iterator[Result]:
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"There are no results in {path}.")
    for file in files:
        result = read_result(file)
        if result is None and path.is_dir() and read_cure(file) is not None:
            # Removals lie beside the scans that they follow.
            continue
        if result is None:
            raise UsageError(f"{file} is not a result of this version's `unhorse bench`.")
        yield result


def _wanted(result: Result, choice: Choice) -> bool:
    return (
        result.model.split in choice.splits
        and choice.method in (None, result.label)
        and choice.task in (None, result.model.task)
        and choice.reference in (None, result.reference is not None)
        and choice.samples in (None, result.own_samples)
        and choice.budget == result.budget
        and choice.schedule == result.config.get("schedule")
        and choice.distilled == result.is_distilled
        and choice.labels in (None, result.population.labels)
    )


def check_one_kind(results: Sequence[Result]) -> None:
    """Refuses results that no single decision can be learnt from."""
    _same([r.label for r in results], "methods", "--method")
    _same([r.model.task for r in results], "tasks", "--task")
    with_one = ["with" if r.reference is not None else "without" for r in results]
    _same(with_one, "kinds, with and without a reference", "--reference or --no-reference")
    _same([str(r.population.labels) for r in results], "numbers of labels", "--labels")
    given = ["given" if r.own_samples else "own" for r in results]
    _same(given, "kinds, with and without samples", "--samples or --no-samples")
    if len({stored_version(r) for r in results}) > 1:
        raise UsageError("The results were made with different settings of the method.")


def _check_once(results: Sequence[Result]) -> None:
    """Refuses a scan that is there twice, as from two folders: it would count twice."""
    seen = Counter(
        (r.model.suite, r.model.name, r.seed, r.reference_seed, r.model.digest) for r in results
    )
    (suite, name, seed, *_), times = seen.most_common(1)[0]
    if times > 1:
        raise UsageError(f"There are {times} results of {suite}/{name} with the seed {seed}.")


def _same(values: Sequence[str], what: str, option: str) -> None:
    kinds = sorted(set(values))
    if len(kinds) > 1:
        raise UsageError(
            f"The results are of several {what} ({', '.join(kinds)}); choose with {option}."
        )


def check_enough(results: Sequence[Result]) -> None:
    """Refuses too few models of either kind."""
    bad, good = (
        len({r.model.name for r in results if r.model.poisoned is poisoned})
        for poisoned in (True, False)
    )
    if min(bad, good) < FEWEST:
        raise UsageError(
            f"A calibration needs at least {FEWEST} trojaned and {FEWEST} clean models; "
            f"the results are of {bad} and {good}."
        )
