"""Sharing buffers and images with OpenGL.

OpenGL's context must be current in the thread that makes the CUDA context and that
registers, maps and releases buffers. ``doc/opengl.rst`` has a program.
"""

from pycuda import _hide_imports
from pycuda.driver import (
    BufferObject,
    BufferObjectMapping,
    RegisteredBuffer,
    RegisteredImage,
    RegisteredMapping,
    RegisteredObject,
    gl_init as init,
    graphics_map_flags,
    graphics_register_flags,
    make_gl_context as make_context,
)

__all__ = [
    "BufferObject",
    "BufferObjectMapping",
    "RegisteredBuffer",
    "RegisteredImage",
    "RegisteredMapping",
    "RegisteredObject",
    "graphics_map_flags",
    "graphics_register_flags",
    "init",
    "make_context",
]
_hide_imports(globals())
