"""Graphs: captures of streams, nodes, updates, and what a graph keeps alive."""

import gc
import re
import sys
import threading
import warnings
import weakref
from xml.etree import ElementTree

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, cumath, curandom, fft, gpuarray
from pycuda.compiler import SourceModule
from support.child import run_child

pytestmark = [pytest.mark.gpu, pytest.mark.module_context]

COUNT = 256
SHAPE = {"block": (COUNT, 1, 1)}
KERNELS = """
__global__ void add(int *to, const int *from, int n)
{
    to[threadIdx.x] += from[threadIdx.x] * n;
}
__global__ void fill(int *to, int n) { to[threadIdx.x] = n; }
__global__ void twice(int *to) { to[threadIdx.x] *= 2; }
"""


@pytest.fixture(scope="module")
def mod(module_context):
    return SourceModule(KERNELS)


@pytest.fixture
def stream(module_context):
    return drv.Stream()


@pytest.fixture
def live(module_context):
    """Return a function that counts the live handles of a kind above the start."""
    gc.collect()
    before = _driver._live_counts()

    def count(kind="memory"):
        gc.collect()
        return _driver._live_counts()[kind] - before[kind]

    return count


def zeros(n=COUNT):
    return gpuarray.zeros(n, np.int32)


def ones(n=COUNT):
    return gpuarray.to_gpu(np.ones(n, np.int32))


def run(graph, stream, times=1):
    executable = graph.instantiate()
    for _ in range(times):
        executable.launch(stream)
    stream.synchronize()
    return executable


# -- captures --------------------------------------------------------------------------


def test_captured_work_runs_only_when_the_graph_is_launched(mod, stream):
    x, y = zeros(), ones()
    with stream.capture() as graph:
        assert drv.Stream.get_current() is stream
        mod.get_function("add")(x, y, np.int32(3), **SHAPE)
        x += 1
    assert drv.Stream.get_current() is None
    assert not x.get().any()
    run(graph, stream, times=2)
    assert (x.get() == 8).all()


def test_an_expression_and_its_temporaries(stream):
    a = np.linspace(0, 1, 1000, dtype=np.float32)
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(a + 1)
    with stream.capture() as graph:
        z = cumath.sin(2 * x + 3 * y - x * y)
    executable = run(graph, stream)
    expected = np.sin(2 * a + 3 * (a + 1) - a * (a + 1))
    assert np.allclose(z.get(), expected, atol=1e-5)
    x.fill(0)
    executable.launch(stream)
    stream.synchronize()
    assert np.allclose(z.get(), np.sin(3 * (a + 1)), atol=1e-5)


def test_sums_scans_sorts_and_copies(stream):
    a = np.random.default_rng(1).integers(0, 100, 5000).astype(np.int32)
    x = gpuarray.to_gpu(a)
    with stream.capture() as graph:
        total = gpuarray.sum(x)
        running = x.cumsum()
        part = x[10:20].copy()
        flipped = x[::-1].copy()
    run(graph, stream, times=2)
    assert total.get() == a.sum()
    assert (running.get() == np.cumsum(a)).all()
    assert (part.get() == a[10:20]).all()
    assert (flipped.get() == a[::-1]).all()


def test_random_numbers_go_on_at_each_launch(stream):
    generator = curandom.XORWOWRandomNumberGenerator()
    x = gpuarray.zeros(1000, np.float32)
    generator.fill_uniform(x)
    with stream.capture() as graph:
        generator.fill_uniform(x)
    executable = run(graph, stream)
    first = x.get()
    executable.launch(stream)
    stream.synchronize()
    second = x.get()
    assert 0.3 < first.mean() < 0.7
    assert (first != second).any()


def test_a_product_of_matrices(stream):
    a = np.random.default_rng(2).random((40, 30), dtype=np.float32)
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(a.T.copy())
    x @ y  # makes the library's handle
    with stream.capture() as graph:
        z = x @ y
    run(graph, stream)
    assert np.allclose(z.get(), a @ a.T, rtol=1e-4)


def test_a_fourier_transform(stream):
    a = np.random.default_rng(3).random(1024).astype(np.complex64)
    x = gpuarray.to_gpu(a)
    fft.fft(x)
    with stream.capture() as graph:
        y = fft.fft(x)
    run(graph, stream)
    assert np.allclose(y.get(), np.fft.fft(a), atol=1e-2)


def test_copies_with_host_arrays(stream):
    source = np.arange(COUNT, dtype=np.int32)
    result = np.zeros_like(source)
    memory = drv.mem_alloc(source.nbytes)
    other = drv.mem_alloc(source.nbytes)
    with stream.capture() as graph:
        drv.memcpy_htod_async(memory, source)
        drv.memcpy_dtod_async(other, memory, source.nbytes, stream)
        drv.memset_d32_async(memory, 7, 1, stream)
        drv.memcpy_dtoh_async(result, other)
    executable = run(graph, stream)
    assert (result == source).all()
    source[:] = 5
    executable.launch(stream)
    stream.synchronize()
    assert (result == 5).all()


def test_two_streams_join_by_events(mod, stream):
    second = drv.Stream()
    fork, join = drv.Event(), drv.Event()
    x, y = zeros(), zeros()
    fill = mod.get_function("fill")
    with stream.capture() as graph:
        fork.record(stream)
        second.wait_for_event(fork)
        fill(x, np.int32(1), **SHAPE)
        fill(y, np.int32(2), stream=second, **SHAPE)
        join.record(second)
        stream.wait_for_event(join)
        z = x + y
    run(graph, stream)
    assert (z.get() == 3).all()


def test_memory_is_reused_within_a_graph_but_not_across_streams(stream):
    x = gpuarray.zeros(1 << 16, np.float32)
    with stream.capture() as graph:
        first = (x + 1).ptr
        second = (x + 2).ptr
        drv.Event().record(stream)  # from here on a second stream may follow
        third = (x + 3).ptr
        fourth = (x + 4).ptr
    assert first == second
    assert len({second, third, fourth}) == 3
    run(graph, stream)


def test_a_launch_is_not_captured(mod, stream):
    x = zeros()
    with stream.capture() as inner:
        x += 1
    executable = inner.instantiate()
    executable.launch(stream)
    with (
        pytest.raises(drv.LogicError, match="cuGraphLaunch failed"),
        stream.capture(),
    ):
        executable.launch(stream)
    executable.launch(stream)
    with stream.capture() as graph:
        x *= 2
        del executable  # its last launch was in this stream
    run(graph, stream)
    assert (x.get() == 4).all()


# -- what may not happen ---------------------------------------------------------------


def here():
    return sys._getframe(1).f_lineno


@pytest.mark.parametrize("flags", [0, drv.stream_flags.NON_BLOCKING])
def test_a_copy_to_the_host_is_refused_with_its_line(module_context, flags):
    stream = drv.Stream(flags)
    x = ones()
    with pytest.raises(drv.LogicError) as error, stream.capture() as graph:
        x += 1
        line = here() + 1
        x.get()
    assert error.value.routine == "cuMemcpyDtoH"
    assert f"{__file__}:{line}" in str(error.value)
    assert (x.get() == 1).all()  # the capture has ended, and nothing was run
    with pytest.raises(drv.LogicError, match="capture of this Graph failed"):
        graph.instantiate()


def test_waiting_is_refused_and_the_stream_is_usable_again(mod, stream):
    x = zeros()
    with pytest.raises(drv.LogicError) as error, stream.capture():
        x += 1
        line = here() + 1
        stream.synchronize()
    assert error.value.routine == "cuStreamSynchronize"
    assert f"{__file__}:{line}" in str(error.value)
    mod.get_function("fill")(x, np.int32(3), stream=stream, **SHAPE)
    stream.synchronize()
    assert (x.get() == 3).all()


def test_an_error_that_the_block_hides_is_named_at_its_end(stream):
    x = zeros()
    with pytest.raises(drv.LogicError) as error, stream.capture():
        x += 1
        line = here() + 2
        with pytest.raises(drv.LogicError):
            stream.synchronize()
    assert error.value.routine == "cuStreamEndCapture"
    assert f"cuStreamSynchronize at {__file__}:{line}" in str(error.value)


def test_an_exception_of_the_block_is_passed_on(stream, live):
    x = zeros()
    with pytest.raises(ZeroDivisionError), stream.capture() as graph:
        x += 1
        1 / 0  # noqa: B018
    with pytest.raises(drv.LogicError, match="failed"):
        _ = graph.nodes
    del graph
    assert live("graph") == 0
    with stream.capture() as graph:
        x += 1
    run(graph, stream)
    assert (x.get() == 1).all()


def test_work_that_is_not_joined(mod, stream):
    second = drv.Stream()
    x = zeros()
    event = drv.Event()
    with pytest.raises(drv.LogicError, match="does not wait for"), stream.capture():
        event.record(stream)
        second.wait_for_event(event)
        mod.get_function("fill")(x, np.int32(1), stream=second, **SHAPE)


def test_default_streams_and_second_entries_are_refused(stream):
    with (
        pytest.raises(drv.LogicError, match="default stream"),
        drv.Stream.from_handle(0).capture(),
    ):
        pass
    manager = stream.capture()
    with manager:
        pass
    with pytest.raises(drv.LogicError, match="entered before"), manager:
        pass
    with pytest.raises(drv.LogicError, match="not entered"):
        manager.__exit__(None, None, None)
    with pytest.raises(TypeError, match="Graph"):
        stream.capture(graph=3)


def test_the_graph_is_not_usable_before_the_end(stream):
    x = zeros()
    with stream.capture() as graph:
        x += 1
        with pytest.raises(drv.LogicError, match="being captured"):
            graph.instantiate()
        with pytest.raises(drv.LogicError, match="being captured"):
            graph.add_empty()


def test_a_capture_that_is_dropped_ends(stream, live):
    x = zeros()

    def work():
        with stream.capture():
            nonlocal x
            x += 1
            yield

    generator = work()
    next(generator)
    del generator
    gc.collect()
    with stream.capture() as graph:
        x += 1
    run(graph, stream)
    assert (x.get() == 1).all()
    del graph
    assert live("graph") == 0


# -- lifetime --------------------------------------------------------------------------


def test_arrays_live_as_long_as_the_executable_graph(mod, stream, live):
    x, y = zeros(), ones()
    reader = gpuarray.empty_like(x)
    with stream.capture() as graph:
        x += y
        drv.memcpy_dtod_async(reader.gpudata, x.gpudata, x.nbytes, stream)
    executable = graph.instantiate()
    del x, y, graph
    assert live() == 3
    other = [ones() for _ in range(20)]  # takes the memory if it was free
    for _ in range(3):
        executable.launch(stream)
    stream.synchronize()
    assert (reader.get() == 3).all()
    assert all((o.get() == 1).all() for o in other)
    del other, executable
    assert live() == 1


def test_addresses_as_integers_are_kept_too(mod, stream, live):
    x, out = ones(), zeros()
    add = mod.get_function("add").prepare("PPi")
    with stream.capture() as graph:
        add.prepared_call((1, 1), (COUNT, 1, 1), out.ptr, x.ptr + 4 * 0, 2)
        add.prepared_call((1, 1), (COUNT - 1, 1, 1), out.ptr + 4, x[1:].ptr, 1)
    executable = graph.instantiate()
    del x, graph
    assert live() == 2
    executable.launch(stream)
    stream.synchronize()
    assert out.get()[0] == 2
    assert (out.get()[1:] == 3).all()
    del executable
    assert live() == 1


def test_freed_memory_is_kept(mod, stream, live):
    memory = drv.mem_alloc(4 * COUNT)
    out = zeros()
    drv.memset_d32(memory, 5, COUNT)
    with stream.capture() as graph:
        mod.get_function("add")(out, memory, np.int32(1), **SHAPE)
    memory.free()
    with pytest.raises(drv.LogicError):
        memory.free()
    run(graph, stream)
    assert (out.get() == 5).all()
    assert live() == 2
    del graph
    assert live() == 1


def test_blocks_of_a_pool_do_not_return_while_a_graph_uses_them(stream):
    pool = drv.DeviceMemoryPool()
    x = gpuarray.zeros(COUNT, np.int32, allocator=pool.allocate)
    address = x.ptr
    with stream.capture() as graph:
        y = x + 1
    del x
    assert pool.held_blocks == 0
    z = gpuarray.zeros(COUNT, np.int32, allocator=pool.allocate)
    assert z.ptr != address
    run(graph, stream)
    assert (y.get() == 1).all()


def test_stream_ordered_memory(stream, live):
    memory = drv.mem_alloc_async(4 * COUNT, stream)
    drv.memset_d32(memory, 3, COUNT)
    out = zeros()
    with stream.capture() as graph:
        drv.memcpy_dtod_async(out.gpudata, memory, 4 * COUNT, stream)
    memory.free(stream)
    run(graph, stream)
    assert (out.get() == 3).all()
    del graph
    assert live() == 1


@pytest.mark.parametrize("source", ["mem_alloc_async", "MemoryPool"])
def test_stream_ordered_memory_of_a_capture(stream, live, source):
    out = zeros()
    pool = drv.MemoryPool()
    allocate = drv.mem_alloc_async if source == "mem_alloc_async" else pool.allocate
    with stream.capture() as graph:
        memory = allocate(4 * COUNT)
        drv.memset_d32_async(memory, 7, COUNT)
        drv.memcpy_dtod_async(out.gpudata, memory, 4 * COUNT, stream)
        del memory
        x = gpuarray.zeros(COUNT, np.int32, allocator=pool.allocate) + out
    assert all(node.type != "alloc" for node in graph.nodes)
    run(graph, stream, times=2)
    assert (x.get() == 7).all()
    del graph, x, pool, allocate
    assert live() == 1


def test_releases_during_a_capture_wait_for_its_end(stream, live):
    unused = ones()
    x = zeros()
    with stream.capture() as graph:
        x += 1
        del unused
        gc.collect()
        assert live() == 2
    assert live() == 1
    del graph


def test_results_outlive_the_graph(stream, live):
    x = ones()
    with stream.capture() as graph:
        z = (x + 1) * 3
    run(graph, stream)
    del graph, x
    assert live() == 1  # the scratch memory of the graph is gone
    assert (z.get() == 6).all()
    del z
    assert live() == 0


def test_two_graphs_share_memory(stream, live):
    x = ones()
    with stream.capture() as first:
        x += 1
    with stream.capture() as second:
        x += 1
    del x
    assert live() == 1
    del first
    assert live() == 1
    run(second, stream)
    del second
    assert live() == 0


def test_modules_and_functions_are_kept(module_context, stream, live):
    out = zeros()
    mod = SourceModule(KERNELS)
    with stream.capture() as graph:
        mod.get_function("fill")(out, np.int32(4), **SHAPE)
    executable = graph.instantiate()
    del mod, graph
    assert live("module") == 1
    executable.launch(stream)
    stream.synchronize()
    assert (out.get() == 4).all()
    del executable
    assert live("module") == 0


def test_host_buffers_are_kept(stream):
    memory = drv.mem_alloc(4 * COUNT)
    source = np.full(COUNT, 9, np.int32)
    reference = weakref.ref(source)
    with stream.capture() as graph:
        drv.memcpy_htod_async(memory, source)
    executable = graph.instantiate()
    del source, graph
    gc.collect()
    assert reference() is not None
    executable.launch(stream)
    stream.synchronize()
    assert (drv.from_device(memory, COUNT, np.int32) == 9).all()
    del executable
    gc.collect()
    assert reference() is None


def test_texture_objects_are_kept(module_context, stream, live):
    mod = SourceModule(
        "__global__ void read(float *to, cudaTextureObject_t t)"
        " { to[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }"
    )
    values = np.arange(COUNT, dtype=np.float32)
    out = gpuarray.zeros(COUNT, np.float32)
    source = gpuarray.to_gpu(values)
    descriptor = drv.ArrayDescriptor()
    descriptor.width, descriptor.height = COUNT, 0
    descriptor.format, descriptor.num_channels = drv.array_format.FLOAT, 1
    texture = drv.TextureObject(source, descriptor)
    with stream.capture() as graph:
        mod.get_function("read")(out, texture, **SHAPE)
    executable = graph.instantiate()
    del texture, source, graph
    gc.collect()
    assert live("texture_object") == 1
    other = [gpuarray.zeros(COUNT, np.float32) for _ in range(5)]
    executable.launch(stream)
    stream.synchronize()
    assert (out.get() == values).all()
    del executable, other
    assert live("texture_object") == 0


def test_memory_of_others_is_kept(mod, stream):
    class Foreign:
        def __init__(self, array):
            self.array = array
            self.__cuda_array_interface__ = {
                "shape": (COUNT,),
                "typestr": "<i4",
                "data": (array.ptr, False),
                "version": 3,
            }

    foreign = Foreign(ones())
    reference = weakref.ref(foreign)
    out = zeros()
    with stream.capture() as graph:
        mod.get_function("add")(out, foreign, np.int32(1), **SHAPE)
    del foreign
    gc.collect()
    assert reference() is not None
    run(graph, stream)
    assert (out.get() == 1).all()
    del graph
    gc.collect()
    assert reference() is None


def test_nothing_is_left_behind(mod, stream, live):
    x = ones()

    def once():
        with stream.capture() as graph:
            y = 2 * x + 1
            mod.get_function("twice")(y, **SHAPE)
        executable = run(graph, stream)
        copy = graph.clone()
        executable.update(copy)
        executable.launch(stream)
        executable.update_node(graph.leaves[0], y, **SHAPE)

    for _ in range(30):
        once()
    assert (live(), live("graph"), live("graph_exec")) == (1, 0, 0)


def test_a_graph_may_end_after_its_context():
    run_child(
        """
        import numpy as np
        import pycuda.driver as drv
        from pycuda import gpuarray

        drv.init()
        context = drv.Device(0).make_context()
        stream = drv.Stream()
        x = gpuarray.zeros(100, np.float32)
        with stream.capture() as graph:
            y = x + 1
        executable = graph.instantiate()
        executable.launch(stream)
        del x
        context.pop()
        context.detach()
        del graph, executable, y
        context = drv.Device(0).make_context()
        stream = drv.Stream()
        manager = stream.capture()
        graph = manager.__enter__()  # the interpreter ends within the capture
        """
    )


def test_graphs_are_deleted_in_other_threads(stream, live):
    x = ones()
    with stream.capture() as graph:
        y = x + 1
    kept = [run(graph, stream), graph, y]
    del graph, x, y
    thread = threading.Thread(target=kept.clear)
    thread.start()
    thread.join()
    assert (live(), live("graph"), live("graph_exec")) == (0, 0, 0)


def test_a_host_function_that_refers_to_its_graph(module_context, live):
    def make():
        graph = drv.Graph()
        graph.add_host(lambda: graph)
        graph.instantiate()

    make()
    assert (live("graph"), live("graph_exec")) == (0, 0)


# -- nodes -----------------------------------------------------------------------------


def test_explicit_nodes_and_edges(mod, stream):
    source = np.arange(COUNT, dtype=np.int32)
    result = np.zeros_like(source)
    x, y = zeros(), zeros()
    graph = drv.Graph()
    upload = graph.add_copy(x, source)
    fill = graph.add_set(y, 3, width=4)
    add = graph.add_kernel(
        mod.get_function("add"), x, y, np.int32(2), after=[upload, fill], **SHAPE
    )
    meet = graph.add_empty(after=add)
    download = graph.add_copy(result, x)
    graph.add_edge(meet, download)
    kinds = sorted(node.type for node in graph.nodes)
    assert kinds == ["copy", "copy", "empty", "kernel", "set"]
    assert graph.leaves == (download,)
    assert set(add.dependencies) == {upload, fill}
    assert add.dependents == (meet,)
    assert (meet, download) in graph.edges
    assert len(graph.edges) == 4
    assert (add.name, add.block, add.grid, add.shared) == (
        "add",
        (COUNT, 1, 1),
        (1, 1, 1),
        0,
    )
    run(graph, stream)
    assert (result == source + 6).all()
    assert (fill.name, fill.grid, fill.function) == ("set", None, None)
    assert repr(add) == "<GraphNode kernel: add>"


def test_edges_and_nodes_are_removed(mod, stream):
    x = zeros()
    graph = drv.Graph()
    first = graph.add_kernel(mod.get_function("fill"), x, np.int32(1), **SHAPE)
    second = graph.add_kernel(mod.get_function("twice"), x, after=first, **SHAPE)
    graph.remove_edge(first, second)
    assert graph.edges == ()
    graph.add_edge(first, second)
    last = graph.add_kernel(mod.get_function("twice"), x, after=second, **SHAPE)
    last.remove()
    assert len(graph.nodes) == 2
    with pytest.raises(drv.LogicError, match="removed"):
        graph.add_edge(first, last)
    run(graph, stream)
    assert (x.get() == 2).all()


def test_host_functions_run_in_order(mod, stream):
    x = zeros()
    result = np.zeros(COUNT, np.int32)
    seen = []
    graph = drv.Graph()
    fill = graph.add_kernel(mod.get_function("fill"), x, np.int32(6), **SHAPE)
    fetch = graph.add_copy(result, x, after=fill)
    graph.add_host(lambda: seen.append(int(result.sum())), after=fetch)
    run(graph, stream, times=3)
    assert seen == [6 * COUNT] * 3


def test_a_captured_callback_is_called_at_each_launch(mod, stream):
    x = zeros()
    seen = []
    with stream.capture() as graph:
        mod.get_function("fill")(x, np.int32(6), **SHAPE)
        stream.add_callback(lambda: seen.append(len(seen)))
    assert seen == []
    run(graph, stream, times=3)
    assert seen == [0, 1, 2]


def test_the_exception_of_a_host_function_is_reported(stream, monkeypatch):
    reports = []

    def note(report):  # the traceback would keep all that the test runs in
        reports.append((report.exc_type, report.object))

    def fail():
        raise KeyError("here")

    monkeypatch.setattr(sys, "unraisablehook", note)
    graph = drv.Graph()
    graph.add_host(fail)
    run(graph, stream)
    assert reports == [(KeyError, fail)]


def test_events_and_children(mod, stream):
    x = zeros()
    child = drv.Graph()
    child.add_kernel(mod.get_function("fill"), x, np.int32(5), **SHAPE)
    event = drv.Event()
    graph = drv.Graph()
    first = graph.add_child(child)
    second = graph.add_event_record(event, after=first)
    graph.add_event_wait(event, after=second)
    kinds = sorted(n.type for n in graph.nodes)
    assert kinds == ["child", "event_record", "event_wait"]
    assert first.bodies[0].nodes[0].name == "fill"
    del child
    run(graph, stream)
    assert event.query()
    assert (x.get() == 5).all()


def test_a_graph_as_its_own_child(mod, stream):
    x = zeros()
    graph = drv.Graph()
    with stream.capture(graph):
        x += 1
    node = graph.add_child(graph, after=graph.leaves)
    assert [n.type for n in graph.nodes] == ["kernel", "child"]
    assert [n.type for n in node.bodies[0].nodes] == ["kernel"]
    assert "child" in graph.to_dot()
    run(graph, stream)
    assert (x.get() == 2).all()
    graph.add_child(graph, after=node)
    run(graph, stream)
    assert (x.get() == 6).all()


def test_a_copy_of_a_graph(mod, stream):
    x = zeros()
    graph = drv.Graph()
    node = graph.add_kernel(mod.get_function("fill"), x, np.int32(5), **SHAPE)
    copy = graph.clone()
    twin = copy.find(node)
    assert twin.name == "fill"
    assert twin != node
    del graph, node
    run(copy, stream)
    assert (x.get() == 5).all()


def test_capture_into_a_graph(mod, stream):
    x = zeros()
    graph = drv.Graph()
    first = graph.add_kernel(mod.get_function("fill"), x, np.int32(5), **SHAPE)
    with stream.capture(graph, after=first) as same:
        x += 1
    assert same is graph
    assert len(graph.nodes) == 2
    assert graph.edges == ((first, graph.leaves[0]),)
    run(graph, stream)
    assert (x.get() == 6).all()


def test_a_failed_capture_takes_its_graph_along(stream, capfd):
    graph = drv.Graph()
    graph.add_empty()
    other = drv.Stream()
    before = _driver._live_counts()
    with pytest.raises(drv.LogicError), stream.capture(graph):
        event = drv.Event()
        event.record(stream)
        other.wait_for_event(event)
        drv.memset_d8_async(zeros().gpudata, 0, 4, other)  # other is not joined
    del event
    with pytest.raises(drv.LogicError, match="capture of this Graph failed"):
        graph.add_empty()
    counts = _driver._live_counts()
    assert counts["graph"] == before["graph"] - 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", drv.PyCUDAWarning)
        del graph
    assert "PyCUDAWarning" not in capfd.readouterr().err
    assert _driver._live_counts()["graph"] == counts["graph"]


def test_wrong_arguments_of_nodes(mod, stream, strict):
    graph, other = drv.Graph(), drv.Graph()
    x = zeros()
    fill = mod.get_function("fill")
    node = other.add_empty()
    for error, text, call in [
        (TypeError, "Function first", lambda: graph.add_kernel(x)),
        (TypeError, "needs block", lambda: graph.add_kernel(fill, x, np.int32(1))),
        (
            TypeError,
            "not 'blocks'",
            lambda: graph.add_kernel(fill, x, np.int32(1), blocks=1),
        ),
        (TypeError, "2 arguments", lambda: graph.add_kernel(fill, x, **SHAPE)),
        (
            TypeError,
            "In, Out",
            lambda: graph.add_kernel(fill, drv.Out(x.get()), np.int32(1), **SHAPE),
        ),
        (ValueError, "another graph", lambda: graph.add_empty(after=node)),
        (TypeError, "GraphNode", lambda: graph.add_empty(after=[3])),
        (ValueError, "width is 3", lambda: graph.add_set(x, 1, width=3)),
        (OverflowError, "value", lambda: graph.add_set(x, 256)),
        (ValueError, "do not fit", lambda: graph.add_set(x, 1, 2000)),
        (TypeError, "device memory", lambda: graph.add_set(np.zeros(3), 1)),
        (TypeError, "size must be", lambda: graph.add_copy(x.ptr, x.ptr)),
        (ValueError, "cannot be copied", lambda: graph.add_copy(x, x, 2000)),
        (ValueError, "gaps", lambda: graph.add_copy(x[::2], x[:5])),
        (TypeError, "callable", lambda: graph.add_host(3)),
        (TypeError, "Event", lambda: graph.add_event_wait(3)),
        (TypeError, "Graph", lambda: graph.add_child(3)),
        (TypeError, "Graph", lambda: graph.instantiate().update(3)),
        (TypeError, "GraphNode", lambda: graph.instantiate().update_node(3)),
    ]:
        with pytest.raises(error, match=re.escape(text)):
            call()
    assert graph.nodes == ()


# -- conditions ------------------------------------------------------------------------

CONDITIONS = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

extern "C" __global__ void set(cudaGraphConditionalHandle handle, const int *value)
{
    cudaGraphSetConditional(handle, *value);
}

extern "C" __global__ void count_down(cudaGraphConditionalHandle handle, int *value)
{
    cudaGraphSetConditional(handle, --*value > 0);
}

extern "C" __global__ void add(int *to, int n)
{
    *to += n;
}
"""
ONE = {"block": (1, 1, 1)}


@pytest.fixture(scope="module")
def conditions(module_context):
    return SourceModule(CONDITIONS, no_extern_c=True)


def test_while(conditions, stream):
    left, sum_ = gpuarray.to_gpu(np.array([5], np.int32)), zeros(1)
    graph = drv.Graph()
    condition = graph.condition(1)
    assert isinstance(condition, np.uint64)
    node = graph.add_while(condition)
    assert (node.type, node.name, len(node.bodies)) == ("conditional", "while", 1)
    with stream.capture(node.bodies[0]) as body:
        conditions.get_function("add")(sum_, np.int32(10), **ONE)
        conditions.get_function("count_down")(condition, left, **ONE)
    assert len(body.nodes) == 2
    executable = run(graph, stream)
    assert (int(left.get()[0]), int(sum_.get()[0])) == (0, 50)
    left.fill(3)
    del graph, node, body
    executable.launch(stream)
    stream.synchronize()
    assert int(sum_.get()[0]) == 80


def test_if_and_switch(conditions, stream):
    value, sum_ = zeros(1), zeros(1)
    add, set_ = conditions.get_function("add"), conditions.get_function("set")
    graph = drv.Graph()
    first, second = graph.condition(), graph.condition()
    start = [graph.add_kernel(set_, handle, value, **ONE) for handle in (first, second)]
    either = graph.add_if(first, otherwise=True, after=start)
    either.bodies[0].add_kernel(add, sum_, np.int32(1), **ONE)
    either.bodies[1].add_kernel(add, sum_, np.int32(10), **ONE)
    choice = graph.add_switch(second, 3, after=either)
    for i, body in enumerate(choice.bodies):
        body.add_kernel(add, sum_, np.int32(100 * (i + 1)), **ONE)
    executable = graph.instantiate()
    found = []
    for n in (0, 1, 2, 3):
        value.fill(n)
        sum_.fill(0)
        drv.Context.synchronize()
        executable.launch(stream)
        stream.synchronize()
        found.append(int(sum_.get()[0]))
    assert found == [110, 201, 301, 1]
    assert "body 2" in graph.to_dot()
    assert "switch" in graph._repr_svg_()


def test_loops_in_loops(conditions, stream):
    outer_left, inner_left = (gpuarray.to_gpu(np.array([n], np.int32)) for n in (3, 0))
    sum_ = zeros(1)
    add, down = conditions.get_function("add"), conditions.get_function("count_down")
    graph = drv.Graph()
    outer = graph.condition(1)
    body = graph.add_while(outer).bodies[0]
    inner = body.condition(1)
    with stream.capture(body):
        add(inner_left, np.int32(4), **ONE)
        conditions.get_function("set")(inner, inner_left, **ONE)
    loop = body.add_while(inner, after=body.leaves)
    with stream.capture(loop.bodies[0]):
        add(sum_, np.int32(1), **ONE)
        down(inner, inner_left, **ONE)
    with stream.capture(body, after=loop):
        down(outer, outer_left, **ONE)
    run(graph, stream)
    assert int(sum_.get()[0]) == 12


# -- executable graphs -----------------------------------------------------------------


def test_update_of_a_kernel(mod, stream, live, strict):
    x, y = zeros(), zeros()
    with stream.capture() as graph:
        mod.get_function("fill")(x, np.int32(1), **SHAPE)
    executable = run(graph, stream)
    node = graph.nodes[0]
    executable.update_node(node, y, np.int32(8))
    executable.launch(stream)
    executable.update_node(node, x, np.int32(9), block=(COUNT // 2, 1, 1))
    executable.launch(stream)
    stream.synchronize()
    assert (y.get() == 8).all()
    assert (x.get()[: COUNT // 2] == 9).all()
    assert (x.get()[COUNT // 2 :] == 1).all()
    address = y
    executable.update_node(node, y, np.int32(3))
    del y, address
    assert live() == 2  # the executable graph holds its new argument
    executable.launch(stream)
    stream.synchronize()
    with pytest.raises(TypeError, match="2 arguments"):
        executable.update_node(node, x)
    with pytest.raises(TypeError, match="after"):
        executable.update_node(node, x, np.int32(1), after=())


def test_many_updates_keep_nothing(mod, stream, live):
    x = zeros()
    with stream.capture() as graph:
        mod.get_function("fill")(x, np.int32(1), **SHAPE)
    executable = graph.instantiate()
    node = graph.nodes[0]
    for _ in range(300):
        executable.update_node(node, zeros(), np.int32(2))
        executable.launch(stream)
    stream.synchronize()
    executable.update_node(node, x, np.int32(2))
    assert live() < 70


def test_update_of_copies_and_fills(mod, stream):
    x, y = zeros(), zeros()
    result = np.zeros(COUNT, np.int32)
    graph = drv.Graph()
    fill = graph.add_set(x, 3, width=4)
    copy = graph.add_copy(result, x, after=fill)
    executable = run(graph, stream)
    assert (result == 3).all()
    executable.update_node(fill, y, 4, width=4)
    other = np.zeros(COUNT, np.int32)
    executable.update_node(copy, other, y)
    executable.launch(stream)
    stream.synchronize()
    assert (other == 4).all()
    assert (result == 3).all()
    empty = drv.Graph()
    node = empty.add_empty()
    with pytest.raises(TypeError, match="update"):
        empty.instantiate().update_node(node)


def test_update_of_the_whole_graph(stream):
    x, y = zeros(), ones()
    with stream.capture() as first:
        x += 1
    with stream.capture() as second:
        y += 1
    with stream.capture() as different:
        x += 1
        x += 2
    executable = run(first, stream)
    executable.update(second)
    del first, second
    executable.launch(stream)
    stream.synchronize()
    assert (x.get() == 1).all()
    assert (y.get() == 2).all()
    with pytest.raises(drv.Error, match="nodes or edges"):
        executable.update(different)


def test_nodes_are_switched_off(mod, stream):
    x = zeros()
    graph = drv.Graph()
    fill = graph.add_kernel(mod.get_function("fill"), x, np.int32(5), **SHAPE)
    twice = graph.add_kernel(mod.get_function("twice"), x, after=fill, **SHAPE)
    executable = graph.instantiate()
    executable.enable(twice, False)
    executable.launch(stream)
    stream.synchronize()
    assert (x.get() == 5).all()
    executable.enable(twice)
    executable.launch(stream)
    stream.synchronize()
    assert (x.get() == 10).all()


def test_upload_and_launches_in_several_streams(mod, stream):
    x = zeros()
    with stream.capture() as graph:
        x += 1
    executable = graph.instantiate()
    executable.upload(stream)
    streams = [drv.Stream() for _ in range(3)]
    for s in streams:
        executable.launch(s)
    with stream:
        executable.launch()
    executable.launch()
    for s in (*streams, stream):
        s.synchronize()
    drv.Context.synchronize()
    assert (x.get() == 5).all()


# -- pictures --------------------------------------------------------------------------


def test_pictures(mod, stream):
    x = zeros()
    with stream.capture() as graph:
        mod.get_function("fill")(x, np.int32(1), **SHAPE)
        mod.get_function("twice")(x, **SHAPE)
    dot = graph.to_dot()
    assert dot.startswith("digraph")
    assert "fill" in dot
    assert "->" in dot
    svg = graph._repr_svg_()
    assert svg.startswith("<svg")
    assert "twice" in svg
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert drv.Graph()._repr_svg_().startswith("<svg")


def test_an_edge_does_not_cross_the_nodes_of_a_layer(module_context):
    """One edge passes the layer of `third`, beside its box."""
    graph = drv.Graph()
    first = graph.add_empty()
    second, other = graph.add_empty(after=first), graph.add_empty(after=first)
    third = graph.add_empty(after=second)
    graph.add_empty(after=[third, other])
    tree = ElementTree.fromstring(graph._repr_svg_())
    boxes = []
    for group in tree.iter("{http://www.w3.org/2000/svg}g"):
        x, y = map(int, re.findall(r"\d+", group.get("transform")))
        rect = group.find("{http://www.w3.org/2000/svg}rect")
        boxes.append((x, y, x + int(rect.get("width")), y + int(rect.get("height"))))
    paths = [p.get("d") for p in tree.iter("{http://www.w3.org/2000/svg}path")]
    (long,) = (p for p in paths if p.count("C") == 2)
    for x, y in re.findall(r"(-?\d+),(-?\d+)", long):
        for left, top, right, bottom in boxes:
            assert not (left < int(x) < right and top < int(y) < bottom)
