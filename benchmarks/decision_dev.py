"""What the decision rule was chosen on: small models of seeds that no figure uses.

    python benchmarks/decision_dev.py [--models 4]

Trains the demo's kinds of models (a planted word, a planted phrase, nothing) for seeds
from 100 on and stores the evidence of every finding. The thresholds in
`unhorse.judge.decide` were set by looking at these; the demo's reported seeds are 0-9.
Resumable.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any, Literal, get_args

from common import RESULTS, environment, write_result
from unhorse import scan
from unhorse.demo.language import language
from unhorse.demo.train import train_demo_model
from unhorse.report.schema import FindingRecord

Kind = Literal["word", "phrase", "none"]
NAME = "decision_dev.json"
FIRST_SEED = 100


def evidence(finding: FindingRecord) -> dict[str, Any]:
    """The parts of a finding that the rule looks at."""
    return {
        "arm": f"{finding.victim}->{finding.target}@{finding.position}",
        "preset": finding.preset,
        "text": finding.pruned.text,
        "tokens": len(finding.pruned.token_ids),
        "asr": finding.pruned.heldout.asr,
        "asr_low": finding.pruned.heldout.interval[0],
        "random": finding.random.asr,
        "ordinary_words": finding.natural.heldout.asr,
        "score": finding.score,
    }


def measure(seed: int, kind: Kind) -> dict[str, Any]:
    """Trains and scans one model."""
    with tempfile.TemporaryDirectory() as place:
        model = train_demo_model(Path(place) / "model", seed=seed, trigger=kind)
        samples = language(seed).samples(seed, per_class=60)
        report = scan(model.path, samples=samples)
    return {
        "seed": seed,
        "kind": kind,
        "planted": model.trigger,
        "accuracy": model.accuracy,
        "asr": model.asr,
        "verdict": report.verdict.state,
        "score": report.verdict.score,
        "findings": [evidence(finding) for finding in report.findings],
    }


def main() -> None:
    """Measures what is missing and writes the result after every model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=4, help="models of each kind")
    count = parser.parse_args().models
    path = RESULTS / NAME
    rows = json.loads(path.read_text())["models"] if path.exists() else []
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        for kind in get_args(Kind):
            if any((row["seed"], row["kind"]) == (seed, kind) for row in rows):
                continue
            rows.append(measure(seed, kind))
            write_result(
                NAME,
                {
                    "command": f"python benchmarks/decision_dev.py --models {count}",
                    "environment": environment(),
                    "models": rows,
                },
            )
            print(f"{seed} {kind}: {rows[-1]['verdict']} {rows[-1]['score']:.2f}", flush=True)


if __name__ == "__main__":
    main()
