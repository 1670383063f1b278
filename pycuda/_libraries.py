"""NVIDIA's libraries of this process: where they may be, and how they are opened.

C opens cuBLAS, cuFFT, cuRAND and NCCL from the paths that ``paths(name)`` returns.
Python opens others by ``ctypes``, when they are needed first: where the loader looks,
in a toolkit, or in NVIDIA's wheels.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from pycuda import _extras, driver as _cuda
from pycuda._compile import toolkit

_opening = threading.Lock()


class Library:
    """A library of NVIDIA's.

    ``name`` is the one in messages, ``files`` are the file names, the newest first, and
    ``wheels`` the folders of wheels. An environment ``variable`` may name the only
    file. ``step`` is what installs the library, or ``extra`` the extra that does.
    """

    def __init__(
        self,
        name: str,
        files: Sequence[str],
        wheels: Sequence[str],
        step: str = "",
        variable: str | None = None,
        extra: str = "",
    ) -> None:
        self.name = name
        self._files = files
        self._wheels = wheels
        self._step = step
        self._extra = extra
        self._variable = variable
        self._library: ctypes.CDLL | None = None

    def paths(self) -> list[str]:
        """Return what to open, in order: names for the loader, then files."""
        given = os.environ.get(self._variable) if self._variable else None
        if given:
            return [given]
        return toolkit.library_paths(self._files, self._wheels)

    def find(
        self, functions: Mapping[str, Sequence[Any]] | None = None
    ) -> ctypes.CDLL | None:
        """Return the library, opened once, or None if there is none.

        ``functions`` has the functions that it must have, with the types of their
        arguments. Their results are numbers.
        """
        with _opening:
            for path in self.paths() if self._library is None else ():
                try:
                    library = ctypes.CDLL(path)
                    for name, types in (functions or {}).items():
                        function = getattr(library, name)
                        function.argtypes, function.restype = types, ctypes.c_int
                except (OSError, AttributeError):
                    continue  # it is not there, or is too old
                self._library = library
                break
            return self._library

    def open(self, functions: Mapping[str, Sequence[Any]] | None = None) -> ctypes.CDLL:
        """Return the library, opened once. RuntimeError if there is none."""
        library = self.find(functions)
        if library is None:
            step = self._step
            if self._extra:
                step = f"its wheels: {_extras.command(self._extra)}"
            raise _cuda.RuntimeError(
                f"{self.name} ({self._files[-1]}) was not found: not where the loader "
                "looks, not under CUDA_HOME, CUDA_PATH or /usr/local/cuda and not in "
                f"NVIDIA's wheels; install the CUDA toolkit, or {step}"
            )
        return library


def _of_toolkit(
    name: str, numbers: Sequence[int], step: str = "", extra: str = ""
) -> Library:
    """Return a library of the toolkit with the numbers of its releases."""
    plain = name.lower()
    files = [f"lib{plain}.so.{number}" for number in numbers]
    wheels = ("nvidia/cu13/lib", f"nvidia/{plain}/lib")
    return Library(name, [*files, f"lib{plain}.so"], wheels, step, extra=extra)


CUBLAS = _of_toolkit("cuBLAS", (13, 12, 11), extra="linalg")
CUFFT = _of_toolkit("cuFFT", (12, 11, 10))
CURAND = _of_toolkit("cuRAND", (10,))
CUSOLVER = _of_toolkit("cuSOLVER", (12, 11), extra="linalg")
CUSPARSE = _of_toolkit("cuSPARSE", (12, 11), "'pip install nvidia-cusparse'")
NCCL = Library(
    "NCCL",
    ("libnccl.so.2", "libnccl.so"),
    ("nvidia/nccl/lib",),
    variable="PYCUDA_NCCL",
)
#: NVTX of CUDA 13, then that of CUDA 12 and older.
NVTX = Library(
    "NVTX",
    ("libnvtx3interop.so.1", "libnvToolsExt.so.1"),
    ("nvidia/cu13/lib", "nvidia/nvtx/lib"),
)

_OPENED_BY_C = {"cublas": CUBLAS, "cufft": CUFFT, "curand": CURAND, "nccl": NCCL}


def paths(name: str) -> list[str]:
    """Return from where C opens a library, in order."""
    return _OPENED_BY_C[name].paths()
