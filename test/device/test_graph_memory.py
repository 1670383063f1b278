"""Memory of graphs: allocation nodes, free nodes, and captured allocations."""

from ctypes import byref, c_size_t, c_uint, c_uint64, c_void_p, create_string_buffer

from support.driver_graphs import (
    AUTO_FREE,
    GRAPH,
    MEM_ALLOC,
    MEM_FREE,
    AllocParams,
    ChildParams,
    NodeParams,
    PoolProperties,
    handles,
)
from support.emulator import R, child, size
from support.marks import emulator_only

pytest_plugins = ["support.emulator_fixtures"]

BAD = R.ERROR_INVALID_VALUE


def chain(bench, frees=True):
    """A graph that allocates, writes 5, copies it to word 0, and frees.

    Return the graph and the address.
    """
    g = bench.graph()
    alloc, address = bench.alloc(g)
    fill = bench.fill(g, alloc, address=address.value, value=5, width=1)
    copy = bench.copy(
        g,
        fill,
        src_device=address.value,
        dst_device=bench.memory.value,
        width=4,
    )
    if frees:
        bench.free(g, address, copy)
    return g, address


def test_memory_that_the_graph_frees(bench):
    g, address = chain(bench)
    assert bench.types(g)[0] == MEM_ALLOC and bench.types(g)[-1] == MEM_FREE
    exec_ = bench.instantiate(g)
    for _ in range(3):
        bench.set(0)
        assert bench.launch(exec_) == 0
        assert bench.get() == 5
    d = bench.d
    assert d.MemFree(address) == BAD


def test_parameters(bench):
    d = bench.d
    g = bench.graph()
    node, address = bench.alloc(g, count=100)
    found = AllocParams()
    d.ok("GraphMemAllocNodeGetParams", node, byref(found))
    assert (found.bytes, found.address) == (100, address.value)
    assert (found.pool.type, found.pool.location, found.pool.device) == (1, 1, 0)
    free = bench.free(g, address, node)
    assert d.last(c_uint64, "GraphMemFreeNodeGetParams", free) == address.value
    params = NodeParams(type=MEM_ALLOC)
    params.of.alloc = AllocParams(pool=PoolProperties(type=1, location=1), bytes=8)
    assert bench.add_node_code(g, params)[0] == 0
    assert params.of.alloc.address not in (0, address.value)
    assert d.GraphNodeSetParams(node, byref(params)) != 0
    for wrong in (
        AllocParams(pool=PoolProperties(type=1, location=1), bytes=0),
        AllocParams(pool=PoolProperties(type=0, location=1), bytes=8),
        AllocParams(pool=PoolProperties(type=1, location=1, device=99), bytes=8),
    ):
        assert bench.add_code("GraphAddMemAllocNode", g, (), byref(wrong))[0] != 0


def test_memory_that_stays(bench):
    """What a launch leaves is freed by the program before the next launch."""
    d = bench.d
    g, address = chain(bench, frees=False)
    exec_ = bench.instantiate(g)
    assert bench.launch(exec_) == 0
    assert bench.launch(exec_) == BAD
    d.ok("CtxSynchronize")
    assert d.read(address, 4) == b"\5\0\0\0"
    d.ok("MemFreeAsync", address, bench.stream)
    assert bench.launch(exec_) == 0
    d.ok("MemFree", address)
    assert bench.launch(exec_) == 0
    other = bench.graph()
    bench.free(other, address)
    free = bench.instantiate(other)
    assert bench.launch(free) == 0
    assert bench.launch(exec_) == 0
    d.ok("MemFreeAsync", address, bench.stream)


def test_a_launch_may_free_what_the_last_one_left(bench):
    d = bench.d
    g, address = chain(bench, frees=False)
    exec_ = bench.instantiate(g, AUTO_FREE)
    for _ in range(3):
        assert bench.launch(exec_) == 0
    assert bench.get() == 5
    d.ok("MemFreeAsync", address, bench.stream)


def test_memory_outlives_its_graph(bench):
    d = bench.d
    g, address = chain(bench, frees=False)
    exec_ = bench.instantiate(g)
    assert bench.launch(exec_) == 0
    d.ok("CtxSynchronize")
    bench.end(exec_)
    bench.destroy(g)
    assert d.read(address, 4) == b"\5\0\0\0"
    d.ok("MemFree", address)
    if d.emulated:
        assert d.MemcpyDtoH(create_string_buffer(4), address, size(4)) == BAD


def test_free_nodes_that_are_refused(bench):
    g, address = chain(bench)
    other = bench.graph()
    for graph, where in (
        (g, address),
        (other, address),
        (other, bench.memory),
        (other, c_uint64(address.value + 8)),
    ):
        assert bench.add_code("GraphAddMemFreeNode", graph, (), where)[0] == BAD


def test_graphs_with_memory_do_not_lose_nodes_or_edges(bench):
    d = bench.d
    g, _ = chain(bench)
    nodes = bench.nodes(g)
    no = R.ERROR_NOT_SUPPORTED
    ends = handles(nodes[0]), handles(nodes[1])
    assert d.GraphDestroyNode(nodes[1]) == no
    assert d.GraphRemoveDependencies(g, *ends, None, size(1)) == no
    assert d.GraphClone(byref(c_void_p()), g) == no
    assert bench.add_code("GraphAddChildGraphNode", bench.graph(), (), g)[0] == no
    assert bench.edges(g) == {(0, 1), (1, 2), (2, 3)}
    exec_ = bench.instantiate(g)
    assert bench.instantiate_code(g)[0] == no
    bench.end(exec_)
    bench.instantiate(g)


def test_a_moved_child_graph_may_have_memory(bench):
    inner, _ = chain(bench)
    g = bench.graph()
    params = NodeParams(type=GRAPH)
    params.of.graph = ChildParams(inner, 1)
    assert bench.add_node_code(g, params)[0] == 0
    bench.graphs.remove(inner)
    bench.run(g)
    assert bench.get() == 5


def test_memory_of_graphs_is_counted(bench):
    d = bench.d

    def count(number):
        return d.last(c_uint64, "DeviceGetGraphMemAttribute", 0, number)

    d.ok("DeviceGraphMemTrim", 0)
    zero = c_uint64(0)
    for number in (1, 3):
        d.ok("DeviceSetGraphMemAttribute", 0, number, byref(zero))
    g, address = chain(bench, frees=False)
    exec_ = bench.instantiate(g)
    before = count(0)
    assert bench.launch(exec_) == 0
    d.ok("CtxSynchronize")
    assert count(0) >= before + 4096
    assert count(1) >= count(0) and count(2) >= count(0) and count(3) >= count(2)
    d.ok("MemFreeAsync", address, bench.stream)
    d.ok("CtxSynchronize")
    d.ok("DeviceGraphMemTrim", 0)
    assert count(0) == before and count(1) > before
    assert d.DeviceSetGraphMemAttribute(0, 0, byref(zero)) == BAD
    assert d.DeviceGetGraphMemAttribute(0, 9, byref(zero)) == BAD
    assert d.DeviceGraphMemTrim(99) == R.ERROR_INVALID_DEVICE


# -- captures --------------------------------------------------------------------------


def capture(bench, work):
    bench.d.ok("StreamBeginCapture", bench.stream, 0)
    work()
    g = c_void_p(bench.d.last(c_void_p, "StreamEndCapture", bench.stream))
    bench.graphs.append(g)
    return g


def test_a_captured_allocation_outlives_the_capture(bench):
    d = bench.d
    address = c_uint64()

    def work():
        d.ok("MemAllocAsync", byref(address), size(64), bench.stream)
        d.ok("MemsetD32Async", address, 9, size(1), bench.stream)

    g = capture(bench, work)
    exec_ = bench.instantiate(g)
    assert bench.launch(exec_) == 0
    d.ok("CtxSynchronize")
    assert d.read(address, 4) == b"\x09\0\0\0"

    def free():
        d.ok("MemFreeAsync", address, bench.stream)

    assert bench.launch(bench.instantiate(capture(bench, free))) == 0
    assert bench.launch(exec_) == 0
    d.ok("MemFreeAsync", address, bench.stream)


def test_kernels_use_captured_allocations(bench):
    d = bench.d
    address = c_uint64()

    def work():
        d.ok("MemAllocAsync", byref(address), size(64), bench.stream)
        d.ok("MemsetD32Async", address, 1, size(1), bench.stream)
        params = bench.kernel_params("step", address, c_uint(10), c_uint(2))
        d.ok(
            "LaunchKernel",
            bench.functions["step"],
            *(1, 1, 1, 1, 1, 1, 0),
            bench.stream,
            params.parameters,
            None,
        )
        d.ok("MemcpyDtoDAsync", bench.word(), address, size(4), bench.stream)
        d.ok("MemFreeAsync", address, bench.stream)

    bench.run(capture(bench, work))
    assert bench.get() == 12


def test_a_captured_free_that_is_refused(bench):
    """The capture goes on."""
    d = bench.d

    def work():
        assert d.MemFreeAsync(bench.memory, bench.stream) == BAD
        address = c_uint64()
        d.ok("MemAllocAsync", byref(address), size(64), bench.stream)
        d.ok("MemFreeAsync", address, bench.stream)
        assert d.MemFreeAsync(address, bench.stream) == BAD

    assert bench.types(capture(bench, work)) == [MEM_ALLOC, MEM_FREE]


# -- the software device ---------------------------------------------------------------


@emulator_only
def test_memory_is_legal_between_its_nodes_alone():
    """A kernel that comes too late faults, and copies outside of the graph fail."""
    out = child(
        """
from support.driver_graphs import *
d.ok("Init", 0)
bench = GraphBench(d, d.context())
g = bench.graph()
alloc, address = bench.alloc(g)
free = bench.free(g, address, alloc)
print(d.MemsetD8(address, 1, size(4)))
exec_ = bench.instantiate(g)
print(bench.launch(exec_), d.CtxSynchronize(), d.MemsetD8(address, 1, size(4)))
h = bench.graph()
bench.kernel(h, params=bench.kernel_params("one", address))
print(bench.launch(bench.instantiate(h)), d.CtxSynchronize())
"""
    )
    illegal = R.ERROR_ILLEGAL_ADDRESS
    assert out.split() == [str(BAD), "0", "0", str(BAD), "0", str(illegal)]


@emulator_only
def test_memory_is_charged_while_it_is_live(bench):
    d = bench.d
    free = d.info()[0]
    g = bench.graph()
    big = free * 3 // 4
    a, where = bench.alloc(g, count=big)
    b = bench.free(g, where, a)
    c, where = bench.alloc(g, b, count=big)  # fits after the first one is freed
    bench.free(g, where, c)
    assert d.info()[0] == free
    bench.run(g)
    assert d.info()[0] == free
    h = bench.graph()
    one, first = bench.alloc(h, count=big)
    _, second = bench.alloc(h, one, count=big)
    exec_ = bench.instantiate(h)
    assert bench.launch(exec_) == R.ERROR_OUT_OF_MEMORY
    d.ok("MemFree", first)
    assert d.MemFree(second) == BAD
    assert d.info()[0] == free


@emulator_only
def test_memory_that_is_left_is_counted(bench):
    d = bench.d
    before = d.live().get("memory", 0)
    g, address = chain(bench, frees=False)
    assert d.live().get("memory", 0) == before
    assert bench.launch(bench.instantiate(g)) == 0
    assert d.live()["memory"] == before + 1
    base, count = c_uint64(), c_size_t()
    d.ok("MemGetAddressRange", byref(base), byref(count), address)
    assert (base.value, count.value) == (address.value, 4096)
    d.ok("MemFree", address)
    assert d.live().get("memory", 0) == before


@emulator_only
def test_a_context_ends_with_memory_of_graphs():
    out = child(
        """
from support.driver_graphs import *
d.ok("Init", 0)
context = d.context()
bench = GraphBench(d, context)
g = bench.graph()
bench.alloc(g)
exec_ = bench.instantiate(g)
print(bench.launch(exec_))
d.ok("CtxDestroy", context)
print(d.live())
"""
    )
    assert out.split("\n") == ["0", "{}"]
