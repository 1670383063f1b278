"""Marks that several test modules use."""

import pytest

from support.emulator import LIBRARY

#: With PYCUDA_EMULATOR_LIBRARY=libcuda.so.1, the tests of the software device's library
#: run on a GPU, except those under this mark.
emulator_only = pytest.mark.skipif(
    "libcuda.so" in LIBRARY, reason="about the software device alone"
)
