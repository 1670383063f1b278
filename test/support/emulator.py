"""The software device's library through ctypes and cuGetProcAddress.

`Driver` resolves every name of abi/functions.h. A call returns its CUresult as an int;
`ok` raises DriverError unless the call succeeds. This module uses only the exported
names of the library.
"""

import ctypes
import os
import re
import subprocess
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "src" / "cpp_free_c" / "abi"
LIBRARY = os.environ.get(
    "PYCUDA_EMULATOR_LIBRARY", str(ROOT / "pycuda" / "libpycuda_emulator.so")
)

#: PYTHONPATH for children: the modules of the tests, and the paths of this process.
PATH = os.pathsep.join([str(ROOT / "test"), os.environ.get("PYTHONPATH", "")])

KINDS = [
    "context",
    "module",
    "memory",
    "host",
    "registered",
    "managed",
    "array",
    "mipmap",
    "stream",
    "event",
    "texture",
    "surface",
    "link",
    "graph",
    "graph_exec",
    "user_object",
    "pool",
    "ipc",
    "global",
    "heap",
    "library",
    "green_context",
]


#: A row of a function: name, exports, version, form for threads, caller, door.
ROW = re.compile(
    r"X\((\w+), (?:(\w+)|\((\w+), (\w+), (\d+)\)), (\d+), (ONE|PTDS|PTSZ), "
    r"(REQUIRED|OPTIONAL|CLIENT)(?:\(\w+\))?, (\w+)"
)


@dataclass(frozen=True)
class Function:
    """One row of a function of the driver."""

    name: str
    version: int
    caller: str
    is_built: bool  # in the software device
    exports: tuple[tuple[str, int], ...]  # all names and their versions


def functions():
    """Return the rows of all functions."""
    text = (TABLES / "functions.h").read_text().replace("\\\n", " ")
    found = []
    for row in ROW.findall(" ".join(text.split())):
        name, plain, first, other, since, version, thread, caller, door = row
        exports = [(plain or first, int(version))]
        exports += [(other, int(since))] if other else []
        if thread != "ONE":
            ending = "_" + thread.lower()
            exports += [(n + ending, max(v, 7000)) for n, v in exports]
        is_built = door != "NOT_BUILT"
        found.append(Function(name, int(version), caller, is_built, tuple(exports)))
    return found


def results():
    text = (TABLES / "results.h").read_text()
    return {
        name: int(code) for name, code in re.findall(r"X\((CUDA_\w+), (\d+),", text)
    }


R = type("R", (), {k.removeprefix("CUDA_"): v for k, v in results().items()})
NAMES = {v: k for k, v in results().items()}


class DriverError(Exception):
    def __init__(self, name, code):
        super().__init__(f"{name}: {NAMES.get(code, code)}")
        self.code = code


class Driver:
    def __init__(self, path=LIBRARY):
        self.lib = lib = ctypes.CDLL(path)
        lib.cuGetProcAddress_v2.argtypes = [
            c_char_p,
            POINTER(c_void_p),
            c_int,
            c_uint64,
            POINTER(c_int),
        ]
        # NVIDIA's library lacks the emu_ functions; some tests run on both
        self.emulated = hasattr(lib, "emu_live_count")
        if self.emulated:
            self._declare_own()
        for row in functions():
            pointer = c_void_p()
            base = re.sub(r"_v\d$", "", row.name)
            code = lib.cuGetProcAddress_v2(
                b"cu" + base.encode(), byref(pointer), row.version, 0, None
            )
            # a driver may know a symbol without having a function for it
            if row.is_built and code == 0 and pointer.value:
                setattr(self, row.name, ctypes.CFUNCTYPE(c_int)(pointer.value))

    def _declare_own(self):
        lib = self.lib
        lib.emu_fault_set.argtypes = [c_char_p, ctypes.c_uint, c_int]
        lib.emu_fault_fired.restype = ctypes.c_ulonglong
        lib.emu_live_count.restype = ctypes.c_longlong
        lib.emu_live_count.argtypes = [c_char_p]
        lib.emu_abandoned_count.restype = ctypes.c_ulonglong
        lib.emu_foreign_free_count.restype = ctypes.c_ulonglong
        lib.emu_call_count.restype = ctypes.c_ulonglong
        lib.emu_call_count.argtypes = [c_char_p]
        lib.emu_call_log.restype = c_size_t
        lib.emu_call_log.argtypes = [c_char_p, c_size_t]
        lib.emu_last_message.restype = c_char_p

    def __getattr__(self, name):
        raise AttributeError(f"the device lacks cu{name}")

    def ok(self, name, *arguments):
        code = getattr(self, name)(*arguments)
        if code:
            raise DriverError(name, code)

    # -- frequent calls; each returns the value that the call stores

    def out(self, type_, name, *arguments):
        value = type_()
        self.ok(name, byref(value), *arguments)
        return value.value

    def last(self, type_, name, *arguments):
        value = type_()
        self.ok(name, *arguments, byref(value))
        return value.value

    def context(self, device=0, flags=0):
        return c_void_p(self.out(c_void_p, "CtxCreate", flags, device))

    def alloc(self, size):
        return c_uint64(self.out(c_uint64, "MemAlloc", c_size_t(size)))

    def info(self):
        free, total = c_size_t(), c_size_t()
        self.ok("MemGetInfo", byref(free), byref(total))
        return free.value, total.value

    def write(self, target, data):
        self.ok("MemcpyHtoD", target, data, c_size_t(len(data)))

    def read(self, source, size):
        buffer = ctypes.create_string_buffer(size)
        self.ok("MemcpyDtoH", buffer, source, c_size_t(size))
        return buffer.raw

    def module(self, ptx):
        return c_void_p(self.out(c_void_p, "ModuleLoadData", ptx))

    def function(self, module, name):
        return c_void_p(self.out(c_void_p, "ModuleGetFunction", module, name))

    # -- functions of the software device only

    def live(self):
        if not self.emulated:
            return {}
        return {k: n for k in KINDS if (n := self.lib.emu_live_count(k.encode()))}

    def log(self):
        room = self.lib.emu_call_log(None, 0)
        buffer = ctypes.create_string_buffer(room)
        self.lib.emu_call_log(buffer, room)
        return [
            (name, int(code))
            for name, code in (
                line.split() for line in buffer.value.decode().splitlines()
            )
        ]

    def message(self):
        return self.lib.emu_last_message().decode()


def child(code, **environment):
    """Run Python code with `d`, an uninitialised Driver. Return its output."""
    program = (
        "from support.emulator import *\nimport ctypes, os, sys\nd = Driver()\n" + code
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        env={**os.environ, "PYTHONPATH": PATH, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


EMPTY_KERNEL = b"""
.version 6.4
.target sm_50
.address_size 64
.visible .entry nothing() { ret; }
.visible .entry two(.param .u32 a, .param .u64 b) { ret; }
"""
FAULTY_KERNEL = b"""
.version 6.4
.target sm_50
.address_size 64
.visible .entry poke(.param .u64 where) {
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [where];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, 7;
    st.global.u32 [%rd2], %r1;
    ret;
}
"""


def size(n):
    return c_size_t(n)


def launch_parameters(*values):
    """Return the array of pointers to ctypes values that a launch takes."""
    array = (c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
    array.values = values  # keep the values as long as the pointers
    return array
