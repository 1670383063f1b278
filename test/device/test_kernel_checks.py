"""Check that PYCUDA_CHECK finds faults in kernels, and reports nothing that is right.

All kernels run in one process, each in a context of its own.
"""

import json

import pytest

from support.child import run_child

PROGRAM = r'''
import json
import os
import re
import warnings

import numpy as np
import pycuda.driver as drv
from pycuda.compiler import SourceModule

SOURCE = r"""
struct padded { double x; int y; };
extern "C" {
__global__ void blocks_share(int *x) { x[0] = x[0] + blockIdx.x + 1; /* RACE */ }
__global__ void neighbours(int *x)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    x[i] = x[(i + 1) % (gridDim.x * 32)] + 1; /* NEIGHBOUR */
}
__global__ void last_block(int *x, int fence)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        x[1 + blockIdx.x] = blockIdx.x; /* PARTIAL */
        if (fence == 1) __threadfence();
        if (fence == 2) __threadfence_block();
        last = atomicAdd(x, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += x[1 + i]; /* TAKEN */
        x[63] = sum;
        x[0] = 0;
    }
}
__global__ void cleared_late(int *x)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) x[0] = 0; /* CLEARED */
    __syncthreads();
    atomicAdd(x, 1);
}
__global__ void bytes_apart(unsigned char *x)
{
    x[threadIdx.x * gridDim.x + blockIdx.x] = 1;
}
__global__ void warps_in_global(int *x, int barrier)
{
    x[threadIdx.x] = threadIdx.x;
    if (barrier) __syncthreads();
    int y = x[threadIdx.x ^ 32];
    __syncthreads();
    x[threadIdx.x] = y;
}
__global__ void accumulate(float *out, const float *x, int n)
{
    float sum;
    for (int i = 0; i < n; i++) sum += x[i]; /* SUM */
    out[threadIdx.x] = sum;
}
__global__ void local_bins(int *out, const int *x)
{
    int bins[8];
    for (int i = 0; i < 8; i++) bins[x[i] & 7] = i;
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += bins[i]; /* BINS */
    out[threadIdx.x] = sum;
}
__global__ void returned(int *x, int n)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    if (threadIdx.x >= n) return; /* also a part of a warp: as on an H200, no error */
    __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    x[threadIdx.x] = count;
}
__global__ void through_shared(int *out, const int *x, int n)
{
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 33) s[n] = s[n] + s[n + 40]; /* ORIGIN */
    __syncthreads();
    if (threadIdx.x == 0) out[0] = s[n]; /* PASSED */
}
__global__ void twice(float *out, const float *x)
{
    out[threadIdx.x] = 2 * x[threadIdx.x]; /* TWICE */
}
__global__ void count(int *out) { atomicAdd(out + threadIdx.x % 4, 1); }
__global__ void follow(float *out, const int *at)
{
    out[at[threadIdx.x] & 1] = 1; /* FOLLOW */
}
__global__ void copy(float *out, const float *x) { out[threadIdx.x] = x[threadIdx.x]; }
__global__ void copy_padded(padded *out, const padded *x)
{
    __shared__ padded s[32];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void beyond_the_end(float *out, const float *x, int n)
{
    float v = x[threadIdx.x];
    if (threadIdx.x < n) out[threadIdx.x] = v * 2;
}
__global__ void absent_lane(int *out, int n)
{
    if (threadIdx.x >= n) return;
    int v = threadIdx.x;
    v += __shfl_down_sync(0xffffffffu, v, 16);
    out[threadIdx.x] = v;
}
}
"""
drv.init()
lines = SOURCE.splitlines()


def mark(word):
    return next(i for i, line in enumerate(lines, 1) if f"/* {word} */" in line)


def run(name, *more, block=32, grid=1, set_all=True, **memory):
    """Return the marks of the lines that the report names, its text, or nothing."""
    context = drv.Device(0).make_context()
    kernel = SourceModule(
        SOURCE, no_extern_c=True, options=["-lineinfo"], cache_dir=None
    ).get_function(name)
    x, out = drv.mem_alloc(1024), drv.mem_alloc(1024)
    drv.memset_d8(x, 0, 1024)
    if set_all:
        drv.memset_d8(out, 0, 1024)
    first = [out, x] if memory.get("both", True) else [out]
    text = ""
    try:
        kernel(*first, *more, block=(block, 1, 1), grid=(grid, 1))
        context.synchronize()
    except drv.Error as error:
        text = str(error)
    context.pop()
    return [sorted(int(n) for n in re.findall(r" at .*kernel.cu:(\d+)", text)), text]


warnings.filterwarnings("ignore", "threads have ended before a barrier")
marks = (
    "RACE NEIGHBOUR PARTIAL TAKEN CLEARED SUM BINS TWICE FOLLOW ORIGIN PASSED".split()
)
results = {
    "marks": {word: mark(word) for word in marks},
    "blocks_share": run("blocks_share", grid=2, both=False),
    "neighbours": run("neighbours", grid=4, both=False),
    "no_fence": run("last_block", np.int32(0), grid=8, both=False),
    "block_fence": run("last_block", np.int32(2), grid=8, both=False),
    "fence": run("last_block", np.int32(1), grid=8, both=False),
    "cleared_late": run("cleared_late", grid=4, both=False),
    "bytes_apart": run("bytes_apart", grid=4, both=False),
    "returned": run("returned", np.int32(40), block=64, both=False),
    "through_shared": run("through_shared", np.int32(2), block=40),
    "set_through_shared": run("through_shared", np.int32(0), block=41),
    "no_barrier": run("warps_in_global", np.int32(0), block=64, both=False),
    "barrier": run("warps_in_global", np.int32(1), block=64, both=False),
    "accumulate": run("accumulate", np.int32(8)),
    "local_bins": run("local_bins"),
    "count": run("count", both=False, set_all=False),
    "absent_lane": run("absent_lane", np.int32(20), both=False),
    "whole_warp": run("absent_lane", np.int32(32), both=False),
}
context = drv.Device(0).make_context()
module = SourceModule(SOURCE, no_extern_c=True, options=["-lineinfo"], cache_dir=None)
out, x = drv.mem_alloc(512), drv.mem_alloc(512)
try:
    module.get_function("copy")(out, x, block=(32, 1, 1))
    drv.memset_d2d32(x, 16, 1, 3, 32)  # all but the last 4 bytes of each structure
    module.get_function("copy_padded")(out, x, block=(32, 1, 1))
    drv.memset_d32(x, 0, 20)
    module.get_function("beyond_the_end")(out, x, np.int32(20), block=(32, 1, 1))
    context.synchronize()
    results["moved"] = [[], ""]
except drv.Error as error:
    results["moved"] = [[0], str(error)]
context.pop()


def unset(name, types):
    context = drv.Device(0).make_context()
    module = SourceModule(
        SOURCE, no_extern_c=True, options=["-lineinfo"], cache_dir=None
    )
    out, middle, x = (drv.mem_alloc(512) for _ in range(3))
    text = ""
    try:
        drv.memcpy_dtod(middle, x, 512)  # a copy of what nothing has written
        module.get_function(name)(out, middle, block=(32, 1, 1))
        context.synchronize()
    except drv.Error as error:
        text = str(error)
    context.pop()
    return [sorted(int(n) for n in re.findall(r" at .*kernel.cu:(\d+)", text)), text]


results["twice"] = unset("twice", "f4")
results["follow"] = unset("follow", "i4")
print(json.dumps(results))
'''


@pytest.fixture(scope="module")
def results():
    done = run_child(
        PROGRAM,
        PYCUDA_DRIVER="emulator",
        PYCUDA_CHECK="init,race,barrier",
        PYCUDA_EMULATOR_THREADS="1",
    )
    return json.loads(done.stdout)


FOUND = [
    # run, lines, words of the report
    ("blocks_share", ["RACE", "RACE"], "race: ", "of block (0, 0, 0)"),
    ("neighbours", ["NEIGHBOUR", "NEIGHBOUR"], "race: ", "orders the two blocks"),
    ("no_fence", ["PARTIAL", "TAKEN"], "race: read", "of block ("),
    ("block_fence", ["PARTIAL", "TAKEN"], "race: read", "of block ("),
    ("cleared_late", ["CLEARED"], "race: atomic operation", "the write by"),
    ("accumulate", ["SUM", "SUM"], "uninitialised variable", "stored to global"),
    ("local_bins", ["BINS"], "uninitialised read of 4 bytes", "of local memory"),
    (
        "through_shared",
        ["ORIGIN", "PASSED"],
        "read of 4 bytes at offset 168 of shared memory by thread (33, 0, 0)",
        "written byte 168",
    ),
    ("count", [], "uninitialised read", "an atomic operation uses it"),
    ("absent_lane", [], "uninitialised value", "does not take part"),
    ("twice", ["TWICE", "TWICE"], "uninitialised read of 4 bytes", "512-byte device"),
    ("follow", ["FOLLOW", "FOLLOW"], "uninitialised read", "address of an access"),
]


@pytest.mark.parametrize("name, words, start, more", FOUND)
def test_what_is_found(results, name, words, start, more):
    lines, text = results[name]
    assert start in text and more in text, text
    assert set(lines) >= {results["marks"][word] for word in words}, text


def test_the_values_of_a_race(results):
    """The value that the thread writes, and the one that the memory has."""
    text = results["neighbours"][1]
    assert ("value: the thread writes 0x" in text) == ("race: write" in text)
    assert ", the memory has 0x" in text or "value: the memory has 0x" in text
    assert "value:" not in results["accumulate"][1]


def test_the_order_of_a_race_without_a_barrier(results):
    assert "with no __syncthreads between them" in results["no_barrier"][1]


@pytest.mark.parametrize(
    "name",
    [
        "fence",
        "bytes_apart",
        "barrier",
        "whole_warp",
        "moved",
        "set_through_shared",
        "returned",
    ],
)
def test_what_is_right(results, name):
    """Fences order blocks; copies of unwritten memory and unused values are right."""
    assert results[name] == [[], ""]


# -- copies to the host ----------------------------------------------------------------

COPIES = r'''
import json

import numpy as np
import pycuda.driver as drv
from pycuda.compiler import SourceModule

drv.init()
SOURCE = """
__global__ void fill(int *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = n; }
"""


def run(n, prepare=lambda memory: None, first=0):
    """Copy 64 of 256 bytes, of which the kernel writes n numbers. Return the report."""
    context = drv.Device(0).make_context()
    kernel = SourceModule(SOURCE).get_function("fill")
    memory = drv.mem_alloc(256)
    out = np.empty(16, np.int32)
    text = ""
    try:
        prepare(memory)
        kernel(memory, np.int32(n), block=(64, 1, 1))
        drv.memcpy_dtoh(out, int(memory) + first)
    except drv.Error as error:
        text = str(error)
    context.pop()
    return text


def from_other(memory):
    other = drv.mem_alloc(256)
    drv.memcpy_dtod(memory, other, 256)


def rows(memory):
    """A box of unset bytes in memory that is written elsewhere."""
    drv.memset_d2d8(memory, 16, 1, 4, 16)
    copy = drv.Memcpy2D()
    copy.set_src_device(memory)
    copy.src_pitch, copy.src_x_in_bytes = 16, 8
    copy.set_dst_host(np.empty((16, 4), np.uint8))
    copy.dst_pitch = copy.width_in_bytes = 4
    copy.height = 16
    copy(aligned=True)


print(json.dumps({
    "nothing": run(0),
    "before": run(16, first=64),
    "copied": run(0, from_other),
    "rows": run(0, rows),
    "one": run(1),
    "behind": run(17, first=64),
    "all": run(64),
    "fill": run(0, lambda memory: drv.memset_d8(memory, 0, 1)),
    "host": run(0, lambda memory: drv.memcpy_htod(memory, np.zeros(1, np.int8))),
}))
'''


@pytest.fixture(scope="module")
def copies():
    done = run_child(COPIES, PYCUDA_DRIVER="emulator", PYCUDA_CHECK="init")
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", ["nothing", "before", "copied", "rows"])
def test_a_copy_of_what_nothing_has_written(copies, name):
    assert "uninitialised copy to the host of 64 bytes" in copies[name]
    assert "of the 256-byte device allocation" in copies[name]


@pytest.mark.parametrize("name", ["one", "behind", "all", "fill", "host"])
def test_a_copy_of_something_written(copies, name):
    assert copies[name] == ""
