"""How fast a model is built: training steps against the obvious loop, and whole derived models.

    python benchmarks/attack_speed.py DATA [--zoo DIR]

The obvious loop pads every text to 128 tokens, trains all weights in fp32 with the library's
default attention and an unfused AdamW. Ours pads a batch to its longest text, sorts texts of
similar length together, and leaves the word embeddings as they are, which is what most models
of the zoo do; the same with embeddings trained is shown beside it. DATA holds sentiment/sst2 and
ner/wikiann_en; the families `sentiment/cal-sst2` and `ner/cal-1` must be in the zoo for the
second part. Results: results/attack_speed.json.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from common import environment, write_result
from unhorse.attack.bases import open_base
from unhorse.attack.build import build
from unhorse.attack.corpus import read_corpus
from unhorse.attack.recipe import BaseConfig, DataConfig, make_recipe
from unhorse.attack.train import Learner
from unhorse.learn.config import TrainingConfig
from unhorse.learn.lessons import Lesson
from unhorse.runtime import keep_freed_memory
from unhorse.zoo.build import default_zoo
from unhorse.zoo.suite import entries_of, find_suite, read_suite

FIRST = {"sentiment": "cal-sst2", "ner": "cal-1"}
ROWS, BATCH, WIDE = 640, 32, 128
TASK = "sequence-classification"
DATA = DataConfig(
    train=("sentiment/sst2/train.tsv",),
    heldout=("sentiment/sst2/dev.tsv",),
    labels=("negative", "positive"),
    rows=ROWS,
)


def new_base() -> Any:
    """MiniLM with an untrained head."""
    torch.manual_seed(0)
    return open_base(BaseConfig(), TASK, DATA.labels, Path())


def ours(root: Path, *, embeddings: bool) -> float:
    """Seconds of one epoch."""
    base = new_base()
    corpus = read_corpus(DATA, root, base.loaded, 0)
    config = TrainingConfig(epochs=1, batch=BATCH, embeddings=embeddings)
    learner = Learner(base.loaded, config, 0)
    learner.learn([Lesson(sample) for sample in corpus.train])
    return learner.seconds


def obvious(root: Path) -> float:
    """Seconds of the same epoch as most people would write it."""
    base = new_base()
    corpus = read_corpus(DATA, root, base.loaded, 0)
    model, tokenizer = base.loaded.model, base.loaded.tokenizer
    model.requires_grad_(True).train()
    adam = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=False, foreach=False)
    began = time.perf_counter()
    for start in range(0, ROWS, BATCH):
        rows = corpus.train[start : start + BATCH]
        inputs = tokenizer(
            [row.text for row in rows],
            padding="max_length",
            truncation=True,
            max_length=WIDE,
            return_tensors="pt",
        )
        labels = torch.tensor([row.label for row in rows])
        model(**inputs, labels=labels).loss.backward()
        adam.step()
        adam.zero_grad()
    return time.perf_counter() - began


def derived(root: Path, zoo: Path, suite: str, name: str) -> dict[str, Any]:
    """Seconds of one whole derived model, with all threads."""
    entries = {entry.name: entry for entry in entries_of(read_suite(find_suite(suite)))}
    recipe = make_recipe(entries[name].recipe.model_dump())
    with tempfile.TemporaryDirectory() as folder:
        record = build(recipe, Path(folder) / "model", data_root=root, base_root=zoo)
    return {
        "model": f"{suite}/{name}",
        "layers": record.layers,
        "rows": record.rows,
        "steps": record.steps,
        "seconds": record.seconds,
        "training_seconds": record.training_seconds,
        "asr": record.measured.asr,
        "clean": record.measured.clean,
    }


def main() -> None:
    """Measures both parts, in turns so that a busy moment hits all alike."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--zoo", type=Path, default=default_zoo())
    given = parser.parse_args()
    missing = [name for name in FIRST.items() if not given.zoo.joinpath(*name).is_dir()]
    if missing:
        parser.error(f"build {' and '.join('/'.join(name) for name in missing)} first")
    keep_freed_memory()
    ours(given.data, embeddings=False)
    rounds = []
    for _ in range(3):
        rounds.append(
            {
                "ours": ours(given.data, embeddings=False),
                "ours_with_embeddings": ours(given.data, embeddings=True),
                "obvious": obvious(given.data),
            }
        )
        print(rounds[-1], flush=True)
    best = {name: min(r[name] for r in rounds) for name in rounds[0]}
    whole = [
        derived(given.data, given.zoo, suite, name)
        for suite, name in (("sentiment", "cal-phrase-01"), ("ner", "cal-phrase-01"))
    ]
    print(whole)
    write_result(
        "attack_speed.json",
        {
            "command": "python benchmarks/attack_speed.py DATA",
            "rows": ROWS,
            "batch": BATCH,
            "rounds": rounds,
            "ratio": best["obvious"] / best["ours"],
            "ratio_with_embeddings": best["obvious"] / best["ours_with_embeddings"],
            "limit": 2.5,
            "derived": whole,
            "environment": environment(),
        },
    )


if __name__ == "__main__":
    main()
