"""Peak memory and the estimates before the start, on models of common sizes.

    python benchmarks/memory.py [--only bert-base]

Loading, own texts and five epochs of a default scan (first pass, all arms) of randomly
initialised models, each in a process of its own; judging, which needs less memory, is
left out. Random models answer every text alike, so the head's bias is moved to the
middle of its answers; what is measured does not depend on it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    PreTrainedTokenizerFast,
)

from common import RESULTS, environment, write_result
from unhorse.arms.plan import plan_arms
from unhorse.arms.schedule import arm_epochs, choose_policy
from unhorse.config import make_config
from unhorse.invert.estimate import estimate, peak_bytes
from unhorse.invert.pose import pose_problem
from unhorse.invert.run import invert_arms, plan_passes
from unhorse.load.subject import make_subject
from unhorse.load.texts import neutral_texts
from unhorse.progress import ScanProgress
from unhorse.runtime import choose_runtime, keep_freed_memory

LIMIT_BYTES = 8 * 2**30
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

MODELS: dict[str, dict[str, Any]] = {
    "minilm": {
        "model_type": "bert",
        "vocab_size": 30522,
        "hidden_size": 384,
        "num_hidden_layers": 6,
        "intermediate_size": 1536,
    },
    "bert-base": {"model_type": "bert", "vocab_size": 30522},
    "roberta-large": {
        "model_type": "roberta",
        "vocab_size": 50265,
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
        "max_position_embeddings": 514,
    },
}


def make_tokenizer(size: int) -> PreTrainedTokenizerFast:
    """A word-level tokenizer of unhorse's own texts, filled up to `size` words."""
    words = sorted({w for t in neutral_texts(3000) for w in _split(t)})
    filler = (f"word{number}" for number in range(size))
    vocabulary = [*SPECIAL, *words]
    vocabulary += [next(filler) for _ in range(size - len(vocabulary))]
    backend = Tokenizer(models.WordLevel({w: i for i, w in enumerate(vocabulary)}, "[UNK]"))
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = zip(("pad", "unk", "cls", "sep", "mask"), SPECIAL, strict=True)
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, **{f"{name}_token": token for name, token in names}
    )


def _split(text: str) -> list[str]:
    return [word for word, _ in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(text.lower())]


def make_model(sizes: dict[str, Any], folder: Path) -> int:
    """Saves a random classifier with balanced answers; gives its number of weights."""
    torch.manual_seed(0)
    kind = {**sizes, "pad_token_id": 0}
    config = AutoConfig.for_model(kind.pop("model_type"), **kind, num_labels=2)
    model = AutoModelForSequenceClassification.from_config(config).eval()
    tokenizer = make_tokenizer(config.vocab_size)
    head = model.classifier
    bias = (head.out_proj if hasattr(head, "out_proj") else head).bias
    batch = tokenizer(neutral_texts(100), padding=True, return_tensors="pt")
    with torch.no_grad():
        logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
        bias[0] += (logits[:, 1] - logits[:, 0]).median()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return sum(p.numel() for p in model.parameters())


def invert(folder: str) -> dict[str, Any]:
    """What a scan does up to judging, for five epochs; in a process of its own."""
    keep_freed_memory()
    config, runtime = make_config(options={"epochs": 5}), choose_runtime()
    first = plan_passes(config)[0]
    subject = make_subject(
        folder, None, None, (), config, runtime.device, first.config.trigger_length
    )
    arms = plan_arms(subject, config).arms
    problem = pose_problem(subject, arms, first, config, runtime)
    policy = choose_policy(config.schedule, len(arms))
    work = arm_epochs(policy, arms, first.config.epochs)
    expected = estimate(problem, first.config, work, judging_tokens=0)
    began = time.perf_counter()
    made = invert_arms(problem, config.method, first.config, policy, ScanProgress())
    seconds = time.perf_counter() - began
    return {
        "arms": sum(inversion.completed for inversion in made.found),
        "expected_seconds": expected.seconds,
        "seconds": seconds,
        "seconds_ratio": seconds / expected.seconds,
        "expected_bytes": expected.bytes,
        "bytes": peak_bytes(),
        "bytes_ratio": peak_bytes() / expected.bytes,
        "under_8_gb": peak_bytes() < LIMIT_BYTES,
    }


def measure(name: str) -> dict[str, Any]:
    """Builds one model and inverts on it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "model"
        weights = make_model(MODELS[name], folder)
        command = [sys.executable, __file__, "--invert", str(folder)]
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {"model": name, "weights": weights, **json.loads(out)}


def main() -> None:
    """Measures the models that are asked for and writes results/memory.json."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(MODELS), action="append")
    parser.add_argument("--invert", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.invert:
        print(json.dumps(invert(given.invert)))
        return
    names = given.only or list(MODELS)
    path = RESULTS / "memory.json"
    rows = json.loads(path.read_text())["models"] if path.exists() else []
    for name in names:
        measured = measure(name)
        rows = [row for row in rows if row["model"] != name] + [measured]
        write_result(
            "memory.json",
            {
                "command": "python benchmarks/memory.py",
                "environment": environment(),
                "models": rows,
            },
        )
        print(json.dumps(measured), flush=True)


if __name__ == "__main__":
    main()
