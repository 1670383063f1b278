"""The lock on one cache entry among processes: a file beside the entry.

The lock ends with the process that holds it, also if that process is killed. Where no
such file can be made or locked, there is no lock and each process compiles for itself.
On a network file system the lock of a machine that failed may stay, so no process waits
for longer than PATIENCE.
"""

from __future__ import annotations

import contextlib
import os
import threading

from pycuda._warning import warn

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]

#: Seconds that a process waits for another one that compiles the same source.
PATIENCE = 600.0

# In a lock file: its holder finished and left nothing in the cache.
GIVEN_UP = b"-"

# Descriptors of open lock files. A forked child closes them, because it shares the
# locks with its parent.
_descriptors: set[int] = set()


class EntryLock:
    """The lock on one entry. ``held`` is false where no file can be locked."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, entry: str) -> None:
        folder, name = os.path.split(entry)
        self._path = os.path.join(folder, f".{name}.lock")
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        return self._descriptor is not None

    def __enter__(self) -> EntryLock:
        self._descriptor = _acquire(self._path)
        return self

    def give_up(self) -> None:
        """Let the waiting processes know that the cache will not get this entry."""
        if self._descriptor is not None:
            # On a full disk this fails. Then the others wait for each other.
            with contextlib.suppress(OSError):
                os.pwrite(self._descriptor, GIVEN_UP, 0)

    # Three parameters: without memory for a tuple of them the lock would stay.
    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            try:
                os.unlink(self._path)
            except OSError:  # the folder was emptied
                pass
            finally:
                _close(descriptor)


def _acquire(path: str) -> int | None:
    """Lock a lock file and return its descriptor.

    Return None if there can be no lock, or if the last holder gave up.
    """
    if fcntl is None:
        return None
    while True:
        descriptor = _open(path)
        if descriptor is None:
            return None
        keep = False
        try:
            if not _lock(descriptor):
                warn(
                    f"another process has held the lock '{path}' for {PATIENCE:.0f} s, "
                    "so this process compiles without waiting for it. Remove the file "
                    "if no process uses it"
                )
                return None
            keep = _is_at(descriptor, path)
            if os.pread(descriptor, 1, 0) == GIVEN_UP:
                if not keep:
                    return None
                # Its holder was killed before it removed the file.
                os.ftruncate(descriptor, 0)
        except OSError:  # a file system without locks
            return None
        finally:
            if not keep:
                _close(descriptor)
        if keep:
            return descriptor


def _lock(descriptor: int) -> bool:
    """Lock a file. Return False if another process holds the lock for too long."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return _Wait(descriptor).ended_within(PATIENCE)


class _Wait:
    """A thread that waits for a lock, because flock has no time limit.

    It has a descriptor of its own for the open file, and closes it if the caller has
    stopped waiting. That releases a lock which nobody wants any more.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = os.dup(descriptor)
        _descriptors.add(self._descriptor)
        self._guard = threading.Lock()
        self._ended = threading.Event()
        self._abandoned = False  # guarded, like the end of the thread
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        except OSError as error:
            self._error = error
        with self._guard:
            self._ended.set()
            if self._abandoned:
                self._close()

    def ended_within(self, seconds: float) -> bool:
        """Wait for the lock. Return whether the file is locked. Raise OSError."""
        try:
            self._thread.start()
            self._ended.wait(seconds)
        finally:
            with self._guard:
                self._abandoned = not self._ended.is_set()
                if not self._abandoned:
                    self._close()
        if self._error is not None:
            raise self._error
        return not self._abandoned

    def _close(self) -> None:
        _descriptors.discard(self._descriptor)
        os.close(self._descriptor)


def _open(path: str) -> int | None:
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return None
    _descriptors.add(descriptor)
    return descriptor


def _is_at(descriptor: int, path: str) -> bool:
    """Return whether the file is still at ``path``; its last holder removes it."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _close(descriptor: int) -> None:
    # Unlock explicitly: a child that was forked just now may share the file.
    try:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    except OSError:
        pass
    finally:  # even if memory is exhausted, or the lock would stay
        _descriptors.discard(descriptor)
        os.close(descriptor)


def remove_if_unused(path: str) -> bool:
    """Remove a lock file that no process holds. Return whether it was removed."""
    if fcntl is None:
        return False
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    _descriptors.add(descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_at(descriptor, path):
            return False
        os.unlink(path)
        return True
    except OSError:
        return False
    finally:
        _close(descriptor)


def _after_fork() -> None:
    """Close the parent's lock files in a child."""
    while _descriptors:
        with contextlib.suppress(OSError):
            os.close(_descriptors.pop())


os.register_at_fork(after_in_child=_after_fork)
