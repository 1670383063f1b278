"""Compare Memcpy2D, Memcpy3D and Memcpy3DPeer with slices of NumPy arrays."""

import gc
import itertools
import threading
import weakref

import numpy as np
import pytest

import pycuda.driver as drv

pytestmark = pytest.mark.gpu

TYPES = [drv.Memcpy2D, drv.Memcpy3D, drv.Memcpy3DPeer]
BOXES = TYPES[1:]

#: Planes, rows and bytes of a row of the memory on both sides.
SHAPE = (3, 5, 32)


def pattern(first=1):
    """Return bytes that identify their offset."""
    return (
        ((np.arange(np.prod(SHAPE)) * 7 + first) % 251).astype(np.uint8).reshape(SHAPE)
    )


# -- memory of every kind, filled and read without the types under test ----------------


class Host:
    """Ordinary memory of the program."""

    def __init__(self, values):
        self.array = values.copy()

    def use(self, copy, side):
        getattr(copy, f"set_{side}_host")(self.array)

    def read(self):
        return self.array


class Locked(Host):
    """Page-locked memory, passed as any kind of memory."""

    def __init__(self, values):
        self.array = drv.pagelocked_empty(values.shape, values.dtype)
        self.array[...] = values

    def use(self, copy, side):
        getattr(copy, f"set_{side}_unified")(self.array)


class Device:
    def __init__(self, values):
        self.memory = drv.to_device(values)
        self.values = values

    def use(self, copy, side):
        getattr(copy, f"set_{side}_device")(self.memory)

    def read(self):
        return drv.from_device_like(self.memory, self.values)


class Unified(Device):
    def use(self, copy, side):
        getattr(copy, f"set_{side}_unified")(self.memory)


class Image(Device):
    """A texture array, filled and read through device memory, plane by plane."""

    def __init__(self, values):
        self.values = values
        planes, rows, row = values.shape
        if planes == 1:
            descriptor = drv.ArrayDescriptor()
        else:
            descriptor = drv.ArrayDescriptor3D()
            descriptor.depth = planes
        descriptor.width, descriptor.height = row, rows
        descriptor.num_channels = 1
        descriptor.format = drv.array_format.UNSIGNED_INT8
        self.array = drv.Array(descriptor)
        self.transfer(drv.to_device(values), "set_src_device", "set_dst_array")

    def transfer(self, memory, set_memory, set_array):
        """Copy everything between device memory and the array."""
        planes, rows, row = self.values.shape
        copy = drv.Memcpy3D()
        getattr(copy, set_memory)(memory)
        getattr(copy, set_array)(self.array)
        copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = row
        copy.src_height = copy.dst_height = copy.height = rows
        copy.depth = planes
        copy()

    def use(self, copy, side):
        getattr(copy, f"set_{side}_array")(self.array)

    def read(self):
        memory = drv.mem_alloc(self.values.nbytes)
        self.transfer(memory, "set_dst_device", "set_src_array")
        return drv.from_device_like(memory, self.values)


KINDS = [Host, Locked, Device, Unified, Image]
MEMORY_TYPES = {Host: 1, Device: 2, Image: 3, Unified: 4, Locked: 4}


def fill_in(copy, source, target, start, end, size):
    """Set the fields for a box; start, end and size are (planes, rows, bytes)."""
    is_box = not isinstance(copy, drv.Memcpy2D)
    for side, (z, y, x) in (("src", start), ("dst", end)):
        setattr(copy, f"{side}_x_in_bytes", x)
        setattr(copy, f"{side}_y", y)
        setattr(copy, f"{side}_pitch", SHAPE[2])
        if is_box:
            setattr(copy, f"{side}_z", z)
            setattr(copy, f"{side}_height", SHAPE[1])
    copy.width_in_bytes, copy.height = size[2], size[1]
    if is_box:
        copy.depth = size[0]
    source.use(copy, "src")
    target.use(copy, "dst")


def run_at_any_pitch(copy):
    """Run a copy. The aligned form needs mem_alloc_pitch between device memories."""
    if isinstance(copy, drv.Memcpy2D):
        copy(aligned=False)
    else:
        copy()


def box(start, size):
    return tuple(slice(a, a + n) for a, n in zip(start, size, strict=True))


#: The ways to run a copy, and the types that allow them.
CALLS = {
    "plain": (TYPES, lambda copy, stream: copy()),
    "aligned": (TYPES[:1], lambda copy, stream: copy(True)),
    "aligned by name": (TYPES[:1], lambda copy, stream: copy(aligned=True)),
    "unaligned": (TYPES[:1], lambda copy, stream: copy(aligned=False)),
    "None": (TYPES, lambda copy, stream: copy(None)),
    "stream": (TYPES, lambda copy, stream: copy(stream)),
    "stream by name": (TYPES, lambda copy, stream: copy(stream=stream)),
    "no stream": (TYPES, lambda copy, stream: copy(stream=None)),
}


@pytest.mark.parametrize("source", KINDS)
@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("type_", TYPES)
def test_boxes_between_all_kinds_of_memory(ctx, type_, source, target):
    planes = 1 if type_ is drv.Memcpy2D else SHAPE[0]
    values, expected = pattern()[:planes], pattern(100)[:planes].copy()
    here, there = source(values), target(expected)
    cases = [
        ((0, 0, 0), (0, 0, 0), (planes, 5, 32)),
        ((0, 1, 4), (0, 2, 8), (1, 3, 12)),
        ((planes - 1, 0, 31), (0, 4, 0), (1, 1, 1)),
        ((0, 2, 3), (planes - 1, 0, 5), (1, 2, 7)),
        ((planes // 3, 1, 2), (0, 3, 1), (planes - planes // 3, 2, 20)),
    ]
    for start, end, size in cases:
        copy = type_()
        fill_in(copy, here, there, start, end, size)
        assert copy.src_memory_type == MEMORY_TYPES[source]
        assert copy.dst_memory_type == MEMORY_TYPES[target]
        run_at_any_pitch(copy)
        expected[box(end, size)] = values[box(start, size)]
        assert (there.read() == expected).all(), (start, end, size)
        assert (here.read() == values).all()


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("type_", TYPES)
def test_every_way_to_call(ctx, type_, call):
    types, run = CALLS[call]
    if type_ not in types:
        with pytest.raises(TypeError, match="aligned|stream must be a Stream"):
            run(type_(), drv.Stream())
        return
    stream = drv.Stream()
    values, expected = pattern(), pattern(9)
    start, end, size = (0, 1, 3), (0, 2, 6), (1, 3, 20)
    pairs = itertools.product((Locked, Device), repeat=2)
    any_pitch = call in ("unaligned", "None")
    for source, target in pairs:
        if (type_ is drv.Memcpy2D and source is target is Device) and not any_pitch:
            continue  # needs the pitch of mem_alloc_pitch: the next test
        here, there = source(values), target(expected)
        copy = type_()
        fill_in(copy, here, there, start, end, size)
        assert run(copy, stream) is None
        stream.synchronize()
        wanted = expected.copy()
        wanted[box(end, size)] = values[box(start, size)]
        assert (there.read() == wanted).all()


def test_aligned_copies_within_pitched_memory(ctx):
    values = np.arange(10 * 100, dtype=np.uint8).reshape(10, 100)
    here, pitch = drv.mem_alloc_pitch(100, 10, 4)
    there, other_pitch = drv.mem_alloc_pitch(100, 10, 4)
    upload, within, download = drv.Memcpy2D(), drv.Memcpy2D(), drv.Memcpy2D()
    back = np.zeros_like(values)
    upload.set_src_host(values)
    upload.set_dst_device(here)
    within.set_src_device(here)
    within.set_dst_device(there)
    download.set_src_device(there)
    download.set_dst_host(back)
    upload.src_pitch = download.dst_pitch = 100
    upload.dst_pitch = within.src_pitch = pitch
    within.dst_pitch = download.src_pitch = other_pitch
    for copy in (upload, within, download):
        copy.width_in_bytes, copy.height = 100, 10
        copy(aligned=True)
    assert (back == values).all()
    stream = drv.Stream()
    drv.memset_d2d8(there, other_pitch, 0, 100, 10)
    drv.Context.synchronize()
    within(stream)
    stream.synchronize()
    download()
    assert (back == values).all()


@pytest.mark.parametrize("type_", TYPES)
def test_a_copy_can_be_called_again_with_other_fields(ctx, type_):
    values = pattern()
    here, there = Host(values), Device(np.zeros(SHAPE, np.uint8))
    copy = type_()
    fill_in(copy, here, there, (0, 0, 0), (0, 0, 0), (1, 1, 32))
    for row in (4, 0, 2):
        copy.src_y = copy.dst_y = np.int64(row)
        copy()
        assert (there.read()[0, row] == values[0, row]).all()
    here.array[0, 2] = 0
    copy()
    assert not there.read()[0, 2].any()
    copy.height = 0
    here.array[...] = 9
    copy()
    assert not there.read()[0, 2].any()


@pytest.mark.parametrize("type_", TYPES)
def test_a_pitch_of_zero_is_a_row(ctx, type_):
    values = np.arange(12, dtype=np.uint8).reshape(3, 4)
    memory = drv.to_device(np.zeros(12, np.uint8))
    copy = type_()
    copy.set_src_host(values)
    copy.set_dst_device(memory)
    copy.width_in_bytes, copy.height = 4, 1
    if type_ is not drv.Memcpy2D:
        copy.depth = 1
    copy()
    assert drv.from_device(memory, 12, np.uint8).tolist() == [0, 1, 2, 3] + [0] * 8


# -- fields ----------------------------------------------------------------------------


SIDE_2D = ["x_in_bytes", "y", "pitch"]
SIZES_2D = [f"{s}_{n}" for s in ("src", "dst") for n in SIDE_2D]
SIZES_2D += ["width_in_bytes", "height"]
SIZES_3D = [f"{s}_{n}" for s in ("src", "dst") for n in ("z", "lod", "height")]
SIZES_3D += ["depth"]


@pytest.mark.parametrize("type_", TYPES)
def test_sizes(ctx, type_):
    copy = type_()
    names = SIZES_2D + (SIZES_3D if type_ is not drv.Memcpy2D else [])
    for value, name in enumerate(names, 3):
        assert getattr(copy, name) == 0
        setattr(copy, name, value)
        setattr(copy, name, np.uint64(value))
        with pytest.raises(OverflowError, match=f"{name} is -1"):
            setattr(copy, name, -1)
        with pytest.raises(TypeError, match=f"{name} must be an integer, not float"):
            setattr(copy, name, 1.5)
        with pytest.raises(AttributeError, match=name):
            delattr(copy, name)
    assert [getattr(copy, name) for name in names] == list(range(3, 3 + len(names)))
    assert hasattr(copy, "src_z") == (type_ is not drv.Memcpy2D)
    assert hasattr(copy, "set_src_context") == (type_ is drv.Memcpy3DPeer)


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("side", ["src", "dst"])
def test_memory_type_and_device(ctx, type_, side):
    copy = type_()
    kind, device = f"{side}_memory_type", f"{side}_device"
    assert getattr(copy, kind) == 0
    for member in (drv.memory_type.ARRAY, drv.memory_type.HOST):
        setattr(copy, kind, member)
        assert getattr(copy, kind) is member
    setattr(copy, kind, 2)
    assert getattr(copy, kind) is drv.memory_type.DEVICE
    with pytest.raises(TypeError, match=f"{kind} must be a .*memory_type or an int"):
        setattr(copy, kind, drv.array_format.FLOAT)
    memory = drv.mem_alloc(16)
    assert getattr(copy, device) == 0
    setattr(copy, device, memory)
    assert getattr(copy, device) == int(memory)
    setattr(copy, device, 4096)
    assert getattr(copy, device) == 4096
    getattr(copy, f"set_{side}_device")(int(memory))
    assert getattr(copy, device) == int(memory)
    for wrong in (None, 1.5, "0", np.zeros(3)):
        with pytest.raises(TypeError, match=f"{device} must be a device pointer"):
            setattr(copy, device, wrong)
        with pytest.raises(TypeError, match="devptr must be a device pointer"):
            getattr(copy, f"set_{side}_device")(wrong)
    for name in (kind, device):
        with pytest.raises(AttributeError, match=name):
            delattr(copy, name)
    assert getattr(copy, device) == int(memory)


def test_fields_by_hand_are_what_the_setters_set(ctx):
    here, there = Device(pattern()), Device(pattern(50))
    copy = drv.Memcpy2D()
    copy.src_memory_type = copy.dst_memory_type = drv.memory_type.DEVICE
    copy.src_device, copy.dst_device = here.memory, int(there.memory)
    copy.src_pitch = copy.dst_pitch = 32
    copy.width_in_bytes, copy.height = 32, 15
    run_at_any_pitch(copy)
    assert (there.read() == pattern()).all()


@pytest.mark.parametrize("type_", TYPES)
def test_objects(ctx, type_):
    copy = type_()
    copy.note = "kept"
    assert weakref.ref(copy)().note == "kept" and {copy: 1}[copy] == 1
    with pytest.raises(TypeError, match="takes no arguments"):
        type_(1)
    with pytest.raises(TypeError, match="takes no arguments"):
        type_(height=1)

    class Derived(type_):
        def __init__(self, height):
            self.height = height

    derived = Derived(3)
    assert isinstance(derived, type_) and derived.height == 3
    others = [t for t in TYPES if t is not type_]
    assert not isinstance(copy, tuple(others))


# -- host buffers ----------------------------------------------------------------------


def rectangle(type_, width, height, pitch=0, depth=1):
    """Return a copy from a device full of bytes, without a target."""
    copy = type_()
    copy.width_in_bytes, copy.height = width, height
    copy.src_pitch, copy.dst_pitch = width, pitch
    copy.set_src_device(drv.to_device(np.arange(256, dtype=np.uint8)))
    if type_ is not drv.Memcpy2D:
        copy.depth, copy.src_height = depth, height
    return copy


@pytest.fixture
def numbers(ctx):
    """Device memory that holds the bytes 0 to 255."""
    return drv.to_device(np.arange(256, dtype=np.uint8))


@pytest.mark.parametrize("type_", TYPES)
def test_views_and_buffers_of_all_sorts(numbers, type_):
    copy = rectangle(type_, 4, 3, 10)
    copy.set_src_device(numbers)
    array = np.zeros((6, 10), np.uint8)
    copy.set_dst_host(array[1:4, 2:6])
    copy()
    assert (array[1:4, 2:6] == np.arange(12).reshape(3, 4)).all()
    assert array.sum() == sum(range(12))

    raw = bytearray(30)
    copy.set_dst_host(memoryview(raw)[3:])
    copy()
    assert raw[3:7] == bytes(range(4)) and raw[13:17] == bytes(range(4, 8))
    assert sum(raw) == sum(range(12))

    times = np.zeros(4, "m8[s]")
    copy.dst_pitch = 8
    copy.set_dst_host(times)
    copy()
    assert times.view(np.uint8).reshape(4, 8)[:3, :4].ravel().tolist() == [*range(12)]

    back = rectangle(type_, 4, 3, 4)
    for source, pitch in ((bytes(range(50)), 10), (np.arange(40, dtype="u1"), 10)):
        back.set_src_host(source)
        back.set_dst_device(numbers)
        back.src_pitch = pitch
        back()
        got = drv.from_device(numbers, 12, np.uint8)
        assert got.tolist() == [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23]


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("kind", ["host", "unified"])
def test_buffers_that_cannot_be(ctx, type_, kind):
    copy = type_()
    set_src = getattr(copy, f"set_src_{kind}")
    set_dst = getattr(copy, f"set_dst_{kind}")
    locked = np.zeros(16, np.uint8)
    locked.flags.writeable = False
    set_src(locked)
    set_src(b"abc")
    for wrong in (locked, b"abc", memoryview(b"abc")):
        with pytest.raises(ValueError, match="buffer is (read-only|not a .*writable)"):
            set_dst(wrong)
    for setter in (set_src, set_dst):
        with pytest.raises(TypeError, match="buffer holds Python objects"):
            setter(np.array([None]))
        with pytest.raises(TypeError, match="buffer must be a"):
            setter(None)
        with pytest.raises(TypeError, match="buffer must be a"):
            setter([1, 2])
    gaps = np.zeros((4, 4), np.uint8)[:, ::2]
    if kind == "host":
        set_dst(gaps)
    else:
        with pytest.raises(ValueError, match="not contiguous"):
            set_dst(gaps)
    assert copy.src_memory_type == {"host": 1, "unified": 4}[kind]


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("side", ["source", "destination"])
def test_a_buffer_that_is_too_small(ctx, type_, side):
    copy = type_()
    memory = drv.mem_alloc(4096)
    drv.memset_d8(memory, 7, 4096)
    array = np.zeros(100, np.uint8)
    name, other = ("src", "dst") if side == "source" else ("dst", "src")
    getattr(copy, f"set_{other}_device")(memory)
    getattr(copy, f"set_{name}_host")(array)
    copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = 10
    copy.height = 10
    if type_ is not drv.Memcpy2D:
        copy.depth = 1
        copy.src_height = copy.dst_height = 10
    copy()
    changes = [("height", 11, 110), ("width_in_bytes", 11, 101)]
    changes += [(f"{name}_y", 1, 110), (f"{name}_x_in_bytes", 1, 101)]
    changes += [(f"{name}_pitch", 20, 190), ("height", 2**63, 2**64 - 1)]
    if type_ is not drv.Memcpy2D:
        changes += [("depth", 2, 200), (f"{name}_z", 1, 200)]
    for field, value, needed in changes:
        before = getattr(copy, field)
        setattr(copy, field, value)
        said = f"the copy needs {needed} bytes of the {side} buffer, which has 100"
        with pytest.raises(ValueError, match=said):
            copy()
        with pytest.raises(ValueError, match=said):
            copy(drv.Stream())
        setattr(copy, field, before)
    copy()
    array = np.zeros(101, np.uint8)
    getattr(copy, f"set_{name}_host")(array[1:])
    copy()
    getattr(copy, f"set_{name}_host")(array[2:])
    with pytest.raises(ValueError, match="needs 100 bytes .* has 99"):
        copy()
    copy.width_in_bytes = 0
    copy()


@pytest.mark.parametrize("type_", BOXES)
@pytest.mark.parametrize("side", ["source", "destination"])
def test_planes_without_a_height_have_the_rows_above_them_too(ctx, type_, side):
    """With a height of 0, each plane has y rows and the copied rows."""
    copy = type_()
    name, other = ("src", "dst") if side == "source" else ("dst", "src")
    memory = drv.to_device(np.arange(80, dtype=np.uint8))
    getattr(copy, f"set_{other}_device")(memory)
    setattr(copy, f"{other}_height", 4)
    setattr(copy, f"{name}_y", 1)
    copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = 10
    copy.height, copy.depth = 4, 2
    host = np.arange(100, 200, dtype=np.uint8)
    getattr(copy, f"set_{name}_host")(host)
    copy()
    there = drv.from_device(memory, 80, np.uint8).reshape(2, 4, 10)
    assert (there == host.reshape(2, 5, 10)[:, 1:]).all()
    getattr(copy, f"set_{name}_host")(host[:99].copy())
    with pytest.raises(ValueError, match=f"needs 100 bytes of the {side} .* has 99"):
        copy()


@pytest.mark.parametrize("type_", TYPES)
def test_a_view_may_be_left_for_the_array_it_is_of(numbers, type_):
    array = np.zeros((8, 8), np.uint8)
    copy = rectangle(type_, 8, 4, 8)
    copy.set_src_device(numbers)
    copy.set_dst_host(array[2:3, :4])
    copy()
    assert (array[2:6].ravel() == np.arange(32)).all()
    copy.set_dst_host(array[5:6, :4])
    with pytest.raises(ValueError, match="needs 32 bytes .* has 24"):
        copy()


@pytest.mark.parametrize("type_", TYPES)
def test_host_buffers_are_held(numbers, type_):
    copy = rectangle(type_, 4, 4, 4)
    copy.set_src_device(numbers)
    for setter in (copy.set_dst_host, copy.set_dst_unified):
        array = np.zeros(16, np.uint8)
        gone = weakref.ref(array)
        setter(array)
        del array
        gc.collect()
        assert gone() is not None
        raw = bytearray(16)
        setter(raw)
        assert gone() is None
        with pytest.raises(BufferError):
            raw.append(1)
        copy.set_dst_device(numbers)
        raw.append(1)
        assert copy.dst_device == int(numbers)
    # a field that pointed into the buffer points nowhere once the buffer may go
    copy.set_dst_host(bytearray(16))
    copy.set_dst_device(numbers)
    copy.dst_memory_type = drv.memory_type.HOST
    with pytest.raises(drv.LogicError, match="to host memory"):
        copy()
    # nor does the copy keep the buffer from the garbage collector
    array = np.zeros(16, np.uint8).view(type("Named", (np.ndarray,), {}))
    gone = weakref.ref(array)
    copy.set_dst_host(array)
    array.copy_of_mine = copy
    del array, copy, setter
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("type_", TYPES)
def test_a_queued_copy_may_outlive_the_names_of_its_buffers(numbers, type_):
    stream = drv.Stream()
    copy = rectangle(type_, 64, 4, 64)
    copy.set_src_device(numbers)
    array = drv.pagelocked_zeros(256, np.uint8)
    gone = weakref.ref(array)
    copy.set_dst_host(array)
    del array
    copy(stream)
    stream.synchronize()
    assert (gone() == np.arange(256)).all()


def test_threads_may_share_a_copy(numbers):
    """The target of a running copy is kept if another thread sets a new one."""
    copy = rectangle(drv.Memcpy2D, 64, 4, 64)
    copy.set_src_device(numbers)
    context = drv.Context.get_current()
    start = threading.Barrier(4)
    errors = []

    def work():
        context.push()
        try:
            start.wait(timeout=300)
            for _ in range(200):
                copy.set_dst_host(bytearray(256))
                copy()
        except Exception as error:
            errors.append(error)
        finally:
            context.pop()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert errors == []
    last = bytearray(256)
    copy.set_dst_host(last)
    copy()
    assert last == bytes(range(256))


# -- arrays and contexts ---------------------------------------------------------------


@pytest.mark.parametrize("type_", TYPES)
def test_arrays_are_held_and_looked_at_again(ctx, type_):
    image = Image(pattern()[:1])
    copy = type_()
    target = np.zeros(SHAPE[1:], np.uint8)
    fill_in(copy, image, Host(target[None]), (0, 0, 0), (0, 0, 0), (1, 5, 32))
    copy.set_dst_host(target)
    gone = weakref.ref(image.array)
    array, image = image.array, None
    copy()
    assert (target == pattern()[0]).all()
    array.free()
    with pytest.raises(drv.LogicError, match="source|Array"):
        copy()
    del array
    gc.collect()
    assert gone() is not None
    copy.set_src_host(target)
    gc.collect()
    assert gone() is None
    for wrong in (None, 5, target):
        with pytest.raises(TypeError, match="array must be an Array"):
            copy.set_dst_array(wrong)


def test_contexts_of_a_peer_copy(ctx):
    values = pattern()
    here, there = Device(values), Device(pattern(77))
    copy = drv.Memcpy3DPeer()
    fill_in(copy, here, there, (0, 0, 0), (0, 0, 0), SHAPE)
    for context in (ctx, None, drv.Context.get_current()):
        drv.memset_d8(there.memory, 0, values.nbytes)
        copy.set_src_context(context)
        copy.set_dst_context(context)
        copy()
        assert (there.read() == values).all()
    for setter in (copy.set_src_context, copy.set_dst_context):
        with pytest.raises(TypeError, match="ctx must be a Context or None, not int"):
            setter(0)
    other = drv.Device(0).make_context()
    other.pop()
    copy.set_src_context(other)
    copy()
    other.detach()
    with pytest.raises(drv.LogicError, match="the source's context was detached"):
        copy()


# -- what the driver refuses -----------------------------------------------------------


@pytest.mark.parametrize("type_", TYPES)
def test_a_copy_with_a_side_missing(numbers, type_):
    with pytest.raises(drv.LogicError, match="from nothing that was set .* to device"):
        copy = rectangle(type_, 4, 4, 4)
        copy.src_memory_type = 0
        copy.set_dst_device(numbers)
        copy()
    with pytest.raises(drv.LogicError, match="from device .* to nothing that was set"):
        copy = rectangle(type_, 4, 4, 4)
        copy.set_src_device(numbers)
        copy()


def test_a_pitch_that_is_too_small(numbers):
    copy = rectangle(drv.Memcpy2D, 16, 3, 8)
    copy.set_src_device(numbers)
    copy.set_dst_device(numbers)
    said = (
        "cuMemcpy2D failed: .* - 3 rows of 16 bytes from device memory at x 0, y 0 "
        "with pitch 16 to device memory at x 0, y 0 with pitch 8"
    )
    with pytest.raises(drv.LogicError, match=said):
        copy()
    with pytest.raises(drv.LogicError, match="cuMemcpy2DUnaligned failed"):
        copy(False)
    with pytest.raises(drv.LogicError, match="cuMemcpy2DAsync failed"):
        copy(drv.Stream())


@pytest.mark.parametrize("type_", BOXES)
def test_a_box_that_the_driver_refuses(numbers, type_):
    copy = rectangle(type_, 16, 3, 8, depth=2)
    copy.set_src_device(numbers)
    copy.set_dst_device(numbers)
    name = type_.__name__
    said = f"cu{name} failed: .* - 2 planes of 3 rows of 16 bytes from device memory at"
    with pytest.raises(drv.LogicError, match=said):
        copy()
    with pytest.raises(drv.LogicError, match=f"cu{name}Async failed"):
        copy(drv.Stream())


def test_wrong_calls(ctx):
    stream = drv.Stream()
    flat, solid = drv.Memcpy2D(), drv.Memcpy3D()
    for wrong in (1.5, "yes", [], object()):
        with pytest.raises(TypeError, match="aligned, or the stream, must be a"):
            flat(wrong)
        with pytest.raises(TypeError, match="stream must be a Stream or None"):
            solid(wrong)
        with pytest.raises(TypeError, match="stream must be a Stream or None"):
            flat(stream=wrong)
    with pytest.raises(TypeError, match="one stream; two were given"):
        flat(stream, stream)
    with pytest.raises(TypeError, match="unexpected keyword argument 'when'"):
        flat(when=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'aligned'"):
        solid(aligned=True)
    with pytest.raises(TypeError, match=r"Memcpy3DPeer.__call__\(\) takes at most 1"):
        drv.Memcpy3DPeer()(stream, stream)


def test_a_stream_of_a_context_that_is_gone():
    context = drv.Device(0).make_context()
    stream = drv.Stream()
    context.detach()
    for type_ in TYPES:
        with pytest.raises(drv.LogicError, match="context of this Stream|detached"):
            type_()(stream)


@pytest.mark.parametrize("type_", TYPES)
def test_a_copy_needs_a_context(type_):
    copy = type_()
    copy.set_src_host(bytes(4))
    copy.set_dst_host(bytearray(4))
    copy.width_in_bytes, copy.height = 4, 1
    if type_ is not drv.Memcpy2D:
        copy.depth = 1
    with pytest.raises(drv.LogicError):
        copy()


def test_unified_memory_whose_address_was_moved(ctx):
    """Only the rest of the buffer after the address counts."""
    values = np.arange(16, dtype=np.float32)
    memory = drv.mem_alloc(64)
    copy = drv.Memcpy2D()
    copy.set_src_unified(values)
    copy.set_dst_device(memory)
    copy.src_device += 32
    copy.width_in_bytes, copy.height = 36, 1
    with pytest.raises(ValueError, match="needs 36 bytes of the source .* has 32"):
        copy()


def test_a_buffer_is_no_array(ctx):
    copy = drv.Memcpy2D()
    copy.set_src_host(np.zeros(4, np.float32))
    copy.set_dst_device(drv.mem_alloc(16))
    copy.src_memory_type = drv.memory_type.ARRAY
    copy.width_in_bytes, copy.height = 16, 1
    with pytest.raises(TypeError, match="source must be an Array, not numpy.ndarray"):
        copy()


@pytest.mark.parametrize("kind", [drv.Memcpy2D, drv.Memcpy3D])
@pytest.mark.parametrize("side", ["src", "dst"])
@pytest.mark.parametrize("given", ["device", "unified"])
def test_a_host_type_without_a_host_buffer(ctx, kind, side, given):
    """The type alone does not name the host memory."""
    memory, host = drv.mem_alloc(64), np.zeros(64, np.uint8)
    copy = kind()
    copy.set_src_device(memory)
    copy.set_dst_device(memory)
    getattr(copy, f"set_{side}_{given}")(memory if given == "device" else host)
    setattr(copy, f"{side}_memory_type", drv.memory_type.HOST)
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 8
    copy.height = 2
    if kind is drv.Memcpy3D:
        copy.depth = 1
    run = (lambda: copy(aligned=False)) if kind is drv.Memcpy2D else copy
    words = f"{side}_memory_type is HOST.*call set_{side}_host"
    with pytest.raises(drv.LogicError, match=words):
        run()
    getattr(copy, f"set_{side}_host")(host)
    run()
