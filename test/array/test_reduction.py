"""ReductionKernel, the ready-made reductions of pycuda.reduction, and scans."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray, reduction
from pycuda.elementwise import ElementwiseKernel
from pycuda.gpuarray import GPUArray, to_gpu
from pycuda.reduction import ReductionKernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel
from pycuda.sort import SortKernel
from pycuda.tools import VectorArg, get_or_register_dtype
from support.arrays import same

pytestmark = pytest.mark.gpu

SIZES = [1, 2, 511, 512, 513, 2048, 2049, 100_000]


@pytest.mark.parametrize("size", SIZES)
def test_a_dot_product(ctx, size):
    kernel = ReductionKernel(
        np.float64, "0", "a + b", "x[i] * y[i]", "double *x, double *y"
    )
    a, b = np.arange(float(size)), np.arange(float(size)) % 7
    result = kernel(to_gpu(a), to_gpu(b))
    assert result.shape == ()
    same(result, a.dot(b))


def test_defaults_and_scalars(ctx):
    kernel = ReductionKernel(np.int32, 0, "a + b", arguments="int *in")
    assert kernel(gpuarray.arange(100, dtype=np.int32)).get() == 4950
    kernel = ReductionKernel(
        np.int32, "0", "a > b ? a : b", "x[i] * factor", "int factor, int *x"
    )
    assert kernel(3, gpuarray.arange(100, dtype=np.int32)).get() == 297
    assert kernel.dtype_out == np.int32
    assert kernel.block_size == 512
    assert kernel.stage1_arg_types == ["P", "i", "P", "I", "N"]
    assert callable(kernel.stage1_func) and callable(kernel.stage2_func)


def test_out(ctx):
    kernel = ReductionKernel(np.int32, "0", "a + b", "x[i]", "int *x")
    x = gpuarray.arange(3000, dtype=np.int32)
    out = gpuarray.zeros(3, np.int32)
    assert kernel(x, out=out[1]).get() == 3000 * 2999 // 2
    assert out.get().tolist() == [0, 3000 * 2999 // 2, 0]
    assert kernel(x[:10], out=out) is out
    assert out.get().tolist()[0] == 45
    with pytest.raises(ValueError, match="int64.*int32"):
        kernel(x, out=GPUArray((), np.int64))
    with pytest.raises(ValueError):
        kernel(x, out=GPUArray(0, np.int32))


def test_how_often_memory_is_asked_for(ctx):
    asked = []

    def allocate(size):
        asked.append(size)
        return drv.mem_alloc(size)

    kernel = ReductionKernel(np.float32, "0", "a + b", "x[i]", "float *x")
    kernel(gpuarray.ones(2048, np.float32), allocator=allocate)
    assert asked == [4]
    kernel(gpuarray.ones(2049, np.float32), allocator=allocate)
    assert asked == [4, 8, 4]


def test_stream_and_wrapper(ctx):
    kernel = ReductionKernel(np.float32, "0", "a + b", "x[i]", "float *x")
    stream = drv.Stream()
    wrapped = []

    def wrapper(function):
        def call(*args):
            wrapped.append(args[0])
            return function(*args)

        return call

    x = gpuarray.ones(5000, np.float32)
    result = kernel(x, stream=stream, kernel_wrapper=wrapper)
    stream.synchronize()
    assert result.get() == 5000
    assert wrapped == [(3, 1), (1, 1)]


STRUCT = "struct packed_of_a_test { char kind; double value; };"


def make_kernel(kind, dtype, preamble):
    name = "packed_of_a_test"
    if kind == "elementwise":
        declared = f"double *z, const struct {name} *x"
        ElementwiseKernel(declared, "z[i] = x[i].value", preamble=preamble)(
            gpuarray.zeros(2, np.float64), gpuarray.zeros(2, dtype)
        )
    elif kind == "reduction":
        ReductionKernel(
            np.float64, "0", "a + b", "x[i].value", f"{name} *x", preamble=preamble
        )
    elif kind == "result":
        ReductionKernel(
            dtype, f"{name}()", "a", f"{name}()", "int *x", preamble=preamble
        )
    elif kind == "scan":
        InclusiveScanKernel(dtype, "a", preamble=preamble)
    else:
        SortKernel(dtype, "x.kind", np.int8, preamble=preamble)


@pytest.mark.parametrize("kind", ["elementwise", "reduction", "result", "scan", "sort"])
def test_the_struct_of_a_dtype_must_have_its_size(ctx, kind):
    packed = np.dtype([("kind", np.int8), ("value", np.float64)])
    packed = get_or_register_dtype("packed_of_a_test", packed)
    words = "dtype of packed_of_a_test has 9 bytes.* align=True .* in 16 bytes"
    with pytest.raises(drv.CompileError, match=words):
        make_kernel(kind, packed, STRUCT)
    make_kernel(
        kind, packed, STRUCT.replace("struct", "struct __attribute__((packed))")
    )


def test_the_fields_of_a_dtype_must_be_those_of_its_struct(ctx):
    dtype = get_or_register_dtype("short_of_a_test", [("a", np.int32), ("b", np.int32)])
    with pytest.raises(drv.CompileError, match="8 bytes.* compare the fields"):
        InclusiveScanKernel(
            dtype, "a", preamble="struct short_of_a_test { int a, b, c; };"
        )


def test_a_type_with_a_constructor(ctx):
    dtype = np.dtype([("low", np.int32), ("high", np.int32)])
    get_or_register_dtype("bounds_of_a_test", dtype)
    preamble = """
    struct bounds_of_a_test {
        int low, high;
        __device__ bounds_of_a_test() : low(1 << 30), high(-(1 << 30)) {}
        __device__ bounds_of_a_test(int l, int h) : low(l), high(h) {}
    };
    __device__ bounds_of_a_test join(bounds_of_a_test a, bounds_of_a_test b)
    {
        return bounds_of_a_test(min(a.low, b.low), max(a.high, b.high));
    }
    """
    kernel = ReductionKernel(
        dtype,
        "bounds_of_a_test()",
        "join(a, b)",
        "bounds_of_a_test(x[i], x[i])",
        [VectorArg(np.int32, "x")],
        preamble=preamble,
    )
    host = np.random.default_rng(0).integers(-1000, 1000, 5000).astype(np.int32)
    result = kernel(to_gpu(host)).get()
    assert (result["low"], result["high"]) == (host.min(), host.max())


def test_arrays_of_any_layout(ctx):
    kernel = ReductionKernel(
        np.float64, "0", "a + b", "x[i] * y[i]", "double *x, double *y"
    )
    a, b = np.random.default_rng(0).random((2, 30, 40))
    expected = (a * b).sum()
    got = kernel(to_gpu(a), to_gpu(np.asfortranarray(b))).get()
    np.testing.assert_allclose(got, expected)
    got = kernel(to_gpu(a)[::2], to_gpu(b)[::2]).get()
    np.testing.assert_allclose(got, (a * b)[::2].sum())


def test_maps_that_write_to_arrays_with_gaps(ctx):
    """As with an ElementwiseKernel, the elements that were written come back."""
    host = np.arange(24, dtype=np.float32)
    x, z = to_gpu(host)[::2], to_gpu(host)
    double = ReductionKernel(
        np.float32, "0", "a+b", "z[i] = 2 * x[i]", "const float *x, float *z"
    )
    assert double(x, z[1::2]).get() == 2 * host[::2].sum()
    expected = host.copy()
    expected[1::2] = 2 * host[::2]
    same(z, expected)
    # one element in place, in an array that shares memory with another argument
    add = ReductionKernel(
        np.float32, "0", "a+b", "i == 0 ? (x[i] += 5) : y[i]", "float *x, float *y"
    )
    rows = to_gpu(host.reshape(4, 6))
    add(rows[:, ::2], rows[:, 1::2])
    expected = host.reshape(4, 6).copy()
    expected[0, 0] += 5
    same(rows, expected)


def test_maps_that_only_read_copy_nothing_back(ctx, monkeypatch):
    """The kernel compiles with constant arguments, so the copies are dropped."""
    from pycuda._array.kernels import reduction_kernel

    monkeypatch.setattr(reduction_kernel, "copy_back", None)
    host = np.arange(24, dtype=np.float32)
    total = ReductionKernel(np.float32, "0", "a+b", "x[i] * y[i]", "float *x, float *y")
    x = to_gpu(host)
    assert total(x[::2], x[1::2]).get() == (host[::2] * host[1::2]).sum()
    assert total(x[::2], x[::2] > 5).get() == host[6::2].sum()


def test_wrong_calls(ctx):
    with pytest.raises(RuntimeError, match="array"):
        ReductionKernel(np.float32, "0", "a + b", "x", "float x")
    with pytest.raises(TypeError, match="dtype, not 'float x'.* takes dtype_out, neut"):
        ReductionKernel("float x", "float y", "x", "a + b", "y = a", "0")
    kernel = ReductionKernel(np.float32, "0", "a + b", "x[i]", "float *x")
    with pytest.raises(TypeError):
        kernel()
    with pytest.raises(TypeError, match="float"):
        kernel(1.0)


def test_ready_made(ctx):
    f, i = np.dtype(np.float32), np.dtype(np.int32)
    a = np.arange(-500, 3000, dtype=f)
    x = to_gpu(a)
    subset = to_gpu(np.array([3, 700, 3], i))
    assert reduction.get_sum_kernel(None, f)(x[:100]).get() == a[:100].sum()
    assert reduction.get_sum_kernel(np.dtype("f8"), f)(x).get() == a.sum(dtype="f8")
    assert reduction.get_minmax_kernel("min", f)(x).get() == -500
    assert reduction.get_minmax_kernel("max", i)(x.astype(i)).get() == 2999
    assert (
        reduction.get_minmax_kernel("min", np.dtype("i8"))(x.astype("i8")).get() == -500
    )
    assert (
        reduction.get_minmax_kernel("max", np.dtype("i8"))(x.astype("i8")).get() == 2999
    )
    assert reduction.get_any_kernel(np.dtype(bool), f)(x).get()
    assert not reduction.get_all_kernel(np.dtype(bool), f)(x).get()
    dot = reduction.get_dot_kernel(np.dtype("f8"), f, f)
    assert dot(x, x).get() == a.astype("f8").dot(a)
    lookup = subset.get()
    assert reduction.get_subset_sum_kernel(f, i, f)(subset, x).get() == a[lookup].sum()
    got = reduction.get_subset_dot_kernel(f, i, f, f)(subset, x, x).get()
    assert got == a[lookup].dot(a[lookup])
    assert reduction.get_subset_minmax_kernel("min", f, i)(subset, x).get() == -497
    for dtype in (np.dtype(bool), np.dtype("c8")):
        with pytest.raises(TypeError):
            reduction.get_minmax_kernel("min", dtype)


# -- scans -----------------------------------------------------------------------------

# For int32, a thread has 32 elements, a tile 8192, a window of tiles 524288.
LENGTHS = [1, 2, 31, 32, 33, 1023, 1024, 1025, 8191, 8192, 8193, 10_000, 600_000]


@pytest.mark.parametrize("size", LENGTHS)
def test_sums(ctx, size):
    host = np.random.default_rng(size).integers(-10, 10, size).astype(np.int32)
    inclusive = InclusiveScanKernel(np.int32, "a + b")
    exclusive = ExclusiveScanKernel(np.int32, "a + b", 0)
    x = to_gpu(host)
    assert inclusive(x) is x
    same(x, np.cumsum(host, dtype=np.int32))
    y = to_gpu(host)
    out = gpuarray.empty_like(y)
    assert exclusive(y, out) is out
    same(out, np.cumsum(host, dtype=np.int32) - host)
    same(y, host)


def test_an_operation_that_does_not_commute(ctx):
    """Compose maps x -> m * x + c, stored as pairs in a 64-bit number."""
    preamble = """
    __device__ unsigned long long then(unsigned long long a, unsigned long long b)
    {
        unsigned m = (unsigned)(a >> 32) * (unsigned)(b >> 32);
        unsigned c = (unsigned)a * (unsigned)(b >> 32) + (unsigned)b;
        return (unsigned long long)m << 32 | c;
    }
    """
    rng = np.random.default_rng(0)
    maps = rng.integers(1, 100, (5000, 2)).astype(np.uint32)
    packed = maps[:, 0].astype(np.uint64) << np.uint64(32) | maps[:, 1]
    kernel = InclusiveScanKernel(np.uint64, "then(a, b)", preamble=preamble)
    got = kernel(to_gpu(packed)).get()
    m, c = 1, 0
    for number, (factor, summand) in enumerate(maps.tolist()):
        m, c = m * factor % 2**32, (c * factor + summand) % 2**32
        assert got[number] == m << 32 | c


def test_the_order_over_many_tiles(ctx):
    """Take the later or the earlier of two values, over more than two windows."""
    host = np.random.default_rng(5).integers(1, 1 << 30, 1_100_000).astype(np.int32)
    x = to_gpu(host)
    later = ExclusiveScanKernel(np.int32, "b", 0)(x, "new").get()
    assert later[0] == 0 and (later[1:] == host[:-1]).all()
    earlier = InclusiveScanKernel(np.int32, "a")(x, "new").get()
    assert (earlier == host[0]).all()


TRIPLE = """
struct triple {
    int sum, count, last;
    __device__ triple() {}
    __device__ triple(int s, int c, int l) : sum(s), count(c), last(l) {}
};
__device__ triple sum_of(triple a, triple b)
{
    return triple(a.sum + b.sum, a.count + b.count, b.last);
}
"""


def test_a_scan_of_structures(ctx):
    """Structures of twelve bytes fit no vector load. The scan takes the later one."""
    dtype = np.dtype([("sum", np.int32), ("count", np.int32), ("last", np.int32)])
    get_or_register_dtype("triple", dtype)
    host = np.zeros(9000, dtype)
    host["sum"] = np.arange(9000)
    host["count"] = 1
    host["last"] = np.arange(9000)[::-1]
    kernel = InclusiveScanKernel(dtype, "sum_of(a, b)", preamble=TRIPLE)
    got = kernel(to_gpu(host)).get()
    assert (got["sum"] == host["sum"].cumsum()).all()
    assert (got["count"] == np.arange(1, 9001)).all()
    assert (got["last"] == host["last"]).all()


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "complex128"])
def test_scans_of_other_sizes(ctx, dtype):
    """A window of tiles has 131072 elements of complex128. Cross two windows."""
    size = 270_000 if dtype == "complex128" else 20_000
    host = np.random.default_rng(1).integers(0, 3, size).astype(dtype)
    want = np.cumsum(host, dtype=dtype)
    same(InclusiveScanKernel(dtype, "a + b")(to_gpu(host)), want)
    neutral = "0"
    shifted = np.concatenate([np.zeros(1, dtype), want[:-1]])
    same(ExclusiveScanKernel(dtype, "a + b", neutral)(to_gpu(host)), shifted)


def test_a_scan_that_begins_anywhere(ctx):
    """An unaligned scan works element by element, with the same result."""
    kernel = InclusiveScanKernel(np.float32, "a + b")
    host = np.random.default_rng(2).random(20_001).astype(np.float32)
    even = kernel(to_gpu(host[1:])).get()
    odd = to_gpu(host)[1:]
    kernel(odd)
    assert odd.get().tobytes() == even.tobytes()


def test_a_scan_gives_the_same_bits_again(ctx):
    kernel = InclusiveScanKernel(np.float32, "a + b")
    host = np.random.default_rng(3).standard_normal(100_000).astype(np.float32)
    first = kernel(to_gpu(host)).get()
    assert np.allclose(first, host.cumsum(dtype=np.float64), atol=1e-2)
    for _ in range(3):
        assert kernel(to_gpu(host)).get().tobytes() == first.tobytes()


def test_lines_are_scanned_in_one_launch(ctx):
    """Test short lines, lines of several tiles, and other axes than the last."""
    rng = np.random.default_rng(4)
    for shape in [(300, 7), (3, 20_000), (2, 9000, 2), (5, 1), (1, 5)]:
        host = rng.integers(-9, 9, shape).astype(np.int32)
        x = to_gpu(host)
        for axis in range(host.ndim):
            same(gpuarray.cumsum(x, axis, np.int32), host.cumsum(axis, np.int32))
        same(x, host)


def test_scan_arguments(ctx, strict):
    kernel = InclusiveScanKernel(np.int32, "a + b", name_prefix="mine")
    host = np.arange(20, dtype=np.int32)
    new = kernel(to_gpu(host), output_ary="new")
    same(new, host.cumsum(dtype=np.int32))
    assert kernel(gpuarray.zeros(0, np.int32)).size == 0
    gapped = to_gpu(host)[::-2]
    kernel(gapped)
    same(gapped, host[::-2].cumsum(dtype=np.int32))
    with pytest.raises(ValueError, match="one axis"):
        kernel(gpuarray.zeros((2, 3), np.int32))
    with pytest.raises(ValueError, match="int64.*int32"):
        kernel(gpuarray.zeros(3, np.int64))
    with pytest.raises(ValueError, match=r"\(3,\).*\(4,\)"):
        kernel(gpuarray.zeros(3, np.int32), gpuarray.zeros(4, np.int32))
    with pytest.raises(ValueError, match="neutral"):
        ExclusiveScanKernel(np.int32, "a + b")
    maximum = ExclusiveScanKernel(np.float32, "max(a, b)", "-1e30f")
    got = maximum(to_gpu(np.array([1, 5, 2, 7], np.float32))).get()
    assert got.tolist() == [np.float32(-1e30), 1, 5, 5]
    stream = drv.Stream()
    x = to_gpu(host)
    kernel(x, stream=stream)
    stream.synchronize()
    same(x, host.cumsum(dtype=np.int32))
