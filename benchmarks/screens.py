"""How well cheap screens of the vocabulary rank the words of a planted trigger.

    python benchmarks/screens.py ZOO SUITE [--data DATA] [--split development] [--tokens 1000]

`focus` needs the words of a trigger among the first few dozen of thirty thousand. For every
trojaned model of a split, and for the true arm, this ranks the pieces of the true trigger among
tokens drawn evenly from the vocabulary, by each of the screens that were tried. A rank is the
share of the drawn tokens that come before. Writes `results/screens.json` as it goes, and skips
what is in there.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from common import RESULTS, environment, write_result
from unhorse.attack.record import MODEL
from unhorse.bench.handed import hand_over
from unhorse.bench.stock import Stock
from unhorse.bench.truth import place
from unhorse.config import ScanConfig
from unhorse.invert.methods.focus import Focus, FocusConfig, Growth
from unhorse.invert.pose import Pass, pose_problem
from unhorse.invert.readings import Readings, slopes, surprise
from unhorse.load.subject import make_subject
from unhorse.runtime import choose_runtime
from unhorse.tasks.base import TASKS
from unhorse.triggers.vocabulary import retokenise
from unhorse.zoo.build import Place
from unhorse.zoo.suite import entries_of, find_suite, read_suite

PLACES = {"first_half": "start", "second_half": "end"}
"""The position of a scan's arm that a scope is looked for by."""

FIRST = 0.003
"""The share of the vocabulary that is read after its slopes."""


def without_references(readings: Readings) -> Readings:
    """What a scan without a clean model has."""
    return Readings(readings.subject, ())


def pieces(search: Growth, words: int) -> list[Any]:
    """So many words of every sample of the arm, the shortest first."""
    task, problem = search._task, search.problem
    return sorted((task.cut(v, words, 0) for v in problem.victims[0]), key=lambda piece: piece.size)


def sloped(search: Growth, carriers: list[Any]) -> Readings:
    """The slopes of usable tokens on some texts."""
    objective = search._pose([0] * len(carriers), [[each] for each in carriers], 1)
    return slopes(objective, search._plain(0)).among(search.usable[0])


def screens(search: Growth) -> dict[str, Tensor]:
    """A score for every usable token by every screen; higher is more suspect."""
    tokens = search.usable[0].unsqueeze(-1)
    empty = search._read(0, pieces(search, 0)[:1], tokens)
    three = search._read(0, pieces(search, 3)[:3], tokens)
    made = {
        "reading on an empty text": empty,
        "reading on three words": three,
        "slope on eight words": sloped(search, pieces(search, 8)[:6]),
        "slope on whole samples": sloped(search, search._drawn(0)),
    }
    alone = {f"{name}, no reference": surprise(without_references(r)) for name, r in made.items()}
    beside = {name: surprise(readings) for name, readings in made.items()}
    return {**alone, **beside}


def measured(stock: Stock, name: str, tokens: int) -> dict[str, Any]:
    """The ranks of the trigger's pieces in one model."""
    record = stock.member(name).record
    assert record is not None
    reference = stock.reference(record, 0)
    assert reference is not None
    folder = stock.place.folder
    handed, config = hand_over(folder(name), record), ScanConfig(seed=0)
    assert handed.probes is not None
    settings = FocusConfig()
    subject = make_subject(
        handed.folder / MODEL,
        None,
        handed.samples,
        [folder(reference.name) / MODEL],
        config,
        "cpu",
        settings.trigger_length,
    )
    where = place(record.scope, record.trigger, handed.probes.arm, TASKS.get(record.task).positions)
    arm = replace(handed.probes.arm, position=PLACES.get(where, where))
    problem = pose_problem(subject, [arm], Pass("short", settings), config, choose_runtime())
    search = Focus().begin(problem, settings)
    allowed = problem.allowed.tolist()
    pieces = list(dict.fromkeys(retokenise(subject.loaded.tokenizer, record.trigger)))
    planted = [allowed.index(piece) for piece in pieces if piece in allowed]
    drawn = torch.linspace(0, len(allowed) - 1, tokens).long().tolist()
    others = [token for token in drawn if token not in planted]
    search.usable[0] = torch.tensor(planted + others)
    ranks = {}
    for screen, scores in screens(search).items():
        ours, theirs = scores[: len(planted)], scores[len(planted) :]
        ranks[screen] = sorted(round(float((theirs > each).float().mean()), 4) for each in ours)
    return {
        "trigger": record.trigger,
        "kind": record.recipe.attack.get("trigger_kind"),
        "scope": record.scope,
        "reference": reference.name,
        "ranks": ranks,
    }


def summary(models: dict[str, Any]) -> dict[str, str]:
    """In how many models a screen has a piece of the trigger among the first tokens."""
    counts: dict[str, list[bool]] = {}
    for model in models.values():
        for screen, ranks in model["ranks"].items():
            counts.setdefault(screen, []).append(ranks[0] <= FIRST)
    return {screen: f"{sum(hits)} of {len(hits)}" for screen, hits in counts.items()}


def main() -> None:
    """Goes through the models of a split."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("zoo", type=Path)
    parser.add_argument("suite")
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--split", default="development")
    parser.add_argument("--tokens", type=int, default=1000)
    asked = parser.parse_args()
    path = find_suite(asked.suite)
    entries = entries_of(read_suite(path), path.parent)
    stock = Stock(entries, Place(asked.zoo, asked.suite, asked.data), path.parent)
    stored = RESULTS / "screens.json"
    result = json.loads(stored.read_text()) if stored.exists() else {"models": {}}
    result |= {"command": "benchmarks/screens.py ZOO SUITE", "environment": environment()}
    for entry in entries:
        wanted = entry.use == "model" and entry.recipe.split == asked.split
        name = f"{asked.suite}/{entry.name}"
        if not wanted or name in result["models"] or not stock.member(entry.name).accepted:
            continue
        result["models"][name] = measured(stock, entry.name, asked.tokens)
        result["summary"] = summary(result["models"])
        write_result("screens.json", result)
        print(name, result["models"][name]["ranks"], flush=True)


if __name__ == "__main__":
    main()
