"""Run a Python program in this process, as ``python PROGRAM`` does."""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys
import threading
from collections.abc import Callable, Sequence
from types import TracebackType

_RUNPY = runpy.run_path.__code__.co_filename


def missing(program: str, is_module: bool) -> str:
    """Return why a program cannot run, "" if it can."""
    if not is_module and not os.path.exists(program):
        return f"there is no file '{program}'"
    if not is_module:
        is_readable = os.access(program, os.R_OK)
        return "" if is_readable else f"the file '{program}' cannot be read"
    outer = program.partition(".")[0]
    saved = sys.path[0]
    sys.path[0] = os.getcwd()
    try:
        is_there = importlib.util.find_spec(outer) is not None
    except (ImportError, ValueError):
        is_there = False
    finally:
        sys.path[0] = saved
    return "" if is_there else f"there is no module '{program}'"


def execute(program: str, arguments: Sequence[str], is_module: bool) -> None:
    """Run a script, or a module, with arguments. Raise what the program raises.

    Uncaught errors are shown without the lines of this package.
    """
    sys.excepthook = _shortening(sys.excepthook)
    sys.argv = [program, *arguments]
    if is_module:
        # The command `pycuda` has its own folder in this place.
        sys.path[0] = os.getcwd()
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    path = os.path.abspath(program)  # for lines of the program after os.chdir()
    sys.path[0] = os.path.dirname(os.path.realpath(program))
    runpy.run_path(path, run_name="__main__")


def wait_for_threads() -> None:
    """Wait for the threads that Python waits for when a program has ended."""
    for thread in threading.enumerate():
        is_this = thread is threading.current_thread()
        if not (is_this or thread.daemon or thread is threading.main_thread()):
            thread.join()


def has_raised(error: BaseException) -> bool:
    """Return whether an error comes from the program."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code is not execute.__code__:
        trace = trace.tb_next
    return trace is not None


_Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]


def _shortening(hook: _Hook) -> _Hook:
    """Return a hook for uncaught errors that leaves out the frames before a program."""

    def show(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if has_raised(error):
            while trace is not None and trace.tb_frame.f_code is not execute.__code__:
                trace = trace.tb_next
            trace = trace and trace.tb_next
            while trace is not None and trace.tb_frame.f_code.co_filename == _RUNPY:
                trace = trace.tb_next
        hook(kind, error.with_traceback(trace), trace)

    return show
