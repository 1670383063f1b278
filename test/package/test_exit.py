"""Every program ends with its own exit code and without output."""

import itertools

import pytest

from support.child import run_child

pytestmark = pytest.mark.gpu

START = """
import os, sys, threading, gc, numpy as np
import pycuda.driver as drv
drv.init()
dev = drv.Device(0)
"""

#: Python 3.12 and newer warn about fork() with threads, which the driver starts.
FORK = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
"""

THINGS = """
ctx = dev.make_context()
mem, stream, event = drv.mem_alloc(64), drv.Stream(), drv.Event()
host = drv.pagelocked_zeros(16, np.float32)
"""

ENDINGS = {
    "context left on the stack": "",
    "two contexts left": "dev.make_context()",
    "popped": "ctx.pop()",
    "detached": "ctx.detach()",
    "detached, objects deleted after": "ctx.detach(); del mem, stream, event, host",
    "popped, context deleted first": "ctx.pop(); del ctx; del mem, stream, event, host",
    "pushed twice": "ctx.push(); ctx.push()",
    "primary pushed": "p = dev.retain_primary_context(); p.push(); drv.mem_alloc(8)",
    "in a cycle": "mem.ring = [ctx, mem]; stream.ring = stream; del mem, stream, ctx",
    "in a module": "import types; t = types.ModuleType('t'); t.m = mem; "
    "sys.modules['t'] = t",
    "freed from a thread": "t = threading.Thread(target=mem.free); t.start(); t.join()",
    "in a finalizer": "class F:\n    def __del__(self): self.m.free()\n"
    "f = F(); f.m = mem",
    "atexit": "import atexit; atexit.register(ctx.pop); atexit.register(mem.free)",
    "exit handler makes more": "import atexit; atexit.register(drv.mem_alloc, 8)",
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_program_ends_silently(name):
    run_child(START + THINGS + ENDINGS[name])


@pytest.mark.parametrize("name", ["context left on the stack", "popped", "detached"])
def test_its_own_exit_code(name):
    code = START + THINGS + ENDINGS[name] + "\nsys.exit(7)"
    done = run_child(code, check=False)
    assert (done.returncode, done.stderr) == (7, "")


def test_after_an_exception():
    done = run_child(START + THINGS + "raise KeyError('mine')", check=False)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("KeyError: 'mine'")
    assert "pycuda" not in done.stderr.lower()


@pytest.mark.parametrize(
    "order", list(itertools.permutations(("mem", "stream", "ctx")))
)
def test_any_order_of_deletion(order):
    lines = "\n".join(f"del {name}; gc.collect()" for name in order)
    run_child(START + THINGS + "ctx.pop()\n" + lines)


def test_a_thread_ends_with_a_context():
    run_child(
        START
        + """
def body():
    ctx = dev.make_context()
    kept.append(drv.mem_alloc(64))
kept = []
t = threading.Thread(target=body)
t.start(); t.join()
kept.clear()
assert drv.Context.get_current() is None
"""
    )


def test_daemon_threads_running():
    run_child(
        START
        + THINGS
        + """
def body():
    ctx.push()
    while True:
        m = drv.mem_alloc(1024)
        drv.memset_d8(m, 0, 1024)
        drv.Context.synchronize()
for _ in range(3):
    threading.Thread(target=body, daemon=True).start()
import time; time.sleep(0.2)
"""
    )


def test_a_forked_child_drops_the_parents_handles():
    run_child(
        FORK
        + START
        + THINGS
        + """
pid = os.fork()
if pid == 0:
    for use in (ctx.push, ctx.__enter__, drv.Context.get_current):
        try:
            use()
        except drv.LogicError as error:
            assert "forked" in str(error)
        else:
            sys.exit(6)
    del mem, stream, event, host
    gc.collect()
    sys.exit(5)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
drv.memset_d8(mem, 1, 64)
"""
    )


def test_fork_before_init_is_fine():
    run_child(
        FORK
        + """
import os
import pycuda.driver as drv
drv.get_driver_version()
pid = os.fork()
drv.init()
ctx = drv.Device(0).make_context()
drv.mem_alloc(8)
ctx.pop()
if pid:
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""
    )


def test_ten_thousand_rounds_leave_nothing():
    run_child(
        START
        + """
from pycuda import _driver
from pycuda.compiler import SourceModule
ctx = dev.make_context()
f = SourceModule("__global__ void k(int *p) { *p += 1; }").get_function("k")
one = np.zeros(1, np.int32)

def round_():
    for _ in range(3334):
        m = drv.to_device(one)
        s, e = drv.Stream(), drv.Event()
        f(m, block=(1, 1, 1), stream=s)
        e.record(s)
        s.synchronize()
        assert drv.from_device(m, 1, np.int32)[0] == 1
        del m, s, e
    gc.collect()
    free = drv.mem_get_info() if _driver._is_emulated() else None  # a GPU has others
    return _driver._live_counts(), free

round_()
second, third = round_(), round_()
assert second == third, (second, third)
ctx.pop()
""",
        timeout=300,
    )


def test_the_check_above_can_fail():
    with pytest.raises(AssertionError):
        run_child("import sys; print('!', file=sys.stderr)")
    with pytest.raises(AssertionError):
        run_child("import os; os.abort()")
