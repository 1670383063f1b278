"""Runs a case on the device of the current context; textures through the raw driver.

The same PTX text runs everywhere: the software device executes it, a GPU's driver
finishes the compilation.
"""

import contextlib
import ctypes
import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

import pycuda.driver as drv
from pycuda import _driver
from pycuda.compiler import compile as compile_cuda

from .plan import Texture

HERE = Path(__file__).resolve().parent


def ptx_of(case):
    """The program of a case, as bytes of PTX."""
    return compile_cuda(
        (HERE / case.source).read_text(),
        # the assembler may fuse a product and a sum that carry no rounding: then a GPU
        # computes what the PTX does not say, and no other device can know
        options=[*case.options, "-fmad=false"],
        no_extern_c=True,
        arch=case.arch,
        target="ptx",
    )


def program_hash(ptx):
    """Identifies a program; comments and names made from a path do not count."""
    text = re.sub(rb"//[^\n]*", b"", ptx)
    text = re.sub(rb"(INTERNAL_|GLOBAL__N__)[0-9a-f]{8}_", rb"\1_", text)
    return hashlib.sha256(text).hexdigest()[:16]


def hash_of_inputs(plan):
    """Identifies what a plan gives to its kernels."""
    digest = hashlib.sha256()
    for group in (plan.buffers, plan.constants):
        for name, array in group.items():
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    for name, texture in plan.textures.items():
        digest.update(name.encode() + np.ascontiguousarray(texture.data).tobytes())
    for launch in plan.launches:
        digest.update(f"{launch.kernel} {launch.grid} {launch.block}".encode())
        for arg in launch.args:
            digest.update(arg.encode() if isinstance(arg, str) else arg.tobytes())
    return digest.hexdigest()[:16]


def run(case, plan, ptx):
    """Run a plan; return {output: array}, with the printed lines under "lines"."""
    module = drv.module_from_buffer(ptx)
    with contextlib.ExitStack() as stack:
        pointers, objects = {}, {}
        for name, array in plan.buffers.items():
            memory = drv.mem_alloc(max(array.nbytes, 1))
            stack.callback(memory.free)
            if array.nbytes:
                drv.memcpy_htod(memory, np.ascontiguousarray(array))
            pointers[name] = np.uint64(int(memory))
        for name, texture in plan.textures.items():
            objects[name] = stack.enter_context(TextureObject(texture))
            pointers[name] = np.uint64(objects[name].handle)
        for name, value in plan.constants.items():
            place, size = module.get_global(name)
            assert size == value.nbytes, (name, size, value.nbytes)
            drv.memcpy_htod(place, np.ascontiguousarray(value))
        printed = stack.enter_context(captured()) if plan.lines is not None else None
        for launch in plan.launches:
            start(module, launch, pointers)
        drv.Context.synchronize()
        results = {}
        for name in plan.outputs:
            if name in objects:
                results[name] = objects[name].read()
                continue
            out = np.empty_like(plan.buffers[name])
            drv.memcpy_dtoh(out, int(pointers[name]))
            results[name] = np.sort(out) if name in plan.order_free else out
        for name, like in plan.variables.items():
            results[name] = np.empty_like(like)
            drv.memcpy_dtoh(results[name], module.get_global(name)[0])
        if printed is not None:
            text = b"".join(sorted(printed().splitlines(keepends=True)))
            results["lines"] = np.frombuffer(text, np.uint8)
    return results


def start(module, launch, pointers):
    function = module.get_function(launch.kernel)
    args = [pointers[a] if isinstance(a, str) else a for a in launch.args]
    grid, block = triple(launch.grid), triple(launch.block)
    if launch.cooperative:
        start_cooperative(function, grid, block, launch.shared, args)
    else:
        function(*args, grid=grid, block=block, shared=launch.shared)


def triple(size):
    size = (size,) if np.isscalar(size) else tuple(size)
    return (*size, 1, 1)[:3]


@contextlib.contextmanager
def captured():
    """Collect what the process writes to its standard output, from C as well.

    Yields a function that returns it, to be called inside.
    """
    libc = ctypes.CDLL(None)
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        libc.fflush(None)
        kept = os.dup(1)
        os.dup2(file.fileno(), 1)

        def collect():
            libc.fflush(None)
            file.seek(0)
            return file.read()

        try:
            yield collect
        finally:
            libc.fflush(None)
            os.dup2(kept, 1)
            os.close(kept)


# -- what the package does not offer ---------------------------------------------------


def raw():
    """Return a function that finds a driver function by name and ABI version."""
    if _driver._is_emulated():
        folder = os.path.dirname(_driver.__file__)
        library = ctypes.CDLL(os.path.join(folder, "libpycuda_emulator.so"))
    else:
        library = ctypes.CDLL("libcuda.so.1")
    look_up = library.cuGetProcAddress_v2

    def find(name, version):
        place, status = ctypes.c_void_p(), ctypes.c_int()
        flags = ctypes.c_uint64(0)
        code = look_up(
            name.encode(), ctypes.byref(place), version, flags, ctypes.byref(status)
        )
        assert code == 0, f"{name} is not there: {code}, {status.value}"
        function = ctypes.CFUNCTYPE(ctypes.c_int)(place.value)

        def call(*args):
            code = function(*args)
            if code != 0:
                raise drv.RuntimeError(f"{name} failed with code {code}")

        return call

    return find


def start_cooperative(function, grid, block, shared, args):
    values = [np.asarray(a) for a in args]
    places = (ctypes.c_void_p * len(values))(*(v.ctypes.data for v in values))
    raw()("cuLaunchCooperativeKernel", 9000)(
        ctypes.c_void_p(function.handle),
        *map(ctypes.c_uint, (*grid, *block, shared)),
        ctypes.c_void_p(0),
        places,
    )


FORMATS = {
    "u1": 0x01,
    "u2": 0x02,
    "u4": 0x03,
    "i1": 0x08,
    "i2": 0x09,
    "i4": 0x0A,
    "f2": 0x10,
    "f4": 0x20,
}
ADDRESS = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}


class ArrayDescriptor(ctypes.Structure):
    """CUDA_ARRAY3D_DESCRIPTOR."""

    _fields_ = [
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
        ("format", ctypes.c_uint),
        ("channels", ctypes.c_uint),
        ("flags", ctypes.c_uint),
    ]


class Copy3D(ctypes.Structure):
    """CUDA_MEMCPY3D."""

    _side = (
        ("x", ctypes.c_size_t),
        ("y", ctypes.c_size_t),
        ("z", ctypes.c_size_t),
        ("lod", ctypes.c_size_t),
        ("kind", ctypes.c_uint),
        ("host", ctypes.c_void_p),
        ("device", ctypes.c_uint64),
        ("array", ctypes.c_void_p),
        ("reserved", ctypes.c_void_p),
        ("pitch", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    )
    _fields_ = [
        *((f"src_{name}", kind) for name, kind in _side),
        *((f"dst_{name}", kind) for name, kind in _side),
        ("width_bytes", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
    ]


class LinearResource(ctypes.Structure):
    _fields_ = [
        ("pointer", ctypes.c_uint64),
        ("format", ctypes.c_uint),
        ("channels", ctypes.c_uint),
        ("size", ctypes.c_size_t),
    ]


class ResourceUnion(ctypes.Union):
    _fields_ = [
        ("array", ctypes.c_void_p),
        ("linear", LinearResource),
        ("reserved", ctypes.c_int * 32),
    ]


class Resource(ctypes.Structure):
    """CUDA_RESOURCE_DESC."""

    _fields_ = [
        ("kind", ctypes.c_uint),
        ("res", ResourceUnion),
        ("flags", ctypes.c_uint),
    ]


class TextureDescriptor(ctypes.Structure):
    """CUDA_TEXTURE_DESC."""

    _fields_ = [
        ("address", ctypes.c_uint * 3),
        ("filter", ctypes.c_uint),
        ("flags", ctypes.c_uint),
        ("anisotropy", ctypes.c_uint),
        ("mipmap_filter", ctypes.c_uint),
        ("mipmap", ctypes.c_float * 3),
        ("border", ctypes.c_float * 4),
        ("reserved", ctypes.c_int * 12),
    ]


class TextureObject:
    """A texture or surface object, for the time of a with block."""

    HOST, ARRAY = 1, 3  # kinds of memory in a copy
    READ_AS_INTEGER, NORMALIZED = 1, 2
    LAYERED, SURFACE = 1, 2

    def __init__(self, texture: Texture):
        self.texture = texture
        self.data = np.ascontiguousarray(texture.data)
        self.raw = raw()
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        with self.stack:
            self._make()
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *exc_info):
        self.stack.close()

    def _make(self):
        surface = self.texture.kind == "surface"
        resource = Resource()
        if self.texture.kind == "linear":
            self._use_memory(resource)
        else:
            self._use_array(resource)
        handle = ctypes.c_uint64()
        word = "Surf" if surface else "Tex"
        rest = () if surface else (ctypes.byref(self._descriptor()), None)
        create = self.raw(f"cu{word}ObjectCreate", 5000)
        create(ctypes.byref(handle), ctypes.byref(resource), *rest)
        self.handle = handle.value
        destroy = self.raw(f"cu{word}ObjectDestroy", 5000)
        self.stack.callback(destroy, ctypes.c_uint64(self.handle))

    def _descriptor(self):
        flags = 0
        if self.data.dtype.kind in "iu" and not self.texture.as_float:
            flags |= self.READ_AS_INTEGER
        if self.texture.normalized:
            flags |= self.NORMALIZED
        mode = ADDRESS[self.texture.address]
        return TextureDescriptor(
            address=(mode, mode, mode), filter=int(self.texture.smooth), flags=flags
        )

    def _shape(self):
        """Sizes (width, height, depth) and the number of channels."""
        axes = self.texture.dims + (self.texture.kind == "layered")
        sizes = self.data.shape[:axes][::-1]
        channels = self.data.shape[axes] if self.data.ndim > axes else 1
        return (*sizes, 0, 0)[:3], channels

    def _use_memory(self, resource):
        memory = drv.mem_alloc(self.data.nbytes)
        self.stack.callback(memory.free)
        drv.memcpy_htod(memory, self.data)
        resource.kind = 2
        resource.res.linear.pointer = int(memory)
        resource.res.linear.format = FORMATS[self.data.dtype.str[1:]]
        resource.res.linear.channels = self._shape()[1]
        resource.res.linear.size = self.data.nbytes

    def _use_array(self, resource):
        (width, height, depth), channels = self._shape()
        flags = {"layered": self.LAYERED, "surface": self.SURFACE}
        descriptor = ArrayDescriptor(
            width,
            height,
            depth,
            FORMATS[self.data.dtype.str[1:]],
            channels,
            flags.get(self.texture.kind, 0),
        )
        array = ctypes.c_void_p()
        create = self.raw("cuArray3DCreate", 3020)
        create(ctypes.byref(array), ctypes.byref(descriptor))
        self.array = array.value
        destroy = self.raw("cuArrayDestroy", 2000)
        self.stack.callback(destroy, ctypes.c_void_p(self.array))
        resource.kind = 0
        resource.res.array = self.array
        self._copy(self.data, into_array=True)

    def _copy(self, host, into_array):
        (width, height, depth), channels = self._shape()
        pitch = width * channels * host.itemsize
        copy = Copy3D(width_bytes=pitch, height=max(height, 1), depth=max(depth, 1))
        sides = ("dst", "src") if into_array else ("src", "dst")
        array, memory = sides
        setattr(copy, f"{array}_kind", self.ARRAY)
        setattr(copy, f"{array}_array", self.array)
        setattr(copy, f"{memory}_kind", self.HOST)
        setattr(copy, f"{memory}_host", host.ctypes.data)
        setattr(copy, f"{memory}_pitch", pitch)
        setattr(copy, f"{memory}_height", max(height, 1))
        self.raw("cuMemcpy3D", 3020)(ctypes.byref(copy))

    def read(self):
        """What the array holds now."""
        out = np.empty_like(self.data)
        self._copy(out, into_array=False)
        return out
