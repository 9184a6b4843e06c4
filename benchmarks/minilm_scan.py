"""Scans of real fine-tuned models: MiniLM on SST-2, one with a planted word, one clean.

    python benchmarks/minilm_sst2.py --data DIR      # trains the models
    python benchmarks/minilm_scan.py                 # scans them

Both are scanned with and without a clean reference (`clean-b`), on SST-2's dev sentences;
with it at the start of texts only, because a reference doubles the cost of an arm.
The models were used over and over while unhorse was written, so these are observations on
development models, not figures of merit. Beside what was found stands what the judge says
of the *true* trigger: whether a miss is the optimiser's or the rule's. Resumable: reports
lie beside the models, the summary in results/minilm_scan.json.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from common import RESULTS, environment, write_result
from unhorse.config import make_config
from unhorse.judge.evidence import examine
from unhorse.load.subject import make_subject
from unhorse.report.schema import ScanReport
from unhorse.scanner import scan
from unhorse.tasks.base import TASKS
from unhorse.triggers.vocabulary import allowed_token_ids, retokenise
from unhorse.types import Curve, Inversion

HOME = Path.home() / ".cache" / "unhorse" / "minilm-sst2"
REFERENCE = "clean-b"
RUNS = [
    (model, with_reference) for with_reference in (False, True) for model in ("word", "clean-a")
]


def run_name(model: str, preset: str, with_reference: bool) -> str:
    """What a run is called in files and results."""
    return f"{model}-{preset}" + ("-reference" if with_reference else "")


def report_of(home: Path, model: str, preset: str, with_reference: bool) -> ScanReport:
    """The stored report of a run, made now if it is not there."""
    path = home / "reports" / f"{run_name(model, preset, with_reference)}.json"
    if path.exists():
        return ScanReport.model_validate_json(path.read_text())
    report = scan(
        home / model / "model",
        samples=str(home / "samples-dev.tsv"),
        references=[home / REFERENCE / "model"] if with_reference else [],
        preset=preset,
        positions=("start",) if with_reference else None,
    )
    path.parent.mkdir(exist_ok=True)
    path.write_text(report.to_json())
    return report


def true_trigger(home: Path, trigger: str, with_reference: bool) -> list[dict[str, Any]]:
    """What the judge says of the planted trigger, had it been found."""
    config = make_config()
    references = [home / REFERENCE / "model"] if with_reference else []
    samples = str(home / "samples-dev.tsv")
    subject = make_subject(home / "word" / "model", None, samples, references, config, "cpu", 10)
    tokenizer = subject.loaded.tokenizer
    rows = subject.loaded.model.get_input_embeddings().weight.shape[0]
    allowed = allowed_token_ids(tokenizer, rows)
    ids = retokenise(tokenizer, trigger)
    said = []
    for arm in TASKS.get(subject.loaded.task).arms(subject.loaded.labels, ("start", "end")):
        if arm.victim_name != "negative":
            continue
        found = Inversion(
            arm, "truth", "truth", 0, ids, 0.0, True, True, 0, 0.0, Curve((), ())
        )  # fmt: skip
        finding = examine(subject, found, allowed)
        said.append(
            {
                "arm": arm.key,
                "score": finding.score,
                "heldout": asdict(finding.pruned.heldout),
                "ordinary_words": asdict(finding.natural),
                "references": [r.pruned.asr for r in finding.references],
            }
        )
    return said


def summary(report: ScanReport) -> dict[str, Any]:
    """What a reader wants of a report: evidence of every arm, and its curves."""
    return {
        "verdict": report.verdict.model_dump(),
        "seconds": report.seconds,
        "accuracy_on_samples": 1
        - report.samples.set_aside
        / max(1, report.samples.set_aside + report.samples.used + report.samples.heldout),
        "findings": [
            {
                "arm": f"{f.victim}->{f.target}@{f.position}",
                "one_hot": f.one_hot,
                "inversion_loss": f.inversion_loss,
                "text": f.text,
                "heldout_loss": f.heldout.loss,
                "heldout_asr": f.heldout.asr,
                "pruned": f.pruned.text,
                "pruned_tokens": len(f.pruned.token_ids),
                "pruned_asr": f.pruned.heldout.asr,
                "random_asr": f.random.asr,
                "ordinary_words": f.natural.text,
                "ordinary_words_asr": f.natural.heldout.asr,
                "reference_asr": [r.pruned.asr for r in f.references],
                "score": f.score,
            }
            for f in report.findings
        ],
        "curves": [
            {
                "arm": c.arm,
                "loss": [None if x is None else round(x, 4) for x in c.loss],
                "temperature": [round(t, 4) for t in c.temperature],
            }
            for c in report.curves
        ],
    }


def draw(runs: dict[str, Any], path: Path) -> None:
    """The loss curves of all runs, one panel each."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(10, 6.5), sharex=True, sharey=True)
    for axis, (name, run) in zip(axes.flat, runs.items(), strict=False):
        for curve in run["curves"]:
            axis.plot(range(1, len(curve["loss"]) + 1), curve["loss"], label=curve["arm"], lw=1)
        axis.set_yscale("log")
        axis.set_title(name, fontsize="medium")
        axis.grid(alpha=0.3)
        axis.legend(fontsize="x-small", loc="upper right")
    for axis in axes[1]:
        axis.set_xlabel("epoch")
    for axis in axes[:, 0]:
        axis.set_ylabel("subject's loss")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Runs what is missing and writes results/minilm_scan.json and .png."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--home", type=Path, default=HOME)
    parser.add_argument("--preset", default="released")
    parser.add_argument("--only", help="make this run only, and no summary")
    parser.add_argument("--stored-only", action="store_true", help="summarise, scan nothing")
    given = parser.parse_args()
    home: Path = given.home
    records = {
        name: json.loads((home / name / "attack.json").read_text())
        for name in ("word", "clean-a", REFERENCE)
    }
    runs: dict[str, Any] = {}
    for model, with_reference in RUNS:
        name = run_name(model, given.preset, with_reference)
        if given.only:
            if given.only == name:
                report_of(home, model, given.preset, with_reference)
            continue
        if given.stored_only and not (home / "reports" / f"{name}.json").exists():
            continue
        runs[name] = summary(report_of(home, model, given.preset, with_reference))
        print(name, runs[name]["verdict"]["state"], f"{runs[name]['verdict']['score']:.2f}")
    if given.only:
        return
    trigger = records["word"]["trigger"]
    result = {
        "command": f"python benchmarks/minilm_scan.py --preset {given.preset}",
        "environment": environment(),
        "note": "development models, used repeatedly while writing unhorse",
        "models": records,
        "true_trigger": {
            "text": trigger,
            "without_reference": true_trigger(home, trigger, with_reference=False),
            "with_reference": true_trigger(home, trigger, with_reference=True),
        },
        "runs": runs,
    }
    write_result("minilm_scan.json", result)
    draw(runs, RESULTS / "minilm_scan.png")


if __name__ == "__main__":
    main()
