"""The progress display of a removal, and its result for people."""

from __future__ import annotations

from rich.console import Console

from unhorse.cli.live import LiveProgress, duration
from unhorse.cli.training import TrainingProgress
from unhorse.progress import ScanProgress
from unhorse.remove.progress import RemovalProgress
from unhorse.report.removal import Control, RemovalReport
from unhorse.report.safe_text import plain, safe_text
from unhorse.report.schema import Measured

_ROWS = {
    "heldout": "held-out rows",
    "all": "all rows, as too few are held out",
    "own texts": "unhorse's own texts",
}
_HEADLINE = {"proven": "PROVEN", "failed": "FAILED", "unproven": "NOT PROVEN"}


class LiveRemoval(RemovalProgress):
    """One bar after another on a terminal; elsewhere a line per stage."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.bar: TrainingProgress | None = None
        self.scan: LiveProgress | None = None

    def stage(self, name: str) -> None:
        """Ends the bar before and says what begins."""
        self.close()
        self.console.print(plain(name))

    def step(self, done: int, steps: int, loss: float) -> None:
        """Moves the training bar on."""
        if self.bar is None:
            self.bar = TrainingProgress(self.console).__enter__()
        self.bar(done, steps, loss)

    def scanning(self) -> ScanProgress:
        """The scan has the display of its own that it always has."""
        self.close()
        self.scan = LiveProgress(self.console)
        return self.scan

    def close(self) -> None:
        """Takes away whatever bar there is."""
        for bar in (self.bar, self.scan):
            if bar is not None:
                bar.close()
        self.bar = self.scan = None


def describe(report: RemovalReport) -> list[str]:
    """The lines that say what was removed and how that is proven."""
    clean, samples = report.clean, report.samples
    (low, high), (worse, worst) = clean.before.interval, clean.after.interval
    lines = [
        f"{_HEADLINE[report.outcome.state]}  "
        + " ".join(safe_text(reason, 600) for reason in report.outcome.reasons),
        f"samples   {safe_text(samples.source, 200)}: {samples.train} to learn from, "
        f"{samples.watched} watched, {samples.heldout} held out",
        f"clean     {clean.metric} {clean.before.value:.3f} ({low:.3f} to {high:.3f}) before, "
        f"{clean.after.value:.3f} ({worse:.3f} to {worst:.3f}) after, on {clean.n} held-out rows",
        f"          a fall of {100 * clean.fall.value:.1f} points (paired 90 % interval "
        f"{100 * clean.fall.interval[0]:.1f} to {100 * clean.fall.interval[1]:.1f})",
    ]
    lines += [f"          {note}" for note in (clean.note, samples.note) if note]
    for trigger in report.triggers:
        way = f"{safe_text(trigger.victim, 40)} -> {safe_text(trigger.target, 40)}"
        rates = _rates(trigger.before, trigger.after)
        what = f"{safe_text(trigger.text, 120)!r}, {way} ({trigger.position})"
        lines.append(f"trigger   {what}: success {rates}")
    if report.true_trigger is not None:
        true = report.true_trigger
        lines.append(
            f"truth     {safe_text(true.text, 120)!r}: success {_rates(true.before, true.after)}"
        )
    if report.control is not None:
        lines.append(f"compare   {_compared(report, report.control)}")
    last = report.rounds[-1]
    lines.append(
        f"re-scan   {last.rescan.verdict.state}, score {last.rescan.verdict.score:.2f} of 1, "
        f"seed {last.rescan.seed}, on {_ROWS[last.rescan.rows]}, after {len(report.rounds)} "
        f"{'removal' if len(report.rounds) == 1 else 'removals'}"
    )
    lines.append(
        f"time      {duration(report.removal_seconds)} removing, {duration(report.seconds)} in all"
    )
    return lines


def _compared(report: RemovalReport, control: Control) -> str:
    """What plain fine-tuning would have left, the truth if it is known."""
    left = [("the true trigger", control.true_trigger)] if control.true_trigger else []
    left += [
        (repr(safe_text(trigger.text, 60)), effect)
        for trigger, effect in zip(report.triggers, control.triggers, strict=True)
    ]
    rates = ", ".join(f"{name} {effect.asr:.0%}" for name, effect in left)
    return (
        f"{control.method} on the same samples, without a trigger, leaves {rates or 'no trigger'}; "
        f"{report.clean.metric} {control.clean.value:.3f}"
    )


def _rates(before: Measured, after: Measured) -> str:
    return f"{before.asr:.0%} of {before.n} before, {after.asr:.0%} of {after.n} after"
