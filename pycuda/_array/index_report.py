"""Wrong indices that a kernel finds: its notes, and the IndexError."""

from __future__ import annotations

import ctypes

import numpy as np

from pycuda import _driver as drv
from pycuda._driver import _call_after_get, _wait_unless_captured, _working_context


class _Report:
    """Page-locked memory in which kernels of a context note a wrong index.

    The numbers are: 2 once the others are there, the index, its axis, the axis' length.
    """

    def __init__(self):
        array = drv.pagelocked_zeros(
            4, np.int64, mem_flags=drv.host_alloc_flags.DEVICEMAP
        )
        # The report and its context form a cycle. The collector sees the allocation in
        # it, but would not see it through an array.
        self._memory = array.base
        self._numbers = (ctypes.c_longlong * 4).from_address(array.ctypes.data)
        self.pointer = self._memory.get_device_pointer()

    def check(self):
        """Raise IndexError for a wrong index that was noted, and forget it."""
        if self._numbers[0] != 2:
            return
        _, index, axis, length = self._numbers
        self._numbers[0] = 0
        raise_index_error(index, axis, length)


ATTRIBUTE = "_report_of_indices"


def report_of_context():
    """Return the report of the current context, which is an attribute of it."""
    context = _working_context()
    report = getattr(context, ATTRIBUTE, None)
    if report is None:
        report = _Report()
        setattr(context, ATTRIBUTE, report)
    return report


def raise_index_error(index, axis, length):
    raise IndexError(
        f"index {index} is out of bounds for axis {axis} of length {length}"
    )


def check_report():
    report = getattr(_working_context(), ATTRIBUTE, None)
    if report is not None:
        report.check()


def expect_report(stream, wait=True):
    """See to it that a wrong index is told of: False if it can be seen now."""
    if wait and _wait_unless_captured(stream):
        return False
    _call_after_get(check_report)
    return True
