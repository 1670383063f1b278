"""Objects of Numba in our calls, and ours in calls of Numba.

Numba compiles no kernel here: its work is copies.
"""

import gc

import numpy as np
from numba import cuda

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.interop import from_gpuarray, to_gpuarray

from . import COUNT, SHAPE, adder, check, run, words

add = adder()


def ones(stream=0):
    return cuda.to_device(np.ones(COUNT, np.int32), stream=stream)


def address(array):
    return array.__cuda_array_interface__["data"][0]


@check
def their_streams():
    theirs = cuda.stream()
    x = ones(theirs)
    add(x, np.int32(2), stream=drv.Stream.from_handle(theirs), **SHAPE)
    add(x, np.int32(2), stream=theirs, **SHAPE)
    y = cuda.device_array_like(x)
    y.copy_to_device(x, stream=theirs)
    theirs.synchronize()
    assert (words(address(y)) == 5).all()


@check
def their_events():
    theirs, event = cuda.stream(), cuda.event()
    x = ones(theirs)
    event.record(theirs)
    ours = drv.Stream(drv.stream_flags.NON_BLOCKING)
    ours.wait_for_event(event)
    add(x, np.int32(1), stream=ours, **SHAPE)
    back = drv.Event().record(ours)
    drv.Stream.from_handle(theirs).wait_for_event(back)
    y = cuda.device_array_like(x)
    y.copy_to_device(x, stream=theirs)
    theirs.synchronize()
    assert (words(address(y)) == 2).all()
    assert drv.Event.from_handle(event).query()


@check
def our_streams():
    ours = drv.Stream(drv.stream_flags.NON_BLOCKING)
    external = cuda.external_stream(ours.handle)
    x = ones(external)
    add(x, np.int32(4), stream=ours, **SHAPE)
    y = cuda.device_array_like(x)
    y.copy_to_device(x, stream=external)
    external.synchronize()
    assert (words(address(y)) == 5).all()


@check
def our_memory():
    x = gpuarray.zeros(COUNT, np.int32) + 5
    drv.Context.synchronize()
    for theirs in (cuda.as_cuda_array(x), from_gpuarray(x, "numba")):
        assert address(theirs) == x.ptr
        assert (theirs.copy_to_host() == 5).all()


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
