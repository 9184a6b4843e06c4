"""`unhorse bench`: scans the models of a suite with several methods and makes a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from unhorse.cli import options
from unhorse.cli.console import make_console
from unhorse.cli.live import ScanBar, duration
from unhorse.cli.output import check_folder, check_writable, write_text
from unhorse.cli.zoo import Data, Opened, Suite, Zoo
from unhorse.errors import EXIT_NOT_CLEARED, UsageError

EVERY = "all"
AMOUNTS = "0.1,200"
"""The paper's setting, and a few hundred samples."""


def command(
    suite: Suite,
    zoo: Zoo = None,
    data: Data = Path(),
    build: Annotated[
        bool, typer.Option("--build", help="Build a model that is missing just before its scan.")
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
    audits: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="A folder with files of `unhorse zoo verify --json`, for the line on shortcuts.",
        ),
    ] = None,
    reference: Annotated[
        bool, typer.Option(help="Whether a scan is given a clean model of another family.")
    ] = True,
    distill: Annotated[
        bool,
        typer.Option(
            "--distill", help="Let every scan make its reference from the model itself and --base."
        ),
    ] = False,
    reference_seed: Annotated[
        int, typer.Option(min=0, help="Which of the clean models that may be it is drawn.")
    ] = 0,
    samples: Annotated[
        bool, typer.Option(help="Whether a scan is given the model's held-out samples.")
    ] = True,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="Give scans what the paper's had: a reference for texts only, and for entities "
            "the best two arms after a warm-up, of 20 epochs where a method has epochs like DBS.",
        ),
    ] = False,
    remove: Annotated[
        str | None,
        typer.Option(
            metavar="METHODS",
            help="Make no scans; take out of the trojaned models, by these removal methods with "
            "commas, what their stored scans have found.",
        ),
    ] = None,
    amounts: Annotated[
        str,
        typer.Option(
            help="Clean rows that a removal is given, with commas: shares of the training data "
            "or numbers of rows."
        ),
    ] = AMOUNTS,
    base: Annotated[
        str | None,
        typer.Option(
            help="The checkpoint that models descend from, for --distill and for removals that "
            "need it; minilm names the package with MiniLM's weights."
        ),
    ] = None,
    reason: Annotated[
        str | None, typer.Option(help="Why the test split is looked at, for its log.")
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The log of test runs; test-runs.jsonl beside OUT if not given."
        ),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Begin no scan after so many minutes.")
    ] = None,
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
    from unhorse.bench.audits import audited, read_audits
    from unhorse.bench.cure import Clinic
    from unhorse.bench.hygiene import Log, log_beside
    from unhorse.bench.metrics import check_installed
    from unhorse.bench.plan import Given, Unit, as_in_paper, parse_methods, plan
    from unhorse.bench.run import Done, Runner
    from unhorse.bench.stock import Stock
    from unhorse.bench.table import markdown, rows_of
    from unhorse.invert.base import METHODS
    from unhorse.invert.budget import parse_budget
    from unhorse.invert.run import WITH_REFERENCE, plan_passes
    from unhorse.learn.distil import DISTILL, check_base
    from unhorse.runtime import choose_runtime

    check_installed()
    check_writable(table)
    check_folder(out)
    check_folder((log or log_beside(out)).parent)
    if distill:
        check_base([DISTILL], base)
        if paper or not reference:
            raise UsageError("--distill goes with neither --paper nor --no-reference.")
    if paper and not (reference and samples and reference_seed == 0):
        raise UsageError("--paper says itself what a scan is given.")
    if remove is not None and (option or device):
        raise UsageError("--set and --device are for scans; removals have their usual settings.")
    if methods == EVERY:
        # What is removed is what the usual scan has found.
        methods = WITH_REFERENCE if remove is not None else ",".join(METHODS.names())
    asked = parse_methods(methods)
    settings = options.settings(
        None,
        options=option,
        budget=budget,
        samples_per_class=samples_per_class,
        heldout_per_class=heldout_per_class,
        max_tokens=max_tokens,
        device=device,
        base=base if distill else None,
    )
    for method in asked:
        chosen = settings.model_copy(update={"method": method.method, "preset": method.preset})
        plan_passes(chosen)
    choose_runtime(settings.device, settings.dtype)
    if budget is not None:
        parse_budget(budget)
    console = make_console(quiet)

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    opened = Opened(suite, zoo, data)
    opened.check_names(only)
    stock = Stock(opened.entries, opened.place, opened.path.parent, build=build, say=say)
    drawn_by = reference_seed if reference and not distill else None
    given = Given(drawn_by, samples, distilled=distill)
    given = replace(as_in_paper(opened.suite.task) if paper else given, budget=budget)
    units = plan(opened.entries, asked, seeds, split or (), only or (), given)
    if not units:
        raise UsageError("There is nothing to do: no model of the suite is asked for.")
    seconds = None if minutes is None else minutes * 60
    looks = Log(log or log_beside(out), opened.suite.name, reason)
    if remove is not None:
        # Before the removal: one that is killed has looked at the model, too.
        clinic = Clinic(
            stock, out, base, begun=lambda treatment: looks.look(treatment.unit, treatment.method)
        )
        raise typer.Exit(_remove(say, clinic, units, remove, amounts, seconds))

    def begun(unit: Unit) -> ScanBar:
        # Before the scan: one that is killed has looked at the model, too.
        looks.look(unit)
        return ScanBar(console, f"{_name(unit)} ")

    runner = Runner(stock, out, settings.model_dump(), begun)
    done: list[Done] = []
    for one in runner.run(units, seconds):
        done.append(one)
        _tell(say, done, len(units))
    problems = [f"{_name(one.unit)}: {one.problem}" for one in done if one.result is None]
    for problem in problems:
        say(f"{'missing':<13} {problem}")
    planned = Counter(unit.asked.label for unit in units)
    rows = rows_of([one.result for one in done if one.result is not None], dict(planned))
    _show(console, rows)
    note = audited(read_audits(audits) if audits else {}, [opened.suite.name])
    say(note)
    if table is not None:
        write_text(table, markdown(rows, note))
    raise typer.Exit(EXIT_NOT_CLEARED if problems else 0)


def _remove(
    say: Callable[[str], None],
    clinic: Any,
    units: Sequence[Any],
    methods: str,
    amounts: str,
    seconds: float | None,
) -> int:
    """Makes the removals after the scans of these units; the exit code."""
    from unhorse.bench.cure import parse_amounts, parse_removals, plan_treatments

    planned = plan_treatments(units, parse_removals(methods), parse_amounts(amounts))
    problems = 0
    for number, one in enumerate(clinic.run(planned, seconds), 1):
        asked = one.treatment
        name = f"{asked.unit.name} {asked.method} {asked.amount.text}"
        if one.cure is None:
            problems += 1
            say(f"{'missing':<8} {name}: {one.problem}")
        elif one.made_now:
            cure, left = one.cure, len(planned) - number
            say(
                f"{'removed':<8} {name}  ASR {cure.asr_before:.2f} -> {cure.asr_after:.2f}  "
                f"clean {cure.clean_before:.3f} -> {cure.clean_after:.3f}  "
                f"{cure.seconds:.0f} s  ({left} left)"
            )
    return EXIT_NOT_CLEARED if problems else 0


def _name(unit: Any) -> str:
    return f"{unit.name} {unit.asked.label} seed {unit.seed}"


def _tell(say: Callable[[str], None], done: Sequence[Any], planned: int) -> None:
    """One line for a scan that was made just now, with how long the rest may take."""
    last = done[-1]
    if not last.made_now:
        return
    seconds = [one.result.seconds for one in done if one.made_now]
    left = planned - len(done)
    most = duration(left * sum(seconds) / len(seconds))
    line = f"{last.result.state:<13} {_name(last.unit)}  {last.result.seconds:.0f} s"
    say(f"{line}  ({left} left, at most {most})")


def _show(console: Console, rows: Sequence[Any]) -> None:
    from unhorse.bench.table import COLUMNS

    shown = Table(box=None, pad_edge=False, header_style="dim")
    for name in COLUMNS:
        shown.add_column(name, no_wrap=True)
    for row in rows:
        shown.add_row(*row.cells())
    console.print(shown)
