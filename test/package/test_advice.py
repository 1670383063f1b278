"""What reports and pycuda.explain say of errors that are easily misunderstood."""

import subprocess
import sys

import pytest

from support.compilers import needs_nvcc

pytestmark = [
    pytest.mark.software(why="explain runs programs on the software device"),
    needs_nvcc,
]

START = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
"""


def explained(tmp_path, text):
    """Explain a program. Return the words of the output in one line, and stderr."""
    (tmp_path / "it.py").write_text(START + text)
    done = subprocess.run(
        [sys.executable, "-m", "pycuda.explain", "it.py"],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
    )
    return " ".join(done.stdout.split()), done.stderr


NOWHERE = "outside of every live allocation"

MISALIGNED = """
f = SourceModule("__global__ void f(char *x, int i) { *(int *)(x + i) = 1; }")
x = gpuarray.zeros(64, np.int8)
f.get_function("f")(x, np.int32(OFFSET), block=(1, 1, 1))
x.get()
"""


def test_a_misaligned_access(tmp_path):
    said, _ = explained(tmp_path, MISALIGNED.replace("OFFSET", "2"))
    assert "which is no multiple of 4" in said
    assert "must be a multiple of its size" in said and NOWHERE not in said
    said, _ = explained(tmp_path, MISALIGNED.replace("OFFSET", "64"))
    assert NOWHERE in said and "must be a multiple" not in said


SHARED = """
f = SourceModule('''
__global__ void f(int *x, int n)
{
    __shared__ int s[64];
    extern __shared__ int rest[];
    int own[8];
    for (int i = 0; i < 8; i++) own[i] = x[i];
    s[threadIdx.x + FIRST] = rest[threadIdx.x + SECOND] = 1;
    x[threadIdx.x] = s[63 - threadIdx.x] + rest[0] + own[n + THIRD];
}''').get_function("f")
x = gpuarray.zeros(64, np.int32)
f(x, np.int32(4), block=(32, 1, 1), shared=128)
x.get()
"""


@pytest.mark.parametrize(
    "places, advice",
    [
        ((33, 0, 0), "size of the __shared__ array"),
        ((32, 1, 0), "has the size that the launch gives"),
        ((32, 0, 1000), "Compare the index with the size of the array."),
    ],
)
def test_an_access_that_leaves_shared_or_local_memory(tmp_path, places, advice):
    def program(first, second, third):
        text = SHARED.replace("FIRST", str(first)).replace("SECOND", str(second))
        return text.replace("THIRD", str(third))

    said, _ = explained(tmp_path, program(*places))
    assert advice in said and NOWHERE not in said
    said, _ = explained(tmp_path, program(32, 0, 3))
    assert "found no errors" in said


LOOP = """
f = SourceModule('''
__global__ void f(volatile int *flag)
{
    while (*flag == 0)  // HERE
        ;
}''').get_function("f")
flag = gpuarray.zeros(1, np.int32)
flag.fill(VALUE)
f(flag, block=(32, 1, 1))
drv.Context.synchronize()
"""


def test_a_loop_without_an_end(tmp_path):
    said, error = explained(tmp_path, LOOP.replace("VALUE", "0"))
    assert "The loop reads the same memory again and again" in said
    assert "same barrier" not in said
    assert "at kernel.cu:4 (it.py:11) while (*flag == 0) // HERE" in said
    assert "kernel.cu:4" in error
    said, _ = explained(tmp_path, LOOP.replace("VALUE", "1"))
    assert "found no errors" in said


FREED = """
f = SourceModule("__global__ void f(int *x) { x[threadIdx.x] = 1; }").get_function("f")
def make():
    x = gpuarray.zeros(64, np.int32)
    return x.ptr, KEPT
address, kept = make()  # FREED
f(np.intp(address), block=(64, 1, 1))
drv.Context.synchronize()
"""


def test_a_use_after_the_free(tmp_path):
    said, _ = explained(tmp_path, FREED.replace("KEPT", "None"))
    assert "the memory was allocated at it.py:10, in make" in said
    assert "the memory was freed at it.py:12 address, kept = make() # FREED" in said
    assert "Keep the object that owns it" in said and NOWHERE not in said
    said, _ = explained(tmp_path, FREED.replace("KEPT", "x"))
    assert "found no errors" in said


GRID_SYNC = """
f = SourceModule('''
#include <cooperative_groups.h>
extern "C" __global__ void f(int *x)
{
    x[blockIdx.x] = 1;
    cooperative_groups::this_grid().sync();
}
extern "C" __global__ void stop(int *x) { __trap(); }
''', no_extern_c=True)
x = gpuarray.zeros(64, np.int32)
f.get_function("NAME")(x, block=(32, 1, 1), grid=(2, 1), cooperative=IS_COOPERATIVE)
x.get()
"""


def test_a_wait_for_the_grid_in_an_ordinary_launch(tmp_path):
    text = GRID_SYNC.replace("NAME", "f")
    said, error = explained(tmp_path, text.replace("IS_COOPERATIVE", "False"))
    assert "trap: the kernel waits for the whole grid, as grid.sync() does" in said
    assert "Launch it with cooperative=True" in said and "trap: the kernel" in error
    assert "memory was" not in said
    said, _ = explained(tmp_path, text.replace("IS_COOPERATIVE", "True"))
    assert "found no errors" in said
    other = GRID_SYNC.replace("NAME", "stop").replace("IS_COOPERATIVE", "False")
    said, _ = explained(tmp_path, other)
    assert "1. trap trap in kernel stop" in said and "Launch it" not in said


CALLBACK = """
stream, x = drv.Stream(), gpuarray.zeros(64, np.int32)
drv.launch_host_func(lambda: WORK, stream)
stream.synchronize()
"""


def test_a_call_of_the_driver_in_a_callback(tmp_path):
    _, error = explained(tmp_path, CALLBACK.replace("WORK", "x.get()"))
    assert "not permitted - a function that a stream calls cannot call" in error
    _, error = explained(tmp_path, CALLBACK.replace("WORK", "None"))
    assert "not permitted" not in error


INDEX = """
f = SourceModule('''
__global__ void f(float *x, int row, int width) { x[ROW * width] = 1; }
''').get_function("f")
x = gpuarray.zeros(1024, np.float32)
f(x, np.int32(50_000), np.int32(50_000), block=(1, 1, 1))
x.get()
"""


def test_an_index_that_overflowed(tmp_path):
    said, _ = explained(tmp_path, INDEX.replace("ROW", "row"))
    assert "it is 7179869184 bytes before the 4096-byte device allocation" in said
    text = "element -1794967296 is what an int becomes that should be 2500000000"
    assert text in said and "Convert a factor to 64 bits" in said
    said, _ = explained(tmp_path, INDEX.replace("ROW", "(size_t)row"))
    assert "is 9999995904 bytes beyond the end of the 4096-byte" in said
    assert "what an int becomes" not in said


BELOW = """
f = SourceModule('''
__global__ void f(float *y, const float *x, TYPE i) { y[0] = x[i - 2]; }
''').get_function("f")
x, y = gpuarray.zeros(64, np.float32), gpuarray.zeros(64, np.float32)
f(y, x, np.int32(1), block=(1, 1, 1))
y.get()
"""


def test_an_unsigned_index_below_zero(tmp_path):
    said, _ = explained(tmp_path, BELOW.replace("TYPE", "unsigned"))
    assert "element 4294967295 is what an unsigned -1 becomes" in said
    assert "fell below 0" in said
    said, _ = explained(tmp_path, BELOW.replace("TYPE", "int"))
    assert "what an unsigned" not in said


FAR = """
f = SourceModule("__global__ void f(float *x, long i) { x[i] = 1; }").get_function("f")
x, other = gpuarray.zeros(1024, np.float32), gpuarray.zeros(200_000, np.float32)
address, last = other.ptr, INDEX
del other
f(POINTER, np.int64(last), block=(1, 1, 1))
drv.Context.synchronize()
"""


def test_an_access_far_from_its_array(tmp_path):
    """It lies in memory that was freed, to which no argument points."""
    index = "(other.ptr - x.ptr) // 4 + 1000"
    text = FAR.replace("INDEX", index)
    said, _ = explained(tmp_path, text.replace("POINTER", "x"))
    assert "beyond the end of the 4096-byte device allocation" in said
    assert "freed" not in said and "allocated at it.py:9" in said
    stale = FAR.replace("INDEX", "10").replace("POINTER", "np.intp(address)")
    said, _ = explained(tmp_path, stale)
    assert "it is 40 bytes into the 800000-byte device allocation" in said
    assert "which has been freed" in said and "freed at it.py:11" in said


@pytest.mark.parametrize("pointer", ["np.intp(0)", "np.intp(8)"])
def test_a_null_pointer_is_near_nothing(tmp_path, pointer):
    text = FAR.replace("INDEX", "0").replace("POINTER", pointer)
    said, _ = explained(tmp_path, text)
    assert "no allocation is near" in said and "allocated at" not in said


ENDLESS = """
f = SourceModule('''
__global__ void f(int *x, unsigned n)
{
    for (unsigned i = n; i STEP; i--) x[i % 32] += i;
}''').get_function("f")
x = gpuarray.zeros(64, np.int32)
f(x, np.int32(40), block=(32, 1, 1))
x.get()
"""


def test_a_loop_that_takes_too_long_has_a_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PYCUDA_EMULATOR_TIMEOUT", "0.5")
    said, error = explained(tmp_path, ENDLESS.replace("STEP", ">= 0"))
    assert "the time limit PYCUDA_EMULATOR_TIMEOUT ended while this thread ran" in said
    assert "at kernel.cu:4 (it.py:11)" in said and "launched at it.py:14" in said
    assert "LaunchError" in error and "kernel.cu:4" in error
    said, _ = explained(tmp_path, ENDLESS.replace("STEP", "> 0"))
    assert "thread ran" not in said
