"""Capture the work of a stream into a graph, with calls of the driver.

During a capture, no call may wait for the stream or enqueue work in another stream. So
a function that succeeds under ``captured`` works without the host.
"""

import contextlib
from ctypes import c_uint64, c_void_p

from pycuda import _driver
from support.emulator import LIBRARY, Driver

RELAXED = 2  # allows allocations during the capture


def driver():
    return Driver(LIBRARY if _driver._is_emulated() else "libcuda.so.1")


@contextlib.contextmanager
def captured(stream, launches=1):
    """Make a stream current and capture it. At the end launch the graph and wait."""
    d = driver()
    handle = c_void_p(stream.handle)
    graph = None
    with stream:
        d.ok("StreamBeginCapture", handle, RELAXED)
        try:
            yield
        except BaseException:
            d.StreamEndCapture(handle, (c_void_p * 1)())  # the first error counts
            raise
        graph = c_void_p(d.last(c_void_p, "StreamEndCapture", handle))
    runnable = c_void_p(
        d.out(c_void_p, "GraphInstantiateWithFlags", graph, c_uint64(0))
    )
    for _ in range(launches):
        d.ok("GraphLaunch", runnable, handle)
    d.ok("StreamSynchronize", handle)
    d.ok("GraphExecDestroy", runnable)
    d.ok("GraphDestroy", graph)
