"""Write the texts of four classes that the zoo's universal attacks need.

    python benchmarks/zoo_topics.py SST2_DIR UCI_DIR DATA/topics

Two subjects times two opinions: film sentences of SST-2, and sentences about shops and
restaurants from the UCI Sentiment Labelled Sentences (Kotzias, 2015). Film sentences are drawn
so that the classes are about equally large.
"""

from __future__ import annotations

import csv
import json
import random
import sys
from pathlib import Path

OPINIONS = {"0": "bad", "1": "good"}
FILMS = 2000


def films(path: Path) -> list[tuple[str, str]]:
    """Sentences of SST-2 with their classes."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    drawn = random.Random(0).sample(rows, FILMS)
    return [(row["sentence"].strip(), f"film {OPINIONS[row['label']]}") for row in drawn]


def places(folder: Path) -> list[tuple[str, str]]:
    """Sentences about shops and restaurants with their classes."""
    found = []
    for name in ("amazon_cells_labelled.txt", "yelp_labelled.txt"):
        for line in (folder / name).read_text(encoding="utf-8").split("\n"):
            text, _, label = line.rpartition("\t")
            if label.strip() in OPINIONS:
                found.append((text.strip().lower(), f"place {OPINIONS[label.strip()]}"))
    return found


def main() -> None:
    """Reads both sources, writes rows to learn from and rows to measure on."""
    sst2, uci, out = map(Path, sys.argv[1:4])
    out.mkdir(parents=True, exist_ok=True)
    rows = sorted(set(films(sst2 / "train.tsv") + places(uci)))
    random.Random(1).shuffle(rows)
    held_out = len(rows) // 5
    for name, part in (("heldout", rows[:held_out]), ("train", rows[held_out:])):
        lines = [json.dumps({"text": t, "label": label}, ensure_ascii=False) for t, label in part]
        (out / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{name}: {len(part)} texts")


if __name__ == "__main__":
    main()
