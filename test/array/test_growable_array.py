"""GrowableArray: appending in place."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.gpuarray import GrowableArray
from support.faults import OUT_OF_MEMORY, fail_calls  # noqa: F401

pytestmark = pytest.mark.gpu


def test_appending_moves_nothing(ctx):
    rows = GrowableArray(np.float32, (3,), max_rows=5_000_000)
    assert len(rows) == 0 and rows.shape == (0, 3) and rows.capacity == 0
    expected = np.zeros((0, 3), np.float32)
    first = None
    for i in range(20):
        part = np.full((20_000, 3), i, np.float32)
        rows.append(part)
        expected = np.concatenate([expected, part])
        if first is None:
            first = rows.array
    assert (rows.get() == expected).all()
    assert first.ptr == rows.array.ptr and (first.get() == 0).all()
    assert rows.shape == (400_000, 3) and rows.nbytes == expected.nbytes
    assert rows.capacity >= 400_000 and rows.max_rows == 5_000_000
    assert len(rows.memory.mappings) > 1
    assert gpuarray.sum(rows.array).get() == expected.sum()
    assert "400000, 3" in repr(rows)


def test_what_can_be_appended(ctx):
    rows = GrowableArray(np.int32, 2, data=[[1, 2]])
    rows.append([3, 4])
    rows.append(np.array([[5.0, 6.0], [7.0, 8.0]]))
    rows.append(gpuarray.to_gpu(np.array([[9, 10]], np.int32)))
    rows.append(gpuarray.to_gpu(np.array([11.0, 12.0])), stream=drv.Stream())
    rows.append(np.zeros((0, 2), np.int32))
    drv.Context.synchronize()
    assert (rows.get() == np.arange(1, 13).reshape(6, 2)).all()
    assert rows[1].get().tolist() == [3, 4]
    assert rows[-1, 0].get() == 11
    assert rows.dtype == np.int32
    numbers = GrowableArray(np.float64)
    numbers.append(5)
    numbers.append([6, 7])
    assert numbers.get().tolist() == [5, 6, 7]
    for wrong in ([1], [[1, 2, 3]], 5):
        with pytest.raises(ValueError, match="cannot be appended to rows of shape"):
            rows.append(wrong)
    assert len(rows) == 6


def test_arrays_share_the_memory(ctx):
    rows = GrowableArray(np.float32)
    rows.append(np.arange(10))
    view = rows.array
    view *= 2
    rows.append([1])
    assert rows.get().tolist() == [*range(0, 20, 2), 1]
    del rows
    assert view.get().tolist() == list(range(0, 20, 2))


def test_sizes(ctx):
    rows = GrowableArray(np.float32, max_rows=2_000_000)
    rows.reserve(1_500_000)
    mapped = rows.memory.mappings
    rows.append(np.ones(1_500_000, np.float32))
    assert rows.memory.mappings == mapped
    rows.resize(1_600_000)
    assert len(rows) == 1_600_000
    rows.resize(10)
    assert rows.get().tolist() == [1] * 10
    rows.trim()
    assert rows.capacity < 1_500_000 or len(mapped) == 1
    rows.append(np.full(5, 3, np.float32))
    assert rows.get().tolist() == [1] * 10 + [3] * 5
    rows.clear()
    assert len(rows) == 0
    rows.trim()
    assert rows.memory.mappings == [] and rows.capacity == 0
    rows.append([4])
    assert rows.get().tolist() == [4]
    with pytest.raises(ValueError, match="can have 2000000; make it with a larger"):
        rows.resize(2_000_001)
    with pytest.raises(ValueError, match="must not be negative"):
        rows.resize(-1)
    rows.free()
    with pytest.raises(drv.LogicError):
        rows.append([1])


def test_wrong_arrays(ctx):
    with pytest.raises(ValueError, match="has no bytes"):
        GrowableArray(np.float32, (0,))
    with pytest.raises(ValueError, match="max_rows must be at least 1"):
        GrowableArray(max_rows=0)


def test_shortage(ctx, fail_calls):  # noqa: F811
    rows = GrowableArray(np.float32, max_rows=40_000_000)
    rows.append(np.ones(10_000_000, np.float32))
    pieces = rows.memory.mappings
    fail_calls("cuMemCreate", 1, 2, code=OUT_OF_MEMORY)  # garbage is collected between
    rows.append(np.ones(1_000_000, np.float32))
    assert rows.memory.mappings[: len(pieces)] == pieces
    capacity = rows.capacity
    fail_calls("cuMemCreate", 1, 2, 3, 4, code=OUT_OF_MEMORY)
    with pytest.raises(drv.MemoryError):
        rows.append(np.ones(capacity, np.float32))
    assert len(rows) == 11_000_000 and rows.capacity == capacity


def test_appending_in_a_stream(ctx):
    stream = drv.Stream()
    rows = GrowableArray(np.float32)
    with stream:
        for i in range(5):
            rows.append(gpuarray.full(1000, i, np.float32))
    stream.synchronize()
    assert (rows.get() == np.repeat(np.arange(5), 1000)).all()
