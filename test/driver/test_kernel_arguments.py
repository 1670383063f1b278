"""Arguments of a program's kernels: dtypes, sizes, comparisons, names."""

import warnings

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray, reduction, tools
from pycuda._array.kernels import kernel_arguments
from pycuda.elementwise import ElementwiseKernel, get_elwise_module
from pycuda.gpuarray import GPUArray, to_gpu, vec
from pycuda.reduction import ReductionKernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel
from pycuda.tools import ScalarArg, VectorArg

pytestmark = [pytest.mark.gpu, pytest.mark.module_context]


def ones(size, dtype=np.float32):
    return gpuarray.ones(size, dtype)


COPY = ("float *x, float *y", "y[i] = x[i]")


# -- dtypes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", ["int32", "uint32", "float64", "float16", "complex64", "int8"]
)
def test_another_dtype_is_an_error(dtype, strict):
    kernel = ElementwiseKernel(*COPY)
    x = gpuarray.zeros(5, dtype)
    for args, number, name in (((x, ones(5)), 0, "x"), ((ones(5), x), 1, "y")):
        with pytest.raises(
            TypeError,
            match=rf"argument {number} \({name}\) is an array of {dtype} with 5 "
            r"elements, but the kernel reads float: .*astype\(np\.float32\)",
        ):
            kernel(*args)
    kernel(x.astype(np.float32), ones(5))
    total = ReductionKernel(np.float32, "0", "a + b", "x[i]", "float f, float *x")
    with pytest.raises(TypeError, match=rf"argument 1 \(x\) is an array of {dtype}"):
        total(1, x)
    for kind in (InclusiveScanKernel, ExclusiveScanKernel):
        with pytest.raises(ValueError, match=rf"input_ary is an array of {dtype}"):
            kind(np.float32, "a + b", 0)(x)


def test_the_hint_fits(strict):
    kernel = ElementwiseKernel("float4 *x, double *y, bool *z", "x[0].x = 1")
    four, double, truth = zeros = (
        gpuarray.zeros(4, vec.float4),
        gpuarray.zeros(4, np.float64),
        gpuarray.zeros(4, bool),
    )
    kernel(*zeros)
    with pytest.raises(TypeError, match=r"reads float4: pass an array of dtype"):
        kernel(double, double, truth)
    with pytest.raises(TypeError, match=r"int64.*\.view\(np\.float64\)"):
        kernel(four, double.astype(np.int64), truth)
    with pytest.raises(TypeError, match=r"float32.*\.astype\(bool\)"):
        kernel(four, double, double.astype(np.float32))


SAME = [
    ("int *x", "uint32"),
    ("unsigned int *x", "int32"),
    ("long *x", "uint64"),
    ("unsigned long *x", "int64"),
    ("unsigned short *x", "int16"),
    ("unsigned short *x", "float16"),
    ("long *x", "datetime64[s]"),
    ("bool *x", "uint8"),
    ("char *x", "bool"),
    ("float2 *x", "complex64"),
    ("pycuda::complex<double> *x", vec.double2),
    ("uint4 *x", vec.int4),
    ("char *x", "float64"),
    ("unsigned char *x", vec.float4),
]


@pytest.mark.parametrize(("declared", "dtype"), SAME, ids=str)
def test_other_names_of_a_type(declared, dtype):
    host = np.frombuffer(bytes(range(96)), np.uint8)
    x = to_gpu(np.zeros(4, dtype))
    x.view(np.uint8)[:] = to_gpu(host[: x.nbytes].copy())
    before = x.view(np.uint8).get()
    ElementwiseKernel(declared, "x[i] = x[i]")(x)
    np.testing.assert_array_equal(x.view(np.uint8).get(), before)


def test_memory_of_anything(strict):
    # A pointer to bytes accepts any array, and any pointer accepts an array of bytes.
    bytes_of = ElementwiseKernel(
        "unsigned char *out, unsigned char *x", "out[i] = x[4 * i + 3]"
    )
    x, out = to_gpu(np.array([-1, 1, -2], np.float32)), GPUArray(3, np.uint8)
    bytes_of(out, x)
    assert out.get().tolist() == [0xBF, 0x3F, 0xC0]
    kernel = ElementwiseKernel(*COPY)
    room, y = to_gpu(np.arange(5, dtype=np.float32)).view(np.uint8), ones(5)
    kernel(y, room)
    assert room.view(np.float32).get().tolist() == [1] * 5
    with pytest.raises(TypeError, match=r"argument 1 \(y\) is an array of uint8"):
        kernel(ones(6), room)
    # The package does not check the contents of a struct.
    four = gpuarray.zeros(3, vec.float4)
    ElementwiseKernel("float *s, float4 *x, float *y", "x[i].w = y[4 * i]")(
        ones(3), four, ones((3, 4))
    )
    assert four.get()["w"].tolist() == [1, 1, 1]


def test_structs_of_one_size(strict):
    pair = np.dtype([("number", np.int32), ("weight", np.float32)])
    tools.get_or_register_dtype("argument_pair", pair)
    kernel = ElementwiseKernel(
        "argument_pair *x",
        "x[i].number += 1",
        preamble="struct argument_pair { int number; float weight; };",
    )
    for dtype in (pair, [("c", np.int32), ("d", np.float32)], "V8"):
        x = to_gpu(np.zeros(3, dtype))
        kernel(x)
        assert x.view(np.int32).get().tolist() == [1, 0] * 3
    with pytest.raises(TypeError, match="float64"):
        kernel(gpuarray.zeros(3, np.float64))


def test_integers_of_either_sign(strict):
    for dtype in (np.int32, np.uint32):
        x = gpuarray.arange(6, dtype=dtype)
        for kernel in (np.int32, np.uint32):
            scan = InclusiveScanKernel(kernel, "a + b")
            result = scan(x, GPUArray(6, dtype))
            assert result.dtype == dtype
            assert result.get().tolist() == [0, 1, 3, 6, 10, 15]
            assert scan(x[::2], "new").get().tolist() == [0, 2, 6]
            target = gpuarray.zeros(12, dtype)
            scan(x, target[::2])
            assert target.get()[::2].tolist() == [0, 1, 3, 6, 10, 15]
        largest = ReductionKernel(np.int32, "0", "max(a, b)", "x[i]", "int *x")
        assert largest(x).get() == 5
    with pytest.raises(ValueError, match="int64"):
        InclusiveScanKernel(np.int32, "a + b")(gpuarray.zeros(4, np.int64))
    with pytest.raises(ValueError, match="uint8"):
        InclusiveScanKernel(np.int32, "a + b")(gpuarray.zeros(16, np.uint8))


# -- sizes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operation",
    [
        "if (use) x[i] += y[i]",
        "x[i] += use ? y[i] : 0",
        "x[i] += use && y[i] > 0",
        "if (use > 0 && x[i] > 0) { x[i] += y[i]; }",
        "if (SWITCH) x[i] += y[i]",
        "\n#if SWITCH\nx[i] += y[i];\n#endif\n",
    ],
)
def test_an_array_that_is_switched_off_may_be_short(operation):
    kernel = ElementwiseKernel(
        "float *x, int use, float *y", operation, options=["-DSWITCH=0"]
    )
    x = ones(8)
    kernel(x, 0, ones(1))
    assert x.get().tolist() == [1] * 8


@pytest.mark.parametrize(
    "operation",
    ["x[i] += x[i] > 0 ? y[i] : 0", "if (x[i] > 0) x[i] = y[i]", "x[i] = y[i] && use"],
)
def test_an_array_that_is_chosen_by_elements_must_be_long(operation, strict):
    kernel = ElementwiseKernel("float *x, int use, float *y", operation)
    with pytest.raises(ValueError, match="1 elements"):
        kernel(ones(8), 0, ones(1))


def test_too_few_elements(strict):
    kernel = ElementwiseKernel(*COPY)
    with pytest.raises(
        ValueError,
        match=r"argument 1 \(y\) is an array of float32 with 9 elements, but the "
        r"kernel uses float elements 0 to 9 of it: .* 10 elements",
    ):
        kernel(ones(10), ones(9))
    y = gpuarray.zeros(12, np.float32)
    kernel(ones(10), y)
    assert y.get().tolist() == [1] * 10 + [0] * 2
    product = ReductionKernel(
        np.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y"
    )
    with pytest.raises(ValueError, match=r"argument 1 \(y\).*9 elements"):
        product(ones(10), ones(9))
    assert product(ones(10), ones(11)).get() == 10
    four = ElementwiseKernel("float4 *x", "x[i].x = 1")
    with pytest.raises(ValueError, match=r"argument 0 \(x\).*float4 elements 0 to 7"):
        four(ones(8))


def test_ranges_and_slices_end_within(strict):
    kernel = ElementwiseKernel(*COPY)
    x = ones(10)
    for y, where in ((9, slice(0, 9)), (10, slice(None)), (5, slice(4, None, -1))):
        kernel(x, gpuarray.zeros(y, np.float32), slice=where)
    for y, where in ((9, slice(None)), (4, slice(4, None, -1)), (7, slice(1, 10, 3))):
        if y == 7:
            kernel(x, gpuarray.zeros(8, np.float32), slice=where)
        with pytest.raises(ValueError, match=r"argument 1 \(y\)"):
            kernel(x, gpuarray.zeros(y, np.float32), slice=where)
    with pytest.raises(ValueError, match=r"argument 0 \(x\).*0 to 19"):
        kernel(x, ones(20), range=slice(0, 20, 1))
    with pytest.raises(ValueError, match=r"argument 0 \(x\).*-1 to 9"):
        kernel(x, ones(20), range=slice(9, -2, -1))
    kernel(x, x, range=slice(9, -1, -1))
    kernel(x, x, range=slice(5, 5, 1))


# -- elements that the driver gave in addition -----------------------------------------


def quiet(call, *args, **kwargs):
    """Make a call that must not warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(*args, **kwargs)


@pytest.mark.parametrize("size", [2, 10, 128, 1000, 2**19 + 2])
def test_differences_of_neighbours_run(size):
    diff = ElementwiseKernel("float *a, float *b", "b[i] = a[i + 1] - a[i]")
    a = gpuarray.arange(0, 3 * size, 3, dtype=np.float32)
    b = gpuarray.zeros(size - 1, np.float32)
    with pytest.warns(
        drv.PyCUDAWarning,
        match=rf"argument 1 \(b\) .* {size - 1} elements.* 0 to {size - 1} of .*STRICT",
    ):
        diff(a, b)
    assert (b.get() == 3).all()


def test_integrals_by_neighbours_run():
    area = ElementwiseKernel(
        "double *x, double *y, double *z",
        "z[i] = (x[i + 1] - x[i]) * (y[i + 1] + y[i]) / 2",
    )
    x = np.linspace(0, 1, 64)
    z = gpuarray.zeros(63, np.float64)
    with pytest.warns(drv.PyCUDAWarning, match=r"argument 2 \(z\)"):
        area(to_gpu(x), to_gpu(x**2), z)
    wanted = np.diff(x) * (x[1:] ** 2 + x[:-1] ** 2) / 2
    assert np.allclose(z.get(), wanted)
    with pytest.warns(drv.PyCUDAWarning, match=r"argument 1 \(y\)"):
        total = ReductionKernel(
            np.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y"
        )(ones(10), ones(10)[:9])
    assert total.get() == 10


def test_a_line_warns_once_of_a_kernel():
    kernel, other = (ElementwiseKernel(*COPY) for _ in range(2))
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        for size in (9, 8, 7):
            kernel(ones(10), ones(size))
        assert len(shown) == 1
        assert shown[0].filename == __file__
        kernel(ones(10), ones(9))  # another line
        assert len(shown) == 2
        other(ones(10), ones(9))  # another kernel
        assert len(shown) == 3
    with pytest.warns(drv.PyCUDAWarning):  # filters that show all are obeyed
        for _ in range(2):
            kernel(ones(10), ones(9))


def test_no_more_than_the_driver_gave():
    kernel = ElementwiseKernel(*COPY)
    full = ones(128)  # 512 bytes: the next allocation may follow
    with pytest.raises(ValueError, match="128 elements.* 0 to 128 of it"):
        kernel(ones(129), full)
    with pytest.raises(ValueError, match="9 elements.* 0 to 128 of it"):
        kernel(ones(129), ones(9))
    with pytest.warns(drv.PyCUDAWarning):
        kernel(ones(128), ones(9))
    with pytest.raises(ValueError, match="0 to 524288 of it"):
        kernel(ones(2**19 + 1), ones(2**19))  # 2 MiB


def test_a_view_may_use_its_base():
    kernel = ElementwiseKernel(*COPY)
    base = gpuarray.zeros(200, np.float32)
    with pytest.warns(drv.PyCUDAWarning, match=r"argument 1 \(y\)"):
        kernel(ones(50), base[100:140])
    assert base.get().tolist() == [0] * 100 + [1] * 50 + [0] * 50
    with pytest.warns(drv.PyCUDAWarning, match=r"-5 to 9"):
        kernel(base[100:110], base[20:30], range=slice(9, -6, -1))
    assert base.get()[15:30].tolist() == [0] * 5 + [1] * 10
    with pytest.raises(ValueError, match=r"-5 to 9"):
        kernel(base[:10], base[20:30], range=slice(9, -6, -1))
    with pytest.raises(ValueError, match="0 to 119 of it"):  # the base has 1,024 bytes
        kernel(ones(120), base[148:])


def test_a_block_of_a_pool_may_be_used():
    pool = tools.DeviceMemoryPool()
    kernel = ElementwiseKernel(*COPY)
    x = gpuarray.zeros(1100, np.float32, pool.allocate)  # of a block of 4,608 bytes
    with pytest.warns(drv.PyCUDAWarning, match=r"argument 1 \(y\)"):
        kernel(ones(1150), x)
    quiet(kernel, ones(1100), x)


def test_strict_programs_get_an_error(strict):
    with pytest.raises(ValueError, match="9 elements"):
        ElementwiseKernel(*COPY)(ones(10), ones(9))


def test_copies_have_their_own_elements_only():
    kernel = ElementwiseKernel("float *y, float *x", "y[i] = x[i]")
    with pytest.raises(RuntimeError, match="x has gaps, and its shape"):
        kernel(ones(10), ones(18)[::2])  # would be copied


@pytest.mark.parametrize(
    "x",
    [
        lambda: gpuarray.ones(9, bool),  # is converted
        lambda: ones(9) > 0,
        lambda: Foreign(ones(9), dtype=np.float32, size=9),
        lambda: Plain(9, np.float32).fill(1),
    ],
    ids=["bool", "comparison", "foreign", "subclass"],
)
def test_other_arrays_may_be_short_too(x):
    kernel, y = ElementwiseKernel("float *y, float *x", "y[i] = x[i]"), ones(10) - 1
    x = x()
    with pytest.warns(drv.PyCUDAWarning, match="9 elements"):
        kernel(y, x)
    assert y.get()[:9].tolist() == [1] * 9
    with pytest.raises(ValueError, match="9 elements"):
        kernel(ones(129), x)


# -- another context ------------------------------------------------------------------


CALLS = {
    "elementwise": lambda x: ElementwiseKernel("float *x", "x[i] = 1")(x),
    "second": lambda x: ElementwiseKernel(*COPY)(ones(x.size), x),
    "reduction": lambda x: ReductionKernel(
        np.float32, "0", "a + b", "x[i]", "float *x"
    )(x),
    "scan": lambda x: InclusiveScanKernel(np.float32, "a + b")(x),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("part", [slice(None), slice(2, 6)], ids=["whole", "view"])
def test_an_array_of_another_context_is_noticed(call, part, strict):
    theirs = ones(10)
    views = {"array": theirs, "view": theirs[part]}
    other = drv.Device(0).make_context()
    try:
        for x in views.values():
            for _ in range(2):  # the second call runs without Python code
                with pytest.raises(drv.LogicError, match="belongs to another context"):
                    CALLS[call](x)
    finally:
        other.pop()
        other.detach()
    assert theirs.get().tolist() == [1] * 10


def test_a_kernel_that_is_kept_notices_another_context(strict):
    kernel = ElementwiseKernel(*COPY)
    theirs = ones(10)
    other = drv.Device(0).make_context()
    try:
        x, y = ones(4), gpuarray.zeros(4, np.float32)
        for _ in range(3):
            kernel(x, y)
        for wrong in (theirs[2:6], theirs):
            for arguments in ((wrong, y), (x, wrong)):
                with pytest.raises(drv.LogicError, match="belongs to another context"):
                    kernel(*arguments)
        del x, y, wrong, arguments
    finally:
        other.pop()
        other.detach()


# -- bytes of another dtype ------------------------------------------------------------


def test_bytes_of_another_dtype_are_read_as_the_declared_type():
    """Programs keep the bits of floats in integers, as PyCUDA lets them."""
    kernel, y = ElementwiseKernel(*COPY), ones(4)
    values = np.array([1.5, -2, 3, 4], np.float32)
    for bits in (values.view(np.int32), values.view(np.uint32), values.view(np.int16)):
        with pytest.warns(drv.PyCUDAWarning, match="reads float.*STRICT=1") as shown:
            kernel(to_gpu(bits), y, range=slice(0, 4, 1))
        assert y.get().tolist() == values.tolist()
        assert "argument 0 (x) is an array of" in str(shown[0].message)
    with pytest.warns(
        drv.PyCUDAWarning, match=r"argument 1 \(y\) is an array of int32"
    ):
        bits = gpuarray.zeros(4, np.int32)
        kernel(to_gpu(values), bits)
    assert (bits.get() == values.view(np.int32)).all()
    total = ReductionKernel(np.float32, "0", "a + b", "x[i]", "float *x")
    with pytest.warns(
        drv.PyCUDAWarning, match=r"argument 0 \(x\) is an array of int32"
    ):
        assert total(bits).get() == 6.5


def test_bytes_of_another_dtype_that_are_too_few():
    kernel = ElementwiseKernel(*COPY)
    for x in (gpuarray.zeros(200, np.int8), gpuarray.zeros(200, np.float16)):
        with pytest.raises((TypeError, ValueError), match="is an array of"):
            kernel(ones(200), x)  # 800 bytes, of which the driver gave 512
    with pytest.warns(drv.PyCUDAWarning):
        kernel(ones(100), gpuarray.zeros(100, np.int8))  # 400 of 512 bytes


def test_scans_of_another_dtype():
    """PyCUDA's scans do not check the dtype."""
    values = np.array([1.5, -2, 3, 4], np.float32)
    bits = to_gpu(values.view(np.int32))
    with pytest.warns(drv.PyCUDAWarning, match="input_ary is an array of int32"):
        InclusiveScanKernel(np.float32, "a + b")(bits)
    assert bits.get().view(np.float32).tolist() == [1.5, -0.5, 2.5, 6.5]
    with pytest.raises(ValueError, match="input_ary is an array of int8"):
        InclusiveScanKernel(np.float32, "a + b")(gpuarray.zeros(200, np.int8))


FREE = [
    "y[i] = x[0]",
    "y[i] = x[i % 3]",
    "y[i] = x[i / 4]",
    "y[i] = i < 3 ? x[i] : 0",
    "if (i < 3) y[i] = x[i]",
    "if (i >= 3) continue; y[i] = x[i]",
    "y[i] = (i < 3 && x[i] > 0)",
    "float sum = 0; for (int i = 0; i < 3; i++) sum += x[i]; y[i] = sum",
    "{ int i = 2; y[i] = x[i]; }",
    "y[i] = at(x, i)",
    "y[i] = FIRST(x[i])",
]


@pytest.mark.parametrize("operation", FREE)
def test_tables_may_be_small(operation):
    kernel = ElementwiseKernel(
        "float *y, float *x",
        operation,
        preamble="__device__ float at(float *p, int i) { return p[i & 1]; }\n"
        + ("#define FIRST(e) (i < 3 ? e : 0)" if "FIRST" in operation else ""),
    )
    y = gpuarray.zeros(10, np.float32)
    kernel(y, ones(3))
    assert y.get()[2] in (1, 3)


@pytest.mark.parametrize(
    "operation",
    [
        "y[i] = x[i]",
        "y[i] = x [ i ] + i",
        "y[i] = y[i] > 0 ? x[i] : 0",
        "if (y[i] == 0) y[i] = x[i]",
        "y[i] = x[i]; // if (i < 3)",
        "float t = x[0]; y[i] = t + x[i]",
    ],
)
def test_what_is_used_element_by_element(operation, strict):
    with pytest.raises(ValueError, match=r"argument 1 \(x\)"):
        ElementwiseKernel("float *y, float *x", operation)(ones(10), ones(3))


def test_labels_give_the_number_of_elements():
    # Programs shrink mem_size to work on a part.
    kernel = ElementwiseKernel(*COPY)
    x, y = ones(10), gpuarray.zeros(4, np.float32)
    x.mem_size = 4
    kernel(x, y)
    assert y.get().tolist() == [1] * 4


class Plain(GPUArray):
    """A subclass, which the fast path leaves to Python."""


def test_subclasses_are_checked_too(strict):
    kernel = ElementwiseKernel(*COPY)
    x = Plain(5, np.float32)
    x.fill(3)
    y = ones(5)
    kernel(x, y)
    assert y.get().tolist() == [3] * 5
    with pytest.raises(TypeError, match="int32"):
        kernel(Plain(5, np.int32), y)
    with pytest.raises(ValueError, match="4 elements"):
        kernel(x, Plain(4, np.float32))


class Foreign:
    """An array of another library, with the attributes that PyCUDA reads."""

    def __init__(self, array, **attributes):
        self.array, self.gpudata = array, array.gpudata
        self.flags = array.flags
        self.__dict__.update(attributes)


def test_arrays_of_other_libraries(strict):
    kernel = ElementwiseKernel(*COPY)
    x, y = ones(5), gpuarray.zeros(5, np.float32)
    kernel(y, Foreign(x))
    assert x.get().tolist() == [0] * 5
    kernel(x, Foreign(y, dtype="float32", size=5))
    kernel(x, Foreign(y, dtype=None))
    kernel(x, Foreign(y, dtype="what only that library knows"))
    with pytest.raises(TypeError, match=r"argument 1 \(y\) is an array of int32"):
        kernel(x, Foreign(y, dtype="int32", size=5))
    with pytest.raises(ValueError, match="4 elements"):
        kernel(x, Foreign(y, dtype=np.float32, size=4))


def test_plain_calls_take_the_fast_path(monkeypatch):
    kernel = ElementwiseKernel("float a, float *x, float *y", "y[i] = a * x[i]")
    x, y = ones(5), ones(5)
    view = ones(9)[2:7]
    assert x.flags.forc  # reading it changes nothing
    monkeypatch.setattr(kernel_arguments.Arguments, "arrange", None)
    for first in (x, view, x.reshape(5, 1)):
        kernel(2, first, y)
    kernel(2, x, y, slice=slice(1, 3))
    ReductionKernel(np.float32, "0", "a + b", "x[i]", "float *x")(view)
    with pytest.raises(TypeError):  # the counterpart: this one must be checked
        kernel(2, x.astype(np.int32), y)


def test_what_the_fast_path_takes(monkeypatch):
    kernel = ElementwiseKernel("float a, float *x, int *n", "x[i] = a * n[i]")
    pointer = ElementwiseKernel("float a, float *x, int *n", "x[i] = a * n[0]")
    x, n, empty = ones(4), ones(4, np.uint32), ones(0)
    arranged = []
    for each in (kernel, pointer):
        monkeypatch.setattr(each, "_run", lambda *args, **kw: arranged.append(args))
    kernel(7, x, n)
    kernel(7, x, n, slice=slice(9))  # which ends where the array ends
    pointer(7, x, n[:3])
    kernel(1, empty, empty.view(np.int32))
    assert arranged == []
    x[...] = 0
    for args, keywords in (
        ((7, n, n), {}),
        ((7, x, x), {}),
        ((7, x, n[:3]), {}),
        ((7, x, n), {"range": range(5)}),
        ((7, x, n[::2]), {"slice": slice(2)}),
        ((7, x, n.get()), {}),
        ((7, 8, n), {}),
    ):
        kernel(*args, **keywords)
        assert len(arranged.pop()) == 3
    assert not x.get().any()


# -- comparisons -----------------------------------------------------------------------


def test_a_comparison_is_read_as_numbers(monkeypatch):
    x = to_gpu(np.array([-1, 2, 0, 5, 7], np.float32))
    y = gpuarray.zeros(5, np.float32)
    kernel = ElementwiseKernel(*COPY)
    kernel(x > 0, y)
    assert y.get().tolist() == [0, 1, 0, 1, 1]
    scaled = ElementwiseKernel("double *out, int *m", "out[i] = 0.5 * m[i]")
    out = gpuarray.zeros(5, np.float64)
    scaled(out, x > 0)
    assert out.get().tolist() == [0, 0.5, 0, 0.5, 0.5]
    scaled(out, x < 0, slice=slice(0, 2))
    assert out.get().tolist() == [0.5, 0, 0, 0.5, 0.5]
    wide = gpuarray.zeros((5, 2), np.float32)[:, 1]
    kernel(x > 0, wide)
    assert wide.get().tolist() == [0, 1, 0, 1, 1]
    count = ReductionKernel(
        np.float32, "0", "a + b", "m[i] * n[i]", "float *m, float *n"
    )
    assert count(x > 0, x < 6).get() == 2
    assert count(x, x > 0).get() == 14
    with pytest.warns(drv.PyCUDAWarning, match="3 elements"):
        count(x, (x > 0)[:3])
    monkeypatch.setenv("PYCUDA_STRICT", "1")
    with pytest.raises(ValueError, match="3 elements"):
        kernel(x, (x > 0)[:3])


def test_a_comparison_that_is_written_to():
    m = ones(5) > 0
    for operation in ("m[i] = 2", "m[i] += 1", "change(m + i)"):
        kernel = ElementwiseKernel(
            "float *x, float *m",
            operation,
            preamble="__device__ void change(float *p) { *p = 3; }",
        )
        with pytest.raises(TypeError, match=r"argument 1 \(m\).*writes.*np\.float32"):
            kernel(ones(5), m)
        assert m.get().all()
        numbers = m.astype(np.float32)
        kernel(ones(5), numbers)
        assert numbers.get()[0] in (2, 3)
    with pytest.raises(drv.CompileError):
        ElementwiseKernel("float *m", "no such words")(m)
    with pytest.raises(TypeError, match=r"argument 0 \(x\).*writes"):
        ReductionKernel(np.float32, "0", "a + b", "x[i]++", "float *x")(m)


def test_each_argument_of_a_reduction_may_be_a_comparison():
    """Each call checks which arguments are read as numbers."""
    copied = ReductionKernel(
        np.float32, "0", "a + b", "y[i] = x[i]", "float *x, float *y"
    )
    m, numbers = ones(5) > 0, ones(5) + 1
    assert copied(m, numbers).get() == 5
    assert numbers.get().tolist() == [1] * 5
    with pytest.raises(TypeError, match=r"argument 1 \(y\).*writes"):
        copied(numbers, m)


def test_bool_kernels_read_bool(strict):
    m = ones(5) > 0
    ElementwiseKernel("bool *m", "m[i] = i == 2")(m)
    assert m.get().tolist() == [False, False, True, False, False]
    ElementwiseKernel("unsigned char *m", "m[i] ^= 1")(m)
    assert m.get().tolist() == [True, True, False, True, True]
    with pytest.raises(TypeError, match="float4"):
        ElementwiseKernel("float4 *m", "m[i].x = 1")(m)


def test_scans_of_a_comparison():
    x = to_gpu(np.array([1, -1, 2, 3, -4], np.float32))
    for dtype in (np.int32, np.float32):
        kernel = InclusiveScanKernel(dtype, "a + b")
        result = kernel(x > 0, "new")
        assert result.dtype == dtype
        assert result.get().tolist() == [1, 1, 2, 3, 3]
        out = GPUArray(5, dtype)
        assert kernel((x > 0)[::-1], out) is out
        assert out.get().tolist() == [0, 1, 2, 2, 3]
        places = ExclusiveScanKernel(dtype, "a + b", 0)(x > 0, "new")
        assert places.get().tolist() == [0, 1, 1, 2, 3]
        m = x > 0
        with pytest.raises(ValueError, match=r"input_ary.*bool.*astype"):
            kernel(m)
        assert m.get().tolist() == [True, False, True, True, False]
    truth = InclusiveScanKernel(bool, "a || b")(x < 0)
    assert truth.get().tolist() == [False, True, True, True, True]


# -- names -----------------------------------------------------------------------------

NAMES = ["s", "n", "tid", "acc", "sdata", "seq_count", "out", "neutral", "out_type"]
NAMES += ["total_threads", "cta_start", "start", "stop", "step", "size", "a", "b"]
NAMES += ["REDUCE", "READ_AND_MAP", "PYCUDA_BLOCK_SIZE", "SCAN_EXPR", "pycuda"]
NAMES += ["pycuda_reduction_inp", "pycuda_own_out", "kernel", "mapped", "value", "T"]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_for_a_number(name):
    x = gpuarray.arange(3000, dtype=np.float32)
    y = gpuarray.zeros(3000, np.float32)
    kernel = ElementwiseKernel(
        f"float {name}, float *x, float *y", f"y[i] = {name} * x[i]"
    )
    kernel(2, x, y)
    np.testing.assert_array_equal(y.get(), 2 * x.get())
    kernel(3, x, y, slice=slice(5, 100, 3))
    expected = 2 * x.get()
    expected[5:100:3] *= 1.5
    np.testing.assert_array_equal(y.get(), expected)
    total = ReductionKernel(
        np.float64, "0", "a + b", f"{name} * x[i]", f"double {name}, float *x"
    )
    assert total(3, x).get() == 3 * 2999 * 1500


@pytest.mark.parametrize("name", NAMES)
def test_any_name_for_an_array(name):
    x = gpuarray.arange(3000, dtype=np.float32)
    ElementwiseKernel(f"float *{name}", f"{name}[i] += 1")(x)
    assert x.get()[:3].tolist() == [1, 2, 3]
    total = ReductionKernel(np.float32, "0", "max(a, b)", arguments=f"float *{name}")
    assert total(x).get() == 3000


def test_arguments_in_reduce_expr():
    # Each stage has the arguments of the program.
    total = ReductionKernel(
        np.float32, "0", "fminf(a + b, s)", "x[i]", "float s, float *x"
    )
    assert total(100, ones(5000)).get() == 100


@pytest.mark.parametrize("name", ["i", "threadIdx", "blockDim"])
def test_names_that_the_loop_needs(name):
    for arguments in (
        f"float *x, int {name}",
        [VectorArg(np.float32, "x"), ScalarArg(np.int32, name)],
    ):
        with pytest.raises(ValueError, match=f"called {name}"):
            ElementwiseKernel(arguments, "x[0] = 1")
        with pytest.raises(ValueError, match=f"called {name}"):
            ReductionKernel(np.float32, "0", "a + b", "x[0]", arguments)
    with pytest.raises(ValueError, match=f"called {name}"):
        get_elwise_module([VectorArg(np.float32, name), ScalarArg(np.uintp, "n")], "")
    ElementwiseKernel(f"float *x, int {name}_", f"x[0] = {name}_")


def test_documented_names_are_visible():
    x = gpuarray.zeros(100, np.int32)
    ElementwiseKernel("int *x", "x[i] = n + (tid + cta_start) % total_threads - i")(x)
    assert x.get().tolist() == [100] * 100
    ElementwiseKernel("int *x", "x[i] = start + stop * step + tid - tid")(
        x, range=slice(1, 7, 2)
    )
    assert x.get()[1:7:2].tolist() == [15] * 3
    count = ReductionKernel(
        np.int32,
        "0",
        "a + b",
        "x[i] > 0 && s < seq_count && acc >= 0 && sdata != 0 && i < n && tid < 512",
        "int *x",
    )
    assert count(x).get() == 100
    steps = ReductionKernel(np.int32, "0", "a + b + 0 * s", "1", "int *x")
    assert steps(x).get() == 100


def test_preambles_have_names_too():
    x = gpuarray.arange(2000, dtype=np.int32)
    preamble = """
    #define REDUCE(a, b) 7
    #define READ_AND_MAP(i) 8
    #define PYCUDA_BLOCK_SIZE 9
    #define SCAN_EXPR(a, b) 10
    typedef float out_type;
    struct scan_op {};
    __device__ const int length = 5;
    __device__ int pycuda_own_out(int v) { return v; }
    """
    total = ReductionKernel(
        np.int32, "0", "a + b", "pycuda_own_out(x[i])", "int *x", preamble=preamble
    )
    assert total(x).get() == 1999 * 1000
    scan = ExclusiveScanKernel(np.int32, "a + b", "length", preamble=preamble)
    assert scan(x).get()[:4].tolist() == [5, 0, 1, 3]


def test_low_level_modules_take_their_own_bounds():
    arguments = [VectorArg(np.int32, "x"), ScalarArg(np.uintp, "n")]
    function = get_elwise_module(arguments, "x[i] = n").get_function("kernel")
    x = gpuarray.zeros(40, np.int32)
    function(x, np.uintp(30), block=(32, 1, 1), grid=(1, 1))
    assert x.get().tolist() == [30] * 30 + [0] * 10


# -- structs ---------------------------------------------------------------------------

EXTREMES = """
struct argument_extremes {
    float low, high;
    __device__ argument_extremes() {}
    __device__ argument_extremes(float a, float b) : low(a), high(b) {}
    __device__ argument_extremes(argument_extremes const volatile &other)
        : low(other.low), high(other.high) {}
    %s
};
__device__ argument_extremes joined(argument_extremes a, argument_extremes b)
{
    return argument_extremes(fminf(a.low, b.low), fmaxf(a.high, b.high));
}
"""
ASSIGN = [
    "",
    """__device__ argument_extremes &operator=(argument_extremes const volatile &other)
    { low = other.low; high = other.high; return *this; }""",
    """__device__ void operator=(argument_extremes const &other) volatile
    { low = other.low; high = other.high; }""",
]


@pytest.mark.parametrize("assign", ASSIGN, ids=["implicit", "volatile", "to volatile"])
def test_a_struct_that_is_copied_from_volatile_only(assign):
    dtype = np.dtype([("low", np.float32), ("high", np.float32)])
    tools.get_or_register_dtype("argument_extremes", dtype)
    host = np.random.default_rng(3).standard_normal(5000).astype(np.float32)
    for expression in ("joined(a, b)", "joined(argument_extremes(a), b)"):
        kernel = ReductionKernel(
            dtype,
            "argument_extremes(10000, -10000)",
            expression,
            "argument_extremes(x[i], x[i])",
            "float *x",
            preamble=EXTREMES % assign,
        )
        result = kernel(to_gpu(host)).get()
        assert (result["low"], result["high"]) == (host.min(), host.max())
    values = np.zeros(5000, dtype)
    values["low"] = values["high"] = host
    scan = InclusiveScanKernel(dtype, "joined(a, b)", preamble=EXTREMES % assign)
    result = scan(to_gpu(values)).get()
    np.testing.assert_array_equal(result["low"], np.minimum.accumulate(host))
    np.testing.assert_array_equal(result["high"], np.maximum.accumulate(host))


def test_neutral_elements_of_all_forms():
    x = ones(10)
    for neutral in ("0", 0, "0.0f", "(1, 0)", "float(0)", "{0}"):
        kernel = ReductionKernel(np.float32, neutral, "a + b", "x[i]", "float *x")
        assert kernel(x).get() == 10
    z = to_gpu(np.array([1 + 1j, 2], np.complex64))
    total = reduction.get_sum_kernel(np.complex64, np.complex64)
    assert total(z).get() == 3 + 1j
