"""Texture arrays: descriptors, lifetime, and copies of one-dimensional arrays."""

import gc
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver

pytestmark = pytest.mark.gpu

FLAT = ["width", "height", "num_channels"]
FULL = [*FLAT, "depth", "flags"]


def line(width=64, format=drv.array_format.UNSIGNED_INT8):
    """A one-dimensional array of single channels."""
    descriptor = drv.ArrayDescriptor()
    descriptor.width, descriptor.num_channels = width, 1
    descriptor.format = format
    return drv.Array(descriptor)


@pytest.mark.parametrize(
    "type_, fields", [(drv.ArrayDescriptor, FLAT), (drv.ArrayDescriptor3D, FULL)]
)
def test_descriptor(type_, fields):
    descriptor = type_()
    for value, name in enumerate(fields, 3):
        assert getattr(descriptor, name) == 0
        setattr(descriptor, name, value)
        setattr(descriptor, name, np.int64(value))
        assert getattr(descriptor, name) == value
        with pytest.raises(OverflowError, match=name):
            setattr(descriptor, name, -1)
        with pytest.raises(TypeError, match=name):
            setattr(descriptor, name, 1.5)
        with pytest.raises(AttributeError, match=name):
            delattr(descriptor, name)
        assert getattr(descriptor, name) == value
    assert descriptor.format == 0
    assert repr(descriptor.format).endswith("array_format(0)")
    descriptor.format = drv.array_format.HALF
    assert descriptor.format is drv.array_format.HALF
    descriptor.format = 32
    assert descriptor.format is drv.array_format.FLOAT
    with pytest.raises(TypeError, match="format"):
        descriptor.format = drv.address_mode.CLAMP
    with pytest.raises(AttributeError, match="format"):
        del descriptor.format
    with pytest.raises(TypeError):
        type_(1)
    assert hasattr(descriptor, "depth") == ("depth" in fields)
    descriptor.note = "mine"
    assert weakref.ref(descriptor)() is descriptor

    class Derived(type_):
        def __init__(self, width):
            self.width = width

    assert Derived(5).width == 5


def test_array_flat(ctx):
    descriptor = drv.ArrayDescriptor()
    descriptor.width, descriptor.height, descriptor.num_channels = 5, 7, 2
    descriptor.format = drv.array_format.SIGNED_INT16
    array = drv.Array(descriptor)
    assert array.handle != 0
    told = array.get_descriptor()
    assert (told.width, told.height, told.num_channels) == (5, 7, 2)
    assert told.format is drv.array_format.SIGNED_INT16
    told = array.get_descriptor_3d()
    assert (told.width, told.height, told.depth, told.flags) == (5, 7, 0, 0)
    array.free()
    array.free()
    with pytest.raises(drv.LogicError, match="released before"):
        array.get_descriptor()
    with pytest.raises(drv.LogicError, match="released before"):
        array.get_descriptor_3d()


def test_array_full(ctx):
    descriptor = drv.ArrayDescriptor3D()
    descriptor.width, descriptor.height, descriptor.depth = 8, 4, 3
    descriptor.num_channels = 4
    descriptor.format = drv.array_format.FLOAT
    descriptor.flags = drv.array3d_flags.ARRAY3D_LAYERED
    array = drv.Array(descriptor)
    told = array.get_descriptor_3d()
    assert (told.width, told.height, told.depth) == (8, 4, 3)
    assert (told.num_channels, told.flags) == (4, 1)
    assert told.format is drv.array_format.FLOAT
    with pytest.raises(drv.Error):
        drv.Array(drv.ArrayDescriptor3D())


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"format": 0}, "array_format"),
        ({"num_channels": 3}, "1, 2 or 4 channels"),
        ({"width": 0}, "width"),
    ],
)
@pytest.mark.parametrize("type_", [drv.ArrayDescriptor, drv.ArrayDescriptor3D])
def test_bad_descriptor(ctx, type_, fields, words):
    descriptor = type_()
    good = {"width": 4, "height": 4, "format": 32, "num_channels": 1}
    for name, value in {**good, **fields}.items():
        setattr(descriptor, name, value)
    with pytest.raises(drv.LogicError, match=words) as caught:
        drv.Array(descriptor)
    assert "width" in str(caught.value)


def test_array_arguments():
    for wrong in (None, 3, "x", drv.ArrayDescriptor):
        with pytest.raises(TypeError, match="ArrayDescriptor"):
            drv.Array(wrong)
    with pytest.raises(TypeError):
        drv.Array()
    blank = drv.Array.__new__(drv.Array)
    with pytest.raises(drv.LogicError, match="__init__"):
        blank.get_descriptor()
    blank.free()
    with pytest.raises(drv.LogicError):
        line()


def test_array_keeps_its_context():
    context = drv.Device(0).make_context()
    array = line()
    context.pop()
    assert _driver._live_counts()["array"] == 1
    array.note = array  # in a cycle
    del array
    gc.collect()
    assert _driver._live_counts()["array"] == 0
    context.push()
    array = line()
    context.pop()
    context.detach()
    with pytest.raises(drv.LogicError, match="detached"):
        array.get_descriptor()


def test_a_second_init_frees_the_first(ctx):
    array = line()
    descriptor = array.get_descriptor()
    descriptor.width = 3
    array.__init__(descriptor)
    assert _driver._live_counts()["array"] == 1
    assert array.get_descriptor().width == 3


def test_copies(ctx):
    data = np.arange(64, dtype=np.uint8)
    array, other = line(), line()
    drv.memcpy_htoa(array, 0, data)
    drv.memcpy_atoa(dest=other, dest_index=8, src=array, src_index=16, len=32)
    found = np.zeros(32, np.uint8)
    drv.memcpy_atoh(found, other, 8)
    assert np.array_equal(found, data[16:48])
    drv.py_memcpy_htoa(ary=other, index=32, src=bytes(range(100, 108)))
    drv.py_memcpy_atoh(dest=found[:8], ary=other, index=32)
    assert np.array_equal(found[:8], np.arange(100, 108))
    memory = drv.mem_alloc(64)
    drv.memcpy_atod(dest=memory, ary=array, index=32, len=16)
    drv.memcpy_dtoa(ary=other, index=0, src=memory, len=16)
    drv.memcpy_atoh(found[:16], other, 0)
    assert np.array_equal(found[:16], data[32:48])
    assert np.array_equal(drv.from_device(memory, 16, np.uint8), data[32:48])


def test_asynchronous_copies(ctx):
    source = drv.pagelocked_empty(64, np.uint8)
    target = drv.pagelocked_empty(64, np.uint8)
    source[:] = np.arange(64)[::-1]
    stream = drv.Stream()
    array = line()
    drv.memcpy_htoa_async(array, 0, source, stream)
    drv.memcpy_atoh_async(target, array, 0, stream=stream)
    stream.synchronize()
    assert np.array_equal(target, source)
    drv.memcpy_htoa_async(array, 60, source[:4])
    drv.memcpy_atoh_async(target[:4], array, 60)
    ctx.synchronize()
    assert np.array_equal(target[:4], source[:4])


def test_copy_arguments(ctx):
    array, data = line(), np.zeros(8, np.uint8)
    freed = line()
    freed.free()
    for wrong in (None, 0, data):
        with pytest.raises(TypeError, match="Array"):
            drv.memcpy_htoa(wrong, 0, data)
    with pytest.raises(drv.LogicError, match="released"):
        drv.memcpy_htoa(freed, 0, data)
    with pytest.raises(OverflowError, match="index"):
        drv.memcpy_htoa(array, -1, data)
    with pytest.raises(TypeError, match="len"):
        drv.memcpy_atoa(array, 0, array, 0, 1.0)
    with pytest.raises(TypeError, match="src"):
        drv.memcpy_htoa(array, 0, 17)
    with pytest.raises(ValueError, match="dest"):
        drv.memcpy_atoh(b"12345678", array, 0)
    with pytest.raises(drv.LogicError, match="cuMemcpyHtoA"):
        drv.memcpy_htoa(array, 60, data)
    with pytest.raises(drv.LogicError, match="cuMemcpyAtoH"):
        drv.memcpy_atoh(data, array, 57)
