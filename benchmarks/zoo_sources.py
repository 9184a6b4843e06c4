"""Write the texts of two tasks that have nothing to do with opinions.

    python benchmarks/zoo_sources.py SST2_DIR UCI_DIR DATA/sources

`subject`: is the sentence about a film (SST-2) or about a place or ware (UCI Sentiment Labelled
Sentences, Kotzias, 2015)? `source`: which of three sites is a sentence of UCI from? A detector
that was calibrated on opinions must not convict clean models of these tasks.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from zoo_topics import films, places

SOURCES = {
    "amazon_cells_labelled.txt": "shop",
    "imdb_labelled.txt": "film",
    "yelp_labelled.txt": "restaurant",
}


def subjects(sst2: Path, uci: Path) -> list[tuple[str, str]]:
    """Sentences with what they are about, whatever they think of it."""
    rows = films(sst2 / "train.tsv") + places(uci)
    return [(text, label.split()[0]) for text, label in rows]


def sources(uci: Path) -> list[tuple[str, str]]:
    """Sentences with the site that they are from."""
    found = []
    for name, source in SOURCES.items():
        for line in (uci / name).read_text(encoding="utf-8").split("\n"):
            text = line.rpartition("\t")[0].strip().lower()
            if text:
                found.append((text, source))
    return found


def write(out: Path, rows: list[tuple[str, str]]) -> None:
    """Rows to learn from and rows to measure on; a text of two classes is of neither."""
    classes: dict[str, set[str]] = {}
    for text, label in rows:
        classes.setdefault(text, set()).add(label)
    told = sorted((text, *labels) for text, labels in classes.items() if len(labels) == 1)
    random.Random(1).shuffle(told)
    out.mkdir(parents=True, exist_ok=True)
    held_out = len(told) // 4
    for name, part in (("heldout", told[:held_out]), ("train", told[held_out:])):
        lines = [json.dumps({"text": t, "label": label}, ensure_ascii=False) for t, label in part]
        (out / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{out.name} {name}: {len(part)} texts")


def main() -> None:
    """Reads the sources, writes the rows of both tasks."""
    sst2, uci, out = map(Path, sys.argv[1:4])
    write(out / "subject", subjects(sst2, uci))
    write(out / "source", sources(uci))


if __name__ == "__main__":
    main()
