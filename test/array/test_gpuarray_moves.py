"""Joins and moves: concatenate, roll, repeat, tile, pad, insert, delete, splits."""

import itertools

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda._array.kernels.compilation import compile_text
from pycuda._array.sources import indexing, moving
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import same
from support.capture import captured
from support.layouts import layouts, numbers

pytestmark = [pytest.mark.gpu, pytest.mark.module_context]

DTYPES = ["bool", "int8", "uint16", "float16", "float32", "int64", "complex128"]
FLOAT3 = gpuarray.vec.float3


# -- joins -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_joins(dtype):
    for shape in [(5,), (3, 4), (2, 3, 8), (0, 3), (16, 1)]:
        hosts = [numbers(shape, dtype), numbers(shape, dtype)[::-1]]
        arrays = [to_gpu(hosts[0]), to_gpu(hosts[0])[::-1]]
        for axis in range(-len(shape), len(shape)):
            same(gpuarray.concatenate(arrays, axis), np.concatenate(hosts, axis))
            same(gpuarray.stack(arrays, axis), np.stack(hosts, axis))
            got = np.stack(arrays, axis)
            same(got, np.stack(hosts, axis))
            assert got.flags.c_contiguous
        same(gpuarray.concatenate(arrays, None), np.concatenate(hosts, None))


def test_joins_of_many_lengths():
    hosts = [numbers((3, n, 2)) for n in (1, 0, 7, 64, 2, 2, 0, 33, 5, 1, 0)]
    arrays = [to_gpu(host) for host in hosts]
    for count in range(1, len(hosts) + 1):
        same(gpuarray.concatenate(arrays[:count], 1), np.concatenate(hosts[:count], 1))
    flat = [host.ravel() for host in hosts]
    same(gpuarray.concatenate([to_gpu(f) for f in flat]), np.concatenate(flat))
    same(gpuarray.concatenate(iter(arrays), -2), np.concatenate(hosts, 1))


def test_joins_of_layouts():
    host = numbers((4, 4))
    pairs = list(layouts(host))
    for (one, device), (other, twin) in itertools.product(pairs, pairs):
        same(gpuarray.concatenate((device, twin), 1), np.concatenate((one, other), 1))


def test_joins_at_odd_addresses():
    """The widest word that fits all addresses is used, down to a byte."""
    host = numbers(200, np.int8)
    device = to_gpu(host)
    for begin, length in itertools.product((0, 1, 2, 4, 8), (16, 24, 17)):
        parts = [slice(begin, begin + length), slice(3 * begin, 3 * begin + 32)]
        same(
            gpuarray.concatenate([device[p] for p in parts]),
            np.concatenate([host[p] for p in parts]),
        )


def test_joins_promote():
    hosts = [numbers(4, np.int32), numbers(3, np.float32), numbers(5, np.int8)]
    arrays = [to_gpu(host) for host in hosts]
    same(gpuarray.concatenate(arrays), np.concatenate(hosts))
    same(gpuarray.concatenate((arrays[0], hosts[1])), np.concatenate(hosts[:2]))
    got = np.concatenate(arrays, dtype=np.float16, casting="same_kind")
    same(got, np.concatenate(hosts, dtype=np.float16, casting="same_kind"))
    with pytest.raises(TypeError, match="float32 to int8 by 'safe'"):
        np.concatenate(arrays[1:], dtype=np.int8, casting="safe")
    records = to_gpu(np.zeros(2, FLOAT3))
    assert gpuarray.concatenate((records, records)).dtype == FLOAT3


def test_joins_into_out():
    host = numbers((2, 3))
    x, out = to_gpu(host), GPUArray((4, 3), np.float64)
    assert gpuarray.concatenate((x, x), out=out) is out
    same(out, np.concatenate((host, host)).astype(np.float64))
    assert np.stack((x, x), 1, out=out.reshape(2, 2, 3)).shape == (2, 2, 3)
    same(out, np.stack((host, host), 1).astype(np.float64).reshape(4, 3))
    y = to_gpu(host)
    gpuarray.concatenate((y[1:], y[:1]), out=y)  # everything is read first
    same(y, host[::-1])
    with pytest.raises(ValueError, match=r"\(4, 3\), out has \(2, 3\)"):
        gpuarray.concatenate((x, x), out=y)


@pytest.mark.parametrize("name", ["vstack", "hstack", "dstack", "column_stack"])
def test_stacks(name):
    for shapes in [[(3,), (3,)], [(2, 3), (2, 3)], [(2, 3, 2), (2, 3, 2)], [(), ()]]:
        if name == "column_stack" and shapes[0] == ():
            continue
        hosts = [numbers(shape) + k for k, shape in enumerate(shapes)]
        arrays = [to_gpu(np.asarray(host)) for host in hosts]
        same(getattr(gpuarray, name)(arrays), getattr(np, name)(hosts))
        same(getattr(np, name)(arrays), getattr(np, name)(hosts))


def test_blocks():
    host = numbers((2, 3))
    x = to_gpu(host)
    for make in (
        lambda a: [[a, a], [a, a]],
        lambda a: [a, a],
        lambda a: [[a], [a], [a]],
        lambda a: [[[a, a]], [[a, a]]],
        lambda a: [a[0], a[1, :1]],
        lambda a: [[a[0], a[1]], [a[:, :2].reshape(4)[:3], a[0]]],
        lambda a: a,
    ):
        same(np.block(make(x)), np.block(make(host)))
        same(gpuarray.block(make(x)), np.block(make(host)))
    with pytest.raises(ValueError, match=r"depths \[0, 1\]"):
        gpuarray.block([x, [x]])


def test_selections_by_conditions():
    host = numbers((4, 6))
    x = to_gpu(host)
    for conditions, choices, default in [
        (lambda a: [a > 50, a < 0], lambda a: [a, -a], 7),
        (lambda a: [a > 50], lambda a: [a[0]], 0),
        (lambda a: [a[:1] > 50, a > 0], lambda a: [a[:, :1], a], -1.5),
    ]:
        expected = np.select(conditions(host), choices(host), default)
        same(np.select(conditions(x), choices(x), default), expected)
        same(gpuarray.select(conditions(x), choices(x), default), expected)
    with pytest.raises(ValueError, match="1 conditions and 2 choices"):
        gpuarray.select([x > 0], [x, x])
    with pytest.raises(TypeError, match="must be bool, not float32"):
        gpuarray.select([x], [x])


@pytest.mark.parametrize(
    "function, text",
    [
        (lambda x: gpuarray.concatenate([]), "no arrays"),
        (
            lambda x: gpuarray.concatenate((x, x), 2),
            "concatenate: axis 2 is not one of the 2 axes",
        ),
        (lambda x: gpuarray.stack((x, x), 3), "stack: axis 3 is not one of the 3 axes"),
        (lambda x: gpuarray.concatenate((x, x.T)), r"\(2, 3\) and \(3, 2\)"),
        (lambda x: gpuarray.stack((x, x[:1])), r"\(2, 3\) and \(1, 3\)"),
        (lambda x: gpuarray.concatenate((x[0, 0], x[0, 0])), "without axes"),
        (lambda x: gpuarray.concatenate((x, x[0])), r"\(2, 3\) and \(3,\)"),
    ],
)
def test_joins_that_do_not_fit(function, text):
    with pytest.raises(ValueError, match=text):
        function(to_gpu(numbers((2, 3))))


def test_joins_of_other_types():
    with pytest.raises(TypeError, match="not list"):
        gpuarray.concatenate((to_gpu(numbers(3)), [1, 2]))


# -- elements in other places ----------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_rolls(dtype):
    for shape in [(7,), (4, 16), (2, 3, 8), (3, 0), ()]:
        for host, x in layouts(numbers(shape, dtype)):
            for shift in (0, 1, -3, 8, 1000):
                same(gpuarray.roll(x, shift), np.roll(host, shift))
                for axis in range(-host.ndim, host.ndim):
                    same(gpuarray.roll(x, shift, axis), np.roll(host, shift, axis))


def test_rolls_along_several_axes():
    host = numbers((4, 5, 6))
    x = to_gpu(host)
    for shift, axis in [
        ((1, 2), (0, 2)),
        (3, (0, 1)),
        ((1, 2, 3), 1),
        ((1, 1), (2, 2)),
    ]:
        same(np.roll(x, shift, axis), np.roll(host, shift, axis))
    with pytest.raises(ValueError, match="axis 3"):
        gpuarray.roll(x, 1, 3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_repeats_and_tiles(dtype):
    for shape in [(5,), (2, 4), (2, 3, 4), (0, 2)]:
        for host, x in layouts(numbers(shape, dtype)):
            for count in (0, 1, 3):
                same(gpuarray.repeat(x, count), np.repeat(host, count))
                for axis in range(host.ndim):
                    same(gpuarray.repeat(x, count, axis), np.repeat(host, count, axis))
                same(gpuarray.tile(x, count), np.tile(host, count))
            for reps in [(2, 1), (1, 2, 3), (4, 1, 1, 2)]:
                same(np.tile(x, reps), np.tile(host, reps))


def test_repeats_of_several_counts():
    host = numbers((3, 4))
    x = to_gpu(host)
    for counts in ([1, 0, 2], np.array([2, 2, 2]), to_gpu(np.array([0, 0, 1]))):
        plain = counts.get() if isinstance(counts, GPUArray) else counts
        same(np.repeat(x, counts, 0), np.repeat(host, plain, 0))
    with pytest.raises(ValueError, match=r"shape \(2,\), but axis 0 has length 3"):
        gpuarray.repeat(x, [1, 2], 0)
    with pytest.raises(ValueError, match="negative"):
        gpuarray.repeat(x, -1)
    with pytest.raises(TypeError, match="float64"):
        gpuarray.repeat(x, [0.5])


PADS = [0, 2, (1, 3), ((0, 2), (5, 0)), ((7, 1), (0, 11))]


@pytest.mark.parametrize("mode", ["constant", "edge", "wrap", "reflect", "symmetric"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128"])
def test_pads(mode, dtype):
    for shape in [(3, 4), (1, 8), (5, 1)]:
        for host, x in layouts(numbers(shape, dtype)):
            for width in PADS:
                same(gpuarray.pad(x, width, mode), np.pad(host, width, mode))
    host = numbers((2, 16, 4), dtype)
    same(np.pad(to_gpu(host), 1, mode), np.pad(host, 1, mode))
    width = ((1, 2), (0, 0), (0, 0))
    same(np.pad(to_gpu(host), width, mode), np.pad(host, width, mode))


def test_pads_with_values():
    host = numbers((3, 4))
    x = to_gpu(host)
    for values in (7, (1, 2), ((1, 2), (3, 4)), ((5, 5), (5, 5)), 0.5):
        same(
            np.pad(x, ((1, 2), (2, 1)), constant_values=values),
            np.pad(host, ((1, 2), (2, 1)), constant_values=values),
        )
    got = gpuarray.pad(x, ((1, 0), (0, 2)), "empty")
    assert got.shape == (4, 6)
    same(got[1:, :4], host)
    same(gpuarray.pad(to_gpu(numbers((0, 2))), 1), np.pad(numbers((0, 2)), 1))


@pytest.mark.parametrize(
    "arguments, text",
    [
        ((1, "middle"), "mode must be one of .*, not 'middle'"),
        ((-1,), "must not be negative, but has -1"),
        (((1, 2, 3),), "pad_width of shape"),
    ],
    ids=str,
)
def test_wrong_pads(arguments, text):
    with pytest.raises(ValueError, match=text):
        gpuarray.pad(to_gpu(numbers((2, 3))), *arguments)
    with pytest.raises(TypeError, match="integers"):
        gpuarray.pad(to_gpu(numbers(3)), 1.5)
    with pytest.raises(ValueError, match="axis 0 has no elements"):
        gpuarray.pad(to_gpu(numbers((0, 3))), 1, "edge")


def test_moves_of_records():
    host = np.zeros(6, FLOAT3)
    host["x"] = np.arange(6)
    x = to_gpu(host)
    same(gpuarray.roll(x, 2), np.roll(host, 2))
    same(gpuarray.repeat(x, 2), np.repeat(host, 2))
    same(gpuarray.tile(x, 2), np.tile(host, 2))
    same(gpuarray.pad(x, 1, "edge"), np.pad(host, 1, "edge"))
    with pytest.raises(TypeError, match="no constant"):
        gpuarray.pad(x, 1)


# -- parts -----------------------------------------------------------------------------


def test_deletes():
    host = numbers((4, 11))
    x = to_gpu(host)
    mask = host[0] % 3 == 0
    for obj in (1, -1, [0, 3, 3], slice(1, 9, 2), slice(0, 0), [], mask, range(0, 11)):
        obj = list(obj) if isinstance(obj, range) else obj
        same(gpuarray.delete(x, obj, 1), np.delete(host, obj, 1))
        same(np.delete(x, obj, -1), np.delete(host, obj, -1))
    many = list(range(0, 44, 2))
    same(gpuarray.delete(x, many), np.delete(host, many))
    same(gpuarray.delete(x, to_gpu(np.array([2, 5]))), np.delete(host, [2, 5]))
    with pytest.raises(IndexError, match="delete: index 11 .* axis 1 of length 11"):
        gpuarray.delete(x, [0, 11], 1)
    with pytest.raises(ValueError, match="mask of shape"):
        gpuarray.delete(x, [True, False], 0)


def test_inserts_and_appends():
    host = numbers((4, 5))
    x = to_gpu(host)
    row, column = numbers(5) + 1000, numbers(4) + 2000
    for obj, values, axis in [
        (1, 7, None),
        (2, row, 0),
        (2, column, 1),
        ([2], row, 0),
        (-1, [1, 2, 3], None),
        ([0, 4, 4], 9, 1),
        ([3, 1], np.stack((column, column + 1), 1), 1),
        (slice(0, 2), 5, 1),
        ([], 5, 1),
        (5, column, 1),
    ]:
        given = to_gpu(values) if isinstance(values, np.ndarray) else values
        same(gpuarray.insert(x, obj, given, axis), np.insert(host, obj, values, axis))
        same(np.insert(x, obj, values, axis), np.insert(host, obj, values, axis))
    with pytest.raises(IndexError, match="insert: index 6 .* axis 1 of length 5"):
        gpuarray.insert(x, [1, 6], 0, 1)
    same(gpuarray.append(x, x), np.append(host, host))
    same(np.append(x, x[:1], 0), np.append(host, host[:1], 0))
    same(gpuarray.append(x, [1.5]), np.append(host, [1.5]))


def test_splits_and_turns():
    host = numbers((6, 4, 2))
    x = to_gpu(host)
    for name, argument in [
        ("split", 3),
        ("split", [1, 4]),
        ("array_split", 4),
        ("vsplit", 2),
        ("hsplit", [1, 3]),
        ("dsplit", 2),
    ]:
        got = getattr(gpuarray, name)(x, argument)
        expected = getattr(np, name)(host, argument)
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            same(one, other)
            assert one.base is not None  # a view
    with pytest.raises(ValueError, match="6 elements have no 4 equal .* array_split"):
        gpuarray.split(x, 4)
    with pytest.raises(ValueError, match="2 or more axes"):
        gpuarray.vsplit(x[0, 0], 1)
    for name in ("flip", "flipud", "fliplr"):
        same(getattr(gpuarray, name)(x), getattr(np, name)(host))
    for turns, axes in itertools.product(range(-2, 5), [(0, 1), (2, 0), (-1, 1)]):
        same(gpuarray.rot90(x, turns, axes), np.rot90(host, turns, axes))
    with pytest.raises(ValueError, match="one axis"):
        gpuarray.rot90(x, 1, (0, -3))
    for shape in [3, (2, 50), (48,), 0]:
        same(np.resize(x, shape), np.resize(host, shape))


def test_nothing_waits():
    """Joins and moves can be captured, so they do not wait for the device."""
    host = numbers((8, 16))
    x = to_gpu(host)

    def work():
        joined = gpuarray.concatenate((x, gpuarray.roll(x, 3, 1)), 1)
        return gpuarray.tile(gpuarray.pad(joined, 1, "wrap"), 2)

    first = work()  # makes the kernels
    pool = drv.DeviceMemoryPool()
    del first
    x = to_gpu(host, pool.allocate)
    expected = np.concatenate((host, np.roll(host, 3, 1)), 1)
    expected = np.tile(np.pad(expected, 1, "wrap"), 2)
    same(work(), expected)
    stream = drv.Stream()
    with captured(stream):
        got = work()
    same(got, expected)


@pytest.mark.parametrize("module", [indexing, moving])
def test_all_kernels_compile(module):
    """Kernels of arrays that are too large for the software device."""
    for name, source in module.sample_sources():
        assert compile_text(source), name
