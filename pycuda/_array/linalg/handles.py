"""Handles of NVIDIA's libraries: one for each context, used by one thread at a time."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from ctypes import byref, c_void_p

import pycuda.driver as _cuda
from pycuda import _driver
from pycuda._driver import Context, GPUArray, Stream


class Handle:
    """A library's handle of the current context.

    ``open_library()`` returns the library. ``names`` are its functions that make a
    handle, release one and set the stream; ``check(name, status)`` raises the exception
    of a status. The context remembers the handle, which is released with it.
    """

    def __init__(self, open_library, names, check):
        if _driver._is_emulated():
            raise _cuda.RuntimeError(
                "the software device has no solvers: they need a GPU and cuSOLVER (the "
                "extra linalg); get() the array and use numpy.linalg"
            )
        self.library = library = open_library()
        self.value = c_void_p()
        self.lengths = {}  # of work spaces, which depend on sizes only
        self._check = check
        create, self._destroy, self._set_stream = names
        self._lock = threading.Lock()
        self._context = Context.get_current()
        self._pid = os.getpid()
        check(create, getattr(library, create)(byref(self.value)))

    def __del__(self):
        if not getattr(self, "value", None) or os.getpid() != self._pid:
            return  # there is no handle, or it belongs to the parent process
        if self._context is None or sys.is_finalizing():
            return  # the context is not ours, or ends with the process
        try:
            self._context.push()
        except _cuda.Error:
            return  # the context has ended, and the handle with it
        try:
            getattr(self.library, self._destroy)(self.value)
        finally:
            Context.pop()

    def call(self, name, *arguments):
        """Call a function on the current stream. Arrays are passed as addresses."""
        stream = Stream.get_current()
        passed = [
            c_void_p(a.ptr if a.size else 0) if isinstance(a, GPUArray) else a
            for a in arguments
        ]
        function = getattr(self.library, name)
        with self._lock:
            number = c_void_p(stream.handle if stream else 0)
            set_stream = getattr(self.library, self._set_stream)
            self._check(self._set_stream, set_stream(self.value, number))
            status = function(self.value, *passed)
        self._check(name, status)
        if not name.endswith("_bufferSize"):  # those enqueue no work
            _driver._note_library_call(name, number.value or 0)


def open_first(paths):
    """Return the first of these libraries that can be opened, None if there is none."""
    for path in paths:
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None
