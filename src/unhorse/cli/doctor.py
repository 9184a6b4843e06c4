"""`unhorse doctor`: versions, device, threads, precision chosen and why, speed of one step."""

from __future__ import annotations

import platform
from importlib.metadata import version

from rich.table import Table

from unhorse.cli.console import make_console

_PACKAGES = ("unhorse", "torch", "transformers", "tokenizers", "safetensors", "numpy", "scipy")


def command() -> None:
    """Show what a scan would use on this machine, and how fast one step is."""
    import torch

    from unhorse.runtime import choose_runtime, keep_freed_memory
    from unhorse.speed import step_speed

    console = make_console()
    keep_freed_memory()
    runtime = choose_runtime()
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    table.add_row("python", platform.python_version())
    for package in _PACKAGES:
        table.add_row(package, version(package))
    table.add_row("cpu", torch.backends.cpu.get_cpu_capability())
    table.add_row("device", runtime.device)
    table.add_row("threads", str(runtime.threads))
    table.add_row("precision", f"{runtime.dtype}, because {runtime.why}")
    table.add_row("attention", runtime.attention)
    speed = step_speed(runtime)
    table.add_row("one step", f"{speed.seconds * 1000:.0f} ms for {speed.what}")
    table.add_row(
        "rate",
        f"{speed.gflops:.0f} GFLOP/s; a plain matrix product of the same kind reaches "
        f"{speed.gemm_gflops:.0f}",
    )
    console.print(table)
