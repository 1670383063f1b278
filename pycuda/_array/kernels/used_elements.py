"""The arrays that a kernel uses element by element, found in its code.

The call checks that these arrays are long enough. In doubt an array is not one of them.
"""

from __future__ import annotations

import re

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
