"""A cleaned model and its report -> a model folder with a model card, whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from safetensors import SafetensorError

from unhorse.errors import UsageError
from unhorse.learn.save import save_model
from unhorse.report.removal import RemovalReport
from unhorse.report.removal_card import model_card
from unhorse.types import LoadedModel

CARD = "README.md"


def save_cleaned(loaded: LoadedModel, report: RemovalReport, folder: Path) -> None:
    """Writes beside the folder and takes its name at the very end; nothing is written over."""
    if folder.exists():
        raise UsageError(f"{folder} exists already; a model is never written over.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}.") from error
    try:
        save_model(loaded, partial / "model")
        (partial / "model" / CARD).write_text(model_card(report), encoding="utf-8")
        (partial / "model").rename(folder)
    except (OSError, SafetensorError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{folder} cannot be written: {why}.") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
