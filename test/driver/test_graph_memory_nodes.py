"""Nodes of graphs for memory: operations on values, and memory of the graph."""

import threading

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

pytestmark = [pytest.mark.gpu, pytest.mark.module_context]

COUNT = 64
SHAPE = {"block": (COUNT, 1, 1)}
OP = drv.stream_mem_op
KERNELS = """
__global__ void fill(int *to, int n) { to[threadIdx.x] = n; }
__global__ void add(int *to, const int *from) { to[threadIdx.x] += from[threadIdx.x]; }
"""


@pytest.fixture(scope="module")
def mod(module_context):
    return SourceModule(KERNELS)


@pytest.fixture
def stream(module_context):
    return drv.Stream(drv.stream_flags.NON_BLOCKING)


def values(memory):
    return drv.from_device(memory, 4, np.uint32).tolist()


@pytest.fixture
def memory(module_context):
    memory = drv.mem_alloc(16)
    drv.memset_d32(memory, 0, 4)
    return memory


# -- operations on values --------------------------------------------------------------


def test_a_batch_writes_and_waits(stream, memory):
    graph = drv.Graph()
    first = graph.add_batch(
        [
            (OP.WRITE_VALUE_32, memory, 1),
            (OP.WRITE_VALUE_64, int(memory) + 8, 2),
        ]
    )
    second = graph.add_batch([(OP.WAIT_VALUE_32, int(memory) + 4, 3)], after=first)
    graph.add_batch([(OP.WRITE_VALUE_32, memory, 9)], after=[second])
    assert [node.type for node in graph.nodes] == ["batch"] * 3
    executable = graph.instantiate()
    other = drv.Stream(drv.stream_flags.NON_BLOCKING)
    # The software device runs the graph within the launch.
    thread = threading.Timer(0.05, other.write_value, (int(memory) + 4, 3))
    thread.start()
    executable.launch(stream)
    stream.synchronize()
    thread.join()
    assert values(memory) == [9, 3, 2, 0]


def test_the_memory_of_a_batch_is_kept(stream, memory):
    other = drv.mem_alloc(16)
    graph = drv.Graph()
    node = graph.add_batch([(OP.WRITE_VALUE_32, other, 7)])
    graph.add_copy(memory, other, 4, after=node)
    executable = graph.instantiate()
    other.free()
    del graph, other
    kept = [drv.mem_alloc(16) for _ in range(8)]  # takes the memory if it was free
    executable.launch(stream)
    stream.synchronize()
    assert values(memory)[0] == 7
    del kept


def test_captured_operations_are_nodes(stream, memory):
    with stream.capture() as graph:
        stream.write_value(memory, 4)
        stream.wait_value(memory, 4)
        stream.batch_memory_operations(
            [
                (OP.WRITE_VALUE_32, int(memory) + 4, 5),
                (OP.WRITE_VALUE_32, int(memory) + 8, 6),
            ]
        )
    assert [node.type for node in graph.nodes] == ["batch"] * 3
    assert values(memory) == [0, 0, 0, 0]
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert values(memory) == [4, 5, 6, 0]


def test_batches_that_are_refused(memory):
    graph = drv.Graph()
    with pytest.raises(ValueError, match="at least one operation"):
        graph.add_batch([])
    with pytest.raises(ValueError, match="at most 256"):
        graph.add_batch([(OP.WRITE_VALUE_32, memory, 1)] * 257)
    with pytest.raises(TypeError, match="begins with a stream_mem_op"):
        graph.add_batch([3])
    with pytest.raises(drv.LogicError, match="cuGraphAddNode"):
        graph.add_batch([(OP.WRITE_VALUE_32, int(memory) + 1, 1)])
    assert graph.nodes == ()


# -- memory of the graph ---------------------------------------------------------------


def test_memory_of_a_graph(mod, stream):
    result = gpuarray.zeros(COUNT, np.int32)
    graph = drv.Graph()
    alloc = graph.add_alloc(4 * COUNT)
    memory = np.uintp(alloc.address)
    fill = graph.add_kernel(
        mod.get_function("fill"), memory, np.int32(3), after=alloc, **SHAPE
    )
    add = graph.add_kernel(mod.get_function("add"), result, memory, after=fill, **SHAPE)
    free = graph.add_free(alloc, after=add)
    assert (alloc.type, free.type) == ("alloc", "free")
    assert free.address == alloc.address != 0 and add.address is None
    assert {node.address for node in graph.nodes} == {None, alloc.address}
    executable = graph.instantiate()
    drv.Context.synchronize()  # the stream does not wait for the zeros
    for _ in range(3):
        executable.launch(stream)
    stream.synchronize()
    assert (result.get() == 9).all()


def test_captured_work_uses_memory_of_the_graph(mod, stream):
    result = gpuarray.zeros(COUNT, np.int32)
    graph = drv.Graph()
    alloc = graph.add_alloc(4 * COUNT)
    with stream.capture(graph, after=alloc):
        drv.memset_d32_async(alloc.address, 5, COUNT)
        drv.memcpy_dtod_async(result.gpudata, alloc.address, 4 * COUNT, stream)
    graph.add_free(alloc, after=graph.leaves)
    executable = graph.instantiate()
    drv.Context.synchronize()  # the stream does not wait for the zeros
    executable.launch(stream)
    stream.synchronize()
    assert (result.get() == 5).all()


def test_memory_of_graphs_that_is_refused(stream):
    graph = drv.Graph()
    with pytest.raises(drv.LogicError, match="0 bytes"):
        graph.add_alloc(0)
    alloc = graph.add_alloc(1024)
    with pytest.raises(drv.LogicError, match=r"add_free\(node\)"):
        graph.instantiate()
    with pytest.raises(TypeError, match="node of add_alloc"):
        graph.add_free(graph.add_empty())
    with pytest.raises(TypeError, match="node of add_alloc"):
        graph.add_free(alloc.address)
    graph.add_free(alloc, after=alloc)
    with pytest.raises(drv.LogicError):
        graph.add_free(alloc, after=alloc)
    with pytest.raises(drv.LogicError):
        drv.Graph().add_child(graph)
    first = graph.instantiate()
    with pytest.raises(drv.LogicError):
        graph.instantiate()
    first.launch(stream)
    stream.synchronize()
    del first
    graph.instantiate().launch(stream)
    stream.synchronize()
