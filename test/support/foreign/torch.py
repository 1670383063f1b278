"""Objects of PyTorch in our calls, and ours in calls of PyTorch."""

import gc

import numpy as np
import torch

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.interop import from_gpuarray, to_gpuarray

from . import COUNT, SHAPE, adder, check, run, words

add = adder()


def ones():
    x = torch.ones(COUNT, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    return x


@check
def their_streams_and_events():
    theirs, event = torch.cuda.Stream(), torch.cuda.Event()
    with torch.cuda.stream(theirs):
        x = torch.full((COUNT,), 3, dtype=torch.int32, device="cuda")
        event.record(theirs)
    ours = drv.Stream(drv.stream_flags.NON_BLOCKING)
    ours.wait_for_event(event)
    add(x, np.int32(1), stream=ours, **SHAPE)
    ours.synchronize()
    wrapped = drv.Stream.from_handle(theirs.cuda_stream, theirs)
    add(x, np.int32(1), stream=wrapped, **SHAPE)
    if hasattr(theirs, "__cuda_stream__"):
        add(x, np.int32(1), stream=theirs, **SHAPE)
    else:
        add(x, np.int32(1), stream=wrapped, **SHAPE)
    theirs.synchronize()
    assert (words(x.data_ptr()) == 6).all()


@check
def our_streams():
    ours = drv.Stream(drv.stream_flags.NON_BLOCKING)
    with torch.cuda.stream(torch.cuda.ExternalStream(ours.handle)):
        x = torch.full((COUNT,), 3, dtype=torch.int32, device="cuda")
    add(x, np.int32(1), stream=ours, **SHAPE)
    ours.synchronize()
    assert (words(x.data_ptr()) == 4).all()


@check
def memory():
    x = ones()
    array = to_gpuarray(x)
    array += 2
    drv.Context.synchronize()
    assert (x.cpu().numpy() == 3).all()
    ours = gpuarray.zeros(COUNT, np.int32) + 5
    for theirs in (
        torch.as_tensor(ours, device="cuda"),
        torch.from_dlpack(ours),
        from_gpuarray(ours, "torch"),
    ):
        assert theirs.data_ptr() == ours.ptr
    stream = drv.Stream()
    with stream.capture() as graph:
        add(x, np.int32(1), **SHAPE)
    executable = graph.instantiate()
    address = x.data_ptr()
    del x, graph, array  # the graph keeps the tensor
    gc.collect()
    other = ones()
    executable.launch(stream)
    stream.synchronize()
    assert other.data_ptr() != address and (words(address) == 4).all()


@check
def tensors_of_the_host():
    try:
        add(torch.ones(COUNT, dtype=torch.int32), np.int32(1), **SHAPE)
    except TypeError as error:
        assert "Tensor" in str(error)
    else:
        raise AssertionError("a tensor of the host was accepted")


run()
