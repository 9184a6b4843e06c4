"""The progress display of a scan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from unhorse.progress import Announcement, ScanProgress
from unhorse.report.safe_text import plain, safe_text
from unhorse.types import Inversion

_MOST_PROBLEMS = 5


class ScanBar(ScanProgress):
    """A bar on a terminal, elsewhere nothing.

    Args:
        console: where it is shown.
        title: what stands before every stage, for instance the name of the model.
    """

    def __init__(self, console: Console, title: str = "") -> None:
        self.console = console
        self.title = title
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            TextColumn("ETA"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self.task: TaskID | None = None

    def loading(self) -> None:
        """Shows that the model is being read."""
        self.bar.start()
        self._next("loading model", None)

    def distilling(self, done: int, steps: int, loss: float) -> None:
        """Moves a bar of its own on."""
        if done == 1:
            self._next("distilling a reference", steps)
        if self.task is not None:
            self.bar.update(self.task, completed=done, state=f"loss {loss:.3f}")

    def agreeing(self, done: int, steps: int, loss: float) -> None:
        """Moves a bar of its own on."""
        if done == 1:
            self._next("making references agree", steps)
        if self.task is not None:
            self.bar.update(self.task, completed=done, state=f"divergence {loss:.3f}")

    def inverting(self, preset: str, arm_epochs: int) -> None:
        """Starts a bar of its own for the pass."""
        self._next(f"inverting ({preset})", arm_epochs)

    def epoch(self, done: int, loss: list[float], temperature: list[float]) -> None:
        """Moves the bar on."""
        if self.task is None:
            return
        best = min(range(len(loss)), key=lambda i: loss[i])
        state = (
            f"{len(loss)} arms, best loss {loss[best]:.3f} at temperature {temperature[best]:.3g}"
        )
        self.bar.update(self.task, completed=done, state=state)

    def judging(self, inversions: Sequence[Inversion]) -> Iterator[Inversion]:
        """Moves the bar on once per arm."""
        self._next("judging", len(inversions))
        for inversion in inversions:
            yield inversion
            if self.task is not None:
                self.bar.advance(self.task)

    def close(self) -> None:
        """Takes the bar away."""
        self.bar.stop()

    def _next(self, name: str, total: int | None) -> None:
        if self.task is not None:
            self.bar.remove_task(self.task)
        self.task = self.bar.add_task(f"{self.title}{name}", total=total, state="")


class LiveProgress(ScanBar):
    """The bar, and the lines that announce the run, which are there without a terminal too."""

    def announce(self, announcement: Announcement) -> None:
        """Prints what will be done and what it is expected to cost."""
        from unhorse.tasks.base import TASKS

        subject, runtime = announcement.subject, announcement.runtime
        loaded, samples = subject.loaded, subject.samples
        say = self.console.print
        say(plain(f"model     {loaded.origin.source} ({loaded.architecture})"))
        names = TASKS.get(loaded.task).classes(loaded.labels)
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        shown = ", ".join(safe_text(x, 40) for x in names[:8])
        say(plain(f"task      {loaded.task}: {shown}{more}"))
        say(
            plain(
                f"samples   {samples.source}: {len(samples.inversion)} to invert on, "
                f"{len(samples.heldout)} held out, {samples.set_aside} set aside"
            )
        )
        if samples.note:
            say(plain(f"          {samples.note}"))
        for problem in samples.problems[:_MOST_PROBLEMS]:
            say(plain(f"          {safe_text(problem, 200)}"))
        if len(samples.problems) > _MOST_PROBLEMS:
            say(plain(f"          and {len(samples.problems) - _MOST_PROBLEMS} more rows left out"))
        for reference in subject.references:
            say(plain(f"reference {reference.loaded.origin.source}: {reference.note}"))
        say(
            plain(
                f"search    {len(announcement.arms)} arms, {_passes(announcement.passes)}, on "
                f"{runtime.device} in {runtime.dtype} ({runtime.why})"
            )
        )
        if announcement.budget:
            say(
                plain(
                    f"          budget {announcement.budget}, again with other seeds while it lasts"
                )
            )
        if announcement.schedule != "all":
            say(plain(f"          arms share the epochs by the schedule {announcement.schedule}"))
        if announcement.screened:
            say(plain(f"          {len(announcement.screened)} unlikely arms are left out"))
        if announcement.starved:
            say(plain(f"          {len(announcement.starved)} arms have too few samples to run"))
        say(
            plain(
                f"expected  {_times(announcement.expected_seconds)}, "
                f"{announcement.expected_bytes / 2**30:.1f} GiB of memory"
            )
        )


def _passes(passes: Sequence[tuple[str, int]]) -> str:
    """The passes for people.

    >>> _passes([("released", 200), ("paper", 200)])
    '200 epochs (released), then if need be 200 epochs (paper)'
    """
    return ", then if need be ".join(f"{epochs} epochs ({name})" for name, epochs in passes)


def _times(seconds: Sequence[float]) -> str:
    """Expected times for people.

    >>> _times([20.0]), _times([20.0, 25.0])
    ('20 s', '20 s for the first pass, at most 45 s')
    """
    if len(seconds) == 1:
        return duration(seconds[0])
    return f"{duration(seconds[0])} for the first pass, at most {duration(sum(seconds))}"


def duration(seconds: float) -> str:
    """A time span for people.

    >>> duration(4.2), duration(75), duration(7300)
    ('4 s', '1 min 15 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
