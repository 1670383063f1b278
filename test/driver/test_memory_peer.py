"""Copies and kernels between the memories of two devices."""

import warnings

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel

pytestmark = pytest.mark.gpus(2)

SOURCE = """
__global__ void sum_into(int *out, const int *a, const int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + b[i];
}
"""


@pytest.fixture
def pair():
    """A context on each of two devices. None of them is current."""
    contexts = [drv.Device(i).make_context() for i in range(2)]
    for _ in contexts:
        drv.Context.pop()
    yield contexts
    for context in contexts:
        context.detach()


@pytest.fixture
def two(pair):
    """The two contexts. The first is current."""
    pair[0].push()
    yield pair
    pair[0].pop()


def memory_in(context, values):
    """Return device memory of a context with these values."""
    context.push()
    memory = drv.to_device(values)
    context.pop()
    return memory


def read_in(context, memory, like):
    context.push()
    values = drv.from_device_like(memory, like)
    context.pop()
    return values


VALUES = np.arange(5000, dtype=np.int32)


def test_copies_between_two_devices(two):
    first, second = two
    here = memory_in(first, VALUES)
    there = memory_in(second, np.zeros_like(VALUES))
    drv.memcpy_peer(there, here, VALUES.nbytes, second, first)
    assert (read_in(second, there, VALUES) == VALUES).all()
    drv.memcpy_peer(here, int(there) + 4, 8, dest_context=None, src_context=second)
    assert drv.from_device(here, 3, np.int32).tolist() == [1, 2, 2]
    stream = drv.Stream()
    drv.memcpy_peer_async(
        dest=there,
        src=here,
        size=8,
        dest_context=second,
        src_context=first,
        stream=stream,
    )
    stream.synchronize()
    assert read_in(second, there, VALUES)[:3].tolist() == [1, 2, 2]


def test_contexts_that_are_gone(two):
    first, second = two
    memory = drv.mem_alloc(16)
    third = drv.Device(1).make_context()
    third.detach()
    for name, copy in (
        ("cuMemcpyPeer", drv.memcpy_peer),
        ("cuMemcpyPeerAsync", drv.memcpy_peer_async),
    ):
        with pytest.raises(drv.LogicError, match=f"{name} .*dest_context was detached"):
            copy(memory, memory, 16, third, first)
        with pytest.raises(drv.LogicError, match="src_context was detached"):
            copy(memory, memory, 16, first, third)
    assert drv.Context.get_current() == first


@pytest.mark.parametrize("queued", [False, True])
def test_boxes_between_two_devices(two, queued):
    first, second = two
    values = VALUES[: 4 * 6 * 16].reshape(4, 6, 16)
    here = memory_in(first, values)
    there = memory_in(second, np.zeros_like(values))
    copy = drv.Memcpy3DPeer()
    copy.set_src_device(here)
    copy.set_src_context(first)
    copy.set_dst_device(there)
    copy.set_dst_context(second)
    copy.src_pitch = copy.dst_pitch = 64
    copy.src_height = copy.dst_height = 6
    copy.src_z, copy.src_y, copy.src_x_in_bytes = 1, 2, 16
    copy.dst_z, copy.dst_y, copy.dst_x_in_bytes = 2, 0, 8
    copy.width_in_bytes, copy.height, copy.depth = 24, 3, 2
    if queued:
        stream = drv.Stream()
        copy(stream)
        stream.synchronize()
    else:
        copy()
    expected = np.zeros_like(values)
    expected[2:4, 0:3, 2:8] = values[1:3, 2:5, 4:10]
    assert (read_in(second, there, values) == expected).all()


def test_host_memory_to_another_device(two):
    values = VALUES[:120].reshape(10, 12)
    there = memory_in(two[1], np.zeros_like(values))
    copy = drv.Memcpy3DPeer()
    copy.set_src_host(values[:, 2:5])
    copy.set_dst_device(there)
    copy.set_dst_context(two[1])
    copy.src_pitch = copy.dst_pitch = 48
    copy.src_height = copy.dst_height = copy.height = 10
    copy.width_in_bytes, copy.depth = 12, 1
    copy()
    expected = np.zeros_like(values)
    expected[:, :3] = values[:, 2:5]
    assert (read_in(two[1], there, values) == expected).all()


def test_a_kernel_reads_the_memory_of_its_peer(two):
    first, second = two
    if not drv.Device(0).can_access_peer(drv.Device(1)):
        pytest.skip("device 0 has no access to the memory of device 1")
    n = 1024
    there = memory_in(second, VALUES[:n])
    drv.Context.enable_peer_access(second)
    with pytest.raises(drv.LogicError, match="cuCtxEnablePeerAccess"):
        drv.Context.enable_peer_access(peer=second, flags=0)
    here, out = drv.to_device(VALUES[n : 2 * n]), drv.mem_alloc(4 * n)
    module = SourceModule(SOURCE)
    kernel = module.get_function("sum_into")
    kernel(out, here, there, block=(256, 1, 1), grid=(4, 1))
    assert (drv.from_device(out, n, np.int32) == VALUES[:n] + VALUES[n : 2 * n]).all()
    drv.memcpy_dtod(there, out, 4 * n)
    drv.Context.synchronize()
    got = read_in(second, there, VALUES[:n])
    assert (got == VALUES[:n] + VALUES[n : 2 * n]).all()
    drv.Context.disable_peer_access(second)
    with pytest.raises(drv.LogicError, match="cuCtxDisablePeerAccess"):
        drv.Context.disable_peer_access(second)


def test_arrays_of_a_peer_are_like_others(two):
    """Programs for several devices use them without copies, and need no warning."""
    if not drv.Device(0).can_access_peer(drv.Device(1)):
        pytest.skip("device 0 has no access to the memory of device 1")
    first, second = two
    second.push()
    theirs = gpuarray.ones(10, np.float32)
    second.pop()
    mine = gpuarray.zeros(10, np.float32)
    kernel = ElementwiseKernel("float *y, float *x", "y[i] += x[i]")
    drv.Context.enable_peer_access(second)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (theirs, theirs[:]):
            kernel(mine, x)
        assert (mine + theirs).get().tolist() == [3] * 10
    drv.Context.disable_peer_access(second)
    with pytest.warns(drv.PyCUDAWarning, match="another context"):
        theirs.get()
    del kernel


def test_memory_is_freed_in_its_own_context(two):
    first, second = two
    memory = memory_in(second, VALUES)
    array = memory_in(second, VALUES)
    memory.free()
    del array
    assert drv.Context.get_current() == first
    with pytest.raises(drv.LogicError, match="released before"):
        memory.free()
