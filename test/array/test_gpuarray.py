"""GPUArray as an object: construction, attributes, memory, life."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.gpuarray import GPUArray
from pycuda.tools import set_default_allocator
from support.arrays import DTYPES, sample

pytestmark = pytest.mark.gpu


# -- construction ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape",
    [5, np.int32(5), (5,), [5], np.array(5), np.array([5])],
)
def test_shapes_of_one_axis(ctx, shape):
    array = GPUArray(shape, np.float32)
    assert array.shape == (5,)
    assert type(array.shape) is tuple and type(array.shape[0]) is int


def test_attributes(ctx):
    array = GPUArray((3, 4), np.float64)
    assert array.shape == (3, 4)
    assert array.strides == (32, 8)
    assert array.dtype == np.float64
    assert (array.size, array.mem_size, array.nbytes, array.itemsize) == (12, 12, 96, 8)
    assert array.ndim == 2
    assert array.base is None
    assert array.allocator is drv.mem_alloc
    assert isinstance(array.gpudata, drv.DeviceAllocation)
    assert int(array.gpudata) == array.ptr


def test_positional_and_keyword_parameters(ctx):
    memory = drv.mem_alloc(24)
    array = GPUArray((2, 3), np.int32, drv.mem_alloc, None, memory, None, "F")
    assert array.gpudata is memory
    assert array.strides == (4, 8)
    array = GPUArray(shape=(2, 3), dtype="i4", gpudata=memory, strides=(12, 4))
    assert array.strides == (12, 4)


@pytest.mark.parametrize("order", ["K", "A", "X", 1])
def test_no_other_order(ctx, order):
    with pytest.raises((ValueError, TypeError)):
        GPUArray(3, np.float32, order=order)


def test_base_needs_gpudata(ctx):
    with pytest.raises(AssertionError):
        GPUArray(3, np.float32, base=object())


def test_wrong_strides_are_refused(ctx):
    with pytest.raises(ValueError, match="strides has 1 entries, shape has 2"):
        GPUArray((2, 3), np.float32, strides=(4,))


def test_objects_have_no_place_on_a_gpu(ctx):
    with pytest.raises(TypeError, match="object"):
        GPUArray(3, object)
    with pytest.raises(TypeError, match="object"):
        gpuarray.to_gpu(np.array([None, 1], dtype=object))


def test_too_big_a_shape_is_an_error(ctx):
    with pytest.raises(ValueError, match="too big"):
        GPUArray((1 << 40, 1 << 40), np.float32)


def test_negative_strides_of_fresh_memory(ctx):
    array = GPUArray((4,), np.float32, strides=(-4,))
    array.set(np.arange(4, dtype=np.float32))
    assert array.get().tolist() == [0, 1, 2, 3]
    array.gpudata = None


def test_wrapping_foreign_memory_keeps_the_base_alive(ctx):
    class Owner:
        def __init__(self):
            self.memory = drv.mem_alloc(12)

    owner = Owner()
    alive = weakref.ref(owner)
    array = GPUArray(3, np.float32, base=owner, gpudata=int(owner.memory))
    assert array.gpudata == int(owner.memory)
    del owner
    gc.collect()
    assert alive() is not None
    assert array.fill(2).get().tolist() == [2, 2, 2]
    del array
    gc.collect()
    assert alive() is None


def test_pointer_holders_can_be_gpudata(ctx):
    memory = drv.mem_alloc(12)

    class Holder(drv.PointerHolderBase):
        def get_pointer(self):
            return int(memory)

    array = GPUArray(3, np.float32, gpudata=Holder())
    assert array.fill(1).get().tolist() == [1, 1, 1]


def test_an_allocator_is_asked_for_the_bytes_and_inherited(ctx):
    asked = []

    def allocate(size):
        asked.append(size)
        return drv.mem_alloc(size)

    array = gpuarray.to_gpu(np.ones(5, np.float64), allocator=allocate)
    assert asked == [40]
    assert (array + 1).allocator is allocate
    assert array[1:].allocator is allocate
    assert asked == [40, 40]


def test_an_allocator_may_hand_out_one_block_again(ctx):
    block = drv.mem_alloc(100)
    one = GPUArray(5, np.float32, allocator=lambda size: block)
    two = GPUArray(5, np.float32, allocator=lambda size: block)
    assert one.gpudata is two.gpudata
    one.fill(3)
    assert two.get().tolist() == [3] * 5


def test_a_pool_as_allocator(ctx):
    pool = drv.DeviceMemoryPool()
    array = gpuarray.to_gpu(np.arange(10, dtype=np.float32), pool.allocate)
    result = array + array
    assert isinstance(result.gpudata, drv.PooledDeviceAllocation)
    assert result.get().tolist() == [2 * i for i in range(10)]
    del array, result
    assert pool.active_blocks == 0
    pool.stop_holding()


def test_another_default_allocator(ctx, strict):
    pool = drv.DeviceMemoryPool()
    set_default_allocator(pool.allocate)
    try:
        array = gpuarray.to_gpu(np.ones(5))
        assert isinstance((array + 1).gpudata, drv.PooledDeviceAllocation)
        assert array.allocator == pool.allocate
        with pytest.raises(TypeError):
            set_default_allocator(3)
    finally:
        set_default_allocator()
    assert isinstance((array + 1).gpudata, drv.DeviceAllocation)
    del array
    pool.stop_holding()


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_without_elements(ctx, dtype):
    for shape in (0, (0, 3), (3, 0)):
        array = gpuarray.zeros(shape, dtype)
        assert array.gpudata is None
        assert array.flags.c_contiguous and array.flags.f_contiguous
        assert array.__cuda_array_interface__["data"] == (0, False)
        with pytest.raises(AttributeError):
            array.ptr  # noqa: B018
        assert (array == array).get().shape == array.shape
        assert array.copy().shape == array.shape
        assert array.get().shape == array.shape
        assert array[:0].shape[0] == 0
        assert array.reshape(-1, 5).shape == (0, 5) if shape == 0 else True
        assert gpuarray.sum(array).get() == 0


def test_attributes_can_be_assigned(ctx):
    array = GPUArray((2, 6), np.float32)
    array.set(np.arange(12, dtype=np.float32).reshape(2, 6))
    array.shape = (3, 4)
    assert (array.strides, array.size, array.nbytes) == ((16, 4), 12, 48)
    assert (array.get() == np.arange(12).reshape(3, 4)).all()
    array.strides = (4, 12)
    assert array.flags.f_contiguous
    assert (array.get() == np.arange(12).reshape(4, 3).T).all()
    array.dtype = np.int32
    assert array.dtype == np.int32
    array.size = 7
    assert array.size == 7
    array.nbytes = 3
    array.mem_size = 5
    assert (array.nbytes, array.mem_size) == (3, 5)
    array.allocator = None
    array.base = array.flags = marker = object()
    assert array.base is marker and array.flags is marker
    array.new_attribute = 1
    assert array.new_attribute == 1


def test_gpudata_can_be_assigned(ctx):
    memory = drv.to_device(np.array([5, 6], np.int32))
    array = GPUArray(2, np.int32)
    array.gpudata = memory
    assert array.get().tolist() == [5, 6]
    assert array.gpudata is memory
    array.gpudata = int(memory)
    assert array.get().tolist() == [5, 6]


def test_class_attributes_can_be_assigned(ctx):
    class Mine(GPUArray):
        pass

    Mine.__add__ = lambda self, other: "added"
    assert Mine(3, np.float32) + 1 == "added"
    original = GPUArray.__mul__
    try:
        GPUArray.__mul__ = lambda self, other: "multiplied"
        assert GPUArray(3, np.float32) * 2 == "multiplied"
    finally:
        GPUArray.__mul__ = original
    assert (gpuarray.ones(2, np.float32) * 2).get().tolist() == [2, 2]


def test_flags(ctx):
    flags = GPUArray((2, 3), np.float32).flags
    assert (flags.c_contiguous, flags.f_contiguous, flags.forc) == (True, False, True)
    flags = GPUArray((2, 3), np.float32, order="F").flags
    assert (flags.c_contiguous, flags.f_contiguous, flags.forc) == (False, True, True)
    flags = GPUArray((2, 6), np.float32)[:, ::2].flags
    assert (flags.c_contiguous, flags.f_contiguous, flags.forc) == (False, False, False)
    assert GPUArray((1, 3, 1), np.float32).flags.f_contiguous
    assert repr(flags).count("\n") == 1
    for order in "CF":
        flags = GPUArray((2, 3), np.float32, order=order).flags
        other = np.empty((2, 3), order=order).flags
        for name in ("C_CONTIGUOUS", "C", "F_CONTIGUOUS", "F", "FORTRAN", "FORC"):
            assert flags[name] is other[name]
    for unknown in ("c_contiguous", "WRITEABLE", 1):
        with pytest.raises(KeyError):
            flags[unknown]
    of_host = gpuarray.ArrayFlags(np.ones((2, 3), order="F"))
    assert of_host.f_contiguous and not of_host.c_contiguous


def test_module_name_for_inspection():
    assert GPUArray.__module__.startswith("pycuda")
    assert gpuarray.empty is GPUArray


def test_no_hash(ctx):
    with pytest.raises(TypeError):
        hash(GPUArray(3, np.float32))


def test_a_format_that_is_no_str(ctx):
    for array in gpuarray.zeros(2, np.float32), gpuarray.zeros((), np.float32):
        assert format(array, "") == format(array.get(), "")
        with pytest.raises(TypeError, match="format_spec must be a str, not int"):
            array.__format__(5)


def test_repr_and_str_are_the_host_arrays(ctx):
    host = np.arange(3, dtype=np.float32)
    array = gpuarray.to_gpu(host)
    assert repr(array) == repr(host)
    assert str(array) == str(host)
    assert f"{array[1]:.2f}" == "1.00"


def test_cuda_array_interface(ctx):
    array = gpuarray.to_gpu(np.ones((2, 3), np.complex64)).T
    interface = array.__cuda_array_interface__
    assert interface["version"] == 3
    assert interface["shape"] == (3, 2)
    assert interface["strides"] == (8, 24)
    assert interface["typestr"] == "<c8"
    assert interface["data"] == (array.ptr, False)
    assert interface["stream"] is None


def test_before_init_nothing_crashes(ctx):
    array = GPUArray.__new__(GPUArray)
    for name in ("shape", "strides", "dtype", "gpudata", "ptr", "itemsize"):
        assert not hasattr(array, name)
    actions = [
        lambda: array + 1,
        lambda: array[0],
        lambda: array.get(),
        lambda: array.fill(1),
        lambda: array.T,
        lambda: len(array),
        lambda: array.reshape(3),
        lambda: gpuarray.sum(array),
        lambda: array.copy(),
        lambda: array.astype(np.float32),
        lambda: array.view(),
        lambda: repr(array),
    ]
    for action in actions:
        with pytest.raises((TypeError, AttributeError)):
            action()


# -- life ------------------------------------------------------------------------------


def test_views_keep_the_memory(ctx):
    array = gpuarray.to_gpu(np.arange(10, dtype=np.int32))
    view = array[2:5]
    assert view.base is array
    del array
    gc.collect()
    assert view.get().tolist() == [2, 3, 4]


def test_an_array_in_a_cycle_is_collected(ctx):
    array = GPUArray(10, np.float32)
    array.myself = array
    alive = weakref.ref(array)
    del array
    gc.collect()
    assert alive() is None


def test_released_memory_is_an_error(ctx):
    array = gpuarray.zeros(10, np.float32)
    view = array[2:]
    array.gpudata.free()
    for action in (lambda: array + 1, lambda: view.get(), lambda: gpuarray.sum(view)):
        with pytest.raises(drv.LogicError, match="released"):
            action()


def test_an_array_of_another_context_is_an_error(ctx, strict):
    mine = gpuarray.zeros((2, 3), np.float32)
    other = drv.Device(0).make_context()
    try:
        theirs = gpuarray.ones((2, 3), np.float32)
        with pytest.raises(drv.LogicError, match=r"\(2, 3\).*another context"):
            theirs + mine
        with pytest.raises(drv.LogicError, match="another context"):
            mine.get()
        assert (theirs + theirs).get().tolist() == [[2, 2, 2], [2, 2, 2]]
        del theirs
    finally:
        other.pop()
        other.detach()
    assert (mine + mine).get().tolist() == [[0, 0, 0], [0, 0, 0]]


def test_an_array_of_another_context_is_a_warning(ctx):
    """PyCUDA passes the address, and a driver may find the memory."""
    mine = gpuarray.zeros((2, 3), np.float32)
    other = drv.Device(0).make_context()
    try:
        with pytest.warns(drv.PyCUDAWarning, match=r"\(2, 3\).*another .*STRICT=1"):
            assert mine.get().tolist() == [[0, 0, 0], [0, 0, 0]]
    finally:
        other.pop()
        other.detach()


def test_kernels_belong_to_their_context():
    for _ in range(3):
        context = drv.Device(0).make_context()
        try:
            array = gpuarray.ones(5, np.float32)
            assert (array + array).get().tolist() == [2] * 5
            del array
        finally:
            context.pop()
            context.detach()


def test_arrays_outlive_their_context():
    context = drv.Device(0).make_context()
    array = gpuarray.ones(5, np.float32)
    context.pop()
    context.detach()
    with pytest.raises(drv.LogicError):
        array + 1
    del array
    gc.collect()


# -- pickling, subclasses --------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
def test_pickle_and_copy(ctx, order):
    host = np.array(sample(np.float32, (3, 4)), order=order)
    array = gpuarray.to_gpu(host)
    array.note = "kept"
    back = pickle.loads(pickle.dumps(array))
    assert (back.get() == host).all()
    assert back.strides == array.strides
    assert back.note == "kept"
    for again in (copy.copy(array), copy.deepcopy(array), array.copy()):
        assert (again.get() == host).all()
        assert again.ptr != array.ptr


class Special(GPUArray):
    """A subclass with a signature with which results can be made."""


class Stubborn(GPUArray):
    """A subclass that makes its own results."""

    def __init__(self, label, shape, dtype, strides=None):
        super().__init__(shape, dtype, strides=strides)
        self.label = label

    def _new_like_me(self, dtype=None, order="C"):
        return Stubborn(self.label, self.shape, dtype or self.dtype)


def test_results_are_of_the_subclass(ctx):
    array = Special((2, 3), np.float32)
    array.fill(2)
    for result in (array + 1, 1 + array, -array, array < 3, array.astype(np.int32)):
        assert type(result) is Special
    assert type(array[0]) is GPUArray
    assert type(array.T) is GPUArray
    assert type(array.copy()) is GPUArray
    assert type(pickle.loads(pickle.dumps(array))) is Special


def test_a_subclass_that_overrides_new_like_me(ctx):
    array = Stubborn("label", 3, np.float32)
    array.fill(2)
    result = array * 3
    assert type(result) is Stubborn
    assert result.label == "label"
    assert result.get().tolist() == [6, 6, 6]


def test_as_kernel_argument(ctx):
    from pycuda.compiler import SourceModule

    module = SourceModule(
        "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }", compiler="nvrtc"
    )
    twice = module.get_function("twice")
    array = gpuarray.to_gpu(np.arange(8, dtype=np.float32))
    twice(array, block=(8, 1, 1))
    twice(array[4:], block=(4, 1, 1))
    expected = np.arange(8) * np.array([2] * 4 + [4] * 4)
    assert (array.get() == expected).all()
    twice.prepare("P").prepared_call((1, 1), (8, 1, 1), array.gpudata)
    assert (array.get() == 2 * expected).all()


def test_grid_and_block(ctx):
    for size in (1, 31, 1000, 10**6):
        array = GPUArray(size, np.int8)
        assert len(array._grid) == 2 and len(array._block) == 3
        assert 32 <= array._block[0] <= 128
        assert gpuarray.splay(size) == (array._grid, array._block)
