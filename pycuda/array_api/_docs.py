"""The docstrings of the standard, which follow from those of other functions.

A function of the standard calls one of ``pycuda.gpuarray``, ``pycuda.linalg`` or
``pycuda.fft``, and has fewer parameters. Its docstring in the source has a summary and
what differs: rows of parameters and errors, and whole sections. An error without a text
is not raised. ``complete`` adds what the other function says. That loads the other
function, so it is done when a program uses a function for the first time.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from types import FunctionType

from pycuda import gpuarray

_API = "pycuda.array_api"
_SECTIONS = ("Parameters", "Returns", "Raises", "See Also", "Notes", "Examples")

#: Functions whose docstrings follow from one with another name.
_OTHER_NAMES = {"concat": "concatenate", "empty": "zeros"}

#: What is not true of functions of the standard.
_UNTRUE = re.compile(
    r'Integers are computed in float64\.| and mode "raw"| or numpy\.ndarray'
    r"|An array with fewer than .*"
)

#: Functions with a device, and those that take matrices of floats only.
_DEVICE = "Device, optional", "The device, which must be that of the current context."
_OTHER_DEVICE = "If ``device`` is another one."
_NO_FLOATS = "If the elements are not floating-point or complex numbers."
_NO_MATRICES = "If ``{}`` has fewer than two axes."


def _sections(function: object) -> dict[str, str]:
    """Return the sections of a docstring by title. What is above them has none."""
    parts = re.split(r"\n\n(\w[\w ]+)\n-+\n", inspect.getdoc(function) or "")
    return dict.fromkeys(_SECTIONS, "") | dict(
        zip(["", *parts[1::2]], parts[::2], strict=True)
    )


def _rows(section: str) -> dict[str, tuple[str, str]]:
    """Return the type and the text of each row of a section by name."""
    rows = re.findall(r"^(\S.*)((?:\n .*|\n$)*)", section, re.MULTILINE)
    heads = [(head.partition(" : "), " ".join(text.split())) for head, text in rows]
    return {name: (kind, text) for (name, _, kind), text in heads}


def _written(rows: list[tuple[str, str]]) -> str:
    """Return a section of rows, each a first line and a text."""
    texts = [textwrap.wrap(text, 80) for _, text in rows]
    return "\n".join(
        "\n    ".join([head, *text])
        for (head, _), text in zip(rows, texts, strict=True)
    )


class _Other:
    """What another function says, in the words of a function of the standard."""

    def __init__(self, function: FunctionType) -> None:
        names = function.__globals__
        name = _OTHER_NAMES.get(function.__name__, function.__name__)
        homes = [names.get("_fourier"), names.get("_solvers"), gpuarray]
        home = next((home for home in homes if hasattr(home, name)), None)
        chapter = names["__name__"].removeprefix(f"{_API}.")
        self.path = f"{home.__name__}.{name}" if home else ""
        self.call = f"gpuarray.{name}("
        self.own_call = f"xp.{chapter}.{function.__name__}("
        if chapter[0] == "_":
            self.own_call = f"xp.{function.__name__}("
        self.says = _sections(getattr(home, name, None))
        self.own = inspect.signature(function).parameters
        self.listed = {*names["__all__"], *sys.modules[_API].__all__}
        self.takes_matrices = "_check_matrices" in function.__code__.co_names
        # Parameters have one name or, in the same order, different names.
        rows = _rows(self.says["Parameters"])
        self.rows = {key.lstrip("*"): row for key, row in rows.items()}
        free = [key for key in self.rows if key not in self.own]
        new = [key for key in self.own if key not in self.rows and key != "device"]
        pairs = zip(free, new, strict=False)
        self.renamed = {key: key for key in self.own if key in self.rows} | dict(pairs)
        self.lacking = free[len(new) :]

    def text(self, text: str) -> str:
        """Return the sentences that name no parameter that is lacking."""
        text = re.sub(r"(The result: )?``out``, or a new", "a new", text)
        text = _UNTRUE.sub("", " ".join(text.split())).strip()
        sentences = re.split(r"(?<=[.])\s+(?=[A-Z`])", text)
        lacking = {*self.lacking}
        fit = [each for each in sentences if lacking.isdisjoint(each.split("``"))]
        text = re.sub(r"``(\w+)``", self._own_name, " ".join(fit))
        return text[:1].upper() + text[1:]

    def _own_name(self, found: re.Match[str]) -> str:
        return f"``{self.renamed.get(found[1], found[1])}``"

    def parameters(self, ours: dict[str, tuple[str, str]]) -> str:
        """Return the section of the parameters."""
        rows = {new: self.rows[old] for old, new in self.renamed.items()}
        rows = {key: (kind, self.text(text)) for key, (kind, text) in rows.items()}
        rows |= {"device": _DEVICE, **ours}
        written = []
        for key, parameter in self.own.items():
            kind, text = rows[key]
            kind = _UNTRUE.sub("", kind)
            if parameter.default is parameter.empty:
                kind = re.sub(r", (optional|default).*", "", kind)
                text = re.sub(r" The default is [^.]*\.", "", text)
            elif not re.search("optional|default", kind):
                kind += ", optional"
            head = str(parameter).partition(":")[0].partition("=")[0]
            written.append((f"{head} : {kind}", text))
        return _written(written)

    def errors(self, ours: dict[str, tuple[str, str]]) -> str:
        """Return the section of the errors."""
        rows = _rows(self.says["Raises"])
        raised = {key: self.text(text) for key, (_, text) in rows.items()}
        clauses = [_OTHER_DEVICE] if "device" in self.own else []
        if self.takes_matrices:
            clauses = [_NO_MATRICES.format(next(iter(self.own)))]
            raised = {key: text for key, text in raised.items() if text not in clauses}
            raised["TypeError"] = _NO_FLOATS
        raised |= {key: text for key, (_, text) in ours.items()}
        for clause in clauses:
            before = raised.get("ValueError", "")
            if clause.split("``")[1] not in before.split("``"):
                joined = f"{before[:-1]}, or i{clause[1:]}" if before else clause
                raised["ValueError"] = joined
        return _written([(key, raised[key]) for key in sorted(raised) if raised[key]])

    def see_also(self) -> str:
        """Return the section: the other function, and those beside this one."""
        more = ", ".join(f"``{name}``" for name in self.lacking)
        text = f"It has {more} too." if more else "The function that it calls."
        rows = [(f"{self.path} :", text)]
        for names, (start, end) in _rows(self.says["See Also"]).items():
            there = [name for name in names.split(", ") if name in self.listed]
            rows += [(f"{name} : {start} {end}".rstrip(), "") for name in there]
        return _written(rows)

    def example(self, text: str) -> str:
        """Return an example, which calls this function instead of the other one."""
        text = re.sub(r">>> from pycuda import .*\n", "", text)
        text = text.replace(self.call, self.own_call)
        text = re.sub(r"\b(?<!xp\.)(fft|linalg)\.(?=\w+\()", r"xp.\1.", text)
        return f">>> import pycuda.array_api as xp\n{text}" if "xp." in text else text


def complete(function: object) -> None:
    """Give a function what the other one says, unless its docstring has it all."""
    if not isinstance(function, FunctionType) or not function.__doc__:
        return  # a function in C, or no docstrings: python -OO
    ours, other = _sections(function), _Other(function)
    parameters = _rows(ours["Parameters"])
    if not other.says["Parameters"] or len(parameters) == len(other.own):
        return
    returned = _rows(other.says["Returns"]).items()
    sections = {
        "Returns": _written([(key, other.text(text)) for key, (_, text) in returned]),
        "See Also": other.see_also(),
        "Notes": textwrap.fill(other.text(other.says["Notes"]), 84),
        **{title: text for title, text in ours.items() if text},
        "Parameters": other.parameters(parameters),
        "Raises": other.errors(_rows(ours["Raises"])),
        "Examples": other.example(ours["Examples"] or other.says["Examples"]),
    }
    written = [f"{x}\n{'-' * len(x)}\n{sections[x]}" for x in _SECTIONS if sections[x]]
    function.__doc__ = "\n\n".join([ours[""], *written])
