"""The CUDA driver's C interface through ctypes, without the package.

It works with libcuda.so.1 and with the software device's library, because it finds all
functions with cuGetProcAddress. It covers what kernels need: contexts, memory, modules,
launches, arrays, texture and surface objects.
"""

import ctypes
from ctypes import Structure, byref, c_float, c_int, c_size_t, c_uint, c_void_p

#: Function: the CUDA version in which its present interface appeared.
FUNCTIONS = {
    "cuInit": 2000,
    "cuDeviceGet": 2000,
    "cuDeviceGetName": 2000,
    "cuDeviceGetAttribute": 2000,
    "cuDriverGetVersion": 2020,
    "cuGetErrorName": 6000,
    "cuCtxCreate": 3020,
    "cuCtxDestroy": 4000,
    "cuCtxSynchronize": 2000,
    "cuModuleLoadDataEx": 2010,
    "cuModuleUnload": 2000,
    "cuModuleGetFunction": 2000,
    "cuMemAlloc": 3020,
    "cuMemFree": 3020,
    "cuMemsetD8": 3020,
    "cuMemcpyHtoD": 3020,
    "cuMemcpyDtoH": 3020,
    "cuLaunchKernel": 4000,
    "cuArray3DCreate": 3020,
    "cuArrayDestroy": 2000,
    "cuMemcpy3D": 3020,
    "cuTexObjectCreate": 5000,
    "cuTexObjectDestroy": 5000,
    "cuSurfObjectCreate": 5000,
    "cuSurfObjectDestroy": 5000,
}

MAJOR, MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
JIT_LOG, JIT_LOG_SIZE = 5, 6  # CU_JIT_ERROR_LOG_BUFFER, ..._SIZE_BYTES
JIT_LEVEL = 7  # CU_JIT_OPTIMIZATION_LEVEL

FORMATS = {
    "u8": 1, "u16": 2, "u32": 3, "s8": 8, "s16": 9, "s32": 10, "f16": 0x10, "f32": 0x20,
}  # fmt: skip


class DriverError(Exception):
    """A driver call failed; `code` is its CUresult."""

    def __init__(self, call, code, name, detail=""):
        super().__init__(f"{call}: {name} ({code}){' - ' if detail else ''}{detail}")
        self.code = code


class ArrayDescriptor(Structure):
    _fields_ = (
        ("width", c_size_t),
        ("height", c_size_t),
        ("depth", c_size_t),
        ("format", c_int),
        ("channels", c_uint),
        ("flags", c_uint),
    )


def _side(name, constant):
    return (
        (f"{name}_x", c_size_t),
        (f"{name}_y", c_size_t),
        (f"{name}_z", c_size_t),
        (f"{name}_lod", c_size_t),
        (f"{name}_type", c_uint),
        (f"{name}_host", c_void_p),
        (f"{name}_device", c_void_p),
        (f"{name}_array", c_void_p),
        (f"{name}_reserved{constant}", c_void_p),
        (f"{name}_pitch", c_size_t),
        (f"{name}_height", c_size_t),
    )


class Copy3D(Structure):
    _fields_ = (
        *_side("src", 0),
        *_side("dst", 1),
        ("width_in_bytes", c_size_t),
        ("height", c_size_t),
        ("depth", c_size_t),
    )


HOST, ARRAY = 1, 3  # CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_ARRAY


class _Linear(Structure):
    _fields_ = (
        ("address", c_void_p),
        ("format", c_int),
        ("channels", c_uint),
        ("width", c_size_t),  # bytes, if the resource is linear
        ("height", c_size_t),
        ("pitch", c_size_t),
    )


class _ResourceUnion(ctypes.Union):
    _fields_ = (("array", c_void_p), ("linear", _Linear), ("reserved", c_int * 32))


class ResourceDescriptor(Structure):
    _fields_ = (("type", c_int), ("of", _ResourceUnion), ("flags", c_uint))


RESOURCE_ARRAY, RESOURCE_LINEAR, RESOURCE_PITCH2D = 0, 2, 3


class TextureDescriptor(Structure):
    _fields_ = (
        ("address", c_int * 3),
        ("filter", c_int),
        ("flags", c_uint),
        ("anisotropy", c_uint),
        ("mipmap_filter", c_int),
        ("bias", c_float),
        ("min_level", c_float),
        ("max_level", c_float),
        ("border", c_float * 4),
        ("reserved", c_int * 12),
    )


READ_AS_INTEGER, NORMALISED = 1, 2


class Driver:
    """A driver library. Its methods call functions and raise DriverError."""

    def __init__(self, path):
        library = ctypes.CDLL(path)
        try:
            find, extra = library.cuGetProcAddress_v2, (None,)
        except AttributeError:
            find, extra = library.cuGetProcAddress, ()
        self._functions = {}
        for name, version in FUNCTIONS.items():
            pointer = c_void_p()
            status = find(
                name.encode(), byref(pointer), version, ctypes.c_uint64(0), *extra
            )
            if status != 0 or not pointer.value:
                raise DriverError(f"cuGetProcAddress({name})", status, "not found")
            prototype = ctypes.CFUNCTYPE(c_int)
            self._functions[name] = ctypes.cast(pointer, prototype)
        self.call("cuInit", c_uint(0))

    def status(self, name, *arguments):
        """Call a function with ctypes values. Return its status."""
        return self._functions[name](*arguments)

    def call(self, name, *arguments):
        code = self.status(name, *arguments)
        if code != 0:
            raise DriverError(name, code, self.error_name(code))

    def error_name(self, code):
        text = ctypes.c_char_p()
        self._functions["cuGetErrorName"](c_int(code), byref(text))
        return (text.value or b"unknown").decode()

    def device_name(self):
        text = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", text, c_int(256), c_int(0))
        return text.value.decode()

    def version(self):
        number = c_int()
        self.call("cuDriverGetVersion", byref(number))
        return number.value

    def capability(self):
        """Return 10 times the major number plus the minor number."""
        parts = []
        for attribute in (MAJOR, MINOR):
            number = c_int()
            self.call("cuDeviceGetAttribute", byref(number), c_int(attribute), c_int(0))
            parts.append(number.value)
        return parts[0] * 10 + parts[1]

    # -- objects; all handles are Python integers

    def _make(self, name, *arguments):
        handle = c_void_p()
        self.call(name, byref(handle), *arguments)
        return handle.value or 0

    def create_context(self):
        return self._make("cuCtxCreate", c_uint(0), c_int(0))

    def destroy_context(self, context):
        """Destroy a context. Ignore the status, which repeats an earlier error."""
        self.status("cuCtxDestroy", c_void_p(context))

    def synchronize(self):
        self.call("cuCtxSynchronize")

    def load_module(self, text, level=4):
        """Load PTX. `level` is the assembler's level of optimization, 0 to 4."""
        log = ctypes.create_string_buffer(4096)
        options = (c_int * 3)(JIT_LOG, JIT_LOG_SIZE, JIT_LEVEL)
        option_values = (c_void_p * 3)(ctypes.addressof(log), len(log), level)
        module = c_void_p()
        code = self.status(
            "cuModuleLoadDataEx", byref(module), ctypes.c_char_p(text.encode()),
            c_uint(3), options, option_values,
        )  # fmt: skip
        if code != 0:
            detail = log.value.decode(errors="replace").strip()
            raise DriverError("cuModuleLoadDataEx", code, self.error_name(code), detail)
        return module.value

    def unload_module(self, module):
        self.call("cuModuleUnload", c_void_p(module))

    def function(self, module, name):
        return self._make(
            "cuModuleGetFunction", c_void_p(module), ctypes.c_char_p(name.encode())
        )

    def allocate(self, size):
        return self._make("cuMemAlloc", c_size_t(max(size, 1)))

    def free(self, address):
        self.call("cuMemFree", c_void_p(address))

    def upload(self, address, data):
        self.call(
            "cuMemcpyHtoD", c_void_p(address), c_void_p(data.ctypes.data),
            c_size_t(data.nbytes),
        )  # fmt: skip

    def download(self, data, address):
        self.call(
            "cuMemcpyDtoH", c_void_p(data.ctypes.data), c_void_p(address),
            c_size_t(data.nbytes),
        )  # fmt: skip

    def launch(self, function, grid, block, parameters, shared=0):
        """Launch a kernel. `parameters` has the bytes of each parameter."""
        buffers = [ctypes.create_string_buffer(p, len(p)) for p in parameters]
        pointers = (c_void_p * max(len(buffers), 1))(
            *[ctypes.addressof(b) for b in buffers]
        )
        sizes = [c_uint(n) for n in (grid, 1, 1, block, 1, 1, shared)]
        self.call(
            "cuLaunchKernel", c_void_p(function), *sizes, c_void_p(0), pointers,
            c_void_p(0),
        )  # fmt: skip

    # -- arrays, textures, surfaces

    def create_array(self, shape, kind, channels, flags):
        descriptor = ArrayDescriptor(*shape, FORMATS[kind], channels, flags)
        return self._make("cuArray3DCreate", byref(descriptor))

    def destroy_array(self, array):
        self.call("cuArrayDestroy", c_void_p(array))

    def copy_array(self, array, data, rows, slices, to_array):
        """Copy a whole array to or from contiguous host memory."""
        row = data.nbytes // (rows * slices)
        host, there = ("src", "dst") if to_array else ("dst", "src")
        copy = Copy3D(width_in_bytes=row, height=rows, depth=slices)
        setattr(copy, f"{host}_type", HOST)
        setattr(copy, f"{host}_host", data.ctypes.data)
        setattr(copy, f"{host}_pitch", row)
        setattr(copy, f"{host}_height", rows)
        setattr(copy, f"{there}_type", ARRAY)
        setattr(copy, f"{there}_array", array)
        self.call("cuMemcpy3D", byref(copy))

    def create_texture(self, resource, texture):
        return self._make(
            "cuTexObjectCreate", byref(resource), byref(texture), c_void_p(0)
        )

    def destroy_texture(self, handle):
        self.call("cuTexObjectDestroy", ctypes.c_uint64(handle))

    def create_surface(self, resource):
        return self._make("cuSurfObjectCreate", byref(resource))

    def destroy_surface(self, handle):
        self.call("cuSurfObjectDestroy", ctypes.c_uint64(handle))


def array_resource(array):
    descriptor = ResourceDescriptor(type=RESOURCE_ARRAY)
    descriptor.of.array = array
    return descriptor


def linear_resource(address, kind, channels, size):
    descriptor = ResourceDescriptor(type=RESOURCE_LINEAR)
    descriptor.of.linear = _Linear(address, FORMATS[kind], channels, size, 0, 0)
    return descriptor


def pitched_resource(address, kind, channels, width, height, pitch):
    descriptor = ResourceDescriptor(type=RESOURCE_PITCH2D)
    descriptor.of.linear = _Linear(
        address, FORMATS[kind], channels, width, height, pitch
    )
    return descriptor


def texture_settings(address, filter_, flags, border=(0, 0, 0, 0)):
    return TextureDescriptor(
        address=(c_int * 3)(*address),
        filter=filter_,
        flags=flags,
        border=(c_float * 4)(*border),
    )
