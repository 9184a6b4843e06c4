"""Units -> Results: every scan that is not there yet, one file each.

A result is there if its file names the digest of the model as it is now and the same
settings; everything else is made again. Nothing half-written counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unhorse.attack.record import MODEL, read_heldout
from unhorse.bench.plan import Unit
from unhorse.bench.result import (
    Result,
    digest_of,
    read_result,
    scanned_of,
    triggers_of,
    weights_digest,
)
from unhorse.config import ScanConfig, make_config
from unhorse.errors import UnhorseError
from unhorse.invert.run import plan_passes
from unhorse.load.samples import InMemory
from unhorse.progress import ScanProgress
from unhorse.tasks.tags import scheme_of
from unhorse.types import QuestionSample, TaggedSample, TextSample
from unhorse.zoo.build import Place

VERSION = 1
"""Raised when a change to a method or to the judge makes old results incomparable."""


@dataclass(frozen=True)
class Done:
    """One unit and what came of it: a result, or the reason why there is none."""

    unit: Unit
    result: Result | None
    made_now: bool = False
    problem: str = ""


def run_bench(
    units: Sequence[Unit],
    place: Place,
    out: Path,
    base: dict[str, Any] | None = None,
    progress: ScanProgress | None = None,
) -> Iterator[Done]:
    """Goes through all units; one that fails does not end the others.

    Args:
        units: what is to be scanned.
        place: where the models are.
        out: where result files are and go.
        base: fields of the scan's configuration that all units share.
        progress: told of every scan.
    """
    for unit in units:
        yield _one(unit, place, out, base or {}, progress)


def _one(
    unit: Unit, place: Place, out: Path, base: dict[str, Any], progress: ScanProgress | None
) -> Done:
    record = unit.member.record
    if record is None:
        return Done(unit, None, problem="the model is not built")
    if unit.member.complaints:
        return Done(unit, None, problem=f"kept out: {unit.member.complaints[0]}")
    config = config_of(unit, base)
    settings = settings_of(unit, config)
    path = unit.path(out, place.suite)
    there = read_result(path)
    model = scanned_of(place.suite, record)
    if there is not None and (there.model.digest, there.settings) == (model.digest, settings):
        return Done(unit, there)
    try:
        result = _scan(unit, place, config, settings, progress)
    except UnhorseError as error:
        return Done(unit, None, problem=str(error))
    except Exception as error:
        # One scan that breaks must not cost the others.
        return Done(unit, None, problem=f"{type(error).__name__}: {error}")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(result.to_json(), encoding="utf-8")
    partial.replace(path)
    return Done(unit, result, made_now=True)


def config_of(unit: Unit, base: dict[str, Any]) -> ScanConfig:
    """The configuration of a unit's scan."""
    return make_config(base, method=unit.asked.method, preset=unit.asked.preset, seed=unit.seed)


def settings_of(unit: Unit, config: ScanConfig) -> str:
    """A digest of all settings that decide a result beside the model."""
    passes = {each.preset: each.config.model_dump(mode="json") for each in plan_passes(config)}
    reference = unit.reference and unit.reference.record
    digest = weights_digest([(f.path, f.sha256) for f in reference.files]) if reference else None
    return digest_of(
        {
            "version": VERSION,
            "config": config.model_dump(mode="json"),
            "passes": passes,
            "reference": digest,
        }
    )


def _scan(
    unit: Unit, place: Place, config: ScanConfig, settings: str, progress: ScanProgress | None
) -> Result:
    from unhorse.scanner import scan

    record = unit.member.record
    assert record is not None
    folder = place.folder(unit.name)
    heldout, _ = read_heldout(folder, record.task)
    reference = unit.reference
    report = scan(
        folder / MODEL,
        samples=handed(heldout, record.recipe.data.labels),
        references=[] if reference is None else [place.folder(reference.entry.name) / MODEL],
        config=config,
        progress=progress,
    )
    if report.interrupted:
        # Half a scan is no result.
        raise KeyboardInterrupt
    model = scanned_of(place.suite, record)
    read = weights_digest([(file.path, file.sha256) for file in report.model.files])
    return Result(
        model=model.model_copy(update={"digest": read}),
        method=unit.asked.method,
        preset=unit.asked.preset,
        seed=unit.seed,
        budget=config.budget,
        reference=None if reference is None else reference.entry.name,
        settings=settings,
        state=report.verdict.state,
        score=report.verdict.score,
        triggers=triggers_of(report, record.trigger),
        seconds=report.seconds,
        forward_tokens=report.cost.forward_tokens,
        backward_tokens=report.cost.backward_tokens,
        spent=report.cost.spent,
        threads=report.threads,
        versions=report.versions,
    )


def handed(samples: Iterable[Any], labels: Sequence[str]) -> InMemory:
    """Stored samples as a user would hand them over."""
    return [_handed(sample, labels) for sample in samples]


def _handed(sample: Any, labels: Sequence[str]) -> tuple[Any, ...]:
    if isinstance(sample, TextSample):
        return sample.text, labels[sample.label]
    if isinstance(sample, TaggedSample):
        return list(sample.words), _tags(sample, labels)
    assert isinstance(sample, QuestionSample)
    answer = sample.answers[0] if sample.answers else None
    text = None if answer is None else sample.context[slice(*answer)]
    return sample.question, sample.context, text


def _tags(sample: TaggedSample, labels: Sequence[str]) -> list[str]:
    scheme = scheme_of(tuple(labels))
    tags = [scheme.spelled(scheme.outside, 1)[0]] * len(sample.words)
    for entity in sample.entities:
        tags[entity.first : entity.last] = scheme.spelled(entity.kind, entity.last - entity.first)
    return [labels[tag] for tag in tags]
