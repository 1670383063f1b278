"""The note that no driver was found, so that the software device is used.

``init()`` calls ``warn`` once in a process. In a notebook, a warning is a red box, so
the note is a line of small text there. Everywhere the filters of warnings decide
whether it is shown, hidden or an error.
"""

from __future__ import annotations

import html
import importlib
import sys
import warnings
from typing import Any

from pycuda._compile.warning import warn_settled
from pycuda._driver import PyCUDAWarning

_TEXT = (
    "no NVIDIA driver was found: using the software device "
    "(PYCUDA_DRIVER=emulator chooses it silently)"
)


def warn(reason: str) -> None:
    """Warn at the line of the program that needed the driver.

    ``reason`` is what the loader said about the driver's library. It is the cause of
    the warning.
    """
    message = PyCUDAWarning(_TEXT)
    message.__cause__ = OSError(reason)
    if not _is_notebook():
        warn_settled(message, PyCUDAWarning)
        return
    shown = warnings.showwarning
    warnings.showwarning = _show_in_notebook
    try:
        warn_settled(message, PyCUDAWarning)
    finally:
        warnings.showwarning = shown


def _is_notebook() -> bool:
    """Return whether the code runs in a kernel of Jupyter."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _show_in_notebook(message: Any, *where: object, **more: object) -> None:
    text = str(message)
    small = f'<small style="opacity: 0.7">pycuda: {html.escape(text)}</small>'
    display = importlib.import_module("IPython.display").display
    display({"text/plain": f"pycuda: {text}", "text/html": small}, raw=True)
