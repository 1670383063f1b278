"""Changes of single nodes of executable graphs, apart from kernels; instantiation."""

import gc
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, gpuarray
from pycuda.compiler import DynamicSourceModule, SourceModule

pytestmark = [pytest.mark.gpu, pytest.mark.module_context]

COUNT = 64
SHAPE = {"block": (COUNT, 1, 1)}
OP = drv.stream_mem_op


@pytest.fixture(scope="module")
def fill(module_context):
    return SourceModule(
        "__global__ void fill(int *to, int n) { to[threadIdx.x] = n; }"
    ).get_function("fill")


@pytest.fixture
def stream(module_context):
    return drv.Stream()


def zeros():
    return gpuarray.zeros(COUNT, np.int32)


class Function:
    """A function that notes its calls, and that tests can watch."""

    def __init__(self, seen, name):
        self.seen, self.name = seen, name

    def __call__(self):
        self.seen.append(self.name)


def test_a_host_function(stream):
    seen = []
    first, second = Function(seen, "first"), Function(seen, "second")
    graph = drv.Graph()
    node = graph.add_host(first)
    executable = graph.instantiate()
    executable.launch(stream)
    executable.update_node(node, second)
    executable.launch(stream)
    stream.synchronize()
    assert seen == ["first", "second"]
    reference = weakref.ref(second)
    del second
    gc.collect()
    executable.launch(stream)
    stream.synchronize()
    assert seen == ["first", "second", "second"]
    executable.update_node(node, first)
    stream.synchronize()
    executable.launch(stream)
    stream.synchronize()
    del executable
    gc.collect()
    assert reference() is None


def test_a_captured_callback(stream):
    seen = []
    with stream.capture() as graph:
        stream.add_callback(seen.append, "captured")
    executable = graph.instantiate()
    executable.update_node(graph.nodes[0], lambda: seen.append("changed"))
    executable.launch(stream)
    stream.synchronize()
    assert seen == ["changed"]


def test_an_event_to_record(fill, stream):
    first, second = drv.Event(), drv.Event()
    graph = drv.Graph()
    node = graph.add_event_record(first)
    executable = graph.instantiate()
    executable.launch(stream)
    stream.synchronize()
    start = drv.Event().record(stream)
    start.synchronize()
    executable.update_node(node, second)
    executable.launch(stream)
    stream.synchronize()
    assert start.time_till(second) >= 0
    assert first.time_till(start) >= 0  # it was not recorded again


def test_an_event_to_wait_for(fill, stream):
    """The graph waits for the new event only."""
    other = drv.Stream(drv.stream_flags.NON_BLOCKING)
    memory = drv.mem_alloc(4)
    drv.memset_d32(memory, 0, 1)
    blocked, free = drv.Event(), drv.Event()
    other.wait_value(memory, 1)
    blocked.record(other)
    free.record(stream)
    graph = drv.Graph()
    node = graph.add_event_wait(blocked)
    executable = graph.instantiate()
    executable.update_node(node, free)
    executable.launch(stream)
    stream.synchronize()
    assert not blocked.query()
    third = drv.Stream(drv.stream_flags.NON_BLOCKING)
    third.write_value(memory, 1)
    other.synchronize()


def test_a_child(fill, stream):
    x, y = zeros(), zeros()

    def child(to, n):
        graph = drv.Graph()
        graph.add_kernel(fill, to, np.int32(n), **SHAPE)
        return graph

    graph = drv.Graph()
    node = graph.add_child(child(x, 3))
    executable = graph.instantiate()
    executable.launch(stream)
    before = _driver._live_counts()["memory"]
    executable.update_node(node, child(y, 4))
    address = y.ptr
    del y  # the executable graph keeps it
    gc.collect()
    assert _driver._live_counts()["memory"] == before
    result = np.zeros(COUNT, np.int32)
    executable.launch(stream)
    drv.memcpy_dtoh_async(result, address, stream)
    stream.synchronize()
    assert (x.get() == 3).all() and (result == 4).all()
    larger = child(x, 1)
    larger.add_empty()
    with pytest.raises(drv.LogicError, match="cuGraphExecChildGraphNodeSetParams"):
        executable.update_node(node, larger)


def test_a_batch_of_memory_operations(stream):
    memory, other = drv.mem_alloc(8), drv.mem_alloc(8)
    for each in (memory, other):
        drv.memset_d32(each, 0, 2)
    graph = drv.Graph()
    node = graph.add_batch(
        [
            (OP.WRITE_VALUE_32, memory, 5),
            (OP.WAIT_VALUE_32, memory, 5, drv.stream_wait_value.EQ),
        ]
    )
    executable = graph.instantiate()
    executable.update_node(
        node,
        [
            (OP.WRITE_VALUE_32, other, 7),
            (OP.WAIT_VALUE_32, other, 6, drv.stream_wait_value.GEQ),
        ],
    )
    executable.launch(stream)
    stream.synchronize()
    assert drv.from_device(memory, 2, np.int32)[0] == 0
    assert drv.from_device(other, 2, np.int32)[0] == 7
    with pytest.raises(drv.LogicError, match="cuGraphExecBatchMemOpNodeSetParams"):
        executable.update_node(node, [(OP.WRITE_VALUE_32, other, 7)])


def test_what_is_refused(stream):
    graph = drv.Graph()
    host, empty = graph.add_host(int), graph.add_empty()
    record = graph.add_event_record(drv.Event())
    child = graph.add_child(drv.Graph())
    executable = graph.instantiate()
    for call, text in [
        (lambda: executable.update_node(host), "takes a function"),
        (lambda: executable.update_node(host, int, int), "takes a function"),
        (lambda: executable.update_node(host, function=int), "takes a function"),
        (lambda: executable.update_node(host, 3), "must be callable, not int"),
        (lambda: executable.update_node(record, 3), "must be an Event, not int"),
        (lambda: executable.update_node(child, 3), "must be a Graph, not int"),
        (lambda: executable.update_node(empty), "no parameters"),
    ]:
        with pytest.raises(TypeError, match=text):
            call()


# -- instantiation ---------------------------------------------------------------------


def test_priorities_of_nodes(fill, stream):
    x = zeros()
    least, greatest = drv.Context.get_stream_priority_range()
    with stream.capture() as graph:
        fill(x, np.int32(1), priority=least, **SHAPE)
        fill(x, np.int32(2), priority=greatest, **SHAPE)
    graph.instantiate(priorities=True).launch(stream)
    stream.synchronize()
    assert (x.get() == 2).all()


LAUNCHER = """
extern "C" __global__ void launcher(cudaGraphExec_t graph)
{
    cudaGraphLaunch(graph, cudaStreamGraphFireAndForget);
}
"""


def test_kernels_launch_graphs(fill, stream):
    x = zeros()
    inner = drv.Graph()
    inner.add_kernel(fill, x, np.int32(5), **SHAPE)
    if _driver._is_emulated():
        with pytest.raises(drv.LogicError, match="software device has none"):
            inner.instantiate(device_launch=True)
        return
    try:
        mod = DynamicSourceModule(LAUNCHER, no_extern_c=True)
    except drv.CompileError as error:
        pytest.skip(f"no library for launches by kernels: {error}")
    executable = inner.instantiate(device_launch=True)
    executable.upload(stream)
    stream.synchronize()
    outer = drv.Graph()
    outer.add_kernel(
        mod.get_function("launcher"), np.uintp(executable.handle), block=(1, 1, 1)
    )
    outer.instantiate(device_launch=True).launch(stream)
    stream.synchronize()
    assert (x.get() == 5).all()
