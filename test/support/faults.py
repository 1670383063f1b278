"""Make calls of the software device fail on request.

Import the fixture `fail_calls` into a test module. Its tests are skipped on a GPU,
because a real driver does not fail on request.
"""

import ctypes

import pytest

from pycuda import _driver
from support.emulator import LIBRARY

INVALID_VALUE = 1
OUT_OF_MEMORY = 2
NOT_FOUND = 500


class FaultyDevice:
    """The software device in use, with calls that fail on request."""

    def __init__(self):
        self.lib = ctypes.CDLL(LIBRARY)
        self.lib.emu_fault_set.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.c_int]
        self.lib.emu_call_count.restype = ctypes.c_ulonglong
        self.lib.emu_call_count.argtypes = [ctypes.c_char_p]

    def __call__(self, name, *numbers, code=INVALID_VALUE):
        """Let calls of a function fail, by their numbers; 1 is the next call."""
        for number in numbers:
            assert self.lib.emu_fault_set(name.encode(), number, code) == 0

    def clear(self):
        self.lib.emu_fault_clear()

    def count(self, name):
        """Return how often a function was called."""
        return self.lib.emu_call_count(name.encode())


@pytest.fixture
def fail_calls():
    if not _driver._is_emulated():
        pytest.skip("only the software device fails calls on request")
    device = FaultyDevice()
    device.clear()
    yield device
    device.clear()
