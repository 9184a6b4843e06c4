"""Where people's text goes: standard error. Results go to standard output only if asked."""

from __future__ import annotations

import os

from rich.console import Console as RichConsole

from unhorse.report.safe_text import plain


class Console(RichConsole):
    """A console that falls silent when whoever read along has gone; the work goes on."""

    def on_broken_pipe(self) -> None:
        """Tells nothing more, and ends nothing."""
        self.quiet = True
        silence(self.file.fileno())


def silence(descriptor: int) -> None:
    """What is written to a closed pipe goes nowhere from now on, instead of failing again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def make_console(quiet: bool = False) -> Console:
    """A console on standard error; NO_COLOR is honoured by rich, CI here."""
    in_ci = bool(os.environ.get("CI"))
    return Console(
        stderr=True,
        quiet=quiet,
        force_terminal=False if in_ci else None,
        force_interactive=False if in_ci else None,
        highlight=False,
    )


def say_error(sentence: str) -> None:
    """One sentence on standard error; the text may contain anything."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(
        plain(f"unhorse: {sentence}", limit=2000)
    )
