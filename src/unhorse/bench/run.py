"""Units -> Results: every scan that is not there yet, one file each.

A result is there if its file has the same settings and the digests of the models as they are
now; everything else is made again. Models that are not here cannot contradict a result, so
result files alone are enough to go on. Nothing half-written counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unhorse.attack.record import MODEL
from unhorse.bench.handed import Handed, hand_over
from unhorse.bench.plan import Unit
from unhorse.bench.record import Job, result_of, version_of
from unhorse.bench.result import Result, digest_of, digest_of_weights, read_result
from unhorse.bench.stock import Stock
from unhorse.bench.truth import Truth, truth_of
from unhorse.config import ScanConfig, make_config
from unhorse.errors import UnhorseError
from unhorse.invert.run import plan_passes
from unhorse.judge.circumstances import EVIDENCE_VERSION
from unhorse.learn.distil import DISTILL
from unhorse.progress import ScanProgress
from unhorse.zoo.state import Member, lacks_only_a_twin

VERSION = 4
"""Raised when a change to a method or to the judge makes old results incomparable."""

JUDGED_AGAIN = {"profile", "fail_on"}
"""Fields of a configuration that decide the verdict alone, which tables can make again."""


@dataclass(frozen=True)
class Done:
    """One unit and what came of it: a result, or the reason why there is none."""

    unit: Unit
    result: Result | None
    made_now: bool = False
    problem: str = ""


@dataclass
class Runner:
    """Makes units one after another; what is planted in a model is looked at once.

    Args:
        stock: the models.
        out: where result files are and go.
        base: fields of the scan's configuration that all units share.
        progress: makes what is told of a unit's scan.
    """

    stock: Stock
    out: Path
    base: dict[str, Any] = field(default_factory=dict)
    progress: Callable[[Unit], ScanProgress] = lambda unit: ScanProgress()
    _truth: dict[tuple[object, ...], Truth] = field(default_factory=dict)

    def run(self, units: Sequence[Unit], seconds: float | None = None) -> Iterator[Done]:
        """Goes through all units; one that fails does not end the others.

        Args:
            units: what is to be scanned.
            seconds: no scan is begun after so long.
        """
        began = time.monotonic()
        for unit in units:
            late = seconds is not None and time.monotonic() - began > seconds
            yield self._one(unit, late=late)

    def _one(self, unit: Unit, *, late: bool) -> Done:
        try:
            return self._made(unit, late=late)
        except UnhorseError as error:
            return Done(unit, None, problem=str(error))
        except Exception as error:
            # One scan that breaks must not cost the others.
            return Done(unit, None, problem=f"{type(error).__name__}: {error}")

    def _made(self, unit: Unit, *, late: bool) -> Done:
        config = config_of(unit, self.base)
        settings = settings_of(unit, config)
        path = unit.path(self.out, self.stock.place.suite)
        there = read_result(path)
        member = self.stock.member(unit.name, build=False)
        same = there if there is not None and there.settings == settings else None
        if same is not None and self._stands(same, unit, member) and lacks_only_a_twin(member):
            # What was scanned was within its gates; a twin that is gone takes nothing from that.
            return Done(unit, same)
        if member.complaints and not late:
            # It may be of an old recipe, or its twin may be missing: both can be built.
            member = self.stock.member(unit.name)
        if member.complaints:
            return Done(unit, None, problem=f"kept out: {member.complaints[0]}")
        if same is not None and self._stands(same, unit, member):
            return Done(unit, same)
        if there is not None and _told(there.config) != _told(_beyond_defaults(config)):
            why = f"{path} has a result with other settings; another --out keeps both"
            return Done(unit, None, problem=why)
        if late:
            return Done(unit, None, problem="there was no time left for it")
        member = self.stock.member(unit.name)
        if not member.accepted or member.record is None:
            why = f"kept out: {member.complaints[0]}" if member.complaints else ""
            return Done(unit, None, problem=why or "the model is not built")
        drawn_by = unit.given.reference_seed
        reference = None if drawn_by is None else self.stock.reference(member.record, drawn_by)
        if drawn_by is not None and reference is None:
            return Done(unit, None, problem="there is no other clean model to compare it with")
        handed = hand_over(self.stock.place.folder(unit.name), member.record)
        suite = self.stock.place.suite
        result = self._scan(Job(suite, unit, handed, reference, config, settings)).as_stored()
        _write(path, result)
        return Done(unit, result, made_now=True)

    def _stands(self, there: Result, unit: Unit, member: Member) -> bool:
        """Whether a result is of the models as they are.

        Of one that is not here it is, unless its recipe is another one today.
        """
        record = member.record
        if there.model.recipe not in (None, unit.entry.recipe.digest()):
            return False
        if record is not None and digest_of_weights(record) != there.model.digest:
            return False
        if there.reference is not None:
            reference = self.stock.named(there.reference)
            return reference is None or digest_of_weights(reference) == there.reference_digest
        return unit.given.reference_seed is None

    def _scan(self, job: Job) -> Result:
        from unhorse.scanner import scan

        handed = job.handed
        progress = self.progress(job.unit)
        try:
            report = scan(
                handed.folder / MODEL,
                samples=handed.samples if job.unit.given.samples else None,
                references=self._references(job),
                config=job.config,
                progress=progress,
            )
        finally:
            progress.close()
        if report.interrupted:
            # Half a scan is no result.
            raise KeyboardInterrupt
        return result_of(job, report, self._truth_of(handed, job.config))

    def _references(self, job: Job) -> list[str | Path]:
        if job.unit.given.distilled:
            return [DISTILL]
        reference = job.reference
        return [] if reference is None else [self.stock.place.folder(reference.name) / MODEL]

    def _truth_of(self, handed: Handed, config: ScanConfig) -> Truth:
        """What is planted; methods of one model follow each other, so the last is enough."""
        decides = ("seed", "samples_per_class", "heldout_per_class", "max_tokens")
        key = (handed.folder, handed.record.content, *(getattr(config, f) for f in decides))
        if key not in self._truth:
            self._truth = {key: truth_of(handed, config)}
        return self._truth[key]


def _beyond_defaults(config: ScanConfig) -> dict[str, Any]:
    return config.model_dump(mode="json", exclude_defaults=True)


def _told(config: dict[str, Any]) -> dict[str, Any]:
    """What of a configuration makes a scan another one, not just a newer one."""
    return {name: value for name, value in config.items() if name not in JUDGED_AGAIN}


def _write(path: Path, result: Result) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(result.to_json(), encoding="utf-8")
    partial.replace(path)


def config_of(unit: Unit, base: dict[str, Any]) -> ScanConfig:
    """The configuration of a unit's scan."""
    return make_config(
        base,
        method=unit.asked.method,
        preset=unit.asked.preset,
        seed=unit.seed,
        schedule=unit.given.schedule,
    )


def settings_of(unit: Unit, config: ScanConfig) -> str:
    """A digest of all settings that decide a result beside the models and the verdict."""
    passes = {each.preset: each.config.model_dump(mode="json") for each in plan_passes(config)}
    return digest_of(
        {
            "version": VERSION,
            "method_version": version_of(unit.asked.method),
            "evidence_version": EVIDENCE_VERSION,
            "config": config.model_dump(mode="json", exclude=JUDGED_AGAIN, exclude_none=True),
            "passes": passes,
            "reference_seed": unit.given.reference_seed,
            "samples": unit.given.samples,
        }
    )
