"""Executable graphs: instantiating, launching, updating."""

import ctypes
import itertools
import threading
import time
from ctypes import byref, c_uint, c_uint64, c_void_p

from support.driver_graphs import (
    AUTO_FREE,
    EMPTY,
    HOST_FUNCTION,
    IF,
    KERNEL,
    NODE_PRIORITY,
    ON_HOST,
    UPLOAD,
    GraphBench,
    HostParams,
    NodeParams,
    handles,
)
from support.emulator import DriverError, R, size
from support.marks import emulator_only

pytest_plugins = ["support.emulator_fixtures"]

BAD = R.ERROR_INVALID_VALUE
TOPOLOGY, TYPE, PARAMETERS = 2, 3, 5
SET = 1


def test_flags(bench):
    d = bench.d
    g = bench.graph()
    bench.empty(g)

    def flags(exec_):
        return d.last(c_uint64, "GraphExecGetFlags", exec_)

    for wish in (0, AUTO_FREE, NODE_PRIORITY, AUTO_FREE | NODE_PRIORITY):
        found = flags(bench.instantiate(g, wish))
        assert found & ~NODE_PRIORITY == wish & ~NODE_PRIORITY  # some drivers drop it
    assert bench.instantiate_code(g, UPLOAD)[0] == BAD
    code, exec_, said = bench.instantiate_with(g, UPLOAD, bench.stream)
    assert (code, said.result, flags(exec_)) == (0, 0, 0)
    assert bench.instantiate_code(g, 5)[0] != 0  # AUTO_FREE with DEVICE_LAUNCH
    code, _, said = bench.instantiate_with(g, 99)
    assert (code, said.result, said.node) == (BAD, 1, None)


def test_an_executable_graph_does_not_change_with_its_graph(bench):
    d = bench.d
    g = bench.graph()
    node = bench.step(g, times=0, plus=5)
    exec_ = bench.instantiate(g)
    params = bench.kernel_params("step", bench.word(), c_uint(0), c_uint(9))
    d.ok("GraphKernelNodeSetParams", node, byref(params))
    bench.step(g, node, times=10, plus=0)
    assert bench.launch(exec_) == 0 and bench.get() == 5
    bench.run(g)
    assert bench.get() == 90


def test_launches_of_one_executable_graph_are_ordered(bench):
    """Launches in two streams wait for each other."""
    d = bench.d
    g = bench.graph()
    bench.step(g, times=2, plus=1)
    exec_ = bench.instantiate(g)
    other = c_void_p(d.out(c_void_p, "StreamCreate", 1))
    for _ in range(5):
        d.ok("GraphLaunch", exec_, bench.stream)
        d.ok("GraphLaunch", exec_, other)
    assert bench.get() == 1023
    d.ok("StreamDestroy", other)


# -- one node --------------------------------------------------------------------------


def test_the_parameters_of_one_kernel(bench):
    d = bench.d
    g = bench.graph()
    a = bench.step(g, times=0, plus=5)
    b = bench.step(g, a, times=10, plus=0)
    exec_ = bench.instantiate(g)

    def change(node, params):
        return d.GraphExecKernelNodeSetParams(exec_, node, byref(params))

    params = bench.kernel_params("step", bench.word(), c_uint(0), c_uint(7))
    assert change(a, params) == 0
    assert bench.launch(exec_) == 0 and bench.get() == 70
    assert change(a, bench.kernel_params("one", bench.word())) == 0
    assert bench.launch(exec_) == 0 and bench.get() == 10
    bench.run(g)
    assert bench.get() == 50  # the graph itself has not changed
    assert change(bench.kernel(bench.graph()), params) == BAD
    assert change(a, bench.kernel_params(grid=(0, 1, 1))) == BAD
    assert d.GraphExecKernelNodeSetParams(exec_, a, None) == BAD
    any_kind = NodeParams(type=KERNEL)
    any_kind.of.kernel = bench.kernel_params("step", bench.word(), c_uint(0), c_uint(8))
    d.ok("GraphExecNodeSetParams", exec_, a, byref(any_kind))
    assert bench.launch(exec_) == 0 and bench.get() == 80
    any_kind.type = EMPTY
    assert d.GraphExecNodeSetParams(exec_, b, byref(any_kind)) == BAD
    if d.emulated:
        d.ok("GraphDestroyNode", b)
        assert change(b, params) == BAD


def test_the_parameters_of_one_copy(bench):
    d = bench.d
    g = bench.graph()
    node = bench.copy(g)
    exec_ = bench.instantiate(g)

    def change(**changes):
        params = bench.copy_params(**changes)
        return d.GraphExecMemcpyNodeSetParams(exec_, node, byref(params), bench.context)

    assert change(dst_device=bench.memory.value + 2048, width=8) == 0
    bench.set(42)
    assert bench.launch(exec_) == 0
    assert (bench.get(256), bench.get(512)) == (0, 42)
    host = ctypes.create_string_buffer(64)
    assert change(src_type=ON_HOST, src_host=ctypes.addressof(host)) == BAD
    assert change(height=2, src_pitch=64, dst_pitch=64) == BAD
    assert change(width=0) == BAD


def test_the_parameters_of_one_fill(bench):
    d = bench.d
    g = bench.graph()
    flat, box = bench.fill(g), bench.fill(g, width=2, height=2, pitch=64)
    exec_ = bench.instantiate(g)

    def change(node, **changes):
        params = bench.fill_params(**changes)
        return d.GraphExecMemsetNodeSetParams(exec_, node, byref(params), bench.context)

    assert change(flat, value=3, address=bench.memory.value + 512) == 0
    assert change(flat, height=2, pitch=64) == BAD
    assert change(box, value=4, width=2, height=2, pitch=64) == 0
    assert change(box, width=3, height=2, pitch=64) == BAD
    assert bench.launch(exec_) == 0
    assert [bench.get(n) for n in (0, 1, 2, 16, 128)] == [4, 4, 0, 4, 3]


def test_the_other_kinds_of_nodes(bench):
    d = bench.d
    g = bench.graph()
    seen = []
    one, two = (HOST_FUNCTION(lambda x, n=n: seen.append(n)) for n in (1, 2))
    host = bench.host(g, one)
    a, b = (c_void_p(d.out(c_void_p, "EventCreate", 0)) for _ in range(2))
    record = bench.add("GraphAddEventRecordNode", g, (), a)
    wait = bench.add("GraphAddEventWaitNode", g, (record,), a)
    child = bench.graph()
    bench.step(child, times=0, plus=1)
    inner = bench.add("GraphAddChildGraphNode", g, (), child)
    exec_ = bench.instantiate(g)
    d.ok("GraphExecHostNodeSetParams", exec_, host, byref(HostParams(two, None)))
    d.ok("GraphExecEventRecordNodeSetEvent", exec_, record, b)
    d.ok("GraphExecEventWaitNodeSetEvent", exec_, wait, b)
    like = bench.graph()
    bench.step(like, times=0, plus=2)
    d.ok("GraphExecChildGraphNodeSetParams", exec_, inner, like)
    assert bench.launch(exec_) == 0 and bench.get() == 2
    assert seen == [2]
    assert d.EventElapsedTime(byref(ctypes.c_float()), a, a) == (R.ERROR_INVALID_HANDLE)
    d.ok("EventElapsedTime", byref(ctypes.c_float()), b, b)
    unlike = bench.graph()
    bench.empty(unlike)
    assert d.GraphExecChildGraphNodeSetParams(exec_, inner, unlike) != 0
    assert bench.launch(exec_) == 0 and bench.get() == 2
    d.ok("EventDestroy", a)
    d.ok("EventDestroy", b)


def test_nodes_that_are_switched_off(bench):
    d = bench.d
    g = bench.graph()
    kernel = bench.step(g, times=0, plus=5)
    fill = bench.fill(g, kernel, address=bench.word(1).value, width=1)
    empty = bench.empty(g)
    exec_ = bench.instantiate(g)

    def enabled(node):
        return d.last(c_uint, "GraphNodeGetEnabled", exec_, node)

    assert enabled(kernel) == 1
    d.ok("GraphNodeSetEnabled", exec_, kernel, 0)
    assert (enabled(kernel), enabled(fill)) == (0, 1)
    assert bench.launch(exec_) == 0
    assert (bench.get(0), bench.get(1)) == (0, 7)
    params = bench.kernel_params("step", bench.word(), c_uint(0), c_uint(6))
    d.ok("GraphExecKernelNodeSetParams", exec_, kernel, byref(params))
    d.ok("GraphNodeSetEnabled", exec_, kernel, 7)
    assert bench.launch(exec_) == 0 and bench.get() == 6
    assert enabled(kernel) == 1
    assert d.GraphNodeSetEnabled(exec_, empty, 0) == BAD
    assert d.GraphNodeGetEnabled(exec_, empty, byref(c_uint())) == BAD


# -- all nodes -------------------------------------------------------------------------


def pair(bench, plus, **kernel):
    """Return a graph of two kernels in a row, and its nodes."""
    g = bench.graph()
    a = bench.step(g, times=0, plus=plus)
    b = bench.step(g, a, times=10, plus=0)
    return g, a, b


def test_an_update_takes_all_parameters(bench):
    exec_ = bench.instantiate(pair(bench, 5)[0])
    code, said = bench.update(exec_, pair(bench, 6)[0])
    assert (code, said.result, said.node) == (0, 0, None)
    assert bench.launch(exec_) == 0 and bench.get() == 60
    g = bench.graph()
    a = bench.kernel(g, params=bench.kernel_params("one", bench.word()))
    bench.step(g, a, times=7, plus=0)
    assert bench.update(exec_, g)[0] == 0
    assert bench.launch(exec_) == 0 and bench.get() == 7


def test_updates_that_are_refused(bench):
    failure = R.ERROR_GRAPH_EXEC_UPDATE_FAILURE
    exec_ = bench.instantiate(pair(bench, 5)[0])

    def refused(graph):
        code, said = bench.update(exec_, graph)
        assert code == failure
        return said.result, said.node, said.from_node

    g = bench.graph()
    bench.step(g)
    assert refused(g) == (TOPOLOGY, None, None)
    g = bench.graph()
    first = bench.step(g)
    bench.step(g)
    assert refused(g) == (TOPOLOGY, first.value, None)
    g = bench.graph()
    first = bench.step(g)
    second = bench.empty(g, first)
    assert refused(g)[:2] == (TYPE, second.value)
    assert bench.launch(exec_) == 0 and bench.get() == 50


def test_updates_of_copies_and_fills_that_are_refused(bench):
    host = ctypes.create_string_buffer(64)
    address = ctypes.addressof(host)

    def made(add, **changes):
        g = bench.graph()
        return g, add(g, **changes)

    exec_ = bench.instantiate(made(bench.copy)[0])
    assert bench.update(exec_, made(bench.copy, width=32)[0])[0] == 0
    rows = {"height": 2, "src_pitch": 128, "dst_pitch": 128}
    moved = {**rows, "dst_device": bench.memory.value + 2048}
    boxes = bench.instantiate(made(bench.copy, **rows)[0])
    assert bench.update(boxes, made(bench.copy, **rows)[0])[0] == 0
    g, node = made(bench.copy, **moved)
    code, said = bench.update(boxes, g)
    assert code == R.ERROR_GRAPH_EXEC_UPDATE_FAILURE
    assert (said.result, said.node) == (PARAMETERS, node.value)
    g, node = made(bench.copy, src_type=ON_HOST, src_host=address)
    code, said = bench.update(exec_, g)
    assert code == R.ERROR_GRAPH_EXEC_UPDATE_FAILURE
    assert (said.result, said.node) == (PARAMETERS, node.value)
    box = {"width": 2, "height": 2, "pitch": 64}
    exec_ = bench.instantiate(made(bench.fill, **box)[0])
    assert bench.update(exec_, made(bench.fill, **box, value=9)[0])[0] == 0
    g, node = made(bench.fill, **{**box, "width": 3})
    code, said = bench.update(exec_, g)
    assert code == R.ERROR_GRAPH_EXEC_UPDATE_FAILURE
    assert (said.result, said.node) == (PARAMETERS, node.value)


def test_an_update_without_graph_or_without_place_for_the_reason(bench):
    d = bench.d
    exec_ = bench.instantiate(pair(bench, 5)[0])
    d.ok("GraphExecUpdate", exec_, pair(bench, 6)[0], None)
    assert bench.launch(exec_) == 0 and bench.get() == 60
    assert bench.update(exec_, None)[0] == BAD


def test_an_update_pairs_nodes_by_their_edges(bench):
    """The nodes of the graphs were added in another order, and have the same edges."""

    def made(first, last, other):
        g = bench.graph()
        nodes = [None, None]
        for i in (0, 1):
            plus = first if i == other else 0
            nodes[i] = bench.step(g, times=0, plus=plus, n=0 if i == other else 1)
        bench.step(g, nodes[other], times=10, plus=last)
        return g

    exec_ = bench.instantiate(made(1, 2, other=0))
    assert bench.update(exec_, made(3, 4, other=1))[0] == 0
    assert bench.launch(exec_) == 0 and bench.get() == 34


def test_an_update_that_moves_an_edge(bench):
    def made(middle_waits):
        g = bench.graph()
        a = bench.step(g)
        b = bench.step(g, *[a] * middle_waits)
        c = bench.step(g, *[a] * (not middle_waits))
        return g, a, b, c

    exec_ = bench.instantiate(made(False)[0])
    g, *_, c = made(True)
    code, said = bench.update(exec_, g)
    assert code == R.ERROR_GRAPH_EXEC_UPDATE_FAILURE
    assert (said.result, said.node, said.from_node) == (TOPOLOGY, c.value, None)


def test_child_graphs_are_updated_too(bench):
    def nested(plus, kind="step"):
        child = bench.graph()
        if kind == "step":
            bench.step(child, times=0, plus=plus)
        else:
            bench.empty(child)
        g = bench.graph()
        bench.add("GraphAddChildGraphNode", g, (), child)
        return g

    exec_ = bench.instantiate(nested(3))
    assert bench.update(exec_, nested(4))[0] == 0
    assert bench.launch(exec_) == 0 and bench.get() == 4
    code, said = bench.update(exec_, nested(4, "empty"))
    assert (code, said.result) == (R.ERROR_GRAPH_EXEC_UPDATE_FAILURE, TYPE)


@emulator_only
def test_a_change_during_a_launch_is_for_later_launches(bench):
    """The launch that runs keeps its nodes, and what they need."""
    d = bench.d
    g = bench.graph()
    begun, go = threading.Event(), threading.Event()

    def wait(data):
        begun.set()
        go.wait(10)

    host = bench.host(g, HOST_FUNCTION(wait))
    kernel = bench.step(g, host, times=0, plus=5)
    exec_ = bench.instantiate(g)
    codes = []

    def launch():
        d.ok("CtxSetCurrent", bench.context)
        codes.append(bench.launch(exec_))
        d.ok("CtxSetCurrent", None)

    thread = threading.Thread(target=launch)
    thread.start()
    assert begun.wait(10)
    params = bench.kernel_params("step", bench.word(), c_uint(0), c_uint(6))
    d.ok("GraphExecKernelNodeSetParams", exec_, kernel, byref(params))
    d.ok("GraphExecKernelNodeSetParams", exec_, kernel, byref(params))
    go.set()
    thread.join(10)
    assert codes == [0] and bench.get() == 5
    assert bench.launch(exec_) == 0 and bench.get() == 6


# -- user objects ----------------------------------------------------------------------


class Counter:
    """User objects whose destructors note a number."""

    def __init__(self, d):
        self.d = d
        self.gone = []
        self.function = HOST_FUNCTION(lambda data: self.gone.append(data))

    def new(self, number, count=1):
        return c_void_p(
            self.d.out(
                c_void_p, "UserObjectCreate", c_void_p(number), self.function, count, 1
            )
        )

    def after(self, expected):
        """Wait until the destructors have run; a GPU's driver has a thread for them."""
        end = time.monotonic() + 2
        while self.gone != expected and time.monotonic() < end:
            time.sleep(0.01)
        return self.gone


def test_references_of_the_program(d, emu_ctx):
    c = Counter(d)
    u = c.new(5, 2)
    d.ok("UserObjectRetain", u, 3)
    d.ok("UserObjectRelease", u, 4)
    assert c.gone == []
    assert d.UserObjectRelease(u, 0) == BAD
    assert d.UserObjectRetain(u, 0) == BAD
    d.ok("UserObjectRelease", u, 1)
    assert c.after([5]) == [5]
    out = c_void_p()
    assert d.UserObjectCreate(byref(out), None, c.function, 1, 0) == BAD
    assert d.UserObjectCreate(byref(out), None, c.function, 0, 1) == BAD
    assert d.UserObjectCreate(byref(out), None, None, 1, 1) == BAD


def test_references_of_graphs(bench):
    d = bench.d
    c = Counter(d)
    g = bench.graph()
    bench.empty(g)
    u = c.new(6)
    d.ok("GraphRetainUserObject", g, u, 2, 0)
    d.ok("GraphReleaseUserObject", g, u, 1)
    d.ok("UserObjectRelease", u, 1)
    clone = c_void_p(d.out(c_void_p, "GraphClone", g))
    bench.destroy(g)
    assert c.gone == []
    exec_ = bench.instantiate(clone)
    d.ok("GraphDestroy", clone)
    assert bench.launch(exec_) == 0
    assert c.gone == []
    bench.end(exec_)
    d.ok("CtxSynchronize")
    assert c.after([6]) == [6]


def test_references_move_and_are_replaced_by_an_update(bench):
    d = bench.d
    c = Counter(d)
    graphs = []
    for number in (7, 8):
        g = bench.graph()
        bench.empty(g)
        d.ok("GraphRetainUserObject", g, c.new(number), 1, 1)
        graphs.append(g)
    exec_ = bench.instantiate(graphs[0])
    bench.destroy(graphs[0])
    assert c.gone == []
    assert bench.update(exec_, graphs[1])[0] == 0
    assert c.after([7]) == [7]
    bench.destroy(graphs[1])
    bench.end(exec_)
    assert c.after([7, 8]) == [7, 8]


def test_edges_of_removed_nodes_do_not_reach_the_executable_graph(bench):
    d = bench.d
    g = bench.graph()
    a = bench.step(g, times=10, plus=1)
    b = bench.step(g, a, times=10, plus=2)
    c = bench.step(g, b, times=10, plus=3)
    d.ok("GraphDestroyNode", b)
    d.ok("GraphAddDependencies", g, handles(a), handles(c), None, size(1))
    bench.set(0)
    bench.run(g)
    assert bench.get() == 13


# -- failures --------------------------------------------------------------------------


def story(bench, made):
    """Make most calls on graphs. `made` gets what the caller must release."""
    d = bench.d
    g = bench.graph()
    a = bench.step(g, times=0, plus=1)
    b = bench.empty(g)
    d.ok("GraphAddDependencies", g, handles(a), handles(b), None, size(1))
    bench.fill(g, b, address=bench.word(1).value, width=1)
    bench.copy(g, a)
    handle = bench.handle(g, default=1)
    _, (branch,) = bench.conditional(g, handle, IF, b)
    bench.step(branch, times=1, plus=1)
    child = bench.graph()
    bench.step(child, times=1, plus=1, n=2)
    inner = bench.add("GraphAddChildGraphNode", g, (b,), child)
    alloc, address = bench.alloc(child)
    bench.free(child, address, alloc)
    clone = c_void_p(d.out(c_void_p, "GraphClone", made["plain"]))
    bench.graphs.append(clone)
    exec_ = bench.instantiate(g)
    params = bench.kernel_params("step", bench.word(), c_uint(0), c_uint(2))
    d.ok("GraphExecKernelNodeSetParams", exec_, a, byref(params))
    like = bench.graph()
    bench.step(like, n=2)
    d.ok("GraphExecChildGraphNodeSetParams", exec_, inner, like)
    object_ = c_void_p()
    d.ok("UserObjectCreate", byref(object_), None, made["function"], 1, 1)
    made["objects"].append(object_)
    d.ok("GraphRetainUserObject", g, object_, 1, 0)
    d.ok("UserObjectRelease", object_, 1)
    made["objects"].remove(object_)
    code, _ = bench.update(exec_, g)
    if code:
        raise DriverError("GraphExecUpdate", code)
    d.ok("StreamBeginCaptureToGraph", bench.stream, like, None, None, size(0), 0)
    d.ok("MemsetD32Async", bench.word(3), 1, size(1), bench.stream)
    d.ok("StreamUpdateCaptureDependencies", bench.stream, None, None, size(0), SET)
    d.last(c_void_p, "StreamEndCapture", bench.stream)
    d.ok("GraphLaunch", exec_, bench.stream)
    d.ok("StreamSynchronize", bench.stream)


@emulator_only
def test_every_call_may_fail(d, emu_ctx):
    live = d.live()
    function = HOST_FUNCTION(lambda data: None)
    for n in itertools.count(1):
        bench = GraphBench(d, emu_ctx)
        made = {"function": function, "objects": [], "plain": bench.graph()}
        fired = d.lib.emu_fault_fired()
        assert d.lib.emu_fault_set(None, n, R.ERROR_OUT_OF_MEMORY) == 0
        try:
            story(bench, made)
        except DriverError as error:
            assert error.code == R.ERROR_OUT_OF_MEMORY
        d.lib.emu_fault_clear()
        if d.last(c_uint, "StreamIsCapturing", bench.stream):
            d.StreamEndCapture(bench.stream, byref(c_void_p()))
        for object_ in made["objects"]:
            d.ok("UserObjectRelease", object_, 1)
        failed = d.lib.emu_fault_fired() != fired
        values = [bench.get(i) for i in range(4)]
        bench.close()
        assert d.live() == live
        if not failed:
            break
    assert n > 30
    assert values[0] == 2 and values[1] == 7


def test_a_graph_whose_body_is_being_captured(bench):
    """It can neither go nor be instantiated before the capture has ended."""
    d = bench.d
    g = bench.graph()
    node, (body,) = bench.conditional(g, bench.handle(g), IF)
    d.ok("StreamBeginCaptureToGraph", bench.stream, body, None, None, size(0), 0)
    if d.emulated:  # NVIDIA's manual does not say what happens
        assert d.GraphDestroy(g) == R.ERROR_ILLEGAL_STATE
        assert d.GraphDestroyNode(node) == R.ERROR_ILLEGAL_STATE
        assert bench.instantiate_code(g)[0] == R.ERROR_STREAM_CAPTURE_UNSUPPORTED
    d.StreamEndCapture(bench.stream, byref(c_void_p()))
    bench.instantiate(g)
