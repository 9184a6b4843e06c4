"""Hostile input -> one sentence: what may escape while a library reads an untrusted model.

Everything that transformers, safetensors or tokenizers does with a model folder
happens inside `refusing`, so that whatever goes wrong ends as a refusal. Loading
also happens inside `offline` and `quiet`.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import torch
from huggingface_hub import constants
from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars
from transformers.utils import logging

from unhorse.errors import ModelRefused, OutOfMemory, UnhorseError

_LONGEST_CAUSE = 200


def one_line(value: object) -> str:
    """The first line of a text that an untrusted file may have shaped.

    A line that ends in a colon says nothing without the next one.

    >>> one_line("bad \\x1b[31mthing\\nand more")
    'bad [31mthing'
    """
    lines = [line.strip() for line in str(value).strip().splitlines()] or [""]
    first = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    printable = "".join(char for char in first if char.isprintable())
    return printable if len(printable) <= _LONGEST_CAUSE else printable[:_LONGEST_CAUSE] + "..."


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Turns any failure inside into a refusal that starts with `what`.

    Our own errors, an interrupt and exhausted memory pass through.
    """
    try:
        yield
    except (UnhorseError, MemoryError):
        raise
    except BaseException as error:
        # A panic in Rust code (tokenizers, safetensors) is not an Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        if _out_of_memory(error):
            raise OutOfMemory("The model does not fit into memory.") from error
        cause = one_line(error) or type(error).__name__
        raise ModelRefused(f"{what}: {cause.rstrip('.')}.") from error


def _out_of_memory(error: BaseException) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
    )


@contextmanager
def offline() -> Iterator[None]:
    """No request to the hub inside.

    Everything needed is in the staging folder by then. Some architectures would
    fetch compiled kernels when they are built, which is code from elsewhere.
    """
    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars, log lines or warnings of transformers inside."""
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    hub_bars = not are_progress_bars_disabled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.set_verbosity(logging.CRITICAL)
        logging.disable_progress_bar()
        try:
            yield
        finally:
            logging.set_verbosity(verbosity)
            if bars:
                logging.enable_progress_bar()
            # The switch above moves the hub's bars as well.
            if bars and not hub_bars:
                disable_progress_bars()


@contextmanager
def silent() -> Iterator[None]:
    """Nothing reaches the process's standard output and error inside.

    Rust code prints past Python: backtraces of a panic, and remarks on standard
    output, which belongs to results. Only the file descriptors can stop that.
    """
    _flush()
    sink = os.open(os.devnull, os.O_WRONLY)
    saved: dict[int, int] = {}
    for stream in (1, 2):
        with suppress(OSError):  # The process may run without it.
            saved[stream] = os.dup(stream)
            os.dup2(sink, stream)
    try:
        yield
    finally:
        _flush()
        for stream, before in saved.items():
            os.dup2(before, stream)
            os.close(before)
        os.close(sink)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
