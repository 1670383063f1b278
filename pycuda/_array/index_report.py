"""The report of a context: page-locked memory in which kernels note a wrong index."""

from __future__ import annotations

import ctypes

import numpy as np

from pycuda import _driver as drv
from pycuda._driver import _call_after_get, _wait_unless_captured, _working_context


class _Report:
    """Four integers that kernels write and the host reads.

    They are: 2 once the other three are valid; the index; its axis; the axis' length.
    """

    def __init__(self):
        array = drv.pagelocked_zeros(
            4, np.int64, mem_flags=drv.host_alloc_flags.DEVICEMAP
        )
        # The report and its context form a cycle. Keep the allocation, not the array:
        # the garbage collector does not see the allocation through a NumPy array.
        self._memory = array.base
        self._numbers = (ctypes.c_longlong * 4).from_address(array.ctypes.data)
        self.pointer = self._memory.get_device_pointer()

    def check(self):
        """Raise IndexError if a kernel noted a wrong index, and clear the report."""
        if self._numbers[0] != 2:
            return
        _, index, axis, length = self._numbers
        self._numbers[0] = 0
        raise_index_error(index, axis, length)


#: The attribute of a context that holds its report.
ATTRIBUTE = "_report_of_indices"


def report_of_context():
    """Return the report of the current context; make it at the first call."""
    context = _working_context()
    report = getattr(context, ATTRIBUTE, None)
    if report is None:
        report = _Report()
        setattr(context, ATTRIBUTE, report)
    return report


def raise_index_error(index, axis, length):
    """Raise NumPy's IndexError for an index outside its axis."""
    raise IndexError(
        f"index {index} is out of bounds for axis {axis} of length {length}"
    )


def check_report():
    """Raise IndexError if the report of the current context has a wrong index."""
    report = getattr(_working_context(), ATTRIBUTE, None)
    if report is not None:
        report.check()


def expect_report(stream, wait=True):
    """Wait for the stream if possible, otherwise defer the check to the next get().

    Return False if the report is complete, so that the caller checks it. Return True if
    the check is deferred: without ``wait``, or while the stream is being captured.
    """
    if wait and _wait_unless_captured(stream):
        return False
    _call_after_get(check_report)
    return True
