"""Objects of cuda.core in our calls, and ours in calls of cuda.core."""

import gc
import weakref

import numpy as np
from cuda.core import Buffer, Device, LaunchConfig, ObjectCode, launch
from cuda.core.utils import StridedMemoryView

import pycuda.driver as drv
from pycuda import _driver, gpuarray
from pycuda.compiler import compile as compile_source
from pycuda.interop import to_gpuarray

from . import COUNT, SHAPE, SOURCE, adder, check, run, words

device = Device(0)
device.set_current()
add = adder()
config = LaunchConfig(grid=4, block=256)


def zeros():
    return gpuarray.zeros(COUNT, np.int32)


def object_code():
    code = compile_source(SOURCE, no_extern_c=True)
    if code.startswith(b"\x7fELF"):
        return ObjectCode.from_cubin(code)
    return ObjectCode.from_ptx(code)


def buffer(value):
    made = device.allocate(4 * COUNT, stream=device.default_stream)
    drv.Context.synchronize()
    drv.memset_d32(int(made.handle), value, COUNT)
    return made


@check
def their_streams():
    theirs, x = device.create_stream(), zeros()
    add(x, np.int32(2), stream=theirs, **SHAPE)
    wrapped = drv.Stream.from_handle(theirs)
    assert wrapped.handle == int(theirs.handle)
    add(x, np.int32(1), stream=wrapped, **SHAPE)
    with drv.Stream.from_handle(theirs.handle, theirs):
        x += 1
    theirs.sync()
    assert (words(x.ptr) == 4).all()
    dead = weakref.ref(wrapped)
    del wrapped
    gc.collect()
    assert dead() is None
    theirs.sync()  # it is still theirs


@check
def their_events():
    theirs, x = device.create_stream(), zeros()
    add(x, np.int32(3), stream=theirs, **SHAPE)
    event = theirs.record()
    ours = drv.Stream(drv.stream_flags.NON_BLOCKING)
    ours.wait_for_event(event)
    add(x, np.int32(1), stream=ours, **SHAPE)
    wrapped = drv.Event.from_handle(event)
    assert wrapped.synchronize() is wrapped and wrapped.query()
    ours.synchronize()
    assert (words(x.ptr) == 4).all()


@check
def our_streams():
    x, kernel = zeros(), object_code().get_kernel("add")
    ours = drv.Stream(drv.stream_flags.NON_BLOCKING)
    launch(ours, config, kernel, x.ptr, np.int32(4))
    adopted = device.create_stream(ours)
    launch(adopted, config, kernel, x.ptr, np.int32(1))
    theirs = device.create_stream()
    theirs.wait(ours)
    launch(theirs, config, kernel, x.ptr, np.int32(1))
    theirs.sync()
    assert (words(x.ptr) == 6).all()


@check
def their_code():
    code, x = object_code(), zeros()
    modules = [
        drv.Module.from_handle(code),
        drv.Module.from_handle(code.handle, code),
        drv.Module.from_handle(int(code.handle), code, library=True),
        drv.Module.from_handle(code.get_module(), code),
    ]
    for module in modules:
        module.get_function("add")(x, np.int32(1), **SHAPE)
    assert (words(x.ptr) == 4).all()
    kernel = code.get_kernel("add")
    count = _driver._live_counts()["module"]
    dead = weakref.ref(code) if type(code).__weakrefoffset__ else lambda: None
    for function in (
        drv.Function.from_handle(kernel),
        drv.Function.from_handle(kernel.handle, kernel),
    ):
        assert function.name == "add"
        function(x, np.int32(2), **SHAPE)
        function.prepare("Pi").prepared_call((4, 1), (256, 1, 1), x.gpudata, 1)
    assert (words(x.ptr) == 10).all()
    del modules, module, function, kernel, code
    gc.collect()
    assert dead() is None
    assert _driver._live_counts()["module"] == count


@check
def their_memory():
    theirs = buffer(5)
    add(theirs, np.int32(1), **SHAPE)
    assert (words(theirs.handle) == 6).all()
    stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
    add(theirs, np.int32(1), stream=stream, **SHAPE)
    array = to_gpuarray(theirs).view(np.int32)
    assert array.ptr == int(theirs.handle) and array.size == COUNT
    array += 1
    assert (words(theirs.handle) == 8).all()
    borrowed = drv.from_dlpack(theirs)
    assert int(borrowed) == int(theirs.handle)
    with stream.capture() as graph:
        add(theirs, np.int32(1), **SHAPE)
    address = int(theirs.handle)
    executable = graph.instantiate()
    del theirs, array, borrowed, graph  # the graph keeps the memory
    gc.collect()
    executable.launch(stream)
    stream.synchronize()
    assert (words(address) == 9).all()


@check
def our_memory():
    x, theirs = zeros() + 7, buffer(1)
    stream = device.create_stream()
    drv.Context.synchronize()
    lent = Buffer.from_handle(x.ptr, x.nbytes, owner=x)
    theirs.copy_from(lent, stream=stream)
    stream.sync()
    assert (words(theirs.handle) == 7).all()
    dead = weakref.ref(x)
    del x
    gc.collect()
    assert dead() is not None
    lent.close()
    del lent
    gc.collect()
    assert dead() is None
    for ours in (gpuarray.zeros((3, 4), np.float32), drv.mem_alloc(64)):
        if isinstance(ours, drv.DeviceAllocation):
            ours = drv.from_dlpack(ours.as_dlpack((4, 4), np.float32))
        view = StridedMemoryView.from_any_interface(ours, stream_ptr=-1)
        assert view.ptr == int(getattr(ours, "gpudata", ours))
        assert tuple(view.shape) == ours.shape and view.is_device_accessible


run()
