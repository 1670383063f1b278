"""Timelines: what a program did, when the device worked, and for which line.

::

    import pycuda.profile

    with pycuda.profile.timeline("run.html"):
        work()

``run.html`` is one file without references to others: launches, copies, compilations
and waits over time, each with its line of Python, and tables of the heaviest lines and
kernels. A name that ends in ``.json`` is a trace for Perfetto or Chrome, ``.txt`` a
table. ``python -m pycuda.profile script.py`` records a whole program.

The times of the device are those of events that the driver records before and behind
each piece of work. On a GPU, that adds about a microsecond to each. A program that
records no timeline pays nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from collections.abc import Callable, Iterator

from pycuda import _driver, _hide_imports, _libraries
from pycuda._page import encodable
from pycuda.profile._spans import Kernel, Limits, Span
from pycuda.profile._summary import CopyTime, KernelTime, LineTime
from pycuda.profile._timeline import MOST, Timeline

__all__ = [
    "CopyTime",
    "Kernel",
    "KernelTime",
    "Limits",
    "LineTime",
    "Span",
    "Timeline",
    "timeline",
]
_hide_imports(globals())


def timeline(*paths: str | os.PathLike[str], most: int = MOST) -> Timeline:
    """Return a timeline, which records while it is entered.

    Parameters
    ----------
    *paths : path
        Files to write at the end, ``.html``, ``.json`` or ``.txt``.
    most : int, optional
        How many calls are kept; later ones are only counted.

    Returns
    -------
    Timeline
        The timeline, for a ``with`` statement. One timeline records at a time.

    See Also
    --------
    range : Name a part of the program.

    Examples
    --------
    >>> from pycuda.profile import timeline
    >>> with timeline() as record:
    ...     _ = gpuarray.zeros(1000)
    """
    return Timeline(*paths, most=most)


#: The functions of NVTX that ranges call.
_NVTX = {"nvtxRangePushA": [ctypes.c_char_p], "nvtxRangePop": []}

#: Returns the library of NVTX, None if it is not installed.
_nvtx: Callable[[], ctypes.CDLL | None] = functools.cache(
    lambda: _libraries.NVTX.find(_NVTX)
)


@contextlib.contextmanager
def range(name: str) -> Iterator[None]:
    """Name a part of the program, in the timeline and in Nsight Systems.

    Parameters
    ----------
    name : str
        The name. It appears as a bar above the calls of the part.

    Yields
    ------
    None
        While the part runs, as a ``with`` statement needs it.

    Raises
    ------
    TypeError
        If the name is not a text.

    Notes
    -----
    If the library of NVTX is installed, the part is a range of NVTX as well.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a range is a text, not {name!r}")
    name = encodable(name.replace("\0", " "))
    nvtx = _nvtx()
    if nvtx is not None:
        nvtx.nvtxRangePushA(name.encode())
    begin = _driver._timeline_clock()
    try:
        yield
    finally:
        end = _driver._timeline_clock()
        if begin and end:
            _driver._timeline_note("range", name, begin, end)
        if nvtx is not None:
            nvtx.nvtxRangePop()
