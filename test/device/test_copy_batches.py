"""Copies of boxes in a batch, on the software device and on a GPU."""

import ctypes
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_ulonglong, c_void_p

import numpy as np
import pytest

from support.emulator import R

pytest_plugins = ["support.emulator_fixtures"]

POINTER, ARRAY = 1, 2
STREAM_ORDER = 1
FLOAT = 0x20


class Pointer(ctypes.Structure):
    _fields_ = [
        ("address", c_uint64),
        ("row", c_size_t),
        ("layer", c_size_t),
        ("place", c_int * 2),
    ]


class InArray(ctypes.Structure):
    _fields_ = [("array", c_void_p), ("x", c_size_t), ("y", c_size_t), ("z", c_size_t)]


class Of(ctypes.Union):
    _fields_ = [("pointer", Pointer), ("array", InArray)]


class Operand(ctypes.Structure):
    _fields_ = [("type", c_int), ("of", Of)]


class Operation(ctypes.Structure):
    _fields_ = [
        ("source", Operand),
        ("target", Operand),
        ("extent", c_size_t * 3),
        ("order", c_int),
        ("flags", c_uint),
    ]


class Array3D(ctypes.Structure):
    _fields_ = [
        *((name, c_size_t) for name in ("width", "height", "depth")),
        ("format", c_int),
        *((name, c_uint) for name in ("channels", "flags")),
    ]


def pointer(address, row=0, layer=0):
    value = getattr(address, "value", address)
    return Operand(POINTER, Of(pointer=Pointer(value, row, layer)))


def in_array(array, x=0, y=0, z=0):
    return Operand(ARRAY, Of(array=InArray(array.value, x, y, z)))


def batch(*copies):
    """Return the operations of (source, target, extent)."""
    return (Operation * len(copies))(
        *(Operation(s, t, (c_size_t * 3)(*e), STREAM_ORDER, 0) for s, t, e in copies)
    )


def run(d, operations, stream, flags=0):
    count = c_size_t(len(operations))
    return d.Memcpy3DBatchAsync_v2(count, operations, c_ulonglong(flags), stream)


@pytest.fixture
def stream(d, emu_ctx):
    made = c_void_p(d.out(c_void_p, "StreamCreate", 0))
    yield made
    d.ok("StreamDestroy", made)


@pytest.fixture
def memory(d, emu_ctx):
    blocks = [d.alloc(4096) for _ in range(2)]
    yield blocks
    for block in blocks:
        d.ok("MemFree", block)


def address_of(array):
    return array.ctypes.data


def test_boxes_between_pointers(d, stream, memory):
    """Sizes count bytes if no array takes part; 0 means no gaps."""
    data = np.arange(1000, dtype=np.uint8).reshape(10, 10, 10)
    back = np.zeros((4, 3, 5), np.uint8)
    first, second = memory
    d.write(first, data.tobytes())
    whole = pointer(first, 10, 10)
    d.ok("MemsetD8", second, 0, c_size_t(4096))
    assert run(d, batch((whole, pointer(second, 7, 4), (5, 3, 4))), stream) == 0
    copies = batch((pointer(second, 7, 4), pointer(address_of(back)), (5, 3, 4)))
    assert run(d, copies, stream) == 0
    d.ok("StreamSynchronize", stream)
    assert (back == data[:4, :3, :5]).all()
    gap = np.frombuffer(d.read(second, 7 * 4 * 4), np.uint8).reshape(4, 4, 7)
    assert (gap[:, 3] == 0).all() and (gap[:, :, 5:] == 0).all()


def test_several_boxes_and_arrays(d, stream, memory):
    """Sizes count the elements of an array that takes part."""
    shape = Array3D(8, 6, 4, FLOAT, 2, 0)
    array = c_void_p(d.out(c_void_p, "Array3DCreate", byref(shape)))
    other = c_void_p(d.out(c_void_p, "Array3DCreate", byref(shape)))
    data = np.random.default_rng(1).random((4, 6, 8, 2), np.float32)
    d.write(memory[0], data.tobytes())
    copies = batch((pointer(memory[0], 8, 6), in_array(array), (8, 6, 4)))
    assert run(d, copies, stream) == 0
    d.ok("StreamSynchronize", stream)
    back = np.zeros((2, 2, 3, 2), np.float32)
    pair = np.zeros((1, 1, 4, 2), np.float32)
    copies = batch(
        (in_array(array, 2, 1, 1), pointer(address_of(back)), (3, 2, 2)),
        (in_array(array, 4, 5, 3), pointer(address_of(pair)), (4, 1, 1)),
        (in_array(array, 1, 2, 0), in_array(other, 0, 0, 1), (7, 2, 3)),
    )
    assert run(d, copies, stream) == 0
    d.ok("StreamSynchronize", stream)
    assert (back == data[1:3, 1:3, 2:5]).all()
    assert (pair == data[3:4, 5:6, 4:8]).all()
    moved = np.zeros((3, 2, 7, 2), np.float32)
    copies = batch((in_array(other, 0, 0, 1), pointer(address_of(moved)), (7, 2, 3)))
    assert run(d, copies, stream) == 0
    d.ok("StreamSynchronize", stream)
    assert (moved == data[0:3, 2:4, 1:8]).all()
    d.ok("ArrayDestroy", array)
    d.ok("ArrayDestroy", other)


def test_the_older_form_says_which_copy_is_wrong(d, stream, memory):
    good = (pointer(memory[0]), pointer(memory[1]), (4, 2, 1))
    failed = c_size_t(7)
    tail = (byref(failed), c_ulonglong(0), stream)
    assert d.Memcpy3DBatchAsync(c_size_t(1), batch(good), *tail) == 0
    copies = batch(good, (pointer(memory[0]), pointer(memory[1]), (4, 0, 1)))
    code = d.Memcpy3DBatchAsync(c_size_t(2), copies, *tail)
    assert (code, failed.value) == (R.ERROR_INVALID_VALUE, 1)
    d.ok("StreamSynchronize", stream)


@pytest.mark.parametrize(
    "change",
    [
        {"order": 0},
        {"order": 4},
        {"extent": (0, 1, 1)},
        {"row": 3},
        {"layer": 1},
        {"kind": 3},
    ],
)
def test_wrong_copies(d, stream, memory, change):
    extent = change.get("extent", (4, 2, 1))
    source = pointer(memory[0], change.get("row", 0), change.get("layer", 0))
    source.type = change.get("kind", POINTER)
    copies = batch((source, pointer(memory[1]), extent))
    copies[0].order = change.get("order", STREAM_ORDER)
    assert run(d, copies, stream) == R.ERROR_INVALID_VALUE


def test_wrong_batches(d, stream, memory):
    copies = batch((pointer(memory[0]), pointer(memory[1]), (4, 2, 1)))
    invalid = R.ERROR_INVALID_VALUE
    assert run(d, copies, stream, flags=1) == invalid
    assert run(d, copies, None) == invalid
    none = d.Memcpy3DBatchAsync_v2(c_size_t(0), copies, c_ulonglong(0), stream)
    assert none == invalid
    assert d.Memcpy3DBatchAsync_v2(c_size_t(1), None, c_ulonglong(0), stream) == invalid
