"""Export and import of arrays with DLPack: __dlpack__ and gpuarray.from_dlpack."""

import gc
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, gpuarray
from pycuda.gpuarray import GPUArray, from_dlpack, to_gpu
from support.arrays import DTYPES, same, sample
from support.capture import captured
from support.dlpack import CUDA, CUDA_MANAGED, Managed, Versioned, look
from support.emulator import DriverError

pytestmark = pytest.mark.gpu

HOST = np.arange(24, dtype=np.float32).reshape(4, 6)
READ_ONLY, IS_COPIED = 1, 2


def nbytes_of(strides, itemsize):
    return tuple(stride * itemsize for stride in strides)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x.T,
        lambda x: x[1:, ::2],
        lambda x: x[::-1],
        lambda x: x[2, 3],
        lambda x: x[:, None, 1:1],
    ],
)
@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (2, 3)])
def test_what_a_capsule_describes(ctx, view, version):
    x = view(to_gpu(HOST))
    managed = look(x.__dlpack__(max_version=version))
    tensor = managed.tensor
    new = version is not None and version >= (1, 0)
    assert isinstance(managed, Versioned if new else Managed)
    if new:
        assert (managed.major, managed.minor, managed.flags) == (1, 0, 0)
    assert (tensor.data or 0) == (x.ptr if x.size else 0)
    assert (tensor.device_type, tensor.device_id) == x.__dlpack_device__() == (CUDA, 0)
    assert tuple(tensor.shape[: tensor.ndim]) == x.shape
    assert nbytes_of(tensor.strides[: tensor.ndim], 4) == x.strides


@pytest.mark.parametrize("dtype", DTYPES)
def test_there_and_back(ctx, dtype):
    host = sample(dtype, (4, 5))
    x = to_gpu(host)
    for array, expected in ((x, host), (x.T[::-2], host.T[::-2]), (x[:0], host[:0])):
        back = from_dlpack(array)
        same(back, expected)
        assert back.strides == array.strides
        if array.size:
            assert back.ptr == array.ptr
    back = from_dlpack(x)
    back.fill(1)
    same(x, np.ones((4, 5), dtype))
    same(from_dlpack(x.__dlpack__()), np.ones((4, 5), dtype))


def test_the_memory_is_kept(ctx):
    x = to_gpu(HOST)
    gone = weakref.ref(x.gpudata)
    y = from_dlpack(x)[1:]
    capsule = y.__dlpack__()
    del x, y
    gc.collect()
    assert gone() is not None
    same(from_dlpack(capsule), HOST[1:])
    del capsule
    gc.collect()
    assert gone() is None


def test_memory_that_is_lent_outlives_its_exchange(ctx):
    """The array gets other memory, but the consumer keeps the exported memory."""
    x = to_gpu(HOST)
    gone = weakref.ref(x.gpudata)
    y = from_dlpack(x)
    x.gpudata = drv.mem_alloc(x.nbytes)
    gc.collect()
    assert gone() is not None
    same(y, HOST)
    del y
    gc.collect()
    assert gone() is None


def test_what_cannot_be_lent(ctx):
    x = to_gpu(HOST)
    with pytest.raises(BufferError, match="no type"):
        gpuarray.zeros(3, gpuarray.vec.float3).__dlpack__()
    with pytest.raises(BufferError, match="not a multiple"):
        GPUArray(3, np.float32, gpudata=x.gpudata, strides=(6,)).__dlpack__()
    with pytest.raises(BufferError, match=r"\(2, 0\).*\(10, 3\)"):
        x.__dlpack__(dl_device=(10, 3))
    with pytest.raises(BufferError, match="copy"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    for keywords in ({"dl_device": 3}, {"max_version": 1}, {"nonsense": 1}):
        with pytest.raises(TypeError):
            x.__dlpack__(**keywords)
    with pytest.raises(TypeError):
        x.__dlpack__(None)
    x.gpudata.free()
    for function in (x.__dlpack__, x.__dlpack_device__):
        with pytest.raises(drv.LogicError):
            function()
    with pytest.raises(TypeError, match="__init__"):
        GPUArray.__new__(GPUArray).__dlpack__()


def test_memory_that_is_released_while_the_arguments_are_read(ctx):
    x = to_gpu(HOST)

    class Device:
        def __iter__(self):
            x.gpudata.free()
            return iter((CUDA, 0))

    with pytest.raises(drv.LogicError):
        x.__dlpack__(dl_device=Device())


# -- streams ---------------------------------------------------------------------------


def test_numbers_of_streams(ctx):
    x = to_gpu(HOST)
    stream = drv.Stream()
    for number in (None, 1, 2, -1, stream.handle, stream):
        assert look(x.__dlpack__(stream=number)).tensor.data == x.ptr
        with stream:
            assert look(x.__dlpack__(stream=number)).tensor.data == x.ptr
    for wrong in (0, -2, 1 << 70):
        with pytest.raises(ValueError, match="stream"):
            x.__dlpack__(stream=wrong)
    with pytest.raises(TypeError):
        x.__dlpack__(stream="x")


def test_the_consumers_stream_waits_for_the_current_one(ctx):
    """During a capture, a stream that waits for another one joins the graph."""
    x = to_gpu(HOST)
    ours, theirs = drv.Stream(), drv.Stream()
    with captured(ours):
        x.fill(7)
        capsule = x.__dlpack__(stream=theirs.handle)
        with theirs:
            y = from_dlpack(capsule)
            y += 1
        event = drv.Event()
        event.record(theirs)
        ours.wait_for_event(event)
    same(x, np.full((4, 6), 8, np.float32))


def test_no_order_is_made_if_none_is_asked_for(ctx):
    """The other stream does not join the graph, so there is no order."""
    x = to_gpu(HOST)
    ours, theirs = drv.Stream(), drv.Stream()
    with pytest.raises((drv.Error, DriverError)), captured(ours):
        x.fill(7)
        x.__dlpack__(stream=-1)
        event = drv.Event()
        event.record(theirs)
        ours.wait_for_event(event)


def test_the_producer_is_told_the_current_stream(ctx):
    x = to_gpu(HOST)
    seen = []

    class Lender:
        def __dlpack_device__(self):
            return x.__dlpack_device__()

        def __dlpack__(self, **keywords):
            seen.append(keywords["stream"])
            return x.__dlpack__(**keywords)

    stream = drv.Stream()
    from_dlpack(Lender())
    from_dlpack(Lender(), stream=stream)
    with stream:
        from_dlpack(Lender())
    assert seen == [1, stream.handle, stream.handle]


# -- copies ----------------------------------------------------------------------------


def test_copies(ctx):
    x = to_gpu(HOST)[:, ::2]
    managed = look(x.__dlpack__(copy=True, max_version=(1, 0)))
    assert managed.flags == IS_COPIED and managed.tensor.data != x.ptr
    assert look(x.__dlpack__(copy=False)).tensor.data == x.ptr
    y = from_dlpack(x, copy=True)
    same(y, HOST[:, ::2])
    assert y.ptr != x.ptr
    assert from_dlpack(x, copy=False).ptr == x.ptr


def test_memory_of_the_host(ctx):
    x = to_gpu(HOST).T
    for version in (None, (1, 0)):
        tensor = look(x.__dlpack__(dl_device=(1, 0), max_version=version)).tensor
        assert tensor.device_type == 1
    with pytest.raises(BufferError, match="copy=True"):
        from_dlpack(HOST)
    same(from_dlpack(HOST, copy=True), HOST)

    class OnHost:  # the arguments of NumPy with device="cpu"
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **keywords):
            return x.__dlpack__(dl_device=(1, 0), max_version=(1, 0))

    np.testing.assert_array_equal(np.from_dlpack(OnHost()), HOST.T)


def test_read_only_memory(ctx):
    x = to_gpu(HOST)

    class Lender:
        def __dlpack_device__(self):
            return CUDA, 0

        def __dlpack__(self, **keywords):
            capsule = x.__dlpack__(max_version=(1, 0))
            look(capsule).flags |= READ_ONLY
            return capsule

    with pytest.raises(BufferError, match="read-only"):
        from_dlpack(Lender())
    same(from_dlpack(Lender(), copy=True), HOST)
    borrowed = drv.from_dlpack(Lender())
    y = GPUArray((4, 6), np.float32, gpudata=borrowed)
    assert look(y.__dlpack__(max_version=(1, 0))).flags == READ_ONLY
    assert look(y[1:].__dlpack__(max_version=(1, 0))).flags == READ_ONLY
    with pytest.raises(BufferError, match="read-only"):
        y.__dlpack__()


def test_managed_memory(ctx):
    page = drv.managed_zeros((2, 3), np.float32, mem_flags=drv.mem_attach_flags.GLOBAL)
    x = GPUArray((2, 3), np.float32, gpudata=page.base)
    assert x.__dlpack_device__() == (CUDA_MANAGED, 0)
    page[...] = 5
    ctx.synchronize()
    np.testing.assert_array_equal(np.from_dlpack(x), page)
    same(from_dlpack(x), page)


# -- devices ---------------------------------------------------------------------------


def test_devices(ctx):
    x = to_gpu(HOST)
    assert from_dlpack(x, device=drv.Device(0)).ptr == x.ptr
    with pytest.raises(ValueError, match="device"):
        from_dlpack(x, device="cpu")

    class Elsewhere:
        def __dlpack_device__(self):
            return CUDA, 1

        def __dlpack__(self, **keywords):
            capsule = x.__dlpack__()
            look(capsule).tensor.device_id = 1
            return capsule

    with pytest.raises(BufferError, match="device 1.*on 0"):
        from_dlpack(Elsewhere())


@pytest.mark.gpus(2)
def test_another_context_may_be_current(ctx):
    x = to_gpu(HOST)
    other = drv.Device(1).make_context()
    try:
        assert x.__dlpack_device__() == (CUDA, 0)
        assert look(x.__dlpack__(stream=-1)).tensor.device_id == 0
    finally:
        other.pop()
        other.detach()


def test_nothing_is_left_of_capsules(ctx):
    before = _driver._live_counts()
    for keywords in ({}, {"copy": True}, {"max_version": (1, 0)}):
        x = to_gpu(HOST)
        x.__dlpack__(**keywords)
        del x
    assert _driver._live_counts() == before
