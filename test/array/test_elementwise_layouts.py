"""Elementwise operations on operands of any layout, against NumPy.

The layouts decide the kernel: vectors along the fastest axis, backward vectors, one
element for a whole vector, several single elements in a thread.
"""

import numpy as np
import pytest

from pycuda import _driver, gpuarray
from pycuda._array.kernels import compilation
from pycuda.gpuarray import to_gpu
from support.arrays import same

pytestmark = pytest.mark.gpu

rng = np.random.default_rng(20)


def host(shape, dtype=np.float32):
    return (rng.random(shape) * 100).astype(dtype)


VIEWS = {
    "whole": lambda a: a,
    "inner": lambda a: a[..., 1:-1],
    "aligned inner": lambda a: a[..., 4:-4],
    "half aligned": lambda a: a[..., 2:-2],
    "backward": lambda a: a[..., ::-1],
    "inner backward": lambda a: a[..., -2:0:-1],
    "aligned backward": lambda a: a[..., -5:3:-1],
    "upside down": lambda a: a[::-1],
    "all reversed": lambda a: a[tuple(slice(None, None, -1) for _ in a.shape)],
    "every second": lambda a: a[..., ::2],
    "every third backward": lambda a: a[..., ::-3],
    "turned": lambda a: a.T,
    "from the second": lambda a: a[1:],
    "first only": lambda a: a[..., :1],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("shape", [(96,), (7, 24), (5, 3, 16)], ids=str)
def test_views(ctx, shape, view):
    a = host(shape)
    x, part = to_gpu(a), view(a)
    same(view(x) + 1, part + np.float32(1))
    same(view(x).copy(), part)
    same(view(x) - view(x)[::-1], part - part[::-1])
    target = gpuarray.zeros(shape, np.float32)
    expected = np.zeros(shape, np.float32)
    view(target)[...] = view(x)
    view(expected)[...] = part
    same(target, expected)
    view(target)[...] = view(x)[::-1]  # from other places
    view(expected)[...] = part[::-1]
    same(target, expected)


@pytest.mark.parametrize(
    "dtype", ["bool", "i1", "u2", "i4", "f2", "f8", "c8", "c16", "u8"]
)
def test_sizes_of_elements(ctx, dtype):
    a = host((6, 32), dtype)
    x = to_gpu(a)
    for view in ("inner", "backward", "aligned inner", "every second"):
        same(VIEWS[view](x).copy(), VIEWS[view](a))
    wide = "c16" if "c" in dtype else "f8"
    same(x[:, ::-1].astype(wide), a[:, ::-1].astype(wide))
    row, column = a[:1], a[:, :1]
    if dtype != "bool":
        same(x * to_gpu(row), a * row)
        same(x * to_gpu(column), a * column)
        same(x[:, 3:] + x[:, :-3], a[:, 3:] + a[:, :-3])


@pytest.mark.parametrize(
    "shapes",
    [
        [(8, 1), (1, 12)],
        [(3, 1, 8), (5, 1)],
        [(4, 6, 8), (6, 1)],
        [(4, 6, 8), (4, 1, 1)],
        [(4, 6, 8), (8,), (6, 1)],
        [(2, 3, 1, 4), (5, 1), (3, 1, 1)],
        [(16, 4), (4,)],
        [(1, 1), (64,)],
    ],
    ids=str,
)
def test_broadcasting(ctx, shapes):
    arrays = [host(shape) for shape in shapes]
    result, expected = to_gpu(arrays[0]), arrays[0]
    for array in arrays[1:]:
        result, expected = result * to_gpu(array), expected * array
    same(result, expected)


def test_mixed_dtypes_in_views(ctx):
    for first, second in [("i1", "f4"), ("f2", "f8"), ("u1", "i8"), ("f4", "c16")]:
        a, b = host((9, 32), first), host((9, 32), second)
        x, y = to_gpu(a), to_gpu(b)
        same(x[:, ::-1] * y, a[:, ::-1] * b)
        same(x[:, 8:24] + y[1, 8:24], a[:, 8:24] + b[1, 8:24])
        same(np.maximum(x[:, 1:], y[:, :-1]), np.maximum(a[:, 1:], b[:, :-1]))


def test_random_layouts(ctx):
    """Many layouts of one operation; the kernels are few."""
    for _ in range(150):
        ndim = int(rng.integers(1, 5))
        shape = tuple(int(n) for n in rng.integers(1, 9, ndim))
        full = tuple(3 * n + 4 for n in shape)
        a, b = (rng.integers(0, 99, full).astype(np.int32) for _ in range(2))
        x, y = to_gpu(a), to_gpu(b)

        def cut(shape=shape):
            index = []
            for n in shape:
                step = int(rng.choice([1, 1, 1, -1, 2, -3]))
                start = int(rng.integers(0, 4))
                if step < 0:
                    start += -step * (n - 1)
                stop = start + step * n
                index.append(slice(start, None if stop < 0 else stop, step))
                if rng.random() < 0.2:
                    index[-1] = slice(1, 2)
            return tuple(index)

        one, two = cut(), cut()
        same(x[one] - y[two], a[one] - b[two])
        shape = np.broadcast_shapes(a[one].shape, b[two].shape)
        out, expected = gpuarray.zeros(full, np.int32), np.zeros(full, np.int32)
        place = tuple(slice(n + 1, 1, -1) for n in shape)
        np.add(x[one], y[two], out=out[place])
        np.add(a[one], b[two], out=expected[place])
        same(out, expected)


def test_records_in_views(ctx):
    for kind in ("i4,i8", "u1,u1,u1", "S7", "S20"):
        a = np.frombuffer(bytes(rng.integers(0, 256, 60 * 24, np.uint8)), "u1")
        dtype = np.dtype(kind)
        a = a[: 60 * dtype.itemsize].view(dtype).reshape(12, 5)
        x = to_gpu(a)
        for view in ("inner", "backward", "upside down", "turned"):
            assert VIEWS[view](x).copy().get().tobytes() == VIEWS[view](a).tobytes()


def test_in_place_in_views(ctx):
    a = host((8, 20))
    x = to_gpu(a)
    x[:, 1:-1] += x[:, :-2]
    a[:, 1:-1] += a[:, :-2].copy()
    same(x, a)
    x[::-1, ::-1] *= x
    a[::-1, ::-1] *= a.copy()
    same(x, a)


def asked_for(monkeypatch, calls):
    """Return the requests for kernels that the calls make in a context of their own."""
    asked = []
    kernel_images = compilation.kernel_images

    def noted(requests):
        asked.extend(requests)
        return kernel_images(requests)

    monkeypatch.setattr(compilation, "kernel_images", noted)
    context = _driver.Device(0).make_context()
    try:
        calls()
    finally:
        context.pop()
        context.detach()
    return asked


def test_the_kernel_of_a_layout(monkeypatch):
    def calls():
        x = gpuarray.zeros((64, 16), np.float32)
        row, column = x[0].copy(), x[:, :1].copy()
        x * row
        x * column
        x[:, 1:-1] * x[:, 2:]
        x[:, ::-1].copy()

    asked = asked_for(monkeypatch, calls)[-4:]
    assert [(a.passing, a.vector, a.tile) for a in asked] == [
        (("packed", "array", "packed"), 4, 1),
        (("packed", "repeated", "packed"), 4, 1),
        (("array", "array", "packed"), 1, 4),
        (("backward", "packed"), 4, 1),
    ]


# -- rows, on the software device ------------------------------------------------------


@pytest.fixture(params=["rows", "vectors"])
def ways(request, monkeypatch):
    """A context whose kernels go by rows if that is possible, and one as on a GPU."""
    if request.param == "vectors":
        monkeypatch.setattr(compilation, "may_differ", lambda: False)
    context = _driver.Device(0).make_context()  # a context's kernels are its own
    yield request.param
    context.pop()
    context.detach()


@pytest.mark.parametrize("length", [64, 126, 128, 200, 256, 1022, 2048, 4099])
def test_lengths_of_rows(ways, length):
    a = host((4096 // length + 3, length))
    x = to_gpu(a)
    for k in (0, 1, 30):
        same(x[:, k:] + x[:, : length - k], a[:, k:] + a[:, : length - k])
    same(x * x[0], a * a[0])
    same(x * x[:, :1], a * a[:, :1])
    same(x[::-1, ::-1] - x, a[::-1, ::-1] - a)
    same(x + x[1, 2], a + a[1, 2])
    same(np.sqrt(x[:, 1:]), np.sqrt(a[:, 1:]))
    x[1:-1, 1:-1] = x[:-2, 2:]
    a[1:-1, 1:-1] = a[:-2, 2:].copy()
    same(x, a)
    x[:, ::3] *= 2
    a[:, ::3] *= 2
    same(x, a)


@pytest.mark.parametrize(
    "dtype", ["bool", "i1", "u2", "i4", "f2", "f8", "c8", "c16", "u8"]
)
def test_rows_of_every_size(ways, dtype):
    a = host((5, 6, 300), dtype)
    x = to_gpu(a)
    same(x[:, 1:, 1:].copy(), a[:, 1:, 1:])
    same(x == x[::-1, :, ::-1], a == a[::-1, :, ::-1])
    chosen = np.where(a == 1, a[:, :1], a[:, :, :1])
    same(gpuarray.where(x == 1, x[:, :1], x[:, :, :1]), chosen)
    same(x.astype("c16"), a.astype("c16"))
    same(x[::2, ::-1, 3:-3].copy(), a[::2, ::-1, 3:-3])
    if dtype != "bool":
        same(x[:, 1:] * x[:, :-1], a[:, 1:] * a[:, :-1])


def test_rows_of_other_operations(ways):
    a = host((9, 1001)) + 1
    x = to_gpu(a)
    parts = np.divmod(x[:, 1:], x[:, :-1])
    for part, expected in zip(parts, np.divmod(a[:, 1:], a[:, :-1]), strict=True):
        same(part, expected)
    same(x[:, 1:] ** 2.0, a[:, 1:] ** 2)
    same(gpuarray.arange(5000, dtype=np.float32), np.arange(5000, dtype=np.float32))
    same(gpuarray.arange(5000, dtype=np.uint64), np.arange(5000, dtype=np.uint64))
    many = np.linspace(0, 1, 5001)
    np.testing.assert_allclose(gpuarray.linspace(0, 1, 5001).get(), many, rtol=1e-15)


@pytest.mark.parametrize("shift", [0, 1, -70, 64, 1000])
@pytest.mark.parametrize("dtype", ["i4", "bool", "c16"])
def test_rolls_of_rows(ways, shift, dtype):
    a = host((3, 64, 65), dtype)
    x = to_gpu(a)
    for view in (VIEWS["whole"], VIEWS["backward"], VIEWS["turned"]):
        for axis in (0, 1, 2, (0, 2), (0, 1, 2), None):
            same(gpuarray.roll(view(x), shift, axis), np.roll(view(a), shift, axis))


@pytest.mark.skipif(not _driver._is_emulated(), reason="a GPU has no such kernels")
@pytest.mark.parametrize("may", [True, False])
def test_when_kernels_go_by_rows(monkeypatch, may):
    def calls():
        x = gpuarray.zeros((64, 70), np.float32)
        gpuarray.roll(x, 1, 0)
        x[:, 1:] + x[:, :-1]
        x[:2] * x[0]  # few elements
        gpuarray.zeros((700, 20), np.float32)[:, 1:] * x[0, 0]  # short rows

    if not may:
        monkeypatch.setattr(compilation, "may_differ", lambda: False)
    asked = [(a.family, a.operation) for a in asked_for(monkeypatch, calls)]
    assert (("elementwise_rows", "add") in asked) == may
    assert (("elementwise", "add") in asked) != may
    assert ("remap" in dict(asked)) != may
    assert ("elementwise_rows", "multiply") not in asked


def test_kernels_are_those_of_a_gpu_where_these_are_noted(monkeypatch, tmp_path):
    for variable in ("PYCUDA_RECORD", "PYCUDA_EMULATOR_COUNT"):
        monkeypatch.delenv(variable, raising=False)
        assert compilation.may_differ()
        monkeypatch.setenv(variable, str(tmp_path))
        assert not compilation.may_differ()
        monkeypatch.delenv(variable)
    monkeypatch.setattr(compilation.bundle, "in_use", lambda: ["a bundle"])
    assert not compilation.may_differ()


# -- operands that are packed along different axes -------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "i1", "f2", "f4", "i8", "c8", "c16"])
@pytest.mark.parametrize("shape", [(64, 64), (70, 130), (2, 33, 50)], ids=str)
def test_turned_operands(ctx, dtype, shape):
    a, b = host(shape, dtype), host((*shape[:-2], *shape[:-3:-1]), dtype)
    x, y = to_gpu(a), to_gpu(b)
    turned, right = b.swapaxes(-1, -2), y.transpose((*range(a.ndim - 2), -1, -2))
    same(x == right, a == turned)
    same(right >= x, turned >= a)
    same(gpuarray.where(x == right, right, x), np.where(a == turned, turned, a))
    same(gpuarray.maximum(right, x[..., :1]), np.maximum(turned, a[..., :1]))
    out = gpuarray.zeros(shape, "c16" if dtype[0] == "c" else "f8")
    np.maximum(right, right, out)
    same(out, turned.astype(out.dtype))
    if dtype != "bool":
        same(x * 2 + right, a * np.array(2, dtype) + turned)
        x += right
        same(x, a + turned)


def test_turned_operands_of_more_axes(ctx):
    a, b = host((5, 4, 66, 33)), host((5, 33, 66, 4))
    x, y = to_gpu(a), to_gpu(b)
    turned, right = b.transpose((0, 3, 2, 1)), y.transpose((0, 3, 2, 1))
    same(x - right, a - turned)
    same(x[:, ::-1] - right, a[:, ::-1] - turned)
    same(right[::2] - x[::2], turned[::2] - a[::2])
    quotients = np.divmod(x, right + 1)
    for part, expected in zip(quotients, np.divmod(a, turned + 1), strict=True):
        same(part, expected)


def test_the_kernel_of_turned_operands(monkeypatch):
    def calls():
        x = gpuarray.zeros((64, 64), np.float16)
        z = x.astype(np.complex128)
        x + x.T
        z * z.T
        x[:4] + x[:, :4].T  # would use little of a tile

    families = [(a.family, a.passing, a.tile) for a in asked_for(monkeypatch, calls)]
    assert families[-3:] == [
        ("elementwise_tiles", ("array", "turned", "array"), 64),
        ("elementwise_tiles", ("array", "turned", "array"), 32),
        ("elementwise", ("packed", "array", "packed"), 4),
    ]


# -- operations with kernels of their own ----------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "i1", "u4", "f2", "f4", "f8", "c8"])
def test_clip(ctx, dtype):
    a = host((5, 12), dtype)
    if a.dtype.kind in "fc":
        a[1, 2:5] = np.nan, np.inf, -np.inf
    x = to_gpu(a)
    low, high = a.min(), a[0]
    for bounds in [
        (1, 50),
        (None, 50),
        (1, None),
        (low, high),
        (high[::-1], 60),
        (9, 3),
    ]:
        if dtype == "bool":
            bounds = tuple(None if b is None else np.bool_(np.any(b)) for b in bounds)
        device = [to_gpu(b) if isinstance(b, np.ndarray) else b for b in bounds]
        same(np.clip(x, *device), np.clip(a, *bounds))
        same(x[:, ::-1].clip(*device), a[:, ::-1].clip(*bounds))


def test_clip_promotes(ctx):
    a = host(20, np.int8)
    x = to_gpu(a)
    same(np.clip(x, 2.5, 40), np.clip(a, 2.5, 40))
    wide = np.array([3], np.int64)
    same(np.clip(x, to_gpu(wide), 40), np.clip(a, wide, 40))
    same(np.clip(x, 1, 1000), np.maximum(a, 1))  # beyond the range: no bound
    same(np.clip(x, -1000, 1), np.minimum(a, 1))


def test_clip_is_one_kernel(monkeypatch):
    asked = asked_for(
        monkeypatch, lambda: np.clip(gpuarray.empty(8, np.float32), 0.2, 0.8)
    )
    assert [request.operation for request in asked] == ["clip"]


@pytest.mark.parametrize("exponent", [3.3, -3.3, 0.1, 20, -0.37, 1e-6, 100, -2, 7])
@pytest.mark.parametrize("is_array", [False, True])
def test_powers_are_accurate(ctx, exponent, is_array):
    a = np.exp(rng.uniform(-3, 3, 4000)).astype(np.float32)
    a[::9] = np.exp(rng.uniform(-80, 80, a[::9].size))
    a[1::9] = 1 + rng.normal(0, 1e-3, a[1::9].size)
    power = np.full_like(a, exponent) if is_array else exponent
    result = (to_gpu(a) ** (to_gpu(power) if is_array else power)).get()
    with np.errstate(over="ignore", under="ignore"):
        exact = a.astype(np.longdouble) ** np.longdouble(np.float32(exponent))
        nearest = exact.astype(np.float32)
    inside = np.isfinite(nearest) & (nearest > 1e-37)
    error = np.abs(result - exact)[inside] / np.spacing(nearest[inside])
    assert error.max() < 1.5
    np.testing.assert_array_equal(np.isinf(result), np.isinf(nearest))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_powers_of_special_values(ctx, dtype):
    a = [0, -0.0, 1, -1, 2, -2, np.inf, -np.inf, np.nan, 1e-7, 6e4, -3.5]
    a = np.array(a, dtype)
    exponents = [3.3, -3.3, 3, -3, np.inf, -np.inf, np.nan, 0, -0.0, 4, 2, -1, 1]
    for exponent in exponents:
        with np.errstate(all="ignore"):
            expected = a ** np.array(exponent, dtype)
        same(to_gpu(a) ** float(exponent), expected, False)
        same(to_gpu(a) ** to_gpu(np.full_like(a, exponent)), expected, False)


@pytest.mark.parametrize("dtype", ["i2", "f4", "bool", "c8"])
def test_diff(ctx, dtype):
    a = host((4, 5, 7), dtype)
    x = to_gpu(a)
    for n in (0, 1, 2, 7):
        for axis in (0, 1, -1):
            same(np.diff(x, n, axis), np.diff(a, n, axis))
    one = np.ones((), dtype)
    edge = host((4, 2, 7), dtype)
    for prepend, append in [(edge, None), (None, edge), (edge, edge), (one, one)]:
        device = [None if e is None else to_gpu(e) for e in (prepend, append)]
        words = {"prepend": prepend, "append": append}
        words = {k: v for k, v in words.items() if v is not None}
        expected = np.diff(a, 1, 1, **words)
        same(gpuarray.diff(x, 1, 1, *device), expected)
    if dtype != "bool":
        same(np.diff(x, prepend=3), np.diff(a, prepend=3))
    for wrong in ({"n": -1}, {"axis": 3}):
        with pytest.raises(ValueError):
            np.diff(x, **wrong)
    with pytest.raises(ValueError, match="axis"):
        gpuarray.diff(to_gpu(one))
    with pytest.raises(TypeError, match="to_gpu"):
        gpuarray.diff(x, prepend=a)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8"])
def test_round(ctx, dtype):
    a = (host((5, 40), "f8") - 50).astype(dtype)
    x = to_gpu(a)
    for decimals in (0, 1, 2, -1):
        same(np.round(x, decimals), np.round(a, decimals), exact=False)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_remainders_are_exact(ctx, dtype):
    """Quotients of few digits and of many, next to whole ones, and special values."""
    info = np.finfo(dtype)
    special = [0.0, -0.0, 1, -1, 0.5, 3, np.inf, -np.inf, np.nan, 1 - info.epsneg]
    special += [
        info.tiny,
        -info.tiny,
        info.smallest_subnormal,
        info.max,
        -info.max,
        7.5,
    ]
    a, b = (m.ravel() for m in np.meshgrid(*[np.array(special, dtype)] * 2))
    x, y = (
        (rng.normal(size=3000) * np.exp(rng.uniform(-8, 8, 3000))).astype(dtype)
        for _ in range(2)
    )
    whole = y * rng.integers(-2000, 2000, y.size).astype(dtype)
    near = np.nextafter(whole, np.array(np.inf, dtype))
    a, b = np.concatenate([a, x, whole, near, -near]), np.concatenate([b, y, y, y, y])
    first, second = to_gpu(a), to_gpu(b)
    with np.errstate(all="ignore"):
        for function in (np.fmod, np.remainder, np.floor_divide, np.divmod):
            got, expected = function(first, second), function(a, b)
            if function is not np.divmod:
                got, expected = (got,), (expected,)
            for mine, numpys in zip(got, expected, strict=True):
                same(mine, numpys)
                numbers = ~np.isnan(numpys)
                signs = np.signbit(mine.get())[numbers]
                np.testing.assert_array_equal(signs, np.signbit(numpys)[numbers])


@pytest.mark.parametrize("count", [2**19, 2**19 + 4, 2**19 + 1])
def test_two_vectors_in_a_thread(ways, count):
    a = rng.random(count, np.float32)
    x = to_gpu(a)
    same(np.sqrt(x), np.sqrt(a))
    same(np.log(x), np.log(a), exact=False)
    np.testing.assert_allclose((x**1.5).get(), a**1.5, rtol=1e-6)
    same(np.isnan(x), np.isnan(a))


def test_vectors_of_mixed_sizes(monkeypatch):
    def calls():
        x = gpuarray.zeros(64, np.float32)
        mask = gpuarray.zeros(64, np.bool_)
        half = gpuarray.zeros(64, np.float16)
        x.astype(np.float64)
        gpuarray.where(mask, x, x)
        mask.astype(np.float64)
        half.astype(np.float32)
        x.astype(np.float16)
        np.isnan(x)
        np.less(x, x)

    asked = asked_for(monkeypatch, calls)[-7:]
    assert [request.vector for request in asked] == [2, 4, 2, 4, 8, 8, 8]


SPECIAL = [0.0, -0.0, 1, -1, 1 + 1e-6, 1e-9, np.inf, -np.inf, np.nan, 1e30]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_isclose(ctx, dtype):
    a, b = (m.ravel() for m in np.meshgrid(*[np.array(SPECIAL, dtype)] * 2))
    if dtype.startswith("c"):
        a, b = a + 1j * a[::-1].real, b + 1j * a[::-1].real
        a, b = a.astype(dtype), b.astype(dtype)
    x, y = to_gpu(a), to_gpu(b)
    with np.errstate(all="ignore"):
        for words in ({}, {"equal_nan": True}, {"rtol": 0.5}, {"atol": 2, "rtol": 0}):
            same(np.isclose(x, y, **words), np.isclose(a, b, **words))
            same(
                np.isclose(x, 1.0, **words), np.isclose(a, np.array(1, dtype), **words)
            )
    assert np.allclose(x, x, equal_nan=True)
    assert not np.allclose(x, y)


@pytest.mark.parametrize("dtype", ["bool", "i4", "f2", "f4", "f8", "c8"])
def test_functions_without_a_ufunc(ctx, dtype):
    a = np.array(SPECIAL if dtype[0] in "fc" else [0, 1, 5], dtype)
    if dtype[0] == "c":
        a = (a + 1j * a[::-1].real).astype(dtype)
    x = to_gpu(a)
    with np.errstate(all="ignore"):
        same(np.nan_to_num(x), np.nan_to_num(a))
        words = {"nan": 3.0, "posinf": 7.0, "neginf": -8.0}
        same(np.nan_to_num(x, **words), np.nan_to_num(a, **words))
        if dtype[0] == "f":
            same(np.fix(x), np.trunc(a))
            same(np.isposinf(x), np.isposinf(a))
            same(np.isneginf(x), np.isneginf(a))
            small = np.linspace(-3, 3, 61).astype(dtype)
            got = np.sinc(to_gpu(small)).get()
            assert got.dtype == dtype
            bound = 8 * np.finfo(dtype).eps
            np.testing.assert_allclose(got, np.sinc(small.astype("f8")), atol=bound)
            tiny = np.array([0, -0.0, 1e-9, -1e-9], dtype)
            np.testing.assert_allclose(np.sinc(to_gpu(tiny)).get(), 1, rtol=bound)
            far = np.array([np.finfo(dtype).max, 2.0**15, -(2.0**15)], dtype)
            np.testing.assert_array_equal(np.sinc(to_gpu(far)).get(), 0)
        if dtype[0] == "c":
            same(np.angle(x, deg=True), np.angle(a, deg=True), exact=False)
    assert np.nan_to_num(x, copy=False) is x


def test_gradient_and_ediff1d(ctx):
    a = rng.random((4, 5, 6))
    x = to_gpu(a)
    for words in ({}, {"axis": 1}, {"axis": (0, -1)}, {"edge_order": 2}):
        got, expected = np.gradient(x, **words), np.gradient(a, **words)
        if "axis" in words and words["axis"] == 1:
            got, expected = (got,), (expected,)
        for mine, numpys in zip(got, expected, strict=True):
            np.testing.assert_allclose(mine.get(), numpys, rtol=1e-12, atol=1e-12)
    for mine, numpys in zip(
        np.gradient(x, 2, 3, 0.5), np.gradient(a, 2, 3, 0.5), strict=True
    ):
        np.testing.assert_allclose(mine.get(), numpys, rtol=1e-12, atol=1e-12)
    whole = np.arange(5) ** 2
    same(np.gradient(to_gpu(whole)), np.gradient(whole))
    for wrong in ({"edge_order": 3}, {"axis": 5}):
        with pytest.raises(ValueError):
            np.gradient(x, **wrong)
    with pytest.raises(ValueError, match="elements"):
        np.gradient(x[:1])
    with pytest.raises(ValueError, match="twice"):
        np.gradient(x, axis=(0, 0))
    with pytest.raises(TypeError):
        np.gradient(x, 1, 2)
    same(np.ediff1d(x), np.ediff1d(a))
    edge = to_gpu(a[0, 0])
    same(np.ediff1d(x, edge, edge), np.ediff1d(a, a[0, 0], a[0, 0]))
