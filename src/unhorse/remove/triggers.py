"""A scan's report, or a trigger given by hand -> the Triggers to be removed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from unhorse.config import one_sentence
from unhorse.errors import ModelRefused, UsageError
from unhorse.remove.records import Trigger, TriggerOrigin
from unhorse.report.schema import FindingRecord, ScanReport
from unhorse.tasks.base import TASKS
from unhorse.triggers.vocabulary import retokenise
from unhorse.types import ANY_LABEL, Arm, LoadedModel, Origin

NEARLY_AS_STRONG = 0.5
"""The share of the strongest finding's score from which another one is removed with it."""

MOST_TRIGGERS = 8

FOUND = ("backdoored", "suspicious")
"""The verdicts whose findings are worth removing."""


def read_report(source: str | Path) -> ScanReport:
    """The report of a scan."""
    try:
        return ScanReport.model_validate_json(Path(source).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The report {source} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        raise UsageError(one_sentence(error, f"{source} is not the report of a scan")) from error
    except ValueError as error:
        raise UsageError(f"{source} is not the report of a scan.") from error


def check_same_model(report: ScanReport, origin: Origin) -> None:
    """Refuses a report of another model, by the digests of all files that were read."""
    scanned = {(file.path, file.sha256) for file in report.model.files}
    given = {(file.path, file.sha256) for file in origin.files}
    if scanned != given:
        raise ModelRefused(
            "The report is of another model: the digests of the files differ, "
            f"{len(scanned & given)} of {len(given)} are the same."
        )


def from_report(report: ScanReport, origin: TriggerOrigin = "report") -> tuple[Trigger, ...]:
    """The strongest finding and those nearly as strong; none where nothing was found."""
    if report.verdict.state not in FOUND:
        return ()
    return from_findings(report.task, report.labels, report.findings, origin)


def from_findings(
    task: str,
    labels: Sequence[str],
    findings: Sequence[FindingRecord],
    origin: TriggerOrigin = "report",
) -> tuple[Trigger, ...]:
    """The strongest of some findings and those nearly as strong."""
    arms = TASKS.get(task).arms
    found: dict[tuple[str, ...], Trigger] = {}
    for finding in strong(findings):
        positions: Any = (finding.position,)
        known = arms(labels, positions, finding.target)
        for arm in _arms(known, finding.victim, finding.target)[:1]:
            key = (finding.pruned.text, arm.key)
            found.setdefault(key, _trigger(finding, arm, origin))
    return tuple(found.values())[:MOST_TRIGGERS]


def strong(findings: Sequence[FindingRecord]) -> list[FindingRecord]:
    """The strongest finding and those nearly as strong, in that order."""
    least = NEARLY_AS_STRONG * max((finding.score for finding in findings), default=0.0)
    ordered = sorted(findings, key=lambda finding: -finding.score)
    return [finding for finding in ordered if finding.score >= least]


def _trigger(finding: FindingRecord, arm: Arm, origin: TriggerOrigin) -> Trigger:
    pruned = finding.pruned
    controls = [finding.random.asr, finding.unstamped.asr_unrestricted]
    if finding.references:
        controls += [reference.pruned.asr for reference in finding.references]
    elif finding.natural is not None:
        controls.append(finding.natural.heldout.asr)
    return Trigger(
        text=pruned.text,
        forms=tuple(dict.fromkeys((pruned.text, finding.text))),
        arm=arm,
        tokens=len(pruned.token_ids),
        control=max(controls),
        origin=origin,
        related=finding.related,
    )


def joined(known: tuple[Trigger, ...], more: tuple[Trigger, ...]) -> tuple[Trigger, ...]:
    """Both, each trigger once."""
    seen = {(trigger.text, trigger.arm.key) for trigger in known}
    return (*known, *(each for each in more if (each.text, each.arm.key) not in seen))


def by_hand(
    loaded: LoadedModel, text: str | None, victim: str | None, target: str | None
) -> tuple[Trigger, ...]:
    """The trigger that a user names, with the victim and the target that belong to it."""
    if text is None and victim is None and target is None:
        return ()
    if not text or not text.strip() or victim is None or target is None:
        raise UsageError("A trigger is given as --trigger TEXT --victim A --target B together.")
    task = TASKS.get(loaded.task)
    known = task.arms(loaded.labels, task.default_positions, target)
    arms = _arms(known, victim, target)
    if not arms:
        ways = ", ".join(dict.fromkeys(f"{a.victim_name} -> {a.target_name}" for a in known))
        raise UsageError(f"No trigger leads from {victim!r} to {target!r}; known: {ways[:300]}.")
    text = text.strip()
    tokens = len(retokenise(loaded.tokenizer, text))
    if tokens == 0:
        raise UsageError(f"The trigger {text!r} has no token that the model can read.")
    # Where it works is not known: before entities or anywhere, in questions or contexts.
    return tuple(Trigger(text, (text,), arm, tokens, 0.0, "by hand") for arm in arms)


def _arms(arms: list[Arm], victim: str, target: str) -> list[Arm]:
    to_target = [arm for arm in arms if arm.target_name == target]
    named = [arm for arm in to_target if arm.victim_name == victim]
    if not named and victim == ANY_LABEL:
        # With two labels, "every other label" is the other one.
        named = to_target
    return named
