"""The lock on one cache entry among processes: a file beside the entry.

The lock ends with the process that holds it, also if that process is killed. Where no
such file can be made or locked, there is no lock and each process compiles for itself.
On a network file system the lock of a machine that failed may stay, so no process waits
for longer than PATIENCE.
"""

from __future__ import annotations

import contextlib
import io
import os
import threading
from weakref import WeakSet

from pycuda._warning import warn

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]

#: Seconds that a process waits for another one that compiles the same source.
PATIENCE = 600.0

# In a lock file: its holder finished and left nothing in the cache.
GIVEN_UP = b"-"

# Open lock files. A forked child closes them, because it shares the locks with its
# parent. Each closes itself when its last user is gone, whatever went wrong before.
_files: WeakSet[io.FileIO] = WeakSet()


class EntryLock:
    """The lock on one entry. ``held`` is false where no file can be locked."""

    __slots__ = ("_file", "_path")

    def __init__(self, entry: str) -> None:
        folder, name = os.path.split(entry)
        self._path = os.path.join(folder, f".{name}.lock")
        self._file: io.FileIO | None = None

    @property
    def held(self) -> bool:
        return self._file is not None and not self._file.closed

    def __enter__(self) -> EntryLock:
        self._file = _acquire(self._path)
        return self

    def give_up(self) -> None:
        """Let the waiting processes know that the cache will not get this entry."""
        if self._file is not None and self.held:
            # On a full disk this fails. Then the others wait for each other.
            with contextlib.suppress(OSError):
                os.write(self._file.fileno(), GIVEN_UP)

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if self._file is None or not self.held:
            return
        try:
            os.unlink(self._path)
        except OSError:  # the folder was emptied
            pass
        finally:
            _close(self._file)


def _acquire(path: str) -> io.FileIO | None:
    """Lock a lock file and return it.

    Return None if there can be no lock, or if the last holder gave up.
    """
    if fcntl is None:
        return None
    while True:
        file = keep = None
        try:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            file = _lock(path)
            if file is None:
                warn(
                    f"another process has held the lock '{path}' for {PATIENCE:.0f} s, "
                    "so this process compiles without waiting for it. Remove the file "
                    "if no process uses it"
                )
                return None
            is_there = _is_at(file, path)
            file.seek(0)
            if file.read(1) == GIVEN_UP:
                if not is_there:
                    return None
                # Its holder was killed before it removed the file.
                file.truncate(0)
            if is_there:
                keep = file
                return keep
        except OSError:  # a file system without locks, or a folder without write access
            return None
        finally:
            if file is not None and keep is None:
                _close(file)


def _lock(path: str) -> io.FileIO | None:
    """Open and lock a file. Return None if another process holds it for too long."""
    file = _open(path, "a+")
    is_locked = False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_locked = True
        return file
    except BlockingIOError:
        return _Wait(path).file_within(PATIENCE)
    finally:
        if not is_locked:
            file.close()


class _Wait:
    """A thread that waits for a lock, because flock has no time limit.

    It opens the file for itself, and closes it if the caller has stopped waiting. That
    releases the lock.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._ended = threading.Event()
        self._abandoned = False  # guarded, like the end of the thread
        self._file: io.FileIO | None = None  # locked
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        file = None
        try:
            file = _open(self._path, "a+")
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            self._error = error
        with self._guard:
            self._ended.set()
            if not self._abandoned:
                self._file = file
            elif file is not None:
                _close(file)

    def file_within(self, seconds: float) -> io.FileIO | None:
        """Wait for the lock. Return the locked file, None if it takes too long."""
        try:
            self._thread.start()
            self._ended.wait(seconds)
        finally:
            with self._guard:
                self._abandoned = not self._ended.is_set()
        if self._error is not None:
            raise self._error
        return self._file


def _open(path: str, mode: str) -> io.FileIO:
    """Open a file, which a forked child closes."""
    file = io.FileIO(path, mode)
    _files.add(file)
    return file


def _is_at(file: io.FileIO, path: str) -> bool:
    """Return whether the file is still at ``path``; its last holder removes it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _close(file: io.FileIO) -> None:
    # Unlock explicitly: a child that was forked just now may share the file.
    try:
        fcntl.flock(file, fcntl.LOCK_UN)
    except OSError:
        pass
    finally:
        file.close()


def remove_if_unused(path: str) -> bool:
    """Remove a lock file that no process holds. Return whether it was removed."""
    if fcntl is None:
        return False
    file = None
    try:
        file = _open(path, "r+")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_at(file, path):
            return False
        os.unlink(path)
        return True
    except OSError:
        return False
    finally:
        if file is not None:
            _close(file)


def _after_fork() -> None:
    """Close the parent's lock files in a child."""
    for file in list(_files):
        with contextlib.suppress(OSError):
            file.close()


os.register_at_fork(after_in_child=_after_fork)
