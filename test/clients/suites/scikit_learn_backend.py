"""A plugin of pytest: scikit-learn's array API tests run with pycuda.array_api."""

from sklearn.utils import _array_api as tables

import pycuda.autoinit  # noqa: F401
from pycuda.gpuarray import GPUArray

NAME = "pycuda.array_api"
HOST = tables.NamespaceAndDevice("numpy", None)
OURS = tables.NamespaceAndDevice(NAME, None)
_to_host = tables._convert_to_numpy


def convert_to_numpy(array, xp):
    """Return an array in host memory. The library's own table has no GPUArrays."""
    return array.get() if isinstance(array, GPUArray) else _to_host(array, xp)


tables.yield_namespaces = lambda include_numpy_namespaces=True: iter([NAME])
tables.yield_mixed_namespace_input_permutations = lambda: iter(
    [(HOST, OURS, "numpy to pycuda"), (OURS, HOST, "pycuda to numpy")]
)
tables._convert_to_numpy = convert_to_numpy
