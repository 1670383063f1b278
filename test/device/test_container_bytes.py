"""Containers of PTX on the software device: what is refused, and with which words."""

import ctypes
from ctypes import byref, c_size_t, c_uint, c_void_p

import pytest

from support import cc, containers
from support.child import run_child
from support.containers import (
    compressed,
    entry,
    fatbin,
    library,
    lz4,
    object_file,
    zstd,
)
from support.emulator import EMPTY_KERNEL, R, size

pytest_plugins = ["support.emulator_fixtures"]

TEXT = EMPTY_KERNEL.rstrip(b"\0")
#: A kernel that calls a function of another text, and texts with functions.
HEAD = b".version 6.0\n.target sm_50\n.address_size 64\n"
CALLER = HEAD + b".extern .func one();\n.visible .entry k() { call one, (); ret; }\n"
ONE = HEAD + b".extern .func two();\n.visible .func one() { call two, (); ret; }\n"
TWO = HEAD + b".visible .func two() { ret; }\n"
LOOSE = (
    HEAD + b".extern .func none();\n.visible .func loose() { call none, (); ret; }\n"
)
OBJECT, LIBRARY, NVVM = 3, 4, 5


def load(d, image, room=2000):
    """Load an image. Return the code and the error log; unload what was loaded."""
    error = ctypes.create_string_buffer(room)
    options = (c_uint * 2)(5, 6)
    values = (c_void_p * 2)(ctypes.addressof(error), room)
    module = c_void_p()
    code = d.ModuleLoadDataEx(byref(module), image, 2, options, values)
    if code == 0:
        d.ok("ModuleUnload", module)
    return code, error.value.decode()


def link(d, *inputs, room=2000):
    """Link pairs of type and data. Return the code and the log, or the module."""
    error = ctypes.create_string_buffer(room)
    options = (c_uint * 2)(5, 6)
    values = (c_void_p * 2)(ctypes.addressof(error), room)
    state, module = c_void_p(), c_void_p()
    image, n = c_void_p(), c_size_t()
    d.ok("LinkCreate", 2, options, values, byref(state))
    code = 0
    for number, (kind, data) in enumerate(inputs):
        name = b"input%d" % number
        code = code or d.LinkAddData(
            state, kind, data, size(len(data)), name, 0, None, None
        )
    code = code or d.LinkComplete(state, byref(image), byref(n))
    if code == 0:
        d.ok("ModuleLoadData", byref(module), ctypes.string_at(image, n.value))
        d.ok("ModuleUnload", module)
    d.ok("LinkDestroy", state)
    return code, error.value.decode()


@pytest.mark.parametrize("method", [zstd, lz4])
def test_compressed_texts(d, emu_ctx, method):
    assert load(d, fatbin(compressed(TEXT, method))) == (0, "")
    damaged = bytearray(fatbin(compressed(TEXT, method)))
    damaged[16 + 56] += 1  # the size before compression
    code, log = load(d, bytes(damaged))
    assert code == R.ERROR_INVALID_IMAGE
    assert "damaged" in log and {zstd: "zstd", lz4: "LZ4"}[method] in log
    code, log = load(d, fatbin(entry(method(TEXT), flags=0x8000, full=1 << 50)))
    assert code == R.ERROR_INVALID_IMAGE and "claims" in log


def test_unknown_compression(d, emu_ctx):
    code, log = load(d, fatbin(entry(b"?" * 50, flags=0x4000, full=500)))
    assert code == R.ERROR_NO_BINARY_FOR_GPU and "--no-compress" in log


def test_entries_without_ptx_are_named(d, emu_ctx):
    for image, word in [
        (fatbin(entry(b"code", kind=containers.CODE)), "machine code"),
        (fatbin(entry(b"code", kind=containers.LTO)), "LTO"),
        (
            fatbin(entry(b"1", kind=containers.CODE), entry(b"2", kind=containers.LTO)),
            "LTO",
        ),
        (fatbin(entry(TEXT, 100)), "newer device"),
        (fatbin(entry(TEXT, 70, flags=containers.ARCHITECTURE)), "architecture"),
        (fatbin(entry(TEXT, 60, flags=containers.FAMILY)), "architecture"),
        (fatbin(), "empty"),
        (b"\xed\x43\x4e\x7f" + bytes(60), "LTO"),
    ]:
        code, log = load(d, image)
        assert code == R.ERROR_NO_BINARY_FOR_GPU
        assert word in log


def test_architectures_and_families(d, emu_ctx):
    """The device has 7.5. The text for that architecture alone wins, if it has it."""
    broken = TEXT.replace(b"ret;", b"frobnicate;")
    arch, family = containers.ARCHITECTURE, containers.FAMILY
    for good, bad in [
        (entry(TEXT, 75, flags=arch), [entry(broken, 75)]),
        (entry(TEXT, 75, flags=arch), [entry(broken, 75, flags=family)]),
        (entry(TEXT, 75), [entry(broken, 72, flags=family)]),
        (entry(TEXT, 60), [entry(broken, 61, flags=family), entry(broken, 80)]),
        (
            entry(TEXT, 70, header=32),
            [entry(broken, 61), entry(broken, 72, flags=arch)],
        ),
    ]:
        for entries in ([good, *bad], [*bad, good]):
            assert load(d, fatbin(*entries)) == (0, "")


def test_files_that_are_cut_off(d, emu_ctx, tmp_path):
    """A file that ends too early is refused, wherever it ends."""
    path = tmp_path / "image"
    whole = fatbin(compressed(TEXT, zstd), entry(b"code", kind=containers.CODE))
    for length in (4, 10, 16, 17, 40, 70, 100, 200, len(whole) - 1):
        path.write_bytes(whole[:length])
        code = d.ModuleLoad(byref(c_void_p()), str(path).encode())
        assert code == R.ERROR_INVALID_IMAGE


def test_objects(d, emu_ctx):
    """A section holds several fat binaries, with padding between them."""
    both = fatbin(entry(ONE)) + bytes(16) + fatbin(compressed(TWO, zstd))
    for name in (".nv_fatbin", "__nv_relfatbin"):
        file = object_file([(".text", b"1234"), (name, both)])
        assert link(d, (1, CALLER), (OBJECT, file)) == (0, "")
    code, log = link(d, (OBJECT, object_file([(".text", b"1234")])))
    assert (
        code == R.ERROR_NO_BINARY_FOR_GPU and "input0: " in log and "no device" in log
    )
    code, log = link(d, (OBJECT, object_file([], machine=190)))
    assert code == R.ERROR_NO_BINARY_FOR_GPU and "input0" in log
    lto = fatbin(entry(b"x", kind=containers.LTO))
    code, log = link(d, (OBJECT, object_file([(".nv_fatbin", lto)])))
    assert code == R.ERROR_NO_BINARY_FOR_GPU and "input0: " in log and "LTO" in log
    code, log = link(d, (NVVM, b"BC"))
    assert code == R.ERROR_NO_BINARY_FOR_GPU and "input0" in log and "LTO" in log
    code, _ = link(d, (NVVM + 1, b"BC"))
    assert code == R.ERROR_INVALID_VALUE


def test_damaged_objects(d, emu_ctx):
    file = object_file([(".nv_fatbin", fatbin(entry(TWO)))])
    for length in range(0, len(file), 13):
        code, log = link(d, (1, CALLER), (1, ONE), (OBJECT, file[:length] or b"\0"))
        assert code in (R.ERROR_INVALID_IMAGE, R.ERROR_NO_BINARY_FOR_GPU)
        assert log


def part(text):
    return object_file([("__nv_relfatbin", fatbin(entry(text)))])


def test_libraries(d, emu_ctx):
    """What is not needed is not linked: `loose` calls a function that is nowhere."""
    parts = library(b"no object", part(LOOSE), part(TWO), part(ONE), b"odd")
    assert link(d, (1, CALLER), (LIBRARY, parts)) == (0, "")
    assert link(d, (LIBRARY, parts), (1, CALLER)) == (0, "")
    code, log = link(d, (1, CALLER), (LIBRARY, library(part(ONE))))
    assert code == R.ERROR_INVALID_PTX and "two is not defined" in log
    needs = CALLER.replace(b"one", b"loose")
    code, log = link(d, (1, needs), (LIBRARY, parts))
    assert code == R.ERROR_INVALID_PTX and "none is not defined" in log
    code = fatbin(entry(b"code", kind=containers.CODE))
    parts = library(object_file([(".nv_fatbin", code)]), part(TWO))
    assert link(d, (1, CALLER), (1, ONE), (LIBRARY, parts)) == (0, "")
    code, log = link(d, (1, CALLER), (LIBRARY, parts))
    assert code == R.ERROR_INVALID_PTX
    assert "one is not defined" in log and "input1: " in log and "machine code" in log
    variable = HEAD + b".visible .global .u32 v = 5;\n"
    user = HEAD + b".extern .global .u32 v;\n.visible .entry k() { .reg .u32 %r;\n"
    user += b"ld.global.u32 %r, [v]; ret; }\n"
    assert link(d, (1, user), (LIBRARY, library(part(variable)))) == (0, "")
    code, log = link(d, (1, user), (LIBRARY, library(part(TWO))))
    assert code == R.ERROR_INVALID_PTX and "v is not defined" in log
    for data, word in [
        (b"no library", "no library"),
        (library(b"x" * 30)[:-5], "cut off"),
        (library(b"x"), "no PTX"),
        (library(part(TWO)).replace(b"`\n", b"  "), "cut off"),
    ]:
        code, log = link(d, (LIBRARY, data))
        assert code in (R.ERROR_INVALID_IMAGE, R.ERROR_NO_BINARY_FOR_GPU)
        assert word in log and "input0" in log


def test_a_verbose_log_describes_the_kernels(d, emu_ctx):
    image = HEAD + b".visible .entry k() { .shared .b8 s[64]; .reg .b32 %r;\n"
    image += b"mov.u32 %r, s; st.shared.u32 [%r], 1; ret; }\n" + TEXT.split(b"64", 1)[1]
    for verbose, room in ((1, 1000), (0, 1000), (1, 50), (1, 1)):
        info = ctypes.create_string_buffer(b"?" * room, room)
        options = (c_uint * 3)(12, 3, 4)
        values = (c_void_p * 3)(verbose, ctypes.addressof(info), room)
        module = c_void_p()
        code = d.ModuleLoadDataEx(byref(module), image, 3, options, values)
        assert code == 0
        d.ok("ModuleUnload", module)
        log = info.value.decode()
        assert len(log) == (values[2] or 0) < room
        if verbose and room > 50:
            assert "'k'" in log and "'nothing'" in log and "64 bytes smem" in log
        elif not verbose:
            assert log == ""


PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
from support.containers import compressed, fatbin, lz4, zstd
import pycuda.driver as drv
drv.init()
context = drv.Device(0).make_context()
for method in (zstd, lz4):
    try:
        drv.module_from_buffer(fatbin(compressed(b".version 6.0" * 9, method)))
    except drv.Error as error:
        print(error)
context.pop()
"""


@pytest.mark.parametrize(
    ("content", "word"),
    [("no library", "cannot be opened"), (None, "has no function")],
)
def test_a_missing_library_is_named(tmp_path, content, word):
    """Files with the names of the libraries come first on the path of libraries."""
    if content is None and not cc.compilers():
        pytest.skip("neither gcc nor clang is installed")
    source = tmp_path / "empty.c"
    source.write_text("int nothing_here;\n")
    for name in ("libzstd.so.1", "liblz4.so.1"):
        if content is not None:
            (tmp_path / name).write_text(content)
        else:
            cc.must(
                cc.compile_c(cc.compilers()[0], [source], tmp_path / name, ["-shared"])
            )
    program = PROGRAM.format(folder=str(cc.ROOT / "test"))
    done = run_child(program, LD_LIBRARY_PATH=str(tmp_path), PYCUDA_DRIVER="emulator")
    first, second = done.stdout.splitlines()
    assert "libzstd.so.1" in first and word in first
    assert "liblz4.so.1" in second and word in second
