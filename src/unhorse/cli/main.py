"""The command `unhorse`: finds its commands, and turns every error into one sentence."""

from __future__ import annotations

import importlib
import os
import pkgutil
import signal
import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

import unhorse.cli as package
from unhorse.cli.console import say_error
from unhorse.errors import (
    EXIT_INTERNAL,
    EXIT_INTERRUPTED,
    EXIT_NOT_CLEARED,
    UnhorseError,
    UsageError,
)


class _Interrupted(UnhorseError):
    """Somebody, or a CI that gives up, has ended the work."""

    exit_code = EXIT_INTERRUPTED


class _Commands(TyperGroup):
    """All commands; what typer would end without a word becomes an error of ours."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise _Interrupted("Interrupted.") from error
        except BrokenPipeError as error:
            raise UsageError("Standard output was closed before all was written.") from error


app = typer.Typer(
    name="unhorse",
    cls=_Commands,
    help="Finds and removes backdoors in NLP transformer models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _add_commands() -> None:
    """Every module of this package with a `command` is a command, with a `group` several."""
    for found in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        if hasattr(module, "command"):
            app.command(name=found.name)(module.command)
        if hasattr(module, "group"):
            app.add_typer(module.group, name=found.name)


@app.callback(invoke_without_command=True)
def _options(
    version: bool = typer.Option(False, "--version", help="Show the version and end."),
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"unhorse {installed('unhorse')}")
        raise typer.Exit


_add_commands()


def run() -> None:
    """Entry point of the command line."""
    # A CI that gives up on a job sends this; it should get the partial report as well.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app()
    except UnhorseError as error:
        say_error(str(error))
        sys.exit(error.exit_code)
    except Exception as error:
        from unhorse.runtime import is_out_of_memory

        if is_out_of_memory(error):
            say_error("The machine has too little memory for this model.")
            sys.exit(EXIT_NOT_CLEARED)
        if os.environ.get("UNHORSE_DEBUG"):
            traceback.print_exc()
        kind = type(error).__name__
        say_error(f"Internal error ({kind}: {error}); UNHORSE_DEBUG=1 shows where it arose.")
        sys.exit(EXIT_INTERNAL)
