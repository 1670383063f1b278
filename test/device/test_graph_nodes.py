"""Nodes and edges of graphs: what programs add, read, change and remove."""

import ctypes
import re
import struct
from ctypes import POINTER, byref, c_size_t, c_uint, c_uint64, c_void_p

import pytest

from support.driver_graphs import (
    EMPTY,
    EVENT_RECORD,
    GRAPH,
    HOST,
    HOST_FUNCTION,
    IF,
    IN_ARRAY,
    KERNEL,
    MEMCPY,
    MEMSET,
    ON_HOST,
    WAIT_EVENT,
    ChildParams,
    CopyParams,
    Edge,
    FillParams,
    HostParams,
    KernelParams,
    NodeParams,
    handles,
    same,
)
from support.emulator import R, size
from support.marks import emulator_only

pytest_plugins = ["support.emulator_fixtures"]

BAD = R.ERROR_INVALID_VALUE


# -- edges -----------------------------------------------------------------------------


def test_edges_are_added_listed_and_removed(bench):
    d = bench.d
    g = bench.graph()
    a, b, c = bench.empty(g), bench.empty(g), bench.empty(g)
    d.ok("GraphAddDependencies", g, handles(a, b), handles(b, c), None, size(2))
    assert bench.edges(g) == {(0, 1), (1, 2)}
    room = c_size_t(3)
    found = (c_void_p * 3)(1, 1, 1)
    d.ok("GraphGetRootNodes", g, found, byref(room))
    assert room.value == 1 and list(found) == [a.value, None, None]
    room = c_size_t(3)
    d.ok("GraphNodeGetDependencies", c, found, None, byref(room))
    assert room.value == 1 and list(found) == [b.value, None, None]
    room = c_size_t(3)
    d.ok("GraphNodeGetDependentNodes", a, found, None, byref(room))
    assert room.value == 1 and list(found) == [b.value, None, None]
    assert d.last(c_size_t, "GraphNodeGetDependencies", a, None, None) == 0
    d.ok("GraphRemoveDependencies", g, handles(a), handles(b), None, size(1))
    assert bench.edges(g) == {(1, 2)}
    d.ok("GraphAddDependencies", g, None, None, None, size(0))


def test_edges_that_are_refused(bench):
    d = bench.d
    g = bench.graph()
    a, b = bench.empty(g), bench.empty(g)
    foreign = bench.empty(bench.graph())

    def add(start, end, count=1, data=None):
        return d.GraphAddDependencies(g, start, end, data, size(count))

    assert add(handles(a), handles(b)) == 0
    assert add(handles(a), handles(b)) == BAD
    assert add(handles(a), handles(foreign)) == BAD
    assert add(handles(foreign), handles(a)) == BAD
    assert add(None, handles(b)) == BAD
    assert d.GraphRemoveDependencies(g, handles(b), handles(a), None, size(1)) == BAD
    assert bench.edges(g) == {(0, 1)}
    assert bench.add_code("GraphAddEmptyNode", g, (a, a))[0] == BAD
    assert bench.add_code("GraphAddEmptyNode", g, (foreign,))[0] == BAD
    assert d.GraphAddEmptyNode(byref(c_void_p()), g, None, size(1)) == BAD
    assert d.GraphAddEmptyNode(None, g, None, size(0)) == BAD
    assert len(bench.nodes(g)) == 2


def test_data_of_edges(bench):
    """An edge from the programmatic port of a kernel to a kernel has data."""
    d = bench.d
    g = bench.graph()
    a, b, e = bench.kernel(g), bench.kernel(g), bench.empty(g)
    port = Edge(from_port=1, type=1)
    d.ok("GraphAddDependencies", g, handles(a), handles(b), byref(port), size(1))
    start, end = (c_void_p * 1)(), (c_void_p * 1)()
    data, count = (Edge * 1)(), c_size_t(1)
    d.ok("GraphGetEdges", g, start, end, data, byref(count))
    assert (data[0].from_port, data[0].type) == (1, 1)
    lossy = R.ERROR_LOSSY_QUERY
    assert d.GraphGetEdges(g, start, end, None, byref(count)) == lossy
    assert d.GraphNodeGetDependencies(b, start, None, byref(count)) == lossy
    assert d.GraphNodeGetDependentNodes(a, start, None, byref(count)) == lossy
    assert d.GraphNodeGetDependencies(b, None, data, byref(count)) == BAD
    d.ok("GraphRemoveDependencies", g, handles(a), handles(b), byref(port), size(1))
    for wrong in (Edge(to_port=1), Edge(type=2), Edge(from_port=3, type=1)):
        assert (
            d.GraphAddDependencies(g, handles(a), handles(b), byref(wrong), size(1))
            == BAD
        )
    for start, end in ((a, e), (e, a)):
        code = d.GraphAddDependencies(
            g, handles(start), handles(end), byref(port), size(1)
        )
        assert code == BAD
    bench.set(1)
    d.ok("GraphAddDependencies", g, handles(a), handles(b), byref(port), size(1))
    bench.run(g)
    assert bench.get() == 7  # one kernel after the other


def test_a_removed_node_takes_its_edges_along(bench):
    d = bench.d
    g = bench.graph()
    a = bench.empty(g)
    b = bench.empty(g, a)
    bench.empty(g, a, b)
    assert bench.edges(g) == {(0, 1), (0, 2), (1, 2)}
    d.ok("GraphDestroyNode", b)
    assert bench.edges(g) == {(0, 1)}
    if d.emulated:
        assert d.GraphDestroyNode(b) == BAD
        assert d.GraphNodeGetType(b, byref(c_uint())) == BAD


def test_a_circle_is_found_when_the_graph_is_instantiated(bench):
    d = bench.d
    g = bench.graph()
    a = bench.empty(g)
    b = bench.empty(g, a)
    c = bench.empty(g, b)
    d.ok("GraphAddDependencies", g, handles(c), handles(b), None, size(1))
    assert bench.instantiate_code(g)[0] == BAD
    code, _, said = bench.instantiate_with(g)
    assert (code, said.result) == (BAD, 2)
    assert said.node in (b.value, c.value)
    d.ok("GraphRemoveDependencies", g, handles(c), handles(b), None, size(1))
    code, _, said = bench.instantiate_with(g)
    assert (code, said.result, said.node) == (0, 0, None)


def test_edges_order_nodes_that_were_added_later(bench):
    d = bench.d
    g = bench.graph()
    last = bench.step(g, times=10, plus=3)
    middle = bench.step(g, times=10, plus=2)
    first = bench.step(g, times=10, plus=1)
    d.ok(
        "GraphAddDependencies",
        g,
        handles(first, middle),
        handles(middle, last),
        None,
        size(2),
    )
    bench.set(0)
    bench.run(g)
    assert bench.get() == 123


# -- clones ----------------------------------------------------------------------------


def test_nodes_of_a_clone(bench):
    d = bench.d
    g = bench.graph()
    a = bench.step(g, times=2, plus=1)
    b = bench.step(g, a, times=3, plus=1)
    clone = c_void_p(d.out(c_void_p, "GraphClone", g))
    bench.graphs.append(clone)
    assert bench.edges(clone) == {(0, 1)}
    found = c_void_p()
    d.ok("GraphNodeFindInClone", byref(found), b, clone)
    assert same(found, bench.nodes(clone)[1])
    other = c_void_p()
    assert d.GraphNodeFindInClone(byref(other), b, g) == BAD
    stranger = bench.empty(bench.graph())
    assert d.GraphNodeFindInClone(byref(other), stranger, clone) == BAD
    d.ok("GraphDestroyNode", found)
    assert d.GraphNodeFindInClone(byref(other), b, clone) == BAD
    bench.set(1)
    bench.run(clone)
    bench.run(g)
    assert bench.get() == 22


# -- parameters ------------------------------------------------------------------------


def test_parameters_of_kernels(bench):
    d = bench.d
    g = bench.graph()
    params = bench.kernel_params(
        "step", bench.word(), c_uint(5), c_uint(6), grid=(3, 2, 1), block=(4, 2, 2)
    )
    node = bench.kernel(g, params=params)
    found = KernelParams()
    d.ok("GraphKernelNodeGetParams", node, byref(found))
    assert list(found.grid) == [3, 2, 1] and list(found.block) == [4, 2, 2]
    assert found.func == bench.functions["step"].value
    where = ctypes.cast(found.parameters[0], POINTER(c_uint64))
    times = ctypes.cast(found.parameters[1], POINTER(c_uint))
    assert (where[0], times[0]) == (bench.memory.value, 5)
    d.ok(
        "GraphKernelNodeSetParams",
        node,
        byref(bench.kernel_params("one", bench.word())),
    )
    d.ok("GraphKernelNodeGetParams", node, byref(found))
    assert found.func == bench.functions["one"].value
    bench.run(g)
    assert bench.get() == 1


def test_parameters_in_one_buffer(bench):
    d = bench.d
    g = bench.graph()
    buffer = ctypes.create_string_buffer(
        struct.pack("=QII", bench.memory.value, 3, 4), 16
    )
    count = c_size_t(16)
    extra = (c_void_p * 5)(
        1, ctypes.addressof(buffer), 2, ctypes.addressof(count), None
    )
    params = bench.kernel_params()
    params.parameters = None
    params.extra = ctypes.cast(extra, POINTER(c_void_p))
    node = bench.kernel(g, params=params)
    buffer.raw = bytes(16)
    found = KernelParams()
    d.ok("GraphKernelNodeGetParams", node, byref(found))
    assert found.extra and not found.parameters
    words = {found.extra[i]: found.extra[i + 1] for i in (0, 2)}
    assert set(words) == {1, 2} and found.extra[4] is None
    expected = struct.pack("=QII", bench.memory.value, 3, 4)
    assert ctypes.string_at(words[1], 16) == expected
    bench.set(5)
    bench.run(g)
    assert bench.get() == 19


def test_kernels_that_are_refused(bench):
    g = bench.graph()
    wrong = [
        bench.kernel_params(grid=(0, 1, 1)),
        bench.kernel_params(block=(4096, 1, 1)),
        bench.kernel_params(),
        bench.kernel_params(),
    ]
    wrong[2].func = None
    wrong[3].parameters = None
    for params in wrong:
        assert bench.add_code("GraphAddKernelNode", g, (), byref(params))[0] != 0
    assert bench.add_code("GraphAddKernelNode", g, (), None)[0] == BAD
    node = bench.empty(g)
    assert bench.d.GraphKernelNodeGetParams(node, byref(KernelParams())) == BAD
    assert bench.d.GraphKernelNodeSetParams(node, byref(bench.kernel_params())) == BAD
    assert bench.types(g) == [EMPTY]


def test_attributes_of_kernels(bench):
    d = bench.d
    g = bench.graph()
    node, other = bench.kernel(g), bench.kernel(g)

    def attribute(number, words=None, node=node):
        value = ctypes.create_string_buffer(64)
        if words is None:
            d.ok("GraphKernelNodeGetAttribute", node, number, value)
            return struct.unpack("=4i", value.raw[:16])
        struct.pack_into(f"={len(words)}i", value, 0, *words)
        return d.GraphKernelNodeSetAttribute(node, number, value)

    assert attribute(2)[0] == 0 and attribute(8)[0] == 0
    assert attribute(2, [1]) == 0 and attribute(2)[0] == 1
    assert attribute(8, [-99]) == 0 and attribute(8)[0] == -5
    assert attribute(8, [-2]) == 0 and attribute(8)[0] == -2
    assert attribute(4, [2, 1, 1]) == R.ERROR_INVALID_CLUSTER_SIZE  # one block
    assert attribute(8, [0], bench.empty(g)) != 0
    assert d.GraphKernelNodeGetAttribute(node, 12, ctypes.create_string_buffer(64)) != 0
    d.ok("GraphKernelNodeCopyAttributes", other, node)
    assert attribute(2, node=other)[0] == 1 and attribute(8, node=other)[0] == -2
    assert d.GraphKernelNodeCopyAttributes(bench.empty(g), node) != 0
    d.ok("GraphKernelNodeSetParams", node, byref(bench.kernel_params()))
    assert attribute(8)[0] == -2


def test_the_priority_of_the_stream_goes_to_the_node(bench):
    d = bench.d
    stream = c_void_p(d.out(c_void_p, "StreamCreateWithPriority", 1, -2))
    d.ok("StreamBeginCapture", stream, 0)
    params = bench.kernel_params()
    d.ok(
        "LaunchKernel",
        bench.functions["step"],
        *(1, 1, 1, 1, 1, 1, 0),
        stream,
        params.parameters,
        None,
    )
    g = c_void_p(d.last(c_void_p, "StreamEndCapture", stream))
    bench.graphs.append(g)
    value = ctypes.create_string_buffer(64)
    d.ok("GraphKernelNodeGetAttribute", bench.nodes(g)[0], 8, value)
    assert struct.unpack("=i", value.raw[:4]) == (-2,)
    d.ok("StreamDestroy", stream)


def test_parameters_of_fills(bench):
    d = bench.d
    g = bench.graph()
    node = bench.fill(g, value=0x01020304, width=3)
    found = FillParams()
    d.ok("GraphMemsetNodeGetParams", node, byref(found))
    assert (found.address, found.value) == (bench.memory.value, 0x01020304)
    assert (found.unit, found.width, found.height) == (4, 3, 1)
    d.ok(
        "GraphMemsetNodeSetParams",
        node,
        byref(bench.fill_params(unit=1, width=2, height=3, pitch=4, value=9)),
    )
    bench.run(g)
    assert [bench.get(n) for n in range(4)] == [0x0909, 0x0909, 0x0909, 0]
    for wrong in (
        bench.fill_params(unit=3),
        bench.fill_params(address=bench.memory.value + 1),
    ):
        code, _ = bench.add_code(
            "GraphAddMemsetNode", g, (), byref(wrong), bench.context
        )
        assert code == BAD
    assert d.GraphMemsetNodeGetParams(bench.empty(g), byref(found)) == BAD


def test_parameters_of_copies(bench):
    d = bench.d
    g = bench.graph()
    host = ctypes.create_string_buffer(bytes(range(64)), 64)
    node = bench.copy(g, src_type=ON_HOST, src_host=ctypes.addressof(host), width=8)
    found = CopyParams()
    d.ok("GraphMemcpyNodeGetParams", node, byref(found))
    assert (found.src_type, found.src_host) == (ON_HOST, ctypes.addressof(host))
    assert found.dst_device == bench.memory.value + 1024
    assert (found.width, found.height, found.depth) == (8, 1, 1)
    assert (found.src_pitch, found.src_height) == (0, 0)
    d.ok(
        "GraphMemcpyNodeSetParams",
        node,
        byref(
            bench.copy_params(
                src_type=ON_HOST,
                src_host=ctypes.addressof(host),
                src_pitch=16,
                dst_pitch=8,
                width=4,
                height=2,
            )
        ),
    )
    bench.run(g)
    d.ok("CtxSynchronize")
    got = d.read(c_uint64(bench.memory.value + 1024), 16)
    assert got == bytes([0, 1, 2, 3, 0, 0, 0, 0, 16, 17, 18, 19, 0, 0, 0, 0])
    wrong = bench.copy_params(dst_type=9)
    code, _ = bench.add_code("GraphAddMemcpyNode", g, (), byref(wrong), bench.context)
    assert code == BAD


def test_a_copy_from_an_array(bench):
    d = bench.d
    g = bench.graph()
    # 8 x 4 elements of one byte
    array = c_void_p(d.out(c_void_p, "ArrayCreate", struct.pack("=QQII", 8, 4, 1, 1)))
    host = bytes(range(32))
    fill = bench.copy_params(
        src_type=ON_HOST,
        src_host=ctypes.cast(ctypes.c_char_p(host), c_void_p),
        dst_type=IN_ARRAY,
        dst_array=array,
        dst_device=0,
        width=8,
        height=4,
    )
    first = bench.add("GraphAddMemcpyNode", g, (), byref(fill), bench.context)
    node = bench.copy(
        g,
        first,
        src_type=IN_ARRAY,
        src_array=array,
        src_device=0,
        src_x=2,
        src_y=1,
        width=4,
        height=2,
    )
    found = CopyParams()
    d.ok("GraphMemcpyNodeGetParams", node, byref(found))
    assert (found.src_type, found.src_array) == (IN_ARRAY, array.value)
    assert (found.src_x, found.src_y, found.src_z) == (2, 1, 0)
    bench.run(g)
    d.ok("CtxSynchronize")
    got = d.read(c_uint64(bench.memory.value + 1024), 8)
    assert got == bytes([10, 11, 12, 13, 18, 19, 20, 21])
    d.ok("ArrayDestroy", array)


def test_parameters_of_host_functions(bench):
    d = bench.d
    g = bench.graph()
    seen = []
    first, second = (HOST_FUNCTION(lambda x, n=n: seen.append((n, x))) for n in (1, 2))
    node = bench.host(g, first, data=5)
    found = HostParams()
    d.ok("GraphHostNodeGetParams", node, byref(found))
    assert found.data == 5
    bench.run(g)
    d.ok("GraphHostNodeSetParams", node, byref(HostParams(second, 6)))
    bench.run(g)
    assert seen == [(1, 5), (2, 6)]
    nothing = HostParams()
    assert bench.add_code("GraphAddHostNode", g, (), byref(nothing))[0] == BAD


def test_nodes_of_events(bench):
    d = bench.d
    g = bench.graph()
    a, b = (c_void_p(d.out(c_void_p, "EventCreate", 0)) for _ in range(2))
    record = bench.add("GraphAddEventRecordNode", g, (), a)
    wait = bench.add("GraphAddEventWaitNode", g, (record,), a)
    assert bench.types(g) == [EVENT_RECORD, WAIT_EVENT]
    assert d.last(c_void_p, "GraphEventRecordNodeGetEvent", record) == a.value
    assert d.last(c_void_p, "GraphEventWaitNodeGetEvent", wait) == a.value
    d.ok("GraphEventRecordNodeSetEvent", record, b)
    d.ok("GraphEventWaitNodeSetEvent", wait, b)
    assert d.last(c_void_p, "GraphEventRecordNodeGetEvent", record) == b.value
    assert d.GraphEventWaitNodeGetEvent(record, byref(c_void_p())) == BAD
    bench.run(g)
    time = ctypes.c_float()
    assert d.EventElapsedTime(byref(time), a, a) == R.ERROR_INVALID_HANDLE
    d.ok("EventElapsedTime", byref(time), b, b)
    d.ok("EventDestroy", a)
    d.ok("EventDestroy", b)


# -- child graphs ----------------------------------------------------------------------


def test_child_graphs(bench):
    """A child node has a copy of the graph, which programs may change."""
    d = bench.d
    child = bench.graph()
    bench.step(child, times=10, plus=1)
    g = bench.graph()
    first = bench.step(g, times=0, plus=5)
    node = bench.add("GraphAddChildGraphNode", g, (first,), child)
    bench.step(g, node, times=10, plus=3)
    bench.destroy(child)
    inner = c_void_p(d.last(c_void_p, "GraphChildGraphNodeGetGraph", node))
    assert bench.types(g) == [KERNEL, GRAPH, KERNEL] and bench.types(inner) == [KERNEL]
    bench.run(g)
    assert bench.get() == 513
    bench.step(inner, bench.nodes(inner)[0], times=10, plus=2)
    bench.run(g)
    assert bench.get() == 5123
    assert d.GraphDestroy(inner) == BAD
    assert bench.instantiate_code(inner)[0] == R.ERROR_NOT_SUPPORTED
    assert d.GraphChildGraphNodeGetGraph(first, byref(c_void_p())) == BAD


def test_a_child_graph_that_moves(bench):
    d = bench.d
    child = bench.graph()
    bench.step(child, times=0, plus=5)
    g = bench.graph()
    params = NodeParams(type=GRAPH)
    params.of.graph = ChildParams(child, 1)
    code, node = bench.add_node_code(g, params)
    assert code == 0
    assert d.last(c_void_p, "GraphChildGraphNodeGetGraph", node) == child.value
    bench.graphs.remove(child)
    bench.run(g)
    assert bench.get() == 5
    assert d.GraphDestroy(child) == BAD
    assert bench.instantiate_code(child)[0] != 0


@pytest.mark.parametrize("inside", [False, True])
def test_a_child_graph_around_its_node(bench, inside):
    """The copy is made of the graph as it is before the node is added."""
    d = bench.d
    g = bench.graph()
    last = bench.step(g, times=10, plus=1)
    target = g
    if inside:
        target = bench.graph()
        last = bench.add("GraphAddChildGraphNode", g, (last,), target)
        target = c_void_p(d.last(c_void_p, "GraphChildGraphNodeGetGraph", last))
        last = bench.step(target, times=10, plus=2)
    node = bench.add("GraphAddChildGraphNode", target, (last,), g)
    inner = c_void_p(d.last(c_void_p, "GraphChildGraphNodeGetGraph", node))
    if inside:
        assert bench.types(target) == [KERNEL, GRAPH]
        assert bench.types(inner) == [KERNEL, GRAPH]
        body = d.last(c_void_p, "GraphChildGraphNodeGetGraph", bench.nodes(inner)[1])
        assert bench.types(c_void_p(body)) == [KERNEL]
    else:
        assert bench.types(g) == [KERNEL, GRAPH]
        assert bench.types(inner) == [KERNEL]
    bench.run(g)
    assert bench.get() == (1212 if inside else 11)


def test_a_graph_does_not_move_into_itself(bench):
    g = bench.graph()
    bench.step(g)
    params = NodeParams(type=GRAPH)
    params.of.graph = ChildParams(g, 1)
    assert bench.add_node_code(g, params)[0] == BAD
    assert bench.types(g) == [KERNEL]
    bench.run(g)


# -- nodes of any kind -----------------------------------------------------------------


def test_one_call_for_all_kinds(bench):
    d = bench.d
    g = bench.graph()
    params = NodeParams(type=KERNEL)
    params.of.kernel = bench.kernel_params("step", bench.word(), c_uint(0), c_uint(4))
    code, kernel = bench.add_node_code(g, params)
    assert code == 0
    params = NodeParams(type=MEMSET)
    params.of.memset.address = bench.word(1).value
    params.of.memset.value = 6
    params.of.memset.unit = 4
    params.of.memset.width = params.of.memset.height = 1
    params.of.memset.ctx = bench.context
    code, fill = bench.add_node_code(g, params, (kernel,))
    assert code == 0
    params = NodeParams(type=MEMCPY)
    params.of.memcpy.ctx = bench.context
    params.of.memcpy.copy = bench.copy_params(width=8)
    code, _ = bench.add_node_code(g, params, (fill,))
    assert code == 0
    assert bench.add_node_code(g, NodeParams(type=EMPTY))[0] == 0
    assert bench.types(g) == [KERNEL, MEMSET, MEMCPY, EMPTY]
    bench.run(g)
    assert (bench.get(256), bench.get(257)) == (4, 6)
    params = NodeParams(type=KERNEL)
    params.of.kernel = bench.kernel_params("step", bench.word(), c_uint(0), c_uint(8))
    d.ok("GraphNodeSetParams", kernel, byref(params))
    assert d.GraphNodeSetParams(fill, byref(params)) == BAD
    bench.run(g)
    assert bench.get(256) == 8


def test_parameters_of_any_kind_that_are_refused(bench):
    g = bench.graph()
    unknown = NodeParams(type=99)
    assert bench.add_node_code(g, unknown)[0] == BAD
    reserved = NodeParams(type=EMPTY)
    reserved.reserved0[1] = 1
    assert bench.add_node_code(g, reserved)[0] == BAD
    assert bench.nodes(g) == []


# -- drawings --------------------------------------------------------------------------


@emulator_only
def test_a_drawing_shows_nodes_edges_and_inner_graphs(bench, tmp_path):
    d = bench.d
    g = bench.graph()
    kernel = bench.step(g)
    fill = bench.fill(g, kernel, width=3)
    child = bench.graph()
    bench.step(child)
    bench.add("GraphAddChildGraphNode", g, (fill,), child)
    bench.conditional(g, bench.handle(g), IF, kernel)
    bench.host(g, HOST_FUNCTION(lambda data: None))
    path = tmp_path / "graph.dot"
    d.ok("GraphDebugDotPrint", g, str(path).encode(), 0)
    plain = path.read_text()
    assert plain.startswith("digraph")
    assert "cluster_graph_2_0_" in plain and "step" in plain
    edges = re.findall(r'"node_(\d)" -> "node_(\d)"', plain)
    assert edges == [("0", "1"), ("1", "2"), ("0", "3")]
    assert "handle" not in plain and "grid" not in plain
    d.ok("GraphDebugDotPrint", g, str(path).encode(), 1)
    verbose = path.read_text()
    assert "grid (1,1,1)" in verbose and "handle 0x" in verbose
    assert "value 7, 3 x 1 of 4 bytes" in verbose


@pytest.mark.parametrize("kind", ["AddKernelNode", "AddMemsetNode", "AddMemcpyNode"])
def test_a_graph_that_does_not_exist(bench, kind):
    arguments = {
        "AddKernelNode": [byref(bench.kernel_params())],
        "AddMemsetNode": [byref(bench.fill_params()), bench.context],
        "AddMemcpyNode": [byref(bench.copy_params()), bench.context],
    }[kind]
    assert bench.add_code("Graph" + kind, None, (), *arguments)[0] == BAD


def test_host_nodes_have_their_type(bench):
    g = bench.graph()
    bench.host(g, HOST_FUNCTION(lambda data: None))
    assert bench.types(g) == [HOST]
