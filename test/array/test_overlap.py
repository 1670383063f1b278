"""Views that overlap completely, by exactly one element, or not at all.

An overlap of one element is the smallest one, which a wrong comparison of ends misses.
Each case is compared with NumPy, which makes a copy if one is needed.
"""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import cumath, gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from pycuda.scan import InclusiveScanKernel
from support.faults import fail_calls  # noqa: F401

pytestmark = pytest.mark.gpu

N = 9

#: Pairs of views of an array with one axis of N elements.
PAIRS = {
    "one element": (slice(1, 2), slice(0, 2)),
    "one element, turned": (slice(0, 2), slice(1, 2)),
    "first and last": (slice(0, 5), slice(4, 9)),
    "last and first": (slice(4, 9), slice(0, 5)),
    "one, backwards": (slice(4, None, -1), slice(4, 9)),
    "the same element": (slice(3, 4), slice(3, 4)),
    "all, backwards": (slice(None), slice(None, None, -1)),
    "all but one": (slice(0, 8), slice(1, 9)),
    "side by side": (slice(0, 4), slice(4, 8)),
    "side by side, turned": (slice(4, 8), slice(0, 4)),
    "one element apart": (slice(0, 1), slice(1, 2)),
    "apart": (slice(0, 3), slice(6, 9)),
    "empty": (slice(2, 2), slice(0, 4)),
}


def of(pair):
    """Return (host, view, view) and (device, view, view)."""
    host = np.arange(N, dtype=np.int32) + 1
    device = to_gpu(host)
    one, other = PAIRS[pair]
    return (host, host[one], host[other]), (device, device[one], device[other])


@pytest.mark.parametrize("pair", PAIRS)
def test_may_share_memory(ctx, pair):
    (_, a, b), (_, x, y) = of(pair)
    assert np.may_share_memory(x, y) == np.may_share_memory(a, b)
    assert np.may_share_memory(y, x) == np.may_share_memory(b, a)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "argmin", "any", "mean", "var"])
@pytest.mark.parametrize("row", [0, 2, 63])
def test_reductions_into_their_input(ctx, name, row):
    """Each result is computed before its place in the input is overwritten."""
    host = np.random.default_rng(0).integers(-9, 9, (64, 64)).astype(np.float64)
    expected = getattr(np, name)(host, axis=1)
    x = to_gpu(host.astype(expected.dtype))
    host = x.get()
    expected = getattr(np, name)(host, axis=1).astype(host.dtype)
    out = x[row]
    assert getattr(gpuarray, name)(x, axis=1, out=out) is out
    np.testing.assert_allclose(out.get(), expected, 1e-12)
    host[row] = out.get()
    assert (x.get() == host).all()  # the other rows are unchanged


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, gpuarray.vec.float3], ids=str)
def test_copies_between_packed_ranges(ctx, fail_calls, dtype):  # noqa: F811
    """The driver copies ranges that do not overlap, a kernel those that do."""
    host = np.arange(24 * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)
    x = to_gpu(host)
    for target, source, copies in ((0, 12, 1), (12, 0, 1), (0, 0, 0), (0, 11, 1)):
        before = fail_calls.count("LaunchKernel"), fail_calls.count("MemcpyDtoDAsync")
        x[target : target + 12] = x[source : source + 12]
        host[target : target + 12] = host[source : source + 12].copy()
        overlap = 0 < abs(target - source) < 12
        assert fail_calls.count("LaunchKernel") - before[0] == overlap
        assert fail_calls.count("MemcpyDtoDAsync") - before[1] == copies
        assert x.get().tobytes() == host.tobytes()


def test_clip_into_its_bounds(ctx):
    host = np.array([9.0, -4.0, 2.5])
    low, high = np.array([2.0, 0.0, 2.0]), np.array([5.0, 1.0, 3.0])
    expected = np.clip(host, low, high)
    for place in range(3):
        arrays = [to_gpu(a) for a in (host, low, high)]
        assert np.clip(*arrays, out=arrays[place]) is arrays[place]
        assert (arrays[place].get() == expected).all()


@pytest.mark.parametrize("begin", [0, 1, 19999, 20000, 20001, 30000, 39999])
def test_scans_into_their_input(ctx, begin):
    scan = InclusiveScanKernel(np.int32, "a + b")
    host = np.arange(60000, dtype=np.int32) % 7
    x = to_gpu(host)
    scan(x[20000:40000], x[begin : begin + 20000])
    host[begin : begin + 20000] = np.cumsum(host[20000:40000])
    assert (x.get() == host).all()


def test_memory_is_shared_by_bytes(ctx):
    """The smallest overlap is one byte, and the smallest gap is none."""
    x = to_gpu(np.arange(16, dtype=np.uint8))
    for begin, shared in ((3, True), (4, False), (5, False)):
        assert np.may_share_memory(x[:4], x[begin : begin + 4]) is shared
        assert np.may_share_memory(x[begin : begin + 4], x[:4]) is shared
    wide = x[4:12].view(np.int32)
    assert np.may_share_memory(x[:5], wide) and not np.may_share_memory(x[:4], wide)
    assert np.may_share_memory(x[11:], wide) and not np.may_share_memory(x[12:], wide)
    other = to_gpu(np.arange(16, dtype=np.uint8))
    assert not np.may_share_memory(x, other)


def equal_lengths(pair):
    one, other = PAIRS[pair]
    return len(range(N)[one]) == len(range(N)[other])


LIKE = [pair for pair in PAIRS if equal_lengths(pair)]


@pytest.mark.parametrize("pair", LIKE)
def test_copies_between_views(ctx, pair):
    (host, a, b), (device, x, y) = of(pair)
    a[...] = b
    x[...] = y
    assert device.get().tolist() == host.tolist()
    (host, a, b), (device, x, y) = of(pair)
    a[...] = b.copy()
    x.set(y)
    assert device.get().tolist() == host.tolist()


@pytest.mark.parametrize("pair", PAIRS)
def test_copies_of_one_element(ctx, pair):
    """An element of one view is broadcast to the other."""
    (host, a, b), (device, x, y) = of(pair)
    a[...] = b[-1:]
    x[...] = y[-1:]
    assert device.get().tolist() == host.tolist()


@pytest.mark.parametrize("pair", LIKE)
def test_operators_in_place(ctx, pair):
    for name in ("__iadd__", "__isub__", "__imul__", "__ifloordiv__"):
        (host, a, b), (device, x, y) = of(pair)
        getattr(a, name)(b)
        getattr(x, name)(y)
        assert device.get().tolist() == host.tolist(), name


@pytest.mark.parametrize("pair", LIKE)
def test_results_in_an_input(ctx, pair):
    (host, a, b), (device, x, y) = of(pair)
    np.maximum(a, b[::-1], out=a)
    gpuarray.maximum(x, y[::-1], out=x)
    assert device.get().tolist() == host.tolist()
    (host, a, b), (device, x, y) = of(pair)
    np.add(b, b[::-1], out=a)
    np.add(y, y[::-1], out=x)
    assert device.get().tolist() == host.tolist()
    values = np.arange(N, dtype=np.float32) / N
    floats = to_gpu(values)
    one, other = PAIRS[pair]
    expected = values.copy()
    expected[one] = np.sqrt(values[other])
    if floats[one].strides == floats[other].strides:
        cumath.sqrt(floats[other], out=floats[one])
        assert np.allclose(floats.get(), expected)


@pytest.mark.parametrize("pair", PAIRS)
def test_take_to_a_view(ctx, pair):
    """take(out=) reads everything before it writes."""
    (host, a, b), (device, x, y) = of(pair)
    if len(b) == 0:
        return
    indices = np.arange(len(a))[::-1] % len(b)
    a[...] = b[indices].copy()
    assert gpuarray.take(y, to_gpu(indices.astype(np.int32)), out=x) is x
    assert device.get().tolist() == host.tolist()


@pytest.mark.parametrize("pair", PAIRS)
def test_put_from_a_view(ctx, pair):
    """The values are in the array that is written."""
    (host, a, b), (device, x, y) = of(pair)
    if len(b) == 0:
        return
    count = min(len(a), len(b))
    places = np.arange(count)[::-1].copy()
    b[places] = a[:count].copy()
    if y.strides[0] > 0:
        gpuarray.multi_put([x[:count]], to_gpu(places.astype(np.int32)), out=[y])
        assert device.get().tolist() == host.tolist()
    (host, a, b), (device, x, y) = of(pair)
    b[places] = a[:count].copy()
    y[to_gpu(places)] = x[:count]
    assert device.get().tolist() == host.tolist()


MANY = 5000  # several blocks, so that one reads after another has written


@pytest.mark.parametrize("common", [0, 1, 2, MANY // 2])
def test_the_last_element_read_is_the_first_written(ctx, common):
    """The first block writes what the last one reads."""
    host = np.arange(2 * MANY, dtype=np.int32) * 3
    order = np.arange(MANY, dtype=np.int32)
    early, late = slice(0, MANY), slice(MANY - common, 2 * MANY - common)
    assert len(range(2 * MANY)[late]) == MANY

    def check(move):
        device, wanted = to_gpu(host), host.copy()
        wanted[late] = host[early]
        move(device[early], device[late])
        assert np.array_equal(device.get(), wanted)

    device_order = to_gpu(order)
    check(lambda x, y: gpuarray.take(x, device_order, out=y))
    check(lambda x, y: gpuarray.multi_take([x], device_order, out=[y]))
    check(lambda x, y: gpuarray.multi_put([x], device_order, out=[y]))
    check(lambda x, y: gpuarray.multi_take_put([x], device_order, order, out=[y]))
    check(lambda x, y: y.__setitem__(device_order, x))
    check(lambda x, y: y.__setitem__(slice(None), x))
    check(lambda x, y: y.set(x))
    check(lambda x, y: gpuarray.maximum(x, x, out=y))


@pytest.mark.parametrize("shift", [-1, 0, 1, 2])
def test_one_row_in_common(ctx, shift):
    """With two axes: rows that meet, overlap by one, or leave a gap."""
    host = np.arange(24, dtype=np.float32).reshape(8, 3)
    device = to_gpu(host)
    a, b = host[0:3], host[2 + shift : 5 + shift]
    x, y = device[0:3], device[2 + shift : 5 + shift]
    assert np.may_share_memory(x, y) == np.may_share_memory(a, b) == (shift < 1)
    a[...] = b + 1
    x[...] = y + 1
    b -= a
    y -= x
    assert device.get().tolist() == host.tolist()


def test_columns_that_only_interleave(ctx):
    """The address ranges overlap but the elements do not. The result must be right."""
    host = np.arange(16, dtype=np.int32)
    device = to_gpu(host)
    host[::2] += host[1::2]
    even, odd = device[::2], device[1::2]
    even += odd
    assert device.get().tolist() == host.tolist()
    assert np.may_share_memory(device[::2], device[1::2])


def other_owner_of(view):
    """Yield arrays over the memory of a view, with another owner object."""

    class Holder(drv.PointerHolderBase):
        def get_pointer(self):
            return view.ptr

    yield gpuarray.from_dlpack(view)
    yield GPUArray(view.shape, view.dtype, gpudata=Holder())
    yield GPUArray(view.shape, view.dtype, gpudata=view.ptr)


@pytest.mark.parametrize("kind", range(3), ids=["dlpack", "holder", "address"])
@pytest.mark.parametrize("count", [1, 4000])
def test_two_owners_of_one_memory(ctx, kind, count):
    """Foreign objects do not tell which memory they own."""
    host = np.arange(count + 5000, dtype=np.int32)
    device = to_gpu(host)
    host[count:] += host[:-count]
    x = list(other_owner_of(device[count:]))[kind]
    y = list(other_owner_of(device[:-count]))[kind]
    x += y
    assert device.get().tolist() == host.tolist()
