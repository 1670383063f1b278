"""pycuda.fuse: a program's own kernels inside, and contraction with fast=True."""

import numpy as np
import pytest

from pycuda import fuse, gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.fuse import FuseError
from pycuda.gpuarray import to_gpu
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel
from support.arrays import same
from support.fuse_programs import check

pytestmark = pytest.mark.gpu


def _array(*shape, dtype=np.float32):
    return to_gpu((np.random.default_rng(3).random(shape) * 8).astype(dtype))


def _calls(steps):
    return [step.call for step in steps if step.call]


# -- elementwise kernels ---------------------------------------------------------------


@pytest.fixture
def scaled():
    return ElementwiseKernel("float a, const float *x, float *y", "y[i] = a * x[i]")


def test_an_operation_is_part_of_the_kernel(ctx, scaled):
    def function(x):
        y = gpuarray.empty_like(x)
        scaled(3, x + 1, y)
        return y + 1

    (kernel,) = check(function, _array(5, 6))
    assert kernel.operations == 3
    assert "y = a * x" in fuse.fuse(function).source(_array(5))


@pytest.mark.parametrize(
    ("arguments", "operation"),
    [
        ("int *x, int *y", "y[i] += 3 * x[i] + 1; // y[n]"),
        ("float *x, float *y", "if (x[i] > 2) { float t = x[i]; y[i] = t / y[i]; }"),
        ("float *x, float *y", "y[i] = x[i] > 2 ? fminf(x[i], 3.5f) : sqrtf(x[i])"),
        ("float *x, float *y", "y[ i ] = x[i]; x[i] = y[i] - 1"),
        ("float *x, float *y", "for (int k = 0; k < 3; k++) y[i] += x[i]"),
        ("const float *x, float n, float *y", "y[i] = n * x[i]"),
    ],
)
def test_what_an_operation_may_do(ctx, arguments, operation):
    kernel = ElementwiseKernel(arguments, operation)

    def function(x, y):
        x, y = x * 1, y * 1
        kernel(*((x, 2.5, y) if "n" in arguments.split(", ")[1][-1] else (x, y)))
        return x + 1, y

    dtype = np.int32 if "int *" in arguments else np.float32
    steps = check(function, _array(40, dtype=dtype), _array(40, dtype=dtype))
    assert not _calls(steps)


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ("y[i] = i > 0 ? x[i - 1] : 0", {}),
        ("y[i] = x[n - 1 - i]", {}),
        ("y[i] = 3 * x[i] + 1", {}),  # contracted
        ("y[i] = sinf(x[i])", {}),
        ("if (x[i] > 2) y[i] = 1", {}),  # the other elements of y have no values
        ("if (x[i] > 2) continue; y[i] = x[i]", {}),
        ("float *p = x; y[i] = p[i]", {}),
        ("y[i] = one(x[i])", {"preamble": "__device__ float one(float x) {return 1;}"}),
        ("y[i] = x[i]", {"options": ["-DNAME=1"]}),
    ],
)
def test_other_kernels_are_called(ctx, operation, words):
    kernel = ElementwiseKernel("float *x, float *y", operation, "mine", **words)

    def function(x):
        y = x * 0
        kernel(x + 1, y)
        return y + 1

    assert _calls(check(function, _array(40))) == ["mine"]


def test_without_contraction_a_kernel_is_part(ctx):
    kernel = ElementwiseKernel(
        "float *x", "x[i] = 3 * x[i] + 1", options=["-fmad=false"]
    )

    def function(x):
        kernel(x)
        return x * 2

    assert not _calls(check(function, _array(40)))


def test_arguments_that_do_not_fit_are_arranged_by_the_call(ctx, scaled):
    def function(x, b):
        y, z = gpuarray.zeros(x.shape, np.float32), gpuarray.zeros(9, np.float32)
        scaled(2, b, y)  # bool elements
        scaled(np.float64(2), x, y, slice=slice(0, 4))
        scaled(3, x.T.copy().T, z[:9])
        return y, z

    steps = check(function, _array(3, 3), _array(3, 3, dtype=bool))
    assert len(_calls(steps)) == 3


def test_an_array_that_is_read_and_written(ctx, scaled):
    def function(x):
        y = x * 1
        scaled(2, y, y)
        return y

    assert _calls(check(function, _array(9))) == ["kernel"]


def test_an_operation_in_a_loop(ctx, scaled):
    def function(x):
        def body(u):
            v = gpuarray.empty_like(u)
            scaled(2, u, v)
            return v + 1

        return fuse.loop(3, body, x)

    (kernel,) = check(function, _array(9))
    assert not kernel.call


# -- other kernels ---------------------------------------------------------------------


def test_a_reduction_kernel(ctx):
    dot = ReductionKernel(
        np.float32, "0", "a+b", "x[i]*y[i]", "const float *x, float *y", name="dot"
    )

    def function(x):
        total = gpuarray.zeros((), np.float32)
        dot(x, x, out=total)
        return x * dot(x + 1, x) - total

    steps = check(function, _array(1000))
    assert _calls(steps) == ["dot", "dot"]


@pytest.mark.parametrize("as_shape", [False, True])
def test_functions_of_a_module_by_size(ctx, as_shape):
    """A call of another length has another grid."""
    twice = SourceModule(
        """
        __global__ void twice(float *y, const float *x, int n)
        {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) y[i] = 2 * x[i];
        }
        """
    ).get_function("twice")

    @fuse
    def function(x):
        y = gpuarray.zeros_like(x)
        n = x.size
        twice(y, x + 1, np.int32(n), size=(n,) if as_shape else n)
        return y + 1

    for n in (1, 1000, 5000, 1000):
        x = _array(n)
        assert (function(x).get() == 2 * (x.get() + 1) + 1).all()
    assert _calls(function.kernels(x)) == ["twice"]


def test_functions_of_a_module(ctx):
    twice = SourceModule(
        """
        __global__ void twice(float *y, const float *x, int n)
        {
            int i = threadIdx.x;
            if (i < n) y[i] = 2 * x[i];
        }
        """
    ).get_function("twice")

    def function(x):
        y = gpuarray.empty_like(x)
        twice(y, x + 1, np.int32(x.size), block=(32, 1, 1))
        twice(y.gpudata, y, np.int32(x.size), block=(32, 1, 1))
        places = np.uintp(y[3:].gpudata), np.intp(x[3:].ptr)
        twice(*places, np.int32(2), block=(32, 1, 1))
        return y + 1

    assert _calls(check(function, _array(9))) == ["twice"] * 3


def test_what_a_kernel_changes_is_read_before(ctx):
    def function(x):
        before = x * 2
        kernel(x)
        return before + x

    kernel = ElementwiseKernel("float *x", "x[i] = 3 * x[i] + 1")
    check(function, _array(9))


def test_a_kernel_that_cannot_be_recorded(ctx):
    scan = InclusiveScanKernel(np.int32, "a+b")
    with pytest.raises(FuseError, match="pycuda.fuse.call"):
        fuse.fuse(lambda x: scan(x))(_array(9, dtype=np.int32))


# -- contraction -----------------------------------------------------------------------


def _residues(a, b, c):
    return a * b + c


def test_only_fast_functions_are_contracted(ctx):
    a, b = _array(40), _array(40)[::-1].copy()
    c = -(a * b)
    exact = a.get().astype(np.float64) * b.get() + c.get()
    plain, fast = fuse.fuse(_residues), fuse.fuse(_residues, fast=True)
    same(plain(a, b, c), np.zeros(40, np.float32))
    same(fast(a, b, c), exact.astype(np.float32))
    assert np.any(exact)
    assert "-fmad=true" in fast.source(a, b, c)
    assert "-fmad=true" not in plain.source(a, b, c)


def test_the_decorator_takes_fast(ctx):
    @fuse(fast=True)
    def function(x):
        return fuse.loop(3, lambda u: u * u + np.roll(u, 1), x) * x + 1

    x = _array(9) / 8
    np.testing.assert_allclose(function(x).get(), function.__wrapped__(x).get(), 1e-5)
    assert "-fmad=true" in function.source(x)


def test_operations_of_kernels_are_part_of_fast_functions(ctx):
    kernel = ElementwiseKernel("float *x, float *y", "y[i] = 3 * x[i] + 1")

    def function(x):
        y = gpuarray.empty_like(x)
        kernel(x, y)
        return y * 2

    fast = fuse.fuse(function, fast=True)
    assert len(fast.kernels(_array(9))) == 1
    same(fast(_array(9)), function(_array(9)).get())
