"""The text of a source as compilers get it, and what is put before and around it.

CUDA 12 removed texture references, the variables ``texture<>`` and ``surface<>``, from
the language. ``pycuda-textures.hpp`` defines them for a compiler that lacks them, and
comes before sources with such variables.

Templates and overloads cannot have C linkage, so they cannot be inside the
``extern "C"`` that is put around a source. If a compiler complains about that, the
source is compiled again with its ``#include <...>`` lines inside ``extern "C++"``, so
the kernels keep their plain names.

Patterns are compiled at their first use, because few sources need them.
"""

from __future__ import annotations

import os
import re

from pycuda._compile.request import check_characters
from pycuda._excerpt import AFTER_SOURCE, BEFORE_SOURCE, SOURCE_NAME


def text_of(source: object) -> str:
    """Return the text of a source: a str, UTF-8 bytes, or an object that renders one.

    Raise TypeError for objects without a text of their own, such as None. Raise
    ValueError for a text that no file can have.
    """
    if type(source) is str:
        text = source
    elif isinstance(source, (bytes, bytearray)):
        text = _decoded(source)
    elif isinstance(source, os.PathLike):
        raise TypeError(
            f"the source must be a text, not the path {os.fspath(source)!r}. Pass what "
            "the file contains, such as path.read_text()"
        )
    elif isinstance(source, str) or _has_text(type(source)):
        text = str(source)
    else:
        what = "None" if source is None else type(source).__name__
        raise TypeError(
            "the source must be a text, or an object that str() makes one of, not "
            f"{what}"
        )
    if not text.isascii():
        check_characters(text, "the source")
    return text


def _decoded(source: bytes | bytearray) -> str:
    try:
        return source.decode()
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"the source is {type(source).__name__} that are not UTF-8: byte "
            f"{error.start}, in line {line}, is {source[error.start]:#04x}. Decode "
            "them with the encoding that they have"
        ) from None


def _has_text(kind: type) -> bool:
    """Return whether str() gives more than Python's own description of an object."""
    for base in kind.__mro__:
        if "__str__" in vars(base) or "__repr__" in vars(base):
            return base.__module__ != "builtins"
    return False


def wrapped(source: object, no_extern_c: bool) -> str:
    """Return the text to compile. Its ``#line`` directives number the user's own lines.

    Texture references get their header, and ``extern "C"`` is put around the source
    unless ``no_extern_c`` is true.
    """
    text = text_of(source)
    text = text.removeprefix("\ufeff")  # a byte order mark, which compilers refuse
    header = ""
    if "texture" in text or "surface" in text:
        header = header_for(text)
    line = f'#line 1 "{SOURCE_NAME}"\n'
    if no_extern_c:
        return f"{header}{line}{text}\n"
    before = f'#line 1 "{BEFORE_SOURCE}"\nextern "C" {{\n'
    after = f'#line 1 "{AFTER_SOURCE}"\n}}\n'
    return f"{header}{before}{line}{text}\n{after}"


# -- texture references ----------------------------------------------------------------

_MAYBE_REFERENCE = r"\b(?:texture|surface)\s*<"

# A reference is one of the two words, a list of types in <>, and behind it a name or
# another part of a declaration. A list with an operator in it is a comparison.
_REFERENCE = (
    r"(?P<of>::|->|\.)?\s*\b(?P<word>texture|surface)\s*"
    r"<(?:[^;{}()&|?!]|\([^(){};]*\))*?>\s*(?:[\w&*>,)\\#]|\Z)"
)
_WORDS = ("surface", "texture")
_INCLUDE = "#include <pycuda-textures.hpp>\n"
_FREE_WORD = "PYCUDA_TEXTURES_NO_"

# Without a list of types the word is a name of the source's own: a variable, a class.
_OWN_NAME = r"\b(texture|surface)\b(?!\s*<)"
_NO_CODE = (
    r"(?ms)//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|^[ \t]*#[ \t]*(?:if|elif|undef|include|pragma|error|warning|line)[^\n]*"
)

# The error of a compiler without references about a declaration that is not in the
# source's own text, but in a header or behind a macro.
_UNKNOWN_REFERENCE = (
    r"\berror\b.*(?:\b(texture|surface) is not a template"
    r"|identifier \"(texture|surface)\" is undefined)"
)


def header_for(text: str) -> str:
    """Return the lines that define texture<> and surface<> for a source with them.

    The header has no effect on a compiler that has its own references. A word that the
    source does not use for a reference, or uses as a name of its own, stays undefined.
    """
    if not re.search(_MAYBE_REFERENCE, text):
        return ""
    code = re.sub(_NO_CODE, " ", text)
    words = {m["word"] for m in re.finditer(_REFERENCE, code) if not m["of"]}
    words.difference_update(re.findall(_OWN_NAME, code))
    if not words:
        return ""
    return defining_references(words)


def defining_references(words: set[str]) -> str:
    """Return the lines that define these of the words texture and surface."""
    free = [word for word in _WORDS if word not in words]
    lines = [f"#define {_FREE_WORD}{word.upper()}\n" for word in free]
    return "".join([*lines, _INCLUDE])


def defined_references(source: str) -> set[str]:
    """Return the words that the lines before a wrapped source define."""
    header = source.partition("#line")[0]
    if not header.endswith(_INCLUDE):
        return set()
    return {word for word in _WORDS if _FREE_WORD + word.upper() not in header}


def unknown_references(output: str) -> set[str]:
    """Return the words texture and surface if a compiler's errors call them unknown."""
    found = re.findall(_UNKNOWN_REFERENCE, output)
    return {word for pair in found for word in pair if word}


# -- headers with C++ ------------------------------------------------------------------

_COMPLAINT = r"\berror\b.*(?:extern \"C\"|\"C\"|\bC) linkage"
_LINE = f'#line 1 "{SOURCE_NAME}"\n'
_AFTER = f'#line 1 "{AFTER_SOURCE}"\n'
_INCLUDE_LINE = (
    r"(?ms)//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\""
    r"|^[ \t]*#[ \t]*include[ \t]*<(?P<header>[^>\n]*)>[^\n]*\n"
)

#: What to do with C++ of the program's own.
LINKAGE_ADVICE = (
    'C++ such as templates and overloads cannot be inside the extern "C" that is put '
    'around a source. Pass no_extern_c=True, and write extern "C" before each kernel '
    "that get_function() takes by its plain name"
)


def is_linkage_complaint(source: str, output: str) -> bool:
    """Return whether errors are about C++ in the ``extern "C"`` around a source."""
    return f'"{BEFORE_SOURCE}"' in source and bool(re.search(_COMPLAINT, output))


def with_headers_outside(source: str) -> tuple[str, list[str]]:
    """Return a wrapped source with its includes in ``extern "C++"``, and the headers.

    There are no headers if nothing can be changed.
    """
    before, _, rest = source.partition(_LINE)
    text, _, after = rest.rpartition(_AFTER)
    headers: list[str] = []
    if re.search(r"(?m)^[ \t]*#[ \t]*(?:line|\d)", text):
        return source, headers  # the lines would get other numbers

    def replaced(match: re.Match[str]) -> str:
        if match["header"] is None:
            return match[0]
        headers.append(match["header"])
        number = text.count("\n", 0, match.end()) + 1
        line = f'#line {number} "{SOURCE_NAME}"\n'
        return f'extern "C++" {{\n{match[0]}}}\n{line}'

    text = re.sub(_INCLUDE_LINE, replaced, text)
    return f"{before}{_LINE}{text}{_AFTER}{after}", headers


def linkage_note(headers: list[str]) -> str:
    """Return the words of the warning that a source was compiled a second time."""
    names = ", ".join(f"<{name}>" for name in dict.fromkeys(headers))
    return (
        f'the C++ in the headers {names} cannot be inside the extern "C" that is put '
        "around a source, so the source was compiled again with the headers outside "
        "of it. To avoid the first compilation, pass no_extern_c=True, and write "
        'extern "C" before each kernel'
    )
