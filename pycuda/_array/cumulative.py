"""Cumulative operations: the functions are C."""

from __future__ import annotations

from pycuda._array.context_cache import context_dependent_memoize


@context_dependent_memoize
def scan_kernel_of(dtype, expression):
    """Return the inclusive scan of a dtype by an expression such as "a + b"."""
    from pycuda._array.scan_kernel import InclusiveScanKernel

    return InclusiveScanKernel(dtype, expression)
