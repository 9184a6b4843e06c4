"""`unhorse calibrate`: learns the decision from results of labelled models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unhorse.cli import options
from unhorse.cli.console import make_console
from unhorse.cli.output import check_writable, write_text

if TYPE_CHECKING:
    from unhorse.judge.profile import MeasuredRate, Profile


def command(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RESULTS", help="Result files of bench, or folders of them."),
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="Write the profile here; - is stdout.")],
    method: Annotated[
        str | None, typer.Option(help="Only this method, such as dbs or dbs:paper.")
    ] = None,
    task: Annotated[str | None, typer.Option(help="Only this task.")] = None,
    reference: Annotated[
        bool | None, typer.Option(help="Only scans with, or without, a clean model.")
    ] = None,
    samples: Annotated[
        bool | None, typer.Option(help="Only scans with, or without, samples.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="Only scans with this budget; without any if not given.")
    ] = None,
    schedule: Annotated[
        str | None, typer.Option(help="Only scans whose arms had this schedule.")
    ] = None,
    distilled: Annotated[
        bool, typer.Option("--distilled", help="Only scans that made their reference themselves.")
    ] = False,
    labels: Annotated[
        int | None, typer.Option(min=2, help="Only models with so many labels.")
    ] = None,
    split: Annotated[
        list[str] | None, typer.Option(help="Learn from this split; repeatable.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Learn even from a split that figures are quoted on.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn from RESULTS when a finding convicts, and write a PROFILE for `scan --profile`.

    One profile is for one method and task, with or without a reference.
    """
    from unhorse.calibrate.make import make_profile
    from unhorse.calibrate.rates import check_installed
    from unhorse.calibrate.read import Choice, read_chosen

    check_installed()
    check_writable(out)
    splits = tuple(split) if split else Choice.splits
    choice = Choice(
        splits, method, task, reference, samples, budget, schedule, distilled, labels, force
    )
    chosen = read_chosen(results, choice)
    console = make_console(quiet)
    with console.status(f"learning from {len(chosen)} scans"):
        profile = make_profile(chosen)
    write_text(out, profile.to_json())
    for line in summary(profile):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def summary(profile: Profile) -> list[str]:
    """A profile for people."""
    weights = ", ".join(f"{name} {value:.2f}" for name, value in profile.weights.items())
    lines = [
        f"profile {profile.id}: {profile.trojaned} trojaned and {profile.clean} clean models",
        f"weights: {weights}, bias {profile.bias:.2f}",
        f"backdoored from {profile.convict:.2f} on, suspicious from {profile.suspect:.2f} on",
    ]
    for name, of in (
        (f"left out by {profile.left_out_by}", profile.left_out),
        ("on the models learnt from", profile.in_sample),
    ):
        rates = f"convicted {_rate(of.true_positives)} of the trojaned"
        rates += f" and {_rate(of.false_positives)} of the clean"
        auroc = "" if of.auroc is None else f", AUROC {of.auroc:.2f}"
        lines.append(f"{name}: {rates}{auroc}")
    return lines


def _rate(measured: MeasuredRate) -> str:
    low, high = measured.interval
    return f"{measured.rate:.0%} ({low:.0%} to {high:.0%})"
