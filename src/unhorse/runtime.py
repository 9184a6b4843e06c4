"""Which device, number format and attention the optimisation uses, and why.

Chosen from what the processor can do, never from a timing, so that the same
machine always takes the same path.
"""

from __future__ import annotations

import copy
import ctypes
import dataclasses
import platform
import sys
from collections.abc import Mapping
from typing import Literal

import torch

from unhorse.errors import OutOfMemory, UsageError
from unhorse.types import LoadedModel, Runtime

DtypeChoice = Literal["auto", "fp32", "bf16"]

_TORCH_DTYPE = {"fp32": torch.float32, "bf16": torch.bfloat16}


def cpu_has_bf16_matrix_units() -> bool:
    """Whether this CPU multiplies bf16 matrices in hardware (AMX).

    AVX-512 bf16 without AMX is left on fp32: it is no matrix unit, and where
    neither exists bf16 is emulated and about a hundred times slower than fp32.
    """
    capabilities: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("amx_bf16", False))


def choose_runtime(device: str = "auto", dtype: DtypeChoice = "auto") -> Runtime:
    """The runtime for a device name and a dtype, both possibly ``"auto"``."""
    kind = _device(device)
    chosen, why = _dtype(kind, dtype)
    # The CPU's fused attention is slow in bf16 backward; eager is faster there.
    attention: Literal["eager", "sdpa"] = "eager" if chosen == "bf16" and kind == "cpu" else "sdpa"
    return Runtime(kind, chosen, attention, torch.get_num_threads(), why)


def _device(name: str) -> str:
    if name == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.empty(1, device=name)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"The device {name!r} cannot be used here.") from error
    return name


def _dtype(device: str, choice: DtypeChoice) -> tuple[Literal["fp32", "bf16"], str]:
    if choice != "auto":
        return choice, "asked for"
    if device == "cpu":
        if cpu_has_bf16_matrix_units():
            return "bf16", "the CPU has bf16 matrix units"
        return "fp32", "the CPU has no bf16 matrix units"
    if device.startswith("cuda") and torch.cuda.is_bf16_supported(including_emulation=False):
        return "bf16", "the GPU has bf16 matrix units"
    return "fp32", "bf16 is not known to be fast on this device"


def for_optimisation(loaded: LoadedModel, runtime: Runtime) -> LoadedModel:
    """The model as the optimiser runs it; the fp32 original stays for judging."""
    model = loaded.model
    if runtime.dtype != "fp32":
        model = copy.deepcopy(model).to(_TORCH_DTYPE[runtime.dtype])
    if model.config._attn_implementation != runtime.attention and runtime.attention == "eager":
        model.set_attn_implementation("eager")
    return dataclasses.replace(loaded, model=model)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, on any device."""
    phrases = ("out of memory", "can't allocate memory", "bad_alloc")
    return isinstance(error, MemoryError | torch.OutOfMemoryError | OutOfMemory) or any(
        phrase in str(error).lower() for phrase in phrases
    )


def keep_freed_memory() -> None:
    """Asks glibc to keep freed memory instead of returning it after every step.

    A step frees and takes the same hundreds of megabytes again; giving them to
    the system in between costs more than half of the time of small steps.
    """
    if sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
        return
    mmap_max, trim_threshold = -4, -1
    libc = ctypes.CDLL(None)
    libc.mallopt(mmap_max, 0)
    libc.mallopt(trim_threshold, 2**31 - 1)
