"""The software device: capture of streams into graphs, and launches of graphs."""

import ctypes
import itertools
import re
import struct
import threading
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

import pytest

from support.driver_graphs import STEP
from support.emulator import DriverError, R, child, launch_parameters, size
from support.marks import emulator_only

pytest_plugins = ["support.emulator_fixtures"]

NON_BLOCKING = 1
GLOBAL, THREAD_LOCAL, RELAXED = range(3)
NONE, ACTIVE, INVALIDATED = range(3)
KERNEL, MEMCPY, MEMSET, HOST = range(4)
WAIT_EVENT, EVENT_RECORD = 6, 7
MEM_ALLOC, MEM_FREE = 10, 11
EXTERNAL = 1
HOST_FUNCTION = ctypes.CFUNCTYPE(None, c_void_p)

SOURCE = b".version 6.4\n.target sm_50\n.address_size 64\n" + STEP


class Bench:
    """A context with a module, two streams and eight words of memory."""

    def __init__(self, d):
        self.d = d
        self.module = d.module(SOURCE)
        self.step_function = d.function(self.module, b"step")
        self.memory = d.alloc(64)
        d.ok("MemsetD8", self.memory, 0, size(64))
        self.a, self.b = self.stream(), self.stream()

    def stream(self, flags=NON_BLOCKING):
        return c_void_p(self.d.out(c_void_p, "StreamCreate", flags))

    def event(self, flags=0):
        return c_void_p(self.d.out(c_void_p, "EventCreate", flags))

    def close(self):
        d = self.d
        d.ok("StreamDestroy", self.a)
        d.ok("StreamDestroy", self.b)
        d.ok("MemFree", self.memory)
        d.ok("ModuleUnload", self.module)

    def word(self, n=0):
        return c_uint64(self.memory.value + 4 * n)

    def set(self, value, n=0, sync=True):
        self.d.ok("MemsetD32", self.word(n), value, size(1))
        if sync:  # the streams do not wait for the null stream
            self.d.ok("CtxSynchronize")

    def get(self, n=0, sync=True):
        if sync:
            self.d.ok("CtxSynchronize")
        return int.from_bytes(self.d.read(self.word(n), 4), "little")

    def step(self, stream, times, plus, n=0):
        parameters = launch_parameters(self.word(n), c_uint(times), c_uint(plus))
        return self.d.LaunchKernel(
            self.step_function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, None
        )

    def begin(self, stream=None, mode=GLOBAL):
        self.d.ok("StreamBeginCapture", stream or self.a, mode)

    def end(self, stream=None):
        return c_void_p(self.d.last(c_void_p, "StreamEndCapture", stream or self.a))

    def end_code(self, stream=None):
        """End the capture and return its code. An error must come without a graph."""
        graph = c_void_p(1)
        code = self.d.StreamEndCapture(stream or self.a, byref(graph))
        assert code != 0
        return code if graph.value in (None, 1) else None

    def status(self, stream):
        return self.d.last(c_int, "StreamIsCapturing", stream)

    def instantiate(self, graph, flags=0):
        d = self.d
        return c_void_p(
            d.out(c_void_p, "GraphInstantiateWithFlags", graph, c_uint64(flags))
        )

    def run(self, graph, times=1, stream=None):
        """Instantiate, launch and free a graph."""
        exec_ = self.instantiate(graph)
        for _ in range(times):
            self.d.ok("GraphLaunch", exec_, stream or self.a)
        self.d.ok("StreamSynchronize", stream or self.a)
        self.d.ok("GraphExecDestroy", exec_)

    def nodes(self, graph):
        count = c_size_t()
        self.d.ok("GraphGetNodes", graph, None, byref(count))
        if not count.value:  # room for no node is an error
            return []
        nodes = (c_void_p * count.value)()
        self.d.ok("GraphGetNodes", graph, nodes, byref(count))
        return [c_void_p(n) for n in nodes]

    def types(self, graph):
        d = self.d
        return [d.last(c_int, "GraphNodeGetType", n) for n in self.nodes(graph)]


@pytest.fixture
def w(d, emu_ctx):
    bench = Bench(d)
    yield bench
    bench.close()


def edges(w, graph, tmp_path):
    path = tmp_path / "graph.dot"
    w.d.ok("GraphDebugDotPrint", graph, str(path).encode(), 0)
    text = path.read_text()
    assert text.startswith("digraph")
    return {
        (int(a), int(b))
        for a, b in re.findall(r'"\w*node_(\d+)" -> "\w*node_(\d+)"', text)
    }, text


# -- what is captured and how it runs --------------------------------------------------


def test_kernels_replay_with_the_parameters_of_the_capture(w, tmp_path):
    w.set(1)
    w.begin()
    assert w.status(w.a) == ACTIVE and w.status(w.b) == NONE
    plus = c_uint(3)
    parameters = launch_parameters(w.word(), c_uint(2), plus)
    w.d.ok("LaunchKernel", w.step_function, 1, 1, 1, 1, 1, 1, 0, w.a, parameters, None)
    plus.value = 1000
    assert w.step(w.a, 10, 1) == 0
    graph = w.end()
    assert w.status(w.a) == NONE
    assert w.get() == 1, "nothing runs while it is captured"
    assert w.types(graph) == [KERNEL, KERNEL]
    found, text = edges(w, graph, tmp_path)
    assert found == {(0, 1)} and "step" in text
    w.run(graph, times=2)
    assert w.get() == ((1 * 2 + 3) * 10 + 1) * 20 + 31
    w.d.ok("GraphDestroy", graph)


def test_copies_and_fills(w):
    d = w.d
    host = ctypes.create_string_buffer(b"abcdefgh", 8)
    back = ctypes.create_string_buffer(16)
    pitched = d.alloc(64)
    w.begin()
    d.ok("MemcpyHtoDAsync", w.word(0), host, size(8), w.a)
    d.ok("MemcpyDtoDAsync", w.word(2), w.word(0), size(4), w.a)
    d.ok("MemsetD8Async", w.word(3), 0x78, size(4), w.a)
    d.ok("MemsetD16Async", c_uint64(w.word(3).value + 2), 0x4241, size(1), w.a)
    d.ok("MemsetD2D32Async", pitched, size(16), 0x44444444, size(1), size(3), w.a)
    d.ok("MemcpyDtoHAsync", back, w.memory, size(16), w.a)
    graph = w.end()
    assert w.types(graph) == [MEMCPY, MEMCPY, MEMSET, MEMSET, MEMSET, MEMCPY]
    assert back.raw == bytes(16)
    host.raw = b"ABCDEFGH"  # read when the graph runs, page-locked or not
    w.run(graph)
    assert back.raw == b"ABCDEFGHABCDxxAB"
    rows = d.read(pitched, 48)
    assert rows == (b"DDDD" + bytes(12)) * 3
    host.raw = b"01234567"
    w.run(graph)
    assert back.raw == b"012345670123xxAB"
    d.ok("GraphDestroy", graph)
    d.ok("MemFree", pitched)


def test_host_functions(w):
    seen = []

    @HOST_FUNCTION
    def note(data):
        seen.append((data, w.d.CtxSynchronize()))

    w.set(5)
    w.begin()
    w.d.ok("LaunchHostFunc", w.a, note, c_void_p(77))
    graph = w.end()
    assert seen == [] and w.types(graph) == [HOST]
    w.run(graph, times=3)
    assert seen == [(77, R.ERROR_NOT_PERMITTED)] * 3
    w.d.ok("GraphDestroy", graph)


def fork(w, source, target):
    """Let target continue after the present work of source."""
    event = w.event()
    w.d.ok("EventRecord", event, source)
    w.d.ok("StreamWaitEvent", target, event, 0)
    w.d.ok("EventDestroy", event)


def test_fork_and_join(w, tmp_path):
    w.begin()
    assert w.step(w.a, 0, 7, 0) == 0  # node 0
    fork(w, w.a, w.b)
    assert w.status(w.b) == ACTIVE
    assert w.step(w.a, 3, 1, 0) == 0  # 1, after 0
    assert w.step(w.b, 0, 9, 1) == 0  # 2, after 0
    assert w.step(w.b, 2, 2, 1) == 0  # 3, after 2
    fork(w, w.b, w.a)
    assert w.step(w.a, 5, 0, 1) == 0  # 4, after 1 and 3
    graph = w.end()
    assert w.status(w.b) == NONE
    found, _ = edges(w, graph, tmp_path)
    assert found == {(0, 1), (0, 2), (2, 3), (1, 4), (3, 4)}
    w.run(graph)
    assert w.get(0) == 22 and w.get(1) == 100
    w.d.ok("GraphDestroy", graph)


def test_a_second_stream_that_did_nothing_is_joined(w):
    w.begin()
    assert w.step(w.a, 0, 7) == 0
    fork(w, w.a, w.b)
    graph = w.end()
    assert w.types(graph) == [KERNEL] and w.status(w.b) == NONE
    assert w.step(w.b, 0, 8) == 0
    assert w.get() == 8
    w.d.ok("GraphDestroy", graph)


def test_a_graph_is_not_launched_into_a_capture(w):
    d = w.d
    w.begin()
    assert w.step(w.a, 2, 1) == 0
    graph = w.end()
    exec_ = w.instantiate(graph)
    w.begin()
    assert w.step(w.a, 1, 5) == 0
    assert d.GraphLaunch(exec_, w.a) == R.ERROR_STREAM_CAPTURE_UNSUPPORTED
    assert w.end_code() == R.ERROR_STREAM_CAPTURE_INVALIDATED
    w.set(3)
    d.ok("GraphLaunch", exec_, w.a)
    assert w.get() == 7
    d.ok("GraphExecDestroy", exec_)
    d.ok("GraphDestroy", graph)


def test_a_copy_outlives_its_graph(w):
    w.begin()
    assert w.step(w.a, 2, 0) == 0
    assert w.step(w.a, 1, 1) == 0
    graph = w.end()
    copy = c_void_p(w.d.out(c_void_p, "GraphClone", graph))
    w.d.ok("GraphDestroy", graph)
    w.set(3)
    w.run(copy, times=2)
    assert w.get() == 15
    w.d.ok("GraphDestroy", copy)


def test_external_events(w):
    d = w.d
    start, end = w.event(), w.event()
    d.ok("EventRecord", start, w.a)
    assert d.EventRecordWithFlags(end, w.a, EXTERNAL) == R.ERROR_ILLEGAL_STATE
    # Outside a capture it is invalid; the documents do not name the code.
    assert d.StreamWaitEvent(w.a, end, EXTERNAL) in (
        R.ERROR_INVALID_VALUE,
        R.ERROR_ILLEGAL_STATE,
    )
    w.begin()
    d.ok("StreamWaitEvent", w.a, start, EXTERNAL)
    assert w.step(w.a, 0, 1) == 0
    d.ok("EventRecordWithFlags", end, w.a, EXTERNAL)
    graph = w.end()
    assert w.types(graph) == [WAIT_EVENT, KERNEL, EVENT_RECORD]
    elapsed = c_float(-1)
    assert d.EventElapsedTime(byref(elapsed), start, end) == R.ERROR_INVALID_HANDLE
    w.run(graph)
    d.ok("EventElapsedTime", byref(elapsed), start, end)
    assert elapsed.value > 0
    exec_ = w.instantiate(graph)
    d.ok("EventDestroy", start)
    if d.emulated:
        assert d.GraphLaunch(exec_, w.a) == R.ERROR_INVALID_HANDLE
    d.ok("EventDestroy", end)
    d.ok("GraphExecDestroy", exec_)
    d.ok("GraphDestroy", graph)


def test_order_of_a_graph_and_its_stream(w):
    """A graph waits for earlier work of its stream. Later work waits for the graph."""
    w.begin()
    assert w.step(w.a, 10, 2) == 0
    graph = w.end()
    exec_ = w.instantiate(graph)
    w.d.ok("GraphUpload", exec_, w.b)
    assert w.step(w.b, 0, 1) == 0
    w.d.ok("GraphLaunch", exec_, w.b)
    assert w.step(w.b, 10, 3) == 0
    w.d.ok("StreamSynchronize", w.b)
    w.d.ok("GraphLaunch", exec_, None)
    assert w.get() == 1232
    w.d.ok("GraphExecDestroy", exec_)
    w.d.ok("GraphDestroy", graph)


def test_big_parameters_and_cooperative_launches(w):
    ptx = b"""
.version 8.1
.target sm_70
.address_size 64
.visible .entry big(.param .align 8 .b8 all[8000], .param .u64 where) {
    .reg .b64 %rd<4>;
    .reg .b32 %r<4>;
    ld.param.u64 %rd1, [where];
    cvta.to.global.u64 %rd2, %rd1;
    ld.param.u32 %r1, [all+7996];
    mov.u32 %r2, %envreg2;
    setp.ne.u32 %p1, %r2, 0;
    selp.u32 %r3, 1, 0, %p1;
    st.global.u32 [%rd2], %r1;
    st.global.u32 [%rd2+4], %r3;
    ret;
}
""".replace(b".reg .b32 %r<4>;", b".reg .b32 %r<4>; .reg .pred %p<2>;")
    m = w.d.module(ptx)
    f = w.d.function(m, b"big")
    block = ctypes.create_string_buffer(8000)
    block[7996] = 42
    parameters = launch_parameters(block, w.word())
    w.begin()
    w.d.ok("LaunchCooperativeKernel", f, 2, 1, 1, 1, 1, 1, 0, w.a, parameters)
    graph = w.end()
    block[7996] = 0
    w.run(graph)
    assert w.get(0) == 42
    if w.d.emulated:  # the content of the register belongs to the driver
        assert w.get(1) == 1
    w.d.ok("GraphDestroy", graph)
    w.d.ok("ModuleUnload", m)


SHUFFLED = """
from device.test_stream_capture import *
d.ok("Init", 0)
context = d.context()
w = Bench(d)
w.begin()
assert w.step(w.a, 0, 1, 0) == 0
if {forked}:
    fork(w, w.a, w.b)
    assert w.step(w.b, 2, 0, 0) == 0
    assert w.step(w.a, 1, 5, 0) == 0
    fork(w, w.b, w.a)
else:
    assert w.step(w.a, 2, 0, 0) == 0
    assert w.step(w.a, 1, 5, 0) == 0
graph = w.end()
exec_ = w.instantiate(graph)
found = set()
for i in range(40):
    d.ok("GraphLaunch", exec_, w.a)
    found.add(w.get())
print(sorted(found))
"""


@emulator_only
def test_a_seed_runs_nodes_in_other_orders(tmp_path):
    """A missing wait between two branches becomes visible. A chain keeps its order."""
    plain = child(SHUFFLED.format(forked=True))
    assert plain == "[7]"
    assert child(SHUFFLED.format(forked=True), PYCUDA_EMULATOR_SEED="3") == "[7, 12]"
    assert child(SHUFFLED.format(forked=False), PYCUDA_EMULATOR_SEED="3") == "[7]"


# -- handles ---------------------------------------------------------------------------


@emulator_only
def test_handles(w):
    d = w.d
    graph = c_void_p(d.out(c_void_p, "GraphCreate", 0))
    assert d.live()["graph"] == 1
    assert w.nodes(graph) == []
    bad = R.ERROR_INVALID_VALUE
    assert d.GraphCreate(byref(c_void_p()), 1) == bad
    assert d.GraphCreate(None, 0) == bad
    w.run(graph)
    exec_ = w.instantiate(graph, flags=8)
    assert d.live()["graph_exec"] == 1
    assert d.GraphInstantiateWithFlags(byref(c_void_p()), graph, c_uint64(16)) == bad
    assert d.GraphInstantiateWithFlags(byref(c_void_p()), graph, c_uint64(4)) == (
        R.ERROR_NOT_SUPPORTED
    )
    assert d.GraphInstantiateWithFlags(byref(c_void_p()), exec_, c_uint64(0)) == bad
    assert d.GraphLaunch(graph, w.a) == bad
    assert d.GraphLaunch(exec_, w.module) == R.ERROR_INVALID_HANDLE
    assert d.GraphUpload(graph, w.a) == bad
    assert d.GraphGetNodes(exec_, None, byref(c_size_t())) == bad
    assert d.GraphGetNodes(graph, None, None) == bad
    assert d.GraphDebugDotPrint(graph, b"/nowhere/at/all", 0) == (
        R.ERROR_OPERATING_SYSTEM
    )
    assert d.GraphDebugDotPrint(exec_, b"x", 0) == bad
    assert d.GraphNodeGetType(graph, byref(c_int())) == bad
    d.ok("GraphDestroy", graph)
    assert d.GraphDestroy(graph) == bad
    assert d.GraphClone(byref(c_void_p()), graph) == bad
    d.ok("GraphLaunch", exec_, w.a)
    d.ok("GraphExecDestroy", exec_)
    assert d.GraphExecDestroy(exec_) == bad
    assert d.GraphLaunch(exec_, w.a) == bad


def test_node_handles_live_with_their_graph(w):
    w.begin()
    for _ in range(3):
        assert w.step(w.a, 1, 1) == 0
    graph = w.end()
    copy = c_void_p(w.d.out(c_void_p, "GraphClone", graph))
    mine, other = w.nodes(graph), w.nodes(copy)
    assert not {n.value for n in mine} & {n.value for n in other}
    nodes, count = (c_void_p * 5)(1, 1, 1, 1, 1), c_size_t(2)
    w.d.ok("GraphGetNodes", graph, nodes, byref(count))
    assert count.value == 2 and list(nodes) == [mine[0].value, mine[1].value, 1, 1, 1]
    count.value = 5
    w.d.ok("GraphGetNodes", graph, nodes, byref(count))
    assert count.value == 3 and list(nodes[3:]) == [None, None]
    w.d.ok("GraphDestroy", graph)
    kind = c_int(-1)
    if w.d.emulated:
        assert w.d.GraphNodeGetType(mine[0], byref(kind)) == R.ERROR_INVALID_VALUE
    w.d.ok("GraphNodeGetType", other[0], byref(kind))
    assert kind.value == KERNEL
    w.d.ok("GraphDestroy", copy)


def test_a_graph_outlived_by_what_made_it(w):
    d = w.d
    m = d.module(SOURCE)
    w.begin()
    parameters = launch_parameters(w.word(), c_uint(0), c_uint(6))
    f = d.function(m, b"step")
    d.ok("LaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, w.a, parameters, None)
    graph = w.end()
    exec_ = w.instantiate(graph)
    d.ok("GraphDestroy", graph)
    d.ok("GraphLaunch", exec_, w.a)
    assert w.get() == 6
    d.ok("ModuleUnload", m)
    if d.emulated:
        # The kernel was unloaded. A module loaded since may have its address.
        again = d.module(SOURCE)
        d.function(again, b"step")
        assert d.GraphLaunch(exec_, w.a) == R.ERROR_INVALID_HANDLE
        d.ok("ModuleUnload", again)
    d.ok("GraphExecDestroy", exec_)


@emulator_only
def test_a_graph_that_does_not_run_holds_nothing():
    """A graph whose second kernel was unloaded does not hold the first one's module."""
    out = child("""
from device.test_stream_capture import *
d.ok("Init", 0)
context = d.context()
w = Bench(d)
first, second = d.module(SOURCE), d.module(SOURCE)
w.begin()
for m in (first, second):
    parameters = launch_parameters(w.word(), c_uint(0), c_uint(6))
    f = d.function(m, b"step")
    d.ok("LaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, w.a, parameters, None)
exec_ = w.instantiate(w.end())
d.ok("ModuleUnload", second)
print(d.GraphLaunch(exec_, w.a), w.get())
d.ok("ModuleUnload", first)
d.ok("CtxDestroy", context)
""")
    assert out == f"{R.ERROR_INVALID_HANDLE} 0"


@emulator_only
@pytest.mark.parametrize("kind", ["MemsetD8Async", "MemcpyDtoDAsync", "kernel"])
def test_memory_freed_before_the_run(kind):
    out = child(
        f"""
from device.test_stream_capture import *
d.ok("Init", 0)
context = d.context()
w = Bench(d)
gone = d.alloc(1 << 20)
w.begin()
if {kind!r} == "MemsetD8Async":
    d.ok("MemsetD8Async", gone, 1, size(100), w.a)
elif {kind!r} == "MemcpyDtoDAsync":
    d.ok("MemcpyDtoDAsync", w.word(), gone, size(4), w.a)
else:
    parameters = launch_parameters(gone, c_uint(0), c_uint(6))
    d.ok("LaunchKernel", w.step_function, 1, 1, 1, 1, 1, 1, 0, w.a, parameters, None)
assert w.step(w.a, 0, 1) == 0
graph = w.end()
exec_ = w.instantiate(graph)
d.ok("MemFree", gone)
print(d.GraphLaunch(exec_, w.a), d.StreamSynchronize(w.a))
"""
    )
    assert out == f"0 {R.ERROR_ILLEGAL_ADDRESS}"


def test_handles_that_go_during_the_capture(w):
    d = w.d
    s, e = w.stream(), w.event()
    w.begin(s)
    assert w.step(s, 1, 1) == 0
    d.ok("EventRecord", e, s)
    d.ok("StreamWaitEvent", w.a, e, 0)
    d.ok("StreamDestroy", s)  # the origin stream ends the capture
    assert w.status(w.a) == NONE
    assert d.EventQuery(e) == R.ERROR_INVALID_VALUE
    d.ok("EventRecord", e, w.a)
    d.ok("StreamSynchronize", w.a)
    assert d.EventQuery(e) == 0
    d.ok("EventDestroy", e)
    # A stream of the capture is destroyed. Its work must still be joined.
    s, e = w.stream(), w.event()
    w.begin()
    d.ok("EventRecord", e, w.a)
    d.ok("StreamWaitEvent", s, e, 0)
    d.ok("EventDestroy", e)
    assert w.step(s, 1, 1) == 0
    d.ok("StreamDestroy", s)
    assert w.end_code() == R.ERROR_STREAM_CAPTURE_UNJOINED


@emulator_only
def test_a_context_that_goes_during_a_capture():
    out = child("""
d.ok("Init", 0)
context = d.context()
s = c_void_p(d.out(c_void_p, "StreamCreate", 1))
d.ok("StreamBeginCapture", s, 0)
d.ok("CtxDestroy", context)
context = d.context()  # no capture is left that would forbid anything
d.ok("MemFree", d.alloc(4))
d.ok("CtxSynchronize")
d.ok("CtxDestroy", context)
print(d.live(), d.lib.emu_abandoned_count())
""")
    assert out == "{} 1"


# -- what is not allowed ---------------------------------------------------------------


def test_begin_and_end(w):
    d = w.d
    for null in (None, c_void_p(1)):
        assert d.StreamBeginCapture(null, GLOBAL) == (
            R.ERROR_STREAM_CAPTURE_UNSUPPORTED
        )
    assert d.StreamBeginCapture(w.a, 3) == R.ERROR_INVALID_VALUE
    if d.emulated:
        assert d.StreamBeginCapture(w.module, 0) == R.ERROR_INVALID_HANDLE
    assert w.end_code() == R.ERROR_ILLEGAL_STATE
    w.begin()
    assert d.StreamBeginCapture(w.a, GLOBAL) == R.ERROR_ILLEGAL_STATE
    assert w.status(w.a) == ACTIVE
    graph = w.end()
    assert w.nodes(graph) == []
    none = (c_void_p * 0)()
    assert d.GraphGetNodes(graph, none, byref(c_size_t(0))) == R.ERROR_INVALID_VALUE
    assert w.end_code() == R.ERROR_ILLEGAL_STATE
    d.ok("GraphDestroy", graph)


def invalidates(w, expected, call, stream=None):
    """Check that the call and later work fail, and that the capture gives no graph."""
    stream = stream or w.a
    assert call() == expected
    assert w.status(stream) == INVALIDATED
    assert w.step(stream, 1, 1) == R.ERROR_STREAM_CAPTURE_INVALIDATED
    assert w.end_code(stream) == R.ERROR_STREAM_CAPTURE_INVALIDATED
    assert w.status(stream) == NONE
    assert w.step(stream, 1, 1) == 0


def test_waiting_for_a_capture(w):
    d = w.d
    unsupported = R.ERROR_STREAM_CAPTURE_UNSUPPORTED
    callback = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_void_p)(lambda *a: None)
    for call in [
        lambda: d.StreamSynchronize(w.a),
        lambda: d.StreamQuery(w.a),
        lambda: d.CtxSynchronize(),
        lambda: d.StreamAddCallback(w.a, callback, None, 0),
    ]:
        w.begin()
        assert w.step(w.a, 1, 1) == 0
        invalidates(w, unsupported, call)
    e = w.event()
    for name in ("EventSynchronize", "EventQuery"):
        w.begin()
        d.ok("EventRecord", e, w.a)
        invalidates(w, R.ERROR_CAPTURED_EVENT, lambda name=name: getattr(d, name)(e))
        d.ok("EventRecord", e, w.a)
        d.ok("StreamSynchronize", w.a)
        d.ok(name, e)
    d.ok("EventDestroy", e)


def test_memory_of_a_capture(w):
    """A captured allocation and its free become nodes."""
    d = w.d
    w.begin()
    where = c_uint64()
    d.ok("MemAllocAsync", byref(where), size(4096), w.a)
    d.ok("MemsetD32Async", where, 7, size(4), w.a)
    d.ok("MemcpyDtoDAsync", w.word(), where, size(4), w.a)
    d.ok("MemFreeAsync", where, w.a)
    graph = w.end()
    assert w.types(graph) == [MEM_ALLOC, MEMSET, MEMCPY, MEM_FREE]
    for _ in range(2):
        w.set(0)
        w.run(graph, times=2)
        assert w.get() == 7
    d.ok("GraphDestroy", graph)


def test_events_of_a_capture_that_ended(w):
    d = w.d
    e = w.event()
    w.begin()
    assert w.step(w.a, 1, 1) == 0
    d.ok("EventRecord", e, w.a)
    d.ok("GraphDestroy", w.end())
    assert d.EventElapsedTime(byref(c_float()), e, e) == R.ERROR_INVALID_VALUE
    d.ok("EventRecord", e, w.a)
    d.ok("EventSynchronize", e)
    d.ok("EventElapsedTime", byref(c_float()), e, e)
    d.ok("EventDestroy", e)


def test_the_null_stream(w):
    d = w.d
    s = w.stream(flags=0)
    implicit = R.ERROR_STREAM_CAPTURE_IMPLICIT
    for call in [
        lambda: d.MemcpyDtoH(ctypes.create_string_buffer(4), w.memory, size(4)),
        lambda: d.MemsetD8(w.memory, 1, size(1)),
        lambda: w.step(None, 1, 1),
        lambda: d.StreamSynchronize(None),
    ]:
        w.begin(s, RELAXED)
        invalidates(w, implicit, call, s)
    w.begin(s)
    assert d.StreamIsCapturing(None, byref(c_int())) == implicit
    assert w.status(s) == ACTIVE
    d.ok("GraphDestroy", w.end(s))
    # A capture of a non-blocking stream does not affect the null stream.
    w.begin(w.a)
    w.set(4, sync=False)
    assert w.step(None, 1, 1) == 0
    assert w.status(None) == NONE
    d.ok("GraphDestroy", w.end())
    assert w.get() == 5
    # A blocking stream takes part in the capture of a non-blocking one.
    w.begin(w.a)
    fork(w, w.a, s)
    assert w.step(None, 1, 1) == implicit
    assert w.end_code() == R.ERROR_STREAM_CAPTURE_INVALIDATED
    d.ok("StreamDestroy", s)


def test_unsafe_calls_by_mode(w):
    d = w.d

    def alloc_free():
        p = c_uint64()
        code = d.MemAlloc(byref(p), size(8))
        return code or d.MemFree(p)

    unsupported = R.ERROR_STREAM_CAPTURE_UNSUPPORTED
    for mode in (GLOBAL, THREAD_LOCAL):
        w.begin(mode=mode)
        invalidates(w, unsupported, alloc_free)
        w.begin(mode=mode)
        invalidates(w, unsupported, lambda: d.ModuleUnload(w.module))
        if d.emulated:  # no document defines the result of a synchronous copy on a GPU
            w.begin(mode=mode)
            back = ctypes.create_string_buffer(4)
            invalidates(
                w, unsupported, lambda b=back: d.MemcpyDtoH(b, w.memory, size(4))
            )
        w.begin(mode=mode)  # the host does not wait for it
        d.ok("MemcpyDtoD", w.word(1), w.word(), size(4))
        assert w.status(w.a) == ACTIVE
        d.ok("GraphDestroy", w.end())
    w.begin(mode=RELAXED)
    assert alloc_free() == 0
    w.set(3, sync=False)
    assert w.get(sync=False) == 3
    d.ok("GraphDestroy", w.end())
    w.begin(mode=GLOBAL)
    mode = c_int(RELAXED)
    d.ok("ThreadExchangeStreamCaptureMode", byref(mode))
    assert mode.value == GLOBAL
    assert alloc_free() == 0
    d.ok("ThreadExchangeStreamCaptureMode", byref(mode))
    assert mode.value == RELAXED
    assert w.status(w.a) == ACTIVE
    d.ok("GraphDestroy", w.end())
    if d.emulated:  # an H200 accepts any number
        wrong = byref(c_int(3))
        assert d.ThreadExchangeStreamCaptureMode(wrong) == R.ERROR_INVALID_VALUE


def in_thread(w, context, work):
    """Run work in another thread with the context current. Return its result."""
    out = []

    def run():
        w.d.ok("CtxSetCurrent", context)
        try:
            out.append(work())
        finally:
            w.d.ok("CtxSetCurrent", None)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return out[0]


def test_other_threads(w, emu_ctx):
    d = w.d

    def alloc_free(mode=GLOBAL):
        d.ok("ThreadExchangeStreamCaptureMode", byref(c_int(mode)))
        p = c_uint64()
        code = d.MemAlloc(byref(p), size(8))
        return code or d.MemFree(p)

    def other(work):
        return in_thread(w, emu_ctx, work)

    unsupported = R.ERROR_STREAM_CAPTURE_UNSUPPORTED
    w.begin(mode=GLOBAL)
    assert other(lambda: alloc_free(THREAD_LOCAL)) == 0
    assert other(lambda: alloc_free(RELAXED)) == 0
    invalidates(w, unsupported, lambda: other(alloc_free))
    for mode in (THREAD_LOCAL, RELAXED):
        w.begin(mode=mode)
        assert other(alloc_free) == 0
        assert other(lambda: w.step(w.a, 0, 9)) == 0  # captured, from there too
        assert w.status(w.a) == ACTIVE
        if mode == THREAD_LOCAL:
            # which ends the capture too
            assert other(w.end_code) == R.ERROR_STREAM_CAPTURE_WRONG_THREAD
            assert w.end_code() == R.ERROR_ILLEGAL_STATE
        else:
            graph = other(w.end)
            assert w.types(graph) == [KERNEL]
            d.ok("GraphDestroy", graph)


def test_forks_that_do_not_join(w):
    w.begin()
    fork(w, w.a, w.b)
    assert w.step(w.b, 1, 1) == 0
    assert w.end_code() == R.ERROR_STREAM_CAPTURE_UNJOINED
    assert w.status(w.a) == w.status(w.b) == NONE
    w.begin()
    fork(w, w.a, w.b)
    assert w.step(w.b, 1, 1) == 0
    fork(w, w.b, w.a)
    assert w.step(w.b, 1, 1) == 0  # after the join
    assert w.end_code() == R.ERROR_STREAM_CAPTURE_UNJOINED
    w.begin()
    fork(w, w.a, w.b)
    assert w.end_code(w.b) == R.ERROR_STREAM_CAPTURE_UNMATCHED
    assert w.end_code() == R.ERROR_STREAM_CAPTURE_INVALIDATED


def test_events_across_the_boundary(w):
    d = w.d
    e, never = w.event(), w.event()
    d.ok("EventRecord", e, w.b)
    w.begin()
    d.ok("StreamWaitEvent", w.a, never, 0)
    invalidates(
        w,
        R.ERROR_STREAM_CAPTURE_ISOLATION,
        lambda: d.StreamWaitEvent(w.a, e, 0),
    )
    # A wait for the event of another capture invalidates both captures.
    w.begin(w.a)
    w.begin(w.b)
    d.ok("EventRecord", e, w.b)
    assert d.StreamWaitEvent(w.a, e, 0) == R.ERROR_STREAM_CAPTURE_MERGE
    assert w.end_code(w.a) == w.end_code(w.b) == R.ERROR_STREAM_CAPTURE_INVALIDATED
    # It cannot be waited for after its capture has ended or failed either.
    assert d.StreamWaitEvent(w.a, e, 0) == R.ERROR_INVALID_VALUE
    assert d.EventElapsedTime(byref(c_float()), e, e) == R.ERROR_INVALID_VALUE
    w.begin(w.b)
    d.ok("EventRecord", e, w.b)
    assert d.StreamQuery(w.b) == R.ERROR_STREAM_CAPTURE_UNSUPPORTED
    if d.emulated:  # no document names the code
        assert d.StreamWaitEvent(w.a, e, 0) == R.ERROR_INVALID_VALUE
    assert w.end_code(w.b) == R.ERROR_STREAM_CAPTURE_INVALIDATED
    d.ok("EventRecord", e, w.b)
    d.ok("StreamWaitEvent", w.a, e, 0)
    d.ok("EventDestroy", e)
    d.ok("EventDestroy", never)


def test_work_that_fails_ends_the_capture(w):
    """A rejected call invalidates the capture. All later calls report that, even calls
    with wrong arguments."""
    d = w.d

    def bad_launch():
        parameters = launch_parameters(w.word(), c_uint(0), c_uint(6))
        return d.LaunchKernel(
            w.step_function, 0, 1, 1, 1, 1, 1, 0, w.a, parameters, None
        )

    def bad_launch_by_config():
        # grid, block, bytes of shared memory; stream, attributes and their number
        config = struct.pack("=7I4xQQI4x", 0, 1, 1, 1, 1, 1, 0, w.a.value, 0, 0)
        parameters = launch_parameters(w.word(), c_uint(0), c_uint(6))
        return d.LaunchKernelEx(config, w.step_function, parameters, None)

    def bad_fill():
        return d.MemsetD8Async(c_uint64(64), 0, size(4), w.a)

    def bad_copy():
        return d.MemcpyDtoDAsync(c_uint64(64), w.memory, size(4), w.a)

    w.begin()
    assert bad_launch() == R.ERROR_INVALID_VALUE
    assert bad_fill() == R.ERROR_STREAM_CAPTURE_INVALIDATED
    assert w.end_code() == R.ERROR_STREAM_CAPTURE_INVALIDATED
    for bad in (bad_launch, bad_launch_by_config):
        w.begin()
        invalidates(w, R.ERROR_INVALID_VALUE, bad)
    if d.emulated:  # a GPU may check addresses only when the graph runs
        for bad in (bad_fill, bad_copy):
            w.begin()
            invalidates(w, R.ERROR_INVALID_VALUE, bad)


def story(w):
    """Make all calls of a capture with two streams, of a graph and its run. Clean up
    after a failure of any of them."""
    d = w.d
    graph, copy, exec_, event = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    try:
        d.ok("EventCreate", byref(event), 0)
        d.ok("StreamBeginCapture", w.a, GLOBAL)
        if w.step(w.a, 0, 1):
            raise DriverError("LaunchKernel", 2)
        d.ok("EventRecord", event, w.a)
        d.ok("StreamWaitEvent", w.b, event, 0)
        d.ok("MemsetD32Async", w.word(1), 5, size(1), w.b)
        d.ok("EventRecord", event, w.b)
        d.ok("StreamWaitEvent", w.a, event, 0)
        d.ok("StreamEndCapture", w.a, byref(graph))
        d.ok("GraphClone", byref(copy), graph)
        d.ok("GraphInstantiateWithFlags", byref(exec_), copy, c_uint64(0))
        d.ok("GraphLaunch", exec_, w.a)
    finally:
        d.lib.emu_fault_clear()
        if d.last(c_int, "StreamIsCapturing", w.a):
            assert d.StreamEndCapture(w.a, byref(graph)) in (
                0,
                R.ERROR_STREAM_CAPTURE_UNJOINED,
            )
        for name, handle in [
            ("GraphDestroy", graph),
            ("GraphDestroy", copy),
            ("GraphExecDestroy", exec_),
            ("EventDestroy", event),
        ]:
            if handle:
                d.ok(name, handle)


@emulator_only
def test_every_call_may_fail(w):
    live = w.d.live()
    for n in itertools.count(1):
        assert w.d.lib.emu_fault_set(None, n, R.ERROR_OUT_OF_MEMORY) == 0
        fired = w.d.lib.emu_fault_fired()
        try:
            story(w)
        except DriverError as error:
            assert error.code == R.ERROR_OUT_OF_MEMORY
        assert w.d.live() == live
        if w.d.lib.emu_fault_fired() == fired:
            break
    assert n == 13
    assert (w.get(0), w.get(1)) == (1, 5)
