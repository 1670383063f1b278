"""Import this to share the device's primary context: ``context`` on ``device``.

The primary context is the one that the CUDA runtime, CuPy and PyTorch use, so memory
and streams of theirs are valid here. ``pycuda.autoinit`` does the same unless
``PYCUDA_AUTOINIT=own``. The context is on the stack of the importing thread until the
interpreter exits, and threads that have none work in it.
"""

from __future__ import annotations

import atexit

import pycuda.driver as _driver
from pycuda import _hide_imports
from pycuda.tools import (
    _leave,
    _make_automatic_context,
    _retain_primary_context,  # noqa: F401
    make_default_context,  # noqa: F401  known under this module's name too
)

__all__ = ["context", "device", "make_default_context"]
_hide_imports(globals())

context: _driver.Context = _make_automatic_context("primary")
device: _driver.Device = context.get_device()


def _finish_up() -> None:
    global context
    leaving = globals().get("context")  # the program may have taken it away
    context = None  # type: ignore[assignment]  # at exit only
    _leave(leaving)


atexit.register(_finish_up)
