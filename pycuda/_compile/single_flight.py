"""One compilation of a key at a time: among threads, then among processes.

The first caller compiles. Callers that come meanwhile wait, and take the result from
the cache. Threads wait for a lock in memory, processes for the entry's lock file.
Waiting releases the interpreter and can be interrupted.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from pycuda._compile import store
from pycuda._compile.lock import EntryLock

# The manifest, or None for a result that must not be kept; and the payload.
Made = tuple["bytes | None", bytes]

# What this process compiles now, by entry. Changed by single operations of the dict.
_flights: dict[str, _Flight] = {}


class _Flight:
    """One compilation that is in progress."""

    __slots__ = ("ended", "made", "turn")

    def __init__(self) -> None:
        self.turn = threading.Lock()  # held until the compilation is over
        self.made: Made | None = None
        self.ended = False  # with a result or an error, not by an interruption


def get(entry: str, make: Callable[[], Made]) -> bytes:
    """Return the payload at ``entry``. Make and store it unless another caller does.

    ``make()`` may raise. The exception goes to this caller alone; the other callers
    then make the payload themselves, side by side.
    """
    while True:
        own = _Flight()
        own.turn.acquire()
        try:
            flight = _flights.setdefault(entry, own)
            if flight is own:
                return _lead(entry, make, own)
        finally:
            if _flights.get(entry) is own:
                del _flights[entry]
            own.turn.release()
        with flight.turn:
            pass
        if flight.made is not None:
            manifest, payload = flight.made
            if manifest is not None and store.holds(manifest):
                return payload
        if flight.ended:
            (_, payload), _ = _make_and_keep(entry, make)
            return payload


def _lead(entry: str, make: Callable[[], Made], flight: _Flight) -> bytes:
    """Do the work of ``get`` for all threads of this process."""
    with EntryLock(entry) as lock:
        payload = None
        if lock.held:
            payload = store.load(entry)
        if payload is not None:
            flight.made = b"", payload  # it was checked a moment ago
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


def _make_and_keep(entry: str, make: Callable[[], Made]) -> tuple[Made, bool]:
    """Make a payload and store it. Return it and whether the cache has it now."""
    made = make()
    manifest, payload = made
    kept = manifest is not None and store.save(entry, manifest, payload)
    return made, kept


def _after_fork() -> None:
    """Forget in a child what the parent's threads compile."""
    _flights.clear()


os.register_at_fork(after_in_child=_after_fork)
