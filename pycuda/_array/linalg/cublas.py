"""Where cuBLAS may be: C opens the library from one of these paths."""

from __future__ import annotations

from pycuda._compile import toolkit

NAMES = ("libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so")
WHEEL_FOLDERS = ("nvidia/cu13/lib", "nvidia/cublas/lib")


def paths() -> list[str]:
    """Return what to open, in order: names for the loader, then files."""
    return toolkit.library_paths(NAMES, WHEEL_FOLDERS)
