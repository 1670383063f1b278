"""Indexing of GPUArray with arrays of indices and masks; take and put."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import same
from support.capture import captured
from support.emulator import DriverError

pytestmark = pytest.mark.gpu

HOST = np.arange(120, dtype=np.float32).reshape(4, 5, 6)
MASK = HOST % 7 < 3

INDICES = [
    [1, 2, -1],
    np.array([[0, 1], [2, 3]]),
    (slice(None), [3, 0]),
    ([0, 1], [1, 2]),
    ([[0], [1]], [1, 2]),
    ([0, 1], slice(None), [1, 2]),
    (Ellipsis, [5, 0, 5]),
    (slice(None, None, -1), [0, 4], slice(1, 4)),
    (None, [1, 2]),
    ([1, 2], None, 3),
    (2, [1, 2]),
    np.array([], np.int64),
    [],
    MASK,
    MASK[:, 0, 0],
    (slice(None), MASK[0, :, 0]),
    (MASK[:, :, 0], slice(2, 4)),
    (0, MASK[0]),
    np.zeros((4, 5, 6), bool),
    [True, False, True, False],
]


@pytest.mark.parametrize("index", INDICES, ids=lambda i: str(i).replace("\n", "")[:40])
@pytest.mark.parametrize("turned", [False, True])
def test_arrays_as_indices(ctx, index, turned):
    host = np.array(HOST.T).T if turned else HOST
    same(to_gpu(host)[index], host[index])


@pytest.mark.parametrize("index", INDICES, ids=lambda i: str(i).replace("\n", "")[:40])
def test_assignment_to_arrays_of_indices(ctx, index):
    host, array = HOST.copy(), to_gpu(HOST)
    host[index] = -5
    array[index] = -5
    same(array, host)
    values = np.arange(host[index].size, dtype=np.float32).reshape(host[index].shape)
    if len(np.unique(HOST[index])) == values.size:  # otherwise the order is undefined
        host[index] = values
        array[index] = to_gpu(values)
        same(array, host)


def test_indices_on_the_device(ctx):
    array = to_gpu(HOST)
    same(array[to_gpu(np.array([3, -1, 0]))], HOST[[3, -1, 0]])
    same(array[array > 50], HOST[HOST > 50])
    array[array > 50] = 0
    same(array, np.where(HOST > 50, 0, HOST))
    same(array[to_gpu(np.array(2))], HOST[2].clip(0, 50) * (HOST[2] <= 50))


@pytest.mark.parametrize(
    "index, text",
    [
        ([4], "index 4 is out of bounds for axis 0 of length 4"),
        ([0, -5], "index -5"),
        (([0], [0], [6]), "axis 2"),
        (np.ones((4, 4), bool), "boolean index of shape"),
        ([0.5], "integer or boolean"),
        (([0], [0], [0], [0]), "too many"),
        (([0, 1], [0, 1, 2]), "broadcast"),
    ],
    ids=str,
)
def test_wrong_arrays_of_indices(ctx, index, text):
    with pytest.raises((IndexError, ValueError), match=text):
        to_gpu(HOST)[index]
    if not isinstance(index, tuple):
        device = np.asarray(index)
        with pytest.raises(IndexError, match=text):
            to_gpu(HOST)[to_gpu(device)].get()


def test_views_of_gaps(ctx):
    array = to_gpu(HOST)[::2, :, ::-1]
    same(array[:, [0, 2]], HOST[::2, :, ::-1][:, [0, 2]])


# -- take and put ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float64, np.complex128])
def test_take(ctx, dtype):
    host = np.arange(50).astype(dtype)
    indices = np.array([3, 49, 0, 3, -1], np.int32)
    same(gpuarray.take(to_gpu(host), to_gpu(indices)), host[indices])
    out = GPUArray(5, dtype)
    assert gpuarray.take(to_gpu(host), to_gpu(indices), out=out) is out
    same(out, host[indices])


def test_take_of_records(ctx):
    dtype = gpuarray.vec.float3
    host = np.zeros(5, dtype)
    host["x"] = np.arange(5)
    same(gpuarray.take(to_gpu(host), to_gpu(np.array([4, 1]))), host[[4, 1]])


def test_take_checks(ctx):
    x = to_gpu(np.arange(5.0))
    with pytest.raises(IndexError, match="index 5"):
        gpuarray.take(x, to_gpu(np.array([0, 5]))).get()
    with pytest.raises(ValueError, match="float32"):
        gpuarray.take(x, to_gpu(np.array([0])), out=GPUArray(1, np.float32))
    with pytest.raises(IndexError):
        gpuarray.take(x, to_gpu(np.array([0.5])))


def test_multi_take_and_put(ctx):
    hosts = [np.arange(20.0), np.arange(20.0) * 2]
    arrays = [to_gpu(h) for h in hosts]
    source = np.array([3, 5, 7], np.int32)
    target = np.array([0, 9, 4], np.int32)
    for got, host in zip(
        gpuarray.multi_take(arrays, to_gpu(source)), hosts, strict=True
    ):
        same(got, host[source])
    outs = [gpuarray.zeros(10, np.float64) for _ in arrays]
    got = gpuarray.multi_take_put(arrays, to_gpu(target), to_gpu(source), out=outs)
    for one, host in zip(got, hosts, strict=True):
        expected = np.zeros(10)
        expected[target] = host[source]
        same(one, expected)
    got = gpuarray.multi_take_put(
        arrays, to_gpu(target), to_gpu(source), (10,), src_offsets=[0, 10]
    )
    assert got[1].get()[target].tolist() == hosts[1][source + 10].tolist()
    few = [a[:3] for a in arrays]
    outs = [gpuarray.zeros(10, np.float64) for _ in arrays]
    gpuarray.multi_put(few, to_gpu(target), out=outs)
    assert outs[0].get()[target].tolist() == [0, 1, 2]
    with pytest.raises(ValueError):
        gpuarray.multi_put(few, to_gpu(target))
    with pytest.raises(ValueError, match="out"):
        gpuarray.multi_take(arrays, to_gpu(source), out=[None])


# -- without the host ------------------------------------------------------------------


@pytest.fixture
def counted(monkeypatch):
    """Count how often an array is fetched."""
    counts = {"get": 0}

    def count(name, function):
        def call(*args, **kwargs):
            counts[name] += 1
            return function(*args, **kwargs)

        return call

    monkeypatch.setattr(GPUArray, "get", count("get", GPUArray.get))
    return counts


def without_the_host(pool):
    """Return {name: (a function that must not wait, its expected result)}."""
    host = np.arange(60, dtype=np.float32).reshape(6, 10)
    index = np.array([3, -1, 0, 3], np.int32)
    spots = np.array([1, -2, 0, 5], np.int32)
    mask = host % 4 == 1
    x, y = to_gpu(host, pool.allocate), to_gpu(host * 2, pool.allocate)
    i, t = to_gpu(index, pool.allocate), to_gpu(spots, pool.allocate)
    m, rows = to_gpu(mask, pool.allocate), to_gpu(mask[:, 1], pool.allocate)
    flat, filled = host.ravel(), np.where(mask, np.float32(9), host)
    put = np.zeros(8, np.float32)
    put[spots] = flat[:4]
    moved = np.zeros(8, np.float32)
    moved[spots] = flat[index[:4]]

    def assigned(*index, value=9):
        copy = x.copy()
        copy[index] = value
        return copy

    def zeros():
        return [gpuarray.zeros(8, np.float32, pool.allocate)]

    part = np.array(host)
    part[1:, ::2][mask[1:, ::2]] = 9
    by_index = np.array(host)
    by_index[index] = 9
    by_row = np.array(host)
    by_row[mask[:, 1]] = 9
    g = gpuarray
    return {
        "subset_sum": (lambda: g.subset_sum(i, x), flat[index].sum()),
        "subset_dot": (
            lambda: g.subset_dot(i, x, y),
            flat[index].dot(2 * flat[index]),
        ),
        "subset_min": (lambda: g.subset_min(i, x), flat[index].min()),
        "subset_max": (lambda: g.subset_max(i, x), flat[index].max()),
        "multi_take": (lambda: g.multi_take([x], i)[0], flat[index]),
        "multi_put": (
            lambda: g.multi_put([x.ravel()[:4]], t, out=zeros())[0],
            put,
        ),
        "multi_take_put": (
            lambda: g.multi_take_put([x], t, i, out=zeros(), src_offsets=[0])[0],
            moved,
        ),
        "read": (lambda: x[i], host[index]),
        "read of rows and columns": (lambda: x[i, 1, None], host[index, 1, None]),
        "assigned": (lambda: assigned(i), by_index),
        "take": (lambda: g.take(x, i), flat[index]),
        "take along an axis": (lambda: g.take(x, i, axis=1), host[:, index]),
        "mask": (lambda: assigned(m), filled),
        "mask, a number on the device": (
            lambda: assigned(m, value=x[0, 9]),
            filled,
        ),
        "mask of a part": (lambda: assigned_part(x, m), part),
        "mask of rows": (lambda: assigned(rows), by_row),
    }


def assigned_part(x, m):
    copy = x.copy()
    copy[1:, ::2][m[1:, ::2]] = 9.0
    return copy


WITHOUT_THE_HOST = [
    "subset_sum",
    "subset_dot",
    "subset_min",
    "subset_max",
    "multi_take",
    "multi_put",
    "multi_take_put",
    "read",
    "read of rows and columns",
    "assigned",
    "take",
    "take along an axis",
    "mask",
    "mask, a number on the device",
    "mask of a part",
    "mask of rows",
]


@pytest.mark.parametrize("name", WITHOUT_THE_HOST)
def test_nothing_waits(ctx, counted, name):
    pool = drv.DeviceMemoryPool()
    functions = without_the_host(pool)
    assert list(functions) == WITHOUT_THE_HOST
    function, expected = functions[name]
    first = function()
    assert counted == {"get": 0}
    same(first, expected)
    stream = drv.Stream()
    with captured(stream):  # a wait would fail
        second = function()
    same(second, expected)
    del functions, function, first, second
    pool.stop_holding()


def test_that_a_capture_notices_who_waits(ctx):
    x = to_gpu(HOST)
    stream = drv.Stream()
    with pytest.raises((drv.Error, DriverError)), captured(stream):
        x[:3].get()


def test_the_number_of_a_mask_is_all_that_is_read(ctx, counted):
    x, m = to_gpu(HOST), to_gpu(MASK)
    reads = []
    get = GPUArray.get
    GPUArray.get = lambda self, *a, **k: reads.append(self.nbytes) or get(self, *a, **k)
    got = x[m]
    x[m] = got * 2
    GPUArray.get = get
    assert reads == []  # kernels write the number to the host
    same(x, np.where(MASK, HOST * 2, HOST))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i: gpuarray.subset_sum(i, x),
        lambda x, i: gpuarray.subset_max(i, x),
        lambda x, i: gpuarray.multi_take([x], i),
        lambda x, i: gpuarray.multi_put([x[:2]], i, (5,)),
        lambda x, i: gpuarray.multi_take_put([x], to_gpu(np.array([0, 1])), i, (5,)),
        lambda x, i: x[i],
        lambda x, i: x[None, i],
        lambda x, i: gpuarray.take(x, i),
        lambda x, i: gpuarray.take_along_axis(x, i),
    ],
)
@pytest.mark.parametrize("wrong", [5, -6])
def test_a_wrong_index_is_told_of_later(ctx, function, wrong):
    x, i = to_gpu(np.arange(5.0)), to_gpu(np.array([1, wrong]))
    function(x, i)
    with pytest.raises(IndexError, match=f"index {wrong} .* of length 5"):
        x.get()
    same(x, np.arange(5.0))  # once


WAITS = {
    "get": lambda x: x.get(),
    "an element": lambda x: float(x[1]),
    "the context": lambda x: drv.Context.synchronize(),
    "a stream": lambda x: stream_after_everything().synchronize(),
    "an event": lambda x: drv.Event().record().synchronize(),
}


def stream_after_everything():
    stream = drv.Stream()
    stream.wait_for_event(drv.Event().record())
    return stream


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_where_a_wrong_index_is_reported(ctx, wait):
    """The first call that waits raises the error, which names the statement."""
    x, i = to_gpu(np.arange(5.0)), to_gpu(np.array([1, 7]))
    x[i]  # noqa: B018  the statement
    line = test_where_a_wrong_index_is_reported.__code__.co_firstlineno + 4
    with pytest.raises(IndexError, match=f"index 7 .*index.py, line {line};"):
        wait(x)
    same(x, np.arange(5.0))


def test_the_first_of_many_wrong_indices_is_reported(ctx):
    x, i = to_gpu(np.arange(5.0)), to_gpu(np.arange(5, 3000))
    x[i] = 1
    with pytest.raises(IndexError, match="of length 5"):
        x.get()
    same(x, np.arange(5.0))


def test_a_wrong_index_changes_nothing_else(ctx):
    """Only the elements at good indices are written; the others of a result are 0."""
    memory = to_gpu(np.arange(9.0))
    x = memory[2:7]
    x[to_gpu(np.array([1, 7, 2, -6]))] = -1
    with pytest.raises(IndexError, match="index (7|-6)"):
        x.get()
    same(memory, np.array([0.0, 1, 2, -1, -1, 5, 6, 7, 8]))
    got = memory[to_gpu(np.array([1, 9, -10]))]
    with pytest.raises(IndexError, match="index (9|-10) "):
        got.get()
    same(got, np.array([1.0, 0, 0]))


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64"]
)
def test_dtypes_of_indices(ctx, dtype):
    index = np.array([3, 0, 2], dtype)
    same(to_gpu(HOST)[to_gpu(index)], HOST[index])
    if dtype == "uint64":
        with pytest.raises(IndexError, match="index 18446744073709551615 is"):
            to_gpu(HOST)[to_gpu(np.array([2**64 - 1], dtype))].get()
        with pytest.raises(IndexError, match="index 18446744073709551615 is"):
            to_gpu(HOST)[np.array([2**64 - 1], dtype)]


def test_values_that_overlap(ctx):
    host = np.arange(10.0)
    x = to_gpu(host)
    x[to_gpu(np.array([0, 1, 2]))] = x[1:4]
    host[[0, 1, 2]] = host[1:4]
    same(x, host)
    x[[4, 5, 6]] = x[[6, 5, 4]]
    host[[4, 5, 6]] = host[[6, 5, 4]]
    same(x, host)


@pytest.mark.parametrize("kind", ["same", "reversed", "other"])
def test_indices_that_overlap_the_target(ctx, kind):
    """Indices are read before elements change, even if they share memory."""
    host = np.random.default_rng(0).permutation(5000)
    values = host[::-1].copy()

    def start():
        x = to_gpu(host)
        index = {"same": x, "reversed": x[::-1], "other": to_gpu(host)}[kind]
        return x, index, host[::-1] if kind == "reversed" else host

    x, index, places = start()
    expected = host.copy()
    expected[places] = values
    x[index] = to_gpu(values)
    same(x, expected)
    x, index, _ = start()
    x[index] = x[::-1]
    same(x, expected)
    x, index, _ = start()
    gpuarray.multi_put([to_gpu(values)], index, out=[x])
    same(x, expected)
    x, index, _ = start()
    gpuarray.multi_take_put([to_gpu(host)], index, to_gpu(values), out=[x])
    moved = host.copy()
    moved[places] = host[values]
    same(x, moved)
    x, index, _ = start()
    same(gpuarray.take(to_gpu(values), index, out=x), values[places])


def test_outputs_that_are_read_later(ctx):
    """With several outputs, no input is overwritten before it is read."""
    host = np.random.default_rng(0).permutation(100)
    one, two = host * 2, host + 1000

    def start():
        return to_gpu(host), to_gpu(one), to_gpu(two)

    index, a, b = start()
    gpuarray.multi_take([a, b], index, out=[index, b])
    same(index, one[host])
    same(b, two[host])
    index, a, b = start()
    gpuarray.multi_take([a, b], index, out=[b, a])
    same(b, one[host])
    same(a, two[host])
    index, a, b = start()
    gpuarray.multi_put([a, b], index, out=[index, a])
    expected = np.empty_like(host)
    expected[host] = one
    same(index, expected)
    expected[host] = two
    same(a, expected)


def test_an_ellipsis_of_no_axes_separates_indices(ctx):
    x = to_gpu(HOST)
    i, j = np.array([0, 1]), np.array([1, 2])
    for index in [
        np.s_[:, i, ..., j],
        np.s_[:, i, j, ...],
        np.s_[..., :, i, j],
        np.s_[i, ..., j, :],
        np.s_[:, i, ..., 1],
        np.s_[:, MASK[0, :, 0], ..., 1],
    ]:
        same(x[index], HOST[index])
        y, expected = to_gpu(HOST), HOST.copy()
        y[index], expected[index] = 7, 7
        same(y, expected)
    mask = np.s_[MASK, ...]
    same(x[mask], HOST[mask])
    y, expected = to_gpu(HOST), HOST.copy()
    y[mask], expected[mask] = 7, 7
    same(y, expected)


def test_indices_into_an_array_without_elements(ctx):
    x = gpuarray.zeros((0, 3), np.float32)
    for index in ([0], to_gpu(np.array([0]))):
        with pytest.raises(IndexError, match="index 0 .* axis 0 of length 0"):
            x[index]
        with pytest.raises(IndexError, match="index 0 .* axis 0 of length 0"):
            x[index] = 1
        with pytest.raises(IndexError, match="index 0 .* axis 0 of length 0"):
            gpuarray.multi_take([x], index)
    none = to_gpu(np.array([], np.int64))
    assert x[none].shape == (0, 3)
    x[none] = 1
    assert x[:, to_gpu(np.array([2]))].shape == (0, 1)


def test_index_arrays_that_do_not_fit_each_other(ctx):
    x = to_gpu(HOST)
    i, j = np.array([0, 1, 2]), np.array([0, 1])
    with pytest.raises(IndexError, match=r"\(3,\), \(2,\)"):
        x[i, j]
    with pytest.raises(IndexError, match=r"\(3,\), \(2,\)"):
        x[to_gpu(i), j] = 0
    same(x[i[:2], j], HOST[i[:2], j])


def test_values_that_do_not_fit(ctx):
    x = to_gpu(HOST)
    with pytest.raises(ValueError, match=r"\(4,\).*\(2, 5, 6\)"):
        x[[0, 1]] = np.zeros(4)
    with pytest.raises(ValueError, match="values"):
        x[to_gpu(MASK)] = np.zeros(4)


@pytest.mark.parametrize("value", [True, False, np.True_])
def test_a_truth_as_index_adds_an_axis(ctx, value):
    same(to_gpu(HOST)[value], HOST[value])
    same(to_gpu(HOST)[:, value, 0], HOST[:, value, 0])


def test_records_by_mask(ctx):
    dtype = gpuarray.vec.float3
    host = np.zeros(5, dtype)
    host["x"] = np.arange(5)
    x, mask = to_gpu(host), np.array([True, False, True, False, True])
    same(x[to_gpu(mask)], host[mask])
    x[to_gpu(mask)] = gpuarray.vec.make_float3(7, 8, 9)
    host[mask] = (7, 8, 9)
    same(x, host)


def test_arrays_that_cannot_be_used(ctx):
    x, i = to_gpu(HOST), to_gpu(np.array([1]))
    x.gpudata.free()
    with pytest.raises(drv.Error):
        x[i]
    y, j = to_gpu(HOST), to_gpu(np.array([1]))
    j.gpudata.free()
    with pytest.raises(drv.Error):
        y[j]
