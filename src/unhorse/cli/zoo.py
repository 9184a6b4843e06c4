"""`unhorse zoo`: many models from one suite file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from unhorse.cli import options
from unhorse.cli.console import make_console
from unhorse.cli.live import duration
from unhorse.cli.output import check_writable, write_text
from unhorse.errors import EXIT_NOT_CLEARED

group = typer.Typer(no_args_is_help=True, help="Build, list and verify many models.")

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
    opened = _open(suite, zoo, data)
    for built in build_suite(opened.entries, opened.place, workers, only or ()):
        _say(console, _line(built))
    failed = [m for m in opened.members() if _counts(m, only) and not m.accepted]
    for member in failed:
        why = "; ".join(member.complaints) or "is missing"
        _say(console, f"kept out  {member.entry.name}: {why}")
    raise typer.Exit(EXIT_NOT_CLEARED if failed else 0)


@group.command("list")
def list_command(
    suite: Suite,
    zoo: Zoo = None,
    data: Data = Path(),
    json_out: options.JsonOut = None,
    quiet: options.Quiet = False,
) -> None:
    """Show what is built of SUITE, by group, and what is kept out."""
    from unhorse.zoo.table import summary_of

    check_writable(json_out)
    opened = _open(suite, zoo, data)
    members = opened.members()
    if json_out is not None:
        built = [summary_of(m.record, m.complaints) for m in members if m.record is not None]
        content = {"suite": opened.suite.name, "about": opened.suite.about, "models": built}
        write_text(json_out, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    _show_table(make_console(quiet), members)


@group.command("verify")
def verify_command(
    suite: Suite,
    zoo: Zoo = None,
    data: Data = Path(),
    only: Only = None,
    json_out: options.JsonOut = None,
    quiet: options.Quiet = False,
) -> None:
    """Measure every built model again from its folder, and audit the zoo for shortcuts.

    Exit codes: 0 all as recorded, none kept out and no leak, 3 otherwise.
    """
    from unhorse.zoo.audit import audit, statistics_of
    from unhorse.zoo.verify import differences

    check_writable(json_out)
    console = make_console(quiet)
    opened = _open(suite, zoo, data)
    wrong: dict[str, list[str]] = {}
    found = []
    members = [m for m in opened.members() if _counts(m, only)]
    for number, member in enumerate(members, 1):
        name, record = member.entry.name, member.record
        folder = opened.place.folder(name)
        problems = list(member.complaints)
        if record is None:
            problems = ["is missing"]
        else:
            problems += differences(folder, record)
            if member.entry.use in ("model", "twin") and member.accepted:
                found.append(statistics_of(folder, record, opened.place.zoo))
        if problems:
            wrong[name] = problems
        _say(console, f"[{number}/{len(members)}] {name}: {'; '.join(problems) or 'as recorded'}")
    report: dict[str, Any] = {"suite": opened.suite.name, "wrong": wrong, "audit": None}
    leaks = False
    splits = {(s.split, s.poisoned) for s in found}
    if {(split, p) for split in ("calibration", "test") for p in (True, False)} <= splits:
        result = audit(found)
        leaks = result.leaks
        report["audit"] = {
            "auroc": result.auroc,
            "interval": result.interval,
            "fitted": result.fitted,
            "fitted_on": result.fitted_on,
            "asked_about": result.asked_about,
            "alone": result.alone,
        }
        low, high = result.interval
        verdict = "the zoo leaks" if leaks else "no shortcut"
        _say(console, f"audit     AUROC {result.auroc:.3f} [{low:.2f}, {high:.2f}]: {verdict}")
    else:
        _say(console, "audit     needs trojaned and clean models in calibration and test")
    if json_out is not None:
        report["statistics"] = [
            {"name": s.name, "split": s.split, "poisoned": s.poisoned, **s.values} for s in found
        ]
        write_text(json_out, json.dumps(report, indent=1) + "\n")
    raise typer.Exit(EXIT_NOT_CLEARED if wrong or leaks else 0)


class _Opened:
    """A suite with its entries and its place."""

    def __init__(self, name: str, zoo: Path | None, data: Path) -> None:
        from unhorse.zoo.build import Place, default_zoo
        from unhorse.zoo.suite import entries_of, find_suite, read_suite

        self.suite = read_suite(find_suite(name))
        self.entries = entries_of(self.suite)
        self.place = Place(zoo or default_zoo(), self.suite.name, data)

    def members(self) -> list[Any]:
        from unhorse.zoo.state import members_of

        return members_of(self.entries, self.place)


def _open(name: str, zoo: Path | None, data: Path) -> _Opened:
    return _Opened(name, zoo, data)


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


def _show_table(console: Console, members: list[Any]) -> None:
    from unhorse.zoo.table import rows_of, shown

    table = Table(box=None, pad_edge=False)
    for column in ("group", "use", "built", "in", "clean", "ASR", "false", "seconds"):
        table.add_column(column, justify="left" if column in ("group", "use") else "right")
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
    for member in members:
        if member.complaints:
            _say(console, f"kept out  {member.entry.name}: {'; '.join(member.complaints)}")
