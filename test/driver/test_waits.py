"""Ctrl-C while a program waits for a real driver.

The driver is a library of the tests: the software device without its own interface,
whose waits no signal ends. While ``busy`` is set, it says that the device works. The
test of a real GPU has a kernel that ends when the program says so.
"""

import shutil
import signal
from pathlib import Path

import pytest

from pycuda import _driver
from support import cc
from support.child import run_child
from support.compilers import needs_nvcc
from support.fake_library import EMULATOR, build

pytestmark = [pytest.mark.gpu, needs_nvcc]

PRELUDE = """
import ctypes, os, signal, subprocess, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have ignored it
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
import pycuda.gpuarray as gpuarray
from pycuda import _driver
from pycuda.compiler import SourceModule
from pycuda.tools import recover_context

SOURCE = '''
__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; }
__global__ void wait_for(volatile int *flag) { while (*flag == 0); }
'''
module = SourceModule(SOURCE)
fill, wait_for = module.get_function("fill"), module.get_function("wait_for")
OTHER = "__global__ void other(int *out) { out[0] = 1; }"
SourceModule(OTHER)  # it is in the cache now
context = pycuda.autoinit.context
array = gpuarray.zeros(32, np.int32)
big = gpuarray.zeros(1 << 18, np.int32)
stream = drv.Stream()
event = drv.Event()
pinned = drv.pagelocked_empty(32, np.int32)
pageable = np.zeros(1 << 18, np.int32)
box = drv.Memcpy2D()
box.set_src_device(big.gpudata)
box.set_dst_host(pageable)
box.width_in_bytes = box.src_pitch = box.dst_pitch = 256
box.height = 16

def later(seconds=0.3, number=signal.SIGINT):
    '''Send a signal, from another process.'''
    return subprocess.Popen(
        ["sh", "-c", f"sleep {seconds}; date +%s.%N; kill -{number} {os.getpid()}"],
        stdout=subprocess.PIPE, text=True)

def delay_of(call):
    '''Seconds from the signal to KeyboardInterrupt, and its text.'''
    sender = later()
    try:
        call()
        for i in range(1000): pass  # an exception of a destructor comes here
    except KeyboardInterrupt as error:
        end, text = time.time(), str(error)
    else:
        end, text = time.time() + 99, "not interrupted"
    try:
        return end - float(sender.communicate()[0]), text
    except KeyboardInterrupt:
        return 99, "too late"

def drop(name):
    memory[name] = None

memory = {name: drv.mem_alloc(100) for name in ("free", "drop")}
calls = {
    "context": context.synchronize,
    "stream": stream.synchronize,
    "event": event.synchronize,
    "get": array.get,
    "set": lambda: array.set(np.zeros(32, np.int32)),
    "memcpy_dtoh": lambda: drv.memcpy_dtoh(pinned, array.gpudata),
    "memcpy_htod": lambda: drv.memcpy_htod(array.gpudata, pinned),
    "memcpy_dtoh_async": lambda: drv.memcpy_dtoh_async(pageable, big.gpudata, stream),
    "Memcpy2D": lambda: box(aligned=True),
    "free": memory["free"].free,
    "drop": lambda: drop("drop"),
    "pinned": pinned.base.free,
    "load": lambda: SourceModule(OTHER),
    "detach": context.detach,
}
"""

FAKE = """
fake = ctypes.CDLL("libcuda.so.1")
busy = ctypes.c_int.in_dll(fake, "fake_busy")
waits = ctypes.c_int.in_dll(fake, "fake_waits")
questions = ctypes.c_int.in_dll(fake, "fake_questions")
assert not _driver._is_emulated()

def hang(on=None):
    fill(array, block=(32, 1, 1), stream=on)
    event.record(on)
    busy.value = 1

def release():
    busy.value = 0
"""

REAL = """
flag = drv.pagelocked_empty(1, np.int32, mem_flags=drv.host_alloc_flags.DEVICEMAP)
pointer = np.intp(flag.base.get_device_pointer())
flag[0] = 1
wait_for(pointer, block=(1, 1, 1))
context.synchronize()

def hang(on=None):
    flag[0] = 0
    wait_for(pointer, block=(1, 1, 1), stream=on)
    event.record(on)

def release():
    flag[0] = 1
"""

CASES = [
    *("context", "stream", "event", "get", "set", "memcpy_dtoh", "memcpy_htod"),
    *("memcpy_dtoh_async", "Memcpy2D", "free", "drop", "pinned", "load", "detach"),
]


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    """The environment of a process that uses the library of the tests."""
    folder = tmp_path_factory.mktemp("driver")
    shutil.copy(build(folder, "driver", "c11"), folder / "libcuda.so.1")
    return {
        "PYCUDA_DRIVER": "cuda",
        "LD_LIBRARY_PATH": str(folder),
        "FAKE_EMULATOR": str(Path(_driver.__file__).parent / EMULATOR),
    }


def run(code, fake, **environment):
    """Return the lines that the code prints on the library of the tests."""
    return run_child(PRELUDE + FAKE + code, **fake, **environment).stdout.splitlines()


DELAY = """
hang(stream)
delay, text = delay_of(calls[{case!r}])
release()
print(delay < 0.2 or (delay, text))
print("recover_context" in text and "in hang" in text)
del calls, memory
"""


@pytest.mark.software(why="the library of the tests is made of the software device")
@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_ends_waits(case, fake):
    """Every wait ends in time, and the exception says what goes on."""
    in_time, told = run(DELAY.format(case=case), fake)
    assert in_time == "True"
    assert told == "True" or case == "drop"  # a destructor raises nothing itself


@pytest.mark.hardware(why="it is about the waits of a real driver")
@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_ends_waits_for_a_gpu(case):
    done = run_child(PRELUDE + REAL + DELAY.format(case=case))
    in_time, told = done.stdout.splitlines()
    assert in_time == "True"
    assert told == "True" or case == "drop"


@pytest.mark.software(why="the library of the tests is made of the software device")
def test_the_driver_s_own_wait_does_not_end(fake):
    """Counterpart: without questions, the signal comes when the call returns."""
    code = """
hang()
threading.Timer(1, release).start()
delay, text = delay_of(fake.fake_wait)
print(delay > 0.5)
"""
    assert run(code, fake) == ["True"]


@pytest.mark.software(why="the library of the tests is made of the software device")
def test_other_threads_wait_as_before(fake):
    """Only the main thread gets signals: another one waits in the driver."""
    code = """
hang()
thread = threading.Thread(target=context.synchronize)
thread.start()
delay, text = delay_of(thread.join)
print(delay < 0.2, waits.value > 0)
release()
thread.join()
print(array.get()[5])
"""
    assert run(code, fake) == ["True True", "5"]


@pytest.mark.software(why="the library of the tests is made of the software device")
def test_work_goes_on_after_an_ended_wait(fake):
    """Memory that is dropped meanwhile is freed behind the work; handlers that do not
    raise end nothing."""
    code = """
hang()
print(delay_of(context.synchronize)[0] < 0.2)
before = _driver._live_counts()["memory"]
begin = time.time()
big = calls = box = None
print(time.time() - begin < 0.1, waits.value)
called = []
signal.signal(signal.SIGUSR1, lambda *args: called.append(1))
sender = later(0.2, "USR1")
threading.Timer(0.6, release).start()
context.synchronize()
sender.communicate()
print(len(called), before - _driver._live_counts()["memory"])
print(array.get()[5], recover_context() is context)
"""
    assert run(code, fake) == ["True", "True 0", "1 1", "5 True"]


@pytest.mark.software(why="the library of the tests is made of the software device")
@pytest.mark.parametrize("is_ended", [True, False])
def test_a_program_ends_while_the_device_works(is_ended, fake):
    """A program whose wait was ended does not wait again when it ends; counterpart: one
    without a wait waits, and Ctrl-C ends it."""
    wait = "delay_of(context.synchronize)" if is_ended else "sender = later(0.5)"
    done = run_child(PRELUDE + FAKE + f"hang()\n{wait}\n", check=False, **fake)
    assert done.returncode in ((0,) if is_ended else (130, -signal.SIGINT))


@pytest.mark.software(why="the library of the tests is made of the software device")
def test_questions_are_few(fake):
    """A wait that ends at once asks once; calls without doubt do not ask."""
    code = """
def asked(call):
    questions.value = 0
    call()
    return questions.value
context.synchronize()
print([asked(call) for call in (context.synchronize, array.get, lambda: array + 1)])
fill(array, block=(32, 1, 1))
event.record()
print([asked(event.synchronize) for i in range(2)], asked(stream.synchronize))
print([asked(context.synchronize) for i in range(2)])
launches = [asked(lambda: fill(array, block=(32, 1, 1))) for i in range(2000)]
print(sum(launches[:600]), sum(launches) < 10)
"""
    assert run(code, fake) == ["[0, 0, 0]", "[1, 0] 1", "[1, 0]", "0 True"]


@pytest.mark.software(why="the library of the tests is made of the software device")
def test_ctrl_c_ends_the_wait_for_a_place_in_the_queue(fake):
    """More launches than a queue has room for, behind a kernel that never ends."""
    code = """
hang()
count = 0
def launches():
    global count
    while True:
        fill(array, block=(32, 1, 1))
        count += 1
print(delay_of(launches)[0] < 0.2, 600 < count < 1021)
release()
"""
    assert run(code, fake) == ["True True"]


@pytest.mark.software(why="the library of the tests is made of the software device")
def test_a_context_in_which_a_kernel_runs_stays_beside_a_new_one(fake):
    code = """
hang()
delay_of(context.synchronize)
try:
    context.detach()
except drv.Error as error:
    print(error.name, "restart Python" in str(error))
new = recover_context()
print(new is pycuda.autoinit.context, new is drv.Context.get_current(), new == context)
release()
new_array = gpuarray.zeros(3, np.int32)
print(new_array.get())
"""
    lines = run(code, fake)
    assert lines == ["CUDA_ERROR_NOT_READY True", "True True False", "[0 0 0]"]


def test_the_library_of_the_tests_is_strict():
    """It compiles without warnings."""
    for name in cc.compilers():
        flags = [*cc.STRICT, "-fsyntax-only"]
        path = cc.ROOT / "test" / "c" / "fake_driver.c"
        cc.must(cc.run([name, *flags, path]))
