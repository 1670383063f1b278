"""Names in kernels: of arguments, of generated variables, of arrays used by element.

A call checks that the arrays are long enough that its code uses element by element. In
doubt an array is not one of them.
"""

from __future__ import annotations

import re

from pycuda._array.kernels.c_types import parse_c_arg


def parse_arguments(arguments):
    """Return a new list of arguments from a C parameter list or a sequence of them."""
    if isinstance(arguments, str):
        return [parse_c_arg(part) for part in arguments.split(",") if part.strip()]
    return list(arguments)


#: Names of CUDA C that generated loops need.
_BUILT_IN = ("threadIdx", "blockIdx", "blockDim", "gridDim")


def names_of(arguments):
    """Return the names of the arguments, without looking up their types."""
    if not isinstance(arguments, str):
        return [argument.name for argument in arguments]
    found = (re.search(r"(\w+)\s*(?:\[\s*\]\s*)?$", p) for p in arguments.split(","))
    return [match[1] for match in found if match is not None]


def check_names(arguments):
    """Raise ValueError for an argument that hides a name that the loop needs."""
    for name in names_of(arguments):
        if name == "i":
            raise ValueError(
                "an argument is called i, which is the index of the element in the "
                "operation: give the argument another name"
            )
        if name in _BUILT_IN:
            raise ValueError(
                f"an argument is called {name}, which is a name of CUDA C: give the "
                "argument another name"
            )


class Names:
    """Names for generated variables, which no argument and no code of a program has.

    A documented name, such as ``tid``, is used unchanged unless an argument has it.
    Then the generated variable gets a private name, and the program's code sees the
    argument.
    """

    def __init__(self, arguments, *texts):
        self._taken = set(names_of(arguments))
        self._texts = [str(text) for text in (*texts, *self._taken)]
        self.prefix = "pycuda_own"
        while any(self.prefix in text for text in self._texts):
            self.prefix += "_"

    def public(self, *words):
        """Return {word: name} of documented names."""
        taken = self._taken
        return {w: self._private(w) if w in taken else w for w in words}

    def private(self, *words):
        """Return {word: name} of names that the program's code does not have."""
        return {w: self._private(w) for w in words}

    def _private(self, word):
        return f"{self.prefix}_{word}"


# -- arrays that are used element by element -------------------------------------------


_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CONTROL = re.compile(
    r"\b(?:if|for|while|do|switch|return|continue|break|goto)\b|[?]|&&|[|][|]"
)
_MACROS = re.compile(r"#\s*define\b(?:[^\\\n]|\\.)*", re.DOTALL)
_CHANGES = re.compile(
    r"\bi\s*(?:=(?!=)|(?:[-+*/%&|^]|<<|>>)=|\+\+|--)|(?:\+\+|--)\s*i\b"
)
_SWITCHES = re.compile(
    r"\bif\s*\((?P<whole>(?:[^()]|\([^()]*\))*)\)|#\s*if"
    r"|(?:^|[;{}=,(&|?:])(?P<left>[^;{}=,(&|?:]*)(?=&&|[|][|]|[?])"
)


def _first_switch(text):
    """Return the place of the first condition that tests no element of an array."""
    for match in _SWITCHES.finditer(text):
        condition = match["whole"] or match["left"] or ""
        for part in re.split(r"&&|[|][|]", condition):
            if not re.search(r"\[\s*i\s*\]", part):
                return match.start()
    return len(text)


def elementwise_names(names, operation, preamble=""):
    """Return the names of the arrays whose elements 0 to n - 1 the operation uses.

    These are the arrays whose ``name[i]`` is in the text. No name is returned if the
    text changes ``i``, or may skip elements depending on ``i``. A name that is used
    only after a condition without elements is not returned either: the program may use
    the condition to switch off an array.
    """
    text = _COMMENTS.sub(" ", operation)
    always = text[: _first_switch(text)]
    found = {n for n in names if re.search(rf"\b{n}\s*\[\s*i\s*\]", always)}
    rest = re.sub(r"\b\w+\s*\[\s*i\s*\]", " ", text)
    if _CHANGES.search(rest):
        return set()
    macros = " ".join(_MACROS.findall(preamble))
    may_skip = macros or _CONTROL.search(rest)
    return set() if may_skip and re.search(r"\bi\b", rest + macros) else found
