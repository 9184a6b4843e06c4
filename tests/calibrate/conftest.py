"""A made-up zoo: results of trojaned models with strong findings and clean ones with weak ones."""

from __future__ import annotations

import random

import pytest
from tests.bench.made import measured, result, trigger

from unhorse.judge.measure import wilson
from unhorse.report.schema import Measured, Natural, Pruned, ReferenceRecord


def effect(asr, loss, n=100):
    hits = round(asr * n)
    return measured(hits / n, loss, n).model_copy(update={"interval": wilson(hits, n)})


def finding(asr=1.0, loss=0.01, tokens=2, natural=0.5, clean=None, **changes):
    """A finding by what its pruned trigger does; `clean` is the success in a reference."""
    pruned = Pruned(
        token_ids=tuple(range(tokens)), text="t", retokenised_ids=(), heldout=effect(asr, loss)
    )
    references = ()
    if clean is not None:
        moved: Measured = effect(clean, 3.0 - 2.5 * clean)
        references = (
            ReferenceRecord(
                source="r", loss=1.0, asr=clean, n=100, interval=(0, 1), pruned=moved,
                in_objective=True,
            ),
        )  # fmt: skip
    fields = {
        "pruned": pruned,
        "random": effect(0.05, 3.0),
        "unstamped": effect(0.02, 4.0),
        "natural": Natural(text="w", heldout=effect(natural, 0.8)),
        "references": references,
    }
    return trigger(**{**fields, **changes})


def scanned(name, poisoned, draw, family, *, reference=True, **changes):
    """A scan of a model: the arm with the trigger, if any, and the opposite one."""

    def ordinary(victim, target):
        return finding(
            draw.uniform(0.5, 0.9), draw.uniform(0.3, 1.5), draw.randint(3, 7),
            draw.uniform(0.5, 0.8), draw.uniform(0.3, 0.7) if reference else None,
            victim=victim, target=target, true_arm=False,
        )  # fmt: skip

    strong = finding(
        draw.uniform(0.95, 1.0), draw.uniform(0.001, 0.05), draw.randint(1, 3),
        draw.uniform(0.4, 0.7), draw.uniform(0.0, 0.2) if reference else None,
    )  # fmt: skip
    first = strong if poisoned else ordinary("a", "b")
    given = {
        "split": "calibration",
        "family": family,
        "poisoned": poisoned,
        "twin_of": None if poisoned else name.removesuffix("-twin"),
        "digest": name,
        "triggers": (first, ordinary("b", "a")),
        "reference": "r" if reference else None,
        "layers": 6,
    }
    return result(name, **{**given, **changes})


def make_zoo(pairs=6, families=3, seed=0, **changes):
    draw = random.Random(seed)
    return [
        scanned(f"m{i}{'' if poisoned else '-twin'}", poisoned, draw, f"f{i % families}", **changes)
        for i in range(pairs)
        for poisoned in (True, False)
    ]


@pytest.fixture
def zoo():
    return make_zoo()


@pytest.fixture
def write(tmp_path):
    """Writes results as bench does and gives their folder."""

    def write(results, folder="results"):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        for number, each in enumerate(results):
            (place / f"{number}.json").write_text(each.to_json())
        return place

    return write
