"""Functions of arrays that run as few kernels.

``pycuda.fuse`` is a decorator. The function it decorates is written for GPUArrays. It
is recorded once for the dtypes and shapes of its arguments, and its elementwise
operations become few kernels without intermediate arrays. Results have the same bits as
without the decorator. ``PYCUDA_FUSE=0`` runs the functions as they are written.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pycuda.fuse._trace as _trace
from pycuda import _hide_imports
from pycuda._public import publish as _publish
from pycuda.fuse._launch import FusedFunction, KernelFacts
from pycuda.fuse._loops import loop, while_loop
from pycuda.fuse._trace import FuseError

__all__ = [
    "FuseError",
    "FusedFunction",
    "KernelFacts",
    "call",
    "fuse",
    "loop",
    "while_loop",
]


def fuse(function: Any = None, *, donate: Any = (), fast: bool = False) -> Any:
    """Return a function that runs as few kernels.

    Parameters
    ----------
    function : callable, optional
        A function of GPUArrays and other values. Without it, return a decorator.
    donate : sequence of str, optional
        Names of parameters whose arrays the caller gives up.
    fast : bool, optional
        If true, the compiler may contract a product and a sum into one operation that
        rounds once. The results may then differ in their last bits from those of the
        plain function.

    Returns
    -------
    FusedFunction
        The function.
    """
    if isinstance(donate, str):
        donate = (donate,)
    if function is None:
        return lambda function: FusedFunction(function, donate, fast)
    return FusedFunction(function, donate, fast)


def call(function: Any, *args: Any, writes: Any = ()) -> Any:
    """Call a plain function between the kernels of a fused one.

    Parameters
    ----------
    function : callable
        A function of GPUArrays, such as one of ``pycuda.linalg``, or one that launches
        a kernel of the program.
    *args
        Its arguments.
    writes : sequence of int, optional
        The numbers of the arguments that the function changes.

    Returns
    -------
    object
        What the function returns: arrays, also in tuples.

    Notes
    -----
    Recording calls the function once with arrays of other contents, to learn the
    layouts of its results. They must not depend on elements.
    """
    if not _trace.is_recording():
        return function(*args)
    name = getattr(function, "__name__", str(function))
    return _trace.call(function, args, {}, name, tuple(writes), own=False)


class _Module(ModuleType):
    """The module, which is called as the decorator."""

    def __call__(
        self, function: Any = None, *, donate: Any = (), fast: bool = False
    ) -> Any:
        return fuse(function, donate=donate, fast=fast)


sys.modules[__name__].__class__ = _Module
_publish(globals())
_hide_imports(globals())
