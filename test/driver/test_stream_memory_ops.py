"""Streams that wait for values in memory and write them."""

import threading

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from support.faults import NOT_FOUND, fail_calls  # noqa: F401

pytestmark = pytest.mark.gpu

OP = drv.stream_mem_op
WAIT = drv.stream_wait_value


@pytest.fixture
def streams(ctx):
    flags = drv.stream_flags.NON_BLOCKING
    return drv.Stream(flags), drv.Stream(flags)


@pytest.fixture
def memory(ctx):
    memory = drv.mem_alloc(64)
    drv.memset_d32(memory, 0, 16)
    drv.Context.synchronize()  # the streams of this file do not wait for the memset
    return memory


def values(memory, dtype=np.int32):
    return drv.from_device(memory, 64 // np.dtype(dtype).itemsize, dtype)


def test_write(streams, memory):
    streams[0].write_value(memory, 5)
    streams[0].write_value(int(memory) + 4, -1)
    streams[0].write_value(int(memory) + 8, 1 << 40, width=8)
    streams[0].synchronize()
    found = values(memory, np.uint32)
    assert found[:5].tolist() == [5, 0xFFFFFFFF, 0, 1 << 8, 0]


def test_write_without_barrier_is_refused(streams, memory):
    """The second version of the driver's call, of CUDA 11.7, takes no flags."""
    with pytest.raises(drv.LogicError, match="flags 1; .* and the flags 0"):
        streams[0].write_value(memory, 7, drv.stream_write_value.NO_MEMORY_BARRIER)
    streams[0].synchronize()
    assert values(memory)[0] == 0


@pytest.mark.parametrize(
    ("condition", "before", "value", "after"),
    [
        (WAIT.GEQ, 4, 5, 5),
        (WAIT.GEQ, 4, 5, 9),
        (WAIT.GEQ, 0x7FFFFFFF, -0x80000000, -0x80000000),
        (WAIT.EQ, 6, 5, 5),
        (WAIT.AND, 8, 5, 4),
        (WAIT.NOR, -1, 0, -2),
    ],
)
def test_wait(streams, memory, condition, before, value, after):
    """The stream waits, the thread does not, and a second stream ends the wait."""
    waiting, other = streams
    seen = []
    other.write_value(memory, before)
    other.synchronize()
    waiting.wait_value(memory, value, condition)
    waiting.write_value(int(memory) + 4, 77)
    waiting.add_callback(seen.append, "passed")
    event = drv.Event().record(waiting)
    assert not waiting.is_done() and not event.query() and not seen
    other.write_value(memory, after)
    other.synchronize()
    waiting.synchronize()
    assert values(memory)[1] == 77 and seen == ["passed"] and event.query()


def test_wait_of_8_bytes(streams, memory):
    waiting, other = streams
    waiting.wait_value(memory, 1 << 40, WAIT.EQ, 8)
    assert not waiting.is_done()
    other.write_value(memory, 1 << 40, width=8)
    waiting.synchronize()


def test_a_wait_that_is_over_at_once(streams, memory):
    streams[0].wait_value(memory, 0)
    streams[0].synchronize()


def test_a_third_stream_waits_for_an_event_behind_a_wait(streams, memory):
    waiting, other = streams
    third = drv.Stream(drv.stream_flags.NON_BLOCKING)
    waiting.wait_value(memory, 3)
    event = drv.Event().record(waiting)
    third.wait_for_event(event)
    third.write_value(int(memory) + 8, 9)
    assert not third.is_done()
    other.write_value(memory, 3)
    third.synchronize()
    assert values(memory)[2] == 9


def test_the_host_ends_the_wait(streams, ctx):
    host = drv.pagelocked_zeros(4, np.int32, mem_flags=drv.host_alloc_flags.DEVICEMAP)
    address = host.base.get_device_pointer()
    streams[0].wait_value(address, 1)
    streams[0].write_value(int(address) + 4, 2)
    assert host[1] == 0
    host[0] = 1
    streams[0].synchronize()
    assert host[1] == 2


def test_a_kernel_ends_the_wait(streams, memory):
    waiting, other = streams
    store = SourceModule("__global__ void f(int *a) { *a = 4; }").get_function("f")
    waiting.wait_value(memory, 4, WAIT.EQ)
    store(memory, block=(1, 1, 1), stream=other)
    waiting.synchronize()


def test_another_thread_ends_the_wait(streams, memory, ctx):
    waiting, other = streams

    def later():
        ctx.push()
        try:
            other.write_value(memory, 8)
            other.synchronize()
        finally:
            drv.Context.pop()

    waiting.wait_value(memory, 8)
    timer = threading.Timer(0.05, later)
    timer.start()
    waiting.synchronize()
    timer.join()


def test_a_ring_of_streams(ctx):
    """Each stream waits for the one before, all in one thread, the last one first."""
    array = gpuarray.zeros(8, np.int32)
    start = int(array.gpudata)
    flags = drv.stream_flags.NON_BLOCKING
    ring = [drv.Stream(flags) for _ in range(8)]
    drv.Context.synchronize()
    for i in reversed(range(1, 8)):
        ring[i].wait_value(start + 4 * (i - 1), i, WAIT.EQ)
        ring[i].write_value(start + 4 * i, i + 1)
    ring[0].write_value(array, 1)
    for stream in ring:
        stream.synchronize()
    assert array.get().tolist() == list(range(1, 9))


def test_batch(streams, memory):
    waiting, other = streams
    start = int(memory)
    waiting.batch_memory_operations(
        [
            (OP.WAIT_VALUE_32, memory, 2, WAIT.EQ),
            (OP.WRITE_VALUE_64, start + 8, -1),
            (OP.BARRIER, 0),
            (OP.WRITE_VALUE_32, np.uint64(start + 16), np.int8(3), 0),
        ]
    )
    assert not waiting.is_done()
    other.batch_memory_operations(iter([(OP.WRITE_VALUE_32, start, 2)]))
    waiting.synchronize()
    assert values(memory)[:5].tolist() == [2, 0, -1, -1, 3]
    waiting.batch_memory_operations([])


def test_in_a_graph(streams, memory):
    stream, other = streams
    with stream.capture() as graph:
        stream.wait_value(memory, 1)
        stream.write_value(int(memory) + 4, 6)
    executable = graph.instantiate()
    assert values(memory)[1] == 0
    other.write_value(memory, 1)
    other.synchronize()
    executable.launch(stream)
    stream.synchronize()
    assert values(memory)[1] == 6


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda s, m: s.wait_value(int(m) + 2, 1), drv.LogicError, "multiple of 4"),
        (lambda s, m: s.write_value(int(m) + 4, 1, width=8), drv.LogicError, "of 8"),
        (lambda s, m: s.wait_value(m, 1, width=3), ValueError, "4 or 8 bytes, not 3"),
        (lambda s, m: s.wait_value(m, 1 << 32), OverflowError, "value"),
        (lambda s, m: s.wait_value(m, 1.5), TypeError, "value"),
        (lambda s, m: s.wait_value("x", 1), TypeError, "memory"),
        (lambda s, m: s.batch_memory_operations(3), TypeError, ""),
        (lambda s, m: s.batch_memory_operations([3]), TypeError, "stream_mem_op"),
        (lambda s, m: s.batch_memory_operations([()]), TypeError, "stream_mem_op"),
        (
            lambda s, m: s.batch_memory_operations([(OP.WRITE_VALUE_32, m)]),
            TypeError,
            "memory, value",
        ),
        (
            lambda s, m: s.batch_memory_operations([(OP.BARRIER, 0, 1)]),
            TypeError,
            "flags only",
        ),
        (
            lambda s, m: s.batch_memory_operations([(OP.BARRIER, 0)] * 257),
            ValueError,
            "256",
        ),
    ],
)
def test_wrong_arguments(streams, memory, call, error, text):
    with pytest.raises(error, match=text or None):
        call(streams[0], memory)


def test_an_older_driver(streams, memory, fail_calls):  # noqa: F811
    fail_calls("cuStreamWaitValue32", 1, code=NOT_FOUND)
    with pytest.raises(drv.LogicError, match="cuStreamWaitValue32"):
        streams[0].wait_value(memory, 0)
