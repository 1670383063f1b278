"""The ``#include`` lines of a text, and the headers that they name.

Include lines count wherever they are, also in comments, in strings and behind
conditions. One name too many costs a look at a file; one too few gives an outdated
result.
"""

from __future__ import annotations

import os
import re

# Lines may be broken anywhere.
_BREAK = re.compile(r"(?:\\|\?\?/)[ \t\v\f]*\r?\n")
_HASH = r"(?:#|%:|\?\?=)"
_BLOCK_COMMENT = r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/"
_GAP = rf"(?:[ \t\v\f]|{_BLOCK_COMMENT})*"
_NAME = r"([<\"])([^>\"\n]+)[>\"]"
_INCLUDE = re.compile(rf"{_HASH}{_GAP}(include_next|include|import)\b{_GAP}{_NAME}")
_ASKED = re.compile(rf"\b__has_include(?:_next)?{_GAP}\({_GAP}{_NAME}")
_DEFINED = re.compile(rf"{_HASH}{_GAP}define[ \t]+\w+{_GAP}{_NAME}")
_COMPUTED = re.compile(
    rf'^[ \t]*{_HASH}[ \t]*(?:include(?:_next)?|import)\b(?![ \t]*[<"])', re.MULTILINE
)
_COMMENT_OR_STRING = re.compile(
    rf"//[^\n]*|{_BLOCK_COMMENT}|" r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
)


def find_headers(
    texts: list[tuple[str | None, str]], search_dirs: list[str], read: list[str]
) -> tuple[list[str], list[str]]:
    """Look for the headers that texts name, as a compiler does.

    Return the places where no file was found, and the files that ``__has_include``
    found. Each text comes with its folder. ``read`` are the files that the compiler has
    read. They matter for an include line whose name comes from a macro: it is the name
    of one of them, or of a macro's definition in a text.
    """
    absent: dict[str, None] = {}
    present: dict[str, None] = {}
    for folder, text in texts:
        wanted = included_in(text)
        asked = _ASKED.findall(_joined(text))
        if is_computed(text):
            names = _computed_names(texts, search_dirs, read)
            wanted += [('"', name, False) for name in names]
        wanted += [(quote, name, False) for quote, name in asked]
        names_asked = {name for _, name in asked}
        for quote, name, is_next in wanted:
            places = search_dirs
            if folder and quote == '"':
                places = [folder, *search_dirs]
            for place in places:
                candidate = os.path.join(place, name)
                if not os.path.isfile(candidate):
                    absent[candidate] = None
                    continue
                if name in names_asked:
                    present[candidate] = None
                if not is_next:
                    break
    return list(absent), list(present)


def _computed_names(
    texts: list[tuple[str | None, str]], search_dirs: list[str], read: list[str]
) -> list[str]:
    """Return the names that a macro may give to an include line."""
    names = {name for _, text in texts for _, name in _DEFINED.findall(_joined(text))}
    for path in map(os.path.normpath, read):
        for folder in search_dirs:
            if path.startswith(os.path.join(folder, "")):
                names.add(os.path.relpath(path, folder))
    return sorted(names)


def included_in(text: str) -> list[tuple[str, str, bool]]:
    """Return (< or quote, name, whether it is include_next) of the include lines."""
    found = _INCLUDE.findall(_joined(text))
    return [(quote, name, word == "include_next") for word, quote, name in found]


def is_computed(text: str) -> bool:
    """Return whether the name in an include line comes from a macro."""
    return any(map(_COMPUTED.search, (text, _without_comments(text))))


def asks_for_headers(text: str) -> bool:
    """Return whether a text asks if a header exists."""
    return "__has_include" in _joined(text)


def _joined(text: str) -> str:
    return _BREAK.sub("", text)


def _without_comments(text: str) -> str:
    def replacement(match: re.Match[str]) -> str:
        is_comment = match[0].startswith("/")  # else a string
        return " " if is_comment else match[0]

    return _COMMENT_OR_STRING.sub(replacement, _joined(text))
