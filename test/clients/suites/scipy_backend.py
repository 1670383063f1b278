"""A plugin of pytest: SciPy's tests with the fixture ``xp`` run with pycuda.array_api.

SciPy marks the tests for which a function has compiled code of the host only. They are
skipped, as for CuPy.
"""

import pytest
import scipy.conftest as fixtures
from scipy._lib import _array_api as checks

import pycuda.array_api
import pycuda.autoinit  # noqa: F401
from pycuda.gpuarray import GPUArray

NAME = pycuda.array_api.__name__
_strict_check, _to_host = checks._strict_check, checks._xp_copy_to_numpy


def to_host(x):
    """Return an array in host memory."""
    return x.get() if isinstance(x, GPUArray) else _to_host(x)


def strict_check(*args, **kwargs):
    """Compare types and shapes on the device. numpy.testing compares host arrays."""
    actual, desired, xp = _strict_check(*args, **kwargs)
    if isinstance(actual, GPUArray):
        actual, desired = actual.get(), desired.get()
    return actual, desired, xp


class Info(type(pycuda.array_api.__array_namespace_info__())):
    """SciPy appends to the list of devices, which is a tuple since version 2025.12."""

    def devices(self):
        return list(super().devices())


checks._xp_copy_to_numpy, checks._strict_check = to_host, strict_check
pycuda.array_api.__array_namespace_info__ = Info
fixtures.xp_known_backends.add(NAME)
fixtures.xp_skip_cpu_only_backends.add(NAME)
mark = pytest.mark.array_api_backends
namespace = pytest.param(pycuda.array_api, id="pycuda", marks=mark)
# The fixture took its parameters when it was made.
object.__setattr__(fixtures.xp._fixture_function_marker, "params", (namespace,))
