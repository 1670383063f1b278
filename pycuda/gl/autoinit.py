"""Make a context that shares memory with OpenGL, which must have a current context.

``context`` is a context of ``device``. It stays on the stack until the interpreter
exits.
"""

from __future__ import annotations

import atexit

import pycuda.driver as _driver
from pycuda import _hide_imports
from pycuda.gl import make_context
from pycuda.tools import _leave, make_default_context

__all__ = ["context", "device", "make_default_context"]
_hide_imports(globals())

_driver.init()
context: _driver.Context = make_default_context(make_context)
device: _driver.Device = context.get_device()


def _finish_up() -> None:
    global context
    leaving = globals().get("context")  # the program may have popped the context
    context = None  # type: ignore[assignment]  # at exit only
    _leave(leaving)


atexit.register(_finish_up)
