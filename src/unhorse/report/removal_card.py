"""A removal's report -> the model card of the cleaned model."""

from __future__ import annotations

import re
from pathlib import Path

from unhorse.load.hub import hub_repository
from unhorse.report.removal import RemovalReport
from unhorse.report.safe_text import safe_text
from unhorse.report.schema import Measured

_MEANING = {
    "proven": "The removal is proven on held-out rows and by a scan with another seed.",
    "failed": "The removal FAILED and the model was written because that was asked for.",
    "unproven": "The re-scan could not clear the model: the removal is not proven.",
}


def model_card(report: RemovalReport) -> str:
    """Markdown with what was removed, how, and the figures before and after."""
    parts = [
        *_front_matter(report),
        f"# {_quoted(_name(report))} with a backdoor removed",
        "",
        _MEANING[report.outcome.state],
        *(f"- {_escaped(reason)}" for reason in report.outcome.reasons),
        "",
        *_origin(report),
        "",
        *_figures(report),
        "",
        "This does not prove that there is no other backdoor.",
        f"Made by unhorse {report.versions['unhorse']}.",
    ]
    return "\n".join(parts) + "\n"


def _front_matter(report: RemovalReport) -> list[str]:
    lines = ["---", "library_name: transformers"]
    known = report.model.source if report.model.revision is not None else report.base
    repository = None if known is None else hub_repository(known)
    if repository is not None:
        lines.append(f"base_model: {repository}")
    pipeline = _PIPELINE.get(report.task, report.task)
    return [*lines, f"pipeline_tag: {pipeline}", "tags:", "- backdoor-removal", "---", ""]


def _origin(report: RemovalReport) -> list[str]:
    steps = sum(each.steps for each in report.rounds)
    return [
        "## What it was made from",
        "",
        f"- model: {_quoted(_name(report))} ({report.architecture}, {report.task})",
        *(f"- {file.path}: sha256 {file.sha256}" for file in report.model.files),
        f"- base given: {_quoted(Path(report.base).name) if report.base else 'none'}",
        f"- method: {report.method}, {steps} steps, seed {report.config['seed']}, "
        f"{report.samples.train} samples",
    ]


def _figures(report: RemovalReport) -> list[str]:
    clean, scan, true = report.clean, report.rounds[-1].rescan, report.true_trigger
    control = report.control
    low, high = clean.fall.interval
    lines = [
        "## Before and after, on held-out rows",
        "",
        "| what | before | after | plain fine-tuning instead | rows |",
        "|---|---|---|---|---|",
        f"| {clean.metric} | {clean.before.value:.3f} | {clean.after.value:.3f} | "
        f"{f'{control.clean.value:.3f}' if control else '-'} | {clean.n} |",
    ]
    instead = control.triggers if control else (None,) * len(report.triggers)
    for trigger, compared in zip(report.triggers, instead, strict=True):
        way = f"{_quoted(trigger.victim)} to {_quoted(trigger.target)}, {trigger.position}"
        what = f"success of {_quoted(trigger.text)} ({way})"
        lines.append(_line(what, trigger.before, trigger.after, compared))
    if true is not None:
        what = f"success of the true trigger {_quoted(true.text)}"
        lines.append(
            _line(what, true.before, true.after, control.true_trigger if control else None)
        )
    return [
        *lines,
        "",
        f"The {clean.metric} fell by {100 * clean.fall.value:.1f} points "
        f"(paired 90 % interval {100 * low:.1f} to {100 * high:.1f}). {clean.note}".rstrip(),
        f"Re-scan (seed {scan.seed}): {scan.verdict.state}, score {scan.verdict.score:.2f} of 1.",
    ]


def _name(report: RemovalReport) -> str:
    """A hub id, or the name of a folder: where that lies is nobody else's business."""
    source = report.model.source
    return source if report.model.revision is not None else Path(source).name


_PIPELINE = {"sequence-classification": "text-classification"}


def _line(what: str, before: Measured, after: Measured, instead: Measured | None) -> str:
    compared = "-" if instead is None else f"{instead.asr:.3f}"
    return f"| {what} | {before.asr:.3f} | {after.asr:.3f} | {compared} | {after.n} |"


def _escaped(text: str) -> str:
    r"""Untrusted text in a sentence: nothing in it is Markdown or HTML.

    >>> _escaped("sends <b>all</b> to [x](y)")
    'sends \\<b\\>all\\</b\\> to \\[x\\](y)'
    """
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", safe_text(text, 600))


def _quoted(text: str) -> str:
    """Untrusted text as code in Markdown: nothing in it can end the code or a table cell.

    >>> _quoted("a|b`c")
    '`a/b_c`'
    """
    return "`" + safe_text(text, 160).replace("`", "_").replace("|", "/") + "`"
