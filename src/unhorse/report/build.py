"""From the records of a scan to its report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from unhorse.config import ScanConfig
from unhorse.invert.budget import Meter
from unhorse.invert.estimate import Estimate, peak_bytes
from unhorse.invert.pose import Pass
from unhorse.report import schema
from unhorse.report.versions import versions_used
from unhorse.types import (
    ArmCount,
    Effect,
    Finding,
    Inversion,
    Origin,
    Runtime,
    Subject,
    Verdict,
)

_PROBLEMS_SHOWN = 20


@dataclass(frozen=True)
class Account:
    """What the scan as a whole was told and took, beside what its stages made.

    `work_seconds` is the time of inversion and judging, which `expected` foretold.
    """

    config: ScanConfig
    passes: Sequence[Pass]
    runtime: Runtime
    seconds: float
    interrupted: bool
    expected: Estimate | None
    work_seconds: float
    schedule: str
    meter: Meter
    spent: bool


def build_report(
    subject: Subject,
    inversions: Sequence[Inversion],
    findings: Sequence[Finding],
    arms: ArmCount,
    verdict: Verdict,
    failures: Sequence[tuple[str, str]],
    account: Account,
) -> schema.ScanReport:
    """Puts everything in its place; findings come strongest first."""
    ordered = sorted(findings, key=lambda finding: -finding.score)
    samples, loaded = subject.samples, subject.loaded
    return schema.ScanReport(
        model=_model(loaded.origin),
        task=loaded.task,
        architecture=loaded.architecture,
        labels=loaded.labels,
        verdict=schema.VerdictRecord(**asdict(verdict)),
        findings=tuple(_finding(finding) for finding in ordered),
        arms=schema.Arms(
            **asdict(arms),
            failures=tuple(schema.FailedArm(arm=a, reason=r) for a, r in failures),
            schedule=account.schedule,
        ),
        samples=schema.Samples(
            source=samples.source,
            digest=samples.digest,
            used=len(samples.inversion),
            heldout=len(samples.heldout),
            set_aside=samples.set_aside,
            unused=samples.unused,
            note=samples.note,
            left_out=len(samples.problems),
            problems=samples.problems[:_PROBLEMS_SHOWN],
        ),
        references=tuple(
            schema.ReferenceUse(
                model=_model(reference.loaded.origin),
                in_objective=reference.in_objective,
                note=reference.note,
                distilled=(
                    schema.DistilledRecord(**asdict(reference.distilled))
                    if reference.distilled
                    else None
                ),
            )
            for reference in subject.references
        ),
        config={
            **account.config.model_dump(mode="json"),
            "passes": {p.preset: p.config.model_dump(mode="json") for p in account.passes},
        },
        versions=versions_used(),
        device=account.runtime.device,
        dtype=account.runtime.dtype,
        attention=_attention(subject, account.runtime),
        threads=account.runtime.threads,
        runtime_reason=account.runtime.why,
        estimate=_estimated(account),
        cost=schema.Cost(
            forward_tokens=account.meter.forward_tokens,
            backward_tokens=account.meter.backward_tokens,
            seconds=account.work_seconds,
            budget=account.config.budget,
            spent=account.spent,
        ),
        interrupted=account.interrupted,
        seconds=account.seconds,
        curves=tuple(
            schema.CurveRecord(
                arm=i.arm.key, preset=i.preset, loss=i.curve.loss, temperature=i.curve.temperature
            )
            for i in inversions
        ),
    )


def _model(origin: Origin) -> schema.Model:
    return schema.Model(
        source=origin.source,
        revision=origin.revision,
        files=tuple(schema.FileRead(path=f.path, sha256=f.sha256) for f in origin.files),
    )


def _attention(subject: Subject, runtime: Runtime) -> str:
    """What the optimisation used: some architectures have eager attention only."""
    if runtime.attention == "eager":
        return "eager"
    return str(subject.loaded.model.config._attn_implementation)


def _estimated(account: Account) -> schema.Estimated | None:
    if account.expected is None:
        return None
    return schema.Estimated(
        seconds=account.expected.seconds,
        bytes=account.expected.bytes,
        seconds_taken=account.work_seconds,
        bytes_taken=peak_bytes(),
    )


def _measured(effect: Effect) -> schema.Measured:
    return schema.Measured(**asdict(effect))


def _native(inversion: Inversion) -> schema.NativeRecord | None:
    native = inversion.native
    if native is None:
        return None
    value = native.value if math.isfinite(native.value) else None
    return schema.NativeRecord(**{**asdict(native), "value": value})


def _finding(finding: Finding) -> schema.FindingRecord:
    inversion, pruned = finding.inversion, finding.pruned
    return schema.FindingRecord(
        victim=inversion.arm.victim_name,
        target=inversion.arm.target_name,
        position=inversion.arm.position,
        method=inversion.method,
        preset=inversion.preset,
        seed=inversion.seed,
        token_ids=inversion.token_ids,
        text=finding.text,
        retokenised_ids=finding.retokenised_ids,
        one_hot=inversion.one_hot,
        inversion_loss=inversion.loss,
        native=_native(inversion),
        pruned=schema.Pruned(
            token_ids=pruned.token_ids,
            text=pruned.text,
            retokenised_ids=pruned.retokenised_ids,
            heldout=_measured(pruned.heldout),
        ),
        inversion=_measured(finding.on_inversion),
        heldout=_measured(finding.on_heldout),
        unstamped=_measured(finding.unstamped),
        random=_measured(finding.random),
        natural=(
            schema.Natural(text=finding.natural.text, heldout=_measured(finding.natural.effect))
            if finding.natural
            else None
        ),
        references=tuple(
            schema.ReferenceRecord(
                source=reference.source,
                loss=reference.effect.loss,
                asr=reference.effect.asr,
                n=reference.effect.n,
                interval=reference.effect.interval,
                pruned=_measured(reference.pruned),
                in_objective=reference.in_objective,
            )
            for reference in finding.references
        ),
        mirror=(
            schema.MirrorRecord(**asdict(finding.mirror), ratio=finding.mirror.ratio)
            if finding.mirror
            else None
        ),
        score=finding.score,
        example=schema.Example(**asdict(finding.example)) if finding.example else None,
        seconds=finding.seconds,
        related=finding.related,
        turned=schema.TurnedRecord(**asdict(finding.turned)) if finding.turned else None,
        alone=(
            schema.AloneRecord(
                text=finding.alone.text,
                heldout=_measured(finding.alone.heldout),
                references=tuple(map(_measured, finding.alone.references)),
                push=finding.alone.push,
                references_push=finding.alone.references_push,
                kin=finding.alone.kin,
                references_kin_push=finding.alone.references_kin_push,
            )
            if finding.alone
            else None
        ),
    )
