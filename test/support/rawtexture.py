"""Texture arrays, textures and surfaces through the driver's C interface and ctypes.

They work in the current context, on the library that pycuda.driver uses: a real driver
or the software device. They do not use the package's arrays and textures.
"""

import ctypes
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

import numpy as np

from pycuda import _driver
from support.emulator import LIBRARY, NAMES, functions

FORMATS = {
    "uint8": 0x01,
    "uint16": 0x02,
    "uint32": 0x03,
    "int8": 0x08,
    "int16": 0x09,
    "int32": 0x0A,
    "float16": 0x10,
    "float32": 0x20,
}
LAYERED, SURFACE, CUBEMAP, GATHER = 1, 2, 4, 8
WRAP, CLAMP, MIRROR, BORDER = range(4)
READ_AS_INTEGER, NORMALIZED, SRGB, SEAMLESS = 1, 2, 16, 64
HOST, ARRAY = 1, 3


class ArrayDescriptor(ctypes.Structure):
    _fields_ = [
        *((name, c_size_t) for name in ("width", "height", "depth")),
        ("format", c_int),
        ("channels", c_uint),
        ("flags", c_uint),
    ]


def _side(prefix):
    return [
        *((prefix + name, c_size_t) for name in ("x", "y", "z", "level")),
        (prefix + "type", c_int),
        *((prefix + name, c_void_p) for name in ("host", "device", "array", "zero")),
        (prefix + "pitch", c_size_t),
        (prefix + "height", c_size_t),
    ]


class Copy3D(ctypes.Structure):
    _fields_ = [
        *_side("from_"),
        *_side("to_"),
        *((name, c_size_t) for name in ("width", "height", "depth")),
    ]


class _Linear(ctypes.Structure):
    _fields_ = [
        ("address", c_uint64),
        ("format", c_int),
        ("channels", c_uint),
        ("size", c_size_t),
    ]


class _Pitched(ctypes.Structure):
    _fields_ = [
        ("address", c_uint64),
        ("format", c_int),
        ("channels", c_uint),
        *((name, c_size_t) for name in ("width", "height", "pitch")),
    ]


class _Resource(ctypes.Union):
    _fields_ = [
        ("handle", c_void_p),
        ("linear", _Linear),
        ("pitched", _Pitched),
        ("reserved", c_int * 32),
    ]


class ResourceDescriptor(ctypes.Structure):
    _fields_ = [("type", c_int), ("of", _Resource), ("flags", c_uint)]


class TextureDescriptor(ctypes.Structure):
    _fields_ = [
        ("modes", c_int * 3),
        ("filter", c_int),
        ("flags", c_uint),
        ("anisotropy", c_uint),
        ("mipmap_filter", c_int),
        ("bias", c_float),
        ("least", c_float),
        ("most", c_float),
        ("border", c_float * 4),
        ("reserved", c_int * 12),
    ]


class ViewDescriptor(ctypes.Structure):
    _fields_ = [
        ("format", c_int),
        *((name, c_size_t) for name in ("width", "height", "depth")),
        *((name, c_uint) for name in ("firstLevel", "lastLevel")),
        *((name, c_uint) for name in ("firstLayer", "lastLayer")),
        ("reserved", c_uint * 16),
    ]


class Raw:
    """The functions of the library, by names without "cu". Each call must succeed."""

    def __init__(self):
        self.emulated = _driver._is_emulated()
        lib = ctypes.CDLL(LIBRARY if self.emulated else "libcuda.so.1")
        self._find, self._known = lib.cuGetProcAddress_v2, {}
        self._versions = {row.name: row.version for row in functions()}

    def code(self, name, *arguments):
        if name not in self._known:
            at = c_void_p()
            version = self._versions[name]
            if self._find(f"cu{name}".encode(), byref(at), version, c_uint64(0), None):
                raise LookupError(f"the driver has no cu{name}")
            self._known[name] = ctypes.CFUNCTYPE(c_int)(at.value)
        return self._known[name](*arguments)

    def ok(self, name, *arguments):
        if code := self.code(name, *arguments):
            raise RuntimeError(f"cu{name}: {NAMES.get(code, code)}")

    def out(self, type_, name, *arguments):
        value = type_()
        self.ok(name, byref(value), *arguments)
        return value.value


class Store:
    """Make arrays, textures and surfaces. close() destroys them in reverse order."""

    def __init__(self):
        self.raw, self._made = Raw(), []

    def close(self):
        while self._made:
            name, handle = self._made.pop()
            self.raw.ok(name, handle)

    def _keep(self, name, handle):
        self._made.append((name, handle))
        return handle

    def destroy(self, handle):
        """Destroy one object before close()."""
        entry = next(e for e in self._made if e[1] is handle)
        self._made.remove(entry)
        self.raw.ok(*entry)

    def _descriptor(self, data, dimensions, flags):
        depth, height, width, channels = data.shape
        return ArrayDescriptor(
            width,
            height if dimensions > 1 else 0,
            depth if dimensions > 2 or flags & (LAYERED | CUBEMAP) else 0,
            FORMATS[data.dtype.name],
            channels,
            flags,
        )

    def array(self, data, dimensions, flags=0):
        """Make a CUarray of data[z][y][x][channel]. The flags may make z the layer."""
        descriptor = self._descriptor(data, dimensions, flags)
        handle = c_void_p(self.raw.out(c_void_p, "Array3DCreate", byref(descriptor)))
        self.write(handle, data)
        return self._keep("ArrayDestroy", handle)

    def _copy(self, data, **sides):
        depth, height, width, channels = data.shape
        row = width * channels * data.itemsize
        copy = Copy3D(width=row, height=height, depth=depth, **sides)
        for side in ("from_", "to_"):
            if getattr(copy, side + "type") == HOST:
                setattr(copy, side + "pitch", row)
                setattr(copy, side + "height", height)
        self.raw.ok("Memcpy3D", byref(copy))

    def write(self, array, data):
        data = np.ascontiguousarray(data)
        self._copy(
            data,
            from_type=HOST,
            from_host=data.ctypes.data,
            to_type=ARRAY,
            to_array=array,
        )

    def read(self, array, like):
        data = np.empty_like(like)
        self._copy(
            data,
            from_type=ARRAY,
            from_array=array,
            to_type=HOST,
            to_host=data.ctypes.data,
        )
        return data

    def mipmaps(self, levels, dimensions):
        """Make a mipmapped array from the data of each level."""
        descriptor = self._descriptor(levels[0], dimensions, 0)
        handle = c_void_p(
            self.raw.out(
                c_void_p, "MipmappedArrayCreate", byref(descriptor), len(levels)
            )
        )
        self._keep("MipmappedArrayDestroy", handle)
        for number, data in enumerate(levels):
            level = self.raw.out(c_void_p, "MipmappedArrayGetLevel", handle, number)
            self.write(c_void_p(level), data)
        return handle

    def texture(
        self,
        resource,
        *,
        modes=(CLAMP,) * 3,
        linear=False,
        flags=0,
        view=None,
        **more,
    ):
        descriptor = TextureDescriptor(
            modes=(c_int * 3)(*modes), filter=linear, flags=flags
        )
        for name, value in more.items():
            if name == "border":
                value = (c_float * 4).from_buffer_copy(np.asarray(value).tobytes())
            setattr(descriptor, name, value)
        handle = c_uint64(
            self.raw.out(
                c_uint64,
                "TexObjectCreate",
                byref(resource),
                byref(descriptor),
                None if view is None else byref(view),
            )
        )
        return self._keep("TexObjectDestroy", handle)

    def surface(self, array):
        handle = c_uint64(
            self.raw.out(c_uint64, "SurfObjectCreate", byref(of_array(array)))
        )
        return self._keep("SurfObjectDestroy", handle)


def of_array(array):
    return ResourceDescriptor(0, _Resource(handle=array))


def of_mipmaps(mipmaps):
    return ResourceDescriptor(1, _Resource(handle=mipmaps))


def of_linear(address, data):
    form = FORMATS[data.dtype.name]
    linear = _Linear(int(address), form, data.shape[-1], data.nbytes)
    return ResourceDescriptor(2, _Resource(linear=linear))


def of_pitched(address, data, pitch):
    _, height, width, channels = data.shape
    form = FORMATS[data.dtype.name]
    pitched = _Pitched(int(address), form, channels, width, height, pitch)
    return ResourceDescriptor(3, _Resource(pitched=pitched))
