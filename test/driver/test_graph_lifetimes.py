"""Objects of every kind that are deleted or released while a stream is captured, or
while a graph uses them.
"""

import ctypes
import gc
import warnings
import weakref
from pathlib import Path

import numpy as np
import pytest

import pycuda.driver as drv
import pycuda.memory
from pycuda import _driver, emulator, gpuarray
from pycuda.compiler import SourceModule
from pycuda.interop import to_gpuarray
from support.child import run_child
from support.faults import fail_calls  # noqa: F401

pytestmark = [pytest.mark.gpu, pytest.mark.module_context]

COUNT = 256
SHAPE = {"block": (COUNT, 1, 1)}
KERNELS = """
__global__ void copy(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }
struct named { long long n; const int *from; };
__global__ void copy_named(int *to, named s) { to[threadIdx.x] = s.from[threadIdx.x]; }
__global__ void read(float *to, cudaTextureObject_t t)
{
    to[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, 0.0f);
}
"""


@pytest.fixture(scope="module")
def mod(module_context):
    return SourceModule(KERNELS)


@pytest.fixture
def stream(module_context):
    return drv.Stream()


def descriptor(width=8, height=4, flags=0):
    d = drv.ArrayDescriptor3D()
    d.width, d.height, d.depth, d.flags = width, height, 0, flags
    d.format, d.num_channels = drv.array_format.FLOAT, 1
    return d


def mapped(value=7):
    """Virtual memory with COUNT words of a value."""
    space = drv.VirtualMemory(4 * COUNT)
    space.map(drv.PhysicalMemory(4 * COUNT))
    drv.memset_d32(space, value, COUNT)
    return space


def grown():
    array = gpuarray.GrowableArray(max_rows=COUNT, dtype=np.int32)
    array.append(np.full(COUNT, 7, np.int32))
    return array


def holding(pool):
    pool.allocate(1000).free()
    return pool


def surface():
    return drv.SurfaceObject(
        drv.Array(descriptor(flags=drv.array3d_flags.SURFACE_LDST))
    )


#: A function for each type that makes an object with a handle of the driver.
MAKE = {
    "Array": lambda: drv.Array(descriptor()),
    "DeviceAllocation": lambda: drv.mem_alloc(1000),
    "DeviceMemoryPool": lambda: holding(drv.DeviceMemoryPool()),
    "Event": lambda: drv.Event(),
    "Graph": lambda: drv.Graph(),
    "GraphExec": lambda: drv.Graph().instantiate(),
    "GrowableArray": grown,
    "Linker": lambda: drv.Linker(),
    "MemoryPool": lambda: holding(drv.MemoryPool()),
    "MemoryPool (shared)": lambda: drv.MemoryPool(ipc=True),
    "MipmappedArray": lambda: drv.MipmappedArray(descriptor()),
    "PageLockedMemoryPool": lambda: drv.PageLockedMemoryPool(),
    "PhysicalMemory": lambda: drv.PhysicalMemory(1),
    "PooledDeviceAllocation": lambda: drv.MemoryPool().allocate(1000),
    "Stream": lambda: drv.Stream(),
    "StreamAllocation": lambda: drv.mem_alloc_async(1000),
    "StreamAllocation (stream)": lambda: drv.mem_alloc_async(1000, drv.Stream()),
    "SurfaceObject": surface,
    "TextureObject": lambda: drv.TextureObject(drv.Array(descriptor())),
    "TextureObject (mipmapped)": lambda: drv.TextureObject(
        drv.MipmappedArray(descriptor()), normalized_coords=True
    ),
    "VirtualMemory": mapped,
    "level": lambda: drv.MipmappedArray(descriptor()).get_level(1),
    "managed": lambda: drv.managed_empty(
        8, np.int32, mem_flags=drv.mem_attach_flags.GLOBAL
    ),
    "page-locked": lambda: drv.pagelocked_empty(8, np.int32),
}
FREED = [
    *("Array", "DeviceAllocation", "GrowableArray", "MipmappedArray"),
    *("PhysicalMemory", "PooledDeviceAllocation", "StreamAllocation"),
    *("StreamAllocation (stream)", "SurfaceObject", "TextureObject", "VirtualMemory"),
]


def release_in_a_capture(stream, thing, release):
    """Release a thing between two pieces of captured work; nothing may be left."""
    y = gpuarray.zeros(COUNT, np.int32)
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with stream.capture() as graph:
            y += 1
            release(thing)
            del thing
            gc.collect()
            y += 1
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert (y.get() == 2).all()


def live_counts():
    gc.collect()  # also what earlier tests left
    return _driver._live_counts()


@pytest.mark.parametrize("kind", MAKE)
def test_objects_may_be_deleted_in_a_capture(mod, stream, kind):
    release_in_a_capture(stream, [MAKE[kind]()], list.clear)  # loads the kernels
    before = live_counts()
    release_in_a_capture(stream, [MAKE[kind]()], list.clear)
    assert live_counts() == before


@pytest.mark.parametrize("kind", FREED)
def test_objects_may_be_freed_in_a_capture(mod, stream, kind):
    release_in_a_capture(stream, MAKE[kind](), lambda thing: thing.free())
    before = live_counts()
    release_in_a_capture(stream, MAKE[kind](), lambda thing: thing.free())
    assert live_counts() == before


@pytest.mark.parametrize("how", ["deleted", "freed", "named by its address"])
def test_a_graph_keeps_virtual_memory(mod, stream, how):
    before = live_counts()
    space, out = mapped(), gpuarray.zeros(COUNT, np.int32)
    source = space if how != "named by its address" else np.uint64(int(space))
    with stream.capture() as graph:
        mod.get_function("copy")(out, source, **SHAPE)
    executable = graph.instantiate()
    if how == "freed":
        space.free()
        assert space.mappings == []
        with pytest.raises(drv.LogicError, match="released before"):
            space.free()
    del space, graph, source
    gc.collect()
    assert _driver._live_counts()["range"] == before["range"] + 1
    other = [mapped(1) for _ in range(3)]  # gets the addresses if they are free
    executable.launch(stream)
    stream.synchronize()
    assert (out.get() == 7).all()
    del executable, other, out
    assert live_counts() == before


def filled(value=7):
    memory = drv.mem_alloc(4 * (COUNT + 1))
    drv.memset_d32(memory, value, COUNT + 1)
    return memory


STRUCTURE = np.dtype([("n", np.int64), ("from", np.uint64)])
#: How a program names the memory that a kernel reads.
NAMES = {
    "object": lambda memory: memory,
    "address": lambda memory: np.uint64(int(memory)),
    "address inside": lambda memory: np.uint64(int(memory) + 4),
    "structure": lambda memory: np.array([(0, int(memory))], STRUCTURE)[0],
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("recording", [True, False])
def test_a_graph_keeps_memory_however_it_is_named(mod, stream, name, recording):
    out, copy = gpuarray.zeros(COUNT, np.int32), mod.get_function("copy")
    if name == "structure":
        copy = mod.get_function("copy_named")
    before = live_counts()
    pycuda.memory.record(recording)
    source = filled()
    with stream.capture() as graph:
        copy(out, NAMES[name](source), **SHAPE)
    pycuda.memory.record()
    executable = graph.instantiate()
    source.free()
    del source, graph
    assert _driver._live_counts()["memory"] == before["memory"] + 1
    other = filled(1)
    executable.launch(stream)
    stream.synchronize()
    assert (out.get() == 7).all()
    del executable, other
    assert live_counts() == before


def test_the_last_graph_releases_memory(mod, stream):
    before = _driver._live_counts()["memory"]
    source, out = filled(), gpuarray.zeros(COUNT, np.int32)
    graphs = []
    for _ in range(3):
        with stream.capture() as graph:
            mod.get_function("copy")(out, source, **SHAPE)
            mod.get_function("copy")(out, source, **SHAPE)
        graphs.append(graph)
    del graph
    graphs.pop()
    source.free()
    graphs.pop()
    assert _driver._live_counts()["memory"] == before + 2
    graphs.pop()
    assert _driver._live_counts()["memory"] == before + 1
    del out
    assert _driver._live_counts()["memory"] == before


def test_memory_outlives_the_graphs_that_used_it(mod, stream):
    source, out = filled(), gpuarray.zeros(COUNT, np.int32)
    with stream.capture() as graph:
        mod.get_function("copy")(out, source, **SHAPE)
    del graph
    mod.get_function("copy")(out, source, **SHAPE)
    assert (out.get() == 7).all()
    source.free()
    with pytest.raises(drv.LogicError, match="released before"):
        source.free()


def test_a_graph_keeps_a_texture_by_its_handle(mod, stream):
    out, (image, pixels) = gpuarray.zeros(COUNT, np.float32), filled_image("array")
    texture = drv.TextureObject(image, normalized_coords=True)
    before = _driver._live_counts()["texture_object"]
    with stream.capture() as graph:
        mod.get_function("read")(out, np.uint64(texture.handle), **SHAPE)
    del texture
    assert _driver._live_counts()["texture_object"] == before
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert (out.get() == 3).all()
    del graph
    assert _driver._live_counts()["texture_object"] == before - 1
    del pixels


@pytest.mark.software(why="contexts of a GPU must be peers for that")
def test_a_graph_keeps_memory_of_another_context(mod, stream):
    other = drv.Device(0).make_context()
    source = filled()
    other.pop()
    before = _driver._live_counts()["memory"]
    out = gpuarray.zeros(COUNT, np.int32)
    with stream.capture() as graph:
        drv.memcpy_dtod_async(out.gpudata, source, 4 * COUNT, stream)
    executable = graph.instantiate()
    source.free()
    executable.launch(stream)
    stream.synchronize()
    assert (out.get() == 7).all()
    del executable, graph, out
    assert _driver._live_counts()["memory"] == before - 1
    other.detach()


@pytest.mark.software(why="the library is the software device")
def test_captures_of_another_library_are_seen(stream):
    """The default stream of a thread can be captured, too."""
    library, graph = ctypes.CDLL(emulator.library()), ctypes.c_void_p()
    per_thread = drv.Stream.from_handle(2)
    for other, handle in [(per_thread, 2), (stream, stream.handle)]:
        assert not other.is_capturing
        assert library.cuStreamBeginCapture_v2(ctypes.c_void_p(handle), 2) == 0
        assert other.is_capturing
        assert not drv.Stream.from_handle(0).is_capturing
        end = library.cuStreamEndCapture
        assert end(ctypes.c_void_p(handle), ctypes.byref(graph)) == 0
        assert library.cuGraphDestroy(graph) == 0
        assert not other.is_capturing


def test_a_graph_keeps_an_array_that_grows(mod, stream):
    rows, out = grown(), gpuarray.zeros(COUNT, np.int32)
    with stream.capture() as graph:
        mod.get_function("copy")(out, rows.array, **SHAPE)
    executable = graph.instantiate()
    rows.free()
    del rows, graph
    executable.launch(stream)
    stream.synchronize()
    assert (out.get() == 7).all()


def filled_image(kind):
    """Return an image of 8 x 4 threes, and the Array with its pixels."""
    if kind == "array":
        image = pixels = drv.Array(descriptor())
    else:
        image = drv.MipmappedArray(descriptor())
        pixels = image.get_level(0)
    pixels.set(np.full((4, 8), 3, np.float32))
    return image, pixels


@pytest.mark.parametrize("kind", ["array", "levels", "level"])
@pytest.mark.parametrize("how", ["captured", "node"])
@pytest.mark.parametrize("freed", [False, True])
def test_a_graph_keeps_the_image_of_a_texture(mod, stream, kind, how, freed):
    out = gpuarray.zeros(COUNT, np.float32)
    image, pixels = filled_image(kind)
    source = pixels if kind == "level" else image
    texture = drv.TextureObject(source, normalized_coords=True)
    if how == "captured":
        with stream.capture() as graph:
            mod.get_function("read")(out, texture, **SHAPE)
    else:
        graph = drv.Graph()
        graph.add_kernel(mod.get_function("read"), out, texture, **SHAPE)
    executable = graph.instantiate()
    if freed:
        image.free()
    del image, pixels, source, texture, graph
    gc.collect()
    executable.launch(stream)
    stream.synchronize()
    assert (out.get() == 3).all()


@pytest.mark.parametrize("kind", ["array", "level"])
@pytest.mark.parametrize("direction", ["from", "to", "set"])
def test_a_graph_keeps_an_image_that_it_copies(stream, kind, direction):
    """The image is freed before the graph runs. Its memory is not used again before."""
    image, pixels = filled_image(kind)
    data = gpuarray.to_gpu(np.full((4, 8), 5, np.float32))
    copy = drv.Memcpy2D()
    copy.width_in_bytes, copy.height = 32, 4
    if direction == "from":
        copy.set_src_array(pixels)
        copy.set_dst_device(data.gpudata)
        copy.dst_pitch = 32
    else:
        copy.set_src_device(data.gpudata)
        copy.src_pitch = 32
        copy.set_dst_array(pixels)
    with stream.capture() as graph:
        if direction == "set":
            pixels.set(data, stream)
        else:
            copy(stream)
    executable = graph.instantiate()
    image.free()
    others = [drv.Array(descriptor()) for _ in range(4)]
    for other in others:
        other.set(np.zeros((4, 8), np.float32))
    executable.launch(stream)
    stream.synchronize()
    assert (data.get() == (3 if direction == "from" else 5)).all()
    for other in others:
        assert not other.get().any()


def test_a_captured_callback_ends_with_its_graph(mod, stream):
    class Function:
        calls = 0

        def __call__(self, argument):
            Function.calls += 1

    function, argument = Function(), Function()
    dead = [weakref.ref(function), weakref.ref(argument)]
    with stream.capture() as graph:
        stream.add_callback(function, argument)
    function.graph = graph  # a cycle
    executable = graph.instantiate()
    function.executable = executable
    del function, argument
    for _ in range(2):
        executable.launch(stream)
    stream.synchronize()
    assert Function.calls == 2
    del graph, executable
    gc.collect()
    assert [reference() for reference in dead] == [None, None]


class Theirs:
    """An array of another library, whose work was in the legacy default stream."""

    def __init__(self, array):
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ptr, False),
            "version": 3,
            "stream": 1,
        }


class TheirStream:
    """A stream of another library; its object is smaller than ours."""

    __slots__ = ("stream",)

    def __init__(self, stream):
        self.stream = stream

    def __cuda_stream__(self):
        return 0, self.stream.handle


def test_memory_with_work_in_a_stream_that_is_not_captured(mod, stream):
    """The order of that work and of the graph is that of its launch."""
    array, out = gpuarray.zeros(COUNT, np.int32) + 4, gpuarray.zeros(COUNT, np.int32)
    with stream.capture() as graph:
        mod.get_function("copy")(out, Theirs(array), **SHAPE)
        out += to_gpuarray(Theirs(array))
    assert all(node.type == "kernel" for node in graph.nodes)
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert (out.get() == 8).all()


def test_streams_of_one_capture_are_ordered(mod, stream):
    array, out = gpuarray.zeros(COUNT, np.int32), gpuarray.zeros(COUNT, np.int32)
    theirs, second = Theirs(array), drv.Stream()
    theirs.__cuda_array_interface__["stream"] = second.handle
    with stream.capture() as graph:
        second.wait_for_event(drv.Event().record(stream))
        drv.memset_d32_async(array.gpudata, 6, COUNT, second)
        mod.get_function("copy")(out, theirs, **SHAPE)
    assert len(graph.edges) == 1
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert (out.get() == 6).all()


def test_a_launch_in_a_stream_of_another_library(mod, stream):
    array, out = gpuarray.zeros(COUNT, np.int32) + 4, gpuarray.zeros(COUNT, np.int32)
    with stream.capture() as graph:
        mod.get_function("copy")(out, array, **SHAPE)
    executable = graph.instantiate()
    executable.launch(TheirStream(stream))
    del executable, graph, array  # waits for the launch
    assert (out.get() == 4).all()


@pytest.mark.software(why="only the software device fails calls on request")
@pytest.mark.parametrize("kind", ["kernel", "copy", "set"])
def test_an_update_that_fails_changes_nothing(
    mod,
    stream,
    fail_calls,  # noqa: F811
    kind,
):
    """The graph keeps what its node uses after an earlier update."""
    out, first = gpuarray.zeros(COUNT, np.int32), gpuarray.zeros(COUNT, np.int32)
    graph = drv.Graph()
    add, more, call = {
        "kernel": (
            lambda *a: graph.add_kernel(mod.get_function("copy"), *a, **SHAPE),
            (),
            "cuGraphExecKernelNodeSetParams",
        ),
        "copy": (graph.add_copy, (4 * COUNT,), "cuGraphExecMemcpyNodeSetParams"),
        "set": (lambda a, b: graph.add_set(b, 1), (), "cuGraphExecMemsetNodeSetParams"),
    }[kind]

    def arguments(source):
        return (source, 2) if kind == "set" else (out, source, *more)

    node = add(out, first)
    executable = graph.instantiate()
    second = gpuarray.zeros(COUNT, np.int32) + 5
    executable.update_node(node, *arguments(second.gpudata))
    live = _driver._live_counts()["memory"]
    del second
    fail_calls(call, 1)
    with pytest.raises(drv.LogicError, match=call):
        executable.update_node(node, *arguments(first.gpudata))
    gc.collect()
    assert _driver._live_counts()["memory"] == live
    executable.launch(stream)
    stream.synchronize()
    if kind != "set":
        assert (out.get() == 5).all()
    executable.update_node(node, *arguments(first.gpudata))
    executable.launch(stream)
    stream.synchronize()
    del executable
    gc.collect()
    assert _driver._live_counts()["memory"] == live - 1


def test_memory_of_no_context_is_released_after_its_context():
    """Also if a graph kept it until then."""
    run_child("""
import gc
import numpy as np
import pycuda.driver as drv
from pycuda import _driver

drv.init()
keeper = drv.Device(0).make_context()
free = drv.mem_get_info()[0]
context = drv.Device(0).make_context()
step = drv.mem_granularity()
space, memory = drv.VirtualMemory(step), drv.PhysicalMemory(step)
space.map(memory)
pool = drv.MemoryPool()
other = drv.VirtualMemory(step)
other.map(drv.PhysicalMemory(step))
stream = drv.Stream()
with stream.capture() as graph:
    drv.memset_d8_async(int(other), 1, 8)
    pool2 = drv.MemoryPool()
    del pool2
other.free()
del other
context.pop()
context.detach()
del space, memory, pool, graph, stream
gc.collect()
assert not any(_driver._live_counts().values()), _driver._live_counts()
if _driver._is_emulated():  # other programs may use the memory of a GPU
    assert drv.mem_get_info()[0] == free
keeper.pop()
keeper.detach()
""")


def test_unmap_waits_for_the_memory_s_own_context():
    run_child(
        """
import numpy as np
import pycuda.driver as drv
from pycuda.compiler import SourceModule

drv.init()
first = drv.Device(0).make_context()
fill = SourceModule(
    "__global__ void fill(int *to) { to[threadIdx.x] = 7; }").get_function("fill")
space = drv.VirtualMemory(1024)
space.map(drv.PhysicalMemory(1024))
stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
fill(space, block=(256, 1, 1), stream=stream)
second = drv.Device(0).make_context()
space.unmap()
second.pop()
drv.Context.synchronize()
del space, stream
second.detach()
first.pop()
first.detach()
""",
        PYCUDA_EMULATOR_STREAMS="late",
    )


# -- the end of everything -------------------------------------------------------------

ENDINGS = {
    "at exit": "",
    "at exit, in a cycle": "things.append(things); del things",
    "after their context": """
context.pop()
context.detach()
things.clear()
gc.collect()
assert not any(_driver._live_counts().values()), _driver._live_counts()
""",
    "at exit, after their context": "context.pop(); context.detach()",
    "in another thread": """
thread = threading.Thread(target=things.clear)
thread.start()
thread.join()
gc.collect()
context.pop()
context.detach()
assert not any(_driver._live_counts().values()), _driver._live_counts()
""",
    "with weak references": """
dead = []
for thing in things:
    try:
        weakref.finalize(thing, dead.append, type(thing).__name__)
    except TypeError:
        dead.append("no weak reference")
count = len(things)
del thing
things.clear()
gc.collect()
assert len(dead) == count, dead
context.pop()
context.detach()
""",
    "in a forked child": """
warnings.simplefilter("ignore", DeprecationWarning)  # the driver has threads
child = os.fork()
if child == 0:
    things.clear()
    gc.collect()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
things.clear()
gc.collect()
context.pop()
context.detach()
assert not any(_driver._live_counts().values()), _driver._live_counts()
""",
}


@pytest.mark.parametrize("how", ENDINGS)
def test_objects_of_all_kinds_end(how):
    """In the order in which they were made, which is no order of their needs."""
    folder = Path(__file__).parents[1]
    run_child(f"""
import gc
import os
import sys
import threading
import warnings
import weakref

sys.path.insert(0, {str(folder)!r})
import pycuda.driver as drv
from pycuda import _driver
from driver.test_graph_lifetimes import MAKE

drv.init()
context = drv.Device(0).make_context()
stream, graph = drv.Stream(), drv.Graph()
things = [make() for make in MAKE.values()]
with stream.capture() as captured:
    drv.memset_d8_async(things[list(MAKE).index("VirtualMemory")], 1, 8)
    stream.add_callback(int)
    graph.retain(drv.UserObject(int))
executable = captured.instantiate()
executable.launch(stream)
stream.add_callback(int)
things += [stream, graph, captured, executable]
del stream, graph, captured, executable
{ENDINGS[how]}
""")


def test_memory_of_a_graph_in_a_cycle(stream):
    """The collector clears parts of a cycle in any order. None may hold the notes."""
    before = _driver._live_counts()
    for _ in range(3):
        graph = drv.Graph()  # first, so that its parts are older than the cycle
        memory = drv.mem_alloc(4 * COUNT)
        graph.add_set(memory, 1, COUNT, width=4)
        cycle = []
        function = lambda cycle=cycle: None  # noqa: E731
        graph.add_host(function)
        executable = graph.instantiate()
        executable.launch(stream)
        cycle += [function, executable]
        stream.synchronize()
        del graph, memory, cycle, function, executable
        gc.collect()
    assert _driver._live_counts() == before


@pytest.mark.parametrize("hold_limit", [0, 1 << 20])
def test_a_block_of_a_pool_that_is_dropped_in_a_forked_capture(hold_limit):
    """Freeing it would let the forked stream wait for work that is not captured."""
    flags = drv.stream_flags.NON_BLOCKING
    first, second, third = (drv.Stream(flags) for _ in range(3))
    x = gpuarray.zeros(4, np.uint32)
    pool = drv.MemoryPool()
    pool.hold_limit = hold_limit
    with first:
        block = pool.allocate(16)
    event = drv.Event()
    drv.memset_d32_async(block, 1, 4, first)
    event.record(first)
    second.wait_for_event(event)
    drv.memset_d32_async(block, 2, 4, second)
    with first.capture() as graph:
        event.record(first)
        third.wait_for_event(event)
        drv.memset_d32_async(x.gpudata, 7, 4, third)
        del block
        drv.memset_d32_async(x.gpudata, 8, 1, third)
        event.record(third)
        first.wait_for_event(event)
    graph.instantiate().launch(first)
    first.synchronize()
    assert x.get().tolist() == [8, 7, 7, 7]
    assert pool.active_blocks == 0


@pytest.mark.parametrize("how", ["pool", "stream"])
def test_ordered_memory_that_is_dropped_beside_a_capture(how):
    """The end of the capture frees it, behind the work of streams outside: cuMemFree
    itself does not wait for the users of memory of cuMemAllocAsync."""
    run_child(
        f"""
        import numpy as np
        import pycuda.autoinit, pycuda.driver as drv
        from pycuda import gpuarray
        flags = drv.stream_flags.NON_BLOCKING
        captured, other = drv.Stream(flags), drv.Stream(flags)
        out = gpuarray.zeros(4, np.uint32)
        pool = drv.MemoryPool()
        pool.hold_limit = 0
        with other:
            in_pool = {how == "pool"}
            block = pool.allocate(16) if in_pool else drv.mem_alloc_async(16, other)
        drv.Context.synchronize()
        with captured.capture():
            drv.memset_d32_async(block, 2, 4, other)
            drv.memcpy_dtod_async(out.gpudata, block, 16, other)
            del block
        other.synchronize()
        assert out.get().tolist() == [2, 2, 2, 2]
        """,
        PYCUDA_EMULATOR_STREAMS="late",
    )


class Collecting(drv.Stream):
    """A stream whose block begins with garbage, which the next dict collects."""

    def __enter__(self):
        super().__enter__()
        gc.collect()
        gc.disable()
        flags = drv.stream_flags.NON_BLOCKING
        self.other = drv.Stream(flags)
        cycle = [drv.mem_alloc_async(64)]  # is freed in the default stream
        drv.memset_d8_async(cycle[0], 1, 64, self.other)
        cycle.append(cycle)
        self.dicts = [{} for _ in range(300)]  # no free dict is left over
        gc.set_threshold(1)
        gc.enable()
        return self


def test_garbage_that_is_collected_while_a_capture_begins():
    """Freeing it would wait for the captured stream, and so end the capture."""
    x = gpuarray.zeros(4, np.uint32)
    stream = Collecting()
    thresholds = gc.get_threshold()
    try:
        with stream.capture() as graph:
            gc.set_threshold(*thresholds)
            drv.memset_d32_async(x.gpudata, 7, 4, stream)
    finally:
        gc.set_threshold(*thresholds)
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert x.get().tolist() == [7] * 4


def test_a_fork_during_a_capture():
    """The child drops the capture, whose fences are events of the parent."""
    run_child("""
        import os
        import warnings
        import pycuda.autoinit, pycuda.driver as drv
        stream = drv.Stream()
        memory = drv.mem_alloc_async(64, stream)  # so streams are fenced
        drv.memset_d8_async(memory, 1, 64, stream)
        capture = stream.capture()
        graph = capture.__enter__()
        drv.memset_d8_async(memory, 2, 64, stream)
        warnings.simplefilter("ignore", DeprecationWarning)  # the driver has threads
        child = os.fork()
        if child == 0:
            del graph, capture
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        capture.__exit__(None, None, None)
        assert len(graph.nodes) == 1
    """)
