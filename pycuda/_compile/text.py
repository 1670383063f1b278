"""The texts that a caller passes: checked, and a source made ready for a compiler."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from pycuda._excerpt import AFTER_SOURCE, BEFORE_SOURCE, SOURCE_NAME

_HALF_CHARACTER = "[\ud800-\udc7f\udd00-\udfff]"


def list_of(value: Iterable[str | os.PathLike[str]], name: str) -> list[str]:
    """Return a new list of strings from the argument ``name``.

    Raise TypeError for a single string, and for items that are no strings or paths.
    """
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a list of strings, not one string")
    items: list[str] = []
    for item in value:
        text: object = item
        if not isinstance(item, str) and isinstance(item, os.PathLike):
            text = os.fspath(item)
        if not isinstance(text, str):
            raise TypeError(f"{name} must be a list of strings, not one with {item!r}")
        if not text.isascii():
            _check_characters(text, f"a string of {name}")
        items.append(text)
    return items


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
        _check_characters(text, "the source")
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


def _check_characters(text: str, what: str) -> None:
    """Raise ValueError if a text has half of a surrogate pair, which UTF-8 lacks.

    Bytes that were decoded with "surrogateescape" are allowed. They are written as they
    were.
    """
    found = re.search(_HALF_CHARACTER, text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise ValueError(
            f"{what} has the character U+{ord(found[0]):04X} in line {line}: one half "
            "of a surrogate pair, which no file can have. Check how it was decoded"
        )


def wrapped(source: object, no_extern_c: bool) -> str:
    """Return the text to compile. Its ``#line`` directives number the user's own lines.

    Texture references get their header, and ``extern "C"`` is put around the source
    unless ``no_extern_c`` is true.
    """
    text = text_of(source)
    text = text.removeprefix("\ufeff")  # a byte order mark, which compilers refuse
    header = ""
    if "texture" in text or "surface" in text:
        from pycuda._compile import references

        header = references.header_for(text)
    line = f'#line 1 "{SOURCE_NAME}"\n'
    if no_extern_c:
        return f"{header}{line}{text}\n"
    before = f'#line 1 "{BEFORE_SOURCE}"\nextern "C" {{\n'
    after = f'#line 1 "{AFTER_SOURCE}"\n}}\n'
    return f"{header}{before}{line}{text}\n{after}"
