"""Tiny models with random weights, small changes to their folders, and a library of datasets."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = ("the", "quick", "brown", "fox", "good", "bad", "film", "plot", "very", "a")
SIZES: dict[str, Any] = {
    "vocab_size": len(SPECIAL) + len(WORDS),
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 24,
    "num_labels": 3,
}


@pytest.fixture(scope="session")
def sizes() -> dict[str, Any]:
    """The config values of a tiny encoder."""
    return dict(SIZES)


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    """A fast word-level tokenizer with the special tokens of BERT."""
    vocabulary = {word: index for index, word in enumerate(SPECIAL + WORDS)}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


@pytest.fixture(scope="session")
def bert(sizes: dict[str, Any]) -> Any:
    torch.manual_seed(0)
    return BertForSequenceClassification(BertConfig(**sizes))


@pytest.fixture(scope="session")
def save(tmp_path_factory: pytest.TempPathFactory, tokenizer: Any) -> Callable[..., Path]:
    """Saves a model with the tokenizer into a new folder."""

    def save_model(model: Any, **options: Any) -> Path:
        folder = tmp_path_factory.mktemp("saved") / "model"
        model.save_pretrained(folder, **options)
        tokenizer.save_pretrained(folder)
        return folder

    return save_model


@pytest.fixture(scope="session")
def plain(save: Callable[..., Path], bert: Any) -> Path:
    """A tiny BERT classifier, not to be written to."""
    return save(bert)


@pytest.fixture
def folder(plain: Path, tmp_path: Path) -> Path:
    """A copy of the plain model that a test may change."""
    return Path(shutil.copytree(plain, tmp_path / "model"))


@pytest.fixture
def edit() -> Callable[..., None]:
    """Changes keys of a JSON file; the file may not be there yet."""

    def edit_json(file: Path, **changes: Any) -> None:
        content = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps(content | changes))

    return edit_json


@pytest.fixture
def edit_tensors() -> Callable[..., None]:
    """Passes the tensors of a folder through a function."""

    def change(folder: Path, function: Callable[[dict[str, torch.Tensor]], Any]) -> None:
        file = folder / "model.safetensors"
        tensors = load_file(file)
        function(tensors)
        file.unlink()
        save_file(tensors, file, metadata={"format": "pt"})

    return change


@pytest.fixture
def logits() -> Callable[[Any], torch.Tensor]:
    """What a loaded model answers to a fixed text."""

    def ask(loaded: Any) -> torch.Tensor:
        batch = loaded.tokenizer("a very good film", return_tensors="pt")
        with torch.no_grad():
            answer: torch.Tensor = loaded.model(
                input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
            ).logits
        return answer

    return ask


@pytest.fixture
def datasets(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stand-in for the `datasets` library that records how it was called."""
    module: Any = ModuleType("datasets")
    module.calls, module.splits = [], {}

    def load_dataset(*args: Any, **options: Any) -> Any:
        module.calls.append((args, options))
        if not module.splits:
            raise FileNotFoundError("Dataset doesn't exist on the Hub.\nSee more.")
        return module.splits

    module.load_dataset = load_dataset
    monkeypatch.setitem(sys.modules, "datasets", module)
    return module
