"""Device memory, copies, fills, page-locked arrays."""

import array
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
import pycuda.tools
from pycuda import gpuarray
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.gpu


def fetch(mem, n, dtype=np.uint8):
    return drv.from_device(mem, n, dtype)


def test_round_trip_of_every_kind_of_buffer(ctx):
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    for source in (
        values,
        values.T,
        np.asfortranarray(values),
        memoryview(values),
        values.tobytes(),
        bytearray(values.tobytes()),
        array.array("f", values.ravel().tolist()),
    ):
        mem = drv.to_device(source)
        got = fetch(mem, 24, np.float32)
        expected = np.frombuffer(np.asarray(source).tobytes(), np.float32)
        assert (got == expected).all()


def test_memory_that_was_released_is_refused(ctx):
    """Another owner may have its address, for example in a pool."""
    pool = pycuda.tools.DeviceMemoryPool()
    released, plain = pool.allocate(64), drv.mem_alloc(64)
    array = gpuarray.GPUArray(16, np.int32, gpudata=released)
    released.free()
    plain.free()
    owner = pool.allocate(64)
    assert int(owner) == int(released)
    drv.memset_d8(owner, 7, 64)
    kernel = SourceModule("__global__ void f(int *x) { *x = 3; }").get_function("f")
    prepared = kernel.prepare("P")
    copy = drv.Memcpy2D()
    for memory in (released, plain):
        for use in (
            lambda m: drv.memset_d32(m, 5, 1),
            lambda m: drv.memcpy_htod(m, b"abcd"),
            lambda m: fetch(m, 4),
            lambda m: kernel(m, block=(1, 1, 1)),
            lambda m: prepared.prepared_call((1, 1), (1, 1, 1), m),
            copy.set_dst_device,
        ):
            with pytest.raises(drv.LogicError, match="was released before"):
                use(memory)
    good = gpuarray.zeros(16, np.int32)
    for use in (  # in each place that an array can have
        lambda: kernel(array, block=(1, 1, 1)),
        lambda: gpuarray.dot(array, good),
        lambda: gpuarray.dot(good, array),
        lambda: gpuarray.sum(array),
        lambda: gpuarray.sum(good, out=array[:1].reshape(())),
        lambda: good + array,
        lambda: gpuarray.where(good, good, array),
        lambda: gpuarray.maximum(good, good, out=array),
        lambda: gpuarray.take(array, np.array([1])),
        lambda: gpuarray.take(good, array),
        lambda: array.get(),
        lambda: array.set(np.zeros(16, np.int32)),
        lambda: good.set(array),
        lambda: array.fill(1),
        lambda: array.astype(np.float32),
        array.copy,
    ):
        with pytest.raises(drv.LogicError, match="released before"):
            use()
    assert (fetch(owner, 64) == 7).all()
    kernel(owner, block=(1, 1, 1))
    assert fetch(owner, 1, np.int32)[0] == 3
    int(plain)  # the address can still be printed


def test_an_error_in_get_pointer_is_shown(ctx):
    class Broken(drv.PointerHolderBase):
        def __init__(self, answer):
            super().__init__()
            self.answer = answer

        def get_pointer(self):
            return self.answer()

    with pytest.raises(TypeError, match=r"has no len"):
        drv.memset_d8(Broken(lambda: len(5)), 0, 4)
    with pytest.raises(TypeError, match="'str' object"):
        drv.memset_d8(Broken(str), 0, 4)


def test_to_device_packs_gaps_in_c_order(ctx):
    values = np.arange(24, dtype=np.int16).reshape(4, 6)[:, ::2]
    got = fetch(drv.to_device(values), 12, np.int16)
    assert (got == values.ravel()).all()


def test_memcpy_refuses_gaps_and_says_what_to_do(ctx):
    mem = drv.mem_alloc(64)
    gaps = np.zeros((4, 4), np.float32)[:, ::2]
    with pytest.raises(ValueError, match="not contiguous.*ascontiguousarray"):
        drv.memcpy_htod(mem, gaps)
    locked = np.zeros(16, np.float32)
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        drv.memcpy_dtoh(locked, mem)
    with pytest.raises(TypeError, match="Python objects"):
        drv.memcpy_htod(mem, np.array([None]))
    with pytest.raises(TypeError, match="src must be an array or a buffer, not int"):
        drv.memcpy_htod(mem, 5)


def test_copies_take_keywords_and_every_kind_of_pointer(ctx):
    class Holder(drv.PointerHolderBase):
        def __init__(self, mem):
            super().__init__()
            self.mem = mem

        def get_pointer(self):
            return int(self.mem)

    source = np.arange(8, dtype=np.int32)
    mem, other = drv.mem_alloc(32), drv.mem_alloc(32)
    for pointer in (mem, int(mem), np.uintp(int(mem)), Holder(mem)):
        drv.memset_d32(mem, 0, 8)
        drv.memcpy_htod(dest=pointer, src=source)
        drv.memcpy_dtod(dest=other, src=pointer, size=32)
        assert (fetch(other, 8, np.int32) == source).all()
    back = np.zeros_like(source)
    drv.memcpy_dtoh(dest=back, src=Holder(other))
    assert (back == source).all()
    for bad in (None, 1.5, "0", source):
        with pytest.raises(TypeError, match="dest must be a device pointer"):
            drv.memcpy_htod(bad, source)
    with pytest.raises(RuntimeError, match="does not define get_pointer"):
        drv.memcpy_htod(drv.PointerHolderBase(), source)


def test_async_copies(ctx):
    stream = drv.Stream()
    source = drv.pagelocked_empty(1000, np.float64)
    source[:] = np.arange(1000)
    back = drv.pagelocked_zeros(1000, np.float64)
    mem, other = drv.mem_alloc(8000), drv.mem_alloc(8000)
    drv.memcpy_htod_async(mem, source, stream)
    drv.memcpy_dtod_async(other, mem, 8000, stream=stream)
    drv.memcpy_dtoh_async(back, other, stream)
    stream.synchronize()
    assert (back == source).all()
    drv.memcpy_htod_async(mem, source, None)
    with pytest.raises(TypeError, match="stream must be a Stream or None"):
        drv.memcpy_htod_async(mem, source, 0)


def test_peer_copy_within_one_context(ctx):
    a, b = drv.to_device(np.arange(8)), drv.mem_alloc(64)
    drv.memcpy_peer(b, a, 64)
    assert (fetch(b, 8, np.int64) == np.arange(8)).all()
    drv.memcpy_peer_async(b, a, 64, src_context=ctx, dest_context=ctx, stream=None)
    drv.Context.synchronize()


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_fills(ctx, bits):
    dtype = np.dtype(f"u{bits // 8}")
    fill = getattr(drv, f"memset_d{bits}")
    fill_async = getattr(drv, f"memset_d{bits}_async")
    mem = drv.mem_alloc(100 * dtype.itemsize)
    top = (1 << bits) - 1
    fill(mem, top, 100)
    assert (fetch(mem, 100, dtype) == top).all()
    stream = drv.Stream()
    fill_async(dest=mem, data=5, size=100, stream=stream)
    stream.synchronize()
    assert (fetch(mem, 100, dtype) == 5).all()
    for bad in (-1, top + 1):
        with pytest.raises(OverflowError, match=f"data is {bad}"):
            fill(mem, bad, 100)
    with pytest.raises(TypeError, match="data must be an integer, not float"):
        fill(mem, 1.0, 100)


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_fills_of_rows(ctx, bits):
    dtype = np.dtype(f"u{bits // 8}")
    fill = getattr(drv, f"memset_d2d{bits}")
    fill_async = getattr(drv, f"memset_d2d{bits}_async")
    pitch, top = 16 * dtype.itemsize, (1 << bits) - 1
    expected = np.zeros((6, 16), dtype)
    mem = drv.to_device(expected)
    fill(mem, pitch, top, 5, 3)
    expected[:3, :5] = top
    assert (drv.from_device_like(mem, expected) == expected).all()
    stream = drv.Stream()
    below = int(mem) + 4 * pitch + 2 * dtype.itemsize
    fill_async(dest=below, pitch=pitch, data=7, width=14, height=2, stream=stream)
    expected[4:, 2:] = 7
    stream.synchronize()
    assert (drv.from_device_like(mem, expected) == expected).all()
    for wrong in (fill, fill_async):
        size = dtype.itemsize
        said = f"a row of 17 elements of {size} bytes does not fit a pitch of {pitch}"
        with pytest.raises(drv.LogicError, match=said):
            wrong(mem, pitch, 0, 17, 2)
        with pytest.raises(drv.LogicError, match="does not fit a pitch"):
            wrong(mem, pitch, 0, 2**64 - 1, 2)
        with pytest.raises(OverflowError, match="data is -1"):
            wrong(mem, pitch, -1, 1, 1)
    assert (drv.from_device_like(mem, expected) == expected).all()


def test_an_allocation_as_an_object(ctx):
    mem = drv.mem_alloc(np.int64(100))
    address = int(mem)
    assert address == mem.__index__() == mem.__long__() and address > 0
    mem.note = "kept"
    assert weakref.ref(mem)().note == "kept" and {mem: 1}[mem] == 1
    mem.free()
    assert int(mem) == address
    with pytest.raises(drv.LogicError, match="released before"):
        mem.free()
    with pytest.raises(TypeError):
        drv.DeviceAllocation()


def test_sizes_are_checked(ctx):
    with pytest.raises(drv.LogicError, match="0 bytes"):
        drv.mem_alloc(0)
    with pytest.raises(OverflowError):
        drv.mem_alloc(-1)
    with pytest.raises(TypeError, match="bytes must be an integer"):
        drv.mem_alloc(10.0)


def test_garbage_is_collected_when_memory_is_short(ctx):
    free, _ = drv.mem_get_info()
    half = int(free * 0.6)
    ring = [drv.mem_alloc(half)]
    ring.append(ring)
    del ring
    drv.mem_alloc(half).free()


def test_from_device_shapes(ctx):
    values = np.arange(6, dtype=np.int32)
    mem = drv.to_device(values)
    assert fetch(mem, (2, 3), np.int32).tolist() == [[0, 1, 2], [3, 4, 5]]
    fortran = drv.from_device(mem, (2, 3), np.int32, order="F")
    assert fortran.flags.f_contiguous and fortran[1, 0] == 1
    like = drv.from_device_like(mem, np.empty((3, 2), np.int32))
    assert like.shape == (3, 2) and like[2, 1] == 5
    with pytest.raises(ValueError, match="order must be 'C' or 'F'"):
        drv.from_device(mem, 6, np.int32, "X")


def test_pagelocked_arrays(ctx):
    zeros = drv.pagelocked_zeros((3, 4), np.float32, order="F")
    assert zeros.flags.f_contiguous and not zeros.any()
    assert isinstance(zeros.base, drv.PagelockedHostAllocation)
    assert isinstance(zeros.base, drv.HostPointer)
    assert drv.HostAllocation is drv.PagelockedHostAllocation
    mapped = drv.pagelocked_empty(
        shape=8, dtype=np.int32, mem_flags=drv.host_alloc_flags.DEVICEMAP
    )
    assert mapped.base.get_flags() & drv.host_alloc_flags.DEVICEMAP
    assert mapped.base.get_device_pointer() > 0
    like = drv.pagelocked_empty_like(np.zeros((2, 3), np.int16, order="F"))
    assert (like.shape, like.dtype, like.flags.f_contiguous) == ((2, 3), np.int16, True)
    assert not drv.pagelocked_zeros_like(like).any()
    with pytest.raises(ValueError, match="contiguous"):
        drv.pagelocked_empty_like(np.zeros((4, 4))[:, ::2])
    with pytest.raises(TypeError, match="Python objects"):
        drv.pagelocked_empty(3, object)
    assert drv.pagelocked_empty((0, 3), np.float32).shape == (0, 3)


def test_a_view_keeps_the_pagelocked_memory(ctx):
    view = drv.pagelocked_zeros(1000, np.float32)[10:20]
    view += 1
    assert view.sum() == 10


def test_handles_of_a_context_that_is_gone():
    context = drv.Device(0).make_context()
    stream, event, other = drv.Stream(), drv.Event(), drv.Event()
    base = drv.pagelocked_zeros(4, np.int8).base
    mem = drv.mem_alloc(64)
    context.detach()
    for call in (
        stream.synchronize,
        stream.is_done,
        lambda: stream.wait_for_event(event),
        event.record,
        event.synchronize,
        event.query,
        lambda: event.time_since(other),
        base.get_device_pointer,
        base.get_flags,
        lambda: drv.memset_d8_async(mem, 0, 64, stream),
    ):
        with pytest.raises(drv.LogicError, match="context of this .* was detached"):
            call()
    mem.free()
    base.free()


def test_stream_and_event(ctx):
    stream, other = drv.Stream(), drv.Stream(drv.stream_flags.NON_BLOCKING)
    start, end = drv.Event(), drv.Event()
    host = drv.pagelocked_zeros(1 << 20, np.uint8)
    mem = drv.mem_alloc(host.nbytes)
    assert start.record(stream) is start
    drv.memcpy_htod_async(mem, host, stream)
    end.record(stream=stream)
    other.wait_for_event(end)
    assert end.synchronize() is end and end.query() is True
    assert end.time_since(start) > 0
    assert start.time_till(end) == end.time_since(start)
    with pytest.raises(drv.LogicError, match="the earlier event was not recorded"):
        end.time_since(drv.Event())
    with pytest.raises(drv.LogicError, match="the later event was not recorded"):
        drv.Event().time_since(start)
    stream.synchronize()
    assert stream.is_done() is True and isinstance(stream.handle, int)
    flag = drv.to_device(np.zeros(1, np.int32))
    other.wait_value(flag, 1)
    late = drv.Event().record(other)
    with pytest.raises(drv.RuntimeError, match="call synchronize.. of the later event"):
        late.time_since(start)
    drv.memcpy_htod(flag, np.ones(1, np.int32))
    assert late.synchronize().time_since(start) > 0
    quick = drv.Event(drv.event_flags.DISABLE_TIMING).record()
    with pytest.raises(drv.LogicError, match="the later event was made with .*TIMING"):
        quick.synchronize().time_since(start)
    same = drv.Event.from_handle(quick.handle, owner=quick)
    with pytest.raises(drv.LogicError, match="earlier event was not recorded, or was"):
        start.time_since(same)
    with pytest.raises(TypeError, match="event must be an Event"):
        stream.wait_for_event(stream)
