"""Launches with clusters: their registers, barrier and shared memory.

Clusters need compute capability 9.0. The software device has the lowest one by default,
so each test runs in a child process that asks for 9.0. A GPU ignores that.
"""

import pytest

import pycuda.driver as drv
from pycuda import _driver
from support.child import run_child
from support.compilers import needs_nvcc

pytestmark = [pytest.mark.gpu, needs_nvcc]

BEGIN = r"""
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

mod = SourceModule(r'''
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define READ(i, name) asm("mov.u32 %0, %" name ";" : "=r"(v[i]));

extern "C" __global__ void registers(unsigned *out)
{
    unsigned v[14];
    READ(0, "%cluster_ctaid.x") READ(1, "%cluster_ctaid.y") READ(2, "%cluster_ctaid.z")
    READ(3, "%cluster_nctaid.x") READ(4, "%cluster_nctaid.y")
    READ(5, "%cluster_nctaid.z") READ(6, "%cluster_ctarank")
    READ(7, "%cluster_nctarank") READ(8, "%clusterid.x") READ(9, "%clusterid.y")
    READ(10, "%clusterid.z") READ(11, "%nclusterid.x") READ(12, "%nclusterid.y")
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
        : "=r"(v[13]));
    unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    for (int i = 0; i < 14; i++) out[b * 14 + i] = v[i];
}

// Each block reads the shared memory of the next one; then all add to that of rank 0.
extern "C" __global__ void ring(int *out)
{
    __shared__ int s[64];
    cg::cluster_group c = cg::this_cluster();
    s[threadIdx.x] = 100 * blockIdx.x + threadIdx.x;
    c.sync();
    int *next = c.map_shared_rank(s, (c.block_rank() + 1) % c.num_blocks());
    out[blockIdx.x * 64 + threadIdx.x] = next[threadIdx.x];
    c.sync();
    atomicAdd(c.map_shared_rank(s, 0), 1);
    c.sync();
    if (c.block_rank() == 0 && threadIdx.x == 0) out[blockIdx.x * 64] = s[0];
}

// The barrier in two steps, by hand, with addresses of shared::cluster in 32 bits.
extern "C" __global__ void steps(int *out)
{
    __shared__ int s[32];
    unsigned rank, other, place = (unsigned)__cvta_generic_to_shared(s + threadIdx.x);
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    for (int round = 0; round < 8; round++) {
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                     : "=r"(other) : "r"(place), "r"(rank ^ 1));
        asm volatile("st.shared::cluster.u32 [%0], %1;"
                     :: "r"(other), "r"(1000 * rank + threadIdx.x + round) : "memory");
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
        out[(blockIdx.x * 8 + round) * 32 + threadIdx.x] = s[threadIdx.x];
        asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    }
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(other));
    if (threadIdx.x == 0) out[blockIdx.x * 256] = rank;
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) fixed(int *out)
{
    out[blockIdx.x] = 100 * cg::this_cluster().num_blocks()
                    + cg::this_cluster().block_rank();
}

// Threads of some warps end early; the others still meet.
extern "C" __global__ void leavers(int *out)
{
    __shared__ int s;
    if (threadIdx.x >= 32 + 8 * blockIdx.x) return;
    if (threadIdx.x == 0) s = blockIdx.x + 7;
    cg::this_cluster().sync();
    if (threadIdx.x == 0)
        out[blockIdx.x] = *cg::this_cluster().map_shared_rank(
            &s, (blockIdx.x + 1) % gridDim.x);
    cg::this_cluster().sync();
}

extern "C" __global__ void beyond(int *out)
{
    __shared__ int s[4];
    *out = cg::this_cluster().map_shared_rank(s, 1)[4096 * 64];
}
''', no_extern_c=True, arch="sm_90")

def zeros(*shape):
    return np.zeros(shape, np.int32)
"""


@pytest.fixture(autouse=True)
def needs_clusters():
    drv.init()
    if not _driver._is_emulated() and drv.Device(0).compute_capability() < (9, 0):
        pytest.skip("clusters need compute capability 9.0")


def run(code, **env):
    run_child(BEGIN + code, PYCUDA_EMULATOR_CAPABILITY="9.0", **env)


def test_registers():
    run("""
out = np.zeros((2, 4, 8, 14), np.uint32)
mod.get_function("registers")(
    drv.Out(out), block=(32, 1, 1), grid=(8, 4, 2), cluster=(4, 2, 1))
z, y, x = np.indices((2, 4, 8))
one = np.ones_like(x)
expected = [x % 4, y % 2, 0 * z, 4 * one, 2 * one, one, x % 4 + 4 * (y % 2), 8 * one,
            x // 4, y // 2, z, 2 * one, 2 * one, one]
assert (out == np.stack(expected, -1)).all(), out
mod.get_function("registers")(drv.Out(out), block=(32, 1, 1), grid=(8, 4, 2))
expected = [0 * z, 0 * z, 0 * z, one, one, one, 0 * z, one, x, y, z, 8 * one, 4 * one,
            0 * z]
assert (out == np.stack(expected, -1)).all(), out
""")


@pytest.mark.parametrize("threads", ["1", "3"])
def test_shared_memory_of_other_blocks(threads):
    run(
        """
for size, blocks in ((4, 8), (2, 64), (8, 8), (1, 3)):
    out = zeros(blocks, 64)
    mod.get_function("ring")(
        drv.Out(out), block=(64, 1, 1), grid=(blocks, 1), cluster=size)
    block = np.arange(blocks)
    next = block // size * size + (block + 1) % size
    expected = 100 * next[:, None] + np.arange(64)
    expected[::size, 0] = 100 * block[::size] + 64 * size
    assert (out == expected).all(), (size, out)
""",
        PYCUDA_EMULATOR_THREADS=threads,
    )


def test_steps_of_the_barrier_and_32_bit_addresses():
    run("""
out = zeros(6, 8, 32)
config = drv.LaunchConfig(cluster=2)
mod.get_function("steps")(
    drv.Out(out), block=(32, 1, 1), grid=(6, 1), launch_config=config)
block, round, thread = np.indices((6, 8, 32))
expected = 1000 * (1 - block % 2) + thread + round
expected[:, 0, 0] = 1 - np.arange(6) % 2
assert (out == expected).all(), out
""")


def test_clusters_that_the_kernel_requires():
    run("""
fixed = mod.get_function("fixed")
out = zeros(8)
fixed(drv.Out(out), block=(1, 1, 1), grid=(8, 1))
assert (out == 400 + np.arange(8) % 4).all(), out
assert fixed.required_cluster_width == 4 and fixed.cluster_size_must_be_set == 1
assert mod.get_function("ring").cluster_size_must_be_set == 0
for wrong in ({"grid": (6, 1)}, {"grid": (8, 1), "cluster": (2, 1, 1)}):
    try:
        fixed(drv.Out(out), block=(1, 1, 1), **wrong)
        raise AssertionError(wrong)
    except drv.Error as error:
        assert "fixed with grid" in str(error), error
""")


def test_threads_that_end_early():
    run("""
out = zeros(4)
mod.get_function("leavers")(drv.Out(out), block=(96, 1, 1), grid=(4, 1), cluster=4)
assert (out == [8, 9, 10, 7]).all(), out
""")


def test_prepared_calls_and_graphs_of_the_driver():
    run("""
ring = mod.get_function("ring").prepare("P")
memory = drv.mem_alloc(8 * 256)
ring.prepared_call((8, 1), (64, 1, 1), memory, cluster=(8, 1, 1))
drv.Context.synchronize()
first = drv.from_device(memory, (8, 64), np.int32)
assert first[0, 0] == 8 * 64 and first[7, 1] == 1, first
""")


def test_errors_say_what_fits():
    run("""
ring = mod.get_function("ring")
memory = drv.mem_alloc(1 << 20)
most = ring.max_cluster_size(64)
assert most == 8, most
assert ring.max_active_clusters(2, 64) >= ring.max_active_clusters(8, 64) > 0
for grid, cluster, text in (
    (6, 4, "x of the grid must be a multiple of x of the cluster"),
    (16, 16, "clusters of at most 8 blocks of this shape fit"),
    (64, 64, "clusters of at most 8 blocks of this shape fit"),
    (64, 0, "which must be 1 or more"),
):
    try:
        ring(memory, block=(64, 1, 1), grid=(grid, 1), cluster=cluster)
        raise AssertionError((grid, cluster))
    except drv.Error as error:
        assert text in str(error), error
        assert f"cluster ({cluster}, 1, 1)" in str(error), error
ring.set_attribute(drv.function_attribute.NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
assert ring.max_cluster_size(64) == 16
out = zeros(16, 64)
ring(drv.Out(out), block=(64, 1, 1), grid=(16, 1), cluster=16)
assert out[0, 0] == 16 * 64
""")


@pytest.mark.software(why="reports the access that is out of bounds")
def test_an_access_beyond_the_other_block():
    run("""
try:
    mod.get_function("beyond")(drv.Out(zeros(1)), block=1, grid=2, cluster=2)
    drv.Context.synchronize()
    raise AssertionError
except drv.Error as error:
    assert error.code == 700, error
import os
os._exit(0)
""")


@pytest.mark.software(why="checks races")
def test_the_race_check_knows_the_barrier_of_a_cluster():
    run(
        """
out = zeros(8, 64)
mod.get_function("ring")(drv.Out(out), block=(64, 1, 1), grid=(8, 1), cluster=4)
assert out[0, 0] == 4 * 64
""",
        PYCUDA_EMULATOR_CHECK="init,race,barrier",
    )


@pytest.mark.software(why="a device without clusters")
def test_a_device_without_clusters(ctx):
    if drv.Device(0).compute_capability() >= (9, 0):
        pytest.skip("this device has clusters")
    from pycuda.compiler import SourceModule

    add = SourceModule("__global__ void add(int *a) { *a += 1; }").get_function("add")
    with pytest.raises(drv.LogicError, match="has no clusters"):
        add(drv.mem_alloc(4), block=1, grid=2, cluster=2)
