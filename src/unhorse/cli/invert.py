"""`unhorse invert`: one arm with all its curves, for researchers."""

from __future__ import annotations

from typing import Annotated

import typer

from unhorse.cli import options
from unhorse.cli.console import make_console
from unhorse.cli.live import LiveProgress
from unhorse.cli.output import check_writable, write_text
from unhorse.errors import EXIT_INTERRUPTED, EXIT_NOT_CLEARED


def command(
    model: options.Model,
    victim: Annotated[
        str,
        typer.Option(help="Label or entity class to move away from (* is every other), or answer."),
    ],
    target: Annotated[
        str, typer.Option(help="Label, entity class or O to move to; null or trigger.")
    ],
    position: Annotated[
        str | None,
        typer.Option(help="Where the trigger goes; every usual place if not given."),
    ] = None,
    samples: options.Samples = None,
    reference: options.References = None,
    base: options.Base = None,
    json_out: options.JsonOut = None,
    figure: Annotated[
        str | None, typer.Option(metavar="PNG", help="Draw the curves (needs matplotlib).")
    ] = None,
    seed: options.Seed = None,
    method: options.Method = None,
    preset: options.Preset = None,
    option: options.Options = None,
    budget: options.Budget = None,
    text_field: options.TextField = None,
    label_field: options.LabelField = None,
    samples_per_class: options.SamplesPerClass = None,
    heldout_per_class: options.HeldoutPerClass = None,
    max_tokens: options.MaxTokens = None,
    device: options.Device = None,
    dtype: options.Dtype = None,
    config: options.ConfigFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Invert the triggers of MODEL that send VICTIM to TARGET at one POSITION.

    The report has the same form as that of a scan, with these arms only. Exit code 0
    means that they completed, whatever was found.
    """
    from unhorse.report.curves import check_drawable, draw_curves, show_curves
    from unhorse.report.terminal import show_report
    from unhorse.scanner import scan

    check_writable(json_out)
    check_writable(figure)
    if figure is not None:
        check_drawable(figure)
    settings = options.settings(
        config,
        victim=victim,
        target=target,
        positions=None if position is None else [position],
        base=base,
        seed=seed,
        method=method,
        preset=preset,
        options=option,
        budget=budget,
        text_field=text_field,
        label_field=label_field,
        samples_per_class=samples_per_class,
        heldout_per_class=heldout_per_class,
        max_tokens=max_tokens,
        device=device,
        dtype=dtype,
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
        show_curves(report, console)
        show_report(report, console)
    if figure is not None:
        draw_curves(report, figure)
    if report.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
    whole = report.arms.run + report.arms.pruned == report.arms.planned
    raise typer.Exit(0 if whole else EXIT_NOT_CLEARED)
