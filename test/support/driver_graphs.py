"""The structures of the driver's calls on graphs, and a bench of calls on graphs.

`GraphBench` makes graphs and nodes by the driver's calls. A method that returns a node
raises DriverError if the driver refuses it; `code` methods return the CUresult.
"""

import ctypes
from ctypes import (
    POINTER,
    Structure,
    Union,
    byref,
    c_int,
    c_size_t,
    c_ubyte,
    c_uint,
    c_uint64,
    c_void_p,
)

from support.emulator import DriverError, launch_parameters, size

KERNEL, MEMCPY, MEMSET, HOST, GRAPH, EMPTY, WAIT_EVENT, EVENT_RECORD = range(8)
MEM_ALLOC, MEM_FREE, CONDITIONAL = 10, 11, 13
IF, WHILE, SWITCH = range(3)
AUTO_FREE, UPLOAD, DEVICE_LAUNCH, NODE_PRIORITY = 1, 2, 4, 8
ON_HOST, ON_DEVICE, IN_ARRAY, ANYWHERE = 1, 2, 3, 4
HOST_FUNCTION = ctypes.CFUNCTYPE(None, c_void_p)


class KernelParams(Structure):
    _fields_ = [
        ("func", c_void_p),
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared", c_uint),
        ("parameters", POINTER(c_void_p)),
        ("extra", POINTER(c_void_p)),
        ("kern", c_void_p),
        ("ctx", c_void_p),
    ]


def _side(prefix):
    return [
        (prefix + "x", c_size_t),
        (prefix + "y", c_size_t),
        (prefix + "z", c_size_t),
        (prefix + "level", c_size_t),
        (prefix + "type", c_uint),
        (prefix + "host", c_void_p),
        (prefix + "device", c_uint64),
        (prefix + "array", c_void_p),
        (prefix + "reserved", c_void_p),
        (prefix + "pitch", c_size_t),
        (prefix + "height", c_size_t),
    ]


class CopyParams(Structure):
    _fields_ = [
        *_side("src_"),
        *_side("dst_"),
        ("width", c_size_t),
        ("height", c_size_t),
        ("depth", c_size_t),
    ]


class FillParams(Structure):
    _fields_ = [
        ("address", c_uint64),
        ("pitch", c_size_t),
        ("value", c_uint),
        ("unit", c_uint),
        ("width", c_size_t),
        ("height", c_size_t),
    ]


class HostParams(Structure):
    _fields_ = [("function", HOST_FUNCTION), ("data", c_void_p)]


class PoolProperties(Structure):
    _fields_ = [
        ("type", c_uint),
        ("handles", c_uint),
        ("location", c_uint),
        ("device", c_int),
        ("security", c_void_p),
        ("most", c_size_t),
        ("usage", ctypes.c_ushort),
        ("reserved", c_ubyte * 54),
    ]


class AllocParams(Structure):
    _fields_ = [
        ("pool", PoolProperties),
        ("access", c_void_p),
        ("access_count", c_size_t),
        ("bytes", c_size_t),
        ("address", c_uint64),
    ]


class ConditionalParams(Structure):
    _fields_ = [
        ("handle", c_uint64),
        ("type", c_uint),
        ("size", c_uint),
        ("graphs", POINTER(c_void_p)),
        ("ctx", c_void_p),
    ]


class _WideCopyParams(Structure):
    _fields_ = [
        ("flags", c_int),
        ("reserved", c_int),
        ("ctx", c_void_p),
        ("copy", CopyParams),
    ]


class _WideFillParams(Structure):
    _fields_ = [*FillParams._fields_, ("ctx", c_void_p)]


class ChildParams(Structure):
    _fields_ = [("graph", c_void_p), ("ownership", c_uint)]


class _Params(Union):
    _fields_ = [
        ("padding", ctypes.c_longlong * 29),
        ("kernel", KernelParams),
        ("memcpy", _WideCopyParams),
        ("memset", _WideFillParams),
        ("host", HostParams),
        ("graph", ChildParams),
        ("event", c_void_p),
        ("alloc", AllocParams),
        ("free", c_uint64),
        ("conditional", ConditionalParams),
    ]


class NodeParams(Structure):
    _fields_ = [
        ("type", c_uint),
        ("reserved0", c_int * 3),
        ("of", _Params),
        ("reserved2", ctypes.c_longlong),
    ]


class Edge(Structure):
    _fields_ = [
        ("from_port", c_ubyte),
        ("to_port", c_ubyte),
        ("type", c_ubyte),
        ("reserved", c_ubyte * 5),
    ]


class Update(Structure):
    _fields_ = [("result", c_uint), ("node", c_void_p), ("from_node", c_void_p)]


class Instantiation(Structure):
    _fields_ = [
        ("flags", c_uint64),
        ("stream", c_void_p),
        ("node", c_void_p),
        ("result", c_uint),
    ]


def handles(*objects):
    """Return an array of handles; NULL for none."""
    if not objects:
        return None
    return (c_void_p * len(objects))(*(o.value for o in objects))


def same(a, b):
    return a.value == b.value


# step(where, times, plus): where[0] = where[0] * times + plus. The result depends on
# the order of the steps.
STEP = b"""
.visible .entry step(.param .u64 where, .param .u32 times, .param .u32 plus) {
    .reg .b64 %rd<3>;
    .reg .b32 %r<5>;
    ld.param.u64 %rd1, [where];
    ld.param.u32 %r1, [times];
    ld.param.u32 %r2, [plus];
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.u32 %r3, [%rd2];
    mad.lo.u32 %r4, %r3, %r1, %r2;
    st.global.u32 [%rd2], %r4;
    ret;
}
"""

# set(handle, value): set the variable of a conditional node.
# down(handle, where): where[0] -= 1, where[1] += 1, set the variable to where[0].
SOURCE = (
    b""".version 8.0
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional (.param .b64 p0, .param .b32 p1);
"""
    + STEP
    + b""".visible .entry one(.param .u64 where) {
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [where];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, 1;
    st.global.u32 [%rd2], %r1;
    ret;
}
.visible .entry set(.param .u64 handle, .param .u32 value) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [handle];
    ld.param.u32 %r1, [value];
    {
        .param .b64 a0;
        .param .b32 a1;
        st.param.b64 [a0+0], %rd1;
        st.param.b32 [a1+0], %r1;
        call.uni cudaGraphSetConditional, (a0, a1);
    }
    ret;
}
.visible .entry down(.param .u64 handle, .param .u64 where) {
    .reg .b64 %rd<4>;
    .reg .b32 %r<5>;
    ld.param.u64 %rd1, [handle];
    ld.param.u64 %rd2, [where];
    cvta.to.global.u64 %rd3, %rd2;
    ld.global.u32 %r1, [%rd3];
    add.s32 %r2, %r1, -1;
    st.global.u32 [%rd3], %r2;
    ld.global.u32 %r3, [%rd3+4];
    add.s32 %r4, %r3, 1;
    st.global.u32 [%rd3+4], %r4;
    {
        .param .b64 a0;
        .param .b32 a1;
        st.param.b64 [a0+0], %rd1;
        st.param.b32 [a1+0], %r2;
        call.uni cudaGraphSetConditional, (a0, a1);
    }
    ret;
}
"""
)


class GraphBench:
    """A context's module, stream, memory and the graphs that a test makes."""

    def __init__(self, d, context):
        self.d = d
        self.context = context
        self.module = d.module(SOURCE)
        self.functions = {
            name: d.function(self.module, name.encode())
            for name in ("step", "one", "set", "down")
        }
        self.memory = d.alloc(1 << 12)
        d.ok("MemsetD8", self.memory, 0, size(1 << 12))
        self.stream = c_void_p(d.out(c_void_p, "StreamCreate", 1))
        self.graphs, self.execs = [], []
        self._kept = []

    def close(self):
        d = self.d
        for exec_ in self.execs:
            d.ok("GraphExecDestroy", exec_)
        for graph in self.graphs:
            d.ok("GraphDestroy", graph)
        d.ok("StreamDestroy", self.stream)
        d.ok("MemFree", self.memory)
        d.ok("ModuleUnload", self.module)

    # -- memory

    def word(self, n=0):
        return c_uint64(self.memory.value + 4 * n)

    def set(self, value, n=0):
        self.d.ok("MemsetD32", self.word(n), value, size(1))
        self.d.ok("CtxSynchronize")

    def get(self, n=0):
        self.d.ok("CtxSynchronize")
        return int.from_bytes(self.d.read(self.word(n), 4), "little")

    # -- graphs

    def graph(self):
        self.graphs.append(c_void_p(self.d.out(c_void_p, "GraphCreate", 0)))
        return self.graphs[-1]

    def destroy(self, graph):
        self.graphs = [g for g in self.graphs if not same(g, graph)]
        self.d.ok("GraphDestroy", graph)

    def instantiate_code(self, graph, flags=0):
        exec_ = c_void_p()
        code = self.d.GraphInstantiateWithFlags(byref(exec_), graph, c_uint64(flags))
        if code == 0:
            self.execs.append(exec_)
        return code, exec_

    def instantiate(self, graph, flags=0):
        code, exec_ = self.instantiate_code(graph, flags)
        if code:
            raise DriverError("GraphInstantiateWithFlags", code)
        return exec_

    def instantiate_with(self, graph, flags=0, stream=None):
        """Return the code, the executable graph and what the call says."""
        exec_ = c_void_p()
        said = Instantiation(flags, stream, None, 77)
        code = self.d.GraphInstantiateWithParams(byref(exec_), graph, byref(said))
        if code == 0:
            self.execs.append(exec_)
        return code, exec_, said

    def end(self, exec_):
        self.execs = [e for e in self.execs if not same(e, exec_)]
        self.d.ok("GraphExecDestroy", exec_)

    def launch(self, exec_):
        return self.d.GraphLaunch(exec_, self.stream)

    def run(self, graph):
        """Launch a new executable graph of the graph once."""
        exec_ = self.instantiate(graph)
        self.d.ok("GraphLaunch", exec_, self.stream)
        self.d.ok("StreamSynchronize", self.stream)
        self.end(exec_)

    # -- nodes

    def add_code(self, name, graph, after, *rest):
        node = c_void_p()
        code = getattr(self.d, name)(
            byref(node), graph, handles(*after), size(len(after)), *rest
        )
        return code, node

    def add(self, name, graph, after, *rest):
        code, node = self.add_code(name, graph, after, *rest)
        if code:
            raise DriverError(name, code)
        return node

    def add_node_code(self, graph, params, after=(), edges=None):
        """Add a node by cuGraphAddNode. Return the code and the node."""
        node = c_void_p()
        code = self.d.GraphAddNode(
            byref(node), graph, handles(*after), edges, size(len(after)), byref(params)
        )
        return code, node

    def kernel_params(self, name="step", *values, grid=(1, 1, 1), block=(1, 1, 1)):
        values = values or (self.word(), c_uint(2), c_uint(1))
        pointers = launch_parameters(*values)
        self._kept.append(pointers)
        return KernelParams(
            func=self.functions[name],
            grid=(c_uint * 3)(*grid),
            block=(c_uint * 3)(*block),
            parameters=ctypes.cast(pointers, POINTER(c_void_p)),
        )

    def step(self, graph, *after, times=2, plus=1, n=0):
        params = self.kernel_params("step", self.word(n), c_uint(times), c_uint(plus))
        return self.kernel(graph, *after, params=params)

    def kernel(self, graph, *after, params=None):
        params = params or self.kernel_params()
        return self.add("GraphAddKernelNode", graph, after, byref(params))

    def empty(self, graph, *after):
        return self.add("GraphAddEmptyNode", graph, after)

    def fill_params(self, **changes):
        params = FillParams(self.memory.value, 0, 7, 4, 16, 1)
        for name, value in changes.items():
            setattr(params, name, value)
        return params

    def fill(self, graph, *after, **changes):
        params = self.fill_params(**changes)
        return self.add("GraphAddMemsetNode", graph, after, byref(params), self.context)

    def copy_params(self, **changes):
        """A copy of 64 bytes to the place 1024 bytes behind."""
        params = CopyParams(
            src_type=ON_DEVICE,
            src_device=self.memory.value,
            dst_type=ON_DEVICE,
            dst_device=self.memory.value + 1024,
            width=64,
            height=1,
            depth=1,
        )
        for name, value in changes.items():
            setattr(params, name, value)
        return params

    def copy(self, graph, *after, **changes):
        params = self.copy_params(**changes)
        return self.add("GraphAddMemcpyNode", graph, after, byref(params), self.context)

    def host(self, graph, function, *after, data=None):
        self._kept.append(function)
        params = HostParams(function, data)
        return self.add("GraphAddHostNode", graph, after, byref(params))

    def alloc(self, graph, *after, count=4096):
        """Return the node and the address."""
        params = AllocParams(pool=PoolProperties(type=1, location=1), bytes=count)
        node = self.add("GraphAddMemAllocNode", graph, after, byref(params))
        return node, c_uint64(params.address)

    def free(self, graph, address, *after):
        return self.add("GraphAddMemFreeNode", graph, after, address)

    def handle(self, graph, default=0, flags=1):
        return c_uint64(
            self.d.out(
                c_uint64,
                "GraphConditionalHandleCreate",
                graph,
                self.context,
                c_uint(default),
                c_uint(flags),
            )
        )

    def conditional_code(self, graph, handle, kind, count, *after):
        params = NodeParams(type=CONDITIONAL)
        params.of.conditional = ConditionalParams(
            handle, kind, count, None, self.context
        )
        code, node = self.add_node_code(graph, params, after)
        found = []
        if code == 0:
            found = [c_void_p(params.of.conditional.graphs[i]) for i in range(count)]
        return code, node, found

    def conditional(self, graph, handle, kind, *after, count=1):
        """Return the node and its graphs."""
        code, node, found = self.conditional_code(graph, handle, kind, count, *after)
        if code:
            raise DriverError("GraphAddNode", code)
        return node, found

    # -- questions

    def nodes(self, graph):
        count = c_size_t()
        self.d.ok("GraphGetNodes", graph, None, byref(count))
        if not count.value:
            return []
        nodes = (c_void_p * count.value)()
        self.d.ok("GraphGetNodes", graph, nodes, byref(count))
        return [c_void_p(n) for n in nodes]

    def types(self, graph):
        return [self.d.last(c_int, "GraphNodeGetType", n) for n in self.nodes(graph)]

    def edges(self, graph):
        """Return the edges as pairs of places in the list of nodes."""
        place = {n.value: i for i, n in enumerate(self.nodes(graph))}
        count = c_size_t()
        self.d.ok("GraphGetEdges", graph, None, None, None, byref(count))
        if not count.value:
            return set()
        start, end = (c_void_p * count.value)(), (c_void_p * count.value)()
        data = (Edge * count.value)()
        self.d.ok("GraphGetEdges", graph, start, end, data, byref(count))
        return {(place[a], place[b]) for a, b in zip(start, end, strict=True)}

    def update(self, exec_, graph):
        """Update an executable graph. Return the code and what the call says."""
        said = Update(77, 1, 1)
        code = self.d.GraphExecUpdate(exec_, graph, byref(said))
        return code, said
