"""A plugin of pytest: array-api-extra's tests run with pycuda.array_api for CuPy.

The library lists its namespaces in an Enum, which takes no new member.
"""

from array_api_extra._lib._backends import Backend
from array_api_extra.testing import _testing as checks

import pycuda.array_api
import pycuda.autoinit  # noqa: F401
from pycuda.gpuarray import GPUArray

_to_host = checks._as_numpy_array


def to_host(array, *args, **kwargs):
    """Return an array in host memory. The library's own function has no GPUArrays."""
    return (
        array.get() if isinstance(array, GPUArray) else _to_host(array, *args, **kwargs)
    )


def pytest_configure(config):
    """Do what the settings of pytest say, which the wheel does not have."""
    config.addinivalue_line("filterwarnings", "error")
    # NVRTC asks for it and works without.
    config.addinivalue_line("filterwarnings", "ignore:.*not have cuGetExportTable")
    for mark in ("skip_xp_backend", "xfail_xp_backend", "thread_unsafe"):
        config.addinivalue_line("markers", mark)


checks._as_numpy_array = to_host
Backend.CUPY._value_ = pycuda.array_api.__name__
