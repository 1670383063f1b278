"""Ranges of NVTX, which Nsight Systems shows, if the library is installed."""

from __future__ import annotations

import ctypes
from typing import Any

from pycuda._compile import toolkit

#: The library of CUDA 13, then the one of CUDA 12 and older.
_NAMES = ("libnvtx3interop.so.1", "libnvToolsExt.so.1")
_WHEELS = ("nvidia/cu13/lib", "nvidia/nvtx/lib")


#: The library, or None, after the first search.
_found: list[Any] = []


def _open() -> Any:
    for path in toolkit.library_paths(_NAMES, _WHEELS):
        try:
            library = ctypes.CDLL(path)
            library.nvtxRangePushA.argtypes = (ctypes.c_char_p,)
            library.nvtxRangePop.argtypes = ()
        except (OSError, AttributeError):
            continue
        return library
    return None


def _library() -> Any:
    """Return the library, None if it is not installed."""
    if not _found:
        _found.append(_open())
    return _found[0]


def push(name: str) -> None:
    """Begin a range of this thread."""
    library = _library()
    if library is not None:
        library.nvtxRangePushA(name.encode())


def pop() -> None:
    """End the innermost range of this thread."""
    library = _library()
    if library is not None:
        library.nvtxRangePop()


def is_there() -> bool:
    """Return whether the library was found."""
    return _library() is not None
