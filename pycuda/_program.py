"""Run a Python program in this process, or name the one that runs.

python -m pycuda._program notebook.ipynb [ARGUMENT ...]
"""

from __future__ import annotations

import os
import re
import runpy
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import TracebackType

from pycuda import _notebook_program

#: The files of the frames between this module and the program.
_RUNNERS = (runpy.run_path.__code__.co_filename, _notebook_program.__file__)


def _spec_of(name: str) -> ModuleSpec | None:
    """Return where a module is, without importing the packages that it is in."""
    spec, places = None, None
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        part = ".".join(parts[:count])
        for finder in sys.meta_path:
            spec = finder.find_spec(part, places)
            if spec is not None:
                break
        if spec is None:
            return None
        places = spec.submodule_search_locations
        if places is None and count < len(parts):
            return None  # a module, which has no modules inside
    return spec


def _missing_module(name: str) -> str:
    spec = _spec_of(name)
    if spec is None:
        more = ". It is a file: leave out -m" if os.path.isfile(name) else ""
        return f"there is no module '{name}'{more}"
    is_package = spec.submodule_search_locations is not None
    if is_package and _spec_of(f"{name}.__main__") is None:
        return f"'{name}' is a package without a module __main__"
    return ""


def missing(program: str, is_module: bool) -> str:
    """Return why a program cannot run, "" if it can. Import nothing."""
    if is_module:
        saved = sys.path[0]
        sys.path[0] = os.getcwd()
        try:
            return _missing_module(program)
        finally:
            sys.path[0] = saved
    if not os.path.exists(program):
        return f"there is no file '{program}'"
    if not os.access(program, os.R_OK):
        return f"the file '{program}' cannot be read"
    if os.path.isdir(program) and not os.path.isfile(
        os.path.join(program, "__main__.py")
    ):
        return f"'{program}' is a folder without a file __main__.py"
    return ""


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
    if _notebook_program.is_notebook(path):
        _notebook_program.execute(path)
    else:
        runpy.run_path(path, run_name="__main__")


def command(program: str, arguments: Sequence[str], is_module: bool) -> list[str]:
    """Return the words that run a script, a module or a notebook in a new process."""
    runner = ["-m"] if is_module else []
    if not is_module and _notebook_program.is_notebook(program):
        runner = ["-m", "pycuda._program"]
    return [sys.executable, *runner, program, *arguments]


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
            while trace is not None and trace.tb_frame.f_code.co_filename in _RUNNERS:
                trace = trace.tb_next
        hook(kind, error.with_traceback(trace), trace)

    return show


# -- the program that runs -------------------------------------------------------------


def _quoted(word: str) -> str:
    """Return a word as a shell reads it, in double quotes if it needs quotes."""
    if re.fullmatch(r"[\w./:@%+=,-]*", word, re.ASCII):
        return word
    return '"' + re.sub(r'([\\"$`])', r"\\\1", word) + '"'


def _test_words(current: str) -> str:
    """Return the words for a test with this value of PYTEST_CURRENT_TEST.

    It is the test's name and, in brackets, its phase. The name begins with the path of
    the file from the root of the tests, which may be above this folder.
    """
    name = current.rpartition(" ")[0] or current
    path, mark, test = name.partition("::")
    while mark and not os.access(path, os.R_OK):
        _, mark, path = path.partition("/")
    return f"-m pytest {_quoted(f'{path}::{test}')}" if mark else "-m pytest"


def words_to_rerun() -> str:
    """Return the words that name this program and its arguments behind ``python``.

    They follow a command such as ``python -m pycuda.explain``, too: ``script.py 100``,
    ``-m module``, a notebook, and in a run of pytest ``-m pytest test_file.py::name``.
    """
    test = os.environ.get("PYTEST_CURRENT_TEST")
    # A program that a test starts has the variable too, but not the module.
    if test and "pytest" in sys.modules:
        return _test_words(test)
    if "ipykernel" in sys.modules:
        notebook = os.environ.get("JPY_SESSION_NAME")  # as Jupyter's server sets it
        return _quoted(os.path.basename(notebook or "notebook.ipynb"))
    arguments = [f" {_quoted(each)}" for each in sys.argv[1:]]
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    if spec is not None:
        return f"-m {spec.name.removesuffix('.__main__')}{''.join(arguments)}"
    script = sys.argv[0] if sys.argv else ""
    if not script.endswith((".py", ".ipynb")):
        return "script.py"
    return f"{_quoted(script)}{''.join(arguments)}"


if __name__ == "__main__":  # a program that Python itself cannot run: a notebook
    execute(sys.argv[1], sys.argv[2:], is_module=False)
