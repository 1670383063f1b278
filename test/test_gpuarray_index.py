"""Elements of GPUArray by arrays of indices and masks; take and put."""

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import same

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
    if len(np.unique(HOST[index])) == values.size:  # else which one wins is open
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
            to_gpu(HOST)[to_gpu(device)]


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
        gpuarray.take(x, to_gpu(np.array([0, 5])))
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
