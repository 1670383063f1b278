"""A line about compilations that take long, on a terminal or in a notebook.

The line appears on stderr after two seconds, counts the seconds, and is removed at the
end. Several compilations side by side have a line that counts them. Where stderr is a
file or a pipe, nothing is written. PYCUDA_PROGRESS=0 turns the lines off.

One thread writes the line for all compilations of the process. It ends with the last
one, so a program that compiles nothing has no such thread.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO, TypeVar

from pycuda._driver import _setting

T = TypeVar("T")

VARIABLE = "PYCUDA_PROGRESS"

#: Seconds before the line appears, and between two updates.
DELAY = 2.0
_STEP = 0.5

_ERASE = "\r\033[K"

# What is compiled now: the time of the start and the text. Guarded by _changed.
_running: dict[object, tuple[float, str]] = {}
_changed = threading.Condition()
_writer: threading.Thread | None = None
_muted = 0


class _Line:
    """The line: what was written last, and how to remove it."""

    def __init__(self, file: TextIO, in_notebook: bool) -> None:
        self._file = file
        self._in_notebook = in_notebook
        self._text = ""

    def show(self, text: str) -> None:
        """Write a text in place of the last one."""
        if text != self._text:
            self._write(self._erasing() + text)
            self._text = text

    def remove(self) -> None:
        """Remove the text, if there is one."""
        if self._text:
            self._write(self._erasing())
            self._text = ""

    def width(self) -> int:
        """Return how many characters the line may have."""
        if self._in_notebook:
            return 100
        try:
            columns = os.get_terminal_size(self._file.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return (columns or 80) - 1

    def _erasing(self) -> str:
        # a notebook knows the carriage return, not the codes of terminals
        if self._in_notebook:
            return f"\r{' ' * len(self._text)}\r" if self._text else ""
        return _ERASE

    def _write(self, text: str) -> None:
        # the program may have closed the file, or the terminal may be gone
        with contextlib.suppress(OSError, ValueError):
            self._file.write(text)
            self._file.flush()


def _line() -> _Line | None:
    """Return the line to write to, None if there is no terminal and no notebook."""
    file = sys.stderr
    if file is None or not _setting(VARIABLE):
        return None
    if type(file).__module__.startswith("ipykernel."):
        return _Line(file, True)
    try:
        terminal = file.isatty()
    except (AttributeError, ValueError):  # replaced by the program, or closed
        return None
    if not terminal or os.environ.get("TERM") == "dumb":
        return None
    return _Line(file, False)


@contextlib.contextmanager
def shown(text: str) -> Iterator[None]:
    """Show a text while the body runs, if that takes more than ``DELAY`` seconds."""
    line = None if _muted else _line()
    if line is None:
        yield
        return
    key = object()
    with _changed:
        _running[key] = time.monotonic(), text
        if _writer is None:
            _start(line)
    try:
        yield
    finally:
        with _changed:
            _running.pop(key, None)
            _changed.notify_all()
            if not _running and _writer is not None:
                _changed.wait(_STEP)  # until the line is removed


def _start(line: _Line) -> None:
    """Start the thread that writes the line."""
    global _writer
    writer = threading.Thread(
        target=_write, args=(line,), name="pycuda-progress", daemon=True
    )
    # the interpreter starts no threads while it ends
    with contextlib.suppress(RuntimeError):
        writer.start()
        _writer = writer


@contextlib.contextmanager
def muted() -> Iterator[None]:
    """Show nothing while the body runs, because another line is shown."""
    global _muted
    with _changed:
        _muted += 1
    try:
        yield
    finally:
        with _changed:
            _muted -= 1


def _write(line: _Line) -> None:
    """Write the line until nothing is compiled any more."""
    global _writer
    with _changed:
        while _running:
            start, text = next(iter(_running.values()))
            seconds = time.monotonic() - start
            if seconds >= DELAY:
                line.show(_worded(text, seconds, len(_running), line.width()))
            _changed.wait(_STEP if seconds >= DELAY else DELAY - seconds)
        line.remove()
        _writer = None
        _changed.notify_all()


def _worded(text: str, seconds: float, count: int, width: int) -> str:
    """Return the line for the oldest of several compilations."""
    end = f" ... {seconds:.0f} s"
    if count > 1:
        end = f" and {count - 1} more{end}"
    start = f"compiling {text}"
    if len(start) + len(end) > width:
        start = start[: max(0, width - len(end) - 1)] + "…"
    return start + end


# -- several at once -------------------------------------------------------------------


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def run_all(
    jobs: Sequence[Callable[[], T]], workers: int | None, progress: bool
) -> list[T | Exception]:
    """Run all jobs in threads; return their results or exceptions, in order.

    With ``progress``, a line counts the jobs that have ended. An interruption, or
    another exception that is no ``Exception``, ends the run. Jobs that have not begun
    are dropped.
    """
    from concurrent.futures import Future, ThreadPoolExecutor, as_completed

    if workers is not None and workers < 0:
        raise ValueError(f"workers is a number of threads, not {workers}")
    line = _line() if progress and len(jobs) > 1 else None
    with (
        muted(),
        _counted(line, len(jobs)) as count,
        ThreadPoolExecutor(workers or processors(), "pycuda") as pool,
    ):
        futures: list[Future[T]] = [pool.submit(job) for job in jobs]
        try:
            for number, _ in enumerate(as_completed(futures), 1):
                count(number)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    results: list[T | Exception] = []
    for future in futures:
        try:
            results.append(future.result())
        except Exception as error:
            results.append(error)
    return results


@contextlib.contextmanager
def _counted(line: _Line | None, jobs: int) -> Iterator[Callable[[int], None]]:
    """Give a function that shows how many jobs are done, in a line if there is one."""

    def show(done: int) -> None:
        if line is not None:
            line.show(f"compiling: {done} of {jobs} done")

    show(0)
    try:
        yield show
    finally:
        if line is not None:
            line.remove()


def _after_fork() -> None:
    """Forget in a child what the parent's threads compile."""
    global _changed, _writer, _muted
    _changed = threading.Condition()
    _running.clear()
    _writer, _muted = None, 0


os.register_at_fork(after_in_child=_after_fork)
