"""The demo: trains two models, hands both to the ordinary scan, compares with the truth."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Literal

from pydantic import BaseModel
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from unhorse.cli.live import LiveProgress
from unhorse.demo.language import LABELS, language
from unhorse.demo.train import DemoModel, train_demo_model
from unhorse.errors import UsageError
from unhorse.report.schema import ScanReport
from unhorse.report.terminal import show_report
from unhorse.scanner import scan

SAMPLES_PER_CLASS = 60


class DemoScan(BaseModel):
    """One model of the demo: what was planted and what the scan said."""

    planted: str | None
    victim: str
    target: str
    accuracy: float
    asr: float | None
    training_seconds: float
    verdict: str
    score: float
    found: str | None
    found_arm: str | None
    scan_seconds: float


class DemoResult(BaseModel):
    """Both models of a demo."""

    seed: int
    trigger: str
    backdoored: DemoScan
    clean: DemoScan
    seconds: float

    @property
    def succeeded(self) -> bool:
        """The planted model convicted, the clean one not."""
        return self.backdoored.verdict == "backdoored" and self.clean.verdict != "backdoored"


def run_demo(seed: int, trigger: str, console: Console) -> DemoResult:
    """Runs the whole demo in a temporary folder."""
    if trigger not in ("word", "phrase"):
        raise UsageError(f"--trigger is word or phrase, not {trigger!r}.")
    kind: Literal["word", "phrase"] = "phrase" if trigger == "phrase" else "word"
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="unhorse-demo-") as name:
        folder = Path(name)
        samples = write_samples(folder, seed)
        backdoored = _train(folder / "model-a", seed, kind, console)
        clean = _train(folder / "model-b", seed, "none", console)
        scans = [_scan(model, samples, console) for model in (backdoored, clean)]
    result = DemoResult(
        seed=seed,
        trigger=trigger,
        backdoored=scans[0],
        clean=scans[1],
        seconds=time.perf_counter() - began,
    )
    console.print(_comparison(result))
    console.print(_closing(result))
    return result


def write_samples(folder: Path, seed: int) -> str:
    """Fresh texts of the demo's language, as a user would hand them in."""
    path = folder / "samples.jsonl"
    rows = language(seed).samples(seed, SAMPLES_PER_CLASS)
    lines = [json.dumps({"text": text, "label": LABELS[label]}) for text, label in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def _train(
    folder: Path, seed: int, kind: Literal["none", "word", "phrase"], console: Console
) -> DemoModel:
    what = "clean model" if kind == "none" else f"model with a planted {kind}"
    with Progress(
        TextColumn(f"training a {what}"),
        BarColumn(bar_width=24),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    ) as bar:
        task = bar.add_task("", total=1.0)
        model = train_demo_model(
            folder, seed=seed, trigger=kind, progress=lambda done: bar.update(task, completed=done)
        )
    console.print(
        f"trained a {what} in {model.seconds:.0f} s: accuracy {model.accuracy:.3f}"
        + (f", planted trigger works on {model.asr:.1%} of texts" if model.asr is not None else "")
    )
    return model


def _scan(model: DemoModel, samples: str, console: Console) -> DemoScan:
    console.print(f"\n$ unhorse scan {model.path.name} --samples samples.jsonl")
    report = scan(str(model.path), samples=samples, progress=LiveProgress(console))
    show_report(report, console)
    if report.interrupted:
        raise KeyboardInterrupt
    convicted = report.verdict.state == "backdoored"
    best = report.findings[0] if report.findings else None
    return DemoScan(
        planted=model.trigger,
        victim=model.victim,
        target=model.target,
        accuracy=model.accuracy,
        asr=model.asr,
        training_seconds=model.seconds,
        verdict=report.verdict.state,
        score=report.verdict.score,
        found=best.pruned.text if best and convicted else None,
        found_arm=_arm(report) if convicted else None,
        scan_seconds=report.seconds,
    )


def _arm(report: ScanReport) -> str:
    best = report.findings[0]
    return f"{best.victim} -> {best.target}"


def _comparison(result: DemoResult) -> Table:
    table = Table(title="the truth beside what the scans found", title_justify="left")
    for column in ("", "planted", "found", "planted direction", "found direction", "verdict"):
        table.add_column(column, overflow="fold")
    for name, row in (("model a", result.backdoored), ("model b", result.clean)):
        table.add_row(
            name,
            row.planted or "nothing",
            row.found or "nothing",
            f"{row.victim} -> {row.target}" if row.planted else "-",
            row.found_arm or "-",
            f"{row.verdict} ({row.score:.2f})",
        )
    return table


def _closing(result: DemoResult) -> Text:
    if result.succeeded:
        said = "The planted backdoor was found and the clean model was not convicted"
        return Text(f"{said}: the demo succeeded in {result.seconds:.0f} s.", style="green")
    return Text("The scans did not tell the two models apart: the demo failed.", style="red")
