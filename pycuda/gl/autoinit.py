"""Import this, where OpenGL has a current context, for a context that shares with it.

``context`` is on ``device`` and on the stack until the interpreter exits.
"""

from __future__ import annotations

import atexit

import pycuda.driver as _driver
from pycuda.gl import make_context
from pycuda.tools import _leave, make_default_context

_driver.init()
context: _driver.Context = make_default_context(make_context)
device: _driver.Device = context.get_device()


def _finish_up() -> None:
    global context
    leaving = globals().get("context")  # the program may have taken it away
    context = None  # type: ignore[assignment]  # at exit only
    _leave(leaving)


atexit.register(_finish_up)
