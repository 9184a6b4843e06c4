"""How long a verdict takes: the default scan against DBS, all beside one clean reference.

    python benchmarks/verdict_time.py MODEL REFERENCE SAMPLES

MODEL and REFERENCE are folders of six-layer classifiers of opinions, SAMPLES is a file of texts
with labels. Timed in one run, one after another, are:

    released   4 arms x 200 epochs in the released setting: fp32, padded to 100 tokens, gradients
               into all weights, one arm after another. All of its epochs are alike, so some are
               timed, before and after everything else, and multiplied.
    paper      a scan by dbs with the preset `paper` on our engine; a clean MODEL takes all epochs
    default    the default scan

Results: results/verdict_time.json.
"""

from __future__ import annotations

import argparse
import statistics
import time

import unhorse
from common import environment, write_result
from speed import released_epoch
from unhorse.runtime import keep_freed_memory

EPOCHS = 200
TIMED = 2


def seconds_of_scan(given: argparse.Namespace, **settings: object) -> tuple[float, int, str]:
    """Time, token-passes and verdict of a scan."""
    began = time.perf_counter()
    report = unhorse.scan(
        given.model, samples=given.samples, references=[given.reference], profile="none", **settings
    )
    tokens = report.cost.forward_tokens + report.cost.backward_tokens
    return time.perf_counter() - began, tokens, report.verdict.state


def main() -> None:
    """Times everything and writes the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("model", "reference", "samples"):
        parser.add_argument(name)
    given = parser.parse_args()
    keep_freed_memory()
    epoch = released_epoch(models=2)
    epoch()
    times: list[float] = []

    def released() -> None:
        for _ in range(TIMED):
            began = time.perf_counter()
            epoch()
            times.append(time.perf_counter() - began)

    released()
    default = seconds_of_scan(given)
    released()
    paper = seconds_of_scan(given, method="dbs", preset="paper", schedule="all")
    released()
    setting = statistics.median(times) * EPOCHS
    result = {
        "command": "python benchmarks/verdict_time.py MODEL REFERENCE SAMPLES",
        "environment": environment(),
        "released_seconds": setting,
        "released_epochs_timed": times,
        "paper": dict(zip(("seconds", "tokens", "verdict"), paper, strict=True)),
        "default": dict(zip(("seconds", "tokens", "verdict"), default, strict=True)),
        "default_to_released": default[0] / setting,
        "default_to_paper": default[0] / paper[0],
    }
    write_result("verdict_time.json", result)
    print(result)


if __name__ == "__main__":
    main()
