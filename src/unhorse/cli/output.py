"""Writing results: checked before work starts, and whole or not at all."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unhorse.cli.console import silence
from unhorse.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from unhorse.bench.sheet import Sheet


def check_writable(target: str | None) -> None:
    """Raises before hours of work are spent on a result that cannot be stored."""
    if target is None or target == "-":
        return
    try:
        path = Path(target).resolve()
        if path.exists() and not path.is_file() and not path.is_dir():
            return
        if path.is_dir():
            raise UsageError(f"The output {target} is a folder, not a file.")
        folder = path.parent
        if not folder.is_dir():
            raise UsageError(f"The output folder {folder} does not exist.")
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(f"The output {target} cannot be written.") from error


def check_folder(folder: Path) -> None:
    """Raises if results cannot be stored in a folder; it need not be there yet."""
    try:
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        with tempfile.NamedTemporaryFile(dir=there):
            pass
    except OSError as error:
        why = error.strerror
        raise UsageError(f"The output folder {folder} cannot be written: {why}.") from error


def write_text(target: str, text: str) -> None:
    """Writes a file at once, so that a reader never sees half of it; ``-`` is stdout."""
    if target == "-":
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            silence(sys.stdout.fileno())
            raise
        return
    path = Path(target).resolve()
    try:
        if path.exists() and not path.is_file():  # a device or a pipe
            path.write_text(text, encoding="utf-8")
            return
        part = path.with_name(f".{path.name}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise UsageError(f"The output {target} cannot be written: {error.strerror}.") from error


def save_sheets(sheets: Sequence[Sheet], folder: Path, console: Console) -> None:
    """Writes every table in all its forms, and prints it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for sheet in sheets:
            for name, text in sheet.files().items():
                (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The tables cannot be written to {folder}: {error.strerror}.") from error
    for sheet in sheets:
        console.print(sheet.markdown(), markup=False, highlight=False, soft_wrap=True)
