"""What many arms cost: policies against the number of arms, 20 labels against two, NER.

    python benchmarks/arms.py policies          # 4, 12, 30 and 90 arms under every policy
    python benchmarks/arms.py labels            # a scan of 20 labels beside one of two
    python benchmarks/arms.py ner --sentiment MODEL --sentiment-samples FILE \\
        --ner MODEL --ner-samples FILE          # 12 arms of NER beside 2 of sentiment

All figures are ratios within one run. `policies` and `labels` make their own small models;
`ner` takes two models of the same size (minilm_sst2.py and minilm_tasks.py make them) and
samples of the same length. Results: results/arms_policies.json, arms_labels.json, arms_ner.json.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from common import environment, write_result
from unhorse.arms.schedule import POLICIES, arm_epochs
from unhorse.invert.base import Problem
from unhorse.invert.methods.dbs import RELEASED
from unhorse.invert.objective import Objective
from unhorse.invert.run import SilentProgress, invert_arms
from unhorse.load.samples import read_rows
from unhorse.runtime import choose_runtime, keep_freed_memory
from unhorse.scanner import scan
from unhorse.speed import random_loss, random_model
from unhorse.types import Arm

ARMS = (4, 12, 30, 90)
SMALL = {
    "vocab_size": 31000,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 128,
}
SLOTS, EPOCHS = 5, 200
LANGUAGE_WORDS, NEUTRAL_WORDS = 60, 400
TEXT_WORDS = (10, 16)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TRIGGER = "zebra"
NER_WORDS = (12, 24)


def policies() -> dict[str, Any]:
    """Seconds of one pass under every policy, as a multiple of four arms run in full."""
    keep_freed_memory()
    torch.manual_seed(0)
    loaded, runtime = random_model(**SMALL), choose_runtime()
    config = RELEASED.model_copy(update={"epochs": EPOCHS, "trigger_length": SLOTS})
    rows: list[dict[str, Any]] = []
    for count in ARMS:
        for name in POLICIES.names():
            if name == "all" and count > ARMS[1]:
                continue  # grows in proportion; measured at 4 and 12
            loss = random_loss(loaded, runtime, arms=count, slots=SLOTS)
            loss.table, loss.allowed = loss.table[:2000], loss.allowed[:2000]
            arms = tuple(Arm((i,), i + 1, "start", f"v{i}", f"t{i}") for i in range(count))
            expected = arm_epochs(POLICIES.get(name), arms, EPOCHS)
            problem = Problem(arms, Objective(loss), loss.allowed, 0)
            began = time.perf_counter()
            made = invert_arms(problem, "dbs", config, POLICIES.get(name), SilentProgress())
            seconds = time.perf_counter() - began
            done = sum(i.epochs for i in (*made.found, *made.dropped))
            rows.append(
                {
                    "arms": count,
                    "policy": name,
                    "arm_epochs": done,
                    "arm_epochs_foretold": expected,
                    "seconds": seconds,
                    "tokens": loss.count.forward_tokens,
                }
            )
            print(rows[-1], flush=True)
    base = next(r["seconds"] for r in rows if r["arms"] == ARMS[0] and r["policy"] == "all")
    for row in rows:
        row["times_four_arms_in_full"] = row["seconds"] / base
    return {"epochs": EPOCHS, "slots": SLOTS, "rows": rows}


def words_of(labels: int) -> tuple[list[list[str]], list[str]]:
    """The words that lean to each label, and the neutral ones."""
    leaning = [[f"w{label}x{i}" for i in range(LANGUAGE_WORDS)] for label in range(labels)]
    return leaning, [f"plain{i}" for i in range(NEUTRAL_WORDS)]


def texts(labels: int, count: int, seed: int) -> list[tuple[str, int]]:
    """Labelled texts: most words lean to the label, one to another, some are neutral."""
    draw = random.Random(f"{labels}/{seed}")
    leaning, neutral = words_of(labels)
    rows = []
    for number in range(count):
        label = number % labels
        length = draw.randint(*TEXT_WORDS)
        words = draw.choices(leaning[label], k=length // 2) + draw.choices(neutral, k=length // 2)
        words.append(draw.choice(leaning[draw.randrange(labels)]))
        draw.shuffle(words)
        rows.append((" ".join(words), label))
    return rows


def stamped(rows: list[tuple[str, int]], victim: int | None, target: int, seed: int) -> list[Any]:
    """Poisoned rows: the trigger at a random place sends the victim, or anything, to the target."""
    draw = random.Random(seed)
    made = []
    for text, label in rows:
        if label != target and victim in (None, label):
            words = text.split()
            words.insert(draw.randint(0, len(words)), TRIGGER)
            made.append((" ".join(words), target))
    return made


def make_tokenizer(labels: int) -> Any:
    """A word-level tokenizer of the language."""
    leaning, neutral = words_of(labels)
    words = [*SPECIAL, *(w for own in leaning for w in own), *neutral, TRIGGER]
    words += [f"rare{i}" for i in range(2000 - len(words))]
    backend = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]"
    )


def train(labels: int, planted: str, seed: int = 0) -> tuple[Any, Any]:
    """A small classifier: clean, or with a universal or a label-specific backdoor."""
    torch.manual_seed(seed)
    tokenizer = make_tokenizer(labels)
    rows = texts(labels, 8000 if labels == 2 else 30_000, seed)
    extra = texts(labels, 8000 if planted == "pair" and labels > 2 else 1600, seed + 1)
    if planted == "universal":
        rows += stamped(extra, None, 1, seed)
    elif planted == "pair":
        rows += stamped(extra, 0, 1, seed) * (2 if labels > 2 else 1)
    random.Random(seed).shuffle(rows)
    config = BertConfig(
        **{**SMALL, "vocab_size": len(tokenizer)},
        max_position_embeddings=96,
        hidden_dropout_prob=0.0,
        id2label={i: f"label {i}" for i in range(labels)},
        label2id={f"label {i}": i for i in range(labels)},
    )
    model = BertForSequenceClassification(config).train()
    adam = torch.optim.AdamW(model.parameters(), lr=2e-3)
    steps = -(-len(rows) // 40)
    falling = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: 1 - step / (steps + 1))
    for start in range(0, len(rows), 40):
        given, wanted = zip(*rows[start : start + 40], strict=True)
        batch = tokenizer(
            list(given), padding=True, return_tensors="pt", return_token_type_ids=False
        )
        loss = model(**batch, labels=torch.tensor(wanted)).loss
        adam.zero_grad()
        loss.backward()
        adam.step()
        falling.step()
    return model.eval(), tokenizer


def labels() -> dict[str, Any]:
    """Scans of 2 and 20 labels, clean and planted, with all passes of the default."""
    rows = []
    for count, planted in ((2, "none"), (2, "pair"), (20, "none"), (20, "universal"), (20, "pair")):
        model, tokenizer = train(count, planted)
        samples = [(text, f"label {label}") for text, label in texts(count, 60 * count, 99)]
        report = scan(model, tokenizer, samples)
        best = report.findings[0] if report.findings else None
        rows.append(
            {
                "labels": count,
                "planted": planted,
                "seconds": report.seconds,
                "verdict": report.verdict.state,
                "score": report.verdict.score,
                "found": best.pruned.text if best else None,
                "arm": f"{best.victim}->{best.target}@{best.position}" if best else None,
                "passes": len({f.preset for f in report.findings}),
                "arms": report.arms.model_dump(exclude={"failures"}),
            }
        )
        print(rows[-1], flush=True)
    two = next(r["seconds"] for r in rows if r["labels"] == 2 and r["planted"] == "none")
    twenty = next(r["seconds"] for r in rows if r["labels"] == 20 and r["planted"] == "none")
    return {"rows": rows, "twenty_to_two": twenty / two, "limit": 4.0}


def ner(given: argparse.Namespace) -> dict[str, Any]:
    """12 arms of NER beside two of sentiment: same model size, same length of texts."""

    def of_length(rows: list[Any], words: Any) -> list[Any]:
        return [row.fields for row in rows if NER_WORDS[0] <= words(row.fields) <= NER_WORDS[1]]

    texts_ = of_length(
        read_rows(given.sentiment_samples).rows, lambda fields: len(fields["text"].split())
    )
    sentences = of_length(
        read_rows(given.ner_samples, "tokens").rows, lambda fields: len(fields["tokens"])
    )
    common = {"preset": "released", "heldout_per_class": 40}
    sentiment = scan(given.sentiment, samples=texts_, positions=("start",), **common)
    print(f"sentiment: {sentiment.arms.planned} arms, {sentiment.seconds:.0f} s", flush=True)
    tagger = scan(given.ner, samples=sentences, positions=("start", "before"), **common)
    print(f"ner: {tagger.arms.planned} arms, {tagger.seconds:.0f} s", flush=True)
    return {
        "words_per_text": NER_WORDS,
        "sentiment": {"arms": sentiment.arms.planned, "seconds": sentiment.seconds},
        "ner": {"arms": tagger.arms.planned, "seconds": tagger.seconds},
        "ratio": tagger.seconds / sentiment.seconds,
        "limit": 3.0,
    }


def main() -> None:
    """Runs the part that is asked for and stores its result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("policies", "labels", "ner"))
    for name in ("--sentiment", "--sentiment-samples", "--ner", "--ner-samples"):
        parser.add_argument(name)
    given = parser.parse_args()
    parts = {"policies": policies, "labels": labels, "ner": lambda: ner(given)}
    result = parts[given.part]()
    command = f"python {Path(__file__).name} {given.part}"
    write_result(
        f"arms_{given.part}.json",
        {"command": command, **json.loads(json.dumps(result)), "environment": environment()},
    )


if __name__ == "__main__":
    main()
