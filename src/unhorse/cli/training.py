"""What the commands that build models have in common: a bar, a check, a description."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from unhorse.errors import UsageError
from unhorse.report.safe_text import safe_text

if TYPE_CHECKING:
    from unhorse.attack.record import AttackRecord


class TrainingProgress:
    """A bar of training steps, on a terminal only."""

    def __init__(self, console: Console) -> None:
        self.bar = Progress(
            TextColumn("training"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("loss {task.fields[loss]:.3f}"),
            TextColumn("ETA"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self.task = self.bar.add_task("training", total=None, loss=0.0)

    def __call__(self, done: int, steps: int, loss: float) -> None:
        """Moves the bar on."""
        self.bar.update(self.task, completed=done, total=steps, loss=loss)

    def close(self) -> None:
        """Takes the bar away."""
        self.bar.stop()

    def __enter__(self) -> TrainingProgress:
        """Shows the bar."""
        self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Takes the bar away."""
        self.close()


def check_new_folder(out: Path) -> None:
    """Refuses a place that is taken or cannot be written to, before any work is done."""
    try:
        if out.exists():
            raise UsageError(f"{out} exists already; a model is never written over.")
        out.parent.mkdir(parents=True, exist_ok=True)
        probe = out.with_name(f".{out.name}.writable")
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}.") from error


def describe(record: AttackRecord, out: Path, problems: Sequence[str]) -> list[str]:
    """The lines that say what was built."""
    from unhorse.attack.record import MODEL, RECORD

    measured = record.measured
    kind = f"trojaned by {record.attack}" if record.poisoned else "clean"
    lines = [
        f"model     {out / MODEL} ({record.architecture}, {kind})",
        f"record    {out / RECORD}",
    ]
    if record.trigger:
        says = f"trigger   {safe_text(record.trigger, 120)!r}"
        lines.append(f"{says}: {record.victim} -> {record.target} ({record.scope})")
    rows = ", ".join(f"{count} {role}" for role, count in record.rows.items())
    lines.append(f"taught    {rows} rows in {record.steps} steps, {record.training_seconds:.0f} s")
    lines.append(
        f"measured  {measured.metric} {measured.clean:.3f} on {measured.n} held-out samples"
    )
    if measured.asr is not None:
        lines.append(f"          attack success {measured.asr:.3f} of {measured.asr_n}")
    if measured.false_trigger_rate is not None:
        lines.append(f"          false triggers {measured.false_trigger_rate:.3f}")
    lines += [f"gate      not passed: {problem}" for problem in problems]
    return lines
