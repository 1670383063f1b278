"""Warnings that name the line of the program, not a line of this package.

Filters decide whether a warning is shown, hidden or an error. In a notebook, a warning
is a red box. The warning that no driver was found is a line of small text there.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

# The folder of the package, with its separator.
PACKAGE = os.path.join(os.path.dirname(__file__), "")

#: The end of a note in front of the messages of a compiler.
NOTE_END = "\f"

# How the names of files begin whose frames are between the package and the program: the
# package, and Python's import.
_SKIPPED = (PACKAGE, "<frozen importlib")

# Newer toolkits print this for each kernel if they will drop its architecture one day.
_DEPRECATED_ARCHITECTURE = (
    r"(?im)^(?:nvrtc|nvcc) ?:? ?warning ?:.*\barchitectures prior to\b.*\n?"
)


def warn_settled(
    text: str | Warning,
    category: type[Warning],
    settled: set[tuple[str, int]] | None = None,
) -> bool:
    """Warn at the nearest line outside of the package.

    Return whether the filters hide the same warning at that line from now on. Such
    lines are added to ``settled``, and do not warn again, whatever the text.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_SKIPPED):
        frame = frame.f_back
    if frame is None:
        warnings.warn(text, category, stacklevel=1)
        return False
    names, line = frame.f_globals, frame.f_lineno
    place = (frame.f_code.co_filename, line)
    if settled is not None and place in settled:
        return True
    registry = names.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        text,
        category,
        frame.f_code.co_filename,
        line,
        names.get("__name__", "<unknown>"),
        registry,
    )
    is_settled = bool(registry.get((str(text), category, line)))
    if is_settled and settled is not None:
        settled.add(place)
    return is_settled


def forgive(
    text: str, error: type[Exception], category: type[Warning] | None = None
) -> None:
    """Warn of a mistake that does no harm on a GPU if the program is lucky.

    PyCUDA does not notice it, so the program goes on. Raise ``error`` with
    PYCUDA_STRICT, and under a check.
    """
    from pycuda._driver import PyCUDAWarning, _is_strict

    if _is_strict():
        raise error(text)
    warn_settled(f"{text}. {_FORGIVEN}", category or PyCUDAWarning)


_FORGIVEN = (
    "PyCUDA does not check this, so the program goes on; with PYCUDA_STRICT=1 it is an "
    "error"
)


def warn(text: str) -> None:
    """Warn at the nearest line outside of the package."""
    warn_settled(text, UserWarning)


def pass_on(messages: str) -> None:
    """Warn of the messages that a compiler printed although it succeeded.

    Notes of this package come first, each with ``NOTE_END`` behind it.
    """
    if not messages:
        return
    *notes, messages = messages.split(NOTE_END)
    for note in notes:
        warn(note)
    text = re.sub(_DEPRECATED_ARCHITECTURE, "", messages).strip()
    if not text:
        return
    if "demoted" in text.lower() or "demoting" in text.lower():
        warn(
            "the compiler turned double into float; an architecture of 1.3 or more "
            "(arch=) has double"
        )
    warn(f"The CUDA compiler succeeded, but said the following:\n{text}")


# -- for pycuda.explain ----------------------------------------------------------------


# A row that names a place, with what this package has added to it.
_OF_PLACE = re.compile(
    r"(?m)^(  (?:at|other access at) \S+:\d+)(?: \(.*\))?(?:\n {6}.*)?$"
)


def keep_in_log(of_arguments: type[Warning]) -> None:
    """Append the package's warnings that are shown to the file of PYCUDA_CHECK_LOG.

    A mistake of the program is of the kind ``mistake``, anything else ``warning``. What
    a function raises that a stream calls is of the kind ``callback``.
    ``of_arguments`` is the class of warnings that are mistakes always.
    """
    from pycuda._driver import PyCUDAWarning

    show = warnings.showwarning

    def show_and_keep(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        *more: Any,
        **options: Any,
    ) -> None:
        show(message, category, filename, lineno, *more, **options)
        text, kind = str(message).rstrip(), "warning"
        if issubclass(category, of_arguments) or _FORGIVEN in text:
            text, kind = text.removesuffix(f". {_FORGIVEN}"), "mistake"
        elif not issubclass(category, PyCUDAWarning) and not _is_warning():
            return
        if "\n  in kernel " in text and "\n  launched at " in text:
            text = _OF_PLACE.sub(r"\1", text)
        else:
            text += f"\n  at {filename}:{lineno}"
        _append_to_log(kind, text)

    warnings.showwarning = show_and_keep
    ignore = sys.unraisablehook

    def ignore_and_keep(ignored: Any) -> None:
        ignore(ignored)
        text = failed_callback(ignored)
        if text:
            keep_callback(text)

    sys.unraisablehook = ignore_and_keep


def keep_callback(text: str) -> None:
    """Append what failed_callback returns to the file of PYCUDA_CHECK_LOG, if any."""
    _append_to_log("callback", text)


def failed_callback(ignored: Any) -> str:
    """Return what a function that a stream calls has raised, and its place.

    ``ignored`` is what Python gives ``sys.unraisablehook``. Return "" if the exception
    comes from something else, such as a destructor.
    """
    error = ignored.exc_value
    if not getattr(error, "_of_callback", False):
        return ""
    name = getattr(ignored.object, "__qualname__", repr(ignored.object))
    text = f"{name}, a function that a stream calls, has raised {type(error).__name__}"
    text += f": {error}" if str(error) else ""
    import traceback  # slow to import

    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if not each.filename.startswith(PACKAGE)]
    return f"{text}\n  at {own[-1].filename}:{own[-1].lineno}" if own else text


def _append_to_log(kind: str, text: str) -> None:
    """Append a report to the file of PYCUDA_CHECK_LOG."""
    path = os.environ.get("PYCUDA_CHECK_LOG", os.devnull)
    with contextlib.suppress(OSError), open(path, "a", encoding="utf-8") as log:
        log.write(f"== {kind} {os.getpid()}\n{text}\n\n")


def _is_warning() -> bool:
    """Return whether the present call comes from this module."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code is not warn_settled.__code__:
        frame = frame.f_back
    return frame is not None


# -- no driver -------------------------------------------------------------------------

_NO_DRIVER = (
    "no NVIDIA driver was found: using the software device "
    "(PYCUDA_DRIVER=emulator chooses it silently)"
)


def warn_of_software_device(reason: str) -> None:
    """Warn, at the line of the program, that the software device replaces the driver.

    ``reason`` is what the loader said about the driver's library. It is the cause of
    the warning.
    """
    from pycuda._driver import PyCUDAWarning

    message = PyCUDAWarning(_NO_DRIVER)
    message.__cause__ = OSError(reason)
    if not in_notebook():
        warn_settled(message, PyCUDAWarning)
        return
    shown = warnings.showwarning
    warnings.showwarning = _show_in_notebook
    try:
        warn_settled(message, PyCUDAWarning)
    finally:
        warnings.showwarning = shown


def in_notebook() -> bool:
    """Return whether the output of the program is in a notebook of Jupyter."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def cells() -> dict[str, int]:
    """Return the numbers of the notebook's cells by the names of their files."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    known = getattr(getattr(shell, "compile", None), "_filename_map", {})
    return {path: n for path, n in known.items() if isinstance(n, int)}


def place_text(file: str, line: int) -> str:
    """Return how messages name a line of the program, or of a cell."""
    number = cells().get(file)
    return f"{file if number is None else f'Cell In[{number}]'}, line {line}"


def _show_in_notebook(message: Any, *where: object, **more: object) -> None:
    import html
    import importlib

    text = str(message)
    small = f'<small style="opacity: 0.7">pycuda: {html.escape(text)}</small>'
    display = importlib.import_module("IPython.display").display
    display({"text/plain": f"pycuda: {text}", "text/html": small}, raw=True)
