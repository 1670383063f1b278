"""Objects of other libraries: contexts, green contexts, modules, streams, events."""

import ctypes
import gc
import importlib.util
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, emulator, gpuarray
from pycuda.compiler import SourceModule
from support.child import run_child

pytestmark = pytest.mark.gpu

SOURCE = "__global__ void add(int *a, int n) { a[threadIdx.x] += n; }"


@pytest.fixture(scope="module")
def module_source():
    return SOURCE


class Foreign:
    def __init__(self, **attributes):
        vars(self).update(attributes)


# -- modules ---------------------------------------------------------------------------


def test_modules(ctx):
    own = SourceModule(SOURCE).module
    assert own.handle
    count = _driver._live_counts()["module"]
    for handle in (own.handle, Foreign(handle=own.handle), Foreign(ptr=own.handle)):
        module = drv.Module.from_handle(handle, own)
        assert module.handle == own.handle
        memory = gpuarray.zeros(4, np.int32)
        module.get_function("add")(memory, np.int32(3), block=(4, 1, 1))
        assert (memory.get() == 3).all()
        del module
    gc.collect()
    assert _driver._live_counts()["module"] == count
    for wrong in (Foreign(), Foreign(handle="x"), "x", None, 1.5):
        with pytest.raises(TypeError, match="handle must be"):
            drv.Module.from_handle(wrong)


def test_a_module_keeps_its_owner(ctx):
    own = SourceModule(SOURCE).module
    owner = Foreign(handle=own.handle, module=own)
    dead = weakref.ref(owner)
    add = drv.Module.from_handle(owner).get_function("add")
    del owner, own
    gc.collect()
    memory = gpuarray.zeros(4, np.int32)
    add(memory, np.int32(3), block=(4, 1, 1))
    assert (memory.get() == 3).all()
    del add
    gc.collect()
    assert dead() is None


def test_kernels(ctx):
    own = SourceModule(SOURCE).get_function("add")
    count = _driver._live_counts()["module"]
    memory = gpuarray.zeros(4, np.int32)
    for handle in (own.handle, Foreign(handle=own.handle), Foreign(ptr=own.handle)):
        function = drv.Function.from_handle(handle, own)
        assert function.handle == own.handle and "add" in function.name
        function(memory, np.int32(2), block=(4, 1, 1))
        function.prepare("Pi").prepared_call((1, 1), (4, 1, 1), memory.gpudata, 1)
        assert function.max_active_blocks(64) > 0
        del function
    assert (memory.get() == 9).all()
    gc.collect()
    assert _driver._live_counts()["module"] == count
    for wrong in (Foreign(), Foreign(handle="x"), "x", None, 1.5):
        with pytest.raises(TypeError, match="handle must be a CUfunction or CUkernel"):
            drv.Function.from_handle(wrong)
    with pytest.raises(OverflowError):
        drv.Function.from_handle(0)


def test_a_kernel_keeps_its_owner(ctx):
    own = SourceModule(SOURCE).get_function("add")
    owner = Foreign(handle=own.handle, function=own)
    dead = weakref.ref(owner)
    add = drv.Function.from_handle(owner)
    stream, memory = drv.Stream(), gpuarray.zeros(4, np.int32)
    with stream.capture() as graph:
        add(memory, np.int32(3), block=(4, 1, 1))
    executable = graph.instantiate()
    del owner, own, add, graph
    gc.collect()
    executable.launch(stream)
    stream.synchronize()
    assert (memory.get() == 3).all()
    del executable
    gc.collect()
    assert dead() is None


# -- memory ----------------------------------------------------------------------------


class OnlyDLPack:
    """An array that has DLPack and no other protocol, as a Buffer of cuda.core."""

    def __init__(self, array, device=(2, 0)):
        self.array, self.device, self.streams = array, device, []

    def __dlpack__(self, *, stream=None, max_version=None, **more):
        self.streams.append(stream)
        return self.array.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.device


def test_a_kernel_takes_an_array_that_has_dlpack_only(ctx):
    add = SourceModule(SOURCE).get_function("add")
    array = gpuarray.zeros(4, np.int32)
    theirs, stream = OnlyDLPack(array), drv.Stream()
    add(theirs, np.int32(1), block=(4, 1, 1))
    add(theirs, np.int32(1), block=(4, 1, 1), stream=stream)
    assert theirs.streams == [1, stream.handle]
    with stream.capture() as graph:
        add(theirs, np.int32(1), block=(4, 1, 1))
    executable = graph.instantiate()
    dead = weakref.ref(theirs)
    del theirs, graph
    gc.collect()
    executable.launch(stream)
    stream.synchronize()
    assert (array.get() == 3).all()
    del executable
    gc.collect()
    assert dead() is None


def test_a_kernel_takes_no_dlpack_of_the_host(ctx):
    add = SourceModule(SOURCE).get_function("add")
    theirs = OnlyDLPack(np.zeros(4, np.int32), device=(1, 0))
    with pytest.raises(TypeError, match="argument 0 of add is an OnlyDLPack"):
        add(theirs, np.int32(1), block=(4, 1, 1))
    theirs.device = (2,)
    with pytest.raises(TypeError, match="must give \\(type, number\\)"):
        add(theirs, np.int32(1), block=(4, 1, 1))
    theirs.device, theirs.array = (2, 0), Foreign(__dlpack__=lambda stream: "x")
    with pytest.raises(BufferError, match="not a DLPack capsule"):
        add(theirs, np.int32(1), block=(4, 1, 1))


# -- libraries of code -----------------------------------------------------------------


class CUlibrary(int):
    """A handle whose type says what it is, as those of cuda.bindings do."""


class CUkernel(int):
    """See CUlibrary."""


@pytest.mark.software(why="NVIDIA's driver does not check handles")
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: Foreign(handle=x)])
def test_the_type_of_a_handle_says_what_it_is(ctx, wrap):
    """The driver would end the process if it got the one for the other."""
    with pytest.raises(drv.LogicError, match="cuLibraryGetModule"):
        drv.Module.from_handle(wrap(CUlibrary(4096)))
    with pytest.raises(drv.LogicError, match="cuKernelGetFunction"):
        drv.Function.from_handle(wrap(CUkernel(4096)))


def cuda():
    """The driver that pycuda uses, by ctypes."""
    if _driver._is_emulated():
        return ctypes.CDLL(emulator.library())
    return ctypes.CDLL("libcuda.so.1")


def test_libraries(ctx):
    from pycuda.compiler import compile as compile_source

    code = compile_source(SOURCE)
    library = ctypes.c_void_p()
    status = cuda().cuLibraryLoadData(
        ctypes.byref(library), code, None, None, 0, None, None, 0
    )
    assert status == 0
    owner = Foreign(handle=library)
    add = drv.Module.from_handle(owner, library=True).get_function("add")
    memory = gpuarray.zeros(4, np.int32)
    add(memory, np.int32(3), block=(4, 1, 1), cooperative=True)
    assert (memory.get() == 3).all()
    named = Foreign(handle=CUlibrary(library.value))
    add = drv.Module.from_handle(named).get_function("add")
    add(memory, np.int32(1), block=(4, 1, 1))
    kernel = ctypes.c_void_p()
    name = add.name.encode()
    assert cuda().cuLibraryGetKernel(ctypes.byref(kernel), library, name) == 0
    add = drv.Function.from_handle(CUkernel(kernel.value), owner)
    assert add.name.encode() == name
    add(memory, np.int32(1), block=(4, 1, 1))
    assert (memory.get() == 5).all()
    del add
    gc.collect()
    assert cuda().cuLibraryUnload(library) == 0


@pytest.mark.software(why="NVIDIA's driver does not check handles")
def test_a_handle_of_no_library(ctx):
    with pytest.raises(drv.LogicError, match="cuLibraryGetModule"):
        drv.Module.from_handle(1, library=True)


# -- contexts --------------------------------------------------------------------------


def test_contexts(ctx):
    assert drv.Context.from_handle(ctx.handle) is ctx
    assert drv.Context.from_handle(Foreign(handle=ctx.handle)) is ctx
    for wrong in ("x", None, Foreign()):
        with pytest.raises(TypeError, match="handle must be"):
            drv.Context.from_handle(wrong)
    with pytest.raises(OverflowError):
        drv.Context.from_handle(0)
    del vars(ctx)["owner"]


@pytest.mark.software(why="NVIDIA's driver does not check handles")
def test_a_handle_of_no_green_context(ctx):
    with pytest.raises(drv.LogicError, match="cuCtxFromGreenCtx"):
        drv.Context.from_handle(1, green=True)


def test_green_contexts():
    """A kernel, memory and a stream in a context with a part of the device."""
    run_child("""
import ctypes
from ctypes import byref, c_void_p

import numpy as np

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

drv.init()
primary = drv.Device(0).retain_primary_context()
primary.push()
from pycuda import _driver, emulator
cuda = ctypes.CDLL(emulator.library() if _driver._is_emulated() else "libcuda.so.1")
resource, part = ctypes.create_string_buffer(512), ctypes.create_string_buffer(512)
groups, description, green = ctypes.c_uint(1), c_void_p(), c_void_p()
assert cuda.cuDeviceGetDevResource(0, resource, 1) == 0
assert cuda.cuDevSmResourceSplitByCount(
    part, byref(groups), resource, None, 0, 8) == 0
assert cuda.cuDevResourceGenerateDesc(byref(description), part, 1) == 0
assert cuda.cuGreenCtxCreate(byref(green), description, 0, 1) == 0
context = drv.Context.from_handle(green.value, green=True)
context.push()
source = "__global__ void add(int *a, int n) { a[threadIdx.x] += n; }"
add = SourceModule(source).get_function("add")
array = gpuarray.zeros(32, np.int32)
raw = c_void_p()
assert cuda.cuGreenCtxStreamCreate(byref(raw), green, 1, 0) == 0
stream = drv.Stream.from_handle(raw.value)
add(array, np.int32(3), block=(32, 1, 1))
drv.Context.synchronize()
add(array, np.int32(4), block=(32, 1, 1), stream=stream)
stream.synchronize()
assert (array.get() == 7).all()
del array, add, stream
context.pop()
primary.pop()
primary.detach()
""")


# -- real libraries --------------------------------------------------------------------


def needs(library):
    return [
        pytest.mark.hardware(why="the other library works on NVIDIA's driver only"),
        pytest.mark.skipif(
            importlib.util.find_spec(library) is None,
            reason=f"{library} is not installed",
        ),
    ]


LIBRARIES = {
    "torch": """
import torch
theirs = torch.cuda.Stream()
event = torch.cuda.Event()
def work():
    with torch.cuda.stream(theirs):
        x = torch.full((1 << 20,), 3, dtype=torch.int32, device="cuda")
        event.record(theirs)
    return x
def use(ours, event):
    external = torch.cuda.ExternalStream(ours.handle)
    with torch.cuda.stream(external):
        return torch.ones(4, device="cuda").sum().item()
""",
    "cupy": """
import cupy
theirs = cupy.cuda.Stream(non_blocking=True)
event = cupy.cuda.Event()
def work():
    with theirs:
        x = cupy.full(1 << 20, 3, dtype=cupy.int32)
        event.record(theirs)
    return x
def use(ours, event):
    if hasattr(cupy.cuda.Stream, "from_external"):
        external = cupy.cuda.Stream.from_external(ours)  # by __cuda_stream__
    else:
        external = cupy.cuda.ExternalStream(ours.handle)
    with external:
        return cupy.ones(4).sum().item()
""",
}


@pytest.mark.parametrize(
    "library", [pytest.param(name, marks=needs(name)) for name in LIBRARIES]
)
def test_streams_and_events_of_a_library(library):
    run_child(
        LIBRARIES[library]
        + """
import numpy as np
import pycuda.autoprimaryctx
import pycuda.driver as drv
from pycuda.compiler import SourceModule

add = SourceModule("__global__ void add(int *a, int n) "
                   "{ a[blockIdx.x * blockDim.x + threadIdx.x] += n; }"
                   ).get_function("add")
x = work()
ours = drv.Stream(drv.stream_flags.NON_BLOCKING)
ours.wait_for_event(event)
add(x, np.int32(4), block=(256, 1, 1), grid=(4096, 1), stream=ours)
back = drv.Event().record(ours)
drv.Stream.from_handle(getattr(theirs, "cuda_stream", None) or theirs.ptr
                       ).wait_for_event(back)
back.synchronize()
values = x.get() if hasattr(x, "get") else x.cpu().numpy()
assert (values == 7).all()
wrapped = drv.Event.from_handle(event)
assert wrapped.query() and wrapped.synchronize() is wrapped
assert use(ours, back) == 4
seen = []
ours.add_callback(seen.append, 1)
ours.synchronize()
assert seen == [1]
"""
    )
