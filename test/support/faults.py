"""Failing calls of the driver on request, which the software device offers.

Import the fixture `fail_calls` into a test module. On a real GPU its tests are skipped:
a real driver does not fail when asked.
"""

import ctypes

import pytest

from pycuda import _driver
from support.emulator import LIBRARY

INVALID_VALUE = 1
OUT_OF_MEMORY = 2
NOT_FOUND = 500


class FaultyDevice:
    """The software device in use, as one that fails calls."""

    def __init__(self):
        self.lib = ctypes.CDLL(LIBRARY)
        self.lib.emu_fault_set.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.c_int]
        self.lib.emu_call_count.restype = ctypes.c_ulonglong
        self.lib.emu_call_count.argtypes = [ctypes.c_char_p]

    def __call__(self, name, *numbers, code=INVALID_VALUE):
        """Fail the coming calls of a function with these numbers (1 is the next)."""
        for number in numbers:
            assert self.lib.emu_fault_set(name.encode(), number, code) == 0

    def clear(self):
        self.lib.emu_fault_clear()

    def count(self, name):
        """How often a function was called."""
        return self.lib.emu_call_count(name.encode())


@pytest.fixture
def fail_calls():
    if not _driver._is_emulated():
        pytest.skip("only the software device fails calls on request")
    device = FaultyDevice()
    device.clear()
    yield device
    device.clear()
