"""The indices of the elements that are not 0; the function is C."""

from __future__ import annotations

from pycuda._driver import _nonzero as nonzero

__all__ = ["nonzero"]
