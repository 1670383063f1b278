"""Import this to share the device's primary context: ``context`` on ``device``.

The primary context is the one that the CUDA runtime, CuPy and PyTorch use, so memory
and streams of theirs are valid here. It is on the stack until the interpreter exits.
"""

from __future__ import annotations

import atexit

import pycuda.driver as _driver
from pycuda.tools import _leave, make_default_context


def _retain_primary_context(dev: _driver.Device) -> _driver.Context:
    retained = dev.retain_primary_context()
    retained.push()
    return retained


_driver.init()
context: _driver.Context = make_default_context(_retain_primary_context)
device: _driver.Device = context.get_device()


def _finish_up() -> None:
    global context
    leaving = globals().get("context")  # the program may have taken it away
    context = None  # type: ignore[assignment]  # at exit only
    _leave(leaving)


atexit.register(_finish_up)
