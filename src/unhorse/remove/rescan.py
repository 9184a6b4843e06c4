"""A cleaned model -> the report of another scan, on rows that it has not learnt from."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from unhorse.attack.bases import base_folder
from unhorse.config import ScanConfig, make_config
from unhorse.errors import UsageError
from unhorse.invert.budget import parse_budget
from unhorse.invert.run import check_task, choose_method, plan_passes
from unhorse.judge.ruling import asked_profile, check_fits
from unhorse.learn.distil import DISTILL, check_base, is_asked_for
from unhorse.load.hub import locate
from unhorse.remove.config import RemoveConfig
from unhorse.remove.progress import RemovalProgress
from unhorse.remove.records import Rows
from unhorse.report.schema import ScanReport
from unhorse.runtime import choose_runtime
from unhorse.scanner import scan
from unhorse.tasks.base import TASKS
from unhorse.types import LoadedModel

RescanRows = Literal["heldout", "all", "own texts"]

IN_MEMORY = "in memory"
"""How a report calls a model that was not loaded from anywhere."""

SPARE = 10
"""Samples of a class, beyond those inverted on, that a scan needs to convict."""


def scan_config(
    report: ScanReport | None, config: RemoveConfig, base: str | None = None
) -> ScanConfig:
    """The settings of the scan that found the backdoor, but for what is asked for otherwise.

    Rows are handed to it in memory, under the names that unhorse itself uses.

    Args:
        report: the report of that scan.
        config: what is asked for.
        base: the base that the removal was given, if any.
    """
    before = dict(report.config) if report else {"seed": config.seed}
    before.pop("passes", None)
    # The scan may have been made on another machine.
    told = {"device": config.device} | ({} if base is None else {"base": base})
    return make_config({**before, **told, **config.scan, "text_field": None, "label_field": None})


def references_of(report: ScanReport | None, given: Sequence[Any] | None) -> tuple[Any, ...]:
    """The clean models that the scan had, unless others are given."""
    if given is not None:
        return tuple(given)
    return tuple(
        DISTILL if reference.distilled else reference.model.source
        for reference in (report.references if report else ())
    )


def check_rescan(config: ScanConfig, references: Sequence[Any], task: str) -> None:
    """Says before any work is done what would end the re-scan after it."""
    chosen = choose_method(config, compared=bool(references))
    plan_passes(chosen)
    check_task(chosen, task)
    if config.budget is not None:
        parse_budget(config.budget)
    choose_runtime(config.device, config.dtype)
    profile = asked_profile(chosen)
    if profile is not None:
        check_fits(profile, task, reference=bool(references))
    check_base(references, config.base)
    if any(map(is_asked_for, references)):
        base_folder(str(config.base), Path())
    for reference in references:
        if reference == IN_MEMORY:
            raise UsageError(
                "The scan's reference was in memory, so it cannot be opened again; "
                "give one with --reference."
            )
        if isinstance(reference, str | os.PathLike) and not is_asked_for(reference):
            locate(reference)


@dataclass(frozen=True, eq=False)
class Rescans:
    """How cleaned models are scanned: the same every time, but for the seed."""

    task: str
    labels: tuple[str, ...]
    rows: Rows
    config: ScanConfig
    references: Sequence[Any]
    progress: RemovalProgress

    def scan(self, loaded: LoadedModel, number: int) -> ScanReport:
        """Scan number so and so, with a seed of its own; an interruption ends the removal."""
        report = scan(
            loaded,
            None,
            self._samples(),
            self.references,
            config=self.config.model_copy(update={"seed": self.config.seed + number}),
            progress=self.progress.scanning(),
        )
        if report.interrupted:
            raise KeyboardInterrupt
        return report

    @property
    def use(self) -> RescanRows:
        """Which rows it sees: the held-out ones where they suffice for every class."""
        if not self.rows.fields:
            return "own texts"
        task = TASKS.get(self.task)
        counts = Counter(label for sample in self.rows.heldout for label in sample.classes)
        arms = task.arms(self.labels, task.default_positions)
        needed = self.config.samples_per_class + SPARE
        enough = all(counts[victim] >= needed for arm in arms for victim in arm.victims)
        return "heldout" if enough else "all"

    def _samples(self) -> list[Any] | None:
        rows, use = self.rows, self.use
        if use == "own texts":
            return None
        used = rows.heldout if use == "heldout" else (*rows.heldout, *rows.watch, *rows.train)
        return [dict(rows.fields[sample.key]) for sample in used]
