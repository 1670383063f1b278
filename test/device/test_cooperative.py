"""Cooperative launches on the software device: grid.sync and the limits of the grid."""

import ctypes
from ctypes import byref, c_int, c_uint, c_void_p

import numpy as np
import pytest

from support.compilers import needs_nvcc
from support.emulator import EMPTY_KERNEL, R, child, launch_parameters
from support.marks import emulator_only
from support.ptx import compile_ptx

pytest_plugins = ["support.emulator_fixtures"]

SOURCE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Each round a thread reads what a thread of the next block wrote in the round before.
extern "C" __global__ void rounds(int *a, int *b, int n)
{
    cg::grid_group grid = cg::this_grid();
    unsigned long long me = grid.thread_rank(), all = grid.size();
    int *from = a, *to = b;

    for (int i = 0; i < n; i++) {
        to[me] = from[(me + blockDim.x * blockDim.y * blockDim.z) % all] + 1;
        grid.sync();
        int *t = from; from = to; to = t;
    }
}

extern "C" __global__ void split(int *a)
{
    cg::grid_group grid = cg::this_grid();
    a[grid.thread_rank()] = 1;
    auto token = grid.barrier_arrive();
    int own = (int)grid.block_rank();
    grid.barrier_wait(static_cast<decltype(token) &&>(token));
    if (grid.thread_rank() == 0) {
        int sum = 0;
        for (unsigned i = 0; i < grid.size(); i++) sum += a[i];
        a[0] = sum + own;
    }
}

extern "C" __global__ void valid(int *a)
{
    if (threadIdx.x == 0) a[blockIdx.x] = cg::this_grid().is_valid();
}
"""

# The functions of the device runtime library that Numba calls.
CALLS = r"""
extern "C" {
__global__ void rounds(int *a, int *b, int n)
{
    unsigned long long handle = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
    unsigned me = 0, all = 0, grid = 7, grids = 7;
    int *from = a, *to = b;

    cudaCGGetRank(&me, &grid, handle);
    cudaCGGetSize(&all, &grids, handle);
    for (int i = 0; i < n; i++) {
        to[me] = from[(me + blockDim.x * blockDim.y * blockDim.z) % all] + grids + grid;
        if (i % 2) cudaCGSynchronize(handle, 0);
        else cudaCGSynchronizeGrid(handle, 0);
        int *t = from; from = to; to = t;
    }
}

__global__ void states(int *a)
{
    unsigned long long handle = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
    a[0] = handle != 0;
    a[1] = cudaCGSynchronize(handle, 0);
    a[2] = cudaCGGetIntrinsicHandle(cudaCGScopeInvalid) != 0;
}
}
"""


class Config(ctypes.Structure):
    _fields_ = [
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared", c_uint),
        ("stream", c_void_p),
        ("attributes", c_void_p),
        ("count", c_uint),
    ]


class Attribute(ctypes.Structure):
    _fields_ = [("id", c_uint), ("pad", c_uint), ("value", c_int * 16)]


def cooperative(d, f, grid, block, *values):
    return d.LaunchCooperativeKernel(
        f, *grid, *block, 0, None, launch_parameters(*values)
    )


def extended(d, f, grid, block, value, *values):
    attribute = Attribute(2, 0, (c_int * 16)(value))
    config = Config(
        (c_uint * 3)(*grid),
        (c_uint * 3)(*block),
        0,
        None,
        ctypes.addressof(attribute),
        1,
    )
    return d.LaunchKernelEx(byref(config), f, launch_parameters(*values), None)


def ints(d, address, n):
    return np.frombuffer(d.read(address, 4 * n), np.int32)


def check_rounds(d, f, grid, block, rounds, launch):
    threads = int(np.prod(grid) * np.prod(block))
    a, b = d.alloc(4 * threads), d.alloc(4 * threads)
    start = np.arange(threads, dtype=np.int32) * 7
    d.write(a, start.tobytes())
    assert launch(d, f, grid, block, a, b, c_int(rounds)) == 0
    d.ok("CtxSynchronize")
    shift = int(np.prod(block)) * rounds
    expected = np.roll(start, -shift) + rounds
    assert (ints(d, b if rounds % 2 else a, threads) == expected).all()
    d.ok("MemFree", a)
    d.ok("MemFree", b)


@needs_nvcc
def test_grid_sync(d, emu_ctx):
    m = d.module(compile_ptx(SOURCE))
    f = d.function(m, b"rounds")
    for grid, block in [
        ((1, 1, 1), (32, 1, 1)),
        ((8, 1, 1), (64, 1, 1)),
        ((2, 3, 2), (5, 4, 2)),
        ((8, 1, 1), (1024, 1, 1)),
        ((128, 1, 1), (1, 1, 1)),
    ]:
        check_rounds(d, f, grid, block, 5, cooperative)
    d.ok("ModuleUnload", m)


@needs_nvcc
@emulator_only  # a GPU has these functions in a library of machine code
def test_calls_of_the_runtime_library(d, emu_ctx):
    m = d.module(compile_ptx(CALLS))
    f = d.function(m, b"rounds")
    for grid, block in [
        ((1, 1, 1), (32, 1, 1)),
        ((8, 1, 1), (64, 1, 1)),
        ((2, 3, 2), (5, 4, 2)),
    ]:
        check_rounds(d, f, grid, block, 5, cooperative)
    a, states = d.alloc(12), d.function(m, b"states")
    assert cooperative(d, states, (4, 1, 1), (32, 1, 1), a) == 0
    assert ints(d, a, 3).tolist() == [1, 0, 0]
    parameters = launch_parameters(a)
    assert d.LaunchKernel(states, 4, 1, 1, 32, 1, 1, 0, None, parameters, None) == 0
    assert ints(d, a, 3).tolist() == [0, 1, 0]
    d.ok("MemFree", a)
    d.ok("ModuleUnload", m)


@needs_nvcc
def test_arrive_and_wait(d, emu_ctx):
    m = d.module(compile_ptx(SOURCE))
    a = d.alloc(4 * 16 * 32)
    assert cooperative(d, d.function(m, b"split"), (16, 1, 1), (32, 1, 1), a) == 0
    assert ints(d, a, 1)[0] == 16 * 32
    d.ok("MemFree", a)
    d.ok("ModuleUnload", m)


@needs_nvcc
def test_launch_attribute(d, emu_ctx):
    m = d.module(compile_ptx(SOURCE))
    f = d.function(m, b"rounds")
    check_rounds(
        d,
        f,
        (6, 1, 1),
        (96, 1, 1),
        4,
        lambda d, f, grid, block, *v: extended(d, f, grid, block, 1, *v),
    )
    a, valid = d.alloc(16), d.function(m, b"valid")
    assert extended(d, valid, (4, 1, 1), (32, 1, 1), 1, a) == 0
    assert (ints(d, a, 4) == 1).all()
    assert extended(d, valid, (4, 1, 1), (32, 1, 1), 0, a) == 0
    assert (ints(d, a, 4) == 0).all()
    assert (
        d.LaunchKernel(valid, 4, 1, 1, 32, 1, 1, 0, None, launch_parameters(a), None)
        == 0
    )
    assert (ints(d, a, 4) == 0).all()
    d.ok("MemFree", a)
    d.ok("ModuleUnload", m)


@emulator_only
@needs_nvcc
def test_sync_in_an_ordinary_launch_fails(tmp_path):
    """The grid group is invalid in an ordinary launch, and sync traps, as on a GPU."""
    out = run_rounds(
        tmp_path,
        compile_ptx(SOURCE),
        "d.ok('LaunchKernel', f, 1, 1, 1, 32, 1, 1, 0, None, parameters, None)\n"
        "print(d.CtxSynchronize() == R.ERROR_LAUNCH_FAILED, 'rounds' in d.message())",
    )
    assert out == "True True"


def resident(d, f, threads):
    out = c_int()
    d.ok(
        "OccupancyMaxActiveBlocksPerMultiprocessor",
        byref(out),
        f,
        threads,
        ctypes.c_size_t(0),
    )
    processors = d.out(c_int, "DeviceGetAttribute", 16, 0)
    return out.value * processors


def test_too_many_blocks(d, emu_ctx):
    assert d.out(c_int, "DeviceGetAttribute", 95, 0) == 1
    m = d.module(EMPTY_KERNEL)
    f = d.function(m, b"nothing")
    for threads in (32, 256, 1024):
        most = resident(d, f, threads)
        assert most > 0
        assert cooperative(d, f, (most, 1, 1), (threads, 1, 1)) == 0
        for launch in (cooperative, lambda *a: extended(*a, 1)):
            assert launch(d, f, (most + 1, 1, 1), (threads, 1, 1)) == (
                R.ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
            )
        assert extended(d, f, (most + 1, 1, 1), (threads, 1, 1), 0) == 0
    d.ok("CtxSynchronize")
    d.ok("ModuleUnload", m)


def run_rounds(tmp_path, ptx, code, **environment):
    """Run code with the kernel `f`, its `parameters` for 20 rounds, `a` and `b`."""
    path = tmp_path / "kernel.ptx"
    path.write_bytes(ptx)
    return child(
        f"""
d.ok("Init", 0)
ctx = d.context()
f = d.function(d.module(open({str(path)!r}, "rb").read()), b"rounds")
a, b, n = d.alloc(4 * 4096), d.alloc(4 * 4096), c_int(20)
parameters = launch_parameters(a, b, n)
{code}
""",
        **environment,
    )


FULL = """
d.ok("LaunchCooperativeKernel", f, 64, 1, 1, 64, 1, 1, 0, None, parameters)
out = d.read(a, 4 * 4096)
words = [out[i:i + 4] for i in range(0, len(out), 4)]
print(words == [(20).to_bytes(4, "little")] * 4096)
"""


@emulator_only
@needs_nvcc
@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_any_number_of_workers(threads, tmp_path):
    """One worker must switch between all blocks. Several must not deadlock."""
    out = run_rounds(
        tmp_path,
        compile_ptx(SOURCE),
        FULL,
        PYCUDA_EMULATOR_THREADS=threads,
        PYCUDA_EMULATOR_SEED="7",
    )
    assert out == "True"


@emulator_only
@needs_nvcc
def test_grid_sync_of_a_newer_architecture(tmp_path):
    ptx = compile_ptx(SOURCE, "-arch=compute_90")
    out = run_rounds(tmp_path, ptx, FULL, PYCUDA_EMULATOR_CAPABILITY="9.0")
    assert out == "True"
