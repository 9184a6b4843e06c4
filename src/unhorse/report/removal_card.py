"""A removal's report -> the model card of the cleaned model."""

from __future__ import annotations

from pathlib import Path

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
    clean, last = report.clean, report.rounds[-1]
    source = Path(report.model.source).name
    parts = [
        "---",
        "library_name: transformers",
        f"pipeline_tag: {_PIPELINE.get(report.task, report.task)}",
        "tags:",
        "- backdoor-removal",
        "---",
        "",
        f"# {_quoted(source)} with a backdoor removed",
        "",
        _MEANING[report.outcome.state],
        *(f"- {safe_text(reason, 600)}" for reason in report.outcome.reasons),
        "",
        "## What it was made from",
        "",
        f"- model: {_quoted(source)} ({report.architecture}, {report.task})",
        *(f"- {file.path}: sha256 {file.sha256}" for file in report.model.files),
        f"- base given: {_quoted(Path(report.base).name) if report.base else 'none'}",
        f"- method: {report.method}, {last.steps} steps, seed {report.config['seed']}, "
        f"{report.samples.train} samples",
        "",
        "## Before and after, on held-out rows",
        "",
        "| what | before | after | rows |",
        "|---|---|---|---|",
        f"| {clean.metric} | {clean.before.value:.3f} | {clean.after.value:.3f} | {clean.n} |",
        *(
            _line(f"success of {_quoted(t.text)} ({_way(t.victim, t.target)})", t.before, t.after)
            for t in report.triggers
        ),
    ]
    if report.true_trigger is not None:
        true = report.true_trigger
        parts.append(
            _line(f"success of the true trigger {_quoted(true.text)}", true.before, true.after)
        )
    low, high = clean.fall.interval
    parts += [
        "",
        f"The {clean.metric} fell by {100 * clean.fall.value:.1f} points "
        f"(paired 90 % interval {100 * low:.1f} to {100 * high:.1f}). {clean.note}".rstrip(),
        f"Re-scan (seed {last.rescan.seed}): {last.rescan.verdict.state}, "
        f"score {last.rescan.verdict.score:.2f} of 1.",
        "",
        "This does not prove that there is no other backdoor.",
        f"Made by unhorse {report.versions['unhorse']}.",
    ]
    return "\n".join(parts) + "\n"


_PIPELINE = {"sequence-classification": "text-classification"}


def _line(what: str, before: Measured, after: Measured) -> str:
    return f"| {what} | {before.asr:.3f} | {after.asr:.3f} | {after.n} |"


def _way(victim: str, target: str) -> str:
    return f"{_quoted(victim)} to {_quoted(target)}"


def _quoted(text: str) -> str:
    """Untrusted text as code in Markdown: nothing in it can end the code or a table cell.

    >>> _quoted("a|b`c")
    '`a/b_c`'
    """
    return "`" + safe_text(text, 160).replace("`", "_").replace("|", "/") + "`"
