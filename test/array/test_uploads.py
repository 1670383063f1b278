"""The arrays that to_gpu, In, Out, InOut, set and assignment accept and reject.

Numbers in another byte order and masked arrays must not change silently: they are
converted or rejected. A GPUArray is copied on the device.
"""

import pickle

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _pvt_struct, gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.gpuarray import GPUArray, to_gpu
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel
from pycuda.sparse.cg import CGStateContainer
from pycuda.sparse.operator import IdentityOperator
from pycuda.tools import DeviceMemoryPool, set_default_allocator

pytestmark = pytest.mark.gpu

VALUES = [1.0, 2.0, 3.0, 4.0]

#: dtypes of another byte order, and the hint in the message.
SWAPPED = {
    ">f4": r"dtype\('>f4'\), in the byte order of other machines.*dtype\('float32'\)",
    ">i8": r"dtype\('>i8'\).*dtype\('int64'\)",
    ">c8": r"dtype\('>c8'\).*dtype\('complex64'\)",
    "record": r"in the byte order of other machines",
    "part of a record": r"in the byte order of other machines",
}
RECORDS = {
    "record": [("a", ">i4"), ("b", ">f8")],
    "part of a record": [("a", "i1"), ("b", [("c", "f4"), ("d", ">u2")])],
}


def swapped(name):
    return np.zeros(4, RECORDS.get(name, name))


def native(array):
    return array.astype(array.dtype.newbyteorder("="))


def masked():
    return np.ma.masked_array(VALUES, [False, True, False, False], np.float32)


@pytest.fixture
def double(ctx):
    source = "__global__ void f(float *x) { x[threadIdx.x] *= 2; }"
    kernel = SourceModule(source).get_function("f")
    return lambda handler: kernel(handler, block=(4, 1, 1))


@pytest.mark.parametrize("name", SWAPPED)
def test_another_byte_order_is_refused(double, name, monkeypatch):
    monkeypatch.setenv("PYCUDA_STRICT", "1")
    array = swapped(name)
    for use in (to_gpu, gpuarray.to_gpu_async):
        with pytest.raises(TypeError, match=f"ary has .*{SWAPPED[name]}"):
            use(array)
        with pytest.raises(TypeError, match="byte order"):
            use(array[::2])
        assert use(native(array)).get().tolist() == array.tolist()
    for kind in (drv.In, drv.Out, drv.InOut):
        before = array.tobytes()
        words = f"the array of {kind.__name__} has .*{SWAPPED[name]}"
        with pytest.raises(TypeError, match=words):
            double(kind(array))
        assert array.tobytes() == before
    monkeypatch.setenv("PYCUDA_STRICT", "0")
    double(drv.In(native(array)))


@pytest.mark.parametrize("kind", [drv.In, drv.Out, drv.InOut])
def test_another_byte_order_in_a_derived_handler(double, kind, strict):
    class Derived(kind):
        pass

    with pytest.raises(TypeError, match="the array of Derived has .*'>f4'"):
        double(Derived(np.ones(4, ">f4")))

    class Own(drv.ArgumentHandler):
        """A handler that converts the byte order itself."""

        def get_device_alloc(self):
            self.memory = drv.to_device(native(self.array))
            return self.memory

        def post_call(self, stream):
            self.array[...] = drv.from_device(self.memory, 4, np.float32)

    array = np.ones(4, ">f4")
    double(Own(array))
    assert array.tolist() == [2] * 4


def test_another_byte_order_in_set_and_get(ctx):
    array = to_gpu(np.array(VALUES, np.float32))
    other = np.array([5, 6, 7, 8], ">f4")
    with pytest.raises(ValueError, match="byte order"):
        array.set(other)
    with pytest.raises(ValueError, match="byte order"):
        array.set_async(other)
    with pytest.raises(TypeError, match="byte order"):
        array.get(other)
    assert other.tolist() == [5, 6, 7, 8] and array.get().tolist() == VALUES
    array.set(native(other))
    assert array.get().tolist() == [5, 6, 7, 8]


def test_assignment_converts_the_byte_order(ctx):
    """Assignment converts the byte order, as it converts any other dtype."""
    array = to_gpu(np.zeros(4, np.float32))
    array[...] = np.array(VALUES, ">f4")
    assert array.get().tolist() == VALUES
    array[1:3] = np.array([9, 8], ">i2")
    assert array.get().tolist() == [1, 9, 8, 4]
    array[...] = np.array(7, ">f8")
    assert array.get().tolist() == [7] * 4
    array.fill(np.array(3, ">i4"))
    assert array.get().tolist() == [3] * 4
    array.fill(np.array([(5,)], [("x", ">f4")])["x"][0])
    assert array.get().tolist() == [5] * 4


def test_values_of_another_byte_order(ctx, strict):
    """Numbers are converted if their type is known, and rejected otherwise."""
    array = to_gpu(np.array(VALUES, np.float32))
    ElementwiseKernel("float *x, float a", "x[i] *= a")(array, np.array(2, ">f4"))
    assert array.get().tolist() == [2, 4, 6, 8]
    assert (array * np.array(2, ">f4")).get().tolist() == [4, 8, 12, 16]
    source = """
    struct pair { int a; float b; };
    __global__ void number(int *out, int x) { *out = x; }
    __global__ void record(int *out, pair x) { *out = x.a; }
    """
    module = SourceModule(source)
    out = drv.mem_alloc(4)
    dtype = np.dtype([("a", "i4"), ("b", "f4")])
    for name, value in (("number", np.array(5, "i4")), ("record", np.ones(1, dtype))):
        kernel = module.get_function(name)
        other = value.astype(value.dtype.newbyteorder(">"))
        for bad in (other, other.reshape(-1)[0]) if name == "record" else (other,):
            with pytest.raises(TypeError, match="kernel argument has .*byte order"):
                kernel(out, bad, block=(1, 1, 1))
        kernel(out, value, block=(1, 1, 1))
        assert drv.from_device(out, 1, np.int32)[0] == value.tobytes()[0]
    record = module.get_function("record").prepare(["P", dtype])
    other = np.ones(1, dtype.newbyteorder(">"))
    for bad in (other, other[0]):
        with pytest.raises(_pvt_struct.error, match="kernel argument has .*byte order"):
            record.prepared_call((1, 1), (1, 1, 1), out, bad)
    record.prepared_call((1, 1), (1, 1, 1), out, np.ones(1, dtype))


def test_masked_arrays_are_refused(double, strict):
    array = masked()
    words = r"is a masked array.*\.filled\(value\), or its \.data"
    device = to_gpu(np.zeros(4, np.float32))
    uses = [to_gpu, gpuarray.to_gpu_async, device.set, device.get]
    uses += [lambda a: device.__setitem__(Ellipsis, a)]
    uses += [lambda a: double(drv.In(a)), lambda a: double(drv.InOut(a))]
    uses += [lambda a: double(drv.Out(a)), lambda a: to_gpu(a[::2])]
    for use in uses:
        with pytest.raises(TypeError, match=words):
            use(array)
    assert array.tolist() == [1, None, 3, 4]
    assert device.get().tolist() == [0] * 4
    for plain in (array.filled(9), array.data):
        for use in uses[:3]:
            use(plain)
    double(drv.InOut(array.data))
    assert array.data.tolist() == [2, 4, 6, 8]


@pytest.mark.parametrize("name", SWAPPED)
def test_bytes_of_another_byte_order_are_copied(ctx, name):
    """A kernel may swap them, and what comes back is the same."""
    array = swapped(name)
    array.view(np.uint8)[:] = np.arange(array.nbytes)
    copy = SourceModule(
        "__global__ void f(char *to, char *x) { to[threadIdx.x] = x[threadIdx.x]; }"
    ).get_function("f")
    back = np.zeros_like(array)
    with pytest.warns(drv.PyCUDAWarning, match="byte order of other.*STRICT=1"):
        device = to_gpu(array)
    assert device.dtype == array.dtype and device.get().tobytes() == array.tobytes()
    with pytest.warns(drv.PyCUDAWarning, match="byte order of other") as shown:
        copy(drv.Out(back), drv.In(array), block=(array.nbytes, 1, 1))
    assert back.tobytes() == array.tobytes()
    assert {str(each.message).split(" has ")[0] for each in shown} == {
        "the array of In",
        "the array of Out",
    }


def test_arithmetic_of_another_byte_order(ctx):
    """PyCUDA has no kernels for these dtypes. Their bytes are no native numbers."""
    with pytest.warns(drv.PyCUDAWarning, match="byte order"):
        x = to_gpu(np.array(VALUES, ">f4"))
    for work in (lambda: x + x, lambda: x * 2, lambda: gpuarray.sum(x)):
        with pytest.raises((TypeError, ValueError)):
            work()
    with pytest.warns(drv.PyCUDAWarning, match="reads float"):
        ElementwiseKernel("float *x", "x[i] = x[i]")(x)
    assert x.get().tolist() == VALUES


def test_a_structure_of_another_byte_order_is_passed(ctx):
    source = (
        "struct two { int a, b; }; __global__ void f(two *out, two x) { *out = x; }"
    )
    record = np.array((1, 2), [("a", ">i4"), ("b", ">i4")])
    out, kernel = drv.mem_alloc(8), SourceModule(source).get_function("f")
    for value in (record, record[()]):
        with pytest.warns(drv.PyCUDAWarning, match="kernel argument has .*byte order"):
            kernel(out, value, block=(1, 1, 1))
        assert drv.from_device(out, 8, np.uint8).tobytes() == record.tobytes()


def test_masked_arrays_are_copied_without_their_mask(double):
    array, device = masked(), to_gpu(np.zeros(4, np.float32))
    words = r"is a masked array.*\.filled\(value\), or its \.data.*STRICT=1"
    with pytest.warns(drv.PyCUDAWarning, match=words):
        assert to_gpu(array).get().tolist() == VALUES
    with pytest.warns(drv.PyCUDAWarning, match=words):
        device.set(array)
    with pytest.warns(drv.PyCUDAWarning, match=words):
        double(drv.InOut(array))
    assert device.get().tolist() == VALUES
    assert array.data.tolist() == [2, 4, 6, 8] and array.mask.sum() == 1


def test_other_subclasses_are_taken(double):
    class Own(np.ndarray):
        pass

    for kind in (Own, np.recarray):
        array = np.array(VALUES, np.float32).view(kind)
        assert to_gpu(array).get().tolist() == VALUES
        double(drv.InOut(array))
        assert array.tolist() == [2, 4, 6, 8]
    assert to_gpu(np.matrix(VALUES)).shape == (1, 4)


# -- GPUArrays -------------------------------------------------------------------------


class Named(GPUArray):
    pass


@pytest.fixture(params=[to_gpu, gpuarray.to_gpu_async])
def upload(request):
    return request.param


@pytest.mark.parametrize(
    "host",
    [
        np.arange(12.0).reshape(3, 4),
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(48.0).reshape(6, 8)[::2, 1::3],
        np.arange(5)[::-1],
        np.array(3, np.int8),
        np.zeros((0, 3), np.complex64),
        np.zeros(3, [("a", "i4"), ("b", "f4")]),
    ],
)
def test_a_gpuarray_is_copied(ctx, upload, host):
    source = to_gpu(host)
    if host.ndim == 2 and host.strides[0] > 96:
        source = to_gpu(np.arange(48.0).reshape(6, 8))[::2, 1::3]
    copy = upload(source)
    assert copy is not source and type(copy) is GPUArray
    assert copy.get().tolist() == host.tolist()
    assert (copy.shape, copy.dtype, copy.base) == (host.shape, host.dtype, None)
    assert copy.strides == to_gpu(host).strides or not copy.size
    if copy.size:
        copy.fill(1) if copy.dtype.names is None else None
        assert source.get().tolist() == host.tolist()


def test_the_allocator_of_the_copy(ctx, upload):
    asked = []

    def allocate(size):
        asked.append(size)
        return drv.mem_alloc(size)

    source = to_gpu(np.arange(5, dtype=np.int32), allocate)
    assert upload(source).allocator is drv.mem_alloc and len(asked) == 1
    assert upload(source, allocator=allocate).allocator is allocate
    assert asked == [20, 20]


def test_the_stream_of_the_copy(ctx):
    stream = drv.Stream()
    source = to_gpu(np.arange(1000))
    copy = gpuarray.to_gpu_async(source, stream=stream)
    stream.synchronize()
    assert copy.get().tolist() == list(range(1000))


def test_what_numpy_makes_of_a_gpuarray(ctx, upload):
    source = to_gpu(np.arange(4))
    for like, value in ((np.zeros_like, 0), (np.ones_like, 1)):
        assert upload(like(source)).get().tolist() == [value] * 4


def test_gpuarrays_that_cannot_be_copied(ctx, upload):
    released = to_gpu(np.arange(4))
    released.gpudata.free()
    with pytest.raises(drv.LogicError, match="released"):
        upload(released)
    with pytest.raises(TypeError, match="__init__"):
        upload(GPUArray.__new__(GPUArray))
    with pytest.raises(TypeError, match="numpy array or a GPUArray, not list"):
        upload([1, 2])


def test_subclasses_are_copied_to_plain_arrays(ctx, upload):
    source = Named(3, np.int32).fill(2)
    assert type(upload(source)) is GPUArray
    again = pickle.loads(pickle.dumps(source))
    assert type(again) is Named and again.get().tolist() == [2] * 3


# -- allocators ------------------------------------------------------------------------


def with_allocator(allocator):
    """Return {name: call} of the functions with an allocator."""
    host = np.arange(4, dtype=np.float32)
    x = to_gpu(host)
    scan = InclusiveScanKernel(np.float32, "a + b")
    total = ReductionKernel(np.float32, "0", "a + b", arguments="float *in")
    keyword = {"allocator": allocator}
    return {
        "GPUArray": lambda: GPUArray(4, np.float32, allocator),
        "an empty one": lambda: GPUArray(0, np.float32, allocator),
        "one over memory": lambda: GPUArray(4, "f4", allocator, gpudata=x.gpudata),
        "attribute": lambda: setattr(x, "allocator", allocator),
        "empty": lambda: gpuarray.empty(4, np.float32, allocator),
        "zeros": lambda: gpuarray.zeros(4, np.float32, allocator),
        "ones": lambda: gpuarray.ones(4, np.float32, allocator),
        "full": lambda: gpuarray.full(4, 1, np.float32, allocator),
        "arange": lambda: gpuarray.arange(4, dtype=np.float32, **keyword),
        "to_gpu": lambda: to_gpu(host, allocator),
        "to_gpu of a GPUArray": lambda: to_gpu(x, allocator),
        "to_gpu_async": lambda: gpuarray.to_gpu_async(host, allocator),
        "concatenate": lambda: gpuarray.concatenate([x, x], **keyword),
        "stack": lambda: gpuarray.stack([x, x], **keyword),
        "sum": lambda: gpuarray.sum(x, **keyword),
        "any": lambda: x.any(**keyword),
        "dot": lambda: gpuarray.dot(x, x, **keyword),
        "subset_sum": lambda: gpuarray.subset_sum(np.array([1]), x, **keyword),
        "logical_and": lambda: gpuarray.logical_and(x, x, **keyword),
        "logical_not of a number": lambda: gpuarray.logical_not(1, **keyword),
        "reduction": lambda: total(x, **keyword),
        "scan": lambda: scan(to_gpu(np.zeros(9999, np.float32)), **keyword),
        "default": lambda: set_default_allocator(allocator),
    }


@pytest.mark.parametrize("allocator", [3, 0, "pool", b"", ()])
def test_what_is_no_allocator(ctx, allocator, strict):
    for name, call in with_allocator(allocator).items():
        with pytest.raises(TypeError) as info:
            call()
        words = f"allocator must be None, .* not {type(allocator).__name__}$"
        assert info.match(words), name
    with pytest.raises(TypeError, match="pagelocked_allocator must be a function"):
        CGStateContainer(IdentityOperator(np.float32, 4), None, allocator)


def test_an_array_over_memory_needs_no_allocator(ctx):
    """PyCUDA never asks it. Where memory is needed, mem_alloc takes its place."""
    memory = drv.to_device(np.array(VALUES, np.float32))
    with pytest.warns(drv.PyCUDAWarning, match="allocator must be None.*not int.*=1"):
        array = GPUArray(4, np.float32, 5, gpudata=memory)
    assert array.get().tolist() == VALUES
    assert (array + 1).get().tolist() == [2, 3, 4, 5]


def test_what_is_an_allocator(ctx):
    class Allocator:
        def __call__(self, size):
            return drv.mem_alloc(size)

    pool = DeviceMemoryPool()
    for allocator in (None, drv.mem_alloc, pool, pool.allocate, Allocator()):
        for name, call in with_allocator(allocator).items():
            call(), name
        set_default_allocator(None)
    pool.stop_holding()


# -- Python objects --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [object, [("a", "i4"), ("b", "O")], "O"])
def test_python_objects_are_refused_by_name(ctx, dtype):
    host = np.zeros(3, dtype)
    calls = {}
    for kind in ("pagelocked", "aligned", "managed"):
        for what in ("empty", "zeros"):
            name = f"{kind}_{what}"
            calls[name] = getattr(drv, name), (3, dtype)
            calls[f"{name}_like"] = getattr(drv, f"{name}_like"), (host,)
    calls["allocate"] = drv.PageLockedMemoryPool().allocate, (3, dtype)
    calls["register_host_memory"] = drv.register_host_memory, (host,)
    calls["GPUArray"] = GPUArray, (3, dtype)
    for name, (function, args) in calls.items():
        words = f"^{name}: dtype.*holds Python objects.*give a dtype of numbers"
        with pytest.raises(TypeError, match=words):
            function(*args)
    with pytest.raises(TypeError, match="ary: dtype.*holds Python objects"):
        to_gpu(host)
    assert drv.pagelocked_empty(3, [("a", "i4"), ("b", "S3")]).shape == (3,)
