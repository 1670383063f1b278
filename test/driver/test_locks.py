"""Calls that wait for the device release the interpreter lock.

Each release runs during a host callback in Python, which needs the interpreter, and
during a long kernel. See support/locks.py.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import locks

pytestmark = pytest.mark.gpu

TWIN = "twin_that_keeps_the_lock"
#: On the software device a launch computes in its own thread, and waits for its turn.
QUEUE = ("launches_that_fill_the_queue", "launch_behind_a_free")
RELEASES = [name for name in locks.CASES if name not in (TWIN, *QUEUE)]
#: These do not wait for the device, on an H200.
QUICK = {"stream_dropped", "event_dropped"}


def run(kind, *names, check=True, watchdog=30):
    """Run cases in a process; return {name: (milliseconds, longest pause)}."""
    done = subprocess.run(
        [sys.executable, "-m", "support.locks", kind, *names],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "LOCKS_WATCHDOG": str(watchdog)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if check:
        assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    return {name: (float(took), float(pause)) for name, took, pause in lines}


@pytest.mark.parametrize("kind", ["callback", "kernel"])
def test_other_threads_run_while_a_release_waits(kind):
    found = run(kind, *RELEASES)
    assert list(found) == RELEASES
    waited = {name for name, (took, _) in found.items() if took > 20}
    # these releases must wait, or they prove nothing; others may wait too
    assert len(waited - QUICK) >= len(RELEASES) - len(QUICK) - 3, found
    limit = 1e3 * locks.PAUSE
    found.pop("allocation_in_a_cycle")  # the garbage collector holds the lock
    slow = {name: pair for name, pair in found.items() if pair[1] > limit}
    assert slow == {}


@pytest.mark.parametrize("kind", ["callback", "kernel"])
def test_a_release_that_keeps_the_lock_is_found(kind):
    found = run(kind, TWIN, check=False, watchdog=5)
    if TWIN in found:  # otherwise the watchdog has ended the process
        assert found[TWIN][1] > 1e3 * locks.PAUSE


@pytest.mark.hardware(why="the queue of launches is the driver's")
@pytest.mark.parametrize("name", QUEUE)
@pytest.mark.parametrize("kind", ["callback", "kernel"])
def test_other_threads_run_while_a_launch_waits(kind, name):
    took, pause = run(kind, name)[name]
    assert took > 20
    assert pause < 1e3 * locks.PAUSE


WAITS = """CtxDestroy DevicePrimaryCtxRelease DevicePrimaryCtxReset CtxSynchronize
StreamSynchronize EventSynchronize CtxCreate DevicePrimaryCtxRetain"""
#: These wait until the context is idle.
WAITS_FOR_IDLE = """MemFree MemFreeHost MemHostUnregister ModuleLoadData
ModuleLoadDataEx ModuleUnload ArrayDestroy MipmappedArrayDestroy CtxSetLimit"""
#: These wait for the default stream.
WAITS_FOR_DEFAULT = "MemcpyHtoD MemcpyDtoH"
#: These wait behind such a call of another thread.
WAITS_BEHIND = """MemAlloc StreamCreate EventCreate EventDestroy ModuleGetFunction
TexObjectCreate TexObjectDestroy"""
#: These too, and they wait for a free place in the queue of a stream.
QUEUES = "LaunchKernel LaunchHostFunc EventRecord"


@pytest.mark.parametrize(
    ("names", "word"),
    [
        (WAITS, "NOGIL"),
        (WAITS_FOR_IDLE, "IDLE"),
        (WAITS_FOR_DEFAULT, "SYNC"),
        (WAITS_BEHIND, "BEHIND"),
        (QUEUES, "QUEUE"),
    ],
)
def test_the_table_says_what_was_measured(names, word):
    """These calls waited on an H200."""
    root = Path(__file__).parents[2]
    table = (root / "src/cpp_free_c/abi/functions.h").read_text()
    for name in names.split():
        row = table[table.index(f"X({name},") :]
        assert re.search(r"(?:REQUIRED|OPTIONAL)\((\w+)\)", row)[1] == word, name
