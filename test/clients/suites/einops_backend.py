"""A plugin of pytest: einops' tests of backends run with that of GPUArrays."""

import os
import sys

from einops import _backends

import pycuda.autoinit
import pycuda.gpuarray

NAME = pycuda.gpuarray.__name__
os.environ["EINOPS_TEST_BACKENDS"] = NAME
x = pycuda.gpuarray.zeros(1, "f4")
# The tests take the classes of a list, which has this name.
_backends.CupyBackend = type(_backends.get_backend(x))


def pytest_collection_finish(session):
    """Let the tests of einsum take the backend. They have a list of names."""
    sys.modules["einops.tests.test_einsum"].valid_backends_functional.append(NAME)
