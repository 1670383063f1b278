"""ElementwiseKernel, and the ready-made kernels of pycuda.elementwise."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import elementwise, gpuarray
from pycuda.elementwise import ElementwiseKernel
from pycuda.gpuarray import GPUArray, to_gpu
from pycuda.reduction import ReductionKernel
from pycuda.tools import ScalarArg, VectorArg
from support.arrays import same

pytestmark = pytest.mark.gpu

LINEAR = ("float a, float *x, float b, float *y, float *z", "z[i] = a*x[i] + b*y[i]")


def test_a_linear_combination(ctx):
    kernel = ElementwiseKernel(*LINEAR, "linear")
    a, b = np.arange(1000, dtype=np.float32), np.arange(1000, 0, -1, dtype=np.float32)
    x, y, z = to_gpu(a), to_gpu(b), GPUArray(1000, np.float32)
    assert kernel(2, x, np.float32(3), y, z) is None
    same(z, 2 * a + 3 * b)
    kernel(np.array(1, np.float32), x, 0.5, y, z, stream=drv.Stream())
    drv.Context.synchronize()
    same(z, a + b / 2)


def test_arguments_as_objects_are_not_changed(ctx):
    arguments = [VectorArg(np.int32, "x"), ScalarArg(np.int32, "a")]
    kernel = ElementwiseKernel(arguments, "x[i] = a + i", "fill")
    x = gpuarray.zeros(10, np.int32)
    kernel(x, 3)
    same(x, np.arange(3, 13, dtype=np.int32))
    kernel(x, 0, slice=slice(2, 5))
    assert len(arguments) == 2
    assert x.get()[:6].tolist() == [3, 4, 2, 3, 4, 8]


def test_preamble_and_what_is_around_the_loop(ctx):
    kernel = ElementwiseKernel(
        "int *x, int *y",
        "int t = twice(x[i]); sum += t; y[i] = t + (n == 100)",
        preamble="__device__ int twice(int v) { return 2 * v; }",
        loop_prep="int sum = 0",
        after_loop="if (sum < 0) y[0] = -1",
        options=["-DUNUSED=1"],
    )
    x = gpuarray.arange(100, dtype=np.int32)
    y = gpuarray.empty_like(x)
    kernel(x, y)
    same(y, 2 * np.arange(100, dtype=np.int32) + 1)


@pytest.mark.parametrize(
    "where",
    [slice(5, 40), slice(None, None, 3), slice(None, None, -1), slice(40, 5, -7)]
    + [slice(-10, None), slice(0, 0)],
    ids=str,
)
def test_slices_and_ranges(ctx, where):
    kernel = ElementwiseKernel("int *x", "x[i] += 1 + (step < 0)")
    host = np.zeros(300, np.int32)
    expected = host.copy()
    expected[where] += 1 + (where.step is not None and where.step < 0)
    x = to_gpu(host)
    kernel(x, slice=where)
    same(x, expected)
    x = to_gpu(host)
    kernel(x, range=slice(*where.indices(300)))
    same(x, expected)


@pytest.mark.parametrize("order", ["C", "F"])
def test_slices_of_arrays_with_several_axes_count_elements(ctx, order):
    kernel = ElementwiseKernel("int *x", "x[i] += 1")
    x = GPUArray((20, 15), np.int32, order=order).fill(0)
    kernel(x, slice=slice(5, None, 3))
    expected = np.zeros(300, np.int32)
    expected[5::3] = 1
    same(x, expected.reshape((20, 15), order=order))


def test_complex_and_vector_types(ctx):
    kernel = ElementwiseKernel(
        "pycuda::complex<float> *x, double2 *d, float4 *y",
        "x[i] = x[i] * x[i]; d[i].y = i; y[i].w = real(x[i])",
    )
    host = np.array([1 + 2j, 3j, -1], np.complex64)
    x = to_gpu(host)
    y, d = (
        gpuarray.zeros(3, gpuarray.vec.float4),
        gpuarray.zeros(3, gpuarray.vec.double2),
    )
    kernel(x, d, y)
    same(x, host * host)
    assert d.get()["y"].tolist() == [0, 1, 2]
    assert y.get()["w"].tolist() == [-3, -9, 1]


def test_arrays_are_combined_by_index(ctx):
    kernel = ElementwiseKernel("float *x, float *y, float *z", "z[i] = x[i] - y[i]")
    a, b = np.random.default_rng(0).random((2, 6, 7)).astype(np.float32)
    z = gpuarray.zeros((6, 7), np.float32)
    kernel(to_gpu(a), to_gpu(np.asfortranarray(b)), z)
    same(z, a - b)
    kernel(to_gpu(np.asfortranarray(a)), to_gpu(b), z)
    same(z, a - b)
    wide = gpuarray.zeros((6, 14), np.float32)
    kernel(to_gpu(a), to_gpu(b), wide[:, ::2])
    same(wide[:, ::2], a - b)
    assert not wide[:, 1::2].get().any()


ORDERS = [(0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1), (1, 2, 0)]


@pytest.mark.parametrize("source", ORDERS, ids=str)
@pytest.mark.parametrize("target", ORDERS, ids=str)
@pytest.mark.parametrize("step", [1, 2, -1])
def test_any_order_of_axes(ctx, source, target, step):
    """Elements with the same indices are combined, in any memory order."""
    kernel = ElementwiseKernel("float *z, float *x, float *y", "z[i] = x[i] + 2 * y[i]")
    dot = ReductionKernel(np.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y")
    host = np.arange(3 * 4 * 5, dtype=np.float32)

    def placed(order):
        """Return (host, device) arrays of shape (3, 4, 5) with this order of axes."""
        shape = np.array((3, 4, 5))[list(order)]
        return [
            make(host.reshape(shape)).transpose(*np.argsort(order))[::step]
            for make in (np.copy, to_gpu)
        ]

    (a, x), (b, y), (_, z) = placed(source), placed((0, 1, 2)), placed(target)
    kernel(z, x, y)
    same(z, a + 2 * b)
    (c, z) = placed(target)
    assert dot(x, z).get() == (a * c).sum()
    assert dot(z, x).get() == (a * c).sum()
    assert dot(x, x).get() == (a * a).sum()
    assert dot(x > 5, z).get() == ((a > 5) * c).sum()


@pytest.mark.parametrize("dtype", ["i1", "f4", "c16", gpuarray.vec.float3], ids=str)
@pytest.mark.parametrize(
    ("target", "source"),
    [
        (slice(None), slice(None, None, -1)),
        (slice(None, None, -1), slice(None)),
        (slice(None, None, 2), slice(None, None, 2)),
        (slice(None, None, 2), slice(None, None, -2)),
        (slice(None, None, 2), slice(1, None, 2)),
    ],
    ids=str,
)
def test_views_of_one_array(ctx, dtype, target, source):
    """The results stay, although an input array has the same memory."""
    dtype = np.dtype(dtype)
    arguments = [VectorArg(dtype, name) for name in "zx"]
    kernel = ElementwiseKernel(arguments, "z[i] = x[i]")
    host = np.arange(1, 1 + 8 * dtype.itemsize, dtype=np.uint8).view(dtype)
    x = to_gpu(host)
    kernel(x[target], x[source])
    expected = host.copy()
    expected[target] = host[source]
    assert x.get().tobytes() == expected.tobytes()
    kernel(x[target], to_gpu(host)[source])  # of another array
    assert x.get().tobytes() == expected.tobytes()


def test_views_of_one_array_that_are_changed(ctx):
    host = np.arange(16, dtype=np.float32).reshape(4, 4)
    twice = ElementwiseKernel("float *z, float *x", "z[i] = 2 * x[i]")
    x = to_gpu(host)
    twice(x, x.T)
    same(x, 2 * host.T)
    x = to_gpu(host)
    twice(x[:, ::2], x[:, ::2], slice=slice(0, 3))
    expected = host.copy()
    expected[0, ::2] *= 2
    expected[1, 0] *= 2
    same(x, expected)
    add = ElementwiseKernel("float *x, float *y", "x[i] += 1; y[i] += 10")
    x = to_gpu(host)
    add(x[:, ::2], x[:, ::2])
    same(x[:, ::2], host[:, ::2] + 11)
    x = to_gpu(host)
    add(x[:, ::2], x[:, 1::2])
    same(x, host + np.array([1, 10, 1, 10], np.float32))


def test_wrong_calls(ctx):
    kernel = ElementwiseKernel(*LINEAR)
    x = gpuarray.zeros(5, np.float32)
    with pytest.raises(TypeError, match=r"5 arguments \(2 given\): float a, float \*x"):
        kernel(1, x)
    with pytest.raises(TypeError, match=r"argument 1 \(x\).*int"):
        kernel(1, 2, 3, 4, 5)
    with pytest.raises(TypeError, match="nonsense"):
        kernel(1, x, 1, x, x, nonsense=1)
    with pytest.raises(TypeError, match="together"):
        kernel(1, x, 1, x, x, slice=slice(1), range=slice(0, 1, 1))
    with pytest.raises(TypeError, match="step"):
        kernel(1, x, 1, x, x, range=slice(0, 1))
    with pytest.raises(RuntimeError, match="array"):
        ElementwiseKernel("float a", "(void)a")(1)
    with pytest.raises(RuntimeError, match="gaps"):
        kernel(1, x, 1, gpuarray.zeros((4, 4), np.float32)[:, ::2], x)


def test_an_error_of_the_compiler(ctx):
    kernel = ElementwiseKernel("float *x", "x[i] = no_such_function(x[i])")
    with pytest.raises(drv.CompileError) as caught:
        kernel(gpuarray.zeros(5, np.float32))
    assert "no_such_function" in str(caught.value)


def test_arrays_without_elements(ctx):
    kernel = ElementwiseKernel("float *x", "x[i] = 1")
    kernel(gpuarray.zeros(0, np.float32))


def test_one_object_in_two_contexts():
    kernel = ElementwiseKernel("float *x", "x[i] = i")
    for _ in range(2):
        context = drv.Device(0).make_context()
        x = gpuarray.zeros(5, np.float32)
        kernel(x)
        assert x.get().tolist() == [0, 1, 2, 3, 4]
        del x
        context.pop()
        kernel._made.clear()
        context.detach()


def call(function, *arrays, n=None):
    """Call a prepared kernel on arrays and numbers."""
    first = next(a for a in arrays if isinstance(a, GPUArray))
    values = [a.gpudata if isinstance(a, GPUArray) else a for a in arrays]
    function.prepared_call(first._grid, first._block, *values, n or first.size)


def test_ready_made_kernels(ctx):
    f = np.dtype(np.float32)
    a, b = np.arange(1, 51, dtype=f), np.arange(50, 0, -1, dtype=f)
    x, y, z = to_gpu(a), to_gpu(b), GPUArray(50, f)
    idx = to_gpu(np.arange(49, -1, -1, dtype=np.int32))
    e = elementwise

    def check(function, *arguments, expected):
        call(function, *arguments)
        same(z, np.asarray(expected, f), exact=False)

    check(e.get_copy_kernel(f, f), z, x, expected=a)
    check(e.get_axpbyz_kernel(f, f, f), 2, x, 3, y, z, expected=2 * a + 3 * b)
    check(e.get_axpbyz_kernel(f, f, f, False, True), 2, x, 3, 4, z, expected=2 * a + 12)
    check(e.get_axpbz_kernel(f, f), 2, x, 3, z, expected=2 * a + 3)
    check(e.get_binary_op_kernel(f, f, f, "*"), x, y, z, expected=a * b)
    check(e.get_rdivide_elwise_kernel(f, f), x, 2, z, expected=2 / a)
    check(e.get_binary_func_kernel("hypotf", f, f, f), x, y, z, expected=np.hypot(a, b))
    check(e.get_binary_func_scalar_kernel("powf", f, f, f), x, 2, z, expected=a**2)
    check(
        e.get_binary_minmax_kernel("max", f, f, f, False),
        x,
        y,
        z,
        expected=np.maximum(a, b),
    )
    check(e.get_fill_kernel(f), 7, z, expected=np.full(50, 7))
    check(e.get_reverse_kernel(f), x, z, expected=a[::-1])
    check(e.get_arange_kernel(f), z, 3, 2, expected=3 + 2 * np.arange(50))
    check(e.get_pow_array_kernel(f, f, f, True, False), x, 2, z, expected=a**2)
    check(e.get_pow_kernel(f), 2, x, z, expected=a**2)
    check(e.get_fmod_kernel(), x, y, z, expected=np.fmod(a, b))
    check(e.get_ldexp_kernel(), x, to_gpu(np.full(50, 2, f)), z, expected=a * 4)
    check(e.get_unary_func_kernel("sqrtf", f), x, z, expected=np.sqrt(a))
    check(
        e.get_if_positive_kernel(f, f),
        to_gpu(a - 25),
        x,
        y,
        z,
        expected=np.where(a > 25, a, b),
    )
    check(
        e.get_where_kernel(f, f),
        to_gpu(a - 25),
        x,
        y,
        z,
        expected=np.where(a != 25, a, b),
    )
    check(e.get_scalar_op_kernel(f, f, f, ">"), x, 25, z, expected=a > 25)
    check(e.get_put_kernel(f, np.dtype("i4")), idx, z, x, expected=a[::-1])
    kernel, textures = e.get_take_kernel(f, np.dtype("i4"))
    assert textures == []
    check(kernel, idx, z, x, expected=a[::-1])
    kernel, _ = e.get_take_put_kernel(f, np.dtype("i4"), False)
    check(kernel, idx, idx, z, x, expected=a)
    kernel, textures = e.get_linear_combination_kernel(((False, f, f), (True, f, f)), f)
    three = to_gpu(np.array(3, f))
    three.bind_to_texref_ext(textures[0])
    check(kernel, 2, x, y, z, expected=2 * a + 3 * b)
    assert e.get_fill_kernel(f) is e.get_fill_kernel(f)
    with pytest.raises(AssertionError):
        e.get_pow_array_kernel(f, f, f, False, False)


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "complex64", "complex128", "int32"]
)
def test_scalars_of_linear_combinations_on_the_device(ctx, dtype):
    dtype = np.dtype(dtype)
    descriptors = ((True, dtype, dtype), (False, dtype, dtype), (True, dtype, dtype))
    kernel, textures = elementwise.get_linear_combination_kernel(descriptors, dtype)
    assert len(textures) == 2
    host = np.arange(1, 6).astype(dtype)
    x, y, w = to_gpu(host), to_gpu(host * host), to_gpu(host[::-1].copy())
    z = gpuarray.zeros_like(x)
    for a, b in ((3, 5), (7, 2)):
        scalars = [to_gpu(np.array(value, dtype)) for value in (a, b)]
        for scalar, texture in zip(scalars, textures, strict=True):
            scalar.bind_to_texref_ext(
                texture, allow_double_hack=True, allow_complex_hack=True
            )
        call(kernel, x, 10, y, w, z)
        same(z, a * host + 10 * host * host + b * host[::-1])
    plain, textures = elementwise.get_linear_combination_kernel(descriptors[1:2], dtype)
    assert textures == []
    call(plain, 2, x, z)
    same(z, 2 * host)


def test_a_scalar_that_is_not_bound(ctx):
    f = np.dtype(np.float32)
    kernel, _ = elementwise.get_linear_combination_kernel(((True, f, f),), f)
    x = gpuarray.zeros(5, f)
    with pytest.raises(drv.LogicError, match="bound to nothing"):
        call(kernel, x, x)


def test_kernels_of_complex_numbers(ctx):
    c, f = np.dtype(np.complex64), np.dtype(np.float32)
    host = np.array([1 + 2j, 3 - 1j], c)
    x, z, r = to_gpu(host), GPUArray(2, c), GPUArray(2, f)
    call(elementwise.get_conj_kernel(c, c), x, z)
    same(z, host.conj())
    call(elementwise.get_real_kernel(c, f), x, r)
    same(r, host.real)
    call(elementwise.get_imag_kernel(c, f), x, r)
    same(r, host.imag)
    out = GPUArray(2, bool)
    call(elementwise.get_logical_not_kernel(f, np.dtype(bool)), to_gpu(host.real), out)
    same(out, host.real == 0)
    assert elementwise._get_real_dtype(c) == f


def test_names_that_other_code_imports():
    for name in (
        "ScalarArg",
        "VectorArg",
        "context_dependent_memoize",
        "dtype_to_ctype",
    ):
        assert hasattr(elementwise, name)


def test_arguments_in_another_order():
    """CuPy's kernel has the inputs, the outputs, the operation and the name."""
    with pytest.raises(ValueError, match="name of C, not 'z = x - y'.*operation, name"):
        ElementwiseKernel("float x, float y", "float z", "z = x - y", "difference")
    with pytest.raises(ValueError, match="type of 'T x' is not known.*dtype_to_ctype"):
        ElementwiseKernel("T x", "x")(1)
