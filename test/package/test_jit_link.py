"""nvJitLink of the software device: links without a driver, from C and from Python."""

import ctypes
import os
import subprocess
from ctypes import byref, c_size_t, c_uint, c_void_p

import pytest

from pycuda import emulator
from support import cc
from support.emulator import LIBRARY, launch_parameters

pytest_plugins = ["support.emulator_fixtures"]

CALLER = b"""
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 out) add_five(.param .b32 x);
.visible .entry caller(.param .u64 to)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<3>;
    .param .b32 given;
    .param .b32 got;
    mov.u32 %r1, 37;
    st.param.b32 [given], %r1;
    call (got), add_five, (given);
    ld.param.b32 %r2, [got];
    ld.param.u64 %rd1, [to];
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
CALLED = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b32 out) add_five(.param .b32 x)
{
    .reg .b32 %r<2>;
    ld.param.b32 %r1, [x];
    add.s32 %r1, %r1, 5;
    st.param.b32 [out], %r1;
    ret;
}
"""
SUCCESS, UNKNOWN_OPTION, MISSING_ARCH, INVALID_INPUT, PTX_COMPILE = range(5)
UNKNOWN_INPUT, UNKNOWN_ARCH, LTO_NOT_ENABLED = 8, 16, 18
PTX, LTOIR, OBJECT, INDEX, ANY = 2, 3, 5, 7, 10


@pytest.fixture
def lib():
    return ctypes.CDLL(LIBRARY)


class Link:
    """A link of the library, with the statuses of its calls."""

    def __init__(self, lib, *options):
        self.lib, self.handle = lib, c_void_p()
        texts = (ctypes.c_char_p * len(options))(*options)
        self.status = lib.nvJitLinkCreate(byref(self.handle), len(options), texts)

    def add(self, data, type_=PTX, name=b"text"):
        size = c_size_t(len(data))
        return self.lib.nvJitLinkAddData(self.handle, type_, data, size, name)

    def complete(self):
        return self.lib.nvJitLinkComplete(self.handle)

    def get(self, what):
        """Return the status of a getter of a size, and the bytes."""
        size = c_size_t()
        code = getattr(self.lib, f"nvJitLinkGet{what}Size")(self.handle, byref(size))
        data = ctypes.create_string_buffer(max(size.value, 1))
        if code == SUCCESS:
            code = getattr(self.lib, f"nvJitLinkGet{what}")(self.handle, data)
        return code, data.raw[: size.value]

    def close(self):
        assert self.lib.nvJitLinkDestroy(byref(self.handle)) == SUCCESS
        assert self.handle.value is None


@pytest.fixture
def link(lib):
    link = Link(lib, b"-arch=sm_90")
    assert link.status == SUCCESS
    yield link
    link.close()


def run_caller(d, image):
    out, module = d.alloc(4), d.module(image)
    values = launch_parameters(out)
    d.ok(
        "LaunchKernel", d.function(module, b"caller"), *(1,) * 6, 0, None, values, None
    )
    found = int.from_bytes(d.read(out, 4), "little")
    d.ok("MemFree", out)
    d.ok("ModuleUnload", module)
    return found


def test_a_module_is_loaded_from_the_result(link, d, emu_ctx):
    assert link.add(CALLER) == link.add(CALLED, ANY, None) == SUCCESS
    assert link.complete() == SUCCESS
    code, image = link.get("LinkedCubin")
    assert code == SUCCESS and run_caller(d, image) == 42
    assert link.get("ErrorLog") == (SUCCESS, b"")
    # A finished link takes nothing more.
    assert link.add(CALLED) == link.complete() == INVALID_INPUT


def test_files_are_inputs(link, d, emu_ctx, tmp_path):
    (tmp_path / "one.ptx").write_bytes(CALLER)
    (tmp_path / "two.ptx").write_bytes(CALLED)
    for name in ("one", "two"):
        path = os.fsencode(tmp_path / f"{name}.ptx")
        assert link.lib.nvJitLinkAddFile(link.handle, PTX, path) == SUCCESS
    path = os.fsencode(tmp_path / "none.ptx")
    assert link.lib.nvJitLinkAddFile(link.handle, PTX, path) == INVALID_INPUT
    assert link.complete() == SUCCESS
    assert run_caller(d, link.get("LinkedCubin")[1]) == 42


def test_a_missing_function_is_named(link):
    assert link.add(CALLER) == SUCCESS
    assert link.complete() == PTX_COMPILE
    code, log = link.get("ErrorLog")
    assert code == SUCCESS and b"add_five is not defined" in log and log[-1] == 0
    assert link.get("LinkedCubin")[0] == INVALID_INPUT


@pytest.mark.parametrize(
    "data, type_, status, words",
    [
        (b"BC\xc0\xde", LTOIR, UNKNOWN_INPUT, b"text is LTO code"),
        (b"\x7fELF" + bytes(60), 1, UNKNOWN_INPUT, b"machine code"),
        (b"no object file", OBJECT, UNKNOWN_INPUT, b""),
        (CALLED, INDEX, INVALID_INPUT, b""),
        (b"", PTX, INVALID_INPUT, b""),
    ],
)
def test_what_cannot_be_linked(link, data, type_, status, words):
    assert link.add(data, type_) == status
    assert words in link.get("ErrorLog")[1]
    assert link.complete() == INVALID_INPUT  # nothing to link


def test_ptx_and_lto_code_are_no_results(link):
    assert link.add(CALLED) == link.complete() == SUCCESS
    assert link.get("LinkedPtx")[0] == LTO_NOT_ENABLED
    assert link.get("LinkedLTOIR")[0] == LTO_NOT_ENABLED


@pytest.mark.parametrize(
    "options, status",
    [
        ((b"-arch=sm_90a", b"-O3", b"-lto", b"-Xptxas=-v", b"-lineinfo"), SUCCESS),
        ((b"-O3",), MISSING_ARCH),
        ((), MISSING_ARCH),
        ((b"-arch=gpu",), UNKNOWN_ARCH),
        ((b"-arch=sm_90", b"-gg"), UNKNOWN_OPTION),
        ((b"-arch=sm_90", b"--none"), UNKNOWN_OPTION),
    ],
)
def test_options(lib, options, status):
    link = Link(lib, *options)
    assert link.status == status
    assert bool(link.handle) == (status == SUCCESS)
    if link.handle:
        link.close()


def test_options_of_kernels(lib):
    """The limit of registers reaches the kernels, and -verbose describes them."""
    link = Link(lib, b"-arch=sm_90", b"-maxrregcount=24", b"-verbose")
    assert link.add(CALLER) == link.add(CALLED) == link.complete() == SUCCESS
    assert b"Function properties for 'caller'" in link.get("InfoLog")[1]
    link.close()


def test_the_version_is_one_without_lto(lib):
    """Numba compiles to LTO code with 12.3 and later."""
    major, minor = c_uint(), c_uint()
    assert lib.nvJitLinkVersion(byref(major), byref(minor)) == SUCCESS
    assert (12, 0) <= (major.value, minor.value) < (12, 3)


# -- a program that was linked to NVIDIA's library -------------------------------------

#: What the header of CUDA 13.0 calls, and how NVIDIA's library exports it.
NVIDIA = """
int nvJitLinkVersion(void) { return 99; }
int __nvJitLinkCreate_13_0(void) { return 99; }
int __nvJitLinkAddData_12_4(void) { return 99; }
"""
PROGRAM = """
#include <stdio.h>
#include <string.h>
int nvJitLinkVersion(unsigned *, unsigned *);
int __nvJitLinkCreate_13_0(void **, unsigned, const char **);
int __nvJitLinkAddData_12_4(void *, int, const void *, unsigned long, const char *);
int main(void)
{
    const char *options[] = {"-arch=sm_90"}, *text = ".version 7.0\\n.target sm_70\\n";
    void *handle = NULL;
    unsigned major = 0, minor = 0;
    int version = nvJitLinkVersion(&major, &minor);
    int create = __nvJitLinkCreate_13_0(&handle, 1, options);
    int add = __nvJitLinkAddData_12_4(handle, 2, text, strlen(text), "text");
    printf("%d %d %d\\n", version, create, add);
    return 0;
}
"""


@pytest.mark.skipif(not cc.compilers(), reason="no C compiler")
def test_a_program_that_is_linked_to_the_library(tmp_path):
    """It finds the names with their versions. Elsewhere it calls NVIDIA's library."""
    compiler, library = cc.compilers()[0], tmp_path / "libnvJitLink.so.13"
    (tmp_path / "map").write_text("libnvJitLink.so.13 { global: *; };")
    (tmp_path / "nvidia.c").write_text(NVIDIA)
    (tmp_path / "program.c").write_text(PROGRAM)
    flags = [
        "-shared",
        "-fPIC",
        "-Wl,--version-script=map",
        f"-Wl,-soname={library.name}",
    ]
    cc.must(cc.compile_c(compiler, ["nvidia.c"], library, flags))
    program = tmp_path / "program"
    cc.must(cc.compile_c(compiler, ["program.c", library.name], program))
    ours = emulator.environment()["LD_LIBRARY_PATH"].split(":")[0]
    for folder, said in ((ours, "0 0 0"), (tmp_path, "99 99 99")):
        done = subprocess.run(
            [program],
            env={**os.environ, "LD_LIBRARY_PATH": str(folder)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == said and "undefined symbol" not in done.stderr
