"""The progress of loops that give work to the device.

A loop enqueues work much faster than the device does it. A bar that counts the turns of
the loop is full at once. This one counts the turns whose work has ended.
"""

from __future__ import annotations

import collections
import importlib
import importlib.util
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from pycuda import driver as drv

if TYPE_CHECKING:
    from pycuda.driver import Event, Stream

_Item = TypeVar("_Item")

#: Seconds between two marks in the stream, and between two looks at them at the end.
_STEP, _PAUSE = 0.05, 0.01


def progress(
    iterable: Iterable[_Item],
    description: str | None = None,
    *,
    total: int | None = None,
    stream: Stream | None = None,
) -> Iterator[_Item]:
    """Yield the items of an iterable, and show how many the device has done.

    The work of a turn is what it enqueues in ``stream``, by default in the default
    stream. At the end the loop waits for the work. ``total`` is the number of items if
    the iterable has no length. The bar is one of the package tqdm. Without a context,
    it counts the turns of the loop.
    """
    bar = _bar(iterable, description, total)
    marks = _Marks(stream)
    try:
        last = time.monotonic()
        for item in iterable:
            yield item
            marks.turns += 1
            if time.monotonic() - last >= _STEP:
                marks.put()
                bar.update(marks.done() - bar.n)
                last = time.monotonic()
        marks.put()
        while bar.n < marks.turns:
            bar.update(marks.done() - bar.n)
            if bar.n < marks.turns:
                time.sleep(_PAUSE)
    finally:
        bar.close()


def _bar(iterable: object, description: str | None, total: int | None) -> Any:
    """Return a bar: one of widgets in a notebook that has them, else one of text."""
    kind = "auto" if importlib.util.find_spec("ipywidgets") else "std"
    try:
        module = importlib.import_module(f"tqdm.{kind}")
    except ImportError as error:
        raise ImportError(
            "progress needs the package tqdm, which is not installed. Install tqdm"
        ) from error
    if total is None:
        length = getattr(iterable, "__len__", None)
        total = None if length is None else length()
    return module.tqdm(total=total, desc=description)


class _Marks:
    """Events in a stream, each with the number of turns before it."""

    def __init__(self, stream: Stream | None) -> None:
        self.turns = 0
        self._stream = stream
        self._pending: collections.deque[tuple[int, Event]] = collections.deque()
        self._done = 0

    def put(self) -> None:
        """Mark the end of the work of all turns until now."""
        if _context() is None:
            self._done = self.turns
            return
        event = drv.Event(drv.event_flags.DISABLE_TIMING)
        event.record(self._stream)
        self._pending.append((self.turns, event))

    def done(self) -> int:
        """Return the number of turns whose work has ended."""
        while self._pending and self._pending[0][1].query():
            self._done, _ = self._pending.popleft()
        return self._done


def _context() -> drv.Context | None:
    try:
        return drv.Context.get_current()
    except drv.Error:  # the driver is not initialised
        return None
