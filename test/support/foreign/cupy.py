"""Objects of CuPy in our calls, and ours in calls of CuPy."""

import gc

import cupy
import numpy as np

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.interop import from_gpuarray, to_gpuarray

from . import COUNT, SHAPE, SOURCE, adder, check, run, words

add = adder()


def ones():
    x = cupy.ones(COUNT, cupy.int32)
    cupy.cuda.Device().synchronize()
    return x


@check
def their_streams_and_events():
    theirs, event = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Event()
    with theirs:
        x = cupy.full(COUNT, 3, dtype=cupy.int32)
        event.record(theirs)
    ours = drv.Stream(drv.stream_flags.NON_BLOCKING)
    ours.wait_for_event(event)
    add(x, np.int32(1), stream=ours, **SHAPE)
    ours.synchronize()
    wrapped = drv.Stream.from_handle(theirs.ptr, theirs)
    add(x, np.int32(1), stream=wrapped, **SHAPE)
    if hasattr(theirs, "__cuda_stream__"):
        add(x, np.int32(1), stream=theirs, **SHAPE)
    else:
        add(x, np.int32(1), stream=wrapped, **SHAPE)
    theirs.synchronize()
    assert (words(x.data.ptr) == 6).all()


@check
def our_streams():
    ours = drv.Stream(drv.stream_flags.NON_BLOCKING)
    if hasattr(cupy.cuda.Stream, "from_external"):
        external = cupy.cuda.Stream.from_external(ours)
    else:
        external = cupy.cuda.ExternalStream(ours.handle)
    with external:
        x = cupy.full(COUNT, 3, dtype=cupy.int32)
    add(x, np.int32(1), stream=ours, **SHAPE)
    ours.synchronize()
    assert (words(x.data.ptr) == 4).all()


@check
def their_code():
    kernel, x = cupy.RawKernel(SOURCE, "add"), ones()
    function = drv.Function.from_handle(kernel.kernel, kernel)
    function(x, np.int32(2), **SHAPE)
    assert (words(x.data.ptr) == 3).all()
    module = cupy.RawModule(code=SOURCE)
    handle = module.get_function("add").kernel.ptr
    assert drv.Function.from_handle(handle, module).name == "add"


@check
def memory():
    x = ones()
    array = to_gpuarray(x)
    array += 2
    drv.Context.synchronize()
    assert (x.get() == 3).all()
    ours = gpuarray.zeros(COUNT, np.int32) + 5
    for theirs in (
        cupy.asarray(ours),
        cupy.from_dlpack(ours),
        from_gpuarray(ours, "cupy"),
    ):
        assert theirs.data.ptr == ours.ptr
    stream = drv.Stream()
    with stream.capture() as graph:
        add(x, np.int32(1), **SHAPE)
    executable = graph.instantiate()
    address = x.data.ptr
    del x, graph, array  # the graph keeps the array
    gc.collect()
    other = ones()
    executable.launch(stream)
    stream.synchronize()
    assert other.data.ptr != address and (words(address) == 4).all()


run()
