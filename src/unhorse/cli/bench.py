"""`unhorse bench`: scans the models of a suite with several methods and makes a table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from unhorse.cli import options
from unhorse.cli.console import make_console
from unhorse.cli.live import duration
from unhorse.cli.output import check_writable, write_text
from unhorse.cli.zoo import Data, Opened, Suite, Zoo
from unhorse.errors import EXIT_NOT_CLEARED

EVERY = "all"


def command(
    suite: Suite,
    zoo: Zoo = None,
    data: Data = Path(),
    build: Annotated[
        bool, typer.Option("--build", help="Build a model that is missing before its scan.")
    ] = False,
    methods: Annotated[
        str, typer.Option(help="Methods with commas, such as dbs,uat:strong; or all.")
    ] = EVERY,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of every scan.")] = 1,
    split: Annotated[list[str] | None, typer.Option(help="Only this split; repeatable.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Only this model or group; repeatable.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where result files are and go.")] = Path(
        "bench-results"
    ),
    table: Annotated[
        str | None, typer.Option(metavar="OUT", help="Write the table as Markdown; - is stdout.")
    ] = None,
    reference: Annotated[
        bool, typer.Option(help="Whether a scan is given a clean model of another family.")
    ] = True,
    budget: options.Budget = None,
    option: options.Options = None,
    samples_per_class: options.SamplesPerClass = None,
    heldout_per_class: options.HeldoutPerClass = None,
    max_tokens: options.MaxTokens = None,
    device: options.Device = None,
    quiet: options.Quiet = False,
) -> None:
    """Scan every model of SUITE with every method, one result file each, and make a table.

    What is there already is not done again, so it can be stopped at any moment. Exit codes:
    0 complete, 3 something is missing.
    """
    from unhorse.bench.plan import parse_methods, plan
    from unhorse.bench.run import run_bench
    from unhorse.bench.table import COLUMNS, check_installed, markdown, rows_of
    from unhorse.invert.base import METHODS
    from unhorse.zoo.build import build_suite

    check_installed()
    check_writable(table)
    asked = parse_methods(",".join(METHODS.names()) if methods == EVERY else methods)
    settings = options.settings(
        None,
        options=option,
        budget=budget,
        samples_per_class=samples_per_class,
        heldout_per_class=heldout_per_class,
        max_tokens=max_tokens,
        device=device,
    )
    console = make_console(quiet)

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    opened = Opened(suite, zoo, data)
    if build:
        for built in build_suite(opened.entries, opened.place, 1, only or ()):
            if not built.skipped:
                came = "failed" if built.problem else "built"
                say(f"{came:<13} {built.entry.name} {built.problem}")
    units = plan(opened.members(), asked, seeds, split or (), only or (), with_reference=reference)
    results, problems, seconds = [], [], []
    for number, done in enumerate(run_bench(units, opened.place, out, settings.model_dump()), 1):
        name = f"{done.unit.name} {done.unit.asked.label} seed {done.unit.seed}"
        if done.result is None:
            problems.append(f"{name}: {done.problem}")
            continue
        results.append(done.result)
        if done.made_now:
            seconds.append(done.result.seconds)
            left = duration((len(units) - number) * sum(seconds) / len(seconds))
            line = f"{done.result.state:<13} {name}  {done.result.seconds:.0f} s"
            say(f"{line}  ({len(units) - number} left, at most {left})")
    for problem in problems:
        say(f"{'missing':<13} {problem}")
    planned = Counter(unit.asked.label for unit in units)
    rows = rows_of(results, dict(planned))
    shown = Table(box=None, pad_edge=False, header_style="dim")
    for name in COLUMNS:
        shown.add_column(name, no_wrap=True)
    for row in rows:
        shown.add_row(*row.cells())
    console.print(shown)
    if table is not None:
        write_text(table, markdown(rows))
    raise typer.Exit(EXIT_NOT_CLEARED if problems else 0)
