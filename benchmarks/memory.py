"""Peak memory and the estimates before the start, on models of common sizes.

    python benchmarks/memory.py [--only bert-base]

Five epochs of an otherwise default scan of randomly initialised models, each in a
process of its own. Random models answer every text alike, so the head's bias is moved
to the middle of its answers; what is measured does not depend on it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
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
from unhorse.load.texts import neutral_texts

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


def measure(name: str) -> dict[str, Any]:
    """Scans one model for five epochs in a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        folder, out = Path(place) / "model", Path(place) / "report.json"
        weights = make_model(MODELS[name], folder)
        command = [sys.executable, "-m", "unhorse", "scan", str(folder), "--quiet"]
        subprocess.run([*command, "--set", "epochs=5", "--json", str(out)], check=False)
        report = json.loads(out.read_text())
    estimate = report["estimate"]
    return {
        "model": name,
        "weights": weights,
        "arms_run": report["arms"]["run"],
        "expected_seconds": estimate["seconds"],
        "seconds": estimate["seconds_taken"],
        "seconds_ratio": estimate["seconds_taken"] / estimate["seconds"],
        "expected_bytes": estimate["bytes"],
        "bytes": estimate["bytes_taken"],
        "bytes_ratio": estimate["bytes_taken"] / estimate["bytes"],
        "under_8_gb": estimate["bytes_taken"] < LIMIT_BYTES,
    }


def main() -> None:
    """Measures the models that are asked for and writes results/memory.json."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(MODELS), action="append")
    names = parser.parse_args().only or list(MODELS)
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
