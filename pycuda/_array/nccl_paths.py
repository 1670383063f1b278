"""Where NCCL may be: C opens the library from one of these paths."""

from __future__ import annotations

import os

from pycuda._compile import toolkit

NAMES = ("libnccl.so.2", "libnccl.so")
WHEEL_FOLDERS = ("nvidia/nccl/lib",)


def paths() -> list[str]:
    """Return what to open, in order: names for the loader, then files.

    The environment variable ``PYCUDA_NCCL`` names the only file instead.
    """
    given = os.environ.get("PYCUDA_NCCL")
    if given:
        return [given]
    return toolkit.library_paths(NAMES, WHEEL_FOLDERS)
