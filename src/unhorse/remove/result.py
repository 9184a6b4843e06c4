"""From the records of a removal to its report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import torch

from unhorse.config import ScanConfig
from unhorse.remove.base import Case, RemovalConfig
from unhorse.remove.config import RemoveConfig
from unhorse.remove.metric import Fall, Scores, fall
from unhorse.remove.proof import Measurement, Truth, decide, measure, note_on_rows
from unhorse.remove.records import Cleaned, Trigger
from unhorse.remove.rescan import RescanRows
from unhorse.remove.triggers import joined
from unhorse.report import removal as schema
from unhorse.report.schema import FileRead, Measured, Model, ScanReport
from unhorse.report.versions import versions_used
from unhorse.types import Effect, LoadedModel, Origin

_PROBLEMS_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Lap:
    """One removal and the scan after it."""

    triggers: tuple[Trigger, ...]
    cleaned: Cleaned
    seconds: float
    scanned: ScanReport


@dataclass(frozen=True, eq=False)
class Compared:
    """The model after plain fine-tuning, to compare with."""

    method: str
    loaded: LoadedModel
    seconds: float


@dataclass(frozen=True)
class Account:
    """What the removal as a whole was told and took."""

    config: RemoveConfig
    settings: RemovalConfig
    scanning: ScanConfig
    device: str
    base: str | None
    rescanned: RescanRows
    scan_seconds: float | None
    began: float


def build_removal_report(
    case: Case,
    laps: Sequence[Lap],
    truth: Truth | None,
    account: Account,
    compared: Compared | None = None,
) -> schema.RemovalReport:
    """Measures before and after on the same held-out rows, decides, and writes it all down.

    Args:
        case: the removal as it began, with the model as it came.
        laps: what was done, in order.
        truth: the attack's own record, if there is one.
        account: settings and times.
        compared: the control, if there is one.
    """
    triggers = joined(laps[0].triggers, laps[-1].triggers)
    last = laps[-1]

    def measured(loaded: LoadedModel) -> Measurement:
        return measure(loaded, case.rows.heldout, triggers, truth, case.seed)

    before, after = measured(case.subject), measured(last.cleaned.loaded)
    drop = fall(before.clean, after.clean, case.seed)
    verdict = last.scanned.verdict
    max_drop = account.config.max_drop / 100
    outcome = decide(drop, max_drop, after, triggers, verdict.state, verdict.reason)
    subject = case.subject
    return schema.RemovalReport(
        model=_model(subject.origin),
        task=subject.task,
        architecture=subject.architecture,
        labels=subject.labels,
        method=account.config.method,
        base=account.base,
        outcome=schema.Outcome(**asdict(outcome)),
        clean=_clean(before.clean, after.clean, drop, max_drop, case.seed),
        triggers=_triggers(triggers, before, after),
        true_trigger=_true(truth, before, after),
        control=compared and _control(compared, measured(compared.loaded), case.seed),
        rounds=tuple(_round(lap, account.rescanned) for lap in laps),
        samples=_samples(case),
        config={
            **account.config.model_dump(mode="json"),
            "settings": account.settings.model_dump(mode="json"),
        },
        scan_config=account.scanning.model_dump(mode="json"),
        versions=versions_used(),
        device=account.device,
        threads=torch.get_num_threads(),
        removal_seconds=sum(lap.seconds for lap in laps),
        scan_seconds=account.scan_seconds,
        seconds=time.perf_counter() - account.began,
    )


def _model(origin: Origin) -> Model:
    return Model(
        source=origin.source,
        revision=origin.revision,
        files=tuple(FileRead(path=file.path, sha256=file.sha256) for file in origin.files),
    )


def _clean(
    before: Scores, after: Scores, drop: Fall, max_drop: float, seed: int
) -> schema.CleanMetric:
    return schema.CleanMetric(
        metric=before.metric,
        n=len(before.hits),
        before=schema.Value(value=before.value, interval=before.interval(seed)),
        after=schema.Value(value=after.value, interval=after.interval(seed)),
        fall=schema.FallRecord(**asdict(drop)),
        max_drop=max_drop,
        note=note_on_rows(len(before.hits), drop),
    )


def _triggers(
    triggers: Sequence[Trigger], before: Measurement, after: Measurement
) -> tuple[schema.TriggerRecord, ...]:
    return tuple(
        schema.TriggerRecord(
            text=trigger.text,
            forms=trigger.forms,
            victim=trigger.arm.victim_name,
            target=trigger.arm.target_name,
            position=trigger.arm.position,
            origin=trigger.origin,
            control=trigger.control,
            before=_measured(was),
            after=_measured(now),
        )
        for trigger, was, now in zip(triggers, before.effects, after.effects, strict=True)
    )


def _true(
    truth: Truth | None, before: Measurement, after: Measurement
) -> schema.TrueTrigger | None:
    if truth is None or before.true is None or after.true is None:
        return None
    arm = truth.probes.arm
    return schema.TrueTrigger(
        text=truth.record.trigger,
        victim=arm.victim_name,
        target=arm.target_name,
        before=_measured(before.true),
        after=_measured(after.true),
    )


def _control(compared: Compared, after: Measurement, seed: int) -> schema.Control:
    return schema.Control(
        method=compared.method,
        clean=schema.Value(value=after.clean.value, interval=after.clean.interval(seed)),
        triggers=tuple(map(_measured, after.effects)),
        true_trigger=None if after.true is None else _measured(after.true),
        seconds=compared.seconds,
    )


def _measured(effect: Effect) -> Measured:
    return Measured(**asdict(effect))


def _round(lap: Lap, rows: RescanRows) -> schema.Round:
    taught, scanned = lap.cleaned.taught, lap.scanned
    strongest = scanned.findings[0].pruned.text if scanned.findings else None
    return schema.Round(
        triggers=tuple(trigger.text for trigger in lap.triggers),
        epochs=taught.epochs if taught else 0,
        kept_epoch=taught.kept if taught else 0,
        steps=taught.steps if taught else 0,
        watched=tuple(
            schema.WatchedEpoch(**asdict(watched)) for watched in (taught.watched if taught else ())
        ),
        facts=lap.cleaned.facts,
        seconds=lap.seconds,
        rescan=schema.Rescan(
            verdict=scanned.verdict,
            seed=int(scanned.config["seed"]),
            rows=rows,
            strongest=strongest,
            seconds=scanned.seconds,
        ),
    )


def _samples(case: Case) -> schema.RemovalSamples:
    rows = case.rows
    return schema.RemovalSamples(
        source=rows.source,
        digest=rows.digest,
        train=len(rows.train),
        watched=len(rows.watch),
        heldout=len(rows.heldout),
        note=rows.note,
        left_out=len(rows.problems),
        problems=rows.problems[:_PROBLEMS_SHOWN],
    )
