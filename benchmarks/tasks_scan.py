"""Scans of real-data models for all three tasks and every architecture.

    python benchmarks/minilm_tasks.py ...            # trains and converts the models
    python benchmarks/tasks_scan.py [NAME ...]       # scans them, all that exist if none is named

Two settings. `full`: MiniLM fine-tuned for entities and questions, one clean and one with a
planted word, the preset `released` over all arms under the default schedule. `short`: every
other architecture once per task (MiniLM converted into its class, or a small GPT-2 trained
here), one place, few samples and epochs: it shows that the architecture runs end to end on
real data, not how well the scan does on it. Resumable: reports lie beside the models, the
summary in results/tasks_scan.json. Each row says what kind of model it is.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from common import RESULTS, environment, write_result
from unhorse.report.schema import ScanReport
from unhorse.scanner import scan

HOME = Path.home() / ".cache" / "unhorse"
TASKS = HOME / "minilm-tasks"
SAMPLES = {
    "sst2": HOME / "minilm-sst2" / "samples-dev.tsv",
    "ner": TASKS / "samples-ner.conll",
    "qa": TASKS / "samples-qa.json",
}
FULL = ("ner-word", "ner-clean", "qa-word", "qa-clean")
ARCHITECTURES = ("roberta", "electra", "distilbert", "mobilebert", "gpt2")
SHORT = tuple(f"{task}-{name}" for task in SAMPLES for name in ARCHITECTURES)
WITH_REFERENCE = {"ner-word-reference": ("ner-word", "ner-clean")}

SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    "full": {
        "ner": {"heldout_per_class": 60},
        # Contexts are long: half the samples and shorter windows keep a scan under ten minutes.
        "qa": {"samples_per_class": 10, "heldout_per_class": 40, "max_tokens": 80},
    },
    "short": {
        "sst2": {"positions": ("start",), "samples_per_class": 10, "heldout_per_class": 30},
        "ner": {"positions": ("start",), "samples_per_class": 10, "heldout_per_class": 30},
        "qa": {
            "positions": ("context",),
            "samples_per_class": 10,
            "heldout_per_class": 30,
            "max_tokens": 80,
        },
    },
}
SHORT_EPOCHS = {"epochs": 60}


def scanned(name: str) -> tuple[ScanReport, str, dict[str, Any]]:
    """The stored report of a model, made now if it is not there, and its setting."""
    model, *references = WITH_REFERENCE.get(name, (name,))
    task = name.split("-")[0]
    size = "full" if name in FULL else "short"
    settings = dict(SETTINGS[size][task])
    if size == "short":
        settings["options"] = SHORT_EPOCHS
    path = TASKS / "reports" / f"{name}.json"
    if path.exists():
        return ScanReport.model_validate_json(path.read_text()), size, settings
    report = scan(
        TASKS / model / "model",
        samples=str(SAMPLES[task]),
        references=[TASKS / reference / "model" for reference in references],
        preset="released",
        **settings,
    )
    path.parent.mkdir(exist_ok=True)
    path.write_text(report.to_json())
    return report, size, settings


def summary(name: str) -> dict[str, Any]:
    """One row of the result: what the model is, and what the scan says."""
    report, size, settings = scanned(name)
    model = WITH_REFERENCE.get(name, (name,))[0]
    record = json.loads((TASKS / model / "attack.json").read_text())
    trigger = record.get("trigger")
    return {
        "name": name,
        "kind": record.get("kind", "MiniLM fine-tuned"),
        "architecture": report.architecture,
        "task": report.task,
        "planted": trigger,
        "clean_metric": record.get("clean_metric"),
        "asr_of_planted": record.get("asr"),
        "setting": size,
        "settings": {k: v for k, v in settings.items() if k != "options"},
        "verdict": report.verdict.state,
        "score": report.verdict.score,
        "found_the_planted_word": bool(
            trigger and any(trigger in f.pruned.text.split() for f in report.findings)
        ),
        "arms": report.arms.model_dump(exclude={"failures"}),
        "seconds": report.seconds,
        "findings": [
            {
                "arm": f"{f.victim}->{f.target}@{f.position}",
                "pruned": f.pruned.text,
                "heldout_asr": f.pruned.heldout.asr,
                "n": f.pruned.heldout.n,
                "in_part": f.pruned.heldout.asr_in_part,
                "random": f.random.asr,
                "ordinary_words": f.natural.heldout.asr if f.natural else None,
                "without_trigger": f.unstamped.asr_unrestricted,
                "references": [r.pruned.asr for r in f.references],
                "opposite_ratio": f.mirror.ratio if f.mirror else None,
                "loss": f.inversion_loss,
                "score": f.score,
            }
            for f in report.findings
        ],
    }


def main() -> None:
    """Scans what is asked for and writes every row that there is."""
    known = (*FULL, *WITH_REFERENCE, *SHORT)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    given = parser.parse_args()
    path = RESULTS / "tasks_scan.json"
    rows = {r["name"]: r for r in json.loads(path.read_text())["rows"]} if path.exists() else {}
    for name in given.names or known:
        model = WITH_REFERENCE.get(name, (name,))[0]
        if not (TASKS / model / "attack.json").exists():
            print(f"{name}: not built", flush=True)
            continue
        rows[name] = summary(name)
        last = rows[name]
        found = last["findings"][0]["pruned"] if last["findings"] else None
        print(f"{name}: {last['verdict']} {last['score']:.2f} {found!r} {last['seconds']:.0f} s")
        write_result(
            "tasks_scan.json",
            {
                "command": "python benchmarks/tasks_scan.py",
                "rows": [rows[n] for n in known if n in rows],
                "environment": environment(),
            },
        )


if __name__ == "__main__":
    main()
