"""Warnings that name the line of the program, not a line of this package."""

from __future__ import annotations

import os
import re
import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

# The folder of the package, with its separator.
PACKAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")

# How the names of files begin whose frames are between the package and the program: the
# package, and Python's import.
_SKIPPED = (PACKAGE, "<frozen importlib")

# Newer toolkits print this for each kernel if they will drop its architecture one day.
_DEPRECATED_ARCHITECTURE = (
    r"(?im)^(?:nvrtc|nvcc) ?:? ?warning ?:.*\barchitectures prior to\b.*\n?"
)


def warn_settled(text: str | Warning, category: type[Warning]) -> bool:
    """Warn at the nearest line outside of the package.

    Return whether the filters hide the same warning at that line from now on.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_SKIPPED):
        frame = frame.f_back
    if frame is None:
        warnings.warn(text, category, stacklevel=1)
        return False
    names, line = frame.f_globals, frame.f_lineno
    registry = names.setdefault("__warningregistry__", {})
    warnings.warn_explicit(
        text,
        category,
        frame.f_code.co_filename,
        line,
        names.get("__name__", "<unknown>"),
        registry,
    )
    return bool(registry.get((str(text), category, line)))


def warn(text: str) -> None:
    """Warn at the nearest line outside of the package."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


def pass_on(messages: str) -> None:
    """Warn of the messages that a compiler printed although it succeeded."""
    if not messages:
        return
    text = re.sub(_DEPRECATED_ARCHITECTURE, "", messages).strip()
    if not text:
        return
    if "demoted" in text.lower() or "demoting" in text.lower():
        warn(
            "the compiler turned double into float; an architecture of 1.3 or more "
            "(arch=) has double"
        )
    warn(f"The CUDA compiler succeeded, but said the following:\n{text}")
