"""One compilation of a key at a time: among threads, then among processes.

Who comes first compiles; who comes meanwhile waits and takes what the first one left in
the cache. Threads wait for a lock of their own, processes for one on a file beside the
entry. That lock goes with the process that holds it, however it ends, and then the next
one compiles. Where no such file can be made or locked, each process compiles for
itself. Waiting releases the interpreter and can be interrupted.

Only ``pycuda.compiler`` and what compiles for it call this, and only after a miss.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable

from pycuda._compile import store

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]

Made = tuple[bytes | None, bytes]  # manifest, None for a result not to be kept; payload

_VAIN = b"-"  # in a lock file: its holder finished and left nothing in the cache

# What is compiled in this process now, by entry; guarded by _guard.
_flights: dict[str, _Flight] = {}
_guard = threading.Lock()

# Descriptors of lock files: a forked child closes them, for the lock would be its, too.
_descriptors: set[int] = set()


class _Flight:
    """One compilation that is under way."""

    __slots__ = ("ended", "made", "turn")

    def __init__(self) -> None:
        self.turn = threading.Lock()  # held until it is over
        self.made: Made | None = None
        self.ended = False  # by success or by a compiler's no, not by an interruption


def get(entry: str, make: Callable[[], Made]) -> bytes:
    """Return the payload at ``entry``, made and stored there if nobody else does that.

    ``make()`` may raise, which concerns this caller alone: others then try for
    themselves, side by side.
    """
    while True:
        with _guard:
            flight = _flights.get(entry)
            first = flight is None
            if flight is None:
                flight = _flights[entry] = _Flight()
                flight.turn.acquire()
        if first:
            try:
                return _lead(entry, make, flight)
            finally:
                with _guard:
                    _flights.pop(entry, None)
                flight.turn.release()
        with flight.turn:
            pass
        if flight.made is not None:
            manifest, payload = flight.made
            if manifest is not None and store.holds(manifest):
                return payload
        if flight.ended:
            return _make(entry, make)[1]


def _lead(entry: str, make: Callable[[], Made], flight: _Flight) -> bytes:
    """Do what ``get`` does, for all threads of this process."""
    with _Lock(entry) as lock:
        payload = store.load(entry) if lock.held else None
        if payload is not None:
            flight.made = b"", payload  # it was looked at this very moment
            return payload
        kept = False
        try:
            flight.made, kept = _make_and_keep(entry, make)
            flight.ended = True
        except Exception:
            flight.ended = True
            raise
        finally:
            if flight.ended and not kept:
                lock.give_up()
    return flight.made[1]


def _make(entry: str, make: Callable[[], Made]) -> Made:
    return _make_and_keep(entry, make)[0]


def _make_and_keep(entry: str, make: Callable[[], Made]) -> tuple[Made, bool]:
    made = make()
    manifest, payload = made
    kept = manifest is not None and store.save(entry, manifest, payload)
    return made, kept


class _Lock:
    """The lock on one entry among processes; ``held`` says whether there is one."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, entry: str) -> None:
        folder, name = os.path.split(entry)
        self._path = os.path.join(folder, f".{name}.lock")
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        return self._descriptor is not None

    def __enter__(self) -> _Lock:
        self._descriptor = _acquire(self._path)
        return self

    def give_up(self) -> None:
        """Tell those who wait that there will be nothing in the cache."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):  # a full disk; they wait for each other
                os.pwrite(self._descriptor, _VAIN, 0)

    def __exit__(self, *exc_info: object) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with contextlib.suppress(OSError):  # somebody emptied the folder
                os.unlink(self._path)
            _close(descriptor)


def _acquire(path: str) -> int | None:
    """Return the descriptor of a lock file, locked.

    None if there cannot be one, or if whoever had it last left nothing to wait for.
    """
    if fcntl is None:
        return None
    while True:
        descriptor = _open(path)
        if descriptor is None:
            return None
        keep = False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            keep = _is_at(descriptor, path)
            if os.pread(descriptor, 1, 0) == _VAIN:
                if not keep:
                    return None
                os.ftruncate(descriptor, 0)  # of one that was killed before removing it
        except OSError:  # a file system without locks
            return None
        finally:
            if not keep:
                _close(descriptor)
        if keep:
            return descriptor


def _open(path: str) -> int | None:
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return None
    _descriptors.add(descriptor)
    return descriptor


def _is_at(descriptor: int, path: str) -> bool:
    """Say whether the file is still the one at ``path``: the last holder removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _close(descriptor: int) -> None:
    # Unlocked by hand: a child that forked just now may have the file, too.
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    _descriptors.discard(descriptor)
    os.close(descriptor)


def remove_if_dead(path: str) -> bool:
    """Remove a lock file that nobody holds; say whether it is gone."""
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
    """Leave to the parent what its threads were doing."""
    global _guard
    _guard = threading.Lock()
    _flights.clear()
    while _descriptors:
        with contextlib.suppress(OSError):
            os.close(_descriptors.pop())


os.register_at_fork(after_in_child=_after_fork)
