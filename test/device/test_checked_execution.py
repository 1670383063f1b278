"""The reports of the software device about wrong kernels.

Each wrong program runs in its own process, because its fault breaks the context. The
correct programs run with all checks. A report about one of them is a defect.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pycuda.driver as drv
from pycuda import _driver
from support.child import run_child
from support.compilers import needs_nvcc

try:
    drv.init()
    IS_SOFTWARE = _driver._is_emulated()
except drv.Error:
    IS_SOFTWARE = False

pytestmark = [
    pytest.mark.gpu,
    needs_nvcc,
    pytest.mark.skipif(
        not IS_SOFTWARE, reason="needs the software device: a GPU checks nothing"
    ),
]

HERE = Path(__file__).resolve().parent

PROGRAM = r"""
import warnings
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

warnings.simplefilter("error")
source = r'''
__device__ int wrong_index(int i) { return i + 1000; }

__global__ void write_at(int *x, long long i)
{
    x[i + threadIdx.x] = 1; // WRITE
}
__global__ void read_at(int *out, const int *x, long long i)
{
    out[threadIdx.x] = x[i + threadIdx.x]; // READ
}
__global__ void local_at(int *out, int i)
{
    int own[8];
    for (int k = 0; k < 8; k++) own[k] = out[k];
    own[i] = 5; // LOCAL
    for (int k = 0; k < 8; k++) out[k] += own[(k + i) % 8];
}
__global__ void shared_at(int *out, int i)
{
    __shared__ int s[32];
    s[threadIdx.x + i] = 5; // SHARED
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
__global__ void misaligned(char *x)
{
    *(int *)(x + 2) = 1; // MISALIGNED
}
__global__ void reverse(int *x)
{
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x]; // FILL
    x[threadIdx.x] = s[63 - threadIdx.x]; // MISSING
}
__global__ void count_wrongly(int *out)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    sum += out[threadIdx.x]; // COUNT
    __syncthreads();
    out[threadIdx.x] = sum;
}
__global__ void half_written(int *out)
{
    __shared__ int s[64];
    if (threadIdx.x < 32) s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x]; // UNWRITTEN
}
__global__ void one_place(int *out)
{
    __shared__ int s;
    s = threadIdx.x; // PLACE
    __syncthreads();
    out[threadIdx.x] = s;
}
__global__ void read_by_both(int *out, int writer)
{
    __shared__ int s;
    if (threadIdx.x == 0) s = 1;
    __syncthreads();
    int x = s; // READ BY BOTH
    if (threadIdx.x == writer) s = x + 1; // WRITTEN BY ONE
    __syncthreads();
    out[threadIdx.x] = s + x;
}
__global__ void atomic_and_plain(int *out)
{
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    if (threadIdx.x < 32) s = 7; // PLAIN
    else atomicAdd(&s, 1);
    __syncthreads();
    out[threadIdx.x] = s;
}
__global__ void never_reached(int *out)
{
    if (threadIdx.x < 32) __syncthreads(); // HERE
    else asm volatile("bar.sync 1, 96;"); // THERE
    out[threadIdx.x] = 1;
}
__global__ void two_barriers(int *out)
{
    if (threadIdx.x < 32) {
        out[threadIdx.x] = 1;
        __syncthreads(); // FIRST
    }
    else {
        __syncthreads(); // SECOND
        out[threadIdx.x] = 2;
    }
}
#include <cassert>
__global__ void asserts(const int *x)
{
    assert(x[threadIdx.x] == 0); // ASSERT
}
__global__ void traps(void)
{
    if (threadIdx.x == 3) __trap(); // TRAP
}
'''
module = SourceModule(source, options=["-lineinfo"])

def mark(word):
    lines = source.splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith("// " + word))

def run(name, *arguments, block=64, word=None, **more):
    function = module.get_function(name)
    try:
        function(*arguments, block=(block, 1, 1), **more)
        drv.Context.synchronize()
    except drv.Error as error:
        print(type(error).__name__, error.name)
        print(error)
        if word:
            assert f"kernel.cu:{mark(word)}\n" in str(error) + "\n", mark(word)
    else:
        print("no fault")

x = drv.mem_alloc(256)
drv.memset_d8(x, 0, 256)
"""


def fault(code, check="", **environment):
    """Return the class and code of the error, and its text."""
    done = run_child(
        PROGRAM + code,
        PYCUDA_DRIVER="emulator",
        PYCUDA_EMULATOR_CHECK=check,
        PYCUDA_EMULATOR_THREADS="1",
        **environment,
    )
    first, _, text = done.stdout.partition("\n")
    return first.replace("CUDA_ERROR_", ""), text


# -- always on -------------------------------------------------------------------------

#: An access beyond an array is an error, also where a GPU would let it pass.
EXACT = {"PYCUDA_CHECK": "memory"}


def test_a_write_after_free():
    kind, text = fault(
        "p = drv.mem_alloc(512)\nwhere = int(p)\np.free()\n"
        "run('write_at', np.intp(where), np.int64(3), word='WRITE')\nprint(hex(where))"
    )
    assert kind == "LogicError ILLEGAL_ADDRESS"
    where = text.split()[-1]
    assert f"write of 4 bytes at address {hex(int(where, 16) + 12)}" in text
    assert f"12 bytes into the 512-byte device allocation at {where}" in text
    assert "which has been freed" in text
    assert "in kernel write_at, block (0, 0, 0), thread (0, 0, 0)" in text


def test_a_write_beyond_the_end():
    kind, text = fault("run('write_at', x, np.int64(2), word='WRITE')", "", **EXACT)
    assert kind == "LogicError ILLEGAL_ADDRESS"
    assert "write of 4 bytes" in text and "thread (62, 0, 0)" in text
    assert "0 bytes beyond the end of the 256-byte device allocation" in text


def test_a_read_beyond_the_end_in_another_block():
    kind, text = fault(
        "y = drv.mem_alloc(512)\n"
        "run('read_at', y, x, np.int64(60), block=4, grid=(3, 1), word=None)\n"
        "run('read_at', y, x, np.int64(61), block=4, word='READ')",
        **EXACT,
    )
    assert kind == "no fault"  # every block reads the same four
    assert "LogicError CUDA_ERROR_ILLEGAL_ADDRESS" in text
    assert "read of 4 bytes" in text and "thread (3, 0, 0)" in text


def test_beyond_shared_memory():
    kind, text = fault("run('shared_at', x, np.int32(8), block=32, word='SHARED')")
    assert kind == "LogicError ILLEGAL_ADDRESS"
    assert "write of 4 bytes at offset 128 of shared memory, which has 128" in text
    assert "in kernel shared_at" in text and "thread (24, 0, 0)" in text


def test_beyond_local_memory():
    kind, text = fault("run('local_at', x, np.int32(1 << 20), block=1, word='LOCAL')")
    assert kind == "LogicError ILLEGAL_ADDRESS"
    assert "of local memory" in text and "in kernel local_at" in text


def test_a_misaligned_write():
    kind, text = fault("run('misaligned', x, block=1, word='MISALIGNED')")
    assert kind == "LogicError MISALIGNED_ADDRESS"
    assert "which is no multiple of 4" in text and "in kernel misaligned" in text


def test_an_assert():
    kind, text = fault(
        "drv.memcpy_htod(int(x) + 4 * 40, np.ones(1, 'i4'))\nrun('asserts', x)"
    )
    assert kind == "LogicError ASSERT"
    assert "x[threadIdx.x] == 0" in text and "thread (40, 0, 0)" in text


def test_a_trap():
    kind, text = fault("run('traps', block=32, word='TRAP')")
    assert kind == "LaunchError LAUNCH_FAILED"
    assert "trap" in text and "in kernel traps" in text and "(3, 0, 0)" in text


def test_a_launch_that_is_too_large():
    kind, _ = fault("run('write_at', x, np.int64(0), block=1025)")
    assert kind == "LogicError INVALID_VALUE"
    kind, _ = fault("run('write_at', x, np.int64(0), shared=1 << 20)")
    assert kind == "LogicError INVALID_VALUE"
    # nothing ran, so the context is sound
    _, text = fault(
        "run('write_at', x, np.int64(0), block=1025)\nrun('write_at', x, np.int64(0))"
    )
    assert text.endswith("no fault\n")


def test_a_barrier_that_some_threads_never_reach():
    kind, text = fault("run('never_reached', x)\nprint(mark('HERE'), mark('THERE'))")
    assert kind == "LaunchError LAUNCH_FAILED"
    here, there = text.split()[-2:]
    assert "deadlock: 64 threads wait at barriers" in text
    assert f"32 from thread (0, 0, 0) on at barrier 0 (kernel.cu:{here})" in text
    assert f"32 from thread (32, 0, 0) on at barrier 1 (kernel.cu:{there})" in text
    assert "in kernel never_reached, block (0, 0, 0)" in text


def test_a_fault_sticks_to_the_context():
    _, text = fault(
        "run('misaligned', x, block=1)\n"
        "try:\n    drv.mem_get_info()\nexcept drv.LogicError as e:\n    print(e.name)"
    )
    assert text.endswith("CUDA_ERROR_MISALIGNED_ADDRESS\n")


# -- on request ------------------------------------------------------------------------

# kernel, the line reported, the line of the other thread, the words between
RACES = [
    ("reverse", "MISSING", "FILL", "read of 4 bytes at offset 252", "the write by"),
    ("count_wrongly", "COUNT", "COUNT", "read of 4 bytes at offset 0", "the write by"),
    ("one_place", "PLACE", None, "write of 4 bytes at offset 0", "another value"),
    ("atomic_and_plain", "PLAIN", None, "write of 4 bytes", "the atomic operation by"),
]


@pytest.mark.parametrize("name, word, other, access, with_what", RACES)
def test_a_race(name, word, other, access, with_what):
    """The access that runs second finds that of the other warp."""
    kind, text = fault(
        f"run({name!r}, x, word={word!r})\nprint(mark({other!r}) if {other!r} else '')",
        check="race",
    )
    assert kind == "LaunchError LAUNCH_FAILED"
    assert f"race: {access}" in text and "of shared memory" in text
    assert with_what in text and f"in kernel {name}, block (0, 0, 0)" in text
    if other:
        line = text.split()[-1]
        assert re.search(rf"by thread \(\d+, 0, 0\) \(kernel\.cu:{line}\)", text)
        assert "with no __syncthreads between them" in text


@pytest.mark.parametrize("writer", [0, 32])
def test_a_race_with_a_reader_before_the_last(writer):
    """Both warps read the byte. Then the last reader writes it."""
    error, text = fault(f"run('read_by_both', x, np.int32({writer}))", check="race")
    assert error == "LaunchError LAUNCH_FAILED"
    assert "race: " in text and "of shared memory" in text
    other = 32 - writer
    assert f"thread ({other}, 0, 0)" in text or f"thread ({other + 31}, 0, 0)" in text
    error, _ = fault("run('read_by_both', x, np.int32(-1))", check="race")
    assert error == "no fault"


def test_a_read_of_what_nobody_wrote():
    kind, text = fault("run('half_written', x, word='UNWRITTEN')", check="init")
    assert kind == "LaunchError LAUNCH_FAILED"
    assert "uninitialised read of 4 bytes at offset 128 of shared memory" in text
    assert "in kernel half_written, block (0, 0, 0), thread (32, 0, 0)" in text


def test_threads_at_two_barriers():
    kind, text = fault("run('two_barriers', x)\nprint(mark('FIRST'))", check="barrier")
    assert kind == "LaunchError LAUNCH_FAILED"
    assert "barrier divergence" in text and "thread (32, 0, 0)" in text
    line = text.split()[-1]
    assert f"thread (0, 0, 0) at another (kernel.cu:{line})" in text


@pytest.mark.parametrize(
    "name, checks",
    [
        ("reverse", ["barrier"]),
        ("half_written", ["race", "barrier"]),
        ("two_barriers", ["race", "init"]),
    ],
)
def test_what_is_not_asked_for_is_not_checked(name, checks):
    """Without any check, the first block is tried: test_trials.py."""
    for check in checks:
        assert fault(f"run({name!r}, x)", check=check)[0] == "no fault"


def test_a_name_that_is_no_check():
    code = """
    import pycuda.driver as drv
    try:
        drv.init()
    except drv.Error as error:
        print(error)
    """
    done = run_child(code, PYCUDA_DRIVER="emulator", PYCUDA_EMULATOR_CHECK="races")
    assert '"races"' in done.stdout and "init, race, barrier" in done.stdout


# -- programs that are right -----------------------------------------------------------

RIGHT = r"""
import warnings
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

module = SourceModule(r'''
__global__ void sum_with_barriers(int *out, const int *x)
{
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int n = blockDim.x / 2; n > 0; n /= 2) {
        if (t < n) s[t] += s[t + n];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void sum_with_volatile_tail(int *out, const int *x)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int n = 128; n > 32; n /= 2) {
        if (t < n) s[t] += s[t + n];
        __syncthreads();
    }
    if (t < 32) {
        volatile int *v = s;
        v[t] += v[t + 32];
        v[t] += v[t + 16];
        v[t] += v[t + 8];
        v[t] += v[t + 4];
        v[t] += v[t + 2];
        v[t] += v[t + 1];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void histogram(int *out, const int *x)
{
    __shared__ int bins[8];
    __shared__ bool any;
    any = true;  // all write the same
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[x[blockIdx.x * blockDim.x + threadIdx.x] % 8], 1);
    __syncthreads();
    if (any && threadIdx.x < 8) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
__global__ void transpose(int *out, const int *x)
{
    __shared__ int tile[16][17];
    for (int turn = 0; turn < 3; turn++) {
        tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 16 + threadIdx.x];
        __syncthreads();
        out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
        __syncthreads();
    }
}
__global__ void in_two_halves(int *out, const int *x)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    out[t] = s[t ^ 63];
}
__global__ void hand_over(int *out, const int *x)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = x[t];
        __threadfence_block();
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
    else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t - 32] = s[t - 32] * 2;
    }
}
__global__ void leave_early(int *out, const int *x, int n)
{
    __shared__ int s[128];
    s[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x >= n) return;
    __syncthreads();
    out[threadIdx.x] = s[127 - threadIdx.x];
}
''')
x = np.random.default_rng(3).integers(0, 1000, 1024).astype(np.int32)

def run(name, count, *more, block, grid=1, **options):
    out = np.zeros(count, np.int32)
    module.get_function(name)(
        drv.InOut(out), drv.In(x), *more, block=block, grid=(grid, 1), **options
    )
    return out

sums = x.reshape(4, 256).sum(1)
barriers = run("sum_with_barriers", 4, block=(256, 1, 1), grid=4, shared=1024)
assert (barriers == sums).all()
assert (run("sum_with_volatile_tail", 4, block=(256, 1, 1), grid=4) == sums).all()
bins = np.bincount(x % 8, minlength=8)
assert (run("histogram", 8, block=(128, 1, 1), grid=8) == bins).all()
flat = x[:256].reshape(16, 16).T.ravel()
assert (run("transpose", 256, block=(16, 16, 1)) == flat).all()
halves = x[:128][np.arange(128) ^ 63]
assert (run("in_two_halves", 128, block=(128, 1, 1)) == halves).all()
assert (run("hand_over", 32, block=(64, 1, 1)) == 2 * x[:32]).all()
warnings.filterwarnings("ignore", "threads have ended before a barrier")
early = run("leave_early", 32, np.int32(32), block=(128, 1, 1))
assert (early == x[127:95:-1]).all()
print("right")
"""


@pytest.mark.parametrize("seed", ["0", "1", "7"])
def test_programs_that_are_right_are_not_reported(seed):
    done = run_child(
        RIGHT,
        PYCUDA_DRIVER="emulator",
        PYCUDA_EMULATOR_CHECK="all",
        PYCUDA_EMULATOR_SEED=seed,
    )
    assert done.stdout == "right\n"


# The kernels of test/device/kernels that use shared memory or barriers.
MEETING = [
    "sum_tree",
    "sum_interleaved",
    "sum_volatile",
    "sum_shuffle",
    "arg_max",
    "row_moments",
    "sum_last_block",
    "hillis_steele",
    "blelloch",
    "warp_scan",
    "look_back",
    "compact",
    "histogram_shared",
    "spin_lock",
    "spin_lock_lanes",
    "counting_barriers",
    "named_barriers",
    "thinning_warp",
    "nested_divergence",
    "coalesced_threads",
    "group_reduce",
    "grid_synchronisation",
    "bitonic_block",
    "odd_even_sort",
    "radix_sort",
    "tiled_matmul",
    "matmul_double",
    "n_body",
    "k_means",
    "edit_distance",
]


def test_kernels_of_other_tests_are_not_reported():
    done = subprocess.run(
        [sys.executable, HERE / "differential.py", "--only", "emulator", *MEETING],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYCUDA_EMULATOR_CHECK": "all"},
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(MEETING)} cases, 0 not" in done.stdout
