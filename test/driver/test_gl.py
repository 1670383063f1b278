"""Sharing with OpenGL: a real one on a GPU, and a stand-in elsewhere.

On a GPU, EGL makes an OpenGL context without a window. The software device has no
OpenGL. There the tests register the names that OpenGL would return.
"""

import gc
import os
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

import pycuda.driver as drv
import pycuda.gl
from pycuda import _driver
from support.child import run_child
from support.emulator import Driver
from support.faults import fail_calls  # noqa: F401
from support.opengl import NoOpenGL, RealOpenGL, StandIn
from support.pages import literal_block

pytestmark = pytest.mark.gpu

NONE = drv.graphics_map_flags.NONE
TEST = Path(__file__).resolve().parents[1]


@pytest.fixture
def gl():
    """OpenGL, current in this thread. Skip the test on a machine without one."""
    try:
        made = StandIn() if _driver._is_emulated() else RealOpenGL()
    except NoOpenGL as error:
        pytest.skip(f"no OpenGL shares with the device: {error}")
    yield made
    made.close()


@pytest.fixture
def sharing(gl):
    """OpenGL and a context that shares with it."""
    context = drv.make_gl_context(drv.Device(0))
    yield gl
    gc.collect()
    context.pop()
    context.detach()


def pixels(width, height):
    shape = (height, width, 4)
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


# -- buffers ---------------------------------------------------------------------------


def test_a_buffer_keeps_what_cuda_writes(sharing):
    name = sharing.buffer(4000)
    registered = drv.RegisteredBuffer(name)
    assert isinstance(registered, drv.RegisteredObject)
    assert registered.gl_handle() == name
    values = np.arange(1000, dtype=np.int32)
    mapping = registered.map()
    assert type(mapping) is drv.RegisteredMapping
    pointer, size = mapping.device_ptr_and_size()
    assert type(pointer) is int and pointer != 0 and size == 4000
    drv.memcpy_htod(pointer, values)
    assert mapping.unmap() is None
    with_flags = drv.graphics_map_flags.READ_ONLY
    registered.unregister()

    again = drv.RegisteredBuffer(name, with_flags)
    mapping = again.map(stream=None)
    assert mapping.device_ptr_and_size()[1] == 4000
    mapping.unmap()
    again.unregister()


def test_content_lasts_from_map_to_map(sharing):
    registered = drv.RegisteredBuffer(sharing.buffer(64))
    values = np.arange(16, dtype=np.int32)
    for turn in range(3):
        mapping = registered.map()
        pointer, _ = mapping.device_ptr_and_size()
        if turn:
            got = drv.from_device(pointer, 16, np.int32)
            assert (got == values + turn - 1).all()
        drv.memcpy_htod(pointer, values + turn)
        del mapping  # unmaps


def test_streams_of_mappings(sharing):
    registered = drv.RegisteredBuffer(sharing.buffer(64))
    first, second = drv.Stream(), drv.Stream()
    for unmapped_in in ((), (None,), (second,)):
        mapping = registered.map(first)
        pointer, size = mapping.device_ptr_and_size()
        drv.memset_d8_async(pointer, 7, size, first)
        first.synchronize()
        mapping.unmap(*unmapped_in)
    mapping = registered.map(stream=second)
    mapping.unmap(stream=second)
    with pytest.raises(TypeError, match="stream must be a Stream or None, not int"):
        registered.map(5)


class Other:
    """A stream of another library."""

    __slots__ = ("asked", "stream")

    def __init__(self, stream):
        self.stream, self.asked = stream, 0

    def __cuda_stream__(self):
        self.asked += 1
        return 0, self.stream.handle


def test_a_stream_of_another_library(sharing, recwarn):
    registered = drv.RegisteredBuffer(sharing.buffer(64))
    other = Other(drv.Stream())
    for unmap in (lambda mapping: mapping.unmap(), lambda mapping: None):
        unmap(registered.map(other))
    registered.map(other).unmap(other)
    assert other.asked == 4
    registered.unregister()
    assert not recwarn.list


def test_the_current_stream_of_a_mapping_is_kept(sharing, recwarn):
    registered = drv.RegisteredBuffer(sharing.buffer(64))
    for unmap in (lambda mapping: mapping.unmap(), lambda mapping: None):
        with drv.Stream() as stream:
            mapping = registered.map()
        kept = weakref.ref(stream)
        del stream
        gc.collect()
        assert kept() is not None
        unmap(mapping)
        del mapping
        assert kept() is None
    registered.unregister()
    assert not recwarn.list


def test_flags_of_both_enumerations(sharing):
    name = sharing.buffer(64)
    register, mapping = drv.graphics_register_flags, drv.graphics_map_flags
    for flags in (NONE, 0, mapping.WRITE_DISCARD, register.WRITE_DISCARD, np.int32(1)):
        drv.RegisteredBuffer(name, flags).unregister()
    drv.RegisteredBuffer(bufobj=name, flags=register.READ_ONLY).unregister()
    with pytest.raises(TypeError, match="graphics_map_flags or an int"):
        drv.RegisteredBuffer(name, drv.jit_option.TARGET)


# -- what is refused -------------------------------------------------------------------


def test_what_is_done_twice(sharing):
    registered = drv.RegisteredBuffer(sharing.buffer(64))
    mapping = registered.map()
    for early in (registered.unregister, registered.map):
        with pytest.raises(drv.LogicError, match="it is mapped; unmap it first"):
            early()
    mapping.unmap()
    for late in (
        mapping.unmap,
        mapping.device_ptr_and_size,
        lambda: mapping.array(0, 0),
    ):
        with pytest.raises(drv.LogicError, match="was unmapped before") as caught:
            late()
        assert caught.value.name == "CUDA_ERROR_NOT_MAPPED"
    registered.unregister()
    for late in (registered.unregister, registered.map):
        with pytest.raises(drv.LogicError, match="released before"):
            late()
    assert registered.gl_handle() > 0


def test_a_buffer_is_no_image(sharing):
    buffer = drv.RegisteredBuffer(sharing.buffer(64)).map()
    image = drv.RegisteredImage(sharing.image(4, 4), sharing.target).map()
    with pytest.raises(drv.LogicError, match="not mapped as array"):
        buffer.array(0, 0)
    with pytest.raises(drv.LogicError, match="not mapped as pointer"):
        image.device_ptr_and_size()
    with pytest.raises(drv.LogicError):
        image.array(index=0, level=30)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: drv.RegisteredBuffer(), TypeError, "'bufobj'"),
        (lambda: drv.RegisteredBuffer("a"), TypeError, "bufobj must be an integer"),
        (lambda: drv.RegisteredBuffer(-1), OverflowError, "bufobj is -1"),
        (lambda: drv.RegisteredImage(1), TypeError, "'target'"),
        (lambda: drv.RegisteredImage(1, 2, "x"), TypeError, "flags must be"),
        (lambda: drv.RegisteredObject(), TypeError, "cannot create"),
        (lambda: drv.RegisteredMapping(), TypeError, "cannot create"),
        (lambda: drv.BufferObjectMapping(), TypeError, "cannot create"),
        (lambda: drv.BufferObject("a"), TypeError, "bufobj must be an integer"),
        (lambda: drv.make_gl_context(0), TypeError, "dev must be a Device, not int"),
        (lambda: drv.gl_init(1), TypeError, "takes no arguments"),
    ],
)
def test_wrong_arguments(call, error, said):
    with pytest.raises(error, match=said):
        call()


@pytest.mark.filterwarnings("ignore:BufferObject:DeprecationWarning")
def test_without_a_context():
    for make in (
        lambda: drv.RegisteredBuffer(1),
        lambda: drv.RegisteredImage(1, 2),
        lambda: drv.BufferObject(1),
    ):
        with pytest.raises(drv.LogicError, match="no current context"):
            make()


# -- images ----------------------------------------------------------------------------


def test_an_image_as_an_array(sharing):
    name = sharing.image(6, 5)
    flags = drv.graphics_register_flags.SURFACE_LDST
    registered = drv.RegisteredImage(name, sharing.target, flags)
    assert registered.gl_handle() == name
    data = pixels(6, 5)
    mapping = registered.map()
    array = mapping.array(0, 0)
    assert type(array) is drv.Array
    descriptor = array.get_descriptor_3d()
    assert (descriptor.width, descriptor.height) == (6, 5)
    assert descriptor.num_channels == 4
    assert descriptor.format == drv.array_format.FLOAT
    array.set(data)
    assert (array.get() == data).all()
    mapping.unmap()
    with pytest.raises(drv.LogicError):
        array.get()  # OpenGL owns it now

    mapping = registered.map()
    assert (mapping.array(0, 0).get() == data).all()


def test_an_array_keeps_the_mapping(sharing):
    registered = drv.RegisteredImage(sharing.image(4, 4), sharing.target)
    array = registered.map().array(0, 0)
    gc.collect()
    array.set(pixels(4, 4))
    with pytest.raises(drv.LogicError, match="it is mapped"):
        registered.unregister()
    array.free()
    registered.map().unmap()
    registered.unregister()
    with pytest.raises(drv.LogicError):
        array.get()


# -- life ------------------------------------------------------------------------------


def test_a_mapping_keeps_what_it_maps(sharing):
    before = _driver._live_counts()["graphics"]
    mapping = drv.RegisteredBuffer(sharing.buffer(64)).map(drv.Stream())
    gc.collect()
    pointer, size = mapping.device_ptr_and_size()
    drv.memset_d8(pointer, 1, size)
    del mapping
    gc.collect()
    assert _driver._live_counts()["graphics"] == before


def test_cycles_are_collected(sharing):
    class Named(drv.RegisteredBuffer):
        pass

    registered = Named(sharing.buffer(64))
    registered.mapping = registered.map()
    registered.mapping.owner = registered
    gone = weakref.ref(registered), weakref.ref(registered.mapping)
    del registered
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_another_context_is_current(sharing):
    registered = drv.RegisteredBuffer(sharing.buffer(64))
    other = drv.Device(0).make_context()
    mapping = registered.map()
    mapping.unmap()
    registered.map()  # and is unmapped at once
    registered.unregister()
    assert drv.Context.get_current() == other
    other.pop()
    other.detach()


def test_a_context_that_cannot_be_left(sharing, fail_calls):  # noqa: F811
    """A warning reports the failure, and the object is unmapped."""
    registered = drv.RegisteredBuffer(sharing.buffer(64))
    mapping = registered.map()
    other = drv.Device(0).make_context()
    fail_calls("cuCtxPopCurrent", 1, 2)  # it is retried
    with pytest.raises(drv.LogicError) as caught:
        mapping.unmap()
    assert caught.value.routine == "cuCtxPopCurrent"
    Driver().ok("CtxPopCurrent", None)  # where the driver's stack was left
    other.pop()
    other.detach()
    registered.map().unmap()


def test_what_a_lost_context_says_of_unmapping(sharing, fail_calls):  # noqa: F811
    """Nothing is mapped in a context that is destroyed."""
    registered = drv.RegisteredBuffer(sharing.buffer(64))
    mapping = registered.map()
    fail_calls("cuGraphicsUnmapResources", 1, code=709)
    mapping.unmap()
    with pytest.raises(drv.LogicError, match="was unmapped before"):
        mapping.unmap()
    # it was not really lost and is still mapped
    with pytest.warns(UserWarning, match="cuGraphicsUnregisterResource"):
        del mapping, registered


def test_after_its_context(gl):
    context = drv.make_gl_context(drv.Device(0))
    assert drv.Context.get_current() == context
    registered = drv.RegisteredImage(gl.image(4, 4), gl.target)
    mapping = registered.map()
    array = mapping.array(0, 0)
    context.pop()
    context.detach()
    for late in (mapping.unmap, lambda: mapping.array(0, 0), array.get):
        with pytest.raises(drv.LogicError):
            late()
    with pytest.raises(drv.LogicError):
        registered.unregister()


def test_without_init(sharing):
    blank = drv.RegisteredBuffer.__new__(drv.RegisteredBuffer)
    for use in (blank.map, blank.unregister):
        with pytest.raises(drv.LogicError, match="__init__"):
            use()


def test_init_again(sharing):
    first, second = sharing.buffer(64), sharing.buffer(128)
    registered = drv.RegisteredBuffer(first)
    mapping = registered.map()
    with pytest.raises(drv.LogicError, match="it is mapped"):
        registered.__init__(second)
    mapping.unmap()
    registered.__init__(second)
    assert registered.gl_handle() == second
    assert registered.map().device_ptr_and_size()[1] == 128


# -- the interface before CUDA 3 -------------------------------------------------------


def test_old_buffer_objects(sharing):
    name = sharing.buffer(256)
    with pytest.warns(DeprecationWarning, match="RegisteredBuffer"):
        buffer = drv.BufferObject(name)
    assert buffer.handle() == name
    with pytest.warns(DeprecationWarning, match="BufferObjectMapping"):
        mapping = buffer.map()
    assert mapping.size() == 256
    drv.memset_d8(mapping.device_ptr(), 5, 256)
    assert (drv.from_device(mapping.device_ptr(), 256, np.uint8) == 5).all()
    mapping.unmap()
    with pytest.raises(drv.LogicError, match="released before"):
        mapping.unmap()
    with pytest.warns(DeprecationWarning):
        mapping = buffer.map()
    del mapping  # unmaps
    buffer.unregister()
    with pytest.raises(drv.LogicError, match="released before"):
        buffer.unregister()
    with pytest.warns(DeprecationWarning), pytest.raises(drv.LogicError):
        buffer.map()


def test_gl_init_is_deprecated(sharing):
    with pytest.warns(DeprecationWarning, match="gl_init"):
        assert drv.gl_init() is None


# -- modules ---------------------------------------------------------------------------


def test_the_names_of_the_module():
    assert drv.have_gl_ext() is True
    assert pycuda.gl.init is drv.gl_init
    assert pycuda.gl.make_context is drv.make_gl_context
    for name in pycuda.gl.__all__:
        assert getattr(pycuda.gl, name) is not None


WITHOUT = """
import pycuda.driver as drv

drv.init()
try:
    drv.make_gl_context(drv.Device(0))
except drv.LogicError as error:
    print(error.name, "|", error)
context = drv.Device(0).make_context()
for call in (lambda: drv.RegisteredBuffer(1), lambda: drv.RegisteredImage(1, 2)):
    try:
        call()
    except drv.LogicError as error:
        print(error.name, "|", error)
context.pop()
"""


def test_the_software_device_has_no_opengl():
    lines = run_child(WITHOUT, PYCUDA_DRIVER="emulator").stdout.splitlines()
    assert len(lines) == 3
    for line in lines:
        assert line.startswith("CUDA_ERROR_INVALID_GRAPHICS_CONTEXT | cu")
        assert line.endswith("the software device shares nothing with OpenGL")


AUTOMATIC = """
import atexit
from support.opengl import StandIn

gl = StandIn()
name = gl.buffer(64)
atexit.register(lambda: print(automatic.context, drv.Context.get_current()))
import pycuda.driver as drv
import pycuda.gl.autoinit as automatic

assert drv.Context.get_current() == automatic.context
assert automatic.device == drv.Device(0)
print(drv.RegisteredBuffer(name).map().device_ptr_and_size()[1])
"""


def test_automatic_context_lasts_until_exit():
    code = f"import sys; sys.path[:0] = {sys.path!r}\n{AUTOMATIC}"
    said = run_child(code, PYCUDA_DRIVER="emulator").stdout
    assert said.split() == ["64", "None", "None"]


FAULTS = """
import ctypes, gc, sys
sys.path[:0] = {path!r}
import numpy as np
import pycuda.driver as drv
from pycuda import _driver
from support.opengl import StandIn

gl = StandIn()
gl.lib.emu_fault_fired.restype = ctypes.c_ulonglong
buffer, image = gl.buffer(64), gl.image(4, 4)
drv.init()
own = drv.make_gl_context(drv.Device(0))

def by_hand(hold):
    registered = hold(drv.RegisteredBuffer(buffer))
    mapping = hold(registered.map())
    mapping.device_ptr_and_size()
    mapping.unmap()
    registered.unregister()

def by_itself(hold):
    hold(hold(drv.RegisteredImage(image, gl.target)).map().array(0, 0))

for attempt in (by_hand, by_itself):
    for n in range(1, 100):
        held, failed = [], 0
        fired = gl.lib.emu_fault_fired()
        assert gl.lib.emu_fault_set(None, n, 999) == 0
        try:
            attempt(lambda made: held.append(made) or made)
        except drv.Error as error:
            assert error.code == 999, error
            failed = 1
        held.clear()
        gc.collect()
        fired = gl.lib.emu_fault_fired() - fired
        gl.lib.emu_fault_clear()
        assert drv.Context.get_current() == own
        counts = _driver._live_counts()
        assert counts["graphics"] == counts["array"] == 0
        if not fired:
            break
        print(failed, end=" ")
    print()
own.pop()
"""


def test_each_call_that_fails():
    """It raises an exception, or it warns if no caller can catch one."""
    code = FAULTS.replace("{path!r}", repr(sys.path))
    done = run_child(code, check=False, PYCUDA_DRIVER="emulator")
    assert done.returncode == 0, done.stderr
    by_hand, by_itself = (line.split() for line in done.stdout.splitlines())
    assert by_hand == ["1"] * 7  # two of them look at the current context
    assert by_itself == ["1"] * 5 + ["0"] * 2
    assert done.stderr.count("PyCUDAWarning") >= 2


# -- a real OpenGL ---------------------------------------------------------------------


@pytest.mark.hardware(why="OpenGL reads back what CUDA wrote into its objects")
def test_opengl_sees_what_cuda_wrote(sharing):
    values = np.arange(256, dtype=np.float32)
    buffer = sharing.buffer(values.nbytes)
    sharing.write_buffer(buffer, values)
    registered = drv.RegisteredBuffer(buffer)
    mapping = registered.map()
    pointer, size = mapping.device_ptr_and_size()
    assert size == values.nbytes
    assert (drv.from_device(pointer, 256, np.float32) == values).all()
    drv.memcpy_htod(pointer, 2 * values)
    mapping.unmap()
    got = np.zeros_like(values)
    sharing.read_buffer(buffer, got)
    assert (got == 2 * values).all(), sharing.renderer()

    data = pixels(16, 8)
    image = sharing.image(16, 8)
    shared = drv.RegisteredImage(image, sharing.target)
    mapping = shared.map()
    mapping.array(0, 0).set(data)
    mapping.unmap()
    got = np.zeros_like(data)
    sharing.read_image(image, got)
    assert (got == data).all(), sharing.renderer()


# -- the page --------------------------------------------------------------------------

PROGRAM = """
import numpy as np
import pycuda.driver as drv
from pycuda import _driver
from support.opengl import NoOpenGL, RealOpenGL, StandIn

drv.init()
try:
    made = StandIn() if _driver._is_emulated() else RealOpenGL()
except NoOpenGL as error:
    raise SystemExit(f"no OpenGL: {error}")
buffer = made.buffer(4 * 64)
WITH
from pycuda.compiler import SourceModule

text = "__global__ void wave(float *p, float t) { p[threadIdx.x] = threadIdx.x * t; }"
wave = SourceModule(text).get_function("wave").prepare("Pf")
grid, block, time = (1, 1), (64, 1, 1), 0.5
draw()
mapping = shared.map()
seen = np.empty(64, np.float32)
drv.memcpy_dtoh(seen, mapping.device_ptr_and_size()[0])
mapping.unmap()
print(seen.tolist() == [i / 2 for i in range(64)])
"""


def test_the_program_of_the_page(gl):
    block = literal_block("opengl", "With a buffer made by any OpenGL binding")
    path = os.pathsep.join([str(TEST), os.environ.get("PYTHONPATH", str(TEST.parent))])
    done = run_child(PROGRAM.replace("WITH", block), PYTHONPATH=path)
    assert done.stdout == "True\n"
