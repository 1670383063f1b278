"""What the device prints, in the output of the cell.

``printf`` in a kernel writes to the standard output of the process, as C does. Here a
file takes the place of the standard output while a cell runs. What appears in it is
passed on to ``sys.stdout``, which in a notebook is the output of the cell. A file never
makes its writer wait, as a pipe would.
"""

from __future__ import annotations

import codecs
import contextlib
import ctypes
import os
import sys
import tempfile
import threading

_FD = 1  # the standard output

#: Seconds between two looks at the file, while a cell runs and otherwise.
_BUSY, _IDLE = 0.1, 1.0


class Output:
    """The standard output of C, passed on to the one of Python."""

    def __init__(self) -> None:
        self._c = ctypes.CDLL(None)
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._passed = 0  # bytes of the file
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._lock = threading.Lock()
        self._saved: int | None = None
        self._ended = threading.Event()
        self._running = threading.Event()
        self._watcher: threading.Thread | None = None

    def begin(self) -> None:
        """Let the file take the place of the standard output."""
        if self._saved is not None:
            return
        self._flush()
        self._saved = os.dup(_FD)
        os.dup2(self._file.fileno(), _FD)
        self._running.set()
        if self._watcher is None:
            self._watcher = threading.Thread(
                target=self._watch, name="pycuda-output", daemon=True
            )
            self._watcher.start()

    def end(self) -> None:
        """Pass on what is left, and restore the standard output."""
        if self._saved is None:
            return
        self.pass_on()
        os.dup2(self._saved, _FD)
        os.close(self._saved)
        self._saved = None
        self._running.clear()
        with self._lock:
            if os.fstat(self._file.fileno()).st_size == self._passed:
                os.ftruncate(self._file.fileno(), 0)
                os.lseek(self._file.fileno(), 0, os.SEEK_SET)
                self._passed = 0

    def pass_on(self) -> None:
        """Pass on what has been written."""
        self._flush()
        with self._lock:
            size = os.fstat(self._file.fileno()).st_size
            data = os.pread(self._file.fileno(), size - self._passed, self._passed)
            self._passed += len(data)
            text = self._decoder.decode(data)
            if text:
                with contextlib.suppress(OSError, ValueError):  # the program closed it
                    sys.stdout.write(text)

    def close(self) -> None:
        """Restore the standard output for good."""
        self.end()
        self._ended.set()
        self._running.set()
        if self._watcher is not None:
            self._watcher.join()
            self._watcher = None

    def _flush(self) -> None:
        self._c.fflush(None)

    def _watch(self) -> None:
        """Pass on what kernels and child processes write in the meantime."""
        while not self._ended.wait(_BUSY if self._running.is_set() else _IDLE):
            self.pass_on()
