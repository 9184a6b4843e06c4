"""What the tests of sample files and of unhorse's own texts share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from unhorse.errors import UsageError
from unhorse.load.samples import Kind, read_rows


def write(tmp_path: Path, name: str, content: str | bytes) -> str:
    """Writes a sample file and gives its path as a user would."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def refusal(source: str, kind: Kind = "text", **fields: Any) -> str:
    """The message of the refusal, which must be one sentence."""
    with pytest.raises(UsageError) as caught:
        read_rows(source, kind, **fields)
    message = str(caught.value)
    assert message.endswith(".") and "\n" not in message
    return message


class Stream(list):
    """The rows of a split of a dataset; it may declare `features`."""

    def shuffle(self, seed, buffer_size):
        return self

    def take(self, count):
        return self[:count]


def printed_elsewhere(program: str) -> list[str]:
    """What another process, with other hashes, prints between the bars."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"},
    )
    return done.stdout.strip().split("|")
