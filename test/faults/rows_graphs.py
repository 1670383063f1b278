"""Rows of graphs: captures, nodes, executable graphs."""

import numpy as np

import pycuda.driver as drv

from .row import calls, row

ADD = {"block": (8, 1, 1)}
QUESTION = "the driver's refusal means that the word is no address of device memory"
MEMORY = {
    "cuMemGetAddressRange": QUESTION,
    "cuThreadExchangeStreamCaptureMode": "pools then ask streams in the thread's mode",
}
NAME = {"cuFuncGetName": "the type of the node is shown instead"}
KERNEL_NAME = {**NAME, "cuGraphKernelNodeGetParams": "see cuFuncGetName"}
WAIT = {
    "cuStreamQuery": "an error means that no launch runs",
    "cuStreamSynchronize": "an error means that no launch runs",
}


def kernel_of(w):
    """The kernel of the world; its parameters are known already."""
    w.function(w.memory, np.int32(0), **ADD)
    return w.function


def graph_of(w):
    """A graph of one kernel node."""
    graph = drv.Graph()
    graph.add_kernel(kernel_of(w), w.memory, np.int32(1), **ADD)
    return graph


def node_of(w):
    return graph_of(w).nodes[0]


def edge_of(w):
    """A graph of two empty nodes with an edge, and the nodes."""
    graph = drv.Graph()
    first = graph.add_empty()
    return graph, first, graph.add_empty(after=first)


def alloc_of(w):
    """A node that allocates memory."""
    return drv.Graph().add_alloc(64)


def captured_callback(w):
    """Capture a call of a function."""

    def call():
        with w.stream.capture():
            w.stream.add_callback(int)

    _ = w.stream
    return call


def captured(w):
    """Capture a kernel, a copy and a fill."""

    def call():
        with w.stream.capture():
            w.function(w.memory, np.int32(1), **ADD)
            drv.memcpy_dtod_async(w.memory2, w.memory, 64)
            drv.memset_d8_async(w.memory2, 0, 8)

    _ = kernel_of(w), w.memory2, w.stream
    return call


def into(w):
    graph, _first, last = edge_of(w)

    def call():
        with w.stream.capture(graph, after=last):
            w.function(w.memory, np.int32(1), **ADD)

    _ = kernel_of(w), w.stream
    return call


NOTED = {"cuStreamIsCapturing": "the list of launches then has a captured one"}
row("Stream.capture", lambda w: w.stream.capture, also=("StreamCapture",))
row(
    "StreamCapture (a block)",
    captured,
    also=("StreamCapture.__enter__", "StreamCapture.__exit__"),
    absorbs={**MEMORY, **NOTED},
)
row(
    "StreamCapture (into a graph)",
    into,
    absorbs={
        **MEMORY,
        **NOTED,
        "cuGraphGetNodes": "the parameters of the nodes are then read once more",
    },
)
GIVE = "the context then keeps the function, not the graph"
row(
    "Stream.add_callback (captured)",
    captured_callback,
    absorbs={
        **MEMORY,
        "cuStreamGetCaptureInfo": GIVE,
        "cuUserObjectCreate": GIVE,
        "cuGraphRetainUserObject": GIVE,
    },
)
calls("Stream.is_capturing", lambda s: s.is_capturing, "stream")

row("Graph", lambda w: drv.Graph)
row("Graph (dropped)", lambda w: [drv.Graph()].clear)
calls(
    "Graph.add_kernel",
    lambda g, f, m: g.add_kernel(f, m, np.int32(1), **ADD),
    lambda w: drv.Graph(),
    kernel_of,
    "memory",
    absorbs=MEMORY,
)
calls(
    "Graph.add_copy",
    lambda g, m, h: g.add_copy(m, h),
    lambda w: drv.Graph(),
    "memory",
    "host",
    absorbs=MEMORY,
)
calls(
    "Graph.add_set",
    lambda g, m: g.add_set(m, 1),
    lambda w: drv.Graph(),
    "memory",
    absorbs=MEMORY,
)
calls("Graph.add_host", lambda g: g.add_host(int), lambda w: drv.Graph())
calls("Graph.add_empty", lambda g: g.add_empty(), lambda w: drv.Graph())
calls(
    "Graph.add_event_record",
    lambda g, e: g.add_event_record(e),
    lambda w: drv.Graph(),
    "event",
)
calls(
    "Graph.add_event_wait",
    lambda g, e: g.add_event_wait(e),
    lambda w: drv.Graph(),
    "event",
)
OP = drv.stream_mem_op
calls(
    "Graph.add_batch",
    lambda g, m: g.add_batch([(OP.WRITE_VALUE_32, m, 1)]),
    lambda w: drv.Graph(),
    "memory",
    absorbs=MEMORY,
)
calls("Graph.add_alloc", lambda g: g.add_alloc(64), lambda w: drv.Graph())
calls("Graph.add_free", lambda a: a.graph.add_free(a, after=a), alloc_of)
calls("GraphNode.address", lambda a: a.graph.nodes[0].address, alloc_of)
calls("Graph.add_child", lambda g, c: g.add_child(c), lambda w: drv.Graph(), graph_of)
for name, more in (("if", ()), ("while", ()), ("switch", (2,))):
    calls(
        f"Graph.add_{name}",
        lambda g, name=name, more=more: getattr(g, f"add_{name}")(g.condition(), *more),
        lambda w: drv.Graph(),
    )
calls("Graph.condition", lambda g: g.condition(1), lambda w: drv.Graph())
calls(
    "Graph.add_edge",
    lambda e: e[0].add_edge(e[2], e[0].nodes[0].graph.add_empty()),
    edge_of,
)
calls("Graph.remove_edge", lambda e: e[0].remove_edge(e[1], e[2]), edge_of)
calls("Graph.nodes", lambda g: g.nodes, graph_of)
calls("Graph.leaves", lambda g: g.leaves, graph_of)
calls("Graph.edges", lambda e: e[0].edges, edge_of)
calls("Graph.handle", lambda g: g.handle, graph_of)
calls("Graph.clone", lambda g: g.clone(), graph_of)
calls("Graph.find", lambda g: g.clone().find(g.nodes[0]), graph_of)
calls("Graph.instantiate", lambda g: g.instantiate(), graph_of)
PICTURE = "the picture is drawn in Python; CPython may lose an exception there"
for name in ("to_dot", "_repr_svg_"):
    calls(
        f"Graph.{name}",
        lambda g, name=name: getattr(g, name)(),
        graph_of,
        absorbs=KERNEL_NAME,
        no_allocations=PICTURE,
    )

for name in (
    *("type", "name", "graph", "handle", "function", "grid", "block", "shared"),
    *("bodies", "dependencies", "dependents"),
):
    calls(f"GraphNode.{name}", lambda n, name=name: getattr(n, name), node_of)
row("GraphNode", lambda w: (lambda node: lambda: repr(node))(node_of(w)), absorbs=NAME)
calls("GraphNode.remove", lambda n: n.remove(), node_of)


def executable_of(w):
    graph = graph_of(w)
    return graph, graph.nodes[0], graph.instantiate()


def other_executable_of(kind, value):
    """An executable graph of one node that is no kernel."""
    graph = drv.Graph()
    node = getattr(graph, f"add_{kind}")(value)
    return graph, node, graph.instantiate()


def launched(w):
    """Launch and delete an executable graph."""
    box, stream = [executable_of(w)[2]], w.stream

    def call():
        box[0].launch(stream)
        box.clear()

    return call


row("GraphExec", launched, absorbs=WAIT)
calls("GraphExec.handle", lambda e: e[2].handle, executable_of)
calls("GraphExec.launch", lambda e, s: e[2].launch(s), executable_of, "stream")
calls("GraphExec.upload", lambda e, s: e[2].upload(s), executable_of, "stream")
calls("GraphExec.update", lambda e: e[2].update(e[0]), executable_of)
calls(
    "GraphExec.update_node",
    lambda e, m: e[2].update_node(e[1], m, np.int32(2)),
    executable_of,
    "memory2",
)
calls("GraphExec.enable", lambda e: e[2].enable(e[1], False), executable_of)
for kind, value in (("host", lambda w: int), ("child", lambda w: drv.Graph())):
    calls(
        f"GraphExec.update_node ({kind})",
        lambda e, v: e[2].update_node(e[1], v),
        lambda w, kind=kind, value=value: other_executable_of(kind, value(w)),
        value,
    )
for kind in ("event_record", "event_wait"):
    calls(
        f"GraphExec.update_node ({kind})",
        lambda e, v: e[2].update_node(e[1], v),
        lambda w, kind=kind: other_executable_of(kind, w.event),
        "event",
    )
calls(
    "GraphExec.update_node (batch)",
    lambda e, m: e[2].update_node(e[1], [(OP.WRITE_VALUE_32, m, 1)]),
    lambda w: other_executable_of("batch", [(OP.WRITE_VALUE_32, w.memory, 1)]),
    "memory2",
    absorbs=MEMORY,
)


def retained(w):
    """A graph that refers to a user object, and the object."""
    graph, item = drv.Graph(), drv.UserObject(int)
    graph.retain(item)
    return graph, item


row("UserObject", lambda w: lambda: drv.UserObject(int))
calls("UserObject.release", lambda u: u.release(), lambda w: drv.UserObject(int))
calls("UserObject.handle", lambda u: u.handle, lambda w: drv.UserObject(int))
calls("Graph.retain", lambda r: r[0].retain(r[1]), retained)
calls("Graph.release", lambda r: r[0].release(r[1]), retained)
