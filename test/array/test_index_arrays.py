"""Elements at index arrays: take, put, along an axis, rows of all sizes, ufunc.at."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import same
from support.layouts import layouts, numbers

pytestmark = [pytest.mark.gpu, pytest.mark.module_context]

DTYPES = ["bool", "int8", "uint16", "float16", "float32", "int64", "complex128"]


# -- take and put along an axis --------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_take_along_axis(dtype, kind):
    rng = np.random.default_rng(1)
    for host, x in layouts(numbers((3, 4, 5), dtype)):
        for axis in range(-3, 3):
            shape = list(host.shape)
            shape[axis] = 6
            low = 0 if kind == np.uint8 else -host.shape[axis]
            index = rng.integers(low, host.shape[axis], shape).astype(kind)
            device = to_gpu(index)
            expected = np.take_along_axis(host, index, axis)
            same(gpuarray.take_along_axis(x, device, axis), expected)
            same(np.take_along_axis(x, device, axis), expected)
            same(gpuarray.take_along_axis(x, index, axis), expected)
    one = np.array([[[2]], [[0]], [[1]]])
    same(
        gpuarray.take_along_axis(to_gpu(numbers((3, 4, 5))), to_gpu(one), 2),
        np.take_along_axis(numbers((3, 4, 5)), one, 2),
    )
    flat = np.array([3, -1, 0])
    same(
        gpuarray.take_along_axis(to_gpu(numbers((3, 4))), to_gpu(flat), None),
        np.take_along_axis(numbers((3, 4)), flat, None),
    )
    with pytest.raises(ValueError, match="indices have 1 axes, the array has 3"):
        gpuarray.take_along_axis(to_gpu(numbers((3, 4, 5))), to_gpu(flat), 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("begin", [0, 1])
def test_vectors_of_elements(dtype, kind, begin):
    """Results with rows of whole vectors, and indices that are vectors or none."""
    rng = np.random.default_rng(3)
    host = numbers((9, 16), dtype)
    low = 0 if kind == np.uint8 else -16
    index = rng.integers(low, 16, (9, 34)).astype(kind)
    x, device = to_gpu(host), to_gpu(index)
    for part in (np.s_[:, begin:32:2], np.s_[:, begin : 32 + begin], np.s_[:, ::-2]):
        chosen, on_device = index[part][:, :16], device[part][:, :16]
        expected = np.take_along_axis(host, chosen.astype(np.int64), 1)
        same(gpuarray.take_along_axis(x, on_device, 1), expected)
        same(x[:, on_device[0]], host[:, chosen[0]])
        same(x[on_device % 9, on_device], host[chosen % 9, chosen])
        same(x[::2, 1::3][on_device % 5, 2], host[::2, 1::3][chosen % 5, 2])
        out = gpuarray.zeros((9, 16), x.dtype)[:, begin : begin + 8]
        gpuarray.take(x[0], on_device[:, :8], out=out, mode="wrap")
        same(out, np.take(host[0], chosen[:, :8], mode="wrap"))
    order = np.argsort(rng.random((9, 16)), axis=1).astype(kind)
    for part in (np.s_[:, begin::2], np.s_[:, :12], np.s_[:, ::-1]):
        host, x = numbers((9, 16), dtype), to_gpu(numbers((9, 16), dtype))
        values = numbers(order[part].shape, dtype)[::-1].copy()
        np.put_along_axis(host, order[part].astype(np.int64), values, 1)
        gpuarray.put_along_axis(x, to_gpu(order)[part], to_gpu(values), 1)
        same(x, host)
    wrong = to_gpu(np.array([0, 1, 2, 16, 4, 5, 6, 7], kind))
    result = x[3][wrong]
    with pytest.raises(IndexError, match="16"):
        result.get()


def test_put_along_axis():
    host, x = numbers((3, 4)), to_gpu(numbers((3, 4)))
    index = np.argmax(host, axis=1)[:, None]
    gpuarray.put_along_axis(x, to_gpu(index), -1, 1)
    np.put_along_axis(host, index, -1, 1)
    same(x, host)
    values = numbers((3, 2)) * 2
    np.put_along_axis(x, to_gpu(index + [[0, -1]]), to_gpu(values), 1)
    np.put_along_axis(host, index + [[0, -1]], values, 1)
    same(x, host)
    gpuarray.put_along_axis(x, [0, 5], [7, 8], None)
    np.put_along_axis(host, np.array([0, 5]), [7, 8], None)
    same(x, host)


@pytest.mark.parametrize("mode", ["wrap", "clip"])
def test_modes(mode):
    host = numbers((4, 5))
    x = to_gpu(host)
    for kind in (np.int64, np.int8, np.uint64, np.uint8):
        index = np.array([0, 3, 100, 7, 4], kind)
        if np.dtype(kind).kind == "i":
            index = np.concatenate((index, [-1, -9, -100])).astype(kind)
        for axis in (None, 0, 1):
            expected = np.take(host, index.astype(np.int64), axis, mode=mode)
            same(np.take(x, to_gpu(index), axis, mode=mode), expected)
            same(gpuarray.take(x, index, axis=axis, mode=mode), expected)
    y = host.copy()
    place, values = np.array([1, 25, -30]), np.array([7, 8, 9], np.float32)
    np.put(y, place, values, mode)
    np.put(x, to_gpu(place), to_gpu(values), mode)
    same(x, y)
    with pytest.raises(IndexError, match="axis 0 has no elements"):
        gpuarray.take(to_gpu(numbers((0,))), [0], mode=mode)
    with pytest.raises(ValueError, match="mode must be"):
        gpuarray.take(x, [0], mode="other")


def test_put():
    host, x = numbers((3, 4)), to_gpu(numbers((3, 4)))
    for place, values in [([0, -1], [1, 2]), ([3, 4, 5, 6, 7], [8, 9]), ([2], 5)]:
        np.put(host, place, values)
        gpuarray.put(x, place, values)
        same(x, host)
    with pytest.raises(ValueError, match="no values for 1 indices"):
        gpuarray.put(x, [0], [])
    with pytest.raises(IndexError, match="index 12 .* axis 0 of length 12"):
        gpuarray.put(x, [12], [0])


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take_into_out(axis):
    host, index = numbers((4, 5)), np.array([[1, 0], [3, -1]])
    x = to_gpu(host)
    expected = np.take(host, index, axis)
    out = GPUArray(expected.shape, np.float32)
    assert gpuarray.take(x, to_gpu(index), out, axis=axis) is out
    same(out, expected)
    wide = GPUArray(expected.shape, np.float64)
    assert np.take(x, to_gpu(index), axis, out=wide) is wide
    same(wide, expected.astype(np.float64))


# -- layouts of index arrays -----------------------------------------------------------


@pytest.mark.parametrize("itemsize", [1, 2, 3, 4, 8, 12, 16, 32])
def test_rows_of_all_sizes(itemsize):
    """Rows are copied in the widest words that fit."""
    host = numbers((9, itemsize * 5), np.uint8)
    records = host.view(f"V{itemsize}")
    index = np.array([3, -1, 0, 8, 3])
    for begin in (0, 1):
        same(to_gpu(host)[:, begin:][to_gpu(index)], host[:, begin:][index])
        x = to_gpu(records)[:, begin:]
        got = x[to_gpu(index)].get()
        assert got.tobytes() == records[:, begin:][index].tobytes()
        x[to_gpu(index[:4])] = x[to_gpu(index[::-1][:4])]
        expected = records.copy()
        expected[index[:4], begin:] = records[index[::-1][:4], begin:]
        assert x.get().tobytes() == expected[:, begin:].tobytes()


def test_many_index_arrays():
    host = numbers((2,) * 9)
    index = [np.array([0, 1, 1, 0], kind) for kind in ("i1", "i8", "u4") * 3]
    same(to_gpu(host)[tuple(map(to_gpu, index))], host[tuple(index)])
    x, expected = to_gpu(host), host.copy()
    x[tuple(map(to_gpu, index))] = 5
    expected[tuple(index)] = 5
    same(x, expected)


def test_random_indices():
    """Compare with NumPy for indices put together at random."""
    rng = np.random.default_rng(5)
    host = numbers((3, 4, 5, 6))
    x = to_gpu(host)

    def item(length):
        kind = rng.integers(7)
        if kind == 0:
            return slice(*sorted(rng.integers(0, length + 1, 2).tolist()))
        if kind == 1:
            return slice(None, None, -1)
        if kind == 2:
            return int(rng.integers(-length, length))
        shape = [(), (3,), (2, 1), (2, 3)][rng.integers(4)]
        index = rng.integers(-length, length, shape)
        return index if shape else np.array([int(index)] * 3)

    for _ in range(60):
        items = [item(length) for length in host.shape[: rng.integers(1, 5)]]
        if rng.integers(3) == 0:
            items.insert(rng.integers(len(items) + 1), None)
        if rng.integers(3) == 0:
            items.insert(rng.integers(len(items) + 1), Ellipsis)
        device = [
            to_gpu(i) if isinstance(i, np.ndarray) and rng.integers(2) else i
            for i in items
        ]
        expected = host[tuple(items)]
        same(x[tuple(device)], expected)
        y, other = to_gpu(host), host.copy()
        y[tuple(device)], other[tuple(items)] = 3, 3
        same(y, other)


def test_indices_of_64_bits():
    """Places beyond 32 bits, in a view that repeats a few elements."""
    row = to_gpu(numbers(6))
    huge = np.broadcast_to(row, (2**33, 6))
    index = np.array([0, -1, 2**33 - 1, 2**32 + 7])
    same(huge[to_gpu(index)], np.tile(row.get(), (4, 1)))
    same(huge[index, to_gpu(np.array([5, 0, 1, -2]))], row.get()[[5, 0, 1, 4]])
    same(gpuarray.take(huge, index, axis=0, mode="clip"), np.tile(row.get(), (4, 1)))
    assert huge[to_gpu(np.array([2**33]))].shape == (1, 6)
    with pytest.raises(IndexError, match=f"index {2**33} .* of length {2**33} "):
        drv.Context.synchronize()


# -- ufunc.at --------------------------------------------------------------------------

APPLIED = ["add", "subtract", "multiply", "maximum", "minimum", "bitwise_xor"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", APPLIED)
def test_operations_at_indices(name, dtype):
    """Repeated indices count, in any order: the values give exact results."""
    ufunc = getattr(np, name)
    kind = np.dtype(dtype).kind
    if kind in "fc" and name.startswith("bitwise"):
        return
    host = (numbers((5, 7)) % 3).astype(dtype)
    index = np.array([[0, 3, 3], [-1, 3, 2]])
    values = (np.arange(42).reshape(2, 3, 7) % 2 + 1).astype(dtype)
    x = to_gpu(host)
    many = dtype == "complex128" and name not in ("add", "subtract")
    if many or dtype in ("bool", "int8"):
        with pytest.raises(TypeError, match=f"{name}.at does not take .*{dtype}"):
            ufunc.at(x, to_gpu(index), to_gpu(values))
        return
    for at, given in [
        (index, values),
        ((slice(1, 4), index), 1),
        ((index, index + 1), values[..., 0]),
        ((slice(None), [0, 0, 0]), values[0, :1, 0]),
    ]:
        device = tuple(
            to_gpu(i) if isinstance(i, np.ndarray) else i
            for i in (at if isinstance(at, tuple) else (at,))
        )
        values_at = to_gpu(given) if isinstance(given, np.ndarray) else given
        ufunc.at(x, device, values_at)
        ufunc.at(host, at, np.asarray(given).astype(dtype))
        same(x, host)


def test_operations_at_many_equal_indices():
    index = np.arange(5000) % 3
    for dtype in ("int16", "float32", "int64", "complex64", "uint16", "float16"):
        x = gpuarray.zeros(4, dtype)
        np.add.at(x, to_gpu(index), 1)
        expected = np.zeros(4, dtype)
        np.add.at(expected, index, np.ones((), dtype))
        same(x, expected)
        np.maximum.at(x, to_gpu(index[:100]), to_gpu(numbers(100, dtype)))
        np.maximum.at(expected, index[:100], numbers(100, dtype))
        same(x, expected)


def test_operations_at_wrong_places():
    x = to_gpu(numbers(5))
    with pytest.raises(IndexError, match="index 5 .* axis 0 of length 5"):
        np.add.at(x, [0, 5], 1)
    np.add.at(x, to_gpu(np.array([0, 5])), 1)
    with pytest.raises(IndexError, match="index 5 .* axis 0 of length 5"):
        x.get()
    with pytest.raises(TypeError, match="float64 cannot be put into .* int32"):
        np.add.at(to_gpu(np.arange(3, dtype=np.int32)), [0], to_gpu(np.ones(1)))
    with pytest.raises(ValueError, match="values of shape"):
        np.add.at(x, [0, 1, 2], to_gpu(numbers(2)))
