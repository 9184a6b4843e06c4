"""How fast an epoch of inversion is, as ratios within one run.

    python benchmarks/speed.py

Four arms of 20 samples with SST-2-like lengths on a 6-layer, hidden-384 model,
10 trigger tokens. Compared are the engine and the same work in the *released
setting*: fp32, every text padded to 100 tokens, gradients into all weights, one
arm after another, the library's default attention. Repeats alternate between the
two, so that a busy machine slows both; the ratio of medians is the result. Peak
memory is that of a process of its own for each.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from common import RESULTS, environment, write_result
from unhorse.invert.estimate import peak_bytes
from unhorse.load.adapter import EmbeddingAdapter
from unhorse.runtime import choose_runtime, keep_freed_memory
from unhorse.speed import (
    epoch_of,
    gemm_rate,
    random_loss,
    random_model,
    random_rows,
    step_flops,
)
from unhorse.tasks.base import TASKS, pad

PADDED = 100
SLOTS = 10


def released_epoch(arms: int = 4, samples: int = 20, models: int = 1) -> Callable[[], None]:
    """One epoch of all arms as the released code runs it, with so many models in the loss."""
    everyone = [random_model() for _ in range(models)]
    asked = [loaded.model.requires_grad_(True) for loaded in everyone]
    adapters, task = [EmbeddingAdapter(model) for model in asked], TASKS.get(everyone[0].task)
    tables = [model.get_input_embeddings().weight for model in asked]
    goals = task.collate([1] * samples, asked[0].device)
    batches = []
    for rows in random_rows(arms, samples, SLOTS):
        ids, mask = pad([(*row.ids, *[0] * (PADDED - len(row.ids))) for row in rows], 0)
        for number, row in enumerate(rows):
            mask[number, len(row.ids) :] = 0
        places = torch.tensor([(n, c) for n, row in enumerate(rows) for c in row.slots]).T
        w = torch.zeros(SLOTS, tables[0].shape[0], requires_grad=True)
        batches.append((ids, mask, places, w, torch.optim.Adam([w], lr=0.5)))

    def epoch() -> None:
        for ids, mask, (rows_at, columns), w, adam in batches:
            losses = []
            for model, adapter, table in zip(asked, adapters, tables, strict=True):
                vectors = ((w / 2).softmax(-1) @ table).repeat(samples, 1)
                with adapter.stamped(rows_at, columns, vectors):
                    outputs = model(input_ids=ids, attention_mask=mask)
                losses.append(task.losses(outputs, goals)[0].mean())
            adam.zero_grad()
            for model in asked:
                model.zero_grad()
            torch.stack(losses).sum().backward()
            adam.step()

    return epoch


def engine_epoch(arms: int = 4, samples: int = 20, slots: int = SLOTS) -> Callable[[], None]:
    """One epoch of all arms on the engine."""
    loss = random_loss(random_model(), choose_runtime(), arms, samples, slots)
    return epoch_of(loss, slots)


SETTINGS = {"engine": engine_epoch, "released": released_epoch}


def alternate(works: dict[str, Callable[[], None]], repeats: int) -> dict[str, list[float]]:
    """Times of every work, taken in turns, after one turn that does not count."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeats + 1):
        for name, work in works.items():
            began = time.perf_counter()
            work()
            if turn:
                times[name].append(time.perf_counter() - began)
    return times


def peak_of(setting: str) -> int:
    """Peak bytes of a process that does three epochs of one setting and nothing else."""
    command = [sys.executable, __file__, "--peak-of", setting]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(repeats: int) -> dict[str, Any]:
    """Engine against released setting, and against plain matrix products."""
    runtime = choose_runtime()
    loss = random_loss(random_model(), runtime)
    dtype = torch.bfloat16 if runtime.dtype == "bf16" else torch.float32
    tokens = max(bucket.tokens for bucket in loss.buckets())
    rates = []

    def gemm() -> None:
        rates.append(gemm_rate(dtype, tokens))

    times = alternate(
        {"engine": epoch_of(loss), "released": released_epoch(), "gemm": gemm}, repeats
    )
    engine, released = (statistics.median(times[name]) for name in ("engine", "released"))
    rate = step_flops(loss) / engine / 1e9
    return {
        "engine_seconds": engine,
        "released_seconds": released,
        "speedup": released / engine,
        "target_speedup": 6.0 if runtime.dtype == "bf16" else 3.5,
        "engine_gflops": rate,
        "gemm_gflops": statistics.median(rates[1:]),
        "share_of_gemm": rate / statistics.median(rates[1:]),
        "engine_peak_bytes": peak_of("engine"),
        "released_peak_bytes": peak_of("released"),
    }


def growth(repeats: int) -> list[dict[str, Any]]:
    """Cost against number of arms, samples and trigger length, in one alternating run."""
    shapes = [("arms", n, (n, 20, 10)) for n in (1, 2, 4, 8)]
    shapes += [("samples", n, (4, n, 10)) for n in (10, 20, 40)]
    shapes += [("trigger length", n, (4, 20, n)) for n in (1, 5, 10, 20)]
    works = {f"{name} {n}": engine_epoch(*shape) for name, n, shape in shapes}
    times = alternate(works, repeats)
    unit = statistics.median(times["arms 4"])
    return [
        {
            "varied": name,
            "value": n,
            "seconds": statistics.median(times[f"{name} {n}"]),
            "relative": statistics.median(times[f"{name} {n}"]) / unit,
        }
        for name, n, _ in shapes
    ]


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """The growth table as a figure."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(10, 3.2), sharey=True)
    for axis, name in zip(axes, ("arms", "samples", "trigger length"), strict=True):
        chosen = [row for row in rows if row["varied"] == name]
        axis.plot([row["value"] for row in chosen], [row["relative"] for row in chosen], "o-")
        axis.set_xlabel(name)
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("cost of an epoch\n(4 arms x 20 samples x 10 tokens = 1)")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Runs everything and writes results/speed.json and results/speed.png."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--peak-of", choices=list(SETTINGS))
    given = parser.parse_args()
    keep_freed_memory()
    if given.peak_of:
        work = SETTINGS[given.peak_of]()
        for _ in range(3):
            work()
        print(peak_bytes())
        return
    result = {
        "command": "python benchmarks/speed.py",
        "environment": environment(),
        "epoch": compare(given.repeats),
        "growth": growth(max(3, given.repeats // 2)),
    }
    write_result("speed.json", result)
    draw(result["growth"], RESULTS / "speed.png")
    print(json.dumps(result["epoch"], indent=2))


if __name__ == "__main__":
    main()
