"""Helpers that PyCUDA shares with PyOpenCL: layouts of arrays, names of C types."""

from pycuda import _hide_imports

__all__: list[str] = []  # its modules are imported by name
_hide_imports(globals())
