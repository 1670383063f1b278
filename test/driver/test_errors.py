"""The exception classes, and one sentence for each way a driver can be missing."""

import builtins
import os
import re
import shutil
from pathlib import Path

import pytest

import pycuda.driver as drv
from support import cc
from support.child import run_child
from support.emulator import LIBRARY
from support.faults import fail_calls  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "src" / "cpp_free_c" / "abi" / "results.h"
INIT = """
import pycuda.driver as drv
try:
    drv.init()
except drv.Error as error:
    print(type(error).__name__, error.code, error.name, error.routine, sep="|")
    print(error)
else:
    print("no error")
"""


def init_with(tmp_path, source=None, **env):
    """Return the error of init() with a libcuda.so.1 from C source, or without one."""
    library = tmp_path / "libcuda.so.1"
    if source is None:
        library.write_text("not a library")
    else:
        cc.build_driver(tmp_path, source)
    return said_by_init(LD_LIBRARY_PATH=str(tmp_path), PYCUDA_DRIVER="cuda", **env)


def said_by_init(**env):
    done = run_child(INIT, **env)
    head, _, text = done.stdout.strip().partition("\n")
    assert "\n" not in text, "one sentence"
    return head.split("|"), text


def test_the_tree():
    for name in ("LogicError", "LaunchError", "MemoryError", "RuntimeError"):
        assert issubclass(getattr(drv, name), drv.Error)
        assert getattr(drv, name).__module__ == "pycuda._driver"
    assert issubclass(drv.Error, Exception)
    assert issubclass(drv.MemoryError, builtins.MemoryError)
    assert issubclass(drv.RuntimeError, builtins.RuntimeError)
    assert not issubclass(drv.LogicError, builtins.RuntimeError)
    assert drv.Error.code is None and drv.Error("x").routine is None


def test_every_result_has_the_class_programs_expect():
    """The table of classes must follow these rules."""
    rows = re.findall(
        r"X\(CUDA_(?:ERROR_)?(\w+), (\d+), (\w+), \"(.+?)\"\)", RESULTS.read_text()
    )
    assert len(rows) > 90
    expected = {
        "MemoryError": {"OUT_OF_MEMORY"},
        "LaunchError": {
            "LAUNCH_FAILED",
            "LAUNCH_OUT_OF_RESOURCES",
            "LAUNCH_TIMEOUT",
            "LAUNCH_INCOMPATIBLE_TEXTURING",
        },
        "RuntimeError": {
            "NO_DEVICE",
            "NO_BINARY_FOR_GPU",
            "FILE_NOT_FOUND",
            "NOT_READY",
            "ECC_UNCORRECTABLE",
        },
        "Error": {"UNKNOWN"},
    }
    by_class = {}
    for name, _, kind, _ in rows:
        by_class.setdefault(kind, set()).add(name)
    for kind, names in expected.items():
        assert by_class.pop(kind) == names
    assert set(by_class) == {"LogicError"}


@pytest.mark.gpu
def test_an_error_names_call_and_code(ctx):
    with pytest.raises(drv.LogicError) as caught:
        drv.memcpy_dtod(0, 0, 1 << 20)
    error = caught.value
    assert str(error).startswith("cuMemcpyDtoD failed: ")
    assert error.args == (str(error),)
    assert (error.code, error.name) == (1, "CUDA_ERROR_INVALID_VALUE")
    assert error.routine == "cuMemcpyDtoD"


@pytest.mark.gpu
def test_out_of_memory_says_the_sizes(ctx):
    free, total = drv.mem_get_info()
    with pytest.raises(builtins.MemoryError) as caught:
        drv.mem_alloc(total * 2)
    assert isinstance(caught.value, drv.MemoryError)
    assert str(total * 2) in str(caught.value) and str(total) in str(caught.value)


@pytest.mark.gpu
def test_a_code_that_nobody_knows(ctx, fail_calls):  # noqa: F811
    fail_calls("cuMemAlloc", 1, code=4321)
    with pytest.raises(drv.LogicError) as caught:
        drv.mem_alloc(16)
    assert (caught.value.code, caught.value.name) == (4321, "CUDA_ERROR_<unknown>")
    assert str(caught.value).startswith("cuMemAlloc failed: unrecognized error code")


#: A driver that fails with its own code, and describes it.
TOMORROW = """
#include <string.h>
static int fail(void) { return 4321; }
static int name(int code, const char **words)
{ *words = code == 4321 ? "CUDA_ERROR_OF_TOMORROW" : 0; return *words ? 0 : 1; }
static int text(int code, const char **words)
{ *words = code == 4321 ? "not thought of yet" : 0; return *words ? 0 : 1; }
int cuGetProcAddress(const char *n, void **f, int v, unsigned long long g)
{
    (void)v; (void)g;
    *f = strcmp(n, "cuGetErrorName") == 0 ? (void *)name
         : strcmp(n, "cuGetErrorString") == 0 ? (void *)text : (void *)fail;
    return 0;
}
"""


def test_a_code_that_only_the_driver_knows(tmp_path):
    head, text = init_with(tmp_path, TOMORROW)
    assert head == ["LogicError", "4321", "CUDA_ERROR_OF_TOMORROW", "cuInit"]
    assert text.startswith("cuInit failed: not thought of yet")


def test_no_driver_library(tmp_path):
    (kind, code, name, routine), text = init_with(tmp_path)
    assert (kind, code, name) == ("RuntimeError", "100", "CUDA_ERROR_NO_DEVICE")
    assert routine == "cuInit"
    assert "libcuda.so.1" in text and "install NVIDIA's driver" in text
    assert "PYCUDA_DRIVER=emulator" in text


def test_a_driver_that_is_too_old(tmp_path):
    head, text = init_with(tmp_path, "int cuInit(unsigned int f) { return (int)f; }")
    assert head[0] == "LogicError"
    assert "too old" in text and "CUDA 11.4 or newer" in text


def test_a_driver_that_lacks_a_symbol(tmp_path):
    source = (
        "int cuGetProcAddress(const char *n, void **f, int v, unsigned long long g)"
        "{ (void)n; (void)f; (void)v; (void)g; return 500; }"
    )
    head, text = init_with(tmp_path, source)
    assert head[0] == "LogicError"
    assert "lacks cuInit" in text and "update NVIDIA's driver" in text


#: A driver with all symbols, whose functions all return the same code.
ANSWERS = (
    "int answer(void) { return %d; }"
    "int cuGetProcAddress(const char *n, void **f, int v, unsigned long long g)"
    "{ (void)n; (void)v; (void)g; *f = (void *)answer; return 0; }"
)


#: The software device without the function that LACKING names, and with a pop that can
#: return another context.
OTHER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
int lying;
static int (*pop)(void **);
static int lie(void **context)
{ int code = pop(context); if (lying) { *context = &lying; } return code; }
int cuGetProcAddress_v2(const char *n, void **f, int v, unsigned long long g, int *s)
{
    void *device = dlopen(getenv("DEVICE"), RTLD_NOW | RTLD_LOCAL);
    int (*look_up)(const char *, void **, int, unsigned long long, int *);
    *(void **)&look_up = dlsym(device, "cuGetProcAddress_v2");
    int code = look_up(n, f, v, g, s);
    if (getenv("LACKING") && strcmp(n, getenv("LACKING")) == 0) {
        *f = 0;
        return 500;
    }
    if (strcmp(n, "cuCtxPopCurrent") == 0) {
        *(void **)&pop = *f;
        *f = (void *)lie;
    }
    return code;
}
"""


def test_a_driver_that_pops_another_context(tmp_path):
    """A warning reports it, and the object is released."""
    cc.build_driver(tmp_path, OTHER)
    done = run_child(
        """
        import ctypes
        import pycuda.driver as drv
        drv.init()
        first = drv.Device(0).make_context()
        mem = drv.mem_alloc(64)
        second = drv.Device(0).make_context()
        lying = ctypes.c_int.in_dll(ctypes.CDLL("libcuda.so.1"), "lying")
        lying.value = 1
        try:
            mem.free()
        except drv.LogicError as error:
            print(error.routine, error.name)
        lying.value = 0
        try:
            mem.free()
        except drv.LogicError as error:
            print("released before" in str(error))
        for context in (second, first):
            context.pop()
            context.detach()
        """,
        LD_LIBRARY_PATH=str(tmp_path),
        PYCUDA_DRIVER="cuda",
        DEVICE=LIBRARY,
    )
    assert done.stdout == "cuCtxPopCurrent CUDA_ERROR_INVALID_CONTEXT\nTrue\n"


def test_a_call_that_the_driver_lacks(tmp_path):
    """Everything else works, and the error names the driver that has the call."""
    cc.build_driver(tmp_path, OTHER)
    done = run_child(
        """
        import pycuda.driver as drv
        drv.init()
        context = drv.Device(0).make_context()
        try:
            context.get_stream_priority_range()
        except drv.LogicError as error:
            print(error.name, error)
        context.pop()
        context.detach()
        """,
        LD_LIBRARY_PATH=str(tmp_path),
        PYCUDA_DRIVER="cuda",
        DEVICE=LIBRARY,
        LACKING="cuCtxGetStreamPriorityRange",
    )
    assert done.stdout.startswith("CUDA_ERROR_NOT_FOUND cuCtxGetStreamPriorityRange")
    assert "came with CUDA 5.5; this driver is for CUDA 13.0" in done.stdout


def test_a_folder_whose_name_is_too_long(tmp_path):
    folder = tmp_path.joinpath(*["a" * 100] * 6)
    (folder / "pycuda").mkdir(parents=True)
    for path in Path(drv.__file__).parent.iterdir():
        if path.name != "__pycache__":
            (folder / "pycuda" / path.name).symlink_to(path)
    first = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    done = run_child(first + INIT, PYCUDA_DRIVER="emulator")
    assert "no driver library could be opened" in done.stdout
    assert "the path of libpycuda_emulator.so is too long" in done.stdout


def test_a_driver_without_a_device(tmp_path):
    head, text = init_with(tmp_path, ANSWERS % 100)
    assert head[:3] == ["RuntimeError", "100", "CUDA_ERROR_NO_DEVICE"]
    assert "shows no GPU" in text and "CUDA_VISIBLE_DEVICES" in text


def test_no_software_device():
    done = run_child(INIT, PYCUDA_DRIVER="emulator", PYCUDA_EMULATOR_DEVICES="0")
    assert "PYCUDA_EMULATOR_DEVICES is 0; set it to 1" in done.stdout
    assert "nvidia-smi" not in done.stdout


def test_a_stub_library(tmp_path):
    head, text = init_with(tmp_path, ANSWERS % 34)
    assert head[:3] == ["LogicError", "34", "CUDA_ERROR_STUB_LIBRARY"]
    assert "stub" in text and "LD_LIBRARY_PATH" in text


def test_the_toolkits_stub_library(tmp_path):
    nvcc = shutil.which("nvcc")
    home = os.environ.get("CUDA_HOME") or (nvcc and str(Path(nvcc).parents[1]))
    stub = home and Path(home, "lib64", "stubs", "libcuda.so")
    if not stub or not stub.exists():
        pytest.skip("no CUDA toolkit here, so no stub library")
    (tmp_path / "libcuda.so.1").symlink_to(stub)
    head, text = said_by_init(LD_LIBRARY_PATH=str(tmp_path), PYCUDA_DRIVER="cuda")
    assert head[1:3] == ["34", "CUDA_ERROR_STUB_LIBRARY"]
    assert "not a driver" in text


def test_an_unknown_choice():
    head, text = said_by_init(PYCUDA_DRIVER="gpu")
    assert head[0] == "LogicError"
    assert "PYCUDA_DRIVER is 'gpu'; set it to auto, cuda or emulator" in text


def test_before_init():
    done = run_child(
        """
        import pycuda.driver as drv
        for call in (lambda: drv.Device(0), drv.Device.count, lambda: drv.mem_alloc(8)):
            try:
                call()
            except drv.LogicError as error:
                assert error.code == 3, error
                assert "call pycuda.driver.init() first" in str(error), error
                print("ok")
        """
    )
    assert done.stdout.split() == ["ok"] * 3


def test_import_needs_no_driver(tmp_path):
    (tmp_path / "libcuda.so.1").write_text("not a library")
    run_child(
        """
        import sys
        import pycuda, pycuda.driver, pycuda.compiler, pycuda.tools
        assert pycuda.VERSION == (2026, 1) and pycuda.VERSION_TEXT == "2026.1"
        assert pycuda.VERSION_STATUS == ""
        assert pycuda.driver.get_version() >= (11, 4)
        with open("/proc/self/maps") as file:
            maps = file.read()
        assert "libcuda.so" not in maps and "emulator" not in maps
        """,
        LD_LIBRARY_PATH=str(tmp_path),
    )


@pytest.mark.gpu
def test_a_forked_child_is_told_so():
    run_child(
        """
        import os, sys, warnings
        import pycuda.driver as drv
        drv.init()
        ctx = drv.Device(0).make_context()
        mem = drv.mem_alloc(64)
        # Python 3.12 and newer warn of fork() beside the driver's threads
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                drv.Device.count()
            except drv.LogicError as error:
                status = 0 if "forked" in str(error) and "spawn" in str(error) else 2
            try:
                drv.init()
            except drv.LogicError as error:
                status = status or (0 if "forked" in str(error) else 3)
            del mem
            del ctx
            sys.exit(status)  # and its end says nothing
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        drv.memset_d8(mem, 1, 64)
        ctx.pop()
        """
    )


def test_get_driver_version_says_what_is_missing(tmp_path):
    (tmp_path / "libcuda.so.1").write_text("not a library")
    done = run_child(
        """
        import pycuda.driver as drv
        try:
            drv.get_driver_version()
        except drv.RuntimeError as error:
            print(error)
        """,
        LD_LIBRARY_PATH=str(tmp_path),
        PYCUDA_DRIVER="cuda",
    )
    assert "install NVIDIA's driver" in done.stdout
