"""A model in memory -> a plain model folder."""

from __future__ import annotations

from pathlib import Path

from unhorse.load.guard import quiet
from unhorse.types import LoadedModel


def save_model(loaded: LoadedModel, folder: Path) -> None:
    """Writes model and tokenizer to a new folder; where they came from is not in it."""
    folder.mkdir(parents=True)
    model, tokenizer = loaded.model, loaded.tokenizer
    model.config.name_or_path = tokenizer.name_or_path = ""
    tokenizer.model_max_length = loaded.max_length
    with quiet():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
