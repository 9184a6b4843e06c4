"""Jobs -> outcomes, several at a time, in processes of one thread each.

A process that is killed, for memory or by hand, costs the job that it was at and no other.
When the caller stops asking, is interrupted or dies, the processes end too.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from unhorse.errors import UnhorseError

T = TypeVar("T")

ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Read by the numeric libraries of a new process when they are loaded."""


@dataclass(frozen=True)
class Failure:
    """Why a job has no result, in one sentence."""

    why: str


def run_all(
    function: Callable[..., T], jobs: Sequence[tuple[Any, ...]], workers: int
) -> Generator[tuple[int, T | Failure]]:
    """Calls a function with the arguments of every job; yields number and outcome when done.

    Args:
        function: what to call; a module must have it under its name.
        jobs: the arguments of every call.
        workers: how many are called at a time.
    """
    waiting = deque(range(len(jobs)))
    idle: list[_Worker] = []
    busy: dict[object, tuple[_Worker, int]] = {}
    try:
        while waiting or busy:
            while waiting and len(busy) < workers:
                worker = idle.pop() if idle else _Worker(function)
                number = waiting.popleft()
                worker.give(jobs[number])
                busy[worker.pipe] = worker, number
            for ready in wait([worker.pipe for worker, _ in busy.values()]):
                worker, number = busy.pop(ready)
                outcome = worker.outcome()
                if worker.process.is_alive():
                    idle.append(worker)
                yield number, outcome
    finally:
        for worker in (*idle, *(worker for worker, _ in busy.values())):
            worker.end()


class _Worker:
    """A process that does one job after another."""

    def __init__(self, function: Callable[..., Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=_serve, args=(there, function), daemon=True)
        with _environment(ONE_THREAD):
            self.process.start()
        there.close()

    def give(self, job: tuple[Any, ...]) -> None:
        # A process that has died meanwhile is noticed when its outcome is asked for.
        with contextlib.suppress(OSError):
            self.pipe.send(job)

    def outcome(self) -> Any:
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode
            self.pipe.close()
            return Failure(
                f"The process that built it ended with code {code}; "
                "the machine may have too little memory."
            )

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _serve(pipe: Connection, function: Callable[..., Any]) -> None:
    """What a worker does until nobody wants anything more."""
    # Ctrl-C reaches the whole group; the parent decides what to do about it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        pipe.send(_outcome(function, job))


def _end_with_parent() -> None:
    """Ends this process at once when its parent is gone: nobody would take its result."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _outcome(function: Callable[..., Any], job: tuple[Any, ...]) -> Any:
    try:
        return function(*job)
    except UnhorseError as error:
        return Failure(str(error))
    except Exception as error:
        # One job that goes wrong must not cost the others.
        return Failure(" ".join(f"{type(error).__name__}: {error}".split()))
