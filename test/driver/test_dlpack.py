"""Export and import with DLPack: descriptions, ownership, and release in any thread."""

import ctypes
import gc
import os
import sys
import threading
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver
from pycuda.compiler import SourceModule
from support.child import run_child
from support.dlpack import (
    CUDA,
    CUDA_HOST,
    CUDA_MANAGED,
    DELETER,
    NAMES,
    PLAIN,
    USED,
    VERSIONED,
    Managed,
    Versioned,
    api,
    look,
)
from support.faults import fail_calls  # noqa: F401

pytestmark = pytest.mark.gpu


def take(capsule):
    """Consume a capsule. Return the function that releases its tensor."""
    managed = look(capsule)
    used = NAMES[0] if isinstance(managed, Managed) else NAMES[1]
    api.PyCapsule_SetName(capsule, ctypes.cast(used, ctypes.c_char_p))
    address = ctypes.addressof(managed)
    return lambda: managed.deleter(address)


#: Keep the structs of producers, which consumers may release at any time.
KEPT = []


class Producer:
    """Another library's tensor over an address. It counts its releases."""

    def __init__(self, address, shape, strides=None, **more):
        self.returned = []
        self.asked = []
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = strides and (ctypes.c_int64 * len(strides))(*strides)
        self.tensor = {
            "data": int(address),
            "device_type": CUDA,
            "device_id": 0,
            "ndim": len(shape),
            "code": 0,
            "bits": 32,
            "lanes": 1,
            **more,
        }
        self.version = self.tensor.pop("version", (1, 0))
        self.flags = self.tensor.pop("flags", 0)
        self.deleter = DELETER(self.returned.append)
        self.alive = []

    def fill(self, managed):
        for name, value in self.tensor.items():
            setattr(managed.tensor, name, value)
        managed.tensor.shape = self.shape
        if self.strides:
            managed.tensor.strides = self.strides
        managed.deleter = self.deleter
        self.alive.append(managed)
        KEPT.append((self, self.deleter, managed))
        return ctypes.addressof(managed)

    def plain(self):
        return api.PyCapsule_New(self.fill(Managed()), PLAIN, None)

    def versioned(self):
        managed = Versioned()
        managed.major, managed.minor = self.version
        managed.flags = self.flags
        return api.PyCapsule_New(self.fill(managed), VERSIONED, None)

    def __dlpack_device__(self):
        return self.tensor["device_type"], self.tensor["device_id"]

    def __dlpack__(self, *, stream=None, max_version=None):
        self.asked.append((stream, max_version))
        return self.versioned() if max_version else self.plain()


class OldProducer(Producer):
    def __dlpack__(self, *, stream=None):
        self.asked.append(stream)
        return self.plain()


@pytest.fixture
def memory(ctx):
    return drv.to_device(np.arange(32, dtype=np.int32))


@pytest.fixture(params=["device", "pool"])
def allocation(request, ctx):
    if request.param == "device":
        return drv.mem_alloc(128)
    return drv.DeviceMemoryPool().allocate(128)


# -- lending ---------------------------------------------------------------------------


@pytest.mark.parametrize("max_version", [None, (0, 8), (1, 0), (2, 3)])
def test_what_a_capsule_describes(allocation, max_version):
    capsule = allocation.as_dlpack((4, 8), np.float32, max_version=max_version)
    managed = look(capsule)
    versioned = max_version is not None and max_version >= (1, 0)
    assert isinstance(managed, Versioned if versioned else Managed)
    if versioned:
        assert (managed.major, managed.minor, managed.flags) == (1, 0, 0)
    tensor = managed.tensor
    assert tensor.data == int(allocation) and tensor.byte_offset == 0
    assert (tensor.device_type, tensor.device_id) == (CUDA, 0)
    assert (tensor.code, tensor.bits, tensor.lanes) == (2, 32, 1)
    assert tensor.ndim == 2
    assert tensor.shape[:2] == [4, 8] and tensor.strides[:2] == [8, 1]


@pytest.mark.parametrize(
    "dtype, code, bits",
    [
        ("b1", 6, 8),
        ("i1", 0, 8),
        ("i8", 0, 64),
        ("u2", 1, 16),
        ("f2", 2, 16),
        ("f8", 2, 64),
        ("c8", 5, 64),
        ("c16", 5, 128),
    ],
)
def test_types_of_items(memory, dtype, code, bits):
    tensor = look(memory.as_dlpack(3, dtype)).tensor
    assert (tensor.code, tensor.bits, tensor.lanes) == (code, bits, 1)
    back = drv.from_dlpack(memory.as_dlpack(3, dtype))
    assert back.dtype == np.dtype(dtype)


@pytest.mark.parametrize(
    "dtype", [">i4", "M8[s]", "O", "S4", "V0", [("x", "f4")], np.longdouble]
)
def test_types_that_dlpack_lacks(memory, dtype):
    with pytest.raises(BufferError, match="DLPack has no type"):
        memory.as_dlpack(1, dtype)


def test_strides_are_given_in_bytes(memory):
    tensor = look(memory.as_dlpack((2, 3), "i4", strides=(4, 8))).tensor
    assert tensor.strides[:2] == [1, 2]
    assert look(memory.as_dlpack((5, 4), "i4", strides=[0, 4])).tensor.strides[0] == 0
    assert look(memory.as_dlpack((), "i4")).tensor.ndim == 0
    assert look(memory.as_dlpack((0, 9), "i4")).tensor.shape[:2] == [0, 9]
    with pytest.raises(BufferError, match="not a multiple"):
        memory.as_dlpack((2,), "i4", strides=(6,))
    with pytest.raises(ValueError, match="strides has 1 entries, shape has 2"):
        memory.as_dlpack((2, 2), "i4", strides=(4,))


@pytest.mark.parametrize(
    "shape, strides",
    [((1 << 28,), None), ((1 << 14, 1 << 14), None), ((2,), (-4,)), ((2,), (1 << 32,))],
)
def test_an_array_outside_of_the_allocation(allocation, shape, strides):
    with pytest.raises(ValueError, match="does not lie inside"):
        allocation.as_dlpack(shape, np.int32, strides)


def test_a_pool_knows_the_bytes_that_were_asked_for(ctx):
    block = drv.DeviceMemoryPool().allocate(130)  # of a block of 135
    assert look(block.as_dlpack(32, "i4")).tensor.shape[0] == 32
    assert look(block.as_dlpack(130, "u1")).tensor.shape[0] == 130
    for shape, dtype in ((33, "i4"), (131, "u1")):
        with pytest.raises(ValueError, match="does not lie inside"):
            block.as_dlpack(shape, dtype)


def test_arguments_of_as_dlpack(memory):
    for wrong in (1, "x", (1,), (1, 2, 3)):
        with pytest.raises(TypeError, match="max_version"):
            memory.as_dlpack(1, "i4", max_version=wrong)
    with pytest.raises(TypeError):
        memory.as_dlpack(1)
    with pytest.raises(ValueError, match="too large|does not lie"):
        memory.as_dlpack((1 << 40, 1 << 40), "i4")
    memory.free()
    with pytest.raises(drv.LogicError, match="released before"):
        memory.as_dlpack(1, "i4")


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_an_unused_capsule_gives_up_its_memory(ctx, max_version):
    memory = drv.mem_alloc(64)
    gone = weakref.ref(memory)
    capsule = memory.as_dlpack(4, "i4", max_version=max_version)
    del memory
    assert gone() is not None
    del capsule
    assert gone() is None


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_a_consumer_keeps_the_memory(ctx, max_version):
    memory = drv.mem_alloc(64)
    gone = weakref.ref(memory)
    capsule = memory.as_dlpack(4, "i4", max_version=max_version)
    give_back = take(capsule)
    del memory, capsule
    gc.collect()
    assert gone() is not None
    give_back()
    assert gone() is None


def test_a_consumer_gives_back_without_the_interpreter_lock(ctx):
    """ctypes releases the lock around the call, in another thread."""
    pool = drv.DeviceMemoryPool()
    give_back = [take(pool.allocate(64).as_dlpack(4, "i4")) for _ in range(4)]
    assert pool.active_blocks == 4
    threads = [threading.Thread(target=call) for call in give_back]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (pool.active_blocks, pool.held_blocks) == (0, 4)


def test_giving_back_keeps_an_exception(ctx):
    give_back = take(drv.mem_alloc(64).as_dlpack(4, "i4"))
    try:
        raise KeyError("mine")
    except KeyError:
        give_back()
        assert sys.exc_info()[0] is KeyError


def test_numpy_borrows_managed_memory(ctx):
    """NumPy accepts the kinds of memory that the CPU can read."""
    page = drv.managed_zeros((2, 3), np.float32, mem_flags=drv.mem_attach_flags.GLOBAL)
    page[...] = [[1, 2, 3], [4, 5, 6]]

    class Lender:
        def __dlpack_device__(self):
            return CUDA_MANAGED, 0

        def __dlpack__(self, *, max_version=None, **keywords):
            return page.base.as_dlpack((2, 3), "f4", max_version=max_version)

    assert look(Lender().__dlpack__()).tensor.device_type == CUDA_MANAGED
    lent = np.from_dlpack(Lender())
    assert (lent == page).all()
    assert np.shares_memory(lent, page)
    base = weakref.ref(page.base)
    page = None
    del Lender
    gc.collect()
    assert base() is not None and lent[1, 2] == 6
    del lent
    gc.collect()
    assert base() is None


# -- borrowing -------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["plain", "versioned"])
def test_what_a_capsule_says(memory, form):
    producer = Producer(memory, (4, 8), (8, 1), byte_offset=0)
    capsule = getattr(producer, form)()
    array = drv.from_dlpack(capsule)
    assert isinstance(array, drv.ForeignAllocation)
    assert int(array) == array.__index__() == int(memory)
    assert array.shape == (4, 8) and array.strides == (32, 4)
    assert array.dtype == np.int32 and array.device == (CUDA, 0)
    assert array.readonly is False
    name = PLAIN if form == "plain" else VERSIONED
    assert api.PyCapsule_GetName(capsule) == USED[name]
    with pytest.raises(BufferError, match="taken before"):
        drv.from_dlpack(capsule)
    del capsule
    assert producer.returned == []
    address = ctypes.addressof(producer.alive[0])
    del array
    assert producer.returned == [address]


def test_a_borrowed_array_is_used(memory):
    kernels = SourceModule("__global__ void twice(int *x) { x[threadIdx.x] *= 2; }")
    array = drv.from_dlpack(Producer(memory, (4, 4), byte_offset=64))
    assert int(array) == int(memory) + 64 and array.strides == (16, 4)
    kernels.get_function("twice")(array, block=(16, 1, 1))
    expected = np.arange(32)
    expected[16:] *= 2
    assert (drv.from_device(memory, 32, np.int32) == expected).all()
    assert (drv.from_device(array, (4, 4), np.int32).ravel() == expected[16:]).all()
    assert array.__cuda_array_interface__ == {
        "shape": (4, 4),
        "strides": (16, 4),
        "typestr": "<i4",
        "data": (int(array), False),
        "version": 3,
        "stream": 1,
    }
    array.note = 1
    assert weakref.ref(array)() is array
    with pytest.raises(TypeError):
        drv.ForeignAllocation()


def test_the_producer_is_told_the_stream(memory):
    stream = drv.Stream()
    producer = Producer(memory, (4,))
    drv.from_dlpack(producer)
    array = drv.from_dlpack(producer, stream=stream)
    assert array.__cuda_array_interface__["stream"] == stream.handle
    with stream:
        drv.from_dlpack(producer)
    new = (1, 0)
    assert producer.asked == [(1, new), (stream.handle, new), (stream.handle, new)]
    gone = weakref.ref(stream)
    del stream
    assert gone() is not None
    del array
    assert gone() is None
    with pytest.raises(TypeError, match="stream"):
        drv.from_dlpack(producer, stream=3)


def test_a_producer_of_before_version_1(memory):
    producer = OldProducer(memory, (4,))
    array = drv.from_dlpack(producer)
    assert array.shape == (4,) and producer.asked == [1]
    del array
    assert len(producer.returned) == 1


def test_page_locked_and_managed_memory(memory):
    producer = Producer(memory, (4,), device_type=CUDA_HOST)
    array = drv.from_dlpack(producer)
    assert array.device == (CUDA_HOST, 0) and producer.asked[0][0] is None
    assert array.__cuda_array_interface__["stream"] is None
    producer = Producer(memory, (4,), device_type=CUDA_MANAGED)
    assert drv.from_dlpack(producer).device == (CUDA_MANAGED, 0)


def test_read_only_memory(memory):
    array = drv.from_dlpack(Producer(memory, (4,), flags=1))
    assert array.readonly is True
    assert array.__cuda_array_interface__["data"] == (int(memory), True)


def test_no_deleter(memory):
    producer = Producer(memory, (4,))
    producer.deleter = DELETER()
    del_me = drv.from_dlpack(producer)
    del del_me
    assert producer.returned == []


@pytest.mark.parametrize(
    "more, text",
    [
        ({"device_type": 1}, "ordinary host memory"),
        ({"device_type": 10}, "device of DLPack's type 10"),
        ({"lanes": 4}, "4 lanes"),
        ({"code": 10, "bits": 8}, "code 10, 8 bits"),
        ({"code": 4, "bits": 32}, "code 4, 32 bits"),
        ({"bits": 4}, "4 bits"),
        ({"version": (2, 0)}, "DLPack 2"),
        ({"ndim": 65}, "65 dimensions"),
        ({"ndim": -1}, "-1 dimensions"),
    ],
)
def test_tensors_that_are_refused(memory, more, text):
    """The producer keeps rejected tensors."""
    producer = Producer(memory, (4,), **more)
    with pytest.raises(BufferError, match=text):
        drv.from_dlpack(producer)
    capsule = producer.versioned()
    with pytest.raises(BufferError, match=text):
        drv.from_dlpack(capsule)
    assert api.PyCapsule_GetName(capsule) == VERSIONED
    assert producer.returned == []


def test_bfloat16_of_another_library(memory):
    bfloat16 = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    producer = Producer(memory, (4,), code=4, bits=16)
    assert drv.from_dlpack(producer).dtype == bfloat16
    assert drv.from_dlpack(producer.versioned()).dtype == bfloat16
    assert drv.from_dlpack(producer.plain()).dtype == bfloat16


def test_bfloat16_without_ml_dtypes(ctx):
    done = run_child(
        """
        import sys
        sys.modules["ml_dtypes"] = None
        import pycuda.autoinit
        import pycuda.driver as drv
        from test_dlpack import Producer
        producer = Producer(drv.mem_alloc(16), (4,), code=4, bits=16)
        try:
            drv.from_dlpack(producer)
        except BufferError as error:
            print(error, producer.returned)
        """,
        PYTHONPATH=os.pathsep.join([os.path.dirname(__file__), *sys.path]),
    )
    assert done.stdout == (
        "NumPy has no type for the items of this tensor "
        "(DLPack code 4, 16 bits, 1 lanes) []\n"
    )


def test_shapes_that_are_refused(memory):
    for shape, strides in (
        ((-1,), None),
        ((2,), (1 << 62,)),
        ((1 << 40, 1 << 40), None),
    ):
        with pytest.raises(BufferError, match="shape or the strides"):
            drv.from_dlpack(Producer(memory, shape, strides))


def test_what_is_no_producer(memory):
    with pytest.raises(AttributeError):
        drv.from_dlpack(3)
    with pytest.raises(BufferError, match="ordinary host memory"):
        drv.from_dlpack(np.zeros(3))
    with pytest.raises(BufferError, match="not a DLPack capsule"):
        drv.from_dlpack(api.PyCapsule_New(8, b"other", None))

    class Odd(Producer):
        answer = (CUDA, 0)
        error = None

        def __dlpack_device__(self):
            return self.answer

        def __dlpack__(self, **keywords):
            raise self.error

    odd = Odd(memory, (4,))
    for odd.answer in ((2,), 3, ("x", 0)):
        with pytest.raises(TypeError):
            drv.from_dlpack(odd)
    odd.answer = (CUDA, 0)
    for odd.error in (KeyError, TypeError, BufferError):
        with pytest.raises(odd.error):
            drv.from_dlpack(odd)


def test_there_and_back(allocation):
    live = _driver._live_counts()
    for version in (None, (1, 0)):
        capsule = allocation.as_dlpack((2, 3, 4), "i2", (2, 4, 12), max_version=version)
        array = drv.from_dlpack(capsule)
        assert int(array) == int(allocation)
        assert array.shape == (2, 3, 4) and array.strides == (2, 4, 12)
        del array, capsule
    assert _driver._live_counts() == live


def test_a_cycle_through_borrowed_memory(ctx):
    memory = drv.mem_alloc(64)
    memory.array = drv.from_dlpack(memory.as_dlpack(4, "i4"))
    memory.array.itself = memory.array
    gone = weakref.ref(memory.array)
    memory.array.itself = None
    del memory.array
    gc.collect()
    assert gone() is None


def test_failing_calls(allocation, fail_calls):  # noqa: F811
    live = _driver._live_counts()
    if isinstance(allocation, drv.DeviceAllocation):
        fail_calls("cuMemGetAddressRange", 1)
        with pytest.raises(drv.LogicError, match="cuMemGetAddressRange"):
            allocation.as_dlpack(1, "i4")
    fail_calls("cuPointerGetAttribute", 1)  # which is not managed memory
    assert look(allocation.as_dlpack(1, "i4")).tensor.device_type == CUDA
    assert _driver._live_counts() == live


ENDINGS = {
    "a capsule is left": "capsule = memory.as_dlpack(4, 'i4')",
    "borrowed": "array = drv.from_dlpack(memory.as_dlpack(4, 'i4'))",
    "in a module": "import sys; sys.left = drv.from_dlpack(memory.as_dlpack(4, 'i4'))",
    "detached": "array = drv.from_dlpack(memory.as_dlpack(4, 'i4')); ctx.detach()",
    "from a pool": "pool = drv.DeviceMemoryPool()\n"
    "array = drv.from_dlpack(pool.allocate(64).as_dlpack(4, 'i4')); del pool",
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_program_ends_silently(name):
    run_child(
        f"""
import pycuda.driver as drv
drv.init()
ctx = drv.Device(0).make_context()
memory = drv.mem_alloc(64)
{ENDINGS[name]}
""",
        timeout=300,
    )


@pytest.mark.parametrize("name", ["strides", "shape"])
def test_a_block_that_is_freed_while_it_is_described(allocation, name):
    class Freeing:
        def __iter__(self):
            allocation.free()
            return iter((4,))

    arguments = {"shape": 4, "strides": None} | {name: Freeing()}
    with pytest.raises(drv.LogicError):
        allocation.as_dlpack(dtype="i4", **arguments)
