from __future__ import annotations

import os

import pytest
import torch

from unhorse.errors import ModelRefused, OutOfMemory, UsageError
from unhorse.load.guard import one_line, refusing, silent


def test_a_failure_becomes_one_sentence() -> None:
    with pytest.raises(ModelRefused) as refusal, refusing("It broke"):
        raise ValueError("first\x07 line.\nsecond line")
    assert str(refusal.value) == "It broke: first line."


def test_a_failure_without_words_is_named() -> None:
    with pytest.raises(ModelRefused, match=r"^It broke: KeyError\.$"), refusing("It broke"):
        raise KeyError


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate ..."),
    ],
)
def test_memory_that_is_not_there_is_not_the_models_fault(error: Exception) -> None:
    with pytest.raises(OutOfMemory), refusing("It broke"):
        raise error


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, MemoryError, UsageError])
def test_what_is_not_about_the_model_passes(kind: type[BaseException]) -> None:
    with pytest.raises(kind), refusing("It broke"):
        raise kind


def test_one_line_is_short_and_keeps_the_second_half_of_a_sentence() -> None:
    assert one_line("wrong field:\n  a number") == "wrong field: a number"
    assert one_line("") == ""
    assert len(one_line("x" * 10_000)) < 300


def test_silence_ends(capfd: pytest.CaptureFixture[str]) -> None:
    with silent():
        os.write(1, b"hidden")
        os.write(2, b"hidden")
    os.write(1, b"out")
    os.write(2, b"err")
    assert capfd.readouterr() == ("out", "err")
