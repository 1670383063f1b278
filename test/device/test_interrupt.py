"""Signals while the software device computes or waits: Ctrl-C, Jupyter's Interrupt.

Each test has a child process that gets real signals.
"""

import re
import subprocess
import sys

import pytest

from support.cc import compile_c, compilers, must
from support.child import run_child
from support.compilers import needs_nvcc
from support.emulator import PATH

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.software(why="about the software device alone"),
    needs_nvcc,
]

SOURCE = r"""
extern "C" {

__global__ void wait_for(volatile int *flag, int *out)
{
    while (*flag == 0);
    out[threadIdx.x] = *flag;
}

__global__ void compute(float *out, int rounds)
{
    float x = out[threadIdx.x];
    for (int r = 0; r < rounds; r++) x = x * 1.0001f + 0.5f;
    out[threadIdx.x] = x;
}

__device__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__global__ void recurse(int *out, int n)
{
    out[threadIdx.x] = fibonacci(n);
}

__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; }

}
"""

PRELUDE = f"""
import os, signal, subprocess, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have ignored it
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

SOURCE = {SOURCE!r}
module = SourceModule(SOURCE)
wait_for, compute, recurse, fill = map(
    module.get_function, ["wait_for", "compute", "recurse", "fill"])
context = pycuda.autoinit.context
flag, out = gpuarray.zeros(1, np.int32), gpuarray.zeros(1024, np.int32)
kept = gpuarray.to_gpu(np.arange(1000))
context.synchronize()

def endless(stream=None, block=32, grid=1):
    wait_for(flag, out, block=(block, 1, 1), grid=(grid, 1), stream=stream)

def waited(call, *arguments, **options):
    call(*arguments, **options)
    context.synchronize()

def interrupt_later(seconds=0.2, number=signal.SIGINT):
    '''From another process, so no thread here has to run for it.'''
    word = signal.Signals(number).name[3:]
    return subprocess.Popen(
        ["sh", "-c", f"sleep {{seconds}}; date +%s.%N; kill -{{word}} {{os.getpid()}}"],
        stdout=subprocess.PIPE, text=True)

def delay_of(call, exception=KeyboardInterrupt, number=signal.SIGINT):
    '''Seconds from the signal to the exception; the best of three tries.'''
    best = 99
    for _ in range(3):
        sender = interrupt_later(number=number)
        try:
            call()
        except exception:
            end = time.time()
        else:
            raise AssertionError("not interrupted")
        best = min(best, end - float(sender.communicate()[0]))
        if best < 0.1:
            break
    return best

def check_usable():
    '''The context computes, its memory is intact.'''
    fill(out, block=(1024, 1, 1))
    assert (out.get() == np.arange(1024)).all()
    assert (kept.get() == np.arange(1000)).all()
    out.fill(0)
    context.synchronize()

def report(name, delay):
    check_usable()
    print(name, "in time" if delay < 0.1 else delay)
"""


def run(code, **environment):
    return run_child(PRELUDE + code, **environment)


def test_ctrl_c_ends_kernels():
    """Ctrl-C ends kernels that spin, compute or recurse, with one or many warps."""
    done = run(
        """
report("one warp", delay_of(lambda: waited(endless, block=1)))
report("many blocks", delay_of(lambda: waited(endless, block=256, grid=200)))
x = gpuarray.zeros(1024, np.float32)
report("compute", delay_of(
    lambda: waited(compute, x, np.int32(1 << 30), block=(1024, 1, 1), grid=(64, 1))))
report("recurse", delay_of(
    lambda: waited(recurse, out, np.int32(60), block=(32, 1, 1))))
stream = drv.Stream()
report("stream", delay_of(lambda: waited(endless, stream)))
prepared = wait_for.prepare("PP")
report("prepared", delay_of(lambda: waited(
    prepared.prepared_call, (1, 1), (32, 1, 1), flag.gpudata, out.gpudata)))

def launch_timed():
    wait_for(flag, out, block=(32, 1, 1), time_kernel=True)
report("timed", delay_of(launch_timed))
"""
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 7
    assert all(line.endswith("in time") for line in lines), lines


def test_ctrl_c_names_the_line_of_the_kernel():
    """The next one, that ends something else, does not name it again."""
    done = run(
        """
import traceback
def said_by(call):
    sender = interrupt_later()
    try:
        call()
    except KeyboardInterrupt as error:
        sender.communicate()
        return " ".join("".join(traceback.format_exception(error)).split())
print(said_by(lambda: waited(endless)))
print("kernel.cu" in said_by(lambda: time.sleep(5)))
"""
    )
    first, second = done.stdout.splitlines()
    line = SOURCE.split("\n").index("    while (*flag == 0);") + 1
    assert "The kernel was ended:" in first and "in kernel wait_for, block" in first
    assert f"at kernel.cu:{line} " in first and "while (*flag == 0);" in first
    assert second == "False"


def test_ctrl_c_ends_waits_for_another_thread():
    """The other thread's kernel continues. Work behind it is only kept, so its calls
    return. The counterpart ends as soon as its flag is set, with the right result."""
    done = run(
        """
streams = [drv.Stream(), drv.Stream(drv.stream_flags.NON_BLOCKING)]
started = threading.Event()
host = np.zeros(1024, np.int32)
pinned = drv.pagelocked_zeros(1024, np.int32)
event = drv.Event()
other = gpuarray.zeros(1024, np.int32)

def work():
    context.push()
    started.set()
    endless(streams[0])
    streams[0].synchronize()
    context.pop()

worker = threading.Thread(target=work)
worker.start()
started.wait()
time.sleep(0.1)

calls = {
    "Context.synchronize": context.synchronize,
    "Stream.synchronize": streams[0].synchronize,
    "memcpy_dtoh": lambda: drv.memcpy_dtoh(host, out.gpudata),
    "memcpy_htod": lambda: drv.memcpy_htod(out.gpudata, host),
    "get": out.get,
    "set": lambda: out.set(host),
    "to_gpu": lambda: gpuarray.to_gpu(host),
    "free": lambda: (drv.mem_alloc(64).free(), time.sleep(1)),
    "Event": lambda: (event.record(streams[0]), event.synchronize()),
}
kept_calls = [
    lambda: drv.memcpy_dtoh_async(pinned, out.gpudata, streams[0]),
    lambda: drv.memset_d32(other.gpudata, 7, 1024),
    lambda: fill(other, block=(32, 1, 1)),
    lambda: event.record(streams[0]),
]
begin = time.monotonic()
for call in kept_calls:
    call()
print("kept", time.monotonic() - begin < 1, event.query(), worker.is_alive())
for name, call in calls.items():
    delay = delay_of(call)
    print(name, "in time" if delay < 0.1 else delay, worker.is_alive())
drv.memcpy_htod_async(flag.gpudata, np.array([9], np.int32), streams[1])
worker.join(10)
print(worker.is_alive(), (out.get()[:32] == 9).all(), event.query(),
      (other.get()[:32] == np.arange(32)).all())
check_usable()
"""
    )
    kept, *lines, last = done.stdout.splitlines()
    assert kept == "kept True False True"
    assert len(lines) == 9
    assert all(line.endswith("in time True") for line in lines), lines
    assert last == "False True True True"


def test_ctrl_c_with_late_streams():
    """Ctrl-C drops the work that a call was about to run. Later work runs."""
    done = run(
        """
stream = drv.Stream()
event = drv.Event()

def queue():
    endless(stream)
    event.record(stream)
    drv.memset_d32_async(out.gpudata, 77, 1024, stream)

for name, call in {
    "Stream.synchronize": stream.synchronize,
    "Event.synchronize": event.synchronize,
    "Context.synchronize": context.synchronize,
    "memcpy_dtoh": lambda: drv.memcpy_dtoh(np.zeros(8, np.int32), out.gpudata),
    "free": lambda: (drv.mem_alloc(64).free(), time.sleep(1)),
}.items():
    delay = delay_of(lambda: (queue(), call()))
    context.synchronize()
    print(name, "in time" if delay < 0.1 else delay, (out.get() == 0).all())
    check_usable()
""",
        PYCUDA_EMULATOR_STREAMS="late",
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 5
    assert all(line.endswith("in time True") for line in lines), lines


def test_ctrl_c_ends_a_graph():
    """The nodes after the kernel do not run. The exception is raised although the call
    does not go through the package."""
    done = run(
        """
from ctypes import c_uint64, c_void_p
from support.capture import driver

d = driver()
stream = drv.Stream()
handle = c_void_p(stream.handle)
d.ok("StreamBeginCapture", handle, 2)
endless(stream)
drv.memset_d32_async(out.gpudata, 77, 1024, stream)
graph = c_void_p(d.last(c_void_p, "StreamEndCapture", handle))
runnable = c_void_p(d.out(c_void_p, "GraphInstantiateWithFlags", graph, c_uint64(0)))
report("graph", delay_of(
    lambda: (d.GraphLaunch(runnable, handle), stream.synchronize())))
flag.fill(1)
context.synchronize()
d.ok("GraphLaunch", runnable, handle)
stream.synchronize()
print((out.get() == 77).all())
d.ok("GraphExecDestroy", runnable)
d.ok("GraphDestroy", graph)
""",
        PYTHONPATH=PATH,
    )
    assert done.stdout == "graph in time\nTrue\n"


def test_handlers_that_do_not_raise():
    """Handlers run during the kernel, which continues. They may use the device, but not
    wait for the kernel that they interrupt."""
    done = run(
        """
x = gpuarray.zeros(32, np.float32)
said = []

def handler(number, frame):
    said.append(time.monotonic())
    memory = drv.mem_alloc(64)
    memory.free()
    for call in context.synchronize, kept.get:
        try:
            call()
        except drv.Error as error:
            said.append(error.name)

signal.signal(signal.SIGUSR1, handler)
compute(x, np.int32(1 << 10), block=(32, 1, 1))
rounds, begin, end = 1 << 16, 0, 0
while end - begin < 0.6:  # find out how many rounds take that long
    rounds *= 2
    begin = time.monotonic()
    x.fill(0)
    compute(x, np.int32(rounds), block=(32, 1, 1))
    context.synchronize()
    end = time.monotonic()
expected = x.get()
x.fill(0)
sender = interrupt_later(0.1, signal.SIGUSR1)
waited(compute, x, np.int32(rounds), block=(32, 1, 1))
end = time.monotonic()
sender.communicate()
print(len(said), said[1:], end - said[0] > 0.1, (x.get() == expected).all())
check_usable()
"""
    )
    assert (
        done.stdout
        == "3 ['CUDA_ERROR_NOT_PERMITTED', 'CUDA_ERROR_NOT_PERMITTED']"
        + (" True True\n")
    )


def test_an_alarm_that_raises():
    """Tools that limit the time of a test use such an alarm."""
    done = run(
        """
class Timeout(Exception):
    pass

def handler(number, frame):
    raise Timeout("too long")

signal.signal(signal.SIGALRM, handler)
print(report("alarm", delay_of(lambda: waited(endless), Timeout, signal.SIGALRM)))
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    waited(endless)
except Timeout as error:
    print(error, error.__context__)
check_usable()
"""
    )
    assert done.stdout == "alarm in time\nNone\ntoo long None\n"


#: Another context, in which a kernel of another thread can run.
OTHER = """
import ctypes
from support.capture import driver

other = drv.Device(0).make_context()
kernel = SourceModule(SOURCE).get_function("wait_for")
words = drv.mem_alloc(8)
memory = [drv.mem_alloc(64) for _ in range(8)]
other.pop()
third = drv.Device(0).make_context()
third.pop()

def set_flag(value):
    ctypes.memset(int(words), value, 4)  # the software device's memory is the host's

def start():
    set_flag(0)
    def work():
        with other:
            kernel(words, np.intp(int(words) + 4), block=(1, 1, 1))
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    time.sleep(0.1)
    return thread

def is_current(context):
    handle = driver().last(ctypes.c_void_p, "CtxGetCurrent")
    return drv.Context.get_current() is context and handle == context.handle
"""


def test_handlers_that_change_contexts_while_a_release_waits():
    """The handler does not see the context of the release and cannot destroy it. The
    counterpart destroys another context."""
    done = run(
        OTHER
        + """
said = []

def handler(number, frame):
    try:
        action()
        said.append("done")
    except drv.LogicError as error:
        said.append(error.name)
    set_flag(1)

def push_and_pop():
    other.push()
    assert is_current(other)
    other.pop()

def make_and_detach():
    drv.Device(0).make_context().detach()

def push_itself():
    assert is_current(context)
    context.push()
    drv.mem_alloc(64).free()
    context.pop()

signal.signal(signal.SIGALRM, handler)
for action in push_and_pop, make_and_detach, push_itself, other.detach, third.detach:
    thread = start()
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    memory.pop().free()
    thread.join(10)
    print(action.__name__, *said, is_current(context))
    said.clear()
    check_usable()
other.detach()
check_usable()
""",
        PYTHONPATH=PATH,
    )
    assert done.stdout.splitlines() == [
        "push_and_pop done True",
        "make_and_detach done True",
        "push_itself done True",
        "detach CUDA_ERROR_NOT_PERMITTED True",
        "detach done True",
    ]


def test_handlers_that_free_memory_that_a_kernel_uses():
    """The memory is freed after the kernel has ended. Freeing an Array is rejected. The
    counterpart is memory of an idle context, which is free at once."""
    done = run(
        OTHER
        + """
empty = third
with empty:
    elsewhere = drv.mem_alloc(1 << 20)

def used():
    return drv.mem_get_info()[1] - drv.mem_get_info()[0]

def handler(number, frame):
    before = used()
    target.free()
    page_locked.base.free()
    for memory in target, image:
        try:
            memory.free()
        except drv.LogicError as error:
            seen.append(error.name[11:])
    seen.append(used() == before)
    elsewhere.free()
    seen.append(used() < before)
    set_flag(1)

def wait_for_the_thread():
    with other:
        other.synchronize()

def run_it():
    with other:
        threading.Timer(0.3, set_flag, [1]).start()
        kernel(words, target, block=(1, 1, 1))
        other.synchronize()

signal.signal(signal.SIGALRM, handler)
for wait in wait_for_the_thread, run_it:
    seen = []
    with other:
        target = drv.mem_alloc(1 << 20)
        page_locked = drv.pagelocked_zeros(1000, np.int32)
        image = drv.np_to_array(np.zeros((4, 4), np.float32), "C")
        before = used()
    with empty:
        elsewhere = drv.mem_alloc(1 << 20)
    set_flag(0)
    def work():
        with other:
            kernel(words, np.intp(int(target) + 4), block=(1, 1, 1))
    thread = threading.Thread(target=work, daemon=True)
    if wait is not run_it:
        thread.start()
        time.sleep(0.1)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    wait()
    if wait is not run_it:
        thread.join(10)
    with other:
        other.synchronize()
        image.free()
        print(wait.__name__, *seen, before - used() >= 1 << 20)
other.detach()
check_usable()
""",
        PYTHONPATH=PATH,
    )
    assert done.stdout.splitlines() == [
        "wait_for_the_thread INVALID_HANDLE NOT_PERMITTED True True True",
        "run_it INVALID_HANDLE NOT_PERMITTED True True True",
    ]


def test_ctrl_c_ends_a_detach_that_waits_for_a_release():
    """The context and the stack are unchanged. The counterpart: without a signal, the
    same detach waits and succeeds."""
    done = run(
        OTHER
        + """
def release():
    memory.pop().free()

thread = start()
releaser = threading.Thread(target=release, daemon=True)
releaser.start()
time.sleep(0.1)
other.push()
delay = delay_of(other.detach)
print("detach", "in time" if delay < 0.1 else delay)

def handler(number, frame):
    print("handler", drv.Context.get_current() is context)
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    other.detach()
except KeyboardInterrupt:
    print("current", is_current(other))
threading.Timer(0.2, set_flag, [1]).start()
other.detach()
releaser.join(10)
print("detached", is_current(context))
check_usable()
""",
        PYTHONPATH=PATH,
    )
    assert done.stdout.splitlines() == [
        "detach in time",
        "handler True",
        "current True",
        "detached True",
    ]


def test_a_handler_that_sets_the_parameters_of_the_launch_that_waits():
    """A launch with the old functions uses the parameters at the time of its call. The
    next launch uses those that the handler set."""
    done = run(
        """
import ctypes

texture = SourceModule('''
texture<float, 1, cudaReadModeElementType> image;
extern "C" __global__ void read(float *out, int n)
{
    out[threadIdx.x] = tex1Dfetch(image, threadIdx.x) + n;
}''', no_extern_c=True)
read, image = texture.get_function("read"), texture.get_texref("image")
results = gpuarray.zeros(4, np.float32)
values = [gpuarray.to_gpu(np.arange(4, dtype=np.float32) * k) for k in (1, 10)]
image.set_address(values[0].gpudata, 16)
read.set_block_shape(4, 1, 1)
read.param_set(results.gpudata, np.int32(7))
read.launch()
print(*results.get().astype(int))
streams = [drv.Stream(drv.stream_flags.NON_BLOCKING), drv.Stream()]
context.synchronize()

def work():
    with context:
        endless(streams[0], block=1)

kept = []

def handler(number, frame):
    read.param_set_size(30000)
    read.param_set_size(12)
    kept.extend(bytes([65]) * size for size in (8, 16, 24) * 300)
    read.param_seti(8, 100)
    ctypes.memset(int(flag.gpudata), 1, 4)  # the kernel may end

threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.1)
image.set_address(values[1].gpudata, 16)
read.launch_grid_async(1, 1, streams[1])
streams[1].synchronize()
print(len(kept), *results.get().astype(int))
read.launch()
print(*results.get().astype(int))
""",
        PYTHONMALLOC="debug",
    )
    assert done.stdout.splitlines() == [
        "7 8 9 10",
        "900 7 17 27 37",
        "100 110 120 130",
    ]


def test_threads_run_during_a_kernel():
    """A long kernel releases the interpreter lock. Signals do not interrupt the kernels
    of other threads than the main thread."""
    done = run(
        """
counted = []

def count():
    for i in range(20):
        time.sleep(0.01)
        counted.append(i)
    os.kill(os.getpid(), signal.SIGINT)

counter = threading.Thread(target=count)
try:
    counter.start()
    waited(endless)
except KeyboardInterrupt:
    print("main", len(counted))
counter.join()

ended = threading.Event()

def work():
    context.push()
    endless(stream)
    stream.synchronize()
    context.pop()
    ended.set()

stream, second = drv.Stream(), drv.Stream()
worker = threading.Thread(target=work)
worker.start()
delay = delay_of(ended.wait)
print("worker", delay < 0.1, ended.is_set())
drv.memcpy_htod_async(flag.gpudata, np.array([9], np.int32), second)
print(ended.wait(10))
check_usable()
"""
    )
    assert done.stdout == "main 20\nworker True False\nTrue\n"


def test_nothing_leaks():
    """Handles are released, and reference counts do not change."""
    done = run(
        """
import gc
from pycuda import _driver

def once():
    stream, array = drv.Stream(), gpuarray.zeros(4096, np.int32)
    sender = interrupt_later(0.05)
    try:
        wait_for(flag, array, block=(32, 1, 1), stream=stream)
        stream.synchronize()
    except KeyboardInterrupt as error:
        assert error.__context__ is None
    sender.communicate()

once()
gc.collect()
before = _driver._live_counts(), sys.getrefcount(flag), sys.getrefcount(wait_for)
for _ in range(5):
    once()
gc.collect()
after = _driver._live_counts(), sys.getrefcount(flag), sys.getrefcount(wait_for)
print(before == after)
check_usable()
"""
    )
    assert done.stdout == "True\n"


def test_ctrl_c_without_a_handler_of_ours():
    """A program that does not catch KeyboardInterrupt ends as usual, even if its exit
    waits for another thread's kernel."""
    code = PRELUDE + "os.system(f'(sleep 0.2; kill -INT {os.getpid()}) &')\n"
    code += "waited(endless)\n"
    done = run_child(code, check=False)
    assert done.returncode in (-2, 130, 1)
    last = re.split(r"\n(?=\w)", done.stderr.rstrip())[-1]
    assert last.startswith("KeyboardInterrupt: The kernel was ended:")
    assert not re.search("warn|leak|clean-up", done.stderr, re.IGNORECASE)

    code = (
        PRELUDE
        + """
def work():
    context.push()
    endless()

threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
print("end", flush=True)
os.system(f"(sleep 1; kill -INT {os.getpid()}) &")
"""
    )
    done = run_child(code, check=False, timeout=20)
    assert done.stdout == "end\n"


@pytest.mark.parametrize("work", ["waited(endless, block=1)", "context.synchronize()"])
def test_a_thread_that_polls_after_python_has_ended(work):
    """A daemon thread computes or waits until the process ends."""
    done = run_child(
        PRELUDE
        + f"""
import ctypes

def work():
    context.push()
    {work}

if "synchronize" in {work!r}:
    threading.Thread(target=lambda: (context.push(), endless()), daemon=True).start()
    time.sleep(0.1)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
library = ctypes.CDLL(None)  # sleeps for as many seconds as the exit status says
library.on_exit(ctypes.cast(library.sleep, ctypes.c_void_p), None)
sys.exit(1)
""",
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_jupyter():
    """Interrupting a notebook ends the cell, and the next cell works."""
    client = pytest.importorskip("jupyter_client", reason="it is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    import time

    manager, kernel = client.manager.start_new_kernel(kernel_name="python3")
    try:

        def execute(code, interrupt=False):
            # without this, a request soon after an error may be lost
            message = kernel.execute(code, stop_on_error=False)
            if interrupt:
                time.sleep(0.5)
                manager.interrupt_kernel()
            begin = time.monotonic()
            reply = kernel.get_shell_msg(timeout=60)
            while reply["parent_header"].get("msg_id") != message:
                reply = kernel.get_shell_msg(timeout=60)
            return reply["content"], time.monotonic() - begin

        assert execute(PRELUDE)[0]["status"] == "ok"
        content, delay = execute("waited(endless)", interrupt=True)
        assert (content["status"], content["ename"]) == ("error", "KeyboardInterrupt")
        assert delay < 2  # making the traceback takes most of it
        content, _ = execute("check_usable()")
        assert content["status"] == "ok", content
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)


LINGER = """
#include <time.h>
void end(void) __attribute__((destructor));
void end(void) { nanosleep(&(struct timespec){.tv_nsec = 300000000}, 0); }
"""


@pytest.mark.parametrize("name", ["kernel", "wait"])
def test_a_daemon_thread_outlives_the_interpreter(name, tmp_path):
    """A kernel, or a wait for it, keeps polling while the process exits slowly."""
    source = tmp_path / "linger.c"
    source.write_text(LINGER)
    library = tmp_path / "linger.so"
    must(compile_c(compilers()[0], [source], library, ["-shared", "-fPIC"]))
    run(
        f"""
import ctypes
ctypes.CDLL({str(library)!r})

def work():
    mine = wait_for, flag, out, kept, module  # else their release waits for the kernel
    context.push()
    waited(endless)

def wait():
    context.push()
    out.get()

for function in [work, wait][: 1 + ({name!r} == "wait")]:
    threading.Thread(target=function, daemon=True).start()
    time.sleep(0.1)
context.pop()
"""
    )


@pytest.mark.parametrize("of_thread", [False, True])
def test_a_kernel_that_takes_long_is_named_with_its_line(tmp_path, of_thread):
    """It is told once in a process, in a plain run, too."""
    script = tmp_path / "script.py"
    launch = """
def work():
    compute(gpuarray.zeros(64, np.float32), np.int32(1 << 30), block=(64, 1, 1))
"""
    launch += "threading.Thread(target=work).start()" if of_thread else "work()"
    code = PRELUDE.replace(f"SOURCE = {SOURCE!r}", f"SOURCE = r'''{SOURCE}'''")
    script.write_text(f"{code}\n{launch}\n")
    with subprocess.Popen(
        [sys.executable, str(script)], stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as child:
        rows = [child.stderr.readline().strip() for _ in range(5)]
        child.kill()
    text = "    for (int r = 0; r < rounds; r++) x = x * 1.0001f + 0.5f;"
    line = 1 + script.read_text().splitlines().index(text)
    assert rows[0] == "pycuda: a kernel has run for 5 seconds, and still runs"
    assert rows[1].startswith("Ctrl-C ends it")
    assert rows[2].startswith("in kernel compute, block (0, 0, 0)")
    assert rows[3:] == [f"at kernel.cu:13 (script.py:{line})", text.strip()]
