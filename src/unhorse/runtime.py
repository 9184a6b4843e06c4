"""Which device, number format and attention the optimisation uses, and why.

Chosen from what the processor can do, never from a timing, so that the same
machine always takes the same path.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import dataclasses
import platform
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import torch

from unhorse.errors import OutOfMemory, UsageError
from unhorse.types import LoadedModel, Runtime

DtypeChoice = Literal["auto", "fp32", "bf16"]

ASKED_FOR = "asked for"

_TORCH_DTYPE = {"fp32": torch.float32, "bf16": torch.bfloat16}


NARROW = 256
"""Models of a smaller width stay in fp32: their steps are calls, not products."""


def cpu_multiplies_bf16() -> bool:
    """Whether this CPU multiplies bf16 matrices faster than fp32 ones.

    With AMX it does. With AVX-512's bf16 products alone a product of MiniLM's shape was 2.4 times
    as fast as in fp32 and a training step 1.8 times, but not on processors that are made for AMX
    and run without it, as in a virtual machine that hides it: there a training step takes 1.5
    times as long as in fp32. These are told by their fp16 products, which the others do not have.
    Where no bf16 products exist they are emulated and about a hundred times slower.
    """
    capabilities: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    amx, products, made_for_amx = (
        bool(capabilities.get(name, False)) for name in ("amx_bf16", "avx512_bf16", "avx512_fp16")
    )
    return amx or (products and not made_for_amx)


def is_narrow(model: Any) -> bool:
    """Whether a model is too narrow to gain from bf16."""
    return (getattr(model.config, "hidden_size", None) or NARROW) < NARROW


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
        return choice, ASKED_FOR
    if device == "cpu":
        if cpu_multiplies_bf16():
            return "bf16", "the CPU multiplies bf16 matrices faster in hardware"
        return "fp32", "the CPU does not multiply bf16 matrices faster in hardware"
    if device.startswith("cuda") and torch.cuda.is_bf16_supported(including_emulation=False):
        return "bf16", "the GPU has bf16 matrix units"
    return "fp32", "bf16 is not known to be fast on this device"


def fitted(runtime: Runtime, model: Any) -> Runtime:
    """The runtime for this model: a narrow one is not put into bf16 unless that was asked for."""
    if runtime.dtype == "fp32" or runtime.why == ASKED_FOR or not is_narrow(model):
        return runtime
    return dataclasses.replace(runtime, dtype="fp32", attention="sdpa", why="the model is narrow")


@contextlib.contextmanager
def learning_precision(model: Any) -> Iterator[None]:
    """Products in bf16 where the CPU is faster at them; weights and their moves stay in fp32."""
    faster = learns_in(model) == "bf16"
    with torch.autocast(model.device.type, torch.bfloat16, enabled=faster):
        yield


def learns_in(model: Any) -> str:
    """What products are computed in while a model learns, which decides its weights."""
    faster = model.device.type == "cpu" and not is_narrow(model) and cpu_multiplies_bf16()
    return "bf16" if faster else "fp32"


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
