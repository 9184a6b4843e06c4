"""`unhorse demo`: plants a backdoor in a small model and finds it."""

from __future__ import annotations

from typing import Annotated

import typer

from unhorse.cli import options
from unhorse.cli.console import make_console
from unhorse.cli.output import check_writable, write_text


def command(
    seed: Annotated[int, typer.Option(help="Decides the texts, the models and the trigger.")] = 0,
    trigger: Annotated[str, typer.Option(help="What is planted: word or phrase.")] = "word",
    json_out: options.JsonOut = None,
    quiet: options.Quiet = False,
) -> None:
    """Train a clean and a backdoored model, scan both, and compare with the truth.

    Needs no network and no data. Exit code 0 only when the backdoored model is
    convicted and the clean one is not, else 5.
    """
    from unhorse.demo.run import run_demo

    check_writable(json_out)
    console = make_console(quiet)
    result = run_demo(seed=seed, trigger=trigger, console=console)
    if json_out is not None:
        write_text(json_out, result.model_dump_json(indent=2) + "\n")
    raise typer.Exit(0 if result.succeeded else 5)
