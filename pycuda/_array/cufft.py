"""Where cuFFT may be: C opens the library from one of these paths."""

from __future__ import annotations

from pycuda._compile import toolkit

NAMES = ("libcufft.so.12", "libcufft.so.11", "libcufft.so.10", "libcufft.so")
WHEEL_FOLDERS = ("nvidia/cu13/lib", "nvidia/cufft/lib")


def paths() -> list[str]:
    """Return what to open, in order: names for the loader, then files."""
    return toolkit.library_paths(NAMES, WHEEL_FOLDERS)
