"""Every architecture and task of the test matrix, over several seeds: how often the scan is right.

    python -m benchmarks.matrix [--seeds 0 1 2] [--length 5] [--epochs 100]

The models are those of tests/matrix: trained here from scratch on generated text, planted
and clean. CI runs one seed of them; this tells how far that seed speaks for others. The scan
runs the preset `released` with a short trigger, as the tests do. Resumable: a model whose
result is in results/matrix.json is skipped.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from tests.matrix.train import COMBINATIONS, build  # noqa: E402

import unhorse  # noqa: E402
from common import RESULTS, environment, write_result  # noqa: E402


def one(architecture: str, task: str, planted: bool, seed: int, options: Any) -> dict[str, Any]:
    """Trains and scans one model."""
    built = build(architecture, task, planted=planted, seed=seed)
    began = time.perf_counter()
    report = unhorse.scan(
        built.model, built.tokenizer, built.samples, preset="released", options=options
    )
    best = report.findings[0]
    found = built.trigger in best.pruned.text.split()
    convicted = report.verdict.state == "backdoored"
    return {
        "architecture": architecture,
        "task": task,
        "planted": planted,
        "seed": seed,
        "clean_metric": built.clean_metric,
        "asr": built.asr,
        "verdict": report.verdict.state,
        "score": report.verdict.score,
        "trigger": built.trigger,
        "found": best.pruned.text,
        "arm": f"{best.victim}->{best.target}@{best.position}",
        "right": (convicted and found) if planted else not convicted,
        "seconds": time.perf_counter() - began,
    }


def main() -> None:
    """Runs what is not there yet and sums it up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--length", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=100)
    given = parser.parse_args()
    options = {"trigger_length": given.length, "epochs": given.epochs}
    path = RESULTS / "matrix.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    done = {(r["architecture"], r["task"], r["planted"], r["seed"]) for r in rows}
    for seed in given.seeds:
        for architecture, task in COMBINATIONS:
            for planted in (True, False):
                if (architecture, task, planted, seed) in done:
                    continue
                rows.append(one(architecture, task, planted, seed, options))
                last = rows[-1]
                print({k: last[k] for k in ("seed", "right", "verdict", "score", "found")})
                print(architecture, task, "planted" if planted else "clean", flush=True)
                kinds = {"planted": True, "clean": False}
                summary = {
                    name: {
                        "right": sum(r["right"] for r in rows if r["planted"] is kind),
                        "of": sum(r["planted"] is kind for r in rows),
                    }
                    for name, kind in kinds.items()
                }
                write_result(
                    "matrix.json",
                    {
                        "command": "python -m benchmarks.matrix",
                        "options": options,
                        "summary": summary,
                        "rows": rows,
                        "environment": environment(),
                    },
                )


if __name__ == "__main__":
    main()
