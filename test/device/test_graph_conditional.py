"""Conditional nodes of graphs, and cudaGraphSetConditional in kernels."""

from ctypes import (
    addressof,
    byref,
    c_uint,
    c_uint64,
    c_void_p,
    create_string_buffer,
)

import pytest

from support.driver_graphs import (
    CONDITIONAL,
    HOST_FUNCTION,
    IF,
    KERNEL,
    MEMSET,
    ON_HOST,
    SWITCH,
    WHILE,
    NodeParams,
    same,
)
from support.emulator import R, child, launch_parameters, size
from support.marks import emulator_only

pytest_plugins = ["support.emulator_fixtures"]

BAD = R.ERROR_INVALID_VALUE


def setter(bench, graph, handle, value, *after):
    """Add a kernel that sets the variable of a handle."""
    params = bench.kernel_params("set", handle, c_uint(value))
    return bench.kernel(graph, *after, params=params)


def counter(bench, graph, handle):
    """Add a kernel that counts word 0 down and word 1 up and sets the variable."""
    return bench.kernel(graph, params=bench.kernel_params("down", handle, bench.word()))


@pytest.mark.parametrize(
    "kind, count, expected",
    [
        (IF, 1, {0: 1000, 1: 1100, 7: 1100}),
        (IF, 2, {0: 1101, 1: 1100, 7: 1100}),
        (SWITCH, 3, {0: 1100, 1: 1101, 2: 1102, 3: 1000}),
    ],
)
def test_branches(bench, kind, count, expected):
    """A kernel chooses the branch; the node behind the conditional one waits for it."""
    for value, result in expected.items():
        g = bench.graph()
        handle = bench.handle(g)
        choose = setter(bench, g, handle, value)
        node, branches = bench.conditional(g, handle, kind, choose, count=count)
        for i, branch in enumerate(branches):
            bench.step(branch, times=0, plus=100 + i)
        bench.step(g, node, times=1, plus=1000)
        assert bench.types(g) == [KERNEL, CONDITIONAL, KERNEL]
        bench.set(0)
        bench.run(g)
        assert bench.get() == result, (kind, count, value)


def test_a_loop(bench):
    """The loop ends when its kernel has counted to 0. Each launch begins again."""
    g = bench.graph()
    handle = bench.handle(g, default=1)
    _, (body,) = bench.conditional(g, handle, WHILE)
    counter(bench, body, handle)
    exec_ = bench.instantiate(g)
    for begin, total in ((5, 5), (3, 8)):
        bench.set(begin)
        assert bench.launch(exec_) == 0
        assert (bench.get(0), bench.get(1)) == (0, total)


def test_a_loop_that_does_not_begin(bench):
    g = bench.graph()
    handle = bench.handle(g, default=0)
    _, (body,) = bench.conditional(g, handle, WHILE)
    counter(bench, body, handle)
    bench.set(5)
    bench.run(g)
    assert (bench.get(0), bench.get(1)) == (5, 0)


def test_a_loop_in_a_branch(bench):
    g = bench.graph()
    outer = bench.handle(g, default=1)
    _, (branch,) = bench.conditional(g, outer, IF)
    inner = bench.handle(branch, default=1)
    _, (body,) = bench.conditional(branch, inner, WHILE)
    counter(bench, body, inner)
    bench.set(4)
    bench.run(g)
    assert (bench.get(0), bench.get(1)) == (0, 4)


def test_a_variable_without_default_begins_with_0(bench):
    g = bench.graph()
    handle = bench.handle(g, default=7, flags=0)
    node, (branch,) = bench.conditional(g, handle, IF)
    bench.step(branch, times=1, plus=1)
    setter(bench, g, handle, 1, node)
    exec_ = bench.instantiate(g)
    bench.set(0)
    for expected in (0, 1):
        assert bench.launch(exec_) == 0
        assert bench.get() == expected


def test_a_variable_without_default_keeps_its_value(bench):
    g = bench.graph()
    handle = bench.handle(g, default=0, flags=0)
    first = setter(bench, g, handle, 1)
    node, (branch,) = bench.conditional(g, handle, IF, first)
    bench.step(branch, times=1, plus=1)
    bench.set(0)
    exec_ = bench.instantiate(g)
    for expected in (1, 2):
        assert bench.launch(exec_) == 0
        assert bench.get() == expected
    # Without the kernel in front, the value of the last launch decides.
    bench.d.ok("GraphNodeSetEnabled", exec_, first, 0)
    assert bench.launch(exec_) == 0
    assert bench.get() == 3


def test_a_capture_into_a_body(bench):
    d = bench.d
    g = bench.graph()
    handle = bench.handle(g, default=1)
    _, (body,) = bench.conditional(g, handle, WHILE)
    d.ok("StreamBeginCaptureToGraph", bench.stream, body, None, None, size(0), 0)
    parameters = launch_parameters(handle, bench.word())
    d.ok(
        "LaunchKernel",
        bench.functions["down"],
        *(1, 1, 1, 1, 1, 1, 0),
        bench.stream,
        parameters,
        None,
    )
    d.ok("MemsetD32Async", bench.word(2), 9, size(1), bench.stream)
    assert d.last(c_void_p, "StreamEndCapture", bench.stream) == body.value
    assert bench.types(body) == [KERNEL, MEMSET]
    bench.set(6)
    bench.run(g)
    assert [bench.get(n) for n in range(3)] == [0, 6, 9]


def test_child_graphs_in_a_body(bench):
    g = bench.graph()
    handle = bench.handle(g, default=1)
    _, (branch,) = bench.conditional(g, handle, IF)
    inner = bench.graph()
    bench.step(inner, times=0, plus=4)
    bench.add("GraphAddChildGraphNode", branch, (), inner)
    bench.run(g)
    assert bench.get() == 4


def test_the_kernel_of_a_body_is_updated(bench):
    d = bench.d
    g = bench.graph()
    handle = bench.handle(g, default=1)
    _, (branch,) = bench.conditional(g, handle, IF)
    kernel = bench.step(branch, times=0, plus=4)
    exec_ = bench.instantiate(g)
    params = bench.kernel_params("step", bench.word(), c_uint(0), c_uint(5))
    d.ok("GraphExecKernelNodeSetParams", exec_, kernel, byref(params))
    assert bench.launch(exec_) == 0 and bench.get() == 5


def test_an_update_keeps_the_kind(bench):
    def made(kind, plus):
        g = bench.graph()
        handle = bench.handle(g, default=1)
        node, (branch,) = bench.conditional(g, handle, kind)
        bench.step(branch, times=0, plus=plus)
        return g, node

    exec_ = bench.instantiate(made(IF, 5)[0])
    assert bench.update(exec_, made(IF, 6)[0])[0] == 0
    assert bench.launch(exec_) == 0 and bench.get() == 6
    g, node = made(WHILE, 6)
    code, said = bench.update(exec_, g)
    assert code == R.ERROR_GRAPH_EXEC_UPDATE_FAILURE
    assert said.node == node.value


# -- what is refused -------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, count", [(IF, 0), (IF, 3), (WHILE, 0), (WHILE, 2), (SWITCH, 0), (3, 1)]
)
def test_sizes_that_are_refused(bench, kind, count):
    g = bench.graph()
    assert bench.conditional_code(g, bench.handle(g), kind, count)[0] == BAD
    assert bench.nodes(g) == []


def test_handles(bench):
    d = bench.d
    g = bench.graph()
    handle = bench.handle(g)
    bench.conditional(g, handle, IF)
    assert bench.conditional_code(g, handle, IF, 1)[0] == BAD
    assert bench.conditional_code(g, c_uint64(12345), IF, 1)[0] == BAD
    out = c_uint64()
    for graph, flags in ((g, 2), (None, 1)):
        code = d.GraphConditionalHandleCreate(
            byref(out), graph, bench.context, c_uint(0), c_uint(flags)
        )
        assert code == BAD


@emulator_only
def test_a_handle_that_no_node_uses(bench):
    """A driver may refuse the graph. The software device does, and says why."""
    g = bench.graph()
    bench.handle(g)
    assert bench.instantiate_code(g)[0] == BAD
    code, _, said = bench.instantiate_with(g)
    assert (code, said.result) == (BAD, 5)


def test_graphs_with_conditional_nodes_are_not_copied(bench):
    d = bench.d
    g = bench.graph()
    _, (branch,) = bench.conditional(g, bench.handle(g), IF)
    assert d.GraphClone(byref(c_void_p()), g) != 0
    assert bench.add_code("GraphAddChildGraphNode", bench.graph(), (), g)[0] != 0
    assert d.GraphDestroy(branch) == BAD
    assert bench.instantiate_code(branch)[0] == R.ERROR_NOT_SUPPORTED
    assert d.GraphClone(byref(c_void_p()), branch) == R.ERROR_NOT_SUPPORTED


def test_parameters_of_conditional_nodes_do_not_change(bench):
    d = bench.d
    g = bench.graph()
    handle = bench.handle(g)
    node, (branch,) = bench.conditional(g, handle, IF)
    bench.empty(branch)
    params = NodeParams(type=CONDITIONAL)
    params.of.conditional.handle = handle
    params.of.conditional.size = 1
    params.of.conditional.ctx = bench.context
    assert d.GraphNodeSetParams(node, byref(params)) != 0
    assert d.GraphExecNodeSetParams(bench.instantiate(g), node, byref(params)) != 0


def test_nodes_that_a_body_may_not_have(bench):
    """They are found when the graph is instantiated."""
    g = bench.graph()
    _, (branch,) = bench.conditional(g, bench.handle(g), IF)
    node = bench.host(branch, HOST_FUNCTION(lambda data: None))
    assert bench.instantiate_code(g)[0] == BAD
    code, _, said = bench.instantiate_with(g)
    assert (code, said.result, said.node) == (BAD, 3, node.value)
    bench.d.ok("GraphDestroyNode", node)
    host = create_string_buffer(64)
    node = bench.copy(branch, src_type=ON_HOST, src_host=addressof(host))
    code, _, said = bench.instantiate_with(g)
    assert (code, said.result, said.node) == (BAD, 4, node.value)
    bench.d.ok("GraphDestroyNode", node)
    assert bench.instantiate_code(g)[0] == 0


def test_one_executable_graph_at_a_time(bench):
    g = bench.graph()
    bench.conditional(g, bench.handle(g), IF)
    exec_ = bench.instantiate(g)
    assert bench.instantiate_code(g)[0] == R.ERROR_NOT_SUPPORTED
    bench.end(exec_)
    bench.instantiate(g)


def test_a_handle_whose_node_is_gone(bench):
    g = bench.graph()
    handle = bench.handle(g)
    node, _ = bench.conditional(g, handle, IF)
    bench.d.ok("GraphDestroyNode", node)
    code, _, said = bench.instantiate_with(g)
    assert (code, said.result) == (BAD, 5)


@emulator_only
@pytest.mark.parametrize("handle", ["c_uint64(12345)", "bench.handle(g)"])
def test_a_kernel_with_a_wrong_handle(handle):
    """A kernel outside of graphs may not set the variable of a graph either."""
    out = child(
        f"""
from support.driver_graphs import *
d.ok("Init", 0)
bench = GraphBench(d, d.context())
g = bench.graph()
handle = {handle}
params = bench.kernel_params("set", handle, c_uint(1))
h = bench.graph()
bench.kernel(h, params=params)
print(bench.launch(bench.instantiate(h)), d.StreamSynchronize(bench.stream))
print(f"handle {{handle.value}}" in d.message())
"""
    )
    assert out.split() == ["0", str(R.ERROR_ILLEGAL_ADDRESS), "True"]


def test_the_branches_belong_to_the_node(bench):
    """The array of the branches stays as long as the node, at the same place."""
    g = bench.graph()
    handle = bench.handle(g)
    _, branches = bench.conditional(g, handle, SWITCH, count=4)
    assert len({b.value for b in branches}) == 4
    for branch in branches:
        bench.empty(branch)
    assert not same(branches[0], g)
    bench.run(g)
