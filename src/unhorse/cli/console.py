"""Where people's text goes: standard error. Results go to standard output only if asked."""

from __future__ import annotations

import os

from rich.console import Console

from unhorse.report.safe_text import plain


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
