"""The stream that a ``with`` block works on."""

from __future__ import annotations

import contextlib

from pycuda._driver import Stream


def on_stream(stream):
    """Return a context manager that makes a stream current; None changes nothing."""
    if stream is None:
        return contextlib.nullcontext()
    if isinstance(stream, Stream):
        return stream
    return Stream.from_handle(stream)  # of another library
