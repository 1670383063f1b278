"""Scans (prefix sums): ``InclusiveScanKernel`` and ``ExclusiveScanKernel``."""

from pycuda import _hide_imports
from pycuda._array.kernels.scan_kernel import (
    EXCLUSIVE_UPDATE_SOURCE as EXCLUSIVE_UPDATE_SOURCE,
    INCLUSIVE_UPDATE_SOURCE as INCLUSIVE_UPDATE_SOURCE,
    SCAN_INTERVALS_SOURCE as SCAN_INTERVALS_SOURCE,
    SHARED_PREAMBLE as SHARED_PREAMBLE,
    ExclusiveScanKernel as ExclusiveScanKernel,
    InclusiveScanKernel as InclusiveScanKernel,
    _ScanKernelBase as _ScanKernelBase,
)
from pycuda._public import publish as _publish

__all__ = [
    "EXCLUSIVE_UPDATE_SOURCE",
    "ExclusiveScanKernel",
    "INCLUSIVE_UPDATE_SOURCE",
    "InclusiveScanKernel",
    "SCAN_INTERVALS_SOURCE",
    "SHARED_PREAMBLE",
]
_hide_imports(globals())

_publish(globals())
