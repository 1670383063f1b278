"""Batches of operations on values as nodes of graphs, and programmatic edges."""

import ctypes
from ctypes import POINTER, Structure, byref, c_size_t, c_uint, c_uint64, c_void_p

import pytest

from support.driver_graphs import Edge, NodeParams
from support.emulator import R, launch_parameters, size

pytest_plugins = ["support.emulator_fixtures"]

BATCH = 12
WAIT_32, WRITE_32, WAIT_64, WRITE_64 = 1, 2, 4, 5
GEQ, EQ = 0, 1
BAD = R.ERROR_INVALID_VALUE


class Operation(Structure):
    _fields_ = [
        ("operation", c_uint),
        ("address", c_uint64),
        ("value", c_uint64),
        ("flags", c_uint),
        ("alias", c_uint64),
        ("rest", c_uint64),
    ]


class BatchParams(Structure):
    _fields_ = [
        ("ctx", c_void_p),
        ("count", c_uint),
        ("operations", POINTER(Operation)),
        ("flags", c_uint),
    ]


def batch(bench, *operations, **changes):
    """The parameters of (operation, word, value[, flags]) ..."""
    items = (Operation * max(len(operations), 1))()
    for item, (operation, word, value, *flags) in zip(items, operations, strict=False):
        item.operation, item.value = operation, value
        item.address = bench.word(word).value
        item.flags = flags[0] if flags else 0
    params = BatchParams(bench.context, len(operations), items, 0)
    for name, value in changes.items():
        setattr(params, name, value)
    return params


def add(bench, graph, params, *after):
    return bench.add("GraphAddBatchMemOpNode", graph, after, byref(params))


def parameters(bench, node):
    found = BatchParams()
    bench.d.ok("GraphBatchMemOpNodeGetParams", node, byref(found))
    return found


def read(bench, node):
    """Return what a node has: (operation, word, value, flags) ..."""
    found = parameters(bench, node)
    first = bench.word().value
    return [
        (o.operation, (o.address - first) // 4, o.value, o.flags)
        for o in found.operations[: found.count]
    ]


def test_a_batch_writes_and_waits(bench):
    g = bench.graph()
    node = add(
        bench,
        g,
        batch(bench, (WRITE_32, 0, 5), (WRITE_64, 2, 1 << 40), (WAIT_32, 0, 5)),
    )
    add(bench, g, batch(bench, (WAIT_64, 2, 1 << 40, EQ), (WRITE_32, 4, 9)), node)
    assert bench.types(g) == [BATCH, BATCH]
    bench.run(g)
    assert [bench.get(n) for n in (0, 2, 3, 4)] == [5, 0, 1 << 8, 9]


def test_parameters_of_batches(bench):
    d, g = bench.d, bench.graph()
    node = add(bench, g, batch(bench, (WRITE_32, 0, 5), (WAIT_32, 0, 5, EQ)))
    assert read(bench, node) == [(WRITE_32, 0, 5, 0), (WAIT_32, 0, 5, EQ)]
    found = parameters(bench, node)
    assert found.ctx == bench.context.value and found.flags == 0
    changed = batch(bench, (WRITE_32, 1, 6), (WAIT_32, 1, 6), (WRITE_32, 2, 7))
    d.ok("GraphBatchMemOpNodeSetParams", node, byref(changed))
    assert len(read(bench, node)) == 3
    bench.run(g)
    assert [bench.get(n) for n in range(3)] == [0, 6, 7]
    empty = bench.empty(g)
    assert d.GraphBatchMemOpNodeGetParams(empty, byref(found)) == BAD
    assert d.GraphBatchMemOpNodeGetParams(node, None) == BAD
    assert d.GraphBatchMemOpNodeSetParams(node, None) == BAD


def test_batches_by_the_call_for_all_kinds(bench):
    g = bench.graph()
    params = NodeParams(type=BATCH)
    ours = batch(bench, (WRITE_32, 3, 8))
    ctypes.memmove(byref(params.of), byref(ours), ctypes.sizeof(ours))
    code, node = bench.add_node_code(g, params)
    assert code == 0
    bench.run(g)
    assert bench.get(3) == 8
    changed = batch(bench, (WRITE_32, 4, 9))
    ctypes.memmove(byref(params.of), byref(changed), ctypes.sizeof(changed))
    bench.d.ok("GraphNodeSetParams", node, byref(params))
    assert read(bench, node) == [(WRITE_32, 4, 9, 0)]


def test_batches_that_are_refused(bench):
    g = bench.graph()
    one = (WRITE_32, 0, 1)

    def code(params):
        return bench.add_code("GraphAddBatchMemOpNode", g, (), byref(params))[0]

    assert code(batch(bench, one, flags=1)) == BAD
    assert code(batch(bench, one, operations=None)) == BAD
    assert code(batch(bench, one, count=0)) == BAD
    assert code(batch(bench, *[one] * 257)) == BAD
    assert code(batch(bench, (77, 0, 1))) == BAD
    assert bench.add_code("GraphAddBatchMemOpNode", g, (), None)[0] == BAD
    assert bench.nodes(g) == []


def test_changes_of_executable_batches(bench):
    d, g = bench.d, bench.graph()
    node = add(bench, g, batch(bench, (WRITE_32, 0, 5), (WAIT_32, 0, 5, EQ)))
    exec_ = bench.instantiate(g)

    def change(*operations, **changes):
        params = batch(bench, *operations, **changes)
        return d.GraphExecBatchMemOpNodeSetParams(exec_, node, byref(params))

    assert change((WRITE_32, 1, 6), (WAIT_32, 1, 4, GEQ)) == 0
    d.ok("GraphLaunch", exec_, bench.stream)
    assert [bench.get(n) for n in range(2)] == [0, 6]
    assert read(bench, node)[0] == (WRITE_32, 0, 5, 0)
    assert change((WRITE_32, 1, 7)) == BAD
    assert change((WRITE_64, 2, 7), (WAIT_32, 1, 6)) == BAD
    assert change((WAIT_32, 1, 6), (WRITE_32, 1, 7)) == BAD
    assert d.GraphExecBatchMemOpNodeSetParams(exec_, node, None) == BAD
    d.ok("GraphLaunch", exec_, bench.stream)
    assert bench.get(1) == 6


def test_batches_are_updated_with_the_graph(bench):
    d, g, other = bench.d, bench.graph(), bench.graph()
    add(bench, g, batch(bench, (WRITE_32, 0, 5)))
    add(bench, other, batch(bench, (WRITE_32, 1, 6)))
    exec_ = bench.instantiate(g)
    assert bench.update(exec_, other)[0] == 0
    d.ok("GraphLaunch", exec_, bench.stream)
    assert [bench.get(n) for n in range(2)] == [0, 6]


def test_a_captured_batch_is_one_node(bench):
    d = bench.d
    params = batch(bench, (WRITE_32, 0, 5), (WRITE_32, 1, 6))
    d.ok("StreamBeginCapture", bench.stream, 2)
    d.ok("StreamBatchMemOp", bench.stream, 2, params.operations, 0)
    d.ok("StreamWriteValue32", bench.stream, bench.word(2), 7, 0)
    g = c_void_p(d.last(c_void_p, "StreamEndCapture", bench.stream))
    bench.graphs.append(g)
    nodes = bench.nodes(g)
    assert bench.types(g) == [BATCH, BATCH]
    assert {len(read(bench, node)) for node in nodes} == {1, 2}
    bench.run(g)
    assert [bench.get(n) for n in range(3)] == [5, 6, 7]


# -- programmatic edges ----------------------------------------------------------------


class LaunchAttribute(Structure):
    _fields_ = [("id", c_uint), ("pad", c_uint), ("value", c_uint * 16)]


class LaunchConfig(Structure):
    _fields_ = [
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared", c_uint),
        ("stream", c_void_p),
        ("attributes", POINTER(LaunchAttribute)),
        ("count", c_uint),
    ]


def launch_early(bench, stream):
    """Launch `step` with the attribute for programmatic stream serialization."""
    attribute = LaunchAttribute(6)
    attribute.value[0] = 1
    ones = (c_uint * 3)(1, 1, 1)
    config = LaunchConfig(ones, ones, 0, stream, ctypes.pointer(attribute), 1)
    values = launch_parameters(bench.word(), c_uint(2), c_uint(1))
    bench.d.ok("LaunchKernelEx", byref(config), bench.functions["step"], values, None)


def edge_data(bench, graph):
    """Return {(from, to): (from_port, to_port, type)} by the numbers of the nodes."""
    d = bench.d
    nodes = [node.value for node in bench.nodes(graph)]
    count = c_size_t()
    d.ok("GraphGetEdges", graph, None, None, None, byref(count))
    n = count.value
    start, end, data = (c_void_p * n)(), (c_void_p * n)(), (Edge * n)()
    d.ok("GraphGetEdges", graph, start, end, data, byref(count))
    return {
        (nodes.index(a), nodes.index(b)): (e.from_port, e.to_port, e.type)
        for a, b, e in zip(start, end, data, strict=True)
    }


@pytest.fixture
def needs_hopper(bench):
    device = c_uint(bench.d.out(c_uint, "CtxGetDevice"))
    major = bench.d.out(c_uint, "DeviceGetAttribute", 75, device)
    if major < 9 and not bench.d.emulated:
        pytest.skip("programmatic launches need compute capability 9.0")


def test_early_launches_have_programmatic_edges(bench, needs_hopper):
    d, stream = bench.d, bench.stream
    d.ok("StreamBeginCapture", stream, 2)
    launch_early(bench, stream)
    launch_early(bench, stream)
    d.ok("MemsetD32Async", bench.word(8), 1, size(1), stream)
    launch_early(bench, stream)
    launch_early(bench, stream)
    g = c_void_p(d.last(c_void_p, "StreamEndCapture", stream))
    bench.graphs.append(g)
    early, plain = (1, 0, 1), (0, 0, 0)
    assert list(edge_data(bench, g).values()) == [early, plain, plain, early]
    bench.set(0)
    bench.run(g)
    assert bench.get() == 15


def test_early_launches_behind_two_streams(bench, needs_hopper):
    d, stream = bench.d, bench.stream
    other = c_void_p(d.out(c_void_p, "StreamCreate", 1))
    fork, join = (c_void_p(d.out(c_void_p, "EventCreate", 2)) for _ in range(2))
    d.ok("StreamBeginCapture", stream, 2)
    launch_early(bench, stream)
    d.ok("EventRecord", fork, stream)
    d.ok("StreamWaitEvent", other, fork, 0)
    launch_early(bench, other)
    launch_early(bench, stream)
    d.ok("EventRecord", join, other)
    d.ok("StreamWaitEvent", stream, join, 0)
    launch_early(bench, stream)
    g = c_void_p(d.last(c_void_p, "StreamEndCapture", stream))
    bench.graphs.append(g)
    found = edge_data(bench, g)
    for event in (fork, join):
        d.ok("EventDestroy", event)
    d.ok("StreamDestroy", other)
    early = (1, 0, 1)
    assert found == {(0, 1): early, (0, 2): early, (1, 3): early, (2, 3): early}
