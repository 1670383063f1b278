"""The software device: modules, launches, faults on request, processes and threads."""

import ctypes
import os
import subprocess
import threading
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

import pytest

from support.emulator import (
    EMPTY_KERNEL,
    FAULTY_KERNEL,
    LIBRARY,
    ROOT,
    DriverError,
    R,
    child,
    size,
)

pytest_plugins = ["support.emulator_fixtures"]

KIB = 1024
MIB = 1024 * 1024


# -- modules, launches -----------------------------------------------------------------


def launch(d, f, grid=(1, 1, 1), block=(1, 1, 1), shared=0, params=None, extra=None):
    return d.LaunchKernel(f, *grid, *block, shared, None, params, extra)


EXTERN_WITH_SIZE = b"""
.version 8.0
.target sm_75
.address_size 64
.extern .shared .align 4 .b8 sized[128];
.extern .shared .align 4 .b8 unsized[];
.visible .entry reversed(.param .u64 out)
{
    .reg .b32 %t, %a, %b;
    .reg .b64 %p, %q;
    ld.param.u64 %p, [out];
    mov.u32 %t, %tid.x;
    shl.b32 %a, %t, 2;
    sub.u32 %b, 124, %a;
    mov.u32 %t, sized;
    add.u32 %b, %b, %t;
    st.shared.u32 [%b], %a;
    bar.sync 0;
    add.u32 %b, %a, %t;
    ld.shared.u32 %t, [%b];
    cvt.u64.u32 %q, %a;
    add.u64 %p, %p, %q;
    st.global.u32 [%p], %t;
    ret;
}
.visible .entry dynamic()
{
    .reg .b32 %a;
    mov.u32 %a, unsized;
    st.shared.u32 [%a], %a;
    ret;
}
"""


def test_extern_shared_memory_with_a_size_is_static(d, emu_ctx):
    m = d.module(EXTERN_WITH_SIZE)
    f, dynamic = d.function(m, b"reversed"), d.function(m, b"dynamic")
    static = [d.out(c_int, "FuncGetAttribute", 1, each) for each in (f, dynamic)]
    assert static == [128, 0]
    out = d.alloc(128)
    arguments = (c_void_p * 1)(ctypes.addressof(out))
    d.ok("LaunchKernel", f, 1, 1, 1, 32, 1, 1, 0, None, arguments, None)
    result = (c_uint * 32)()
    d.ok("MemcpyDtoH", result, out, size(128))
    assert list(result) == [124 - 4 * i for i in range(32)]
    d.ok("MemFree", out)
    d.ok("ModuleUnload", m)


def test_module_and_function(d, emu_ctx):
    m = d.module(EMPTY_KERNEL)
    f = d.function(m, b"nothing")
    assert d.function(m, b"nothing").value == f.value
    assert d.ModuleGetFunction(byref(c_void_p()), m, b"none") == R.ERROR_NOT_FOUND
    assert d.ModuleGetGlobal(byref(c_uint64()), None, m, b"none") == R.ERROR_NOT_FOUND
    count = c_uint()
    d.ok("ModuleGetFunctionCount", byref(count), m)
    assert count.value == 2
    both = (c_void_p * 2)()
    d.ok("ModuleEnumerateFunctions", both, 2, m)
    names = set()
    for handle in both:
        name = ctypes.c_char_p()
        d.ok("FuncGetName", byref(name), c_void_p(handle))
        names.add(name.value)
    assert names == {b"nothing", b"two"}
    assert d.out(c_void_p, "FuncGetModule", f) == m.value
    two = d.function(m, b"two")
    offset, n = c_size_t(), c_size_t()
    d.ok("FuncGetParamInfo", two, size(1), byref(offset), byref(n))
    assert (offset.value, n.value) == (8, 8)
    assert d.FuncGetParamInfo(two, size(2), byref(offset), byref(n)) == (
        R.ERROR_INVALID_VALUE
    )
    attribute = {n: d.out(c_int, "FuncGetAttribute", n, f) for n in range(16)}
    assert attribute[0] == 1024 and attribute[1] == 0 and attribute[6] == 75
    assert attribute[8] == 48 * KIB
    assert d.FuncGetAttribute(byref(c_int()), 16, f) == R.ERROR_INVALID_VALUE
    d.ok("FuncSetAttribute", f, 8, 64 * KIB)
    assert d.FuncSetAttribute(f, 8, 64 * KIB + 1) == R.ERROR_INVALID_VALUE
    assert d.FuncSetAttribute(f, 0, 1) == R.ERROR_INVALID_VALUE
    d.ok("FuncSetCacheConfig", f, 1)
    d.ok("ModuleUnload", m)
    assert d.ModuleUnload(m) == R.ERROR_INVALID_HANDLE
    assert launch(d, f) == R.ERROR_INVALID_HANDLE
    assert d.FuncGetAttribute(byref(c_int()), 0, f) == R.ERROR_INVALID_HANDLE


def test_attributes_of_a_function(d, emu_ctx):
    m = d.module(EMPTY_KERNEL)
    f = d.function(m, b"nothing")
    carveout, portable, policy = 9, 14, 15
    for attribute, good, bad in (
        (carveout, (-1, 0, 100), (-2, 101)),
        (portable, (0, 1), (-1, 2)),
        (policy, (0, 2), (-1, 3)),
    ):
        for value in good:
            d.ok("FuncSetAttribute", f, attribute, value)
            assert d.out(c_int, "FuncGetAttribute", attribute, f) == value
        for value in bad:
            code = d.FuncSetAttribute(f, attribute, value)
            assert code == R.ERROR_INVALID_VALUE
        assert d.out(c_int, "FuncGetAttribute", attribute, f) == good[-1]
    assert d.out(c_int, "FuncIsLoaded", f) == 1
    d.ok("FuncLoad", f)
    assert d.FuncIsLoaded(None, f) == R.ERROR_INVALID_VALUE
    d.ok("ModuleUnload", m)
    assert d.FuncIsLoaded(byref(c_int()), f) == R.ERROR_INVALID_HANDLE
    assert d.FuncLoad(f) == R.ERROR_INVALID_HANDLE


def test_launch_checks(d, emu_ctx):
    m = d.module(EMPTY_KERNEL)
    f, two = d.function(m, b"nothing"), d.function(m, b"two")
    bad = R.ERROR_INVALID_VALUE
    assert launch(d, f) == 0
    assert launch(d, f, grid=(0, 1, 1)) == bad
    assert launch(d, f, block=(1, 0, 1)) == bad
    assert launch(d, f, block=(1025, 1, 1)) == bad
    assert launch(d, f, block=(32, 33, 1)) == bad
    assert launch(d, f, block=(1, 1, 65)) == bad
    assert launch(d, f, grid=(1, 65536, 1)) == bad
    assert launch(d, f, shared=48 * KIB) == 0
    assert launch(d, f, shared=48 * KIB + 1) == bad
    d.ok("FuncSetAttribute", f, 8, 60 * KIB)
    assert launch(d, f, shared=60 * KIB) == 0
    assert launch(d, two) == bad
    a, b = c_int(1), c_uint64(2)
    params = (c_void_p * 2)(ctypes.addressof(a), ctypes.addressof(b))
    assert launch(d, two, params=params) == 0
    buffer, n = ctypes.create_string_buffer(16), c_size_t(16)
    extra = (c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(n), 0)
    assert launch(d, two, extra=extra) == 0
    assert launch(d, two, params=params, extra=extra) == bad
    n.value = 15  # an H200 accepts a buffer that is too short, not too long
    assert launch(d, two, extra=extra) == 0
    n.value = 17
    assert launch(d, two, extra=extra) == R.ERROR_LAUNCH_OUT_OF_RESOURCES
    assert launch(d, f, extra=extra) == R.ERROR_LAUNCH_OUT_OF_RESOURCES
    assert (
        d.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, m, None, None) == R.ERROR_INVALID_HANDLE
    )
    other = d.context()
    assert launch(d, f) == R.ERROR_INVALID_HANDLE
    d.ok("CtxDestroy", other)
    d.ok("LaunchCooperativeKernel", f, 8, 1, 1, 32, 1, 1, 0, None, None)
    assert d.LaunchCooperativeKernel(f, 100_000, 1, 1, 32, 1, 1, 0, None, None) == (
        R.ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
    )
    config = (c_uint64 * 7)()
    ctypes.memmove(config, (c_uint * 7)(2, 1, 1, 64, 1, 1, 0), 28)
    d.ok("LaunchKernelEx", config, f, None, None)
    d.ok("ModuleUnload", m)


def test_occupancy(d, emu_ctx):
    m = d.module(EMPTY_KERNEL)
    f = d.function(m, b"nothing")

    def blocks(n, shared=0):
        out = c_int()
        d.ok(
            "OccupancyMaxActiveBlocksPerMultiprocessor", byref(out), f, n, size(shared)
        )
        return out.value

    assert blocks(32) == 16 and blocks(1024) == 1 and blocks(256) == 4
    assert blocks(32, 32 * KIB) == 2
    assert blocks(2000) == 0
    assert d.OccupancyMaxActiveBlocksPerMultiprocessor(
        byref(c_int()), f, 0, size(0)
    ) == (R.ERROR_INVALID_VALUE)
    grid, block = c_int(), c_int()
    d.ok(
        "OccupancyMaxPotentialBlockSize", byref(grid), byref(block), f, None, size(0), 0
    )
    assert (grid.value, block.value) == (8, 1024)
    tried = []

    @ctypes.CFUNCTYPE(c_size_t, c_int)
    def shared(n):
        tried.append(n)
        return 64 * n

    d.ok(
        "OccupancyMaxPotentialBlockSize",
        byref(grid),
        byref(block),
        f,
        shared,
        size(0),
        512,
    )
    assert max(tried) == 512 and block.value * grid.value // 8 == 1024
    d.ok("ModuleUnload", m)


def test_occupancy_with_flags_and_the_other_way_round(d, emu_ctx):
    m = d.module(EMPTY_KERNEL)
    f = d.function(m, b"nothing")
    name = "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags"
    blocks = c_int()
    for flags in (0, 1):
        d.ok(name, byref(blocks), f, 256, size(0), flags)
        assert blocks.value == 4
    wrong = getattr(d, name)(byref(blocks), f, 256, size(0), 2)
    assert wrong == R.ERROR_INVALID_VALUE

    def room(blocks, threads):
        """Return the shared memory of a block with which this number of blocks fits."""
        name = "OccupancyAvailableDynamicSMemPerBlock"
        return d.out(c_size_t, name, f, blocks, threads)

    def fit(shared):
        name = "OccupancyMaxActiveBlocksPerMultiprocessor"
        return d.out(c_int, name, f, 256, size(shared))

    for n in (1, 2, 3, 4):
        most = room(n, 256)
        assert fit(most) >= n
        assert n == 1 or fit(most + 1) < n
    assert room(5, 256) == 0
    name = "OccupancyAvailableDynamicSMemPerBlock"
    for n, threads in ((0, 256), (1, 0)):
        code = getattr(d, name)(byref(c_size_t()), f, n, threads)
        assert code == R.ERROR_INVALID_VALUE
    assert getattr(d, name)(byref(c_size_t()), m, 1, 32) == R.ERROR_INVALID_HANDLE
    d.ok("ModuleUnload", m)


def jit(d, image, room=2000):
    """Load with both logs. Return the code, the module and the error log."""
    info, error = ctypes.create_string_buffer(room), ctypes.create_string_buffer(room)
    options = (c_uint * 5)(3, 4, 5, 6, 2)
    values = (c_void_p * 5)(
        ctypes.addressof(info), room, ctypes.addressof(error), room, 0
    )
    module = c_void_p()
    code = d.ModuleLoadDataEx(byref(module), image, 5, options, values)
    assert len(error.value) == (values[3] or 0)
    return code, module, error.value.decode()


def fatbin(*entries):
    body = b""
    for kind, capability, compressed, payload in entries:
        payload += bytes(-len(payload) % 8)
        body += (
            bytes([kind, 0, 1, 1])
            + (64).to_bytes(4, "little")
            + len(payload).to_bytes(8, "little")
            + compressed.to_bytes(4, "little")
            + bytes(8)
            + capability.to_bytes(4, "little")
            + bytes(32)
            + payload
        )
    head = (0xBA55ED50).to_bytes(4, "little") + b"\1\0\x10\0"
    return head + len(body).to_bytes(8, "little") + body


def test_images(d, emu_ctx, tmp_path):
    code, m, log = jit(d, EMPTY_KERNEL)
    assert (code, log) == (0, "")
    d.ok("ModuleUnload", m)
    code, _, log = jit(d, b"\x7fELF" + bytes(100))
    assert code == R.ERROR_NO_BINARY_FOR_GPU and "-ptx" in log
    code, m, log = jit(d, fatbin((2, 75, 0, b"code"), (1, 75, 0, EMPTY_KERNEL)))
    assert code == 0
    assert d.function(m, b"nothing")
    d.ok("ModuleUnload", m)
    code, _, log = jit(d, fatbin((1, 75, 5, b"(\xb5/\xfd...")))
    assert code == R.ERROR_NO_BINARY_FOR_GPU and "--no-compress" in log
    code, _, log = jit(d, fatbin((1, 90, 0, EMPTY_KERNEL)))
    assert code == R.ERROR_NO_BINARY_FOR_GPU and "CAPABILITY" in log
    code, _, log = jit(d, fatbin((2, 75, 0, b"code")))
    assert code == R.ERROR_NO_BINARY_FOR_GPU and "machine code" in log
    good = fatbin((1, 75, 0, EMPTY_KERNEL))
    code, _, log = jit(
        d, good[:8] + (10**6).to_bytes(8, "little")[:8] + b"\1" * 8 + good
    )
    assert code == R.ERROR_INVALID_IMAGE
    path = tmp_path / "k.ptx"
    path.write_bytes(EMPTY_KERNEL)
    m = c_void_p(d.out(c_void_p, "ModuleLoad", str(path).encode()))
    d.ok("ModuleUnload", m)
    path.write_bytes(good[:-100])
    assert d.ModuleLoad(byref(m), str(path).encode()) == R.ERROR_INVALID_IMAGE
    assert d.ModuleLoad(byref(m), b"/no/such/file") == R.ERROR_FILE_NOT_FOUND
    m = c_void_p(d.out(c_void_p, "ModuleLoadFatBinary", good))
    d.ok("ModuleUnload", m)


def test_bad_text_fails_with_a_log(d, emu_ctx):
    code, _, log = jit(d, EMPTY_KERNEL.replace(b"ret;", b"frobnicate;"))
    assert code == R.ERROR_INVALID_PTX
    assert log
    assert d.ModuleLoadData(
        byref(c_void_p()), EMPTY_KERNEL.replace(b"ret;", b"frob;")
    ) == (R.ERROR_INVALID_PTX)


def test_a_newer_target_is_refused(d, emu_ctx):
    code, _, log = jit(d, EMPTY_KERNEL.replace(b"sm_50", b"sm_90"))
    assert code == R.ERROR_NO_BINARY_FOR_GPU
    assert "9.0" in log and "7.5" in log


def test_linking(d, emu_ctx, tmp_path):
    state = c_void_p()
    d.ok("LinkCreate", 0, None, None, byref(state))
    image, n = c_void_p(), c_size_t()
    assert d.LinkComplete(state, byref(image), byref(n)) == R.ERROR_INVALID_IMAGE
    d.ok(
        "LinkAddData",
        state,
        1,
        EMPTY_KERNEL,
        size(len(EMPTY_KERNEL)),
        b"a",
        0,
        None,
        None,
    )
    second = tmp_path / "b.ptx"
    second.write_bytes(
        EMPTY_KERNEL.replace(b"nothing", b"other").replace(b"two", b"three")
    )
    d.ok("LinkAddFile", state, 1, str(second).encode(), 0, None, None)
    d.ok("LinkAddFile", state, 4, b"/any/libcudadevrt.a", 0, None, None)
    assert d.LinkAddFile(state, 1, b"/no/file", 0, None, None) == R.ERROR_FILE_NOT_FOUND
    assert d.LinkAddData(state, 0, b"\x7fELF", size(4), None, 0, None, None) == (
        R.ERROR_NO_BINARY_FOR_GPU
    )
    d.ok("LinkComplete", state, byref(image), byref(n))
    bytes_ = ctypes.string_at(image, n.value)
    d.ok("LinkDestroy", state)
    assert d.LinkDestroy(state) == R.ERROR_INVALID_HANDLE
    m = d.module(bytes_)
    assert (
        launch(d, d.function(m, b"nothing")) == launch(d, d.function(m, b"other")) == 0
    )
    d.ok("ModuleUnload", m)
    path = tmp_path / "linked"
    path.write_bytes(bytes_)
    m = c_void_p(d.out(c_void_p, "ModuleLoad", str(path).encode()))
    d.ok("ModuleUnload", m)
    path.write_bytes(bytes_[:-3])
    assert d.ModuleLoad(byref(m), str(path).encode()) == R.ERROR_INVALID_IMAGE


def machine_code(d, state, options):
    return d.LinkAddData(state, 0, b"\x7fELF" + bytes(100), size(104), None, *options)


def wrong_type(d, state, options):
    return d.LinkAddData(
        state, 99, EMPTY_KERNEL, size(len(EMPTY_KERNEL)), b"", *options
    )


def missing_file(d, state, options):
    return d.LinkAddFile(state, 1, b"/no/file", *options)


def no_path(d, state, options):
    return d.LinkAddFile(state, 1, None, *options)


@pytest.mark.parametrize(
    "add, code, words",
    [
        (machine_code, "NO_BINARY_FOR_GPU", b"-ptx"),
        (wrong_type, "INVALID_VALUE", b""),
        (missing_file, "FILE_NOT_FOUND", b""),
        (no_path, "INVALID_VALUE", b""),
    ],
)
def test_logs_of_an_input_that_is_refused(d, emu_ctx, add, code, words):
    """The call stores the sizes and the time in the options of cuLinkCreate."""
    time, info, info_size, error, error_size = range(2, 7)
    logs = ctypes.create_string_buffer(b"x" * 500), ctypes.create_string_buffer(500)
    names = (c_int * 5)(time, info, info_size, error, error_size)
    values = (c_void_p * 5)(77, ctypes.addressof(logs[0]), 500)
    values[3:] = ctypes.addressof(logs[1]), 500
    state = c_void_p()
    d.ok("LinkCreate", 5, names, values, byref(state))
    none = (0, None, None)
    assert add(d, state, none) == getattr(R, f"ERROR_{code}")
    assert words in logs[1].value
    sizes = [values[i] or 0 for i in (0, 2, 4)]
    assert sizes == [0, 0, len(logs[1].value)]
    assert bool(sizes[2]) == bool(words)
    assert logs[0].value == b""
    d.ok("LinkDestroy", state)


def test_a_fault_sticks_to_its_context(emu_driver):
    d = emu_driver
    healthy = d.context()
    d.ok("CtxPopCurrent", None)
    sick = d.context()
    m = d.module(FAULTY_KERNEL)
    f = d.function(m, b"poke")
    p = d.alloc(4)

    def poke(address):
        where = c_uint64(address)
        return launch(d, f, params=(c_void_p * 1)(ctypes.addressof(where)))

    assert poke(p.value) == 0
    assert d.read(p, 4) == b"\7\0\0\0"
    d.ok("MemFree", p)
    assert poke(p.value) == 0  # the launch itself succeeds, as on a GPU
    fault = R.ERROR_ILLEGAL_ADDRESS
    assert d.CtxSynchronize() == fault
    assert d.MemAlloc(byref(c_uint64()), size(4)) == fault
    assert launch(d, f) == fault
    assert d.ModuleUnload(m) == fault
    assert "poke" in d.message()
    assert d.out(c_void_p, "CtxGetCurrent") == sick.value
    d.ok("CtxPushCurrent", healthy)
    d.ok("MemFree", d.alloc(4))
    d.ok("CtxPopCurrent", None)
    m2 = c_uint64()
    assert d.MemAlloc(byref(m2), size(4)) == fault
    abandoned = d.lib.emu_abandoned_count()
    d.ok("CtxDestroy", sick)
    # the module, which could not be unloaded
    assert d.lib.emu_abandoned_count() == abandoned + 1
    d.ok("CtxDestroy", healthy)


# -- faults, counts, log ---------------------------------------------------------------


def test_fault_on_the_nth_call(d, emu_ctx):
    lib = d.lib
    assert lib.emu_fault_set(b"cuMemAlloc", 3, R.ERROR_OUT_OF_MEMORY) == 0
    fired = lib.emu_fault_fired()
    pointers = [d.alloc(10), d.alloc(10)]
    assert d.MemAlloc(byref(c_uint64()), size(10)) == R.ERROR_OUT_OF_MEMORY
    assert lib.emu_fault_fired() == fired + 1
    pointers.append(d.alloc(10))  # once only
    assert lib.emu_fault_set(None, 2, R.ERROR_UNKNOWN) == 0
    d.ok("MemFree", pointers[0])
    assert d.MemFree(pointers[1]) == R.ERROR_UNKNOWN
    assert d.lib.emu_live_count(b"memory") == 2  # the failed call did nothing
    lib.emu_fault_set(b"MemFree", 1, 999)
    lib.emu_fault_clear()
    d.ok("MemFree", pointers[1])
    d.ok("MemFree", pointers[2])
    assert lib.emu_fault_set(b"cuNoSuch", 1, 1) == -1
    assert lib.emu_fault_set(b"cuMemFree", 0, 1) == -1
    assert lib.emu_fault_set(b"cuMemFree", 1, 0) == -1


def test_fault_from_the_environment():
    out = child(
        "print(d.Init(0))\n"
        "c = d.context()\n"
        "print(d.MemAlloc(byref(c_uint64()), c_size_t(4)),"
        " d.MemAlloc(byref(c_uint64()), c_size_t(4)),"
        " d.StreamCreate(byref(c_void_p()), 0))",
        PYCUDA_EMULATOR_FAULT="cuMemAlloc:2:CUDA_ERROR_OUT_OF_MEMORY,StreamCreate:1:999",
    )
    assert out.split() == ["0", "0", "2", "999"]


def test_fault_sweep_over_a_program(d):
    """After the failure of any call, all earlier objects can be released."""

    def program():
        made = []
        try:
            context = d.context()
            made.append(("CtxDestroy", context))
            made.append(("MemFree", d.alloc(100)))
            made.append(("StreamDestroy", c_void_p(d.out(c_void_p, "StreamCreate", 0))))
            made.append(("EventDestroy", c_void_p(d.out(c_void_p, "EventCreate", 0))))
            made.append(("ModuleUnload", d.module(EMPTY_KERNEL)))
            d.write(made[1][1], b"abc")
        except DriverError as error:
            return error.code
        finally:
            d.lib.emu_fault_clear()
            for name, handle in made[::-1]:
                d.ok(name, handle)
        return 0

    n, codes = 0, []
    while True:
        n += 1
        d.lib.emu_fault_set(None, n, R.ERROR_LAUNCH_TIMEOUT)
        codes.append(program())
        assert d.live() == {}
        if codes[-1] == 0:
            break
    assert codes == [R.ERROR_LAUNCH_TIMEOUT] * 6 + [0]


def test_call_log_and_counts(d, emu_ctx):
    d.lib.emu_call_log_clear()
    before = d.lib.emu_call_count(b"cuMemAlloc")
    total = d.lib.emu_call_count(None)
    p = d.alloc(10)
    d.ok("MemFree", p)
    assert d.MemFree(p) == 1
    assert d.log() == [("cuMemAlloc", 0), ("cuMemFree", 0), ("cuMemFree", 1)]
    assert d.lib.emu_call_count(b"cuMemAlloc") == before + 1
    assert d.lib.emu_call_count(None) == total + 3
    for _ in range(5000):
        d.CtxGetDevice(byref(c_int()))
    assert d.log() == [("cuCtxGetDevice", 0)] * 4096
    assert d.lib.emu_live_count(b"nonsense") == -1


def test_log_file(tmp_path):
    path = tmp_path / "calls"
    child("d.Init(0); d.CtxPopCurrent(None)", PYCUDA_EMULATOR_LOG=str(path))
    assert path.read_text() == "cuInit 0\ncuCtxPopCurrent 201\n"


def test_free_in_another_context_is_counted(emu_driver):
    d = emu_driver
    a = d.context()
    p = d.alloc(10)
    b = d.context()
    before = d.lib.emu_foreign_free_count()
    d.ok("MemFree", p)  # allowed, because there is one address space
    assert d.lib.emu_foreign_free_count() == before + 1
    d.ok("CtxDestroy", b)
    d.ok("CtxDestroy", a)


# -- two devices, two processes, many threads ------------------------------------------


def test_peers():
    out = child(
        "d.ok('Init', 0)\n"
        "print(d.out(c_int, 'DeviceCanAccessPeer', 0, 1), d.out(c_int,"
        " 'DeviceCanAccessPeer', 1, 1))\n"
        "a = d.context(0); p = d.alloc(100); d.write(p, b'peer' * 25)\n"
        "b = d.context(1); q = d.alloc(100)\n"
        "d.ok('MemcpyPeer', q, b, p, a, c_size_t(100)); print(d.read(q, 8))\n"
        "print(d.info()[0] == d.info()[1] - 512)\n"
        "print([d.CtxEnablePeerAccess(a, 0) for _ in range(2)],"
        " d.CtxEnablePeerAccess(b, 0), [d.CtxDisablePeerAccess(a) for _ in range(2)])\n"
        "d.ok('MemcpyDtoD', q, p, c_size_t(100))\n"
        "print(d.MemcpyPeer(q, None, p, a, c_size_t(1)))\n"
        "n = c_int(); d.ok('PointerGetAttribute', byref(n), 9, q); print(n.value)\n"
        "d.ok('CtxDestroy', b); d.ok('CtxDestroy', a); print(d.live())",
        PYCUDA_EMULATOR_DEVICES="2",
    )
    assert out.splitlines() == [
        "1 0",
        "b'peerpeer'",
        "True",
        "[0, 704] 201 [0, 705]",
        "201",
        "1",
        "{}",
    ]


@pytest.mark.parametrize("n", [100, 200_000])
def test_memory_between_processes(d, emu_ctx, n):
    first, p = d.alloc(n), d.alloc(n)
    d.write(first, b"neighbour")
    d.write(p, b"from the parent")
    handle = ctypes.create_string_buffer(64)

    class Handle(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_char * 64)]

    d.ok("IpcGetMemHandle", handle, p)
    assert d.read(first, 9) == b"neighbour" and d.read(p, 15) == b"from the parent"
    same = Handle.from_buffer_copy(handle.raw)
    assert d.IpcOpenMemHandle(byref(c_uint64()), same, 1) == R.ERROR_INVALID_CONTEXT
    out = child(
        "class Handle(ctypes.Structure):\n"
        "    _fields_ = [('bytes', ctypes.c_char * 64)]\n"
        f"h = Handle.from_buffer_copy(bytes.fromhex('{handle.raw.hex()}'))\n"
        "d.ok('Init', 0); d.context(); q = c_uint64()\n"
        "d.ok('IpcOpenMemHandle', byref(q), h, 1); r = c_uint64()\n"
        "d.ok('IpcOpenMemHandle', byref(r), h, 1); print(q.value == r.value)\n"
        "print(d.read(q, 15)); d.write(q, b'from the child.')\n"
        f"print(d.MemcpyHtoD(q, bytes({n + 1}), c_size_t({n + 1})), d.MemFree(q))\n"
        "print(d.IpcCloseMemHandle(q), d.live()['ipc'], d.IpcCloseMemHandle(q),"
        " d.IpcCloseMemHandle(q), 'ipc' in d.live())"
    )
    assert out.splitlines() == ["True", "b'from the parent'", "1 1", "0 1 0 1 False"]
    assert d.read(p, 15) == b"from the child."
    d.ok("MemFree", p)
    assert d.read(first, 9) == b"neighbour"
    again = d.alloc(n)
    assert d.read(again, 15) == bytes(15)
    d.ok("MemFree", again)
    d.ok("MemFree", first)


def test_events_between_processes(d, emu_ctx):
    class Handle(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_char * 64)]

    plain = c_void_p(d.out(c_void_p, "EventCreate", 2))
    e = c_void_p(d.out(c_void_p, "EventCreate", 6))
    handle = Handle()
    assert d.IpcGetEventHandle(byref(handle), plain) == R.ERROR_INVALID_HANDLE
    d.ok("IpcGetEventHandle", byref(handle), e)
    out = child(
        "class Handle(ctypes.Structure):\n"
        "    _fields_ = [('bytes', ctypes.c_char * 64)]\n"
        f"h = Handle.from_buffer_copy(bytes.fromhex('{bytes(handle).hex()}'))\n"
        "d.ok('Init', 0); c = d.context(); e = c_void_p()\n"
        "d.ok('IpcOpenEventHandle', byref(e), h); d.ok('EventRecord', e, None)\n"
        "d.ok('EventDestroy', e); d.ok('CtxDestroy', c); print(d.live())"
    )
    assert out == "{}"
    d.ok("EventSynchronize", e)
    d.ok("EventDestroy", e)
    d.ok("EventDestroy", plain)


def test_threads_share_and_own(d):
    """Run eight threads, each with its own context and one that all share."""
    shared = d.context()
    d.ok("CtxPopCurrent", None)
    start = threading.Barrier(8)
    failures = []

    def work(seed):
        try:
            start.wait()
            for i in range(30):
                own = d.context()
                rounds(own, seed, i)
                d.ok("CtxPushCurrent", shared)
                rounds(shared, seed, i)
                d.ok("CtxPopCurrent", None)
                d.ok("CtxDestroy", own)
        except (DriverError, AssertionError) as error:
            failures.append(error)

    def rounds(context, seed, i):
        n = 1 + (seed * 7919 + i * 104729) % 100_000
        stream = c_void_p(d.out(c_void_p, "StreamCreate", i % 2))
        p, q = d.alloc(n), d.alloc(n)
        data = bytes([seed + 1]) * n
        d.ok("MemcpyHtoDAsync", p, data, size(n), stream)
        d.ok("MemcpyDtoDAsync", q, p, size(n), stream)
        d.ok("StreamSynchronize", stream)
        assert d.read(q, n) == data
        d.ok("MemFree", p)
        d.ok("MemFree", q)
        d.ok("StreamDestroy", stream)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    d.ok("CtxDestroy", shared)


def test_threads_in_c(tmp_path):
    """Use the flags of the library if tools/sanitize.py built it."""
    program = tmp_path / "threads"
    subprocess.run(
        [
            os.environ.get("CC", "cc"),
            "-std=c11",
            "-D_GNU_SOURCE",
            "-O1",
            *os.environ.get("PYCUDA_EMULATOR_CFLAGS", "").split(),
            "-pthread",
            f"-I{ROOT / 'src' / 'cpp_free_c'}",
            str(ROOT / "test" / "c" / "emulator_threads.c"),
            "-o",
            str(program),
            "-ldl",
        ],
        check=True,
        timeout=120,
    )
    done = subprocess.run(
        [program, LIBRARY, "20"], check=False, capture_output=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, b"")
