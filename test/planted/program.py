"""The planted programs: their faulty text, their right text, and the marked lines.

A program is a Python script with one fault, as users make it. Comments say what is
wrong, both in Python (``#``) and in the CUDA source inside it (``//``):

``# FAULT``
    a report of the fault may name this line.
``# LAUNCH``, ``# MADE``
    the launch of the kernel at fault; the allocation of the memory concerned.
``# -``
    the line is only in the faulty text.
``# + code``
    the line is only in the right text.

Both texts have the same number of lines.
"""

import ast
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "programs"
KINDS = ("memory", "init", "race", "sync", "barrier", "leak")

_ADDED = re.compile(r"^(\s*)(?:#|//) \+ (.*)$")
_REMOVED = re.compile(r"(?:#|//) -(?: |$)")
_MARK = re.compile(r"(?:#|//) (?:- ?)?(FAULT|LAUNCH|MADE)\s*$")
#: The name that the compilers give to the source of a SourceModule.
CUDA_FILE = "kernel.cu"


class Program:
    """A planted program."""

    def __init__(self, path):
        self.path = path
        self.kind = path.parent.name
        self.name = f"{self.kind}/{path.stem}"
        self.faulty = path.read_text()
        self.right = "\n".join(map(_right_line, self.faulty.split("\n")))

    def text(self, is_right):
        return self.right if is_right else self.faulty

    def marked(self, mark, script):
        """Return the marked lines as pairs of file and line, for a script's name."""
        inside = {}
        for node in ast.walk(ast.parse(self.faulty)):
            if isinstance(node, ast.Constant) and "__global__" in str(node.value):
                for i, _ in enumerate(str(node.value).split("\n")):
                    inside[node.lineno + i] = (CUDA_FILE, i + 1)
        found = set()
        for number, line in enumerate(self.faulty.split("\n"), 1):
            match = _MARK.search(line)
            if match and match[1] == mark:
                found.add(inside.get(number, (script, number)))
        return found


def _right_line(line):
    added = _ADDED.match(line)
    if added:
        return added[1] + added[2]
    return "" if _REMOVED.search(line) else line


def programs():
    """Return all programs, by kind and name."""
    paths = [path for kind in KINDS for path in sorted((FOLDER / kind).glob("*.py"))]
    return [Program(path) for path in paths]
