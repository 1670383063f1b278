"""Sorts of elements of any type by a key in C: ``SortKernel``."""

from pycuda._array.public_names import publish as _publish
from pycuda._array.sort_kernel import SortKernel as SortKernel

_publish(globals())
