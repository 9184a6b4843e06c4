"""`unhorse tables`: the tables of the benchmark from its result files alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unhorse.cli import options
from unhorse.cli.console import make_console
from unhorse.cli.output import save_sheets
from unhorse.errors import UsageError

if TYPE_CHECKING:
    from unhorse.bench.result import Result

SHIPPED = "shipped"


def command(
    results: Annotated[Path, typer.Argument(help="A folder with results of `unhorse bench`.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where tables go.")] = Path("tables"),
    split: Annotated[
        list[str] | None, typer.Option(help="What tables are about; test if not given.")
    ] = None,
    audits: Annotated[
        Path | None, typer.Option(help="A folder with files of `unhorse zoo verify --json`.")
    ] = None,
    suites: Annotated[
        Path | None, typer.Option(help="A folder with suite files that are not built in.")
    ] = None,
    profiles: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Decide anew by the profiles in this folder; shipped names the package's own.",
        ),
    ] = None,
    timing: Annotated[
        Path | None,
        typer.Option(help="A folder with results of a quiet run, which seconds are taken from."),
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="The method that is tested against all others (focus).")
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Make Tables 1 to 4, paired tests and repetitions as Markdown, LaTeX and CSV.

    Thresholds of the paper's protocol are learnt on the results of the calibration split,
    so those must be in RESULTS as well. unhorse's own verdicts are those of the scans,
    unless profiles are named.
    """
    from unhorse.bench.audits import read_audits
    from unhorse.bench.cure import read_cures
    from unhorse.bench.metrics import check_installed
    from unhorse.bench.rejudge import rejudged
    from unhorse.bench.result import read_results
    from unhorse.bench.tables import all_tables
    from unhorse.invert.run import WITH_REFERENCE
    from unhorse.judge.profile import shipped_profiles

    check_installed()
    found = read_results(results)
    if not found:
        raise UsageError(f"There is no result in {results}.")
    if profiles is not None:
        ours = list(shipped_profiles(None if profiles == SHIPPED else Path(profiles)))
        if not ours:
            raise UsageError(f"There is no profile in {profiles}.")
        found = [rejudged(result, ours) for result in found]
    if against is not None and all(result.label != against for result in found):
        raise UsageError(f"No result in {results} is of the method {against}.")
    sheets = all_tables(
        found,
        split or ["test"],
        read_audits(audits) if audits else {},
        suites,
        against or WITH_REFERENCE,
        read_cures(results),
        _timings(timing),
    )
    if not sheets:
        about = " and ".join(split or ["test"])
        raise UsageError(f"No result in {results} is of the split {about}, as suites are today.")
    save_sheets(sheets, out, make_console(quiet))


def _timings(folder: Path | None) -> Sequence[Result]:
    from unhorse.bench.result import read_results

    found = [] if folder is None else read_results(folder)
    if folder is not None and not found:
        raise UsageError(f"There is no result in {folder}.")
    return found
