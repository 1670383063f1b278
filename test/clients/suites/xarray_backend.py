"""A plugin of pytest: xarray's tests with other arrays run with GPUArrays."""

import sys
import types

import numpy as np
from cupy_module import add, to_host
from xarray.namedarray import pycompat

import pycuda.array_api
from pycuda.gpuarray import GPUArray

pycompat._get_cached_duck_array_module("cupy")  # xarray takes no GPUArray for CuPy's
add()
# Tests of the standard take their arrays from array_api_strict.
strict = types.ModuleType("array_api_strict._array_object")
strict.Array = GPUArray
sys.modules.update({"array_api_strict": pycuda.array_api, strict.__name__: strict})


class Host(types.ModuleType):
    """NumPy, in which asarray() copies from the device."""

    def __getattr__(self, name):
        return getattr(np, name)

    def asarray(self, x):
        return to_host(x)


def pytest_collection_finish(session):
    """Change names in the modules of the tests."""
    modules = sys.modules.get
    if module := modules("xarray.tests.test_array_api"):
        module.np = Host("numpy")
    if module := modules("xarray.tests.test_duck_array_wrapping"):
        module.NAMESPACE_ARRAYS["cupy"]["xfails"].clear()  # what CuPy does not have
