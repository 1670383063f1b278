"""Where NVIDIA's random number library and its header for device code may be."""

from __future__ import annotations

import os
from collections.abc import Iterator

from pycuda import _extras
from pycuda._compile import nvrtc, toolkit

HEADER = "curand_kernel.h"
_NAMES = ("libcurand.so.10", "libcurand.so")
_WHEEL_FOLDERS = ("nvidia/cu13/lib", "nvidia/curand/lib")
_WHEEL_HEADERS = ("nvidia/cu13/include", "nvidia/curand/include")
_SYSTEM = "/usr/include"


def paths() -> list[str]:
    """Return what C tries to open, in order: names for the loader, then files."""
    return toolkit.library_paths(_NAMES, _WHEEL_FOLDERS)


def compiler_options() -> list[str]:
    """Return the options with which a compiler finds the header.

    Raises CompileError if it is not there.
    """
    for folder in _folders():
        if os.path.isfile(os.path.join(folder, HEADER)):
            # A system's own nvcc looks there, after the C library's own headers.
            return [] if folder == _SYSTEM else [f"-I{folder}"]
    from pycuda.driver import CompileError

    raise CompileError(
        f"cuRAND's header for device code, {HEADER}, was not found: not beside NVRTC "
        f"or nvcc, not under {toolkit.described_homes()} or /usr/local/cuda, and not "
        f"in NVIDIA's wheels ({' or '.join(_WHEEL_HEADERS)} in site-packages). Install "
        f"the CUDA toolkit, or its wheels with '{_extras.command('curand')}', or for "
        "CUDA 12 'pip install nvidia-curand-cu12'",
        [],
    )


def _folders() -> Iterator[str]:
    """Yield the folders that may have the header, those of the compilers first."""
    for path in (nvrtc.find(), toolkit.on_path(["nvcc"])):
        if path is not None:
            for each in (path, os.path.realpath(path)):
                yield os.path.join(os.path.dirname(os.path.dirname(each)), "include")
    for home in toolkit.homes():
        yield os.path.join(home, "include")
    yield from toolkit.in_wheels(_WHEEL_HEADERS)
    yield _SYSTEM
