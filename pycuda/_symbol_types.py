"""The types of a kernel's parameters, found in its symbol or in PTX.

A kernel outside of ``extern "C"`` has a symbol that holds the types, mangled by the
rules of C++ (Itanium C++ ABI, "Mangling"). PTX has the sizes of parameters, and whether
they are floats. ``_parameter_types.py`` describes the characters of the types.

Neither tells an unsigned integer of 8 bytes from an address that the program calls an
integer, so both have the character ``a`` here.
"""

import re

from pycuda._parameter_types import UNKNOWN, Parameter

#: The letters of C++'s built-in types.
BUILT_IN = {
    "b": "?", "c": "c", "a": "b", "h": "B", "s": "h", "t": "H", "i": "i", "j": "I",
    "l": "l", "m": "a", "x": "l", "y": "a", "f": "f", "d": "d",
}  # fmt: skip
NAMED = {
    "__half": "e",
    "__nv_bfloat16": "E",
    "float2": "F",
    "double2": "D",
}
TEXTS = {
    "?": "bool", "c": "char", "b": "signed char", "B": "unsigned char", "h": "short",
    "H": "unsigned short", "i": "int", "I": "unsigned int", "l": "long", "f": "float",
    "d": "double", "e": "__half", "E": "__nv_bfloat16", "F": "float2", "D": "double2",
}  # fmt: skip

#: The types of PTX that tell something; .b8, .b16 and .b32 are bits.
PTX = {
    ".f32": "f", ".f64": "d", ".s8": "b", ".u8": "B", ".s16": "h", ".u16": "H",
    ".s32": "i", ".u32": "I", ".s64": "a", ".u64": "a", ".b64": "a",
}  # fmt: skip
ENTRY = re.compile(r"\.entry\s+([\w$%]+)\s*\(([^)]*)\)")
PARAMETER = re.compile(r"\.param\b([^,]*)")


class _Unknown(Exception):
    """The symbol has a part that is not read here."""


class _Symbol:
    """A mangled symbol, read from the left."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.seen: list[str] = []  # the types that S_, S0_ ... mean

    def take(self, pattern: str) -> str:
        """Return the match at this place, and go behind it. "" if there is none."""
        match = re.compile(pattern).match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match[0]

    def name(self) -> str:
        """Read a name with its length in front."""
        digits = self.take(r"\d+")
        if not digits:
            raise _Unknown
        start = self.at
        self.at += int(digits)
        if self.at > len(self.text):
            raise _Unknown
        return self.text[start : self.at]

    def function(self) -> None:
        """Read the name of the function."""
        if not self.take("N"):
            self.name()
            return
        while self.text[self.at : self.at + 1].isdigit():
            self.name()
            self.seen.append(UNKNOWN)
        if not self.seen or not self.take("E"):
            raise _Unknown  # a template
        self.seen.pop()  # the function itself is no such part

    def type(self) -> str:
        """Read a type."""
        letter = self.take(r"[a-zA-Z]?")
        if letter in BUILT_IN:
            return "v" + BUILT_IN[letter]
        if letter == "S":
            digits = self.take(r"[0-9A-Z]*_")
            if not digits:
                raise _Unknown
            index = int(digits[:-1], 36) + 1 if digits != "_" else 0
            if index >= len(self.seen):
                raise _Unknown
            return self.seen[index]
        if letter == "P":
            inner = self.type()
            found = "pa" if inner[0] == "p" else "p" + inner[1]
        elif letter in ("K", "V", "r"):
            self.take("[rVK]*")
            found = self.type()
        elif letter == "":
            found = "v" + NAMED.get(self.name(), "u")
        elif letter == "v":
            return UNKNOWN
        else:
            raise _Unknown
        self.seen.append(found)
        return found


def mangled(symbol: str, count: int) -> list[Parameter] | None:
    """Return the parameters that a mangled symbol declares, None if it has none."""
    reader = _Symbol(symbol)
    if not reader.take("_Z"):
        return None
    types = []
    try:
        reader.function()
        while reader.at < len(symbol):
            types.append(reader.type())
    except _Unknown:
        return None
    if types == [UNKNOWN] and symbol.endswith("v"):
        types = []
    if len(types) != count:
        return None
    return [Parameter(each, "", _text_of(each)) for each in types]


def _text_of(found: str) -> str:
    """Return the name of a type in C."""
    text = TEXTS.get(found[1], "")
    if found[0] == "p":
        return f"{text or 'void'} *"
    return text


def of_ptx(entries: str, symbol: str, count: int) -> list[Parameter] | None:
    """Return the parameters of a kernel in PTX, None if it is not declared."""
    for match in ENTRY.finditer(entries):
        if match[1] == symbol:
            found = [_of_ptx(part[1]) for part in PARAMETER.finditer(match[2])]
            return found if len(found) == count else None
    return None


def _of_ptx(text: str) -> Parameter:
    """Return one parameter of PTX."""
    words = text.split()
    if not words or "[" in text:  # an array of bytes is a structure
        return Parameter(UNKNOWN)
    if ".ptr" in words:
        return Parameter("pu", "", "pointer")
    return Parameter("v" + PTX.get(words[0], "u"), "", words[0])
