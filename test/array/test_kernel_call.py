"""Repeated calls of kernels with a program's code, which run without Python code.

Each call is compared with ``_run``, which arranges the arguments that C refuses.
"""

import copy
import gc
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.elementwise import ElementwiseKernel
from pycuda.gpuarray import to_gpu
from pycuda.reduction import ReductionKernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel
from pycuda.tools import DeviceMemoryPool
from support.arrays import same

pytestmark = pytest.mark.gpu

N = 70
HOST = np.arange(N, dtype=np.float32)


class Counted(ElementwiseKernel):
    """A kernel that counts the calls that C did not handle."""

    general = 0

    def _run(self, *args, **kwargs):
        self.general += 1
        return super()._run(*args, **kwargs)


class CountedReduction(ReductionKernel):
    general = 0

    def _run(self, *args, **kwargs):
        self.general += 1
        return super()._run(*args, **kwargs)


@pytest.fixture
def scaled(ctx):
    """A kernel that C has a plan for, its input and its output."""
    kernel = Counted("float a, float *x, float *y", "y[i] = a * x[i]", "scaled")
    x, y = to_gpu(HOST), gpuarray.zeros(N, np.float32)
    kernel(1, x, y)
    same(y, HOST)
    assert kernel.general == 0
    return kernel, x, y


@pytest.fixture
def dot(ctx):
    kernel = CountedReduction(
        np.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y"
    )
    x = to_gpu(HOST)
    assert kernel(x, x).get() == (HOST**2).sum()
    return kernel, x


def test_calls_without_python(scaled):
    kernel, x, y = scaled
    for number in (2, 2.5, np.float32(3), np.float64(-1), np.int8(4), True):
        assert kernel(number, x, y) is None
        same(y, np.float32(number) * HOST)
    assert kernel.general == 0


@pytest.mark.parametrize("stream", [None, "stream", "current"])
def test_streams(scaled, stream):
    kernel, x, y = scaled
    if stream == "current":
        with drv.Stream():
            kernel(2, x, y)
    else:
        kernel(2, x, y, stream=drv.Stream() if stream else None)
    drv.Context.synchronize()
    same(y, 2 * HOST)
    assert kernel.general == 0
    with pytest.raises(TypeError, match="stream"):
        kernel(2, x, y, stream="none")


@pytest.mark.parametrize(
    "where",
    [slice(5, 40), slice(None, None, 3), slice(None, None, -1), slice(40, 5, -7)]
    + [slice(-10, None), slice(0, 0), slice(60, 200, 4), slice(3, None)],
    ids=str,
)
def test_parts_without_python(scaled, where):
    kernel, x, y = scaled
    bounds = where.indices(N)
    kinds = [{"slice": where}, {"range": range(*bounds)}, {"range": slice(*bounds)}]
    for number, kind in enumerate([*kinds, *kinds], 1):
        y.fill(0)
        expected = np.zeros(N, np.float32)
        expected[where] = number * HOST[where]
        kernel(number, x, y, **kind)
        same(y, expected)
    assert kernel.general == 0
    kernel(3, x, y, range=None, slice=None)
    same(y, 3 * HOST)


def test_parts_that_python_handles(scaled, strict):
    kernel, x, y = scaled
    kernel(1, x, y, slice=slice(2))
    for bad, error in [
        ({"slice": slice(2), "range": range(2)}, TypeError),
        ({"range": slice(0, 1)}, TypeError),
        ({"range": slice(0, 1, 0)}, ValueError),
        ({"slice": slice(0, 1, 0)}, ValueError),
        ({"slice": slice("a")}, TypeError),
        ({"range": range(N + 1)}, ValueError),
        ({"range": range(-3, 2)}, ValueError),
        ({"range": range(3, -3, -1)}, ValueError),
        ({"range": range(10**30)}, (ValueError, OverflowError)),
        ({"slice": 3}, (TypeError, AttributeError)),
    ]:
        with pytest.raises(error):
            kernel(1, x, y, **bad)


def test_views_of_memory(scaled):
    kernel, x, y = scaled
    kernel(3, x[10:30], y[20:40])
    same(y[20:40], 3 * HOST[10:30])
    kernel(5, x.reshape(7, 10), y.reshape(7, 10))
    same(y, 5 * HOST)
    kernel(2, gpuarray.empty(0, np.float32), y)
    assert kernel.general == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda x, y: (2, x[::2], y[: N // 2]),
        lambda x, y: (2, x.reshape(7, 10), y.reshape(7, 10, order="F")),
        lambda x, y: (2, to_gpu(HOST > 10), y),
    ],
    ids=["gaps", "order", "bool"],
)
def test_calls_that_python_handles(scaled, change):
    kernel, x, y = scaled
    arguments = change(x, y)
    y.fill(0)
    kernel(*arguments)
    found = y.get()
    y.fill(0)
    ElementwiseKernel._run(kernel, *arguments)
    same(y, found)
    assert kernel.general == 1


@pytest.mark.parametrize(
    ("change", "keywords"),
    [
        (lambda x, y: (2, x), {}),
        (lambda x, y: (2, x, y, y), {}),
        (lambda x, y: ("2", x, y), {}),
        (lambda x, y: (1j, x, y), {}),
        (lambda x, y: (2, x.astype(np.float64), y), {}),
        (lambda x, y: (2, x, y[:-1]), {}),
        (lambda x, y: (2, HOST, y), {}),
        (lambda x, y: (2, None, y), {}),
        (lambda x, y: (2, x, y), {"unknown": 1}),
        (lambda x, y: (2, x, y), {"range": slice(0, None, 1)}),
    ],
)
def test_errors_are_those_of_a_first_call(scaled, change, keywords, strict):
    kernel, x, y = scaled
    arguments = change(x, y)
    with pytest.raises(Exception) as expected:  # noqa: PT011  compared below
        ElementwiseKernel._run(kernel, *arguments, **keywords)
    with pytest.raises(type(expected.value)) as found:
        kernel(*arguments, **keywords)
    assert str(found.value) == str(expected.value)
    kernel(2, x, y)
    same(y, 2 * HOST)


def test_released_memory(scaled):
    kernel, x, y = scaled
    view = x[3:]
    x.gpudata.free()
    with pytest.raises(drv.LogicError):
        kernel(2, x, y)
    with pytest.raises(drv.LogicError):
        kernel(2, view, y)


def test_memory_released_by_a_conversion(scaled):
    kernel, x, y = scaled

    class Frees:
        def __float__(self):
            x.gpudata.free()
            return 1.0

    with pytest.raises(drv.LogicError):
        kernel(Frees(), x, y)


def test_a_call_in_a_conversion(scaled):
    kernel, x, y = scaled
    other = gpuarray.empty(N, np.float32)

    class Calls:
        def __float__(self):
            kernel._prepare(False)  # installs another plan
            kernel(5, x, other)
            return 2.0

    kernel(Calls(), x, y)
    same(y, 2 * HOST)
    same(other, 5 * HOST)


def test_another_context(scaled):
    kernel, x, y = scaled
    other = drv.Device(0).make_context()
    try:
        a, b = to_gpu(HOST), gpuarray.empty(N, np.float32)
        for number in (2, 3):
            kernel(number, a, b)
            same(b, number * HOST)
        del a, b
    finally:
        other.pop()
        other.detach()
    kernel(4, x, y)
    same(y, 4 * HOST)


def test_what_a_program_assigned(scaled):
    kernel, x, y = scaled
    x.mem_size = 5
    kernel(2, x, y)
    same(y[:6], np.array([0, 2, 4, 6, 8, 5], np.float32))
    x.mem_size = N
    x._grid = (1, 1)
    kernel(3, x, y)
    same(y, 3 * HOST)


def test_a_subclass_with_a_call_of_its_own(ctx):
    class Doubled(ElementwiseKernel):
        def __call__(self, x):
            super().__call__(x, x)
            return x

    kernel = Doubled("float *x, float *y", "y[i] = 2 * x[i]")
    x = to_gpu(HOST)
    same(kernel(kernel(x)), 4 * HOST)


def test_copies_have_a_plan_of_their_own(scaled):
    kernel, x, y = scaled
    other = copy.copy(kernel)
    assert other.gen_kwargs == kernel.gen_kwargs
    for number in (2, 3):
        other(number, x, y)
        same(y, number * HOST)


def test_kernels_are_collected(ctx):
    kernel = ElementwiseKernel("float *x", "x[i] = 1")
    kernel(gpuarray.empty(3, np.float32))
    kernel.itself = kernel
    gone = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert gone() is None


# -- reductions ------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 511, 512, 2048, 2049, 5000, 2**19 + 3])
def test_reductions_of_any_size(dot, size):
    kernel, _ = dot
    host = (np.arange(size) % 5).astype(np.float32)
    x = to_gpu(host)
    result = kernel(x, x)
    assert result.shape == () and result.dtype == np.float32
    assert result.get() == (host**2).sum() == kernel._run(x, x).get()
    assert kernel.general == 1


def test_keywords_of_reductions(dot):
    kernel, x = dot
    pool = DeviceMemoryPool()
    expected = (HOST**2).sum()
    result = kernel(x, x, allocator=pool.allocate, stream=drv.Stream())
    drv.Context.synchronize()
    assert result.get() == expected
    assert isinstance(result.gpudata, drv.PooledDeviceAllocation)
    pooled = to_gpu(HOST, pool.allocate)
    assert isinstance(kernel(pooled, x).gpudata, drv.PooledDeviceAllocation)
    assert kernel.general == 0
    out = gpuarray.empty((), np.float32)
    assert kernel(x, x, out=out) is out
    assert out.get() == expected
    wrapped = []
    kernel(x, x, kernel_wrapper=lambda f: wrapped.append(f) or f)
    assert len(wrapped) == 2
    assert kernel.general == 2


def test_unknown_keywords_of_reductions(dot):
    """PyCUDA ignores them, so programs may have them; each call warns."""
    kernel, x = dot
    for _ in range(2):
        with pytest.warns(
            UserWarning, match="the keyword 'queue'; it has .*stream"
        ) as w:
            assert kernel(x, x, queue=None, stream=None).get() == (HOST**2).sum()
        assert [warning.filename for warning in w] == [__file__]
    with pytest.raises(TypeError, match="colour"):
        ReductionKernel(np.float32, "0", "a + b", arguments="float *x", colour=1)


@pytest.mark.parametrize("keywords", [{"colour": 1}, {"use_range": True}])
def test_unknown_keywords_of_elementwise_kernels(ctx, keywords):
    x = gpuarray.zeros(5, np.float32)
    kernel = ElementwiseKernel("float *x", "x[i] = 1", "ones", **keywords)
    with pytest.raises(TypeError, match=f"unknown keywords: {next(iter(keywords))};"):
        kernel(x)
    with pytest.raises(TypeError, match="colour"):
        ElementwiseKernel("float *x", "x[i] = 1")(x, colour=1)


@pytest.mark.parametrize("kind", [InclusiveScanKernel, ExclusiveScanKernel])
def test_unknown_keywords_of_scans(ctx, kind):
    with pytest.raises(TypeError, match="colour"):
        kind(np.int32, "a + b", neutral="0", colour=1)
    with pytest.raises(TypeError, match="queue"):
        kind(np.int32, "a + b", neutral="0")(gpuarray.zeros(5, np.int32), queue=1)


def test_an_allocator_that_fails(dot):
    kernel, x = dot

    def allocator(size):
        raise ValueError(size)

    with pytest.raises(ValueError, match="4"):
        kernel(x, x, allocator=allocator)


def test_errors_of_reductions(dot, strict):
    kernel, x = dot
    with pytest.raises(TypeError, match="float64"):
        kernel(x.astype(np.float64), x)
    with pytest.raises(ValueError, match="elements"):
        kernel(x, x[:-1])
    with pytest.raises(TypeError, match=r"takes 2 arguments \(1 given\): .*\*x, .*\*y"):
        kernel(x)


def test_a_plan_of_wrong_values(scaled):
    kernel, x, _ = scaled
    function = kernel.generate_stride_kernel_and_types(False)[1]
    context, dtypes = drv.Context.get_current(), (None, x.dtype, x.dtype)
    good = ("elementwise", context, (function,), dtypes, b"\0\2\2", 1)
    kernel._remember(*good)
    changes = [(0, "other"), (0, None), (0, "reduction"), (2, ()), (2, (x,)), (3, ())]
    for place, value in [*changes, (4, b"\0"), (5, 3), (5, 0)]:
        bad = [*good]
        bad[place] = value
        with pytest.raises(TypeError, match="plan"):
            kernel._remember(*bad)
    with pytest.raises(TypeError, match="plan"):
        kernel._remember(*good, np.dtype("f"), 512, 4, 1024)


# -- scans -----------------------------------------------------------------------------


class CountedScan(InclusiveScanKernel):
    general = 0

    def _run(self, *args, **kwargs):
        self.general += 1
        return super()._run(*args, **kwargs)


@pytest.fixture
def scan(ctx):
    kernel = CountedScan(np.int32, "a + b")
    x = to_gpu(np.arange(10, dtype=np.int32))
    same(kernel(x), np.cumsum(np.arange(10, dtype=np.int32), dtype=np.int32))
    return kernel


@pytest.mark.parametrize("size", [1, 5, 8192, 8193, 100_000])
def test_scans_of_any_size(scan, size):
    host = (np.arange(size) % 7).astype(np.int32)
    expected = np.cumsum(host, dtype=np.int32)
    x = to_gpu(host)
    made = scan(x, "new")
    same(made, expected)
    assert made is not x
    out = gpuarray.empty_like(x)
    assert scan(x, out) is out
    same(out, expected)
    pool = DeviceMemoryPool()
    assert scan(x, output_ary=out, allocator=pool.allocate, stream=drv.Stream()) is out
    drv.Context.synchronize()
    assert scan(x, None, None, None) is x
    same(x, expected)
    assert scan.general == 0


def test_scans_that_python_handles(scan):
    host = np.arange(100, dtype=np.int32)
    x = to_gpu(host)
    same(scan(x[::2], "new"), np.cumsum(host[::2], dtype=np.int32))
    same(scan(x[:90], x[5:95]), np.cumsum(host[:90], dtype=np.int32))
    same(scan(gpuarray.empty(0, np.int32)), np.empty(0, np.int32))
    same(scan(to_gpu(host > 50), "new"), np.cumsum(host > 50, dtype=np.int32))
    assert scan.general == 4
    for arguments in [
        (x, "old"),
        (x, x[:-1]),
        (),
        (x, x, 0, 0, 0),
    ]:
        with pytest.raises((TypeError, ValueError)):
            scan(*arguments)
    with pytest.raises(TypeError, match="unknown"):
        scan(x, unknown=1)
    with pytest.warns(drv.PyCUDAWarning, match="input_ary is an array of int64"):
        assert scan(x.astype(np.int64), "new").dtype == np.int64
    x.gpudata.free()
    with pytest.raises(drv.LogicError):
        scan(x)


def test_scan_whose_function_was_prepared_anew(scan):
    scan.scan_intervals_knl.prepare("PP")
    with pytest.raises(RuntimeError, match="was prepared anew"):
        scan(to_gpu(np.arange(10, dtype=np.int32)))


def test_exclusive_scans(ctx):
    kernel = ExclusiveScanKernel(np.float64, "a * b", "1.0")
    host = np.linspace(0.9, 1.1, 9)
    for _ in range(2):
        got = kernel(to_gpu(host), "new").get()
        np.testing.assert_allclose(got, np.append(1, np.cumprod(host)[:-1]))
