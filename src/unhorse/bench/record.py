"""The report of a scan and what is planted in its model -> the Result that is kept."""

from __future__ import annotations

from dataclasses import dataclass

from unhorse.bench.commit import commit_of_package
from unhorse.bench.handed import Handed
from unhorse.bench.plan import Unit
from unhorse.bench.result import (
    DISTILLED,
    Population,
    Result,
    Trigger,
    digest_of_weights,
    scanned_of,
    weights_digest,
)
from unhorse.bench.stock import Clean
from unhorse.bench.truth import Truth
from unhorse.config import ScanConfig
from unhorse.invert.base import METHODS
from unhorse.judge.circumstances import EVIDENCE_VERSION
from unhorse.report.schema import CurveRecord, FindingRecord, ScanReport

_DIGITS = 4
"""What is kept of every loss of a curve."""


@dataclass(frozen=True, eq=False)
class Job:
    """One scan as it is made: the unit with its model, reference and configuration."""

    suite: str
    unit: Unit
    handed: Handed
    reference: Clean | None
    config: ScanConfig
    settings: str

    @property
    def reference_name(self) -> str | None:
        """What the result calls the clean model that the subject was compared with."""
        if self.unit.given.distilled:
            return DISTILLED
        return None if self.reference is None else self.reference.name


def version_of(method: str) -> int:
    """The version of a method; one that says none has its first."""
    return int(getattr(METHODS.get(method), "version", 1))


def result_of(job: Job, report: ScanReport, truth: Truth) -> Result:
    """What is kept of a report."""
    unit, config, verdict = job.unit, job.config, report.verdict
    read = weights_digest([(file.path, file.sha256) for file in report.model.files])
    triggers = tuple(truth.marked(_renamed(finding, job)) for finding in report.findings)
    return Result(
        model=scanned_of(job.suite, job.handed.record).model_copy(update={"digest": read}),
        method=unit.asked.method,
        preset=unit.asked.preset,
        method_version=version_of(unit.asked.method),
        evidence_version=EVIDENCE_VERSION,
        seed=unit.seed,
        budget=config.budget,
        reference=job.reference_name,
        reference_digest=job.reference and digest_of_weights(job.reference.record),
        reference_seed=unit.given.reference_seed,
        own_samples=unit.given.samples,
        config=config.model_dump(mode="json", exclude_defaults=True),
        settings=job.settings,
        state=verdict.state,
        score=verdict.score,
        reason=verdict.reason,
        profile=verdict.profile,
        population=Population(
            labels=len(report.labels),
            words=job.handed.words,
            used=report.samples.used,
            heldout=report.samples.heldout,
            positions=tuple(sorted({curve.arm.rpartition("@")[2] for curve in report.curves})),
        ),
        truth=truth.trigger,
        triggers=triggers,
        curves=_curves(report, triggers),
        arms_planned=report.arms.planned,
        arms_run=report.arms.run,
        arms_failed=report.arms.failed,
        arms_pruned=report.arms.pruned,
        seconds=report.seconds,
        forward_tokens=report.cost.forward_tokens,
        backward_tokens=report.cost.backward_tokens,
        spent=report.cost.spent,
        threads=report.threads,
        commit=commit_of_package(),
        versions=report.versions,
    )


def _renamed(finding: FindingRecord, job: Job) -> FindingRecord:
    """The finding with its reference by name: where it lay is of no use elsewhere."""
    if job.reference_name is None:
        return finding
    named = {"source": job.reference_name}
    renamed = [reference.model_copy(update=named) for reference in finding.references]
    turned = finding.turned and finding.turned.model_copy(update=named)
    return finding.model_copy(update={"references": tuple(renamed), "turned": turned})


def _curves(report: ScanReport, triggers: tuple[Trigger, ...]) -> tuple[CurveRecord, ...]:
    """The curves of the arm with the least loss and of the best of the true ones."""
    known = sorted(
        (t for t in triggers if t.inversion_loss is not None), key=lambda t: t.inversion_loss or 0.0
    )
    true = [t for t in known if t.true_arm]
    wanted = {(t.arm, t.preset) for t in (*known[:1], *true[:1])}
    found = {(c.arm, c.preset): c for c in report.curves if (c.arm, c.preset) in wanted}
    return tuple(_rounded(curve) for curve in found.values())


def _rounded(curve: CurveRecord) -> CurveRecord:
    def short(value: float | None) -> float | None:
        return None if value is None else float(f"{value:.{_DIGITS}g}")

    return curve.model_copy(
        update={
            "loss": tuple(map(short, curve.loss)),
            "temperature": tuple(short(value) for value in curve.temperature),
        }
    )
