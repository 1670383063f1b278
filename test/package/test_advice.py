"""What reports and pycuda.explain say of errors that are easily misunderstood."""

import os
import signal
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
    return run(tmp_path, text, True)


def run(tmp_path, text, is_explained):
    (tmp_path / "it.py").write_text(START + text)
    explain = ["-m", "pycuda.explain"] if is_explained else []
    done = subprocess.run(
        [sys.executable, *explain, "it.py"],
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


COLLATZ = """
f = SourceModule('''
__global__ void steps(int *out, int first)
{
    unsigned v = threadIdx.x + first, k = 0;
    if (v > 32) return;
    while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; out[threadIdx.x] = ++k; }
}''').get_function("steps")
out = gpuarray.zeros(32, np.int32)
f(out, np.int32(FIRST), block=(32, 1, 1))
out.get()
"""


@pytest.mark.parametrize("checked", [True, False])
def test_the_line_of_an_endless_loop_is_inside_of_it(tmp_path, monkeypatch, checked):
    """A warp stops where the loop begins, and its first value is from another line."""
    monkeypatch.setenv("PYCUDA_EMULATOR_TIMEOUT", "0.5")
    said, error = run(tmp_path, COLLATZ.replace("FIRST", "0"), checked)
    assert "at kernel.cu:6 (it.py:13)" in (said if checked else error)
    said, error = run(tmp_path, COLLATZ.replace("FIRST", "1"), checked)
    assert "kernel.cu" not in said + error


def test_a_kernel_that_runs_for_long_is_told(tmp_path):
    long = COLLATZ.replace("FIRST", "0") + "# end"
    (tmp_path / "it.py").write_text(START + long)
    with subprocess.Popen(
        [sys.executable, "-m", "pycuda.explain", "it.py"],
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        start_new_session=True,
    ) as process:
        said = ""
        while "launched at" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        os.killpg(process.pid, signal.SIGINT)
        _, rest = process.communicate(timeout=60)
    assert said.startswith("pycuda: a kernel has run for 5 seconds, and still runs\n")
    assert "in kernel steps" in said and "it.py:16" in said
    assert "at kernel.cu:6 (it.py:13)" in said
    assert "PYCUDA_EMULATOR_TIMEOUT=SECONDS" in said
    assert "KeyboardInterrupt: The kernel was ended:" in rest
    assert "at kernel.cu:6 (it.py:13)" in rest and rest.endswith("interrupted\n")


KEPT = """
f = SourceModule('''
struct Vector { float *data; int size; };
__global__ void total(float *out, const Vector *v)
{
    float sum = 0;
    for (int i = 0; i < v->size; i++) sum += v->data[i];
    *out = sum;
}''').get_function("total")
out, data = gpuarray.zeros(1, np.float32), gpuarray.zeros(100, np.float32)
record = np.array([(data.ptr, 100)], [("data", np.uintp), ("size", np.int64)])
v = gpuarray.to_gpu(record)
del data
f(out, v, block=(1, 1, 1))
out.get()
"""


def test_memory_that_only_a_structure_has_kept(tmp_path):
    said, _ = explained(tmp_path, KEPT)
    assert "it is 0 bytes into the 400-byte device allocation" in said
    assert "allocated at it.py:16" in said and "freed at it.py:19" in said
    assert "Keep the object that owns it" in said
    said, _ = explained(tmp_path, KEPT.replace("del data", ""))
    assert "found no errors" in said


SUMS = """
f = SourceModule('''
__global__ void sums(float *out)
{
    __shared__ float s[32];
    if (threadIdx.x < COUNT) s[threadIdx.x] = 1;
    __syncthreads();
    float v = s[threadIdx.x];
    for (int o = 16; o; o /= 2) v += __shfl_down_sync(0xffffffff, v, o);
    if (threadIdx.x == 0) atomicAdd(out, v);
}''').get_function("sums")
out = gpuarray.zeros(1, np.float32)
f(out, block=(32, 1, 1))
out.get()
"""


def test_an_unset_value_that_a_shuffle_has_moved(tmp_path):
    said, _ = explained(tmp_path, SUMS.replace("COUNT", "8"))
    assert "at offset 32 of shared memory by thread (8, 0, 0)" in said
    assert "This is element 8" in said and "has written byte 32" in said
    assert "Some threads read elements that no thread has written" in said
    said, _ = explained(tmp_path, SUMS.replace("COUNT", "32"))
    assert "found no errors" in said


COUNTS = """
f = SourceModule('''
__global__ void most(int *out, const int *x, int n)
{
    int counts[8] START;
    for (int i = 0; i < n; i++) counts[x[i] & 7]++;  // READ
    int best = 0;
    for (int k = 1; k < 8; k++) if (counts[k] > counts[best]) best = k;
    out[threadIdx.x] = best;
}''').get_function("most")
x = gpuarray.to_gpu(np.arange(40).astype(np.int32))
out = gpuarray.zeros(32, np.int32)
f(out, x, np.int32(40), block=(32, 1, 1))
out.get()
"""


def test_an_array_of_a_thread_without_values(tmp_path):
    """The line is that of the first read, though the value was stored again."""
    said, _ = explained(tmp_path, COUNTS.replace("START", ""))
    assert "at kernel.cu:5 (it.py:12)" in said and "int counts[8] = {0};" in said
    said, _ = explained(tmp_path, COUNTS.replace("START", "= {0}"))
    assert "found no errors" in said


GUARDED = """
f = SourceModule('''
__global__ void sums(float *out, const float *x, int n)
{
    int i = threadIdx.x;
    if (i < n) {
        float v = x[i];
        for (int o = 16; o; o /= 2) v += __shfl_down_sync(0xffffffff, v, o);
        out[i] = v;
    }
}''').get_function("sums")
x, out = gpuarray.zeros(32, np.float32), gpuarray.zeros(32, np.float32)
f(out, x, np.int32(COUNT), block=(32, 1, 1))
out.get()
"""


def test_a_shuffle_from_a_lane_that_takes_no_part(tmp_path):
    said, _ = explained(tmp_path, GUARDED.replace("COUNT", "20"))
    assert "does not take part in the shuffle" in said
    assert "Let all lanes of the mask take part" in said and "memset" not in said
    said, _ = explained(tmp_path, GUARDED.replace("COUNT", "32"))
    assert "found no errors" in said


RAISING = """
stream, memory = drv.Stream(), drv.mem_alloc(64)
def finished():
    CALL
stream.add_callback(finished)
stream.synchronize()
print("end")
"""


def test_a_function_of_a_stream_that_raises(tmp_path):
    text = RAISING.replace("CALL", "drv.from_device(memory, 16, np.int32)")
    said, error = explained(tmp_path, text)
    assert said.startswith("end") and "found 1 error" in said
    assert "1. callback finished, a function that a stream calls, has raised" in said
    assert "at it.py:10" in said and "do the rest in the program's own thread" in said
    assert "Exception ignored in" in error  # as in a plain run
    said, _ = explained(tmp_path, RAISING.replace("CALL", "print(1)"))
    assert "found no errors" in said


#: An exception that is ignored, and that is not of a function of a stream.
DESTRUCTOR = """
class It:
    def __del__(self):
        1 / 0
It()
"""


def test_an_exception_of_a_destructor_is_no_error_of_a_stream(tmp_path):
    said, error = explained(tmp_path, DESTRUCTOR)
    assert "found no errors" in said and "ZeroDivisionError" in error


PART = """
f = SourceModule('''
__global__ void fill(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;
}''').get_function("fill")
n = 1000
x = gpuarray.empty(n, np.float32)
f(x, np.int32(n), block=(256, 1, 1), grid=(BLOCKS, 1))
x.get()
"""


def test_a_part_that_nothing_has_written_is_noted(tmp_path):
    """The program may not use it, so this is no error."""
    said, error = explained(tmp_path, PART.replace("BLOCKS", "n // 256"))
    assert "1. note bytes 3072 to 3999 of the 4000 that a copy takes" in said
    assert "copied at it.py:17" in said and "allocated at it.py:15" in said
    assert "found no errors, and has 1 note" in said and not error
    said, _ = explained(tmp_path, PART.replace("BLOCKS", "-(-n // 256)"))
    assert said.endswith("found no errors")


def test_a_copy_of_memory_that_nothing_has_written(tmp_path):
    said, error = explained(tmp_path, PART.replace("BLOCKS", "1").replace("i < n", "0"))
    assert "nothing has written any of them" in said and "LaunchError" in error
    assert "copied at it.py:17" in said and "Look whether the kernel" in said
