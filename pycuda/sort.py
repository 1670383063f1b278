"""Sorts of elements of any type by a key in C: ``SortKernel``."""

from pycuda import _hide_imports
from pycuda._array.kernels.sort_kernel import SortKernel as SortKernel
from pycuda._public import publish as _publish

__all__ = ["SortKernel"]
_hide_imports(globals())

_publish(globals())
