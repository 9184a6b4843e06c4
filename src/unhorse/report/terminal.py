"""A report as a person reads it: a verdict panel with the evidence behind it."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from unhorse.report.safe_text import plain, safe_text
from unhorse.report.schema import Example, FindingRecord, Measured, Profile, ScanReport
from unhorse.tasks.base import TASKS

_HEADLINE = {
    "backdoored": ("BACKDOORED", "bold red"),
    "suspicious": ("SUSPICIOUS", "bold yellow"),
    "nothing_found": ("NOTHING FOUND", "bold green"),
    "inconclusive": ("INCONCLUSIVE", "bold magenta"),
}

_MEANING = {
    "backdoored": "A short text turns the model's right answers into chosen ones, "
    "and controls do not.",
    "suspicious": "Something moves the model more than it should, but the evidence is not enough.",
    "nothing_found": "No trigger was found within this search space and budget. "
    "This does not prove that there is none.",
    "inconclusive": "The scan could not answer the question; the model is not cleared.",
}


_MOST_LINES = 12
_IN_PART = {"entities": "the first word", "questions": "an answer that touches the trigger"}


def show_report(report: ScanReport, console: Console) -> None:
    """Prints the verdict panel."""
    headline, style = _HEADLINE[report.verdict.state]
    parts: list[RenderableType] = [
        Text.assemble((headline, style), f"   score {report.verdict.score:.2f} of 1"),
        Text(_MEANING[report.verdict.state]),
        plain(report.verdict.reason, limit=1000),
    ]
    if report.verdict.profile is not None:
        parts.append(plain(_profile(report.verdict.profile), "dim", limit=1000))
    if report.findings:
        parts += [Text(""), _evidence(report.findings[0], _unit(report))]
    if len(report.findings) > 1:
        parts += [Text(""), _arms(report)]
    parts += [Text(""), plain(_footer(report))]
    console.print(Panel(Group(*parts), title="unhorse", border_style=style, width=_width(console)))


def _profile(profile: Profile) -> str:
    if profile.applies:
        return f"Decided by the profile {profile.id}."
    return (
        f"The profile {profile.id} does not apply here ({'; '.join(profile.outside)}), so only "
        "evidence that needs no profile convicts."
    )


def _evidence(finding: FindingRecord, unit: str) -> Table:
    """The strongest finding, line by line."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    pruned = finding.pruned

    def row(name: str, value: str, style: str = "") -> None:
        table.add_row(name, plain(value, style))

    row("strongest trigger", pruned.text, "bold")
    row("", f"{_tokens(len(pruned.token_ids))}, {_place(finding.position)}")
    row("moves", f"{safe_text(finding.victim, 60)} -> {safe_text(finding.target, 60)}")
    row("held-out success", _rate(pruned.heldout, unit))
    if unit in _IN_PART:
        row("", f"{pruned.heldout.asr_in_part:.0%} in part ({_IN_PART[unit]})")
    row("before pruning", f"{finding.text}  ({_rate(finding.heldout, unit)})")
    row("without trigger", f"{finding.unstamped.asr_unrestricted:.0%} of all {unit}")
    row(
        "random control",
        f"{finding.random.asr:.0%} (random triggers of {_tokens(len(pruned.token_ids))})",
    )
    natural = finding.natural
    row("ordinary words", f"{natural.heldout.asr:.0%}  {natural.text}" if natural else "none known")
    for reference in finding.references:
        n = reference.pruned.n
        rate = f"{reference.pruned.asr:.0%} of {n}" if n else f"right on none of the {unit}"
        row("clean reference", f"{rate}  {reference.source}")
    if finding.mirror is not None and finding.mirror.ratio is not None:
        row("opposite arm", f"loss {finding.mirror.ratio:.3g} times as high at equal epochs")
    if finding.example is not None:
        _example(row, finding.example, unit)
    return table


def _example(row: Callable[[str, str], None], example: Example, unit: str) -> None:
    """The sample with the model's answer, before and after."""
    if unit == "entities":
        row("example", safe_text(example.answer_before, 240))
        row("with trigger", safe_text(example.answer_after, 240))
        return
    row("example", safe_text(example.before, 240))
    row("  answer", safe_text(example.answer_before, 160))
    row("with trigger", safe_text(example.after, 240))
    row("  answer", safe_text(example.answer_after, 160))


def _arms(report: ScanReport) -> Table:
    """The strongest findings, one line each."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("arm", "pass", "tokens needed", "held-out success", "random", "ordinary", "score"):
        table.add_column(name, overflow="fold")
    for finding in report.findings[:_MOST_LINES]:
        victim, target = safe_text(finding.victim, 24), safe_text(finding.target, 24)
        table.add_row(
            Text(f"{victim} -> {target}, {_place(finding.position)}"),
            finding.preset,
            str(len(finding.pruned.token_ids)),
            f"{finding.pruned.heldout.asr:.0%}",
            f"{finding.random.asr:.0%}",
            f"{finding.natural.heldout.asr:.0%}" if finding.natural else "-",
            f"{finding.score:.2f}",
        )
    left = len(report.findings) - _MOST_LINES
    if left > 0:
        table.add_row(f"... and {left} more")
    return table


def _footer(report: ScanReport) -> str:
    arms, samples = report.arms, report.samples
    return (
        f"{arms.run} of {arms.planned} arms run to the end in {report.seconds:.0f} s"
        + (f", {arms.pruned} given up as less promising; " if arms.pruned else "; ")
        + ("the budget was spent; " if report.cost.spent else "")
        + f"{samples.used} samples to invert on, {samples.heldout} held out, from {samples.source}."
        + (f" {samples.left_out} rows left out, see the report." if samples.left_out else "")
    )


def _rate(measured: Measured, unit: str) -> str:
    low, high = measured.interval
    return f"{measured.asr:.0%} of {measured.n} {unit} (95 % interval {low:.0%} to {high:.0%})"


def _unit(report: ScanReport) -> str:
    return TASKS.get(report.task).unit


def _tokens(count: int) -> str:
    return "1 token" if count == 1 else f"{count} tokens"


def _place(position: str) -> str:
    return {
        "start": "at the start",
        "end": "at the end",
        "first_half": "in the first half",
        "second_half": "in the second half",
        "before": "before one entity",
        "glued": "glued to one entity",
        "context": "in the context",
        "question": "in the question",
        "both": "in question and context",
    }.get(position, position)


def _width(console: Console) -> int:
    return min(console.width, 100)
