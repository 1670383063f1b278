"""Run the cells of a notebook file as one program, without Jupyter.

The third cell of code has the name ``notebook.ipynb[3]`` where lines are named. If
IPython is installed, magics and commands of the shell run as in a notebook. Without it
they are left out, each with a line on stderr.
"""

from __future__ import annotations

import json
import linecache
import os
import sys
import types
from typing import Any

_ENDING = ".ipynb"


def is_notebook(path: str) -> bool:
    """Return whether the name of a file is that of a notebook."""
    return path.endswith(_ENDING)


def cells(path: str) -> dict[str, str]:
    """Return the text of the cells of code, by their names. Python then knows it.

    ValueError if the file is not a notebook.
    """
    with open(path, encoding="utf-8") as file:
        try:
            rows = json.load(file)["cells"]
            texts = ["".join(x["source"]) for x in rows if x["cell_type"] == "code"]
        except (ValueError, TypeError, KeyError):
            raise ValueError(f"'{path}' is not a notebook of the format 4") from None
    found = {f"{path}[{n}]": text for n, text in enumerate(texts, 1)}
    for name, text in found.items():
        linecache.cache[name] = len(text), None, text.splitlines(True), name
    return found


def _is_magic(line: str) -> bool:
    return line.lstrip().startswith(("%", "!")) or line.rstrip().endswith("?")


def _without_magics(name: str, text: str) -> str:
    """Return a cell without its magics, and say on stderr what was left out."""
    try:
        compile(text, name, "exec")
        return text
    except SyntaxError:
        pass
    lines = text.split("\n")
    if text.lstrip().startswith("%%"):
        left, lines = [text.lstrip().split("\n")[0]], []
    else:
        left = [line for line in lines if _is_magic(line)]
        lines = [
            f"{line[: len(line) - len(line.lstrip())]}pass" if _is_magic(line) else line
            for line in lines
        ]
    for each in left:
        print(
            f"{os.path.basename(name)}: left out, since IPython is not installed: "
            f"{each.strip()}",
            file=sys.stderr,
        )
    return "\n".join(lines)


class _Shell:
    """IPython's shell, if it is installed: it turns magics into calls."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        try:
            from IPython.terminal.interactiveshell import TerminalInteractiveShell
        except ImportError:
            self._shell = None
        else:
            self._shell = TerminalInteractiveShell.instance(user_ns=namespace)
            namespace["get_ipython"] = self._shell.get_ipython

    def code_of(self, name: str, text: str) -> str:
        """Return a cell as Python, with the same numbers of lines."""
        if self._shell is None:
            return _without_magics(name, text)
        return str(self._shell.transform_cell(text))  # type: ignore[no-untyped-call]


def execute(path: str) -> None:
    """Run the cells of code in a new module __main__. Raise what the cells raise."""
    texts = cells(os.path.abspath(path))
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    shell = _Shell(vars(module))
    for name, text in texts.items():
        exec(compile(shell.code_of(name, text), name, "exec"), vars(module))
