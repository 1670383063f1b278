"""Texture references: the header that gives ``texture<>`` and ``surface<>`` back.

CUDA 12 removed these variables from the language. ``pycuda-textures.hpp`` defines them
for a compiler that lacks them. This file decides which sources include that header.
"""

from __future__ import annotations

import re

_MAYBE_REFERENCE = re.compile(r"\b(?:texture|surface)\s*<")

# A reference is one of the two words, a list of types in <>, and behind it a name or
# another part of a declaration. A list with an operator in it is a comparison.
_REFERENCE = re.compile(
    r"(?P<of>::|->|\.)?\s*\b(?P<word>texture|surface)\s*"
    r"<(?:[^;{}()&|?!]|\([^(){};]*\))*?>\s*(?:[\w&*>,)\\#]|\Z)"
)
_WORDS = ("surface", "texture")
_INCLUDE = "#include <pycuda-textures.hpp>\n"
_FREE_WORD = "PYCUDA_TEXTURES_NO_"

# Without a list of types the word is a name of the source's own: a variable, a class.
_OWN_NAME = re.compile(r"\b(texture|surface)\b(?!\s*<)")
_NO_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|^[ \t]*#[ \t]*(?:if|elif|undef|include|pragma|error|warning|line)[^\n]*",
    re.DOTALL | re.MULTILINE,
)

# The error of a compiler without references about a declaration that is not in the
# source's own text, but in a header or behind a macro.
_UNKNOWN_REFERENCE = re.compile(
    r"\berror\b.*(?:\b(texture|surface) is not a template"
    r"|identifier \"(texture|surface)\" is undefined)"
)


def header_for(text: str) -> str:
    """Return the lines that define texture<> and surface<> for a source with them.

    The header has no effect on a compiler that has its own references. A word that the
    source does not use for a reference, or uses as a name of its own, stays undefined.
    """
    if not _MAYBE_REFERENCE.search(text):
        return ""
    code = _NO_CODE.sub(" ", text)
    words = {m["word"] for m in _REFERENCE.finditer(code) if not m["of"]}
    words.difference_update(_OWN_NAME.findall(code))
    if not words:
        return ""
    return defining(words)


def defining(words: set[str]) -> str:
    """Return the lines that define these of the words texture and surface."""
    free = [word for word in _WORDS if word not in words]
    lines = [f"#define {_FREE_WORD}{word.upper()}\n" for word in free]
    return "".join([*lines, _INCLUDE])


def defined_in(source: str) -> set[str]:
    """Return the words that the lines before a wrapped source define."""
    header = source.partition("#line")[0]
    if not header.endswith(_INCLUDE):
        return set()
    return {word for word in _WORDS if _FREE_WORD + word.upper() not in header}


def unknown_in(output: str) -> set[str]:
    """Return the words texture and surface if a compiler's errors call them unknown."""
    found = _UNKNOWN_REFERENCE.findall(output)
    return {word for pair in found for word in pair if word}
