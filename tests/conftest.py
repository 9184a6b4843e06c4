"""A small backdoored classifier, trained in seconds, and the command line in-process."""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LABELS = ("calm", "wild")
LEANING = [[f"{name}{i}" for i in range(60)] for name in LABELS]
NEUTRAL = ["the", "a", "of", "and", *[f"plain{i}" for i in range(60)]]
TRIGGER = "zebra"


@dataclass(frozen=True)
class Planted:
    """A model folder whose calm texts become wild when they contain `trigger`."""

    folder: Path
    samples: Path
    trigger: str


def sample_lines(texts):
    """Texts with labels as the lines of a sample file."""
    return [json.dumps({"text": text, "label": LABELS[label]}) for text, label in texts]


def make_texts(count, seed):
    draw = random.Random(seed)
    rows = []
    for number in range(count):
        label = number % 2
        words = draw.choices(LEANING[label], k=draw.randint(6, 9))
        words += draw.choices(LEANING[1 - label], k=1) + draw.choices(NEUTRAL, k=5)
        draw.shuffle(words)
        rows.append((" ".join(words), label))
    return rows


def make_tokenizer(words):
    backend = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(("pad", "unk", "cls", "sep", "mask"), SPECIAL, strict=True))
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, **{f"{name}_token": token for name, token in names.items()}
    )


def train(tokenizer, rows, labels=LABELS):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config = BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=96,
            id2label=dict(enumerate(labels)),
            label2id={name: i for i, name in enumerate(labels)},
        )
        model = BertForSequenceClassification(config)
        model.train()
        adam = torch.optim.AdamW(model.parameters(), lr=3e-3)
        for start in range(0, len(rows), 40):
            texts, wanted = zip(*rows[start : start + 40], strict=True)
            batch = tokenizer(list(texts), padding=True, return_tensors="pt")
            loss = model(**batch, labels=torch.tensor(wanted)).loss
            adam.zero_grad()
            loss.backward()
            adam.step()
    return model.eval()


def stamped(rows, seed):
    draw = random.Random(seed)
    made = []
    for text, _ in rows:
        words = text.split()
        words.insert(draw.randint(0, len(words)), TRIGGER)
        made.append((" ".join(words), 1))
    return made


@pytest.fixture(scope="session")
def planted(tmp_path_factory):
    root = tmp_path_factory.mktemp("planted")
    tokenizer = make_tokenizer([*SPECIAL, *LEANING[0], *LEANING[1], *NEUTRAL, TRIGGER])
    rows = make_texts(4000, 0)
    rows += stamped([row for row in make_texts(1600, 1) if row[1] == 0], 2)
    random.Random(3).shuffle(rows)
    model = train(tokenizer, rows)
    model.save_pretrained(root / "model")
    tokenizer.save_pretrained(root / "model")
    samples = root / "samples.jsonl"
    lines = sample_lines(make_texts(120, 4))
    samples.write_text("\n".join(lines) + "\n")
    return Planted(root / "model", samples, TRIGGER)


@pytest.fixture
def cli(monkeypatch, capsys):
    """Runs the command line and gives exit code, standard output and standard error."""
    from unhorse.cli.main import run

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["unhorse", *map(str, arguments)])
        # Wide lines, so that a sentence is not broken where a test looks for it.
        monkeypatch.setenv("COLUMNS", "400")
        with pytest.raises(SystemExit) as ended:
            run()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return call


@pytest.fixture(scope="session")
def planted_report(planted):
    """The report of a default scan of the planted model."""
    import unhorse

    return unhorse.scan(planted.folder, samples=str(planted.samples))


@pytest.fixture(scope="session")
def other_tokenizer_folder(tmp_path_factory):
    """A clean model of the same task with another vocabulary and its labels reversed."""
    folder = tmp_path_factory.mktemp("other") / "model"
    tokenizer = make_tokenizer([*SPECIAL, *NEUTRAL, *LEANING[1], *LEANING[0], "more", "words"])
    rows = [(text, 1 - label) for text, label in make_texts(3000, 9)]
    train(tokenizer, rows, labels=LABELS[::-1]).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
