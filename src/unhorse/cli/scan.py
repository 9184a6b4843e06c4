"""`unhorse scan`: scans a model for a backdoor."""

from __future__ import annotations

from typing import Annotated

import typer

from unhorse.cli import options
from unhorse.cli.console import make_console
from unhorse.cli.live import LiveProgress
from unhorse.cli.output import check_writable, write_text


def command(
    model: options.Model,
    samples: options.Samples = None,
    reference: options.References = None,
    base: options.Base = None,
    json_out: options.JsonOut = None,
    seed: options.Seed = None,
    method: options.Method = None,
    preset: options.Preset = None,
    option: options.Options = None,
    budget: options.Budget = None,
    position: options.Positions = None,
    schedule: options.Schedule = None,
    profile: options.Profile = None,
    text_field: options.TextField = None,
    label_field: options.LabelField = None,
    samples_per_class: options.SamplesPerClass = None,
    heldout_per_class: options.HeldoutPerClass = None,
    max_tokens: options.MaxTokens = None,
    device: options.Device = None,
    dtype: options.Dtype = None,
    fail_on: Annotated[
        str | None, typer.Option(help="Weakest verdict that exits 1: backdoored or suspicious.")
    ] = None,
    config: options.ConfigFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Scan MODEL (a folder, or a hub id such as org/name@revision) for a backdoor.

    Exit codes: 0 nothing found, 1 backdoored, 2 wrong usage, 3 not cleared,
    4 model refused, 5 internal error, 130 interrupted.
    """
    from unhorse.report.terminal import show_report
    from unhorse.scanner import scan

    check_writable(json_out)
    settings = options.settings(
        config,
        base=base,
        seed=seed,
        method=method,
        preset=preset,
        options=option,
        budget=budget,
        positions=position,
        schedule=schedule,
        profile=profile,
        text_field=text_field,
        label_field=label_field,
        samples_per_class=samples_per_class,
        heldout_per_class=heldout_per_class,
        max_tokens=max_tokens,
        device=device,
        dtype=dtype,
        fail_on=fail_on,
    )
    console = make_console(quiet)
    progress = LiveProgress(console)
    try:
        report = scan(model, None, samples, reference or (), config=settings, progress=progress)
    finally:
        progress.close()
    try:
        if json_out is not None:
            write_text(json_out, report.to_json())
    finally:
        show_report(report, console)
    raise typer.Exit(report.exit_code(settings.fail_on))
