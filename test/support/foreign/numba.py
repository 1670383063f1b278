"""Objects of Numba in our calls, and ours in calls of Numba."""

import gc

import numpy as np
from numba import config, cuda

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.interop import to_gpuarray

from . import COUNT, SHAPE, adder, check, run

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
add = adder()


@cuda.jit
def twice(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= 2


def ones():
    return cuda.to_device(np.ones(COUNT, np.int32))


@check
def their_streams():
    theirs, x = cuda.stream(), ones()
    twice[4, 256, theirs](x)
    add(x, np.int32(2), stream=drv.Stream.from_handle(theirs), **SHAPE)
    if hasattr(theirs, "__cuda_stream__"):
        add(x, np.int32(2), stream=theirs, **SHAPE)
    else:
        add(x, np.int32(2), stream=drv.Stream.from_handle(theirs), **SHAPE)
    twice[4, 256, theirs](x)
    theirs.synchronize()
    assert (x.copy_to_host() == 12).all()


@check
def their_events():
    theirs, x, event = cuda.stream(), ones(), cuda.event()
    twice[4, 256, theirs](x)
    event.record(theirs)
    ours = drv.Stream(drv.stream_flags.NON_BLOCKING)
    ours.wait_for_event(event)
    add(x, np.int32(1), stream=ours, **SHAPE)
    back = drv.Event().record(ours)
    drv.Stream.from_handle(theirs).wait_for_event(back)
    twice[4, 256, theirs](x)
    theirs.synchronize()
    assert (x.copy_to_host() == 6).all()
    assert drv.Event.from_handle(event).query()


@check
def our_streams():
    x = gpuarray.zeros(COUNT, np.int32) + 5
    ours = drv.Stream(drv.stream_flags.NON_BLOCKING)
    drv.Context.synchronize()
    twice[4, 256, cuda.external_stream(ours.handle)](cuda.as_cuda_array(x))
    ours.synchronize()
    assert (x.get() == 10).all()


@check
def our_memory():
    x = gpuarray.zeros(COUNT, np.int32) + 5
    drv.Context.synchronize()
    twice[4, 256](x)
    cuda.synchronize()
    assert (x.get() == 10).all()


@check
def their_memory():
    x = ones()
    array = to_gpuarray(x)
    array += 2
    drv.Context.synchronize()
    assert (x.copy_to_host() == 3).all()
    stream = drv.Stream()
    with stream.capture() as graph:
        add(x, np.int32(1), **SHAPE)
    executable = graph.instantiate()
    del x, graph  # the graph keeps the array
    gc.collect()
    executable.launch(stream)
    stream.synchronize()
    assert (array.get() == 4).all()


run()
