"""Blocks of the software device that wait for each other by reading global memory.

As on a GPU, blocks that can be resident at once make progress together. Only a grid
that can never continue ends with an error.
"""

import re

import pytest

from support.child import run_child
from support.compilers import needs_nvcc

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.software(why="about the software device alone"),
    needs_nvcc,
]

SOURCE = r"""
extern "C" {

// Block i waits for block i + 1, in several ways.
__global__ void chain(volatile int *f, int n)
{
    int i = blockIdx.x;
    if (threadIdx.x == 0) {
        if (i + 1 < n) while (f[i + 1] == 0);
        __threadfence();
        f[i] = 1;
    }
}

__global__ void atomics(int *f, int n)
{
    int i = blockIdx.x;
    if (threadIdx.x == 0) {
        if (i + 1 < n) while (atomicCAS(f + i + 1, 7, 7) == 0);
        atomicExch(f + i, 1);
    }
}

__global__ void whole_block(volatile int *f, int n)
{
    __shared__ int s;
    int i = blockIdx.x;
    if (i + 1 < n) {
        int seen;
        do {
            if (threadIdx.x == 0) s = f[i + 1];
            __syncthreads();
            seen = s;
            __syncthreads();
        } while (!seen);
    }
    if (threadIdx.x == 0) f[i] = 1;
}

__global__ void counting(volatile int *f, int n)
{
    int i = blockIdx.x, k = 0;
    if (threadIdx.x == 0) {
        if (i + 1 < n) while (f[i + 1] == 0) k++;
        f[i] = k | 1;
    }
}

__global__ void with_a_limit(volatile int *f, int n)
{
    long long start = clock64();
    int i = blockIdx.x;
    if (threadIdx.x == 0) {
        if (i + 1 < n) while (f[i + 1] == 0 && clock64() - start < (1ll << 50));
        f[i] = 1;
    }
}

__global__ void sleeping(volatile int *f, int n)
{
    int i = blockIdx.x, ns = 8;
    if (threadIdx.x == 0) {
        if (i + 1 < n) while (f[i + 1] == 0) {
            __nanosleep(ns);
            if (ns < 256) ns *= 2;
        }
        f[i] = 1;
    }
}

// The last block computes for a while: the others wait for it that long.
__global__ void chain_of_work(volatile int *f, int n, int rounds)
{
    int i = blockIdx.x;
    if (i + 1 == n) {
        float x = 1;
        for (int r = 0; r < rounds; r++) x = x * 1.0001f + 0.5f;
        if (threadIdx.x == 0) f[i] = x > 0;
    }
    else if (threadIdx.x == 0) {
        while (f[i + 1] == 0);
        f[i] = 1;
    }
}

// A barrier of the whole grid, as programs write it by hand.
__device__ void barrier(unsigned *arrived, unsigned round)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned *)arrived < gridDim.x * (round + 1));
        __threadfence();
    }
    __syncthreads();
}

__global__ void rounds(unsigned *arrived, int *a, int *b, int count)
{
    int me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (int r = 0; r < count; r++) {
        b[me] = a[(me + blockDim.x) % all] + 1;
        barrier(arrived, 2 * r);
        a[me] = b[me];
        barrier(arrived, 2 * r + 1);
    }
}

__global__ void endless(int *out)
{
    volatile __shared__ int s;
    s = 0;
    while (s == 0);
    *out = 1;
}

__global__ void wait_for(volatile int *flag, int *out)
{
    while (*flag == 0);
    *out = *flag;
}

}
"""

PRELUDE = f"""
import os, threading, time
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

module = SourceModule({SOURCE!r}, options=["-lineinfo"], no_extern_c=True)
function = module.get_function
i32 = np.int32

def resident(threads, shared):
    about = drv.Device(0).get_attributes()
    a = drv.device_attribute
    limits = [
        about[a.MAX_BLOCKS_PER_MULTIPROCESSOR],
        about[a.MAX_THREADS_PER_MULTIPROCESSOR] // threads,
        about[a.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR] // (shared + 1024),
    ]
    return about[a.MULTIPROCESSOR_COUNT] * min(limits)

def run_chain(name, blocks, threads=32, shared=0):
    flags = gpuarray.zeros(blocks, np.int32)
    function(name)(flags, i32(blocks), grid=(blocks,), block=(threads, 1, 1),
                   shared=shared)
    return (flags.get() != 0).all()

def error_of(call):
    try:
        call()
    except drv.Error as error:
        return str(error)
"""


def run(code, **environment):
    return run_child(PRELUDE + code, **environment).stdout


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_blocks_that_can_be_resident_make_progress_together(threads):
    """Blocks make progress with any kind of wait and any number of host threads."""
    out = run(
        """
for name in ["chain", "atomics", "whole_block", "counting", "with_a_limit",
             "sleeping"]:
    print(name, [run_chain(name, n, t) for n, t in [(2, 1), (30, 64), (128, 32)]])

for blocks, threads in [(8, 64), (32, 256), (8, 1024)]:
    arrived = gpuarray.zeros(1, np.uint32)
    n = blocks * threads
    start = np.arange(n, dtype=np.int32) * 7
    a, b = gpuarray.to_gpu(start), gpuarray.zeros(n, np.int32)
    function("rounds")(arrived, a, b, i32(6), grid=(blocks,), block=(threads, 1, 1))
    print("rounds", (a.get() == np.roll(start, -6 * threads) + 6).all())
""",
        PYCUDA_EMULATOR_THREADS=threads,
    )
    assert "False" not in out
    assert out.count("True") == 6 * 3 + 3


LIMITS = [(32, 0), (1024, 0), (64, 40 << 10)]


@pytest.mark.parametrize(("threads", "shared"), LIMITS)
def test_one_block_more_than_can_be_resident(threads, shared):
    """The grid waits forever on a GPU and is an error here. The counterpart, the
    largest grid that fits, works. The limits are blocks, threads and shared memory."""
    out = run(
        f"""
most = resident({threads}, {shared})
print(most, run_chain("chain", most, {threads}, {shared}))
print(error_of(lambda: run_chain("chain", most + 1, {threads}, {shared})))
os._exit(0)
"""
    )
    first, error = out.split("\n", 1)
    most = int(first.split()[0])
    assert first == f"{most} True"
    assert "LaunchError" not in first and "deadlock: all blocks" in error
    assert f"1 of {most + 1} blocks have not begun, since {most} are" in error


def test_the_error_says_where_and_for_what():
    out = run(
        """
flags = gpuarray.zeros(400, np.int32)
def launch():
    function("chain")(flags, i32(400), grid=(400,), block=(32, 1, 1))
    flags.get()
print(hex(int(flags.gpudata)))
print(error_of(launch))
os._exit(0)
"""
    )
    address, text = out.split("\n", 1)
    line = 1 + SOURCE[: SOURCE.index("while (f[i + 1] == 0);")].count("\n")
    place = re.search(
        r"warp 0 of block \((\d+), 0, 0\).* reads? (0x\w+) \(kernel.cu:(\d+)\), "
        r"byte (\d+) of the 1600-byte device allocation",
        text,
    )
    assert place, text
    block, read, at, byte = place.groups()
    assert int(at) == line
    assert int(byte) == 4 * (int(block) + 1)
    assert int(read, 16) == int(address, 16) + int(byte)
    assert "in kernel chain" in text


def test_a_loop_that_nothing_can_end():
    out = run(
        """
out = gpuarray.zeros(1, np.int32)
def launch():
    function("endless")(out, grid=(1,), block=(32, 1, 1))
    out.get()
print(error_of(launch))
os._exit(0)
"""
    )
    assert "deadlock: all blocks that are resident loop for ever" in out
    assert "in kernel endless" in out


def test_work_of_another_thread_may_end_a_wait():
    """Another thread of the program may still write, so the wait is no error. The
    counterpart: without such a thread, the same kernel fails."""
    out = run(
        """
context = pycuda.autoinit.context
flag, out = gpuarray.zeros(1, np.int32), gpuarray.zeros(1, np.int32)
first, second = drv.Stream(), drv.Stream()

def write():
    context.push()
    time.sleep(1.8)  # more than the device waits where it is sure
    drv.memcpy_htod_async(flag.gpudata, np.array([5], np.int32), second)
    context.pop()

for daemon in False, True:
    flag.fill(0)
    context.synchronize()
    writer = threading.Thread(target=write, daemon=daemon)
    writer.start()
    begin = time.monotonic()
    function("wait_for")(flag, out, grid=(4,), block=(32, 1, 1), stream=first)
    print(out.get()[0], time.monotonic() - begin > 1.2)
    writer.join()

flag.fill(0)
def launch():
    function("wait_for")(flag, out, grid=(4,), block=(32, 1, 1), stream=first)
    out.get()
print("deadlock" in error_of(launch))
os._exit(0)
"""
    )
    assert out == "5 True\n5 True\nTrue\n"


@pytest.mark.parametrize("kind", ["page-locked", "managed"])
def test_the_host_may_end_a_wait(kind):
    """A kernel that reads host memory may wait for the CPU."""
    out = run(
        f"""
if {kind!r} == "managed":
    flag = drv.managed_zeros(1, np.int32, mem_flags=drv.mem_attach_flags.GLOBAL)
    address = flag
else:
    flag = drv.pagelocked_zeros(1, np.int32, mem_flags=drv.host_alloc_flags.DEVICEMAP)
    address = np.intp(flag.base.get_device_pointer())
out = gpuarray.zeros(1, np.int32)

def write():
    time.sleep(1.8)
    flag[0] = 3

threading.Thread(target=write, daemon=True).start()
function("wait_for")(address, out, grid=(4,), block=(32, 1, 1))
print(out.get()[0])
"""
    )
    assert out == "3\n"


def test_a_long_kernel_is_no_deadlock():
    """Blocks may wait for a computing block for longer than the device's time limit.
    Many blocks may take long."""
    out = run(
        """
flags = gpuarray.zeros(60, np.int32)
begin = time.monotonic()
rounds = 1 << 20
while time.monotonic() - begin < 1.5:
    flags.fill(0)
    begin = time.monotonic()
    function("chain_of_work")(flags, i32(60), i32(rounds), grid=(60,), block=(64, 1, 1))
    pycuda.autoinit.context.synchronize()
    # Not longer than needed: a notice comes after 5 seconds.
    rounds = int(rounds * min(2 / (time.monotonic() - begin), 16))
print((flags.get() == 1).all())
""",
        PYCUDA_EMULATOR_THREADS="2",
    )
    assert out == "True\n"
