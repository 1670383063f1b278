"""The software device: libraries, and their kernels in several contexts."""

import ctypes
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

import pytest

from support.emulator import R, child, launch_parameters, size

pytest_plugins = ["support.emulator_fixtures"]

SOURCE = b"""
.version 7.0
.target sm_50
.address_size 64
.global .u32 counter;
.shared .align 4 .b8 room[64];
.visible .entry fill(.param .u64 where, .param .u32 value) {
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [where];
    ld.param.u32 %r1, [value];
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry other() { ret; }
"""


def load(d, code=SOURCE):
    library = c_void_p()
    d.ok("LibraryLoadData", byref(library), code, None, None, 0, None, None, 0)
    return library


def kernel_of(d, library, name=b"fill"):
    return c_void_p(d.out(c_void_p, "LibraryGetKernel", library, name))


@pytest.fixture
def library(d, emu_ctx):
    library = load(d)
    yield library
    d.ok("LibraryUnload", library)


def run_fill(d, function, value):
    memory = d.alloc(4)
    values = launch_parameters(memory, c_uint(value))
    d.ok("LaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, values, None)
    found = int.from_bytes(d.read(memory, 4), "little")
    d.ok("MemFree", memory)
    return found


def test_names(d, library):
    assert d.out(c_uint, "LibraryGetKernelCount", library) == 2
    both = (c_void_p * 3)()
    d.ok("LibraryEnumerateKernels", both, 3, library)
    names = []
    for handle in both[:2]:
        name = ctypes.c_char_p()
        d.ok("KernelGetName", byref(name), c_void_p(handle))
        names.append(name.value)
    assert names == [b"fill", b"other"] and both[2] is None
    fill = kernel_of(d, library)
    assert fill.value == both[0]
    assert d.out(c_void_p, "KernelGetLibrary", fill) == library.value
    missing = d.LibraryGetKernel(byref(c_void_p()), library, b"none")
    assert missing == R.ERROR_NOT_FOUND
    offset, n = c_size_t(), c_size_t()
    d.ok("KernelGetParamInfo", fill, size(1), byref(offset), byref(n))
    assert (offset.value, n.value) == (8, 4)
    code = d.KernelGetParamInfo(fill, size(2), byref(offset), byref(n))
    assert code == R.ERROR_INVALID_VALUE


def test_a_kernel_runs_by_its_handle_and_as_a_function(d, library):
    fill = kernel_of(d, library)
    assert run_fill(d, fill, 5) == 5
    function = c_void_p(d.out(c_void_p, "KernelGetFunction", fill))
    assert run_fill(d, function, 6) == 6
    module = c_void_p(d.out(c_void_p, "LibraryGetModule", library))
    assert d.function(module, b"fill").value == function.value
    assert d.ModuleUnload(module) == R.ERROR_NOT_PERMITTED
    assert d.out(c_int, "FuncGetAttribute", 0, fill) == 1024


def test_each_context_has_its_own_variables(d, library):
    fill = kernel_of(d, library)
    first, bytes_ = c_uint64(), c_size_t()
    d.ok("LibraryGetGlobal", byref(first), byref(bytes_), library, b"counter")
    assert bytes_.value == 4
    second, other = c_uint64(), d.context()
    d.ok("LibraryGetGlobal", byref(second), None, library, b"counter")
    assert second.value != first.value
    assert run_fill(d, fill, 7) == 7
    d.ok("CtxDestroy", other)
    assert run_fill(d, fill, 8) == 8
    code = d.LibraryGetGlobal(byref(first), None, library, b"fill")
    assert code == R.ERROR_NOT_FOUND
    code = d.LibraryGetManaged(byref(first), byref(bytes_), library, b"counter")
    assert code == R.ERROR_NOT_FOUND


def test_attributes_hold_on_a_device(d, library):
    fill = kernel_of(d, library)
    function = c_void_p(d.out(c_void_p, "KernelGetFunction", fill))
    d.ok("KernelSetAttribute", 8, 1000, fill, 0)
    assert d.out(c_int, "KernelGetAttribute", 8, fill, 0) == 1000
    assert d.out(c_int, "FuncGetAttribute", 8, function) == 1000
    other = d.context()
    later = c_void_p(d.out(c_void_p, "KernelGetFunction", fill))
    assert later.value != function.value
    assert d.out(c_int, "FuncGetAttribute", 8, later) == 1000
    d.ok("CtxDestroy", other)
    assert d.KernelSetAttribute(8, 1 << 30, fill, 0) == R.ERROR_INVALID_VALUE
    assert d.KernelSetAttribute(8, 10, fill, 99) == R.ERROR_INVALID_DEVICE
    d.ok("KernelSetCacheConfig", fill, 1, 0)
    assert d.KernelSetCacheConfig(fill, 4, 0) == R.ERROR_INVALID_VALUE


def test_the_end_of_a_library(d, emu_ctx):
    library = load(d)
    fill = kernel_of(d, library)
    function = c_void_p(d.out(c_void_p, "KernelGetFunction", fill))
    d.ok("LibraryUnload", library)
    invalid = R.ERROR_INVALID_HANDLE
    assert d.LibraryUnload(library) == invalid
    assert d.KernelGetFunction(byref(c_void_p()), fill) == invalid
    assert d.LaunchKernel(fill, *[1] * 6, 0, None, None, None) == invalid
    assert d.LaunchKernel(function, *[1] * 6, 0, None, None, None) == invalid
    assert d.LibraryGetKernel(byref(c_void_p()), library, b"fill") == invalid


def test_a_library_outlives_its_contexts(d):
    """It can be loaded, asked and unloaded without a context."""
    library = load(d)
    fill = kernel_of(d, library)
    assert d.out(c_int, "KernelGetAttribute", 0, fill, 0) == 1024
    code = d.KernelGetFunction(byref(c_void_p()), fill)
    assert code == R.ERROR_INVALID_CONTEXT
    for value in (1, 2):
        context = d.context()
        assert run_fill(d, fill, value) == value
        d.ok("CtxDestroy", context)
    assert d.out(c_uint, "LibraryGetKernelCount", library) == 2
    d.ok("LibraryUnload", library)
    assert d.live() == {}


def test_images_that_are_refused(d, emu_ctx):
    log = ctypes.create_string_buffer(200)
    options = (c_uint * 2)(5, 6)
    values = (c_void_p * 2)(ctypes.addressof(log), 200)
    library = c_void_p()
    wrong = SOURCE.replace(b"st.global", b"st.nowhere")
    code = d.LibraryLoadData(byref(library), wrong, options, values, 2, None, None, 0)
    assert code == R.ERROR_INVALID_PTX
    assert b"nowhere" in log.value
    cubin = b"\x7fELF" + bytes(100)
    code = d.LibraryLoadData(byref(library), cubin, None, None, 0, None, None, 0)
    assert code == R.ERROR_NO_BINARY_FOR_GPU
    assert d.LibraryLoadData(byref(library), None, None, None, 0, None, None, 0) == (
        R.ERROR_INVALID_VALUE
    )
    unknown = (c_uint * 1)(7)
    code = d.LibraryLoadData(
        byref(library), SOURCE, None, None, 0, unknown, (c_void_p * 1)(), 1
    )
    assert code == R.ERROR_INVALID_VALUE


def test_a_library_from_a_file(d, emu_ctx, tmp_path):
    path, library = tmp_path / "kernels.ptx", c_void_p()
    path.write_bytes(SOURCE)
    name = str(path).encode()
    d.ok("LibraryLoadFromFile", byref(library), name, None, None, 0, None, None, 0)
    assert run_fill(d, kernel_of(d, library), 3) == 3
    d.ok("LibraryUnload", library)
    code = d.LibraryLoadFromFile(
        byref(library), name + b"x", None, None, 0, None, None, 0
    )
    assert code == R.ERROR_FILE_NOT_FOUND


def test_a_kernel_of_a_library_in_a_graph(d, library):
    fill, graph, runner = kernel_of(d, library), c_void_p(), c_void_p()
    stream, memory = c_void_p(d.out(c_void_p, "StreamCreate", 0)), d.alloc(4)
    d.ok("StreamBeginCapture", stream, 2)
    values = launch_parameters(memory, c_uint(9))
    d.ok("LaunchKernel", fill, 1, 1, 1, 1, 1, 1, 0, stream, values, None)
    d.ok("StreamEndCapture", stream, byref(graph))
    d.ok("GraphInstantiateWithFlags", byref(runner), graph, c_uint64(0))
    d.ok("GraphLaunch", runner, stream)
    d.ok("StreamSynchronize", stream)
    assert d.read(memory, 4)[0] == 9
    d.ok("GraphExecDestroy", runner)
    d.ok("GraphDestroy", graph)
    d.ok("StreamDestroy", stream)
    d.ok("MemFree", memory)


def test_a_load_that_fails_leaves_nothing(d):
    said = child(
        "d.Init(0); c = d.context(); lib = c_void_p()\n"
        "d.lib.emu_fault_set(b'cuLibraryLoadData', 1, 2)\n"
        "def load(code):\n"
        "    return d.LibraryLoadData(byref(lib), code, None, None, 0, None, None, 0)\n"
        "print(load(EMPTY_KERNEL), load(b'.version x'), load(EMPTY_KERNEL))\n"
        "d.ok('LibraryUnload', lib); d.ok('CtxDestroy', c); print(d.live())"
    )
    codes = f"{R.ERROR_OUT_OF_MEMORY} {R.ERROR_INVALID_PTX} 0"
    assert said.splitlines() == [codes, "{}"]
