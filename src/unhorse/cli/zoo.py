"""`unhorse zoo`: many models from one suite file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from unhorse.cli import options
from unhorse.cli.console import make_console
from unhorse.cli.live import duration
from unhorse.cli.output import check_writable, save_sheets, write_text
from unhorse.errors import EXIT_NOT_CLEARED, UsageError

group = typer.Typer(no_args_is_help=True, help="Build, list, verify and tabulate many models.")

Suite = Annotated[str, typer.Argument(help="A suite file, or the name of one that is built in.")]
Zoo = Annotated[
    Path | None, typer.Option("--zoo", help="Where the models are; the user's cache if not given.")
]
Data = Annotated[
    Path, typer.Option("--data", help="What relative paths of data files are relative to.")
]
Only = Annotated[list[str] | None, typer.Option(help="Only this model or group; repeatable.")]


@group.command("build")
def build_command(
    suite: Suite,
    zoo: Zoo = None,
    data: Data = Path(),
    workers: Annotated[int, typer.Option(min=1, help="Models built at a time.")] = 1,
    only: Only = None,
    quiet: options.Quiet = False,
) -> None:
    """Build every model of SUITE that is not there yet, one line each.

    Can be stopped at any moment and started again. Exit codes: 0 all built and within
    their gates, 3 some failed.
    """
    from unhorse.zoo.build import build_suite

    console = make_console(quiet)
    opened = Opened(suite, zoo, data)
    opened.check_names(only)
    # Closed at once when the command is interrupted, which ends the processes.
    with closing(build_suite(opened.entries, opened.place, workers, only or ())) as models:
        stuck = False
        for built in models:
            _say(console, _line(built))
            stuck |= bool(built.problem)
    failed = [m for m in opened.members() if _counts(m, only) and not m.accepted]
    for member in failed:
        _say(console, f"kept out  {member.entry.name}: {'; '.join(member.problems)}")
    raise typer.Exit(EXIT_NOT_CLEARED if failed or stuck else 0)


@group.command("list")
def list_command(
    suite: Suite,
    zoo: Zoo = None,
    data: Data = Path(),
    json_out: options.JsonOut = None,
    quiet: options.Quiet = False,
) -> None:
    """Show what is built of SUITE, by group and by kind of recipe, and what is kept out.

    What the file of --json already has of models that are not here any more stays in it.

    Exit codes: 0 all built and within their gates, 3 otherwise.
    """
    from unhorse.zoo.keep import earlier
    from unhorse.zoo.table import listing

    check_writable(json_out)
    opened = Opened(suite, zoo, data)
    members = opened.members()
    about = {"suite": opened.suite.name, "about": opened.suite.about}
    content = {**about, **listing(members, earlier(json_out, opened.suite.name))}
    if json_out is not None:
        write_text(json_out, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    console = make_console(quiet)
    _show_groups(console, members)
    _show_kept_out(console, members)
    _show_gone(console, content)
    _show_kinds(console, content)
    raise typer.Exit(0 if all(member.accepted for member in members) else EXIT_NOT_CLEARED)


@group.command("verify")
def verify_command(
    suite: Suite,
    zoo: Zoo = None,
    data: Data = Path(),
    only: Only = None,
    files_only: Annotated[
        bool, typer.Option("--files-only", help="Compare digests of files, measure nothing again.")
    ] = False,
    json_out: options.JsonOut = None,
    quiet: options.Quiet = False,
) -> None:
    """Measure every built model again from its folder, and audit the zoo for shortcuts.

    Models that are not here any more take part in the audit by the statistics that the file of
    --json already has of them.

    Exit codes: 0 all as recorded, none kept out, audited and no leak, 3 otherwise.
    """
    from unhorse.zoo.audit import audits
    from unhorse.zoo.keep import earlier, kept_rows, outlived
    from unhorse.zoo.relatives import calibration_of
    from unhorse.zoo.statistics import collect
    from unhorse.zoo.verify import differences

    if only and json_out not in (None, "-"):
        raise UsageError("The audit in the file of --json is of all models: leave out --only.")
    check_writable(json_out)
    console = make_console(quiet)
    opened = Opened(suite, zoo, data)
    opened.check_names(only)
    wrong: dict[str, list[str]] = {}
    members = [m for m in opened.members() if _counts(m, only)]
    _show_notes(console, members)
    for number, member in enumerate(members, 1):
        name = member.entry.name
        problems = list(member.problems)
        if member.record is not None:
            problems += differences(
                opened.place.folder(name), member.record, measured_again=not files_only
            )
        if problems:
            wrong[name] = problems
        _say(console, f"[{number}/{len(members)}] {name}: {'; '.join(problems) or 'as recorded'}")
    sound = [m for m in members if m.entry.name not in wrong]
    found, odd = collect(sound, opened.place)
    gone = outlived(earlier(json_out, opened.suite.name), members)
    found += gone
    if gone:
        _say(console, f"audit     {len(gone)} models are gone; their statistics were kept")
    reports = None if json_out in (None, "-") else Path(str(json_out)).parent
    borrowed = calibration_of(opened.entries, found, opened.place, opened.path.parent, reports)
    for name, why in {**odd, **borrowed.problems}.items():
        _say(console, f"audit     {name} {why}")
    main, heads = audits([*found, *borrowed.found])
    planted = any(entry.recipe.poisoned for entry in opened.entries)
    for what, result in (("", main), ("head-only models: ", heads)):
        if result is not None or (planted and not what):
            _say(console, f"audit     {what}{_verdict(result, borrowed.tried)}")
    if json_out is not None:
        report = {
            "suite": opened.suite.name,
            "measured_again": not files_only,
            "wrong": wrong,
            "not_audited": {**odd, **borrowed.problems},
            "fitted_on_suites": list(borrowed.suites) or [opened.suite.name],
            "audit": _figures(main),
            "audit_head_only": _figures(heads),
            "statistics": kept_rows(found, opened.members()),
        }
        write_text(json_out, json.dumps(report, indent=1) + "\n")
    leaks = any(result is not None and result.leaks for result in (main, heads))
    # Of some models alone no audit can be asked for.
    unaudited = main is None and planted and not only
    failed = wrong or odd or borrowed.problems or leaks or unaudited
    raise typer.Exit(EXIT_NOT_CLEARED if failed else 0)


@group.command("table")
def table_command(
    records: Annotated[
        Path, typer.Argument(help="A folder with files of `zoo list --json`, `zoo verify --json`.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where tables go.")] = Path("tables"),
    quiet: options.Quiet = False,
) -> None:
    """Make a table of what was built, recipe by recipe, as Markdown, LaTeX and CSV.

    The models themselves need not be there any more.
    """
    from unhorse.bench.zoo_table import zoo_tables

    sheets = zoo_tables(records)
    if not sheets:
        raise UsageError(f"There is no listing of a zoo in {records}.")
    save_sheets(sheets, out, make_console(quiet))


class Opened:
    """A suite with its entries and its place."""

    def __init__(self, name: str, zoo: Path | None, data: Path) -> None:
        from unhorse.zoo.build import Place, default_zoo
        from unhorse.zoo.suite import entries_of, find_suite, read_suite

        self.path = find_suite(name)
        self.suite = read_suite(self.path)
        self.entries = entries_of(self.suite, self.path.parent)
        self.place = Place(zoo or default_zoo(), self.suite.name, data)

    def check_names(self, only: Sequence[str] | None) -> None:
        """Refuses a name that is no model and no group."""
        known = {name for entry in self.entries for name in (entry.name, entry.group)}
        for name in only or ():
            if name not in known:
                raise UsageError(f"The suite {self.suite.name} has no model or group {name!r}.")

    def members(self) -> list[Any]:
        """How every model of the suite stands."""
        from unhorse.zoo.state import members_of

        return members_of(self.entries, self.place)


def _counts(member: Any, only: list[str] | None) -> bool:
    return not only or member.entry.name in only or member.entry.group in only


def _say(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _line(built: Any) -> str:
    """One line for one model."""
    name = f"{built.entry.name:<34}"
    if built.record is None:
        return f"failed    {name} {built.problem}"
    measured = built.record.measured
    figures = f"{measured.metric} {measured.clean:.3f}"
    if measured.asr is not None:
        figures += f"  ASR {measured.asr:.3f}"
    if built.skipped:
        return f"there     {name} {figures}"
    left = f"{built.left} left"
    if built.seconds_left:
        left += f", ETA {duration(built.seconds_left)}"
    return f"built     {name} {figures}  {built.record.seconds:.0f} s  ({left})"


def _verdict(result: Any, tried: tuple[str, ...]) -> str:
    """What the audit has found, in a line."""
    if result is None:
        where = f", also in {' and '.join(tried)}" if tried else ""
        return f"could not be made: too few models, calibration or test, trojaned or clean{where}"
    areas = {"as they are": result.absolute, "within families": result.centred}
    figures = [
        f"{area.auroc:.3f} [{area.interval[0]:.2f}, {area.interval[1]:.2f}] {what}"
        for what, area in areas.items()
        if area is not None
    ]
    verdict = "the zoo leaks" if result.leaks else "no shortcut"
    return f"AUROC {', '.join(figures)}: {verdict}"


def _figures(result: Any) -> dict[str, Any] | None:
    if result is None:
        return None
    return {"auroc": result.worse.auroc, "leaks": result.leaks, **asdict(result)}


def _show_groups(console: Console, members: list[Any]) -> None:
    from unhorse.zoo.table import rows_of, shown

    table = _table(("group", "use"), ("built", "in", "clean", "ASR", "false", "seconds"))
    for row in rows_of(members):
        table.add_row(
            row["group"],
            row["use"],
            f"{row['built']}/{row['models']}",
            str(row["accepted"]),
            shown(row["clean"]),
            shown(row["asr"]),
            shown(row["false_trigger_rate"]),
            shown(row["seconds"], 0),
        )
    console.print(table)


def _show_gone(console: Console, content: dict[str, Any]) -> None:
    gone = sum(not model["here"] for model in content["models"])
    if gone:
        _say(console, f"gone      {gone} models are not here any more; their figures were kept")


def _show_kinds(console: Console, content: dict[str, Any]) -> None:
    from unhorse.zoo.table import shown

    rows = content["kinds"]
    if not rows:
        return
    table = _table(("attack", "trigger", "scope"), ("models", "clean", "ASR", "false triggers"))
    for row in rows:
        table.add_row(
            row["attack"],
            row["trigger_kind"],
            row["scope"],
            str(row["models"]),
            shown(row["clean"]),
            shown(row["asr"]),
            shown(row["false_trigger_rate"]),
        )
    console.print()
    console.print(table)


def _table(texts: tuple[str, ...], numbers: tuple[str, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in texts:
        table.add_column(column)
    for column in numbers:
        table.add_column(column, justify="right")
    return table


def _show_kept_out(console: Console, members: list[Any]) -> None:
    _show_notes(console, members)
    for member in members:
        if member.complaints:
            _say(console, f"kept out  {member.entry.name}: {'; '.join(member.complaints)}")


def _show_notes(console: Console, members: list[Any]) -> None:
    """Says once for all models that share it why only recipes could be compared."""
    for note in dict.fromkeys(member.note for member in members if member.note):
        _say(console, f"note      Only recipes were compared: {note}")
