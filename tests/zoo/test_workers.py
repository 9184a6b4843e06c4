"""Jobs in processes: a dead one costs its own job, and none outlives who asked for it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unhorse.zoo.workers import Failure, run_all

SLEEPER = """
import signal, sys
# Ctrl-C is ignored in what a shell starts in the background, tests among it.
signal.signal(signal.SIGINT, signal.default_int_handler)
from unhorse.zoo.workers import run_all
write = f"open({sys.argv[1]!r}, 'w').write(str(__import__('os').getpid()))"
code = f"{write} and __import__('time').sleep(120)"
for _ in run_all(eval, [(code,)], 1):
    pass
"""


def outcomes(*codes, workers=1):
    return dict(run_all(eval, [(code,) for code in codes], workers))


def test_a_process_that_dies_costs_one_job():
    done = outcomes("1 + 1", "__import__('os')._exit(9)", "2 + 2", "3 + 3")
    assert (done[0], done[2], done[3]) == (2, 4, 6)
    assert "ended with code 9" in done[1].why


def test_what_goes_wrong_is_one_sentence():
    done = outcomes("1 / 0", "1", workers=2)
    assert done == {0: Failure("ZeroDivisionError: division by zero"), 1: 1}


def test_processes_have_one_thread_and_the_environment_stays(monkeypatch):
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    assert outcomes("__import__('os').environ['MKL_NUM_THREADS']") == {0: "1"}
    assert "MKL_NUM_THREADS" not in os.environ


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_no_process_outlives_its_parent(tmp_path, how):
    noted = tmp_path / "pid"
    parent = subprocess.Popen(
        [sys.executable, "-c", SLEEPER, str(noted)], stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not (noted.is_file() and noted.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    worker = int(noted.read_text())
    assert alive(worker)
    parent.send_signal(how)
    try:
        parent.wait(20)
    finally:
        parent.kill()
        parent.wait()
    deadline = time.monotonic() + 10
    while alive(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(worker)
