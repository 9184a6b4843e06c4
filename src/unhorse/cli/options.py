"""Flags that several commands share; every one fills a field of `ScanConfig`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from unhorse.config import ScanConfig, make_config, read_toml
from unhorse.errors import UsageError

Model = Annotated[str, typer.Argument(metavar="MODEL", help="Model folder or hub id.")]
Samples = Annotated[
    str | None,
    typer.Option(
        help="JSONL, CSV, TSV, CoNLL or SQuAD file, folder of texts, or a dataset name; "
        "none: unhorse writes texts."
    ),
]
References = Annotated[
    list[str] | None,
    typer.Option(
        help="A clean model for the same task, or distill to make one from MODEL and --base; "
        "may be given several times."
    ),
]
Base = Annotated[
    str | None,
    typer.Option(help="The checkpoint that MODEL was fine-tuned from, for --reference distill."),
]
JsonOut = Annotated[
    str | None, typer.Option("--json", metavar="OUT", help="Write the report here; - is stdout.")
]
Seed = Annotated[int | None, typer.Option(help="Decides every random draw.")]
Method = Annotated[
    str | None, typer.Option(help="Inversion method; focus with a reference, else dbs.")
]
Preset = Annotated[str | None, typer.Option(help="Named set of the method's constants.")]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="One constant of the method; may be given several times.",
    ),
]
Positions = Annotated[
    list[str] | None,
    typer.Option(
        help="Where the trigger goes; repeatable. Texts: start, first_half, second_half, end; "
        "entities also: before, glued; questions: context, question, both."
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        help="How much work: quick, standard, thorough (a quarter of, as much as, four times a "
        "plain DBS run), <N>s or <N>tok."
    ),
]
Schedule = Annotated[
    str | None,
    typer.Option(help="How arms share the epochs: auto, all, top2, ways, halving or bandit."),
]
Profile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|none",
        help="The calibrated decision to use; the shipped one that fits if not given.",
    ),
]
TextField = Annotated[str | None, typer.Option(help="Column or key of the text, words or context.")]
LabelField = Annotated[str | None, typer.Option(help="Column or key of label, tags or answers.")]
SamplesPerClass = Annotated[int | None, typer.Option(help="Samples per class to invert on.")]
HeldoutPerClass = Annotated[int | None, typer.Option(help="Samples per class held out, at most.")]
MaxTokens = Annotated[int | None, typer.Option(help="Texts are cut to this many tokens.")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, mps or auto.")]
Dtype = Annotated[str | None, typer.Option(help="fp32, bf16 or auto.")]
ConfigFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="TOML file with the same fields as the flags.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def settings(file: Path | None, *, options: list[str] | None = None, **flags: Any) -> ScanConfig:
    """The configuration from a file, overridden by flags."""
    base = read_toml(file) if file else {}
    if options:
        flags["options"] = {**table_in(base, "options"), **assignments(options)}
    return make_config(base, **flags)


def table_in(config: dict[str, Any], name: str) -> dict[str, Any]:
    """A table of a configuration file; empty if it is not there."""
    found = config.get(name, {})
    if not isinstance(found, dict):
        raise UsageError(f"In the configuration file {name} must be a table.")
    return found


def assignments(texts: list[str]) -> dict[str, Any]:
    """All NAME=VALUE of a command line."""
    return dict(map(_assignment, texts))


def _assignment(text: str) -> tuple[str, Any]:
    """A NAME=VALUE, its value read as TOML would read it, else as a string.

    >>> _assignment("epochs=20"), _assignment("noise=persistent-normal")
    (('epochs', 20), ('noise', 'persistent-normal'))
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--set takes NAME=VALUE, not {text!r}.")
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name, value
