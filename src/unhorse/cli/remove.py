"""`unhorse remove`: takes a backdoor out of a model and proves it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unhorse.cli import options
from unhorse.cli.console import make_console
from unhorse.cli.output import check_writable, write_text
from unhorse.errors import UsageError

Out = Annotated[Path, typer.Option("--out", "-o", help="The folder to make; must not exist.")]
Report = Annotated[
    Path | None, typer.Option(help="The JSON report of the scan whose findings are removed.")
]
Method = Annotated[
    str | None,
    typer.Option(
        help="unlearn (default), ascent, finetune, reset-embeddings, fine-prune, fine-mix "
        "or distill."
    ),
]
Base = Annotated[
    str | None, typer.Option(help="The checkpoint that MODEL was fine-tuned from; some need it.")
]
TriggerText = Annotated[str | None, typer.Option("--trigger", help="A trigger given by hand.")]
Victim = Annotated[str | None, typer.Option(help="What the given trigger moves away from.")]
Target = Annotated[str | None, typer.Option(help="What the given trigger moves to.")]
UntilClean = Annotated[
    int | None,
    typer.Option(metavar="N", help="Scan, remove, scan until nothing is found, N times at most."),
]
MaxDrop = Annotated[
    float | None, typer.Option(metavar="P", help="Points that the clean metric may fall (2).")
]
AttackRecord = Annotated[
    Path | None, typer.Option(help="An attack.json, to measure the true trigger as well.")
]
Control = Annotated[
    bool | None,
    typer.Option(
        "--control/--no-control",
        help="Measure plain fine-tuning on the same samples beside the method.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Write the model even where proof failed.")]
References = Annotated[
    list[str] | None,
    typer.Option(help="A clean model for the re-scan; those of the report if not given."),
]
Budget = Annotated[
    str | None, typer.Option(help="Work of a re-scan; that of the report if not given.")
]


def command(
    model: options.Model,
    out: Out,
    report: Report = None,
    samples: options.Samples = None,
    method: Method = None,
    base: Base = None,
    trigger: TriggerText = None,
    victim: Victim = None,
    target: Target = None,
    until_clean: UntilClean = None,
    max_drop: MaxDrop = None,
    attack_record: AttackRecord = None,
    control: Control = None,
    force: Force = False,
    json_out: options.JsonOut = None,
    seed: options.Seed = None,
    option: options.Options = None,
    reference: References = None,
    budget: Budget = None,
    text_field: options.TextField = None,
    label_field: options.LabelField = None,
    max_tokens: options.MaxTokens = None,
    device: options.Device = None,
    config: options.ConfigFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Take the backdoor out of MODEL and write the cleaned model, proven, to a new folder.

    Exit codes: 0 proven, 1 still convicted or the clean metric fell (nothing is written
    without --force), 2 wrong usage, 3 could not be judged (written, and its card says so),
    4 model refused or the report is of another model, 5 internal error, 130 interrupted.
    """
    from unhorse.cli.removing import LiveRemoval, describe
    from unhorse.cli.training import check_new_folder
    from unhorse.remove.run import remove_backdoor

    _check_outside(model, out, json_out)
    check_new_folder(out)
    check_writable(json_out)
    settings = _settings(
        config,
        option,
        budget,
        method=method,
        seed=seed,
        until_clean=until_clean,
        max_drop=max_drop,
        control=control,
        text_field=text_field,
        label_field=label_field,
        max_tokens=max_tokens,
        device=device,
    )
    console = make_console(quiet)
    progress = LiveRemoval(console)
    try:
        removed = remove_backdoor(
            model,
            None,
            samples,
            report=report,
            trigger=trigger,
            victim=victim,
            target=target,
            base=base,
            references=reference,
            attack_record=attack_record,
            config=settings,
            progress=progress,
        )
    finally:
        progress.close()
    written = force or removed.report.outcome.state != "failed"
    if json_out is not None:
        # First, so that a full disk does not cost the proof as well.
        write_text(json_out, removed.report.to_json())
    if written:
        removed.save(out)
    where = f"{out}" if written else "not written; --force writes it all the same"
    for line in (*describe(removed.report), f"model     {where}"):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(removed.report.exit_code())


def _check_outside(model: str, out: Path, json_out: str | None) -> None:
    """The folder of the model that came is never written to."""
    inside = Path(model).resolve()
    for place in (out, *([] if json_out in (None, "-") else [Path(str(json_out))])):
        if inside.is_dir() and place.resolve().is_relative_to(inside):
            raise UsageError(f"{place} is inside the model's folder, which is never changed.")


def _settings(
    file: Path | None, assignments: list[str] | None, budget: str | None, **flags: Any
) -> Any:
    """The configuration from a file, overridden by flags."""
    from unhorse.config import read_toml
    from unhorse.remove.config import make_remove_config

    base = read_toml(file) if file else {}
    if assignments:
        flags["options"] = {**options.table_in(base, "options"), **options.assignments(assignments)}
    if budget is not None:
        flags["scan"] = {**options.table_in(base, "scan"), "budget": budget}
    return make_remove_config(base, **flags)
