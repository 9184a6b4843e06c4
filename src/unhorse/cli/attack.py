"""`unhorse attack`: builds one trojaned or clean model with its record."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unhorse.cli import options
from unhorse.cli.console import make_console
from unhorse.errors import EXIT_NOT_CLEARED


def command(
    recipe: Annotated[Path, typer.Argument(help="A recipe file (TOML).")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to make; must not exist.")],
    data: Annotated[
        Path, typer.Option(help="What relative paths of data files are relative to.")
    ] = Path(),
    seed: Annotated[int | None, typer.Option(min=0, help="Another seed than the recipe's.")] = None,
    clean: Annotated[
        bool, typer.Option("--clean", help="Build the clean twin of the recipe instead.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Build the model of RECIPE: DIR/model, and beside it DIR/attack.json.

    Exit codes: 0 built and within its gates, 2 wrong usage, 3 outside of its gates (the
    model is kept, and why is printed), 4 base refused, 5 internal error, 130 interrupted.
    """
    from unhorse.attack.build import build
    from unhorse.attack.gates import complaints
    from unhorse.attack.recipe import read_recipe
    from unhorse.cli.training import TrainingProgress, check_new_folder, describe

    given = read_recipe(recipe)
    if seed is not None:
        given = given.model_copy(update={"seed": seed})
    if clean:
        given = given.twin(harmless_words=given.harmless_words)
    check_new_folder(out)
    console = make_console(quiet)
    with TrainingProgress(console) as progress:
        record = build(given, out, data_root=data, progress=progress)
    problems = complaints(record)
    for line in describe(record, out, problems):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(EXIT_NOT_CLEARED if problems else 0)
