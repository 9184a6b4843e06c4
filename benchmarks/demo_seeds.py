"""How often the demo succeeds, over seeds.

    python benchmarks/demo_seeds.py [--trigger phrase] [--fresh]

Runs `unhorse demo` for seeds 0 to 9 and stores every outcome. Resumable: seeds that
are in the result file already are not run again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from common import RESULTS, environment, write_result


def run_seed(seed: int, trigger: str) -> dict[str, Any]:
    """One demo in a process of its own, as a user would start it."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "demo.json"
        command = [sys.executable, "-m", "unhorse", "demo", "--seed", str(seed)]
        command += ["--trigger", trigger, "--json", str(out), "--quiet"]
        ended = subprocess.run(command, check=False)
        result: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {"seed": seed}
        return {**result, "exit_code": ended.returncode}


def main() -> None:
    """Runs the missing seeds and writes results/demo_seeds_<trigger>.json after each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trigger", choices=["word", "phrase"], default="word")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--fresh", action="store_true", help="run all seeds again")
    given = parser.parse_args()
    name = f"demo_seeds_{given.trigger}.json"
    runs: list[dict[str, Any]] = []
    if (RESULTS / name).exists() and not given.fresh:
        runs = json.loads((RESULTS / name).read_text())["runs"]
    for seed in range(given.seeds):
        if any(run["seed"] == seed for run in runs):
            continue
        runs.append(run_seed(seed, given.trigger))
        succeeded = sum(run["exit_code"] == 0 for run in runs)
        write_result(
            name,
            {
                "command": f"python benchmarks/demo_seeds.py --trigger {given.trigger}",
                "environment": environment(),
                "succeeded": succeeded,
                "of": len(runs),
                "runs": sorted(runs, key=lambda run: int(run["seed"])),
            },
        )
        print(f"seed {seed}: exit {runs[-1]['exit_code']}; {succeeded} of {len(runs)}", flush=True)


if __name__ == "__main__":
    main()
