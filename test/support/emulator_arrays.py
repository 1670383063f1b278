"""Run kernels on the software device with NumPy arrays as arguments."""

import ctypes
import re
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

import numpy as np

from support.emulator import DriverError, R


class Launched(Exception):
    """A launch, or the synchronization after it, failed."""

    def __init__(self, code, report):
        super().__init__(f"{code}: {report}")
        self.code = code
        self.report = report


class Arrays:
    """The modules and memory of one context. `close` releases all of them."""

    def __init__(self, driver):
        self.d = driver
        self.memory = []
        self.modules = []
        self.lockstep = False  # whether `apply` uses blocks of several warps

    def close(self):
        for pointer in self.memory:
            self.d.MemFree(c_uint64(pointer))
        for module in self.modules:
            self.d.ModuleUnload(module)

    def load(self, ptx):
        module = c_void_p()
        log = ctypes.create_string_buffer(4096)
        options = (c_int * 2)(5, 6)
        values = (c_void_p * 2)(ctypes.addressof(log), len(log))
        text = ptx.encode() if isinstance(ptx, str) else ptx
        code = self.d.ModuleLoadDataEx(
            byref(module), c_char_p(text + b"\0"), c_uint(2), options, values
        )
        if code:
            error = DriverError("ModuleLoadDataEx", code)
            error.log = log.value.decode()
            error.args = (f"{error.args[0]}: {error.log}",)
            raise error
        self.modules.append(module)
        return module

    def empty(self, nbytes):
        pointer = self.d.out(c_uint64, "MemAlloc", c_size_t(max(nbytes, 1)))
        self.memory.append(pointer)
        return pointer

    def free(self, pointer):
        self.memory.remove(pointer)
        self.d.ok("MemFree", c_uint64(pointer))

    def up(self, array):
        array = np.ascontiguousarray(array)
        pointer = self.empty(array.nbytes)
        if array.nbytes:
            self.d.write(c_uint64(pointer), array.tobytes())
        return pointer

    def down(self, pointer, like):
        data = self.d.read(c_uint64(pointer), like.nbytes)
        return np.frombuffer(data, like.dtype).reshape(like.shape).copy()

    def launch(self, module, name, grid, block, *arguments, shared=0):
        """Launch with NumPy scalars, plain or structured; ints are device pointers."""
        function = self.d.function(module, name.encode())
        values = [
            np.array(a, np.uint64) if type(a) is int else np.array(a) for a in arguments
        ]
        pointers = (c_void_p * max(len(values), 1))(*[v.ctypes.data for v in values])
        grid = (*np.atleast_1d(grid), 1, 1)[:3]
        block = (*np.atleast_1d(block), 1, 1)[:3]
        code = self.d.LaunchKernel(
            function,
            *[c_uint(int(x)) for x in (*grid, *block)],
            c_uint(shared),
            None,
            pointers,
            None,
        )
        code = code or self.d.CtxSynchronize()
        if code:
            raise Launched(code, self.d.message())

    def run(self, ptx, name, grid, block, inputs, out, *scalars, shared=0):
        """Load, launch with (inputs..., out, scalars...) and return the result."""
        module = self.load(ptx)
        pointers = [self.up(a) for a in inputs]
        result = self.up(out)
        self.launch(
            module, name, grid, block, *pointers, result, *scalars, shared=shared
        )
        return self.down(result, out)


WIDTH = {1: "b8", 2: "b16", 4: "b32", 8: "b64"}
PREFIX = {2: "h", 4: "w", 8: "d"}


def instruction_kernel(code, inputs, out, version="8.0", target="sm_75"):
    """Return the PTX of a kernel that runs `code` once in each thread.

    In the code, %0, %1, ... are the elements of the inputs and %d is the result. The
    code may use the registers %p1 to %p7 (predicates), %t1 to %t9 (32 bits), %u1 to %u9
    (64 bits) and %h1 to %h9 (16 bits).
    """
    n = len(inputs)
    lines = [
        f".version {version}\n.target {target}\n.address_size 64\n.visible .entry k("
    ]
    lines.append(",\n".join(f"  .param .u64 p{i}" for i in range(n + 1)))
    lines.append(")\n{\n.reg .pred %p<8>; .reg .b32 %t<10>; .reg .b64 %u<10>;")
    lines.append(".reg .b16 %h<10>; .reg .b64 %q<40>; .reg .b32 %s<4>;")
    for i, a in enumerate([*inputs, out]):
        name = "dst" if i == n else f"src{i}"
        lines.append(f".reg .{WIDTH[max(a.dtype.itemsize, 2)]} {name};")
    lines.append("mov.u32 %s1, %ctaid.x; mov.u32 %s2, %ntid.x; mov.u32 %s3, %tid.x;")
    lines.append("mad.lo.u32 %s1, %s1, %s2, %s3;")
    for i, a in enumerate([*inputs, out]):
        lines.append(f"ld.param.u64 %q{i}, [p{i}]; cvta.to.global.u64 %q{i}, %q{i};")
        lines.append(f"mad.wide.u32 %q{i}, %s1, {a.dtype.itemsize}, %q{i};")
        size = a.dtype.itemsize
        if i < n:
            lines.append(f"ld.global.{WIDTH[size]} src{i}, [%q{i}];")
    for i in range(n):
        code = code.replace(f"%{i}", f"src{i}")
    lines.append(re.sub(r"%d\b", "dst", code))
    lines.append(f"st.global.{WIDTH[out.dtype.itemsize]} [%q{n}], dst;")
    lines.append("ret;\n}")
    return "\n".join(lines)


def apply(arrays, code, inputs, dtype, **options):
    """Return the results of an instruction for all elements.

    With `arrays.lockstep`, blocks have two warps, which run in lockstep.
    """
    inputs = [np.ascontiguousarray(a) for a in inputs]
    n = len(inputs[0])
    assert n % 32 == 0 and all(len(a) == n for a in inputs)
    block = 32
    if arrays.lockstep:
        block, inputs = 64, [np.tile(a, 2) for a in inputs]
    out = np.zeros(len(inputs[0]), dtype)
    text = instruction_kernel(code, inputs, out, **options)
    return arrays.run(text, "k", len(out) // block, block, inputs, out)[:n]


def invalid(code):
    return code in (R.ERROR_INVALID_PTX, R.ERROR_INVALID_IMAGE)
