"""Host memory known to the driver: aligned, registered, managed, mapped."""

import gc
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.gpu

SOURCE = """
__global__ void triple(int *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= 3;
}

struct pair { int a, b, c; };
__global__ void by_value(int *out, pair p) { *out = p.a + 10 * p.b + 100 * p.c; }
"""


@pytest.fixture
def mod(ctx):
    return SourceModule(SOURCE)


@pytest.fixture
def triple(mod):
    function = mod.get_function("triple")

    def call(pointer, n, **kwargs):
        function(
            pointer, np.int32(n), block=(64, 1, 1), grid=(-(-n // 64), 1), **kwargs
        )

    return call


KINDS = {
    "pagelocked": drv.PagelockedHostAllocation,
    "aligned": drv.AlignedHostAllocation,
    "managed": drv.ManagedAllocation,
}


def make(kind, what, *args, **kwargs):
    return getattr(drv, f"{kind}_{what}")(*args, **kwargs)


# -- arrays of the three kinds ---------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(3, 4, 5), (7,), (), 9, (1, 6), [2, 3]])
def test_shapes_orders_and_dtypes(ctx, kind, order, shape):
    model = np.zeros(shape, "f4", order)
    for dtype in (np.float32, "i2", np.dtype([("x", "f8"), ("n", "i4")])):
        zeros = make(kind, "zeros", shape, dtype, order)
        assert type(zeros) is np.ndarray and type(zeros.base) is KINDS[kind]
        assert (zeros.shape, zeros.dtype) == (model.shape, np.dtype(dtype))
        assert zeros.flags.c_contiguous == model.flags.c_contiguous
        assert zeros.flags.f_contiguous == model.flags.f_contiguous
        assert zeros.flags.writeable and zeros.flags.aligned
        assert zeros.tobytes() == bytes(zeros.nbytes)
        empty = make(kind, "empty", shape, dtype, order)
        assert (empty.shape, empty.strides) == (zeros.shape, zeros.strides)


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_like_another(ctx, kind):
    for order in "CF":
        other = np.ones((3, 5), np.int16, order)
        empty = make(kind, "empty_like", other)
        zeros = make(kind, "zeros_like", array=other)
        for array in (empty, zeros):
            assert type(array.base) is KINDS[kind]
            assert (array.shape, array.strides) == (other.shape, other.strides)
            assert array.dtype == other.dtype
        assert not zeros.any()
    for what in ("empty_like", "zeros_like"):
        with pytest.raises(ValueError, match="contiguous"):
            make(kind, what, np.ones((4, 4))[:, ::2])
        with pytest.raises(TypeError, match="array must be a numpy array, not list"):
            make(kind, what, [1, 2])


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_that_cannot_be(ctx, kind):
    with pytest.raises(TypeError, match="Python objects"):
        make(kind, "empty", 3, object)
    with pytest.raises(ValueError, match="order must be 'C' or 'F'"):
        make(kind, "empty", 3, "f4", "K")
    with pytest.raises(OverflowError, match="shape is -1"):
        make(kind, "zeros", -1, "f4")
    with pytest.raises(ValueError, match="larger than the address space"):
        make(kind, "empty", (2**40, 2**40), "f4")
    assert make(kind, "empty", (0, 3), "f4").shape == (0, 3)
    with pytest.raises(TypeError):
        KINDS[kind]()


@pytest.mark.parametrize("kind", KINDS)
def test_memory_that_is_not_there(ctx, kind):
    with pytest.raises(drv.MemoryError, match=f"{2**50} bytes"):
        make(kind, "empty", 2**50, np.uint8)


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_need_a_context(kind):
    with pytest.raises(drv.LogicError):
        make(kind, "empty", 3, "f4")


@pytest.mark.parametrize("kind", KINDS)
def test_the_memory_lives_as_long_as_a_view(ctx, kind):
    array = make(kind, "zeros", 1000, np.float32)
    gone = weakref.ref(array.base)
    view = array[10:20].reshape(2, 5)
    del array
    gc.collect()
    view += 1
    assert view.sum() == 10 and gone() is not None
    del view
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_freed_once(ctx, kind):
    base = make(kind, "zeros", 10, np.float32).base
    base.note = "kept"
    base.free()
    assert base.note == "kept"
    with pytest.raises(drv.LogicError, match="released before"):
        base.free()


@pytest.mark.parametrize("kind", KINDS)
def test_memory_outlives_the_stack_and_the_context(kind):
    context = drv.Device(0).make_context()
    array = make(kind, "zeros", 10, np.float32)
    other = make(kind, "zeros", 10, np.float32)
    context.pop()
    del array
    gc.collect()
    assert drv.Context.get_current() is None
    context.push()
    context.detach()
    del other


# -- aligned and registered ------------------------------------------------------------


@pytest.mark.parametrize("alignment", [1, 2, 8, 64, 4096, 1 << 20])
def test_alignment(ctx, alignment):
    for n in (1, 100, 5000):
        array = drv.aligned_zeros(n, np.uint8, alignment=alignment)
        assert array.ctypes.data % alignment == 0
        assert not drv.aligned_zeros_like(array, alignment).any()
    assert drv.aligned_empty(3, "f4").ctypes.data % 4096 == 0


@pytest.mark.parametrize("alignment", [0, 3, 4095, 2**64 - 1])
def test_alignment_is_a_power_of_two(ctx, alignment):
    with pytest.raises(drv.LogicError, match=f"alignment is {alignment}; .* power of"):
        drv.aligned_empty(3, "f4", alignment=alignment)


def test_aligned_memory_lasts_as_long_as_its_array(ctx):
    array = drv.aligned_zeros(1 << 20, "f4")
    array.base.free()
    array[:] = 3
    assert array.sum() == 3 << 20
    with pytest.raises(drv.LogicError, match="released before"):
        array.base.free()


def test_a_view_holds_the_allocation(ctx):
    array = drv.managed_zeros(64, np.uint8)
    gone = weakref.ref(array.base)
    view = array.base.as_buffer(64)
    del array
    view[3] = 5
    assert bytes(view) == bytes([0, 0, 0, 5]) + bytes(60)
    assert gone() is not None
    del view
    assert gone() is None
    released = drv.mem_alloc(64)
    released.free()
    with pytest.raises(drv.LogicError, match="as_buffer failed.*released before"):
        released.as_buffer(4)


def test_the_device_sees_aligned_memory_once_it_is_registered(ctx):
    array = drv.aligned_zeros(1024, np.int32)
    with pytest.raises(drv.LogicError, match="cuMemHostGetDevicePointer"):
        array.base.get_device_pointer()
    locked = drv.register_host_memory(array, drv.mem_host_register_flags.DEVICEMAP)
    assert array.base.get_device_pointer() == locked.base.get_device_pointer()
    del locked
    base = array.base
    base.free()
    with pytest.raises(drv.LogicError, match="released before"):
        base.get_device_pointer()


@pytest.mark.parametrize("order", ["C", "F"])
def test_registered_memory(ctx, triple, order):
    array = drv.aligned_empty((32, 32), np.int32, order)
    array[:] = np.arange(1024).reshape(32, 32)
    expected = array * 3
    locked = drv.register_host_memory(
        ary=array, flags=drv.mem_host_register_flags.DEVICEMAP
    )
    assert type(locked) is np.ndarray
    assert isinstance(locked.base, drv.RegisteredHostMemory)
    assert isinstance(locked.base, drv.HostPointer)
    assert locked.base.base is array
    assert (locked.shape, locked.strides) == (array.shape, array.strides)
    assert locked.ctypes.data == array.ctypes.data and locked.flags.writeable
    triple(np.uintp(locked.base.get_device_pointer()), 1024)
    drv.Context.synchronize()
    assert (array == expected).all()
    base = locked.base
    base.unregister()
    with pytest.raises(drv.LogicError, match="released before"):
        base.unregister()
    with pytest.raises(drv.LogicError, match="released before"):
        base.get_device_pointer()
    assert (locked == expected).all(), "the memory is still the array's"


def test_registration_ends_with_the_last_view(ctx):
    array = drv.aligned_zeros(4096, np.uint8)
    view = drv.register_host_memory(array)[5:10]
    with pytest.raises(drv.LogicError, match="already"):
        drv.register_host_memory(array)
    del view
    gc.collect()
    del_me = drv.register_host_memory(array)
    array = weakref.ref(array)
    assert array() is not None, "the registration keeps the memory"
    del del_me
    gc.collect()
    assert array() is None


def test_what_cannot_be_registered(ctx):
    with pytest.raises(TypeError, match="ary must be a numpy array, not bytearray"):
        drv.register_host_memory(bytearray(4096))
    with pytest.raises(drv.LogicError, match="not contiguous"):
        drv.register_host_memory(np.zeros((64, 64))[:, ::2])
    with pytest.raises(drv.LogicError, match="cuMemHostRegister.* - 0 bytes"):
        drv.register_host_memory(np.zeros(0))
    frozen = drv.aligned_zeros(4096, np.uint8)
    frozen.flags.writeable = False
    assert not drv.register_host_memory(frozen).flags.writeable


# -- page-locked -----------------------------------------------------------------------


def test_kernels_reach_page_locked_memory_by_its_device_pointer(ctx, triple):
    array = drv.pagelocked_empty(
        100, np.int32, mem_flags=drv.host_alloc_flags.DEVICEMAP
    )
    array[:] = np.arange(100)
    triple(np.uintp(array.base.get_device_pointer()), 100)
    drv.Context.synchronize()
    assert (array == 3 * np.arange(100)).all()


def test_page_locked_arrays_pass_by_value_as_all_others(mod):
    pair = drv.pagelocked_zeros(3, np.int32)
    pair[:] = 1, 2, 3
    out = drv.managed_zeros(1, np.int32)
    mod.get_function("by_value")(out, pair, block=(1, 1, 1))
    drv.Context.synchronize()
    assert out[0] == 321


# -- managed ---------------------------------------------------------------------------


def test_managed_arrays_are_kernel_arguments(ctx, triple):
    array = drv.managed_empty(100, np.int32, mem_flags=drv.mem_attach_flags.GLOBAL)
    array[:] = np.arange(100)
    triple(array, 100)
    drv.Context.synchronize()
    assert (array == 3 * np.arange(100)).all()
    triple(array[50:], 50)
    drv.Context.synchronize()
    assert (array[:50] == 3 * np.arange(50)).all()
    assert (array[50:] == 9 * np.arange(50, 100)).all()
    triple(array.base, 50)
    drv.Context.synchronize()
    assert (array == 9 * np.arange(100)).all()


def test_managed_arrays_in_prepared_calls_and_copies(mod):
    function = mod.get_function("triple").prepare("Pi")
    array = drv.managed_zeros(8, np.int32)
    array[:] = np.arange(8)
    function.prepared_call((1, 1), (64, 1, 1), array.base, 8)
    drv.Context.synchronize()
    assert (array == 3 * np.arange(8)).all()
    assert (drv.from_device_like(array.base, array) == array).all()
    drv.memcpy_htod(array.base, np.ones(8, np.int32))
    assert (array == 1).all()
    other = drv.managed_zeros_like(array)
    drv.memcpy_dtoh(other, array.base)
    assert (other == 1).all()


def test_managed_arrays_stand_for_their_address(mod):
    array = drv.managed_zeros((4, 8), np.int32)
    array[:] = np.arange(32).reshape(4, 8)
    address = array.ctypes.data
    function = mod.get_function("triple").prepare("Pi")
    function.prepared_call((1, 1), (64, 1, 1), array[2], 16)
    drv.Context.synchronize()
    expected = np.arange(32).reshape(4, 8)
    expected[2:] *= 3
    assert (array == expected).all()
    assert (drv.from_device(array, (4, 8), np.int32) == expected).all()
    assert drv.mem_get_address_range(array[1:, 3])[0] == address
    drv.memset_d32(array[0], 5, 8)
    expected[0] = 5
    drv.memcpy_dtod(array[1], array[0], 32)
    expected[1] = 5
    drv.Context.synchronize()
    assert (array == expected).all()
    single = drv.managed_zeros((), np.int32)
    assert drv.mem_get_address_range(single)[0] == single.ctypes.data
    for array in (np.zeros(3), drv.pagelocked_zeros(3, np.int32)):
        with pytest.raises(TypeError, match="dest must be a device pointer"):
            drv.memset_d8(array, 0, 1)


def test_a_managed_allocation(ctx):
    base = drv.managed_zeros(64, np.uint8).base
    assert isinstance(base, drv.DeviceAllocation)
    assert drv.ManagedAllocationOrStub is drv.ManagedAllocation
    address = base.get_device_pointer()
    assert address == int(base) == base.__index__() == base.__long__() > 0
    view = base.as_buffer(8, 2)
    view[:] = b"abcdefgh"
    assert bytes(base.as_buffer(4, offset=4)) == b"cdef"
    start, size = drv.mem_get_address_range(address + 5)
    assert start == address and size >= 64


def test_attaching(ctx, triple):
    flags = drv.mem_attach_flags
    array = drv.managed_empty(16, np.int32, "C", flags.HOST)
    array[:] = 2
    stream = drv.Stream()
    array.base.attach(flags.SINGLE, stream)
    stream.synchronize()
    triple(array, 16, stream=stream)
    stream.synchronize()
    assert (array == 6).all()
    array.base.attach(mem_flags=flags.GLOBAL, stream=None)
    drv.Context.synchronize()
    array.base.attach(int(flags.HOST))
    drv.Context.synchronize()
    assert (array == 6).all()
    with pytest.raises(drv.LogicError, match="cuStreamAttachMemAsync"):
        array.base.attach(64)
    with pytest.raises(TypeError, match="stream must be a Stream or None"):
        array.base.attach(flags.GLOBAL, 0)
    with pytest.raises(drv.LogicError, match="cuMemAllocManaged"):
        drv.managed_empty(3, "f4", mem_flags=64)
    base = array.base
    base.free()
    with pytest.raises(drv.LogicError, match="released before"):
        base.attach(flags.GLOBAL)


# -- pitched memory and address ranges -------------------------------------------------


@pytest.mark.parametrize("access_size", [4, 8, 16])
def test_pitched_memory(ctx, access_size):
    memory, pitch = drv.mem_alloc_pitch(
        width=100, height=10, access_size=np.int32(access_size)
    )
    assert isinstance(memory, drv.DeviceAllocation)
    assert isinstance(pitch, int) and pitch >= 100 and pitch % access_size == 0
    base, size = drv.mem_get_address_range(int(memory) + 9 * pitch + 99)
    assert base == int(memory) and size >= 9 * pitch + 100
    memory.free()


def test_pitched_memory_that_cannot_be(ctx):
    for width, height, access_size in ((0, 10, 4), (100, 0, 4), (100, 10, 3)):
        said = f"{height} rows of {width} bytes for accesses of {access_size} bytes"
        with pytest.raises(drv.LogicError, match=said):
            drv.mem_alloc_pitch(width, height, access_size)
    with pytest.raises(drv.MemoryError, match="1048576 rows of 1073741824 bytes"):
        drv.mem_alloc_pitch(2**30, 2**20, 16)


def test_address_ranges(ctx):
    memory = drv.mem_alloc(1000)
    for pointer in (memory, int(memory), int(memory) + 999):
        start, size = drv.mem_get_address_range(pointer)
        assert start == int(memory) and size >= 1000
    with pytest.raises(drv.Error, match="cuMemGetAddressRange"):
        drv.mem_get_address_range(16)
    with pytest.raises(TypeError, match="ptr must be a device pointer"):
        drv.mem_get_address_range(None)


@pytest.mark.parametrize("dtype", ["S", "U", "V0", np.dtype([])])
def test_items_without_bytes(ctx, dtype):
    """They make arrays without memory, as in NumPy."""
    for make in (drv.pagelocked_empty, drv.pagelocked_zeros, drv.aligned_empty):
        array = make((2, 3), dtype)
        assert array.shape == (2, 3) and array.dtype.itemsize == 0
        assert array.dtype == np.dtype(dtype) and len(array.tolist()) == 2
    array = drv.managed_empty(4, dtype, mem_flags=drv.mem_attach_flags.GLOBAL)
    assert array.shape == (4,) and array.nbytes == 0


# -- memory that was freed -------------------------------------------------------------


def copy_2d(device, array):
    copy = drv.Memcpy2D()
    copy.set_src_host(array)
    copy.set_dst_device(device.gpudata)
    copy.width_in_bytes, copy.height = array.nbytes, 1
    copy(aligned=True)


#: Copies of a GPUArray d and a host array x, and the name of the latter in an error.
COPIES = {
    "memcpy_htod": (lambda d, x: drv.memcpy_htod(d.gpudata, x), "src"),
    "memcpy_dtoh": (lambda d, x: drv.memcpy_dtoh(x, d.gpudata), "dest"),
    "memcpy_htod_async": (lambda d, x: drv.memcpy_htod_async(d.gpudata, x), "src"),
    "Memcpy2D": (copy_2d, "buffer"),
    "set": (lambda d, x: d.set(x), "src"),
    "get": (lambda d, x: d.get(x), "dest"),
}


@pytest.mark.parametrize("part", (slice(None), slice(1, 3)), ids=("whole", "view"))
@pytest.mark.parametrize("kind", ("PagelockedHostAllocation", "ManagedAllocation"))
@pytest.mark.parametrize("name", COPIES)
def test_a_copy_names_an_array_that_was_freed(ctx, name, kind, part):
    copy, argument = COPIES[name]
    if kind == "ManagedAllocation":
        flags = drv.mem_attach_flags.GLOBAL
        whole = drv.managed_empty(4, np.float32, mem_flags=flags)
    else:
        whole = drv.pagelocked_empty(4, np.float32)
    array = whole[part]
    array[:] = 2
    device = gpuarray.zeros(array.size, np.float32)
    copy(device, array)
    drv.Context.synchronize()
    whole.base.free()
    wanted = f"{argument}: the memory of this array, a pycuda._driver.{kind}, was freed"
    with pytest.raises(drv.LogicError, match=wanted):
        copy(device, array)


def test_aligned_memory_lives_as_long_as_its_array(ctx):
    array = drv.aligned_empty(4, np.float32)
    array[:] = 3
    array.base.free()
    device = gpuarray.to_gpu(array)
    assert device.get().tolist() == [3] * 4
