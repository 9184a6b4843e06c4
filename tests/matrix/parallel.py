"""All models of the matrix, trained and scanned in two processes of one thread each."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from .train import COMBINATIONS, build

Case = tuple[str, str, bool]

QUICK = {
    "preset": "released",
    "options": {"trigger_length": 5, "epochs": 100},
    "heldout_per_class": 30,
}

CLEAN_EPOCHS = 60
"""A clean twin has nothing that more epochs could find."""

SEED = 2
"""`benchmarks/matrix.py` tells how the scan does on other seeds."""


def one(case: Case):
    """The report of one model, and its trigger, victim and target."""
    import torch

    import unhorse

    torch.set_num_threads(1)
    architecture, task, planted = case
    built = build(architecture, task, planted=planted, seed=SEED)
    options = QUICK["options"] if planted else QUICK["options"] | {"epochs": CLEAN_EPOCHS}
    settings = QUICK | {"options": options}
    report = unhorse.scan(built.model, built.tokenizer, built.samples, **settings)
    return report, built.trigger, built.victim, built.target


def everything():
    """What `one` gives for every case."""
    cases = [(*combination, planted) for combination in COMBINATIONS for planted in (True, False)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        return dict(zip(cases, pool.map(one, cases), strict=True))
