"""Import this to initialise CUDA and get a context: ``context`` on ``device``.

The context is the primary context of the device, which PyTorch, CuPy and TensorRT use
too; with ``PYCUDA_AUTOINIT=own`` it is a context of its own. It is on the stack of the
importing thread until the interpreter exits. Threads that have no context work in it,
unless ``PYCUDA_AUTOINIT_THREADS=0``.
"""

from __future__ import annotations

import atexit

import pycuda.driver as _driver
from pycuda import _hide_imports
from pycuda.tools import (
    _leave,
    _make_automatic_context,
    make_default_context,  # noqa: F401  known under this module's name too
)

__all__ = ["context", "device", "make_default_context"]
_hide_imports(globals())

context: _driver.Context = _make_automatic_context()
device: _driver.Device = context.get_device()


def _finish_up() -> None:
    global context
    leaving = globals().get("context")  # the program may have taken it away
    context = None  # type: ignore[assignment]  # at exit only
    _leave(leaving)


atexit.register(_finish_up)
