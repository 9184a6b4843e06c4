"""Methods at equal cost on a small planted trojan, and the time of an epoch beside DBS's.

    python benchmarks/methods.py results [--budget standard] [--seeds 5] [--methods a,b]
    python benchmarks/methods.py speed [--model DIR]

`results` trains the demo's model with a planted word and lets every method look for a trigger
in the planted direction, with the same budget in token-passes, over several seeds. A method
that stops early does not begin again within one seed: what is compared is one budget's worth.
`speed` times epochs of DBS, ASCC and GBDA in turns, at equal shapes, in one run.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import unhorse
from common import RESULTS, environment, write_result
from unhorse.arms.plan import plan_arms
from unhorse.config import make_config
from unhorse.demo.run import write_samples
from unhorse.demo.train import train_demo_model
from unhorse.invert.base import METHODS
from unhorse.invert.pose import pose_problem
from unhorse.invert.run import plan_passes
from unhorse.load.subject import make_subject
from unhorse.runtime import choose_runtime

SEED = 31
TURNS = 15


def results(kind: str, budget: str, seeds: int, methods: list[str]) -> None:
    """One row per method: held-out attack success of every seed."""
    with tempfile.TemporaryDirectory() as folder:
        model = train_demo_model(Path(folder) / "model", seed=SEED, trigger=kind)
        samples = write_samples(Path(folder), SEED)
        words = (model.trigger or "").split()
        rows = []
        for name in methods:
            found = [
                unhorse.scan(
                    str(model.path),
                    samples=samples,
                    method=name,
                    seed=seed,
                    victim=model.victim,
                    target=model.target,
                    positions=("start",),
                    budget=budget,
                )
                for seed in range(seeds)
            ]
            best = [max(report.findings, key=lambda f: f.heldout.asr) for report in found]
            row = {
                "method": name,
                "asr": [round(f.heldout.asr, 3) for f in best],
                "loss": [f.heldout.loss for f in best],
                "has_trigger": [all(w in f.text.split() for w in words) for f in best],
                "token_passes": [
                    report.cost.forward_tokens + report.cost.backward_tokens for report in found
                ],
                "seconds": [round(report.seconds, 1) for report in found],
            }
            rows.append(row)
            print(json.dumps(row), flush=True)
    same = {"kind": kind, "budget": budget, "seeds": seeds}
    stored = RESULTS / "methods.json"
    before = json.loads(stored.read_text()) if stored.exists() else {}
    if all(before.get(name) == value for name, value in same.items()):
        # Methods that were not asked for now keep their rows.
        made = {row["method"]: row for row in [*before["rows"], *rows]}
        rows = [made[name] for name in sorted(made)]
    content = {
        **same,
        "trigger": model.trigger,
        "accuracy": model.accuracy,
        "asr_of_trigger": model.asr,
        "rows": rows,
        **environment(),
    }
    write_result("methods.json", content)


def speed(given: str | None) -> None:
    """Seconds of an epoch, the median of several turns, as a ratio to DBS.

    Args:
        given: a model folder; the demo's model, whose vocabulary is small, if None.
    """
    with tempfile.TemporaryDirectory() as folder:
        model = given
        if model is None:
            model = str(train_demo_model(Path(folder) / "model", seed=SEED, trigger="word").path)
        searches = {}
        for name in ("dbs", "ascc", "gbda"):
            config = make_config(method=name, preset="paper" if name == "dbs" else None)
            runtime = choose_runtime(config.device, config.dtype)
            (now, *_) = plan_passes(config)
            subject = make_subject(model, None, None, (), config, runtime.device, 10)
            arms = plan_arms(subject, config).arms
            problem = pose_problem(subject, arms, now, config, runtime)
            searches[name] = (METHODS.get(name).begin(problem, now.config), range(len(arms)))
        times: dict[str, list[float]] = {name: [] for name in searches}
        for turn in range(TURNS + 1):
            for name, (search, arms) in searches.items():
                began = time.perf_counter()
                search.advance(arms)
                if turn:
                    times[name].append(time.perf_counter() - began)
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    ratios = {name: round(value / medians["dbs"], 3) for name, value in medians.items()}
    shape = {"tokens": len(problem.allowed), "arms": len(problem.arms), "turns": TURNS}
    print(shape, medians, ratios)
    write_result(
        "methods_speed.json", {**shape, "seconds": medians, "ratio": ratios, **environment()}
    )


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("results", "speed"))
    parser.add_argument("--kind", choices=("word", "phrase"), default="phrase")
    parser.add_argument("--budget", default="standard")
    parser.add_argument("--model", help="For speed: a model folder with a vocabulary of real size.")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--methods", default="")
    given = parser.parse_args()
    if given.what == "speed":
        speed(given.model)
    else:
        names = given.methods.split(",") if given.methods else METHODS.names()
        results(given.kind, given.budget, given.seeds, names)


if __name__ == "__main__":
    main()
