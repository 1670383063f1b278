"""Several jobs side by side in threads, with a line about them on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import TextIO, TypeVar

from pycuda._compile.progress import muted

T = TypeVar("T")

_ERASE = "\r\033[K"


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def run(
    jobs: Sequence[Callable[[], T]], workers: int | None, progress: bool
) -> list[T | Exception]:
    """Run all jobs; return their results or exceptions, in order.

    An interruption, or another exception that is no ``Exception``, ends the run. Jobs
    that have not begun are dropped.
    """
    if workers is not None and workers < 0:
        raise ValueError(f"workers is a number of threads, not {workers}")
    line = _Line(len(jobs), progress)
    with muted(), line, ThreadPoolExecutor(workers or processors(), "pycuda") as pool:
        futures: list[Future[T]] = [pool.submit(job) for job in jobs]
        try:
            for number, _ in enumerate(as_completed(futures), 1):
                line.show(number)
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


class _Line:
    """A line on the terminal with the number of finished jobs, erased at the end."""

    def __init__(self, count: int, wanted: bool) -> None:
        self._count = count
        self._file: TextIO | None = None
        if wanted and count > 1 and _is_terminal():
            self._file = sys.stderr

    def show(self, done: int) -> None:
        if self._file is not None:
            self._file.write(f"{_ERASE}compiling: {done} of {self._count} done")
            self._file.flush()

    def __enter__(self) -> _Line:
        self.show(0)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._file is not None:
            self._file.write(_ERASE)
            self._file.flush()


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
