"""Kernel calls: every kind of argument, every way to call, every wrong call."""

import re
import struct
import time

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _pvt_struct, gpuarray
from pycuda.compiler import SourceModule, compile
from support.faults import NOT_FOUND, fail_calls  # noqa: F401

pytestmark = pytest.mark.gpu

SOURCE = """
struct mixed { char c; double d; short s; };
struct __align__(16) quad { double x, y, z, w; };

__global__ void axpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

__global__ void where(int *out)
{
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = 1000 * block + thread;
}

#define PUT(name, type) __global__ void put_##name(type *out, char before, type v) \\
    { *out = v; }
PUT(int8, signed char) PUT(uint8, unsigned char) PUT(int16, short)
PUT(uint16, unsigned short) PUT(int32, int) PUT(uint32, unsigned)
PUT(int64, long long) PUT(uint64, unsigned long long)
PUT(float32, float) PUT(float64, double) PUT(bool, bool) PUT(half, unsigned short)
PUT(int4, int4) PUT(float4, float4) PUT(float3, float3) PUT(double2, double2)
PUT(char2, char2) PUT(complex64, float2) PUT(mixed, mixed) PUT(quad, quad)

__global__ void shared_sum(int *out)
{
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < blockDim.x; i++) sum += s[i];
        *out = sum;
    }
}

__global__ void nothing() { }
__global__ void long_one(long long *out, long n, int k) { *out = n + k; }
"""


@pytest.fixture(scope="module")
def module_source():
    return SOURCE


@pytest.fixture
def mod(ctx):
    return SourceModule(SOURCE)


@pytest.fixture
def axpy(mod):
    return mod.get_function("axpy")


def axpy_case(n=100):
    x = np.arange(n, dtype=np.float32)
    y = np.ones(n, np.float32)
    return y, x, np.float32(3), np.int32(n), y + 3 * x


def test_device_pointers(axpy):
    y, x, a, n, expected = axpy_case()
    dy, dx = drv.to_device(y), drv.to_device(x)
    result = axpy(dy, dx, a, n, block=(64, 1, 1), grid=(2, 1))
    assert result is None
    assert (drv.from_device_like(dy, y) == expected).all()


def test_in_out_inout(axpy):
    y, x, a, n, expected = axpy_case()
    axpy(drv.InOut(y), drv.In(x), a, n, block=(128, 1, 1))
    assert (y == expected).all()


def test_handlers_on_a_stream(axpy):
    y, x, a, n, expected = axpy_case()
    stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
    axpy(drv.InOut(y), drv.In(x), a, n, block=(128, 1, 1), stream=stream)
    assert (y == expected).all()


def test_a_handler_is_used_again(axpy):
    y, x, a, n, _ = axpy_case()
    handler = drv.InOut(y)
    assert handler.dev_alloc is None and handler.array is y
    axpy(handler, drv.In(x), a, n, block=(128, 1, 1))
    first = handler.dev_alloc
    axpy(handler, drv.In(x), a, n, block=(128, 1, 1))
    assert handler.dev_alloc is first
    assert (y == 1 + 6 * x).all()
    assert isinstance(handler, drv.In) and isinstance(handler, drv.Out)


def test_a_handler_allocates_anew_for_what_does_not_fit(axpy):
    y, x, a, n, _ = axpy_case()
    handler = drv.In(x[: n // 2])
    axpy(drv.InOut(y), handler, a, np.int32(n // 2), block=(128, 1, 1))
    small = handler.dev_alloc
    handler.array = x
    y[:] = 1
    axpy(drv.InOut(y), handler, a, n, block=(128, 1, 1))
    assert handler.dev_alloc is not small and (y == 1 + 3 * x).all()
    handler.array = x[: n // 2]
    large = handler.dev_alloc
    axpy(drv.InOut(y), handler, a, np.int32(n // 2), block=(128, 1, 1))
    assert handler.dev_alloc is large


def test_a_handler_in_another_context(ctx):
    values = np.full(4, 5, np.int32)
    handler = drv.InOut(values)
    source = "__global__ void f(int *x) { x[threadIdx.x] *= 2; }"
    SourceModule(source).get_function("f")(handler, block=(4, 1, 1))
    other = drv.Device(0).make_context()
    try:
        SourceModule(source).get_function("f")(handler, block=(4, 1, 1))
        assert (values == 20).all()
        handler.dev_alloc = None
    finally:
        other.pop()
        other.detach()


def test_what_a_program_gave_a_handler_is_used(axpy):
    y, x, a, n, expected = axpy_case()
    handler = drv.In(x)
    handler.dev_alloc = given = drv.mem_alloc(2 * x.nbytes)
    axpy(drv.InOut(y), handler, a, n, block=(128, 1, 1))
    assert handler.dev_alloc is given and (y == expected).all()


def test_a_handler_of_ones_own(axpy):
    calls = []

    class Spy(drv.ArgumentHandler):
        def get_device_alloc(self):
            calls.append("alloc")
            if self.dev_alloc is None:
                self.dev_alloc = drv.mem_alloc_like(self.array)
            return self.dev_alloc

        def pre_call(self, stream):
            calls.append(("pre", stream))
            drv.memcpy_htod(self.get_device_alloc(), self.array)

        def post_call(self, stream):
            calls.append(("post", stream))

    class OutSpy(drv.Out):
        def post_call(self, stream):
            calls.append("out")
            super().post_call(stream)

    y, x, a, n, _ = axpy_case()
    axpy(OutSpy(y), Spy(x), a, n, block=(128, 1, 1))
    assert calls == ["alloc", ("pre", None), "alloc", "out", ("post", None)]


def test_objects_with_an_interface(axpy):
    class Array:
        def __init__(self, mem):
            self.__cuda_array_interface__ = {
                "data": (int(mem), False),
                "shape": (100,),
                "typestr": "<f4",
                "version": 3,
            }

    class Holder:
        def __init__(self, mem):
            self.gpudata = mem

    class Pointer(drv.PointerHolderBase):
        def __init__(self, mem):
            super().__init__()
            self.mem = mem

        def get_pointer(self):
            return int(self.mem)

    class PointerWithData(drv.PointerHolderBase):
        def __init__(self, mem):
            super().__init__()
            self.gpudata = int(mem)

    for kind in (Array, Holder, Pointer, PointerWithData):
        y, x, a, n, expected = axpy_case()
        dy, dx = drv.to_device(y), drv.to_device(x)
        axpy(kind(dy), kind(dx), a, n, block=(128, 1, 1))
        assert (drv.from_device_like(dy, y) == expected).all(), kind
    pointers = np.uintp(int(dy)), np.intp(int(dx))
    axpy(*pointers, a, n, block=(128, 1, 1))


VECTORS = {
    "int4": np.dtype([(c, np.int32) for c in "xyzw"]),
    "float4": np.dtype([(c, np.float32) for c in "xyzw"]),
    "float3": np.dtype([(c, np.float32) for c in "xyz"]),
    "double2": np.dtype([(c, np.float64) for c in "xy"]),
    "char2": np.dtype([(c, np.int8) for c in "xy"]),
    "quad": np.dtype([(c, np.float64) for c in "xyzw"]),
    "mixed": np.dtype([("c", "i1"), ("d", "f8"), ("s", "i2")], align=True),
}

VALUES = [
    ("int8", np.int8(-5)),
    ("uint8", np.uint8(250)),
    ("int16", np.int16(-1234)),
    ("uint16", np.uint16(65000)),
    ("int32", np.int32(-123456789)),
    ("uint32", np.uint32(4000000000)),
    ("int64", np.int64(-(1 << 60))),
    ("uint64", np.uint64(1 << 63)),
    ("int64", np.longlong(-7)),
    ("float32", np.float32(1.5)),
    ("float64", np.float64(-2.25)),
    ("bool", np.bool_(True)),
    ("half", np.float16(0.5)),
    ("complex64", np.complex64(1 - 2j)),
    ("int4", np.array((1, -2, 3, -4), VECTORS["int4"])[()]),
    ("float4", np.array((1, -2, 3, -4), VECTORS["float4"])[()]),
    ("float3", np.array((1, -2, 3), VECTORS["float3"])[()]),
    ("double2", np.array((1.5, -2), VECTORS["double2"])[()]),
    ("char2", np.array((1, -2), VECTORS["char2"])[()]),
    ("quad", np.array((1.5, -2, 3, -4), VECTORS["quad"])[()]),
    ("mixed", np.array((1, 2.5, -3), VECTORS["mixed"])[()]),
]


@pytest.mark.parametrize(("name", "value"), VALUES, ids=lambda v: str(v)[:20])
def test_values_arrive_whole(mod, name, value):
    """The value follows a char, so a value that is not aligned arrives wrong."""
    put = mod.get_function(f"put_{name}")
    for argument in (value, np.array(value)):
        out = drv.mem_alloc(64)
        put(out, np.int8(1), argument, block=(1, 1, 1))
        got = drv.from_device(out, 1, value.dtype)[0]
        assert got.tolist() == value.tolist()
    out = drv.mem_alloc(64)
    put(out, np.int8(1), value.tobytes(), block=(1, 1, 1))
    assert drv.from_device(out, 1, value.dtype)[0].tolist() == value.tolist()


#: Not complex64: pycuda::complex<float> is aligned to 4 bytes, float2 to 8.
OF_KNOWN_ALIGNMENT = [value for value in VALUES if value[0] != "complex64"]


@pytest.mark.parametrize(
    ("name", "value"), OF_KNOWN_ALIGNMENT, ids=lambda v: str(v)[:20]
)
def test_values_arrive_whole_from_an_older_driver(mod, fail_calls, name, value):  # noqa: F811
    """Before CUDA 12.4, the driver does not return the offsets of parameters."""
    asked = fail_calls.count("cuFuncGetParamInfo")
    fail_calls("cuFuncGetParamInfo", 1, code=NOT_FOUND)
    put = mod.get_function(f"put_{name}")
    for argument in (value, np.array(value)):
        out = drv.mem_alloc(64)
        put(out, np.int8(1), argument, block=(1, 1, 1))
        got = drv.from_device(out, 1, value.dtype)[0]
        assert got.tolist() == value.tolist()
    assert fail_calls.count("cuFuncGetParamInfo") == asked + 1


def test_values_arrive_whole_without_parameter_information(mod):
    """Prepared formats then use their own layout."""
    out = drv.mem_alloc(64)
    put = mod.get_function("put_double2").prepare("P b 7x 2d")
    put.prepared_call((1, 1), (1, 1, 1), out, 1, 1.5, -2.0)
    assert drv.from_device(out, 2, np.float64).tolist() == [1.5, -2.0]


def test_grid_and_block(mod):
    where = mod.get_function("where")
    for grid, block in [
        ((2, 3, 4), (4, 2, 3)),
        ([2, 3], [24]),
        ((24,), (24, 1, 1)),
        (24, 24),
        (np.array([4, 6]), (np.int64(24), np.uint8(1), 1)),
    ]:
        total = int(np.prod(grid)) * int(np.prod(block))
        out = drv.mem_alloc(4 * total)
        where(out, block=tuple(block) if isinstance(block, tuple) else block, grid=grid)
        per = int(np.prod(block))
        i = np.arange(total)
        got = drv.from_device(out, total, np.int32)
        assert (got == 1000 * (i // per) + i % per).all()


def test_dynamic_shared_memory(mod):
    out = drv.mem_alloc(4)
    f = mod.get_function("shared_sum")
    f(out, block=(64, 1, 1), shared=256)
    assert drv.from_device(out, 1, np.int32)[0] == 64 * 63 // 2
    f.prepare("P").prepared_call((1, 1), (32, 1, 1), out, shared_size=128)
    assert drv.from_device(out, 1, np.int32)[0] == 32 * 31 // 2
    with pytest.raises(drv.LogicError, match="dynamic shared memory"):
        f(out, block=(64, 1, 1), shared=1 << 24)


def test_time_kernel(mod):
    nothing = mod.get_function("nothing")
    start = time.perf_counter()
    seconds = nothing(block=(1, 1, 1), time_kernel=True)
    assert isinstance(seconds, float)
    assert 0 < seconds <= time.perf_counter() - start
    assert nothing(block=(1, 1, 1), time_kernel=True, stream=drv.Stream()) > 0


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        (5, r"argument 3 of axpy is an int.*: pass numpy.int32\(x\)"),
        (5.0, r"argument 3 of axpy is a float.*: pass numpy.int32\(x\)"),
        (True, r"argument 3 of axpy is a bool.*: pass numpy.int32\(x\)"),
        (1j, "argument 3 of axpy is a complex.*: pass a numpy.int32"),
        (None, "argument 3 of axpy is a NoneType.*: pass a numpy.int32"),
        ("5", "argument 3 of axpy is a str"),
        (np.int64(5), "argument 3 of axpy is a numpy.int64 of 8 bytes.*takes 4"),
        (np.float64(5), "3 of axpy is a numpy.float64 of 8 bytes.*takes 4.*int32"),
        (np.longdouble(5), "argument 3 of axpy.*no numpy." + np.longdouble.__name__),
        (b"12345", "argument 3 of axpy is a bytes of 5 bytes.*takes 4"),
    ],
)
def test_a_wrong_argument_is_named(axpy, argument, text):
    y, x, a, _, _ = axpy_case()
    with pytest.raises(TypeError, match=text):
        axpy(drv.In(y), drv.In(x), a, argument, block=(1, 1, 1))


def test_wrong_calls(axpy, strict):
    y, x, a, n, _ = axpy_case()
    dy, dx = drv.to_device(y), drv.to_device(x)
    with pytest.raises(TypeError, match=r"axpy takes 4 arguments \(3 given\)"):
        axpy(dy, dx, a, block=(1, 1, 1))
    with pytest.raises(TypeError, match=r"axpy takes 4 arguments \(5 given\)"):
        axpy(dy, dx, a, n, n, block=(1, 1, 1))
    with pytest.raises(ValueError, match="axpy: block= must be given"):
        axpy(dy, dx, a, n)
    with pytest.raises(ValueError, match=r"args, grid=\(2,\), block=\(32,\)\)"):
        axpy((2,), (32,), (dy, dx, a, n))
    with pytest.raises(ValueError, match="not 'blocks'"):
        axpy(dy, dx, a, n, blocks=(1, 1, 1))
    with pytest.raises(TypeError, match="block must be a tuple"):
        axpy(dy, dx, a, n, block=1.5)
    with pytest.raises(drv.LogicError, match="block has 4 dimensions"):
        axpy(dy, dx, a, n, block=(1, 1, 1, 1))
    with pytest.raises(OverflowError, match="grid is -1"):
        axpy(dy, dx, a, n, block=(1, 1, 1), grid=(-1, 1))
    for wide in (2**32 + 1, 2**40 + 1, 2**64 + 1):  # whose low 32 bits would do
        with pytest.raises(OverflowError, match=f"grid is {wide}"):
            axpy(dy, dx, a, n, block=(1, 1, 1), grid=(wide, 1))
        with pytest.raises(OverflowError, match=f"block is {wide}"):
            axpy(dy, dx, a, n, block=[1, 1, wide])
    with pytest.raises(TypeError, match="stream must be a Stream or None"):
        axpy(dy, dx, a, n, block=(1, 1, 1), stream=0)
    with pytest.raises(TypeError, match=r"texrefs\[0\] must be a TextureReference"):
        axpy(dy, dx, a, n, block=(1, 1, 1), texrefs=[1])
    with pytest.raises(TypeError, match="int. The block is an argument of prepared_c"):
        axpy.prepare("PPfi", (10, 1, 1))
    gaps = np.zeros((4, 4), np.int8)[:, ::2]
    with pytest.raises(ValueError, match="argument 3 of axpy is an array with gaps"):
        axpy(dy, dx, a, gaps, block=(1, 1, 1))


def test_a_launch_in_the_wrong_context_says_so(axpy):
    y, x, a, n, _ = axpy_case()
    stream = drv.Stream()
    other = drv.Device(0).make_context()
    try:
        with pytest.raises(drv.LogicError, match="kernel belongs to another context"):
            axpy(drv.InOut(y), drv.In(x), a, n, block=(128, 1, 1))
        kernel = SourceModule("__global__ void f() {}").get_function("f")
        with pytest.raises(
            drv.LogicError, match="stream belong to the current context"
        ):
            kernel(block=(1, 1, 1), stream=stream)
        kernel(block=(1, 1, 1))
    finally:
        other.pop()
        other.detach()


def test_an_interface_without_data_is_named(axpy):
    class Empty:
        __cuda_array_interface__ = {"data": None, "shape": (1,), "version": 3}  # noqa: RUF012

    y, _, a, n, _ = axpy_case()
    with pytest.raises(TypeError, match=r"argument 1 of axpy: .*\['data'\] must be"):
        axpy(drv.InOut(y), Empty(), a, n, block=(128, 1, 1))


def test_sizes_beyond_the_device(axpy):
    y, x, a, n, _ = axpy_case()
    arguments = drv.to_device(y), drv.to_device(x), a, n
    device = drv.Context.get_device()
    threads = device.max_threads_per_block
    with pytest.raises(drv.LogicError) as caught:
        axpy(*arguments, block=(threads, 2, 1))
    assert caught.value.routine == "cuFuncSetBlockShape"
    assert f"({threads}, 2, 1) of axpy" in str(caught.value)
    with pytest.raises(drv.LogicError, match="block .* z must be 1 to"):
        axpy(*arguments, block=(1, 1, device.max_block_dim_z + 1))
    with pytest.raises(drv.LogicError, match="block .* x must be 1 to"):
        axpy(*arguments, block=(0, 1, 1))
    with pytest.raises(drv.LogicError, match="grid .* y must be 1 to"):
        axpy(*arguments, block=(1, 1, 1), grid=(1, device.max_grid_dim_y + 1))


def test_prepared_calls(axpy):
    y, x, _, n, expected = axpy_case()
    assert axpy.prepare("PPfi") is axpy
    assert axpy.arg_format == "PPfi" and axpy.texrefs == []
    dy, dx = drv.to_device(y), drv.to_device(x)
    axpy.prepared_call((2, 1), (64, 1, 1), dy, dx, 3.0, 100)
    assert (drv.from_device_like(dy, y) == expected).all()
    stream = drv.Stream()
    axpy.prepared_async_call((2, 1), (64, 1, 1), stream, int(dy), dx, np.float32(3), n)
    stream.synchronize()
    axpy.prepared_async_call((2, 1), (64, 1, 1), None, dy, dx, 3, np.array(100))
    timer = axpy.prepared_timed_call((2, 1), (64, 1, 1), dy, dx, 3.0, 100)
    assert 0 < timer() < 10
    assert (drv.from_device_like(dy, y) == 1 + 12 * x).all()


@pytest.mark.parametrize(
    ("types", "text"),
    [
        ([np.intp, np.intp, np.float32, np.int32], "llfi"),
        ([None, int, np.float32, np.dtype(np.int32)], "PPfi"),
        (["P", "P", "f", "i"], "PPfi"),
        ("2P f i", "2P f i"),
        ([None, None, np.float32, None], "PPfP"),
    ],
)
def test_what_prepare_takes(axpy, types, text):
    y, x, _, _, expected = axpy_case()
    axpy.prepare(types)
    assert axpy.arg_format == text
    dy, dx = drv.to_device(y), drv.to_device(x)
    axpy.prepared_call((1, 1), (128, 1, 1), dy, dx, 3.0, 100)
    assert (drv.from_device_like(dy, y) == expected).all()


def test_prepared_structures(mod):
    out = drv.mem_alloc(64)
    for name in ("float4", "mixed", "int4"):
        dtype = VECTORS[name]
        value = np.array(tuple(range(1, len(dtype) + 1)), dtype)
        put = mod.get_function(f"put_{name}").prepare([np.intp, np.int8, dtype])
        assert put.arg_format == f"lb{dtype.itemsize}s"
        put.prepared_call((1, 1), (1, 1, 1), out, 1, value)
        assert drv.from_device(out, 1, dtype)[0] == value


def test_wrong_prepared_calls(axpy, mod, strict):
    y, x, _, _, _ = axpy_case()
    dy, dx = drv.to_device(y), drv.to_device(x)
    with pytest.raises(AttributeError, match="call prepare"):
        axpy.prepared_call((1, 1), (1, 1, 1))
    with pytest.raises(AttributeError):
        axpy.arg_format  # noqa: B018
    axpy.prepare("PPfi")
    for arguments in [(dy, dx, 1.0), (dy, dx, 1.0, 1, 1)]:
        with pytest.raises(_pvt_struct.error, match="prepared for 4 arguments"):
            axpy.prepared_call((1, 1), (1, 1, 1), *arguments)
    for bad, where in [
        ((dy, dx, 1.0, 1.5), "argument 3"),
        ((dy, dx, 1.0, 1 << 31), "argument 3"),
        ((dy, dx, "1", 1), "argument 2"),
        ((1.5, dx, 1.0, 1), "argument 0"),
    ]:
        with pytest.raises(_pvt_struct.error, match=where):
            axpy.prepared_call((1, 1), (1, 1, 1), *bad)
    with pytest.raises(TypeError, match="unexpected keyword argument 'stream'"):
        axpy.prepared_call((1, 1), (1, 1, 1), dy, dx, 1.0, 1, stream=None)
    with pytest.raises(TypeError, match="argument 2 of axpy is 'd' of 8 bytes"):
        axpy.prepare("PPdi")
    with pytest.raises(TypeError, match="3 arguments of 20 bytes, but axpy takes 4"):
        axpy.prepare("PPf")
    with pytest.raises(ValueError, match="bad argument format"):
        axpy.prepare("PPf$")


def test_a_parameter_wider_than_its_format(mod):
    out = drv.mem_alloc(8)
    f = mod.get_function("long_one").prepare("PiP")
    f.prepared_call((1, 1), (1, 1, 1), out, -5, 3)
    assert drv.from_device(out, 1, np.int64)[0] == -2


def test_the_calls_of_cuda_3(axpy, strict):
    y, x, a, n, expected = axpy_case()
    dy, dx = drv.to_device(y), drv.to_device(x)
    axpy.set_block_shape(128, 1, 1)
    axpy.set_shared_size(0)
    with pytest.raises(
        TypeError, match="axpy takes 24 bytes of parameters, 0 were given"
    ):
        axpy.launch()
    axpy.param_set(dy, dx, a, n)
    axpy.launch()
    assert (drv.from_device_like(dy, y) == expected).all()
    axpy.param_set_size(24)
    axpy.param_setv(0, struct.pack("PP", int(dy), int(dx)))
    axpy.param_setf(16, 3.0)
    axpy.param_seti(20, 100)
    axpy.launch_grid(1, 1)
    axpy._launch_grid_async(1, 1, drv.Stream())
    drv.Context.synchronize()
    block = struct.pack("PPfi", int(dy), int(dx), 3.0, 100)
    axpy._launch_kernel((1, 1, 1), (128, 1, 1), block, 0, None)
    assert (drv.from_device_like(dy, y) == 1 + 12 * x).all()
    with pytest.raises(drv.LogicError, match="cuFuncSetBlockShape"):
        axpy.set_block_shape(1 << 20, 1, 1)


def test_a_wrong_call_of_cuda_3_changes_nothing(axpy):
    y, x, a, n, expected = axpy_case()
    dy, dx = drv.to_device(y), drv.to_device(x)
    axpy.set_block_shape(128, 1, 1)
    axpy.param_set(dy, dx, a, n)
    with pytest.raises(OverflowError, match="bytes is -1"):
        axpy.set_shared_size(-1)
    with pytest.raises(ValueError, match=f"bytes is {2**40}; .* at most 32764"):
        axpy.param_set_size(2**40)
    with pytest.raises(ValueError, match="4 bytes at offset 32764: .* at most 32764"):
        axpy.param_seti(32764, 1)
    with pytest.raises(TypeError, match=r"param_set\(\) of axpy .* argument handler"):
        axpy.param_set(drv.InOut(y), dx, a, n)
    axpy.launch()
    assert (drv.from_device_like(dy, y) == expected).all()


def test_attributes_of_a_function(axpy):
    assert axpy.num_regs > 0 and axpy.max_threads_per_block >= 64
    attribute = drv.function_attribute
    for name in ("shared_size_bytes", "const_size_bytes", "local_size_bytes"):
        assert getattr(axpy, name) == axpy.get_attribute(
            getattr(attribute, name.upper())
        )
    assert not hasattr(axpy, "max") and not hasattr(axpy, "nonsense")
    with pytest.raises(drv.LogicError):
        axpy.get_attribute(attribute.MAX)
    axpy.set_attribute(attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024)
    assert axpy.max_dynamic_shared_size_bytes == 1024
    axpy.set_cache_config(drv.func_cache.PREFER_L1)
    axpy.set_shared_config(drv.shared_config.DEFAULT_BANK_SIZE)
    axpy.note = "kept"
    assert axpy.note == "kept" and axpy.name == "axpy"


def test_modules(ctx, mod, tmp_path):
    with pytest.raises(drv.LogicError, match="the module has no 'missing'"):
        mod.get_function("missing")
    with pytest.raises(TypeError, match="name must be a str"):
        mod.module.get_function(b"axpy")
    with pytest.raises(TypeError, match="bytes, not str"):
        drv.module_from_buffer("text")
    half = "\ud800"
    linker, ptx = drv.Linker(), drv.jit_input_type.PTX
    for name, call in [
        ("name", lambda: mod.get_function(half)),
        ("name", lambda: mod.get_global(half)),
        ("name", lambda: linker.add_data(b"", ptx, half)),
        ("filename", lambda: linker.add_file(half, ptx)),
        ("filename", lambda: drv.module_from_file(half)),
        ("the format", lambda: mod.get_function("nothing").prepare(half)),
        ("the PCI bus id", lambda: drv.Device(half)),
    ]:
        with pytest.raises(ValueError, match=f"^{name} has one half of a surrogate"):
            call()
    with pytest.raises(drv.RuntimeError, match="cuModuleLoad failed"):
        drv.module_from_file("\udcff")  # a byte that os.fsdecode could not decode
    with pytest.raises(drv.RuntimeError) as caught:
        drv.module_from_file(str(tmp_path / "missing.cubin"))
    assert caught.value.name == "CUDA_ERROR_FILE_NOT_FOUND"
    assert "missing.cubin" in str(caught.value)
    with pytest.raises(drv.Error, match=re.escape(str(tmp_path))) as caught:
        drv.module_from_file(tmp_path)
    assert not isinstance(caught.value, MemoryError)
    with pytest.raises(drv.Error):
        drv.module_from_buffer(b"no code at all")


PTX = b"""
.version 6.5
.target sm_75
.address_size 64
.visible .global .align 4 .b32 counter = 41;
.visible .entry bump(.param .u64 p)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.u32 %r1, [%rd2];
    add.s32 %r2, %r1, 1;
    st.global.u32 [%rd2], %r2;
    ret;
}
"""


def test_ptx_text(ctx, tmp_path):
    said = []
    options = [(drv.jit_option.MAX_REGISTERS, 32)]
    for source in (PTX, bytearray(PTX), memoryview(PTX)):
        module = drv.module_from_buffer(source, options, lambda *a: said.append(a))
    assert [s[0] for s in said] == [True] * 3
    assert all(isinstance(t, str) for s in said for t in s[1:])
    pointer, size = module.get_global("counter")
    assert size == 4 and drv.from_device(pointer, 1, np.int32)[0] == 41
    bump = module.get_function("bump")
    del module
    bump(np.uintp(pointer), block=(1, 1, 1))
    assert drv.from_device(pointer, 1, np.int32)[0] == 42
    path = tmp_path / "bump.ptx"
    path.write_bytes(PTX)
    with pytest.raises(drv.LogicError, match="has no 'nothing'"):
        drv.module_from_file(path).get_global("nothing")


def test_bad_ptx_shows_the_compilers_words(ctx):
    said = []
    bad = PTX.replace(b"add.s32", b"frobnicate.s32")
    with pytest.raises(drv.Error, match="frobnicate") as caught:
        drv.module_from_buffer(bad, message_handler=lambda *a: said.append(a))
    assert caught.value.name == "CUDA_ERROR_INVALID_PTX"
    assert said[0][0] is False and "frobnicate" in said[0][2]
    with pytest.raises(TypeError, match="pairs"):
        drv.module_from_buffer(PTX, options=[5])
    with pytest.raises(KeyError):
        drv.module_from_buffer(PTX, message_handler=lambda *a: {}["mine"])


def test_a_function_outlives_its_module_and_context_objects(mod):
    nothing = mod.get_function("nothing")
    del mod
    nothing(block=(1, 1, 1))


def test_a_function_after_its_context_is_gone():
    context = drv.Device(0).make_context()
    module = SourceModule(SOURCE)
    nothing, axpy = module.get_function("nothing"), module.get_function("axpy")
    nothing(block=(1, 1, 1))
    context.detach()
    for call in (
        lambda: nothing(block=(1, 1, 1)),
        lambda: axpy(block=(1, 1, 1)),
        lambda: axpy.prepare("PPfi"),
        lambda: axpy.num_regs,
        lambda: module.get_function("nothing"),
        lambda: module.get_global("x"),
    ):
        with pytest.raises(drv.LogicError, match="context of this .* was detached"):
            call()


def test_more_threads_than_the_launch_bounds(ctx):
    code = SourceModule("__global__ void __launch_bounds__(64) bounded() { }")
    bounded = code.get_function("bounded")
    bounded(block=(64, 1, 1))
    with pytest.raises(drv.LogicError, match="invalid argument"):
        bounded(block=(65, 1, 1))
    bounded(block=(32, 2, 1))
    ctx.synchronize()


# -- what errors say of the parameter --------------------------------------------------

DECLARED = """
struct pair { int a, b; };
__global__ void declared(const float *x, int n, pair p, float w[4], void *any) {}
"""


@pytest.fixture
def declared(ctx):
    return SourceModule(DECLARED).get_function("declared")


def declared_arguments(place, value):
    pointer = np.uintp(0)
    pair = np.zeros((), [("a", np.int32), ("b", np.int32)])
    arguments = [pointer, np.int32(1), pair, pointer, pointer]
    arguments[place] = value
    return arguments


@pytest.mark.parametrize(
    ("place", "declaration"),
    [(0, "const float *x"), (3, "float w[4]"), (4, "void *any")],
)
@pytest.mark.parametrize(
    "array",
    [
        np.zeros(10, np.float32),
        np.zeros(2, np.float32),  # has the size of an address
        np.zeros(1),
        np.zeros(20, np.float32)[::2],
        np.zeros(3, [("a", np.int32), ("b", np.int32)]),
    ],
    ids=["10 floats", "2 floats", "a double", "with gaps", "structures"],
)
def test_an_array_of_the_host_is_no_pointer(
    declared, place, declaration, array, strict
):
    with pytest.raises(TypeError) as caught:
        declared(*declared_arguments(place, array), block=(1, 1, 1))
    text = str(caught.value)
    assert text.startswith(f"argument {place} of declared is a numpy.ndarray of ")
    assert f"parameter {place} ({declaration}) of 'declared' is a pointer" in text
    for way in ("pycuda.driver.In", "Out", "InOut", "pycuda.gpuarray.to_gpu()"):
        assert way in text


def test_page_locked_memory_has_an_address_for_kernels(declared):
    array = drv.pagelocked_zeros(10, np.float32)
    way = "numpy.uintp(array.base.get_device_pointer())"
    for other in (array[1:], np.zeros(10, np.float32)):  # not at the address of a base
        with pytest.raises(TypeError) as caught:
            declared(*declared_arguments(0, other), block=(1, 1, 1))
        assert way not in str(caught.value)
    with pytest.raises(TypeError) as caught:
        declared(*declared_arguments(0, array), block=(1, 1, 1))
    assert way in str(caught.value)
    with pytest.raises(TypeError, match=r"pass its address, numpy.uintp\(x.get_dev"):
        declared(*declared_arguments(0, array.base), block=(1, 1, 1))
    address = np.uintp(array.base.get_device_pointer())
    declared(*declared_arguments(0, address), block=(1, 1, 1))
    drv.Context.synchronize()


def test_an_array_of_the_host_without_a_declaration(ctx):
    ptx = compile(DECLARED, target="ptx")  # has the sizes of the parameters only
    function = drv.module_from_buffer(ptx).get_function("declared")
    with pytest.raises(TypeError, match=r"If the parameter is a pointer, .*InOut"):
        arguments = declared_arguments(0, np.zeros(10, np.float32))
        function(*arguments, block=(1, 1, 1))
    # two floats may be meant for a parameter that is a number of 64 bits
    function(*declared_arguments(0, np.zeros(2, np.float32)), block=(1, 1, 1))


@pytest.mark.parametrize(
    "value",
    [
        np.array(0),
        np.zeros(1, np.uint64),
        np.zeros((), [("address", np.uint64)]),
    ],
    ids=["int64", "uint64", "structure"],
)
def test_an_address_in_an_array_is_a_pointer(declared, value):
    declared(*declared_arguments(0, value), block=(1, 1, 1))


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (1, 5.0, r"fixed size.*parameter 1 \(int n\) of 'declared'"),
        (1, np.float64(1), r"takes 4\..*parameter 1 \(int n\) of 'declared'"),
        (1, np.zeros(3, np.int32), r"takes 4\..*parameter 1 \(int n\) of 'declared'"),
        (2, np.int32(1), r"takes 8\..*parameter 2 \(pair p\) of 'declared'"),
        (2, "pair", r"parameter 2 \(pair p\) of 'declared'"),
        (2, (1, 2), r"\(pair p\).*: pass an element .*numpy.array\(value, dtype\)"),
        (1, np.longdouble(1), r"has no.*parameter 1 \(int n\) of 'declared'"),
        (0, [1], r"0 \(const float \*x\) .*driver.In.numpy.array.x, numpy.float"),
        (0, None, r"parameter 0 .*: pass numpy.uintp\(0\) for a null pointer"),
        (0, 5, r"parameter 0 .*: pass device memory, or numpy.uintp\(x\) if"),
        (0, "x", "parameter 0 .*: pass device memory, such as a GPUArray"),
    ],
)
def test_errors_name_the_parameter(declared, place, value, words):
    with pytest.raises(TypeError, match=f"argument {place} of declared.*{words}"):
        declared(*declared_arguments(place, value), block=(1, 1, 1))


PADDED = """
struct padded { char kind; double value; };
__global__ void value_of(padded p, double *out) { *out = p.value; }
"""
PACKED = np.dtype([("kind", np.int8), ("value", np.float64)])
ALIGNED = np.dtype(PACKED.descr, align=True)


@pytest.fixture
def value_of(ctx):
    return SourceModule(PADDED).get_function("value_of")


def test_a_structure_needs_the_padding_between_its_fields(value_of, strict):
    out = drv.managed_zeros(1, np.float64)
    value_of(np.array((1, 2.5), ALIGNED)[()], out, block=(1, 1, 1))
    drv.Context.synchronize()
    assert out[0] == 2.5
    words = "9 bytes, .* takes 16.* with align=True .* in 16 bytes"
    for packed in (np.array((1, 2.5), PACKED), np.array((1, 2.5), PACKED)[()]):
        with pytest.raises(TypeError, match=words):
            value_of(packed, out, block=(1, 1, 1))


def test_a_structure_may_lack_the_padding_at_its_end(ctx, strict):
    source = PADDED.replace("char kind; double value", "double value; char kind")
    function = SourceModule(source).get_function("value_of")
    out = drv.managed_zeros(1, np.float64)
    value = np.array((2.5, 1), [("value", np.float64), ("kind", np.int8)])
    function(value, out, block=(1, 1, 1))
    drv.Context.synchronize()
    assert out[0] == 2.5


@pytest.mark.parametrize(
    ("wrap", "step"),
    [(drv.In, r"x\[0\]"), (gpuarray.to_gpu, r"x\.get\(\)\[0\]")],
    ids=["In", "GPUArray"],
)
def test_a_structure_is_no_pointer(value_of, wrap, step):
    words = f"padded p.*, a value and no pointer: pass an element .* {step}$"
    with pytest.raises(TypeError, match=words):
        value_of(wrap(np.zeros(1, ALIGNED)), np.uintp(0), block=(1, 1, 1))


def test_a_tuple_is_no_structure_of_a_prepared_call(value_of):
    value_of.prepare([ALIGNED, "P"])
    with pytest.raises(_pvt_struct.error, match=r"numpy.array\(value, dtype\)\[\(\)\]"):
        value_of.prepared_call((1, 1), (1, 1, 1), (1, 2.5), 0)


@pytest.mark.parametrize("wrap", [drv.In, drv.Out, drv.InOut, lambda array: array])
def test_no_kernel_can_use_python_objects(declared, wrap):
    objects = wrap(np.array([None, 1]))
    words = r"Python objects \(dtype\('O'\)\).*astype"
    with pytest.raises(TypeError, match=words):
        declared(*declared_arguments(4, objects), block=(1, 1, 1))


@pytest.mark.parametrize(
    "texts",
    [
        np.array([b"abc", b"d"]),
        np.array(["abc", "d"]),
        np.zeros(3, [("text", "S4"), ("n", np.int32)]),
    ],
    ids=["bytes", "str", "field"],
)
def test_kernels_can_use_texts_of_a_fixed_size(declared, texts):
    declared(*declared_arguments(4, drv.In(texts)), block=(1, 1, 1))
