"""Attributes that programs assign never change how many bytes are moved.

size, nbytes, mem_size and flags of a GPUArray are labels. shape, strides, dtype and
gpudata define its elements. If the package knows the size of the memory, it rejects an
array that exceeds it. An ndarray is never written past its end.
"""

import copy
import pickle

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import cumath, gpuarray
from pycuda.compiler import SourceModule
from pycuda.curandom import XORWOWRandomNumberGenerator
from pycuda.elementwise import ElementwiseKernel
from pycuda.gpuarray import GPUArray
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel
from pycuda.tools import DeviceMemoryPool

pytestmark = pytest.mark.gpu

N = 100


class Part(GPUArray):
    """A part of a buffer with the labels of the whole, as in programs."""

    def __init__(self, shape, dtype, allocator=None, strides=None, whole=None):
        if whole is None:
            whole = gpuarray.empty(N + 8, dtype)
        memory = int(whole.gpudata) + 16
        GPUArray.__init__(self, shape, dtype, allocator, None, memory, strides)
        self.whole = whole
        self.nbytes = whole.nbytes
        self.size = self.mem_size = whole.size


class Lying(GPUArray):
    """A subclass whose labels are wrong and cannot be assigned."""

    nbytes = 4 * N + 16
    size = property(lambda self: N + 4)
    mem_size = N + 4
    flags = np.zeros(1).flags

    def __getattr__(self, name):
        if name == "itemsize":
            return 8
        raise AttributeError(name)


def whole_of(dtype=np.int32, extra=8):
    """Return a buffer of 4 elements, N elements, and extra elements after them."""
    values = np.arange(N + extra).astype(dtype)
    return gpuarray.to_gpu(values), values


def parts():
    whole, values = whole_of()
    yield Part(N, np.int32, whole=whole), whole, values
    whole, values = whole_of()
    memory = {"gpudata": int(whole.gpudata) + 16, "base": whole}
    yield Lying(N, np.int32, **memory), whole, values
    whole, values = whole_of()
    labelled = whole[4 : 4 + N]
    labelled.nbytes, labelled.size, labelled.mem_size = 10**6, 10**5, 10**5
    labelled.flags = np.zeros(1).flags
    yield labelled, whole, values


@pytest.fixture(params=range(3), ids=["part", "lying", "assigned"])
def part(request, ctx):
    """(array of N elements, its buffer, the values in the buffer)."""
    return list(parts())[request.param]


def expect(whole, values, inner):
    """Check that the buffer has ``inner`` in the part and its old values around."""
    wanted = values.copy()
    wanted[4 : 4 + N] = inner
    assert whole.get().tolist() == wanted.tolist()


def guarded(dtype=np.int32):
    """Return a host array of N elements, and a check of the memory around it."""
    around = np.full(3 * N, 7, dtype)
    array = around[N : 2 * N]

    def untouched():
        assert (around[:N] == 7).all() and (around[2 * N :] == 7).all()

    return array, untouched


def test_get_moves_the_elements(part):
    array, _, values = part
    inner = values[4 : 4 + N]
    assert array.get().tolist() == inner.tolist()
    host, untouched = guarded()
    assert array.get(host) is host and (host == inner).all()
    untouched()
    host[:] = 0
    array.get_async(ary=host)
    drv.Context.synchronize()
    assert (host == inner).all()
    untouched()
    locked = array.get(pagelocked=True)
    assert locked.nbytes == 4 * N and (locked == inner).all()
    gaps = np.full(2 * N, 7, np.int32)
    array.get(gaps[::2])
    assert (gaps[::2] == inner).all() and (gaps[1::2] == 7).all()


def test_set_moves_the_elements(part):
    array, whole, values = part
    new = np.arange(N, dtype=np.int32) - 1000
    array.set(new)
    expect(whole, values, new)
    array.set_async(new + 1)
    drv.Context.synchronize()
    expect(whole, values, new + 1)
    array.set(gpuarray.to_gpu(new))
    expect(whole, values, new)
    array[...] = new + 2
    expect(whole, values, new + 2)
    array[...] = gpuarray.to_gpu(new)
    expect(whole, values, new)


def test_fills_move_the_elements(part):
    array, whole, values = part
    for value in (0, 5):
        array.fill(value)
        expect(whole, values, value)
    array[...] = 0
    expect(whole, values, 0)
    XORWOWRandomNumberGenerator().fill_uniform(array)
    got = whole.get()
    assert (got[:4] == values[:4]).all() and (got[4 + N :] == values[4 + N :]).all()


def test_copies_have_the_elements(part):
    array, _, values = part
    inner = values[4 : 4 + N]
    arrays = [array.copy(), copy.copy(array), array[:], array.ravel(), array.T]
    arrays += [gpuarray.to_gpu(array), array.reshape(4, 25), array.view(np.float32)]
    for one in arrays:
        assert type(one) is GPUArray
        assert (one.size, one.mem_size, one.nbytes) == (N, N, 4 * N)
    for one in (*arrays[:6], array.astype(np.int64), array + 0):
        assert one.get().tolist() == inner.tolist()
    plain = pickle.loads(pickle.dumps(array[:]))
    assert plain.get().tolist() == inner.tolist()
    memory = drv.mem_alloc_like(array)
    exact = GPUArray(N, np.int32, gpudata=memory)
    exact.fill(0)
    with pytest.raises(ValueError, match="of memory that has 400 bytes"):
        GPUArray(2 * N, np.int32, gpudata=memory).fill(0)


def test_other_libraries_see_the_elements(part):
    array, _, values = part
    interface = array.__cuda_array_interface__
    assert (interface["shape"], interface["strides"]) == ((N,), (4,))
    host = np.from_dlpack(array, device="cpu")
    assert host.tolist() == values[4 : 4 + N].tolist()
    assert gpuarray.from_dlpack(array).get().tolist() == values[4 : 4 + N].tolist()


def test_kernels_take_up_the_elements(part):
    array, whole, values = part
    inner = values[4 : 4 + N]
    ElementwiseKernel("int *x", "x[i] += 1000")(array)
    expect(whole, values, inner + 1000)
    other = gpuarray.zeros(N, np.int32)
    ElementwiseKernel("int *z, int *x", "z[i] = x[i] - 1000")(other, array)
    assert other.get().tolist() == inner.tolist()
    ElementwiseKernel("int *x", "x[i] -= 1000")(array, slice=slice(None))
    expect(whole, values, inner)
    total = ReductionKernel(np.int32, "0", "a + b", arguments="int *in")(array)
    assert total.get() == inner.sum() == gpuarray.sum(array).get()
    assert gpuarray.dot(array, array).get() == (inner.astype(np.int64) ** 2).sum()
    scan = InclusiveScanKernel(np.int32, "a + b")
    assert scan(array, gpuarray.empty(N, np.int32)).get()[-1] == inner.sum()
    assert scan(array) is array
    expect(whole, values, inner.cumsum())


def test_operators_take_up_the_elements(part):
    array, whole, values = part
    inner = values[4 : 4 + N]
    plain = array[:]
    assert (plain + 1).get().tolist() == (inner + 1).tolist()
    assert (plain * array).get().tolist() == (inner * inner).tolist()
    assert cumath.fabs(plain.astype(np.float32)).get().tolist() == inner.tolist()
    array += 2
    expect(whole, values, inner + 2)
    assert gpuarray.maximum(plain, array).get().tolist() == (inner + 2).tolist()


def test_indices_reach_the_elements_only(part):
    array, whole, values = part
    inner = values[4 : 4 + N]
    last = gpuarray.to_gpu(np.array([N - 1, 0], np.int32))
    assert gpuarray.take(array, last).get().tolist() == inner[[-1, 0]].tolist()
    assert array[last].get().tolist() == inner[[-1, 0]].tolist()
    with pytest.raises(IndexError):
        gpuarray.take(array, gpuarray.to_gpu(np.array([N], np.int32))).get()
    with pytest.raises(IndexError):
        array[np.array([N])]
    array[last] = 3
    inner = inner.copy()
    inner[[-1, 0]] = 3
    expect(whole, values, inner)


def test_numpys_functions_go_by_the_elements(part):
    array, _, values = part
    inner = values[4 : 4 + N]
    assert np.ravel(array).get().tolist() == inner.tolist()
    assert np.reshape(array, (4, 25)).get().tolist() == inner.reshape(4, 25).tolist()
    assert gpuarray.dot(array, array[:].reshape(4, 25)).get() == inner @ inner
    one = array[7:8]
    one.size = 5
    assert one.item() == inner[7]
    nothing = array[:0]
    nothing.size = 1
    with pytest.raises(ValueError, match="without elements"):
        gpuarray.min(nothing)
    wide = gpuarray.to_gpu(np.asfortranarray(inner.reshape(4, 25)))
    wide.flags = np.zeros(1).flags  # says that the array is in both orders
    assert np.reshape(wide, (100,)).get().tolist() == inner.tolist()


def test_a_subclass_without_the_init_of_gpuarray(ctx):
    class Blank(GPUArray):
        def __init__(self, *args, whole=None, **kwargs):
            if whole is not None:
                GPUArray.__init__(self, 3, np.int32, gpudata=whole.gpudata, base=whole)

    array = Blank(whole=gpuarray.zeros(3, np.int32))
    for use in (lambda: array + 1, lambda: array.astype(np.float64), array.reverse):
        with pytest.raises(TypeError, match="__init__ of this Blank was not called"):
            use()
    assert array.get().tolist() == [0, 0, 0]


# -- arrays that leave their memory ----------------------------------------------------


USES = {
    "get": lambda x: x.get(),
    "get_async": lambda x: x.get_async(),
    "set": lambda x: x.set(np.zeros(x.shape, x.dtype)),
    "copy": lambda x: x.copy(),
    "fill": lambda x: x.fill(0),
    "fill one": lambda x: x.fill(1),
    "add": lambda x: x + x,
    "sum": lambda x: gpuarray.sum(x),
    "assign": lambda x: x.__setitem__(Ellipsis, 1),
    "read": lambda x: gpuarray.empty(x.shape, x.dtype).set(x),
    "pickle": lambda x: pickle.dumps(x),
    "dlpack": lambda x: x.__dlpack__(),
    "interface": lambda x: x.__cuda_array_interface__,
    "take": lambda x: gpuarray.take(x, np.array([0])),
    "kernel": lambda x: launch(x),
    "elementwise": lambda x: ElementwiseKernel("float *x", "x[i] = 0")(x),
    "to_gpu": lambda x: gpuarray.to_gpu(x),
}


def launch(x):
    source = "__global__ void f(float *x) {}"
    SourceModule(source).get_function("f")(x, block=(1, 1, 1))


def longer(x):
    x.shape = (N + 1,)
    return x


def wider(x):
    x.strides = (8,)
    return x


def of_doubles(x):
    x.dtype = np.complex64
    return x


def elsewhere(x):
    x.gpudata = drv.mem_alloc(4 * N - 1)
    return x


def behind(x):
    return GPUArray(N, np.float32, gpudata=int(x.gpudata) + 4, base=x)


def before(x):
    return GPUArray(N, np.float32, gpudata=int(x.gpudata) - 4, base=x)


def backwards(x):
    return GPUArray(N, np.float32, gpudata=x.gpudata, strides=(-4,))


def of_a_pool(x):
    memory = DeviceMemoryPool().allocate(4 * N - 4)
    return GPUArray(N, np.float32, gpudata=memory)


def of_a_short_allocator(x):
    return GPUArray(N, np.float32, lambda size: drv.mem_alloc(size - 4))


def of_managed_memory(x):
    memory = drv.managed_empty(N - 1, np.float32).base
    return GPUArray(N, np.float32, gpudata=memory)


def of_an_allocation(x):
    memory = drv.mem_alloc(4 * N)
    return GPUArray(N, np.float32, gpudata=int(memory) + 4, base=memory)


def borrowed(x):
    memory = drv.from_dlpack(x[: N // 2])
    return GPUArray(N, np.float32, gpudata=memory)


def view_of_a_longer_one(x):
    return longer(x)[1:]


SPOILERS = [longer, wider, of_doubles, elsewhere, behind, before, backwards, of_a_pool]
SPOILERS += [of_a_short_allocator, of_managed_memory, of_an_allocation, borrowed]
SPOILERS += [view_of_a_longer_one]


@pytest.mark.parametrize("spoil", SPOILERS, ids=lambda spoil: spoil.__name__)
def test_an_array_that_leaves_its_memory(ctx, spoil, strict):
    array = spoil(gpuarray.zeros(N, np.float32))
    for name in ("get", "set", "fill", "add", "interface", "kernel"):
        with pytest.raises(ValueError, match=r"bytes .* of memory that has \d+ bytes"):
            USES[name](array)


@pytest.mark.parametrize("use", USES)
def test_every_use_of_an_array_that_leaves_its_memory(ctx, use, strict):
    array = longer(gpuarray.zeros(N, np.float32))
    with pytest.raises(ValueError, match="takes the bytes 0 to 404 of memory that has"):
        USES[use](array)
    array.shape = (N,)
    USES[use](array)


@pytest.mark.parametrize(
    "use", ["fill", "fill one", "add", "sum", "assign", "elementwise"]
)
def test_kernels_may_use_what_the_driver_gave(ctx, use):
    """PyCUDA uses the elements. The driver has rounded the 400 bytes up to 512."""
    array = longer(gpuarray.zeros(N, np.float32))
    words = r"takes the bytes 0 to 404 of memory that has 400 bytes.*STRICT=1"
    with pytest.warns(drv.PyCUDAWarning, match=words):
        USES[use](array)
    ctx.synchronize()
    array.shape = (129,)
    with pytest.raises(ValueError, match="takes the bytes 0 to 516 of memory that has"):
        USES[use](array)


def test_a_block_of_a_pool_is_longer_than_asked_for(ctx):
    """Kernels use all of it. The driver refuses copies beyond its size."""
    array = GPUArray(100, np.float32, gpudata=DeviceMemoryPool().allocate(390))
    with pytest.warns(drv.PyCUDAWarning, match="takes the bytes 0 to 400 of memory"):
        array.fill(3)
        assert gpuarray.sum(array).get() == 300
    with pytest.warns(drv.PyCUDAWarning, match="takes the bytes 0 to 400 of memory"):
        for copy in (lambda: array.set(np.zeros(100, np.float32)), array.get):
            with pytest.raises(drv.LogicError, match="invalid argument.*400 bytes"):
                copy()
        array.fill(0)
        assert gpuarray.sum(array).get() == 0


def test_a_kernel_may_use_a_part_of_an_array(ctx):
    """The kernel gets an address, and only its programmer knows what it uses."""
    source = "__global__ void f(float *x) { x[threadIdx.x] = 2; }"
    kernel = SourceModule(source).get_function("f")
    array = gpuarray.zeros(N, np.float32)
    array.shape = (1000, 1000)
    with pytest.warns(
        drv.PyCUDAWarning, match="takes the bytes 0 to 4000000 of memory"
    ):
        kernel(array, block=(N, 1, 1))
    array.shape = (N,)
    assert array.get().tolist() == [2] * N


def test_what_lies_inside_is_not_refused(ctx):
    whole = gpuarray.to_gpu(np.arange(N, dtype=np.float32))
    memory = whole.gpudata
    inside = [
        GPUArray(N - 1, np.float32, gpudata=int(memory) + 4, base=whole),
        GPUArray(N, np.float32, gpudata=int(memory) + 4 * N - 4, strides=(-4,)),
        GPUArray(2 * N, np.int16, gpudata=memory),
        GPUArray((N, N), np.float32, gpudata=memory, strides=(0, 4)),
        GPUArray(0, np.float32, gpudata=int(memory) + 4 * N, base=whole),
        whole[::-1],
        whole[-1:],
        longer(gpuarray.zeros(N, np.float32))[:-1],
    ]
    for array in inside:
        array.get()
    pool = DeviceMemoryPool()
    GPUArray(25, np.float32, gpudata=pool.allocate(100)).fill(0)
    other = drv.mem_alloc(8)
    # A program may assign other memory to a view, about which the base says nothing.
    view = whole[2:4]
    view.gpudata = int(other)
    view.fill(3)
    assert view.get().tolist() == [3, 3] and whole.get().tolist() == list(range(N))
    # A base that is not an array may only be there to be kept alive.
    kept = GPUArray(2, np.float32, gpudata=int(other), base=drv.mem_alloc(4))
    assert kept.get().tolist() == [3, 3]


def test_an_array_without_memory(ctx):
    array = gpuarray.zeros(3, np.float32)
    array.gpudata = None
    with pytest.raises(ValueError, match="gpudata is None"):
        array.get()
    with pytest.raises(ValueError, match="gpudata is None"):
        array += 1
    array.gpudata = drv.mem_alloc(12)
    assert array.fill(2).get().tolist() == [2, 2, 2]


def test_a_layout_that_cannot_be_leaves_the_array_as_it_was(ctx):
    array = gpuarray.to_gpu(np.arange(4, dtype=np.int32))
    with pytest.raises(ValueError, match="too big"):
        array.shape = (1 << 40, 1 << 40)
    with pytest.raises(TypeError, match="Python objects"):
        array.dtype = object
    with pytest.raises(TypeError, match="Python objects"):
        array.dtype = [("a", "i4"), ("b", object)]
    array.shape = (1 << 60,)
    with pytest.raises(ValueError, match="too big"):
        array.dtype = np.complex128
    assert (array.shape, array.dtype) == ((1 << 60,), np.int32)
    array.shape = (4,)
    assert array.get().tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="too big"):
        GPUArray.__init__(array, (1 << 40, 1 << 40), np.float64)
    assert (array.dtype, array.get().tolist()) == (np.int32, [0, 1, 2, 3])


def test_an_init_without_memory_leaves_no_old_memory(ctx):
    array = gpuarray.zeros(4, np.int32)

    def nothing(size):
        raise MemoryError("there is none")

    with pytest.raises(MemoryError, match="there is none"):
        GPUArray.__init__(array, 1000, np.int32, nothing)
    with pytest.raises(ValueError, match="gpudata is None"):
        array.get()


def test_an_array_that_changes_while_it_is_copied(ctx):
    """The allocator of the copy changes the layout of the array."""

    def change(size):
        array.dtype = np.dtype(np.complex128)
        return drv.mem_alloc(size)

    array = gpuarray.to_gpu(np.arange(8, dtype=np.int32))[::2][:1]
    array.allocator = change
    host, untouched = guarded()
    with pytest.raises((ValueError, TypeError)):
        gpuarray.to_gpu(np.arange(8, dtype=np.int32))[::3].get(host)
    array.strides = (12,)
    array.get()
    untouched()


# -- the host's side -------------------------------------------------------------------


class OddBytes(np.ndarray):
    """An ndarray that reports a wrong number of bytes."""

    nbytes = 10**6
    size = 10**6
    itemsize = 64


def odd(values):
    return np.array(values, np.int32).view(OddBytes)


def test_an_ndarray_with_odd_nbytes(ctx):
    array = odd(range(N))
    device = gpuarray.to_gpu(array)
    assert device.nbytes == 4 * N and device.get().tolist() == list(range(N))
    host = odd([0] * N)
    device.get(host)
    assert host.tolist() == list(range(N))
    device.set(odd([5] * N))
    assert device.get().tolist() == [5] * N
    memory = drv.mem_alloc_like(array)
    drv.memcpy_htod(memory, array)
    host = odd([0] * N)
    drv.memcpy_dtoh(host, memory)
    assert host.tolist() == list(range(N))
    assert drv.from_device_like(memory, array).tolist() == list(range(N))
    double = SourceModule("__global__ void f(int *x) { x[threadIdx.x] *= 2; }")
    double.get_function("f")(drv.InOut(host), block=(N, 1, 1))
    assert host.tolist() == list(range(0, 2 * N, 2))


class FewBytes(bytearray):
    """A buffer that reports too few bytes."""

    nbytes = 4


def test_handlers_ask_the_buffer(ctx):
    double = SourceModule("__global__ void f(int *x) { x[threadIdx.x] *= 2; }")
    double = double.get_function("f")
    buffer = FewBytes(np.arange(N, dtype=np.int32).tobytes())
    handler = drv.InOut(buffer)
    double(handler, block=(N, 1, 1))
    assert np.frombuffer(buffer, np.int32).tolist() == list(range(0, 2 * N, 2))
    assert drv.mem_get_address_range(handler.dev_alloc)[1] >= 4 * N


@pytest.mark.parametrize("kind", [drv.In, drv.Out, drv.InOut])
def test_handlers_and_memory_that_is_too_small(ctx, kind, strict):
    kernel = SourceModule("__global__ void f(int *x) {}").get_function("f")
    values = np.zeros(N, np.int32)
    handler = kind(values)
    handler.dev_alloc = drv.mem_alloc(4 * N - 1)
    words = f"the array of {kind.__name__} has 400 bytes, its device memory has 399"
    with pytest.raises(ValueError, match=words):
        kernel(handler, block=(1, 1, 1))
    handler.dev_alloc = drv.mem_alloc(4 * N)
    kernel(handler, block=(1, 1, 1))

    class Own(kind):
        def get_device_alloc(self):
            return small

    small = drv.mem_alloc(4 * N - 1)
    with pytest.raises(ValueError, match="the array of Own has 400 bytes"):
        kernel(Own(values), block=(1, 1, 1))
    small = drv.mem_alloc(4 * N)
    kernel(Own(values), block=(1, 1, 1))


@pytest.mark.parametrize("kind", [drv.In, drv.Out, drv.InOut])
def test_handlers_and_blocks_of_a_pool(ctx, kind):
    """A block is longer than was asked for, and PyCUDA copies to all of it."""
    kernel = SourceModule("__global__ void f(int *x) { x[threadIdx.x] = 5; }")
    values = np.zeros(99, np.int32)  # 396 bytes
    handler = kind(values)
    handler.dev_alloc = DeviceMemoryPool().allocate(388)  # 399 bytes
    with pytest.warns(drv.PyCUDAWarning, match="has 396 bytes, its device memory has"):
        kernel.get_function("f")(handler, block=(99, 1, 1))
    assert values.tolist() == [0 if kind is drv.In else 5] * 99


def test_an_array_that_grew_during_the_launch(ctx, strict):
    kernel = SourceModule("__global__ void f(int *x, int *y) {}").get_function("f")
    small, large = np.zeros(4, np.int32), np.zeros(N, np.int32)
    handler = drv.Out(small)

    class Swap(drv.In):
        def pre_call(self, stream):
            super().pre_call(stream)
            handler.array = large

    with pytest.raises(ValueError, match="has 400 bytes, its device memory has 16"):
        kernel(handler, Swap(small), block=(1, 1, 1))


# -- _grid and _block ------------------------------------------------------------------


def test_the_shape_of_launches_can_be_assigned(ctx):
    array = gpuarray.zeros(N, np.float32)
    grid, block = array._grid, array._block
    array._grid, array._block = (3, 1), (64, 1, 1)
    assert (array._grid, array._block) == ((3, 1), (64, 1, 1))
    threads = ElementwiseKernel("float *x", "x[i] = total_threads")
    threads(array)
    assert (array.get() == 192).all()
    array.size = 1  # only a label: the kernel gets a view
    threads(array)
    assert (array.get() == 192).all()
    del array._grid, array._block
    assert (array._grid, array._block) == (grid, block)
    with pytest.raises(AttributeError, match="_grid was not assigned"):
        del array._grid
    assert gpuarray.zeros(N, np.float32)._grid == grid
