"""Captures that programs look at and change, and captures into a graph."""

from ctypes import POINTER, byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

import pytest

from support.driver_graphs import EMPTY, HOST_FUNCTION, KERNEL, Edge, handles
from support.emulator import R, size
from support.marks import emulator_only

pytest_plugins = ["support.emulator_fixtures"]

BAD = R.ERROR_INVALID_VALUE
NONE, ACTIVE, INVALIDATED = range(3)
ADD, SET = 0, 1


class Info:
    """What cuStreamGetCaptureInfo says about a stream."""

    def __init__(self, d, stream):
        status, number, graph = c_int(9), c_uint64(), c_void_p()
        nodes, data, count = POINTER(c_void_p)(), POINTER(Edge)(), c_size_t()
        self.code = d.StreamGetCaptureInfo(
            stream,
            byref(status),
            byref(number),
            byref(graph),
            byref(nodes),
            byref(data),
            byref(count),
        )
        self.status, self.number, self.graph = status.value, number.value, graph
        self.nodes = []
        if self.code == 0 and self.status == ACTIVE:
            self.nodes = [nodes[i] for i in range(count.value)]


def work(bench, stream=None, times=2, plus=1):
    params = bench.kernel_params("step", bench.word(), c_uint(times), c_uint(plus))
    bench.d.ok(
        "LaunchKernel",
        bench.functions["step"],
        *(1, 1, 1, 1, 1, 1, 0),
        stream or bench.stream,
        params.parameters,
        None,
    )


def begin(bench, stream=None):
    bench.d.ok("StreamBeginCapture", stream or bench.stream, 0)


def end(bench, stream=None):
    g = c_void_p(bench.d.last(c_void_p, "StreamEndCapture", stream or bench.stream))
    bench.graphs.append(g)
    return g


@pytest.fixture
def other(bench):
    stream = c_void_p(bench.d.out(c_void_p, "StreamCreate", 1))
    yield stream
    bench.d.ok("StreamDestroy", stream)


def change(bench, nodes, flags, stream=None):
    return bench.d.StreamUpdateCaptureDependencies(
        stream or bench.stream, handles(*nodes), None, size(len(nodes)), flags
    )


# -- looking ---------------------------------------------------------------------------


def test_what_a_capture_says(bench, other):
    d = bench.d
    assert Info(d, bench.stream).status == NONE
    begin(bench)
    first = Info(d, bench.stream)
    assert (first.status, first.nodes) == (ACTIVE, [])
    assert Info(d, other).status == NONE
    work(bench)
    later = Info(d, bench.stream)
    assert later.number == first.number and later.graph.value == first.graph.value
    assert later.nodes == [n.value for n in bench.nodes(first.graph)]
    assert end(bench).value == first.graph.value
    begin(bench)
    assert Info(d, bench.stream).number != first.number
    end(bench)
    assert d.StreamGetCaptureInfo(bench.stream, *[None] * 6) == BAD


def test_a_capture_that_became_invalid(bench):
    d = bench.d
    begin(bench)
    assert d.StreamSynchronize(bench.stream) == R.ERROR_STREAM_CAPTURE_UNSUPPORTED
    assert Info(d, bench.stream).status == INVALIDATED
    g = c_void_p(1)
    code = d.StreamEndCapture(bench.stream, byref(g))
    assert code == R.ERROR_STREAM_CAPTURE_INVALIDATED
    assert Info(d, bench.stream).status == NONE


def test_the_default_stream(bench):
    d = bench.d
    blocking = c_void_p(d.out(c_void_p, "StreamCreate", 0))
    begin(bench, blocking)
    assert Info(d, None).code == R.ERROR_STREAM_CAPTURE_IMPLICIT
    assert Info(d, blocking).status == ACTIVE
    end(bench, blocking)
    assert Info(d, None).status == NONE
    d.ok("StreamDestroy", blocking)


# -- changing --------------------------------------------------------------------------


def test_nodes_that_the_program_adds(bench):
    """The next work waits for the nodes that the program names."""
    d = bench.d
    begin(bench)
    work(bench, times=10, plus=1)
    info = Info(d, bench.stream)
    captured = c_void_p(info.nodes[0])
    own = bench.step(info.graph, captured, times=10, plus=2)
    assert change(bench, [own], SET) == 0
    work(bench, times=10, plus=3)
    g = end(bench)
    assert bench.edges(g) == {(0, 1), (1, 2)}
    bench.set(0)
    bench.run(g)
    assert bench.get() == 123


def test_dependencies_are_added_and_replaced(bench):
    d = bench.d
    begin(bench)
    work(bench)
    graph = Info(d, bench.stream).graph
    captured = bench.nodes(graph)[0]
    x, y = bench.empty(graph), bench.empty(graph)
    assert change(bench, [x], ADD) == 0
    assert Info(d, bench.stream).nodes == [captured.value, x.value]
    assert change(bench, [x], ADD) == 0
    assert Info(d, bench.stream).nodes == [captured.value, x.value]
    assert change(bench, [y, y], SET) == 0
    assert Info(d, bench.stream).nodes == [y.value]
    assert change(bench, [], SET) == 0
    assert Info(d, bench.stream).nodes == []
    assert bench.types(end(bench)) == [KERNEL, EMPTY, EMPTY]


def test_changes_that_are_refused(bench, other):
    d = bench.d
    stranger = bench.empty(bench.graph())
    assert change(bench, [stranger], ADD) == R.ERROR_ILLEGAL_STATE
    begin(bench)
    assert change(bench, [stranger], ADD) == BAD
    assert change(bench, [], 2) == BAD
    assert (
        d.StreamUpdateCaptureDependencies(bench.stream, None, None, size(1), ADD) == BAD
    )
    assert change(bench, [], ADD, other) == R.ERROR_ILLEGAL_STATE
    assert Info(d, bench.stream).status == ACTIVE
    end(bench)


def test_work_that_the_program_took_out_needs_no_join(bench, other):
    d = bench.d
    event = c_void_p(d.out(c_void_p, "EventCreate", 2))
    begin(bench)
    d.ok("EventRecord", event, bench.stream)
    d.ok("StreamWaitEvent", other, event, 0)
    work(bench, other)
    assert change(bench, [], SET, other) == 0
    assert bench.types(end(bench)) == [KERNEL]
    d.ok("EventDestroy", event)


def test_the_graph_of_a_capture_belongs_to_it(bench):
    d = bench.d
    begin(bench)
    work(bench)
    graph = Info(d, bench.stream).graph
    assert d.GraphDestroyNode(bench.nodes(graph)[0]) == R.ERROR_ILLEGAL_STATE
    assert d.GraphDestroy(graph) == R.ERROR_ILLEGAL_STATE
    if d.emulated:
        assert Info(d, bench.stream).status == ACTIVE
    assert bench.instantiate_code(graph)[0] == R.ERROR_STREAM_CAPTURE_UNSUPPORTED
    assert Info(d, bench.stream).status == INVALIDATED
    g = c_void_p()
    code = d.StreamEndCapture(bench.stream, byref(g))
    assert code == R.ERROR_STREAM_CAPTURE_INVALIDATED


# -- capturing into a graph ------------------------------------------------------------


def test_a_capture_into_a_graph(bench):
    d = bench.d
    g = bench.graph()
    first = bench.step(g, times=10, plus=1)
    d.ok(
        "StreamBeginCaptureToGraph",
        bench.stream,
        g,
        handles(first),
        None,
        size(1),
        0,
    )
    info = Info(d, bench.stream)
    assert (info.graph.value, info.nodes) == (g.value, [first.value])
    work(bench, times=10, plus=2)
    assert d.last(c_void_p, "StreamEndCapture", bench.stream) == g.value
    assert bench.edges(g) == {(0, 1)}
    bench.set(0)
    bench.run(g)
    assert bench.get() == 12


def test_a_capture_that_fails_takes_its_graph_along(bench):
    """The driver destroys even a graph that the program gave."""
    d = bench.d
    g = bench.graph()
    bench.step(g)
    d.ok("StreamBeginCaptureToGraph", bench.stream, g, None, None, size(0), 0)
    assert d.StreamQuery(bench.stream) == R.ERROR_STREAM_CAPTURE_UNSUPPORTED
    out = c_void_p(1)
    code = d.StreamEndCapture(bench.stream, byref(out))
    assert code == R.ERROR_STREAM_CAPTURE_INVALIDATED
    assert d.GraphGetNodes(g, None, byref(c_size_t())) == BAD
    bench.graphs.remove(g)


def test_captures_into_graphs_that_are_refused(bench, other):
    d = bench.d
    g = bench.graph()
    stranger = bench.empty(bench.graph())

    def to(graph, nodes, count, stream=None):
        return d.StreamBeginCaptureToGraph(
            stream or bench.stream, graph, handles(*nodes), None, size(count), 0
        )

    assert to(g, [stranger], 1) == BAD
    assert to(g, [], 1) == BAD
    assert to(None, [], 0) == BAD
    assert (
        d.StreamBeginCaptureToGraph(None, g, None, None, size(0), 0)
        == R.ERROR_STREAM_CAPTURE_UNSUPPORTED
    )
    assert Info(d, bench.stream).status == NONE
    if d.emulated:
        assert to(g, [], 0) == 0
        assert to(g, [], 0, other) == R.ERROR_ILLEGAL_STATE
        d.last(c_void_p, "StreamEndCapture", bench.stream)


def test_user_objects_of_a_captured_graph(bench):
    d = bench.d
    gone = []
    note = HOST_FUNCTION(gone.append)
    begin(bench)
    graph = Info(d, bench.stream).graph
    u = c_void_p(d.out(c_void_p, "UserObjectCreate", c_void_p(3), note, 1, 1))
    d.ok("GraphRetainUserObject", graph, u, 1, 1)
    work(bench)
    g = end(bench)
    assert gone == []
    bench.destroy(g)
    if d.emulated:  # a GPU's driver has a thread for destructors
        assert gone == [3]


@emulator_only
def test_a_context_ends_during_a_capture_into_a_graph(d):
    context = d.context()
    stream = c_void_p(d.out(c_void_p, "StreamCreate", 1))
    g = c_void_p(d.out(c_void_p, "GraphCreate", 0))
    d.ok("StreamBeginCaptureToGraph", stream, g, None, None, size(0), 0)
    d.ok("StreamDestroy", stream)
    d.ok("GraphDestroy", g)
    d.ok("CtxDestroy", context)
