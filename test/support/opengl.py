"""OpenGL for tests: a real context without a window, or a stand-in.

Both have ``buffer(size)`` and ``image(width, height)``, which make an object and return
its name. ``target`` is the kind of an image. The real OpenGL also writes and reads the
objects. A pixel has four floats.
"""

import ctypes
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_void_p
from pathlib import Path

from pycuda import _driver

GL_TEXTURE_2D = 0x0DE1
GL_RGBA, GL_RGBA32F, GL_FLOAT = 0x1908, 0x8814, 0x1406
GL_ARRAY_BUFFER, GL_DYNAMIC_DRAW = 0x8892, 0x88E8
GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER, GL_NEAREST = 0x2801, 0x2800, 0x2600
GL_RENDERER = 0x1F01

EGL_CUDA_DEVICE_NV = 0x323A
EGL_PLATFORM_DEVICE = 0x313F
EGL_OPENGL_API = 0x30A2
EGL_SURFACE_TYPE, EGL_PBUFFER_BIT = 0x3033, 1
EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT = 0x3040, 8
EGL_NONE = 0x3038

CU_FLOAT = 0x20


class NoOpenGL(Exception):
    """No OpenGL can share objects with the device; the text says why."""


class StandIn:
    """Names of objects that the software device accepts, without any OpenGL."""

    target = GL_TEXTURE_2D

    def __init__(self):
        folder = Path(_driver.__file__).parent
        self.lib = ctypes.CDLL(str(folder / "libpycuda_emulator.so"))
        self.lib.emu_gl_buffer.argtypes = [c_uint, c_size_t]
        self.lib.emu_gl_image.argtypes = [
            *(c_uint, c_uint, c_size_t, c_size_t, c_size_t, c_uint, c_uint)
        ]
        self.buffers, self.images = [], []
        self.buffer(1)  # a registered name counts as a current OpenGL context

    def buffer(self, size):
        name = len(self.buffers) + 1
        assert self.lib.emu_gl_buffer(name, size) == 0
        self.buffers.append(name)
        return name

    def image(self, width, height):
        name = len(self.images) + 1
        how = (self.target, width, height, 0, CU_FLOAT, 4)
        assert self.lib.emu_gl_image(name, *how) == 0
        self.images.append(name)
        return name

    def close(self):
        for name in self.buffers:
            self.lib.emu_gl_buffer(name, 0)
        for name in self.images:
            self.lib.emu_gl_image(name, 0, 0, 0, 0, 0, 0)


class RealOpenGL:
    """A context of OpenGL without a surface, on the GPU that is CUDA's device."""

    target = GL_TEXTURE_2D

    def __init__(self, device=0):
        try:
            self.egl = ctypes.CDLL("libEGL.so.1")
        except OSError as error:
            raise NoOpenGL(f"libEGL.so.1 cannot be loaded: {error}") from None
        self.egl.eglGetProcAddress.restype = c_void_p
        self.egl.eglGetProcAddress.argtypes = [c_char_p]
        self.display = self._open_display(device)
        self.context = self._make_context()
        self._names = {"Buffers": [], "Textures": []}

    def _function(self, name, restype, *argtypes):
        address = self.egl.eglGetProcAddress(name.encode())
        if not address:
            raise NoOpenGL(f"EGL has no {name}")
        return ctypes.CFUNCTYPE(restype, *argtypes)(address)

    def _open_display(self, device):
        devices = (c_void_p * 32)()
        count = c_int()
        query = self._function("eglQueryDevicesEXT", c_uint, c_int, c_void_p, c_void_p)
        attribute = self._function(
            "eglQueryDeviceAttribEXT", c_uint, c_void_p, c_int, c_void_p
        )
        display = self._function(
            "eglGetPlatformDisplayEXT", c_void_p, c_uint, c_void_p, c_void_p
        )
        start = self._function("eglInitialize", c_uint, c_void_p, c_void_p, c_void_p)
        if not query(32, devices, byref(count)):
            raise NoOpenGL("EGL lists no devices")
        for found in devices[: count.value]:
            number = ctypes.c_ssize_t(-1)
            ours = attribute(found, EGL_CUDA_DEVICE_NV, byref(number))
            if ours and number.value == device:
                opened = display(EGL_PLATFORM_DEVICE, found, None)
                if opened and start(opened, None, None):
                    return opened
        raise NoOpenGL(
            f"none of EGL's {count.value} devices is CUDA device {device}; a container "
            "needs the driver's graphics libraries too"
        )

    def _make_context(self):
        bind = self._function("eglBindAPI", c_uint, c_uint)
        choose = self._function(
            "eglChooseConfig", c_uint, c_void_p, c_void_p, c_void_p, c_int, c_void_p
        )
        create = self._function(
            "eglCreateContext", c_void_p, c_void_p, c_void_p, c_void_p, c_void_p
        )
        self._make_current = self._function(
            "eglMakeCurrent", c_uint, c_void_p, c_void_p, c_void_p, c_void_p
        )
        wanted = (c_int * 5)(
            *(EGL_SURFACE_TYPE, EGL_PBUFFER_BIT),
            *(EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE),
        )
        config, count = c_void_p(), c_int()
        if not (
            bind(EGL_OPENGL_API)
            and choose(self.display, wanted, byref(config), 1, byref(count))
            and count.value
        ):
            raise NoOpenGL("EGL has no configuration for OpenGL")
        context = create(self.display, config, None, None)
        if not context or not self._make_current(self.display, None, None, context):
            raise NoOpenGL("EGL makes no context without a surface")
        return context

    def call(self, name, *arguments):
        """Call a function of OpenGL with ints or ctypes objects."""
        types = [type(a) if not isinstance(a, int) else c_int for a in arguments]
        types = [c_void_p if t not in (c_int, c_size_t, c_float) else t for t in types]
        given = [
            ctypes.cast(a, c_void_p) if t is c_void_p and a is not None else a
            for a, t in zip(arguments, types, strict=True)
        ]
        self._function(name, None, *types)(*given)
        error = self._function("glGetError", c_uint)()
        assert error == 0, f"{name}: error {error:#x}"

    def renderer(self):
        return self._function("glGetString", c_char_p, c_uint)(GL_RENDERER).decode()

    def _generate(self, kind):
        name = c_uint()
        self.call(f"glGen{kind}", 1, ctypes.pointer(name))
        self._names[kind].append(name.value)
        return name.value

    def buffer(self, size):
        name = self._generate("Buffers")
        self.call("glBindBuffer", GL_ARRAY_BUFFER, name)
        data = ctypes.create_string_buffer(size)
        self.call(
            "glBufferData", GL_ARRAY_BUFFER, c_size_t(size), data, GL_DYNAMIC_DRAW
        )
        return name

    def image(self, width, height):
        name = self._generate("Textures")
        self.call("glBindTexture", GL_TEXTURE_2D, name)
        for setting in (GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER):
            self.call("glTexParameteri", GL_TEXTURE_2D, setting, GL_NEAREST)
        pixels = (c_float * (4 * width * height))()
        self.call(
            *("glTexImage2D", GL_TEXTURE_2D, 0, GL_RGBA32F, width, height, 0),
            *(GL_RGBA, GL_FLOAT, pixels),
        )
        return name

    def write_buffer(self, name, array):
        self.call("glBindBuffer", GL_ARRAY_BUFFER, name)
        data = array.ctypes.data_as(c_void_p)
        size = c_size_t(array.nbytes)
        self.call("glBufferSubData", GL_ARRAY_BUFFER, c_size_t(0), size, data)

    def read_buffer(self, name, array):
        self.call("glBindBuffer", GL_ARRAY_BUFFER, name)
        data = array.ctypes.data_as(c_void_p)
        size = c_size_t(array.nbytes)
        self.call("glGetBufferSubData", GL_ARRAY_BUFFER, c_size_t(0), size, data)

    def read_image(self, name, array):
        self.call("glBindTexture", GL_TEXTURE_2D, name)
        data = array.ctypes.data_as(c_void_p)
        self.call("glGetTexImage", GL_TEXTURE_2D, 0, GL_RGBA, GL_FLOAT, data)

    def close(self):
        for kind, names in self._names.items():
            for name in names:
                self.call(f"glDelete{kind}", 1, ctypes.pointer(c_uint(name)))
        self._make_current(self.display, None, None, None)
        destroy = self._function("eglDestroyContext", c_uint, c_void_p, c_void_p)
        destroy(self.display, self.context)
