"""What a compilation reads: include lines, files, and their list in the cache entry.

``store.py`` compares the list, the manifest, at each hit. Headers of the toolkit and of
the system's C and C++ libraries are not listed one by one. They come with the compiler,
whose identity is in the key of the entry; for each of the system's libraries one header
is listed. NVRTC does not tell what it read, so the include lines are followed. Only a
compilation needs this file, not a hit.

Include lines count wherever they are, also in comments, in strings and behind
conditions. One name too many costs a look at a file; one too few gives an outdated
result.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Sequence

from pycuda._compile import store

# The headers of the C and C++ libraries and of gcc itself.
_SYSTEM = (
    r"/usr/include/(?:alloca|assert|complex|ctype|endian|errno|features|features-time64"
    r"|fenv|float|inttypes|limits|locale|malloc|math|memory|pthread|sched|setjmp|signal"
    r"|stdc-predef|stddef|stdint|stdio|stdlib|string|strings|time|unistd|wchar"
    r"|wctype)\.h$"
    r"|/usr/include/(?:[^/]+-linux-gnu/)?(?:asm|asm-generic|bits|c\+\+|gnu|linux|sys)/"
    r"|.*/lib(?:64)?/gcc/"
)
_WITNESSES = ("/stdc-predef.h", "/stddef.h", "/cstdlib")

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


def make(
    source: str,
    dependencies: Iterable[str],
    search_dirs: Iterable[str],
    toolkit_dirs: Iterable[str],
    started_ns: int,
    note: str = "",
) -> bytes | None:
    """Describe what a compilation read.

    ``dependencies`` are the files that it read. ``search_dirs`` are the folders where
    the compiler looks for headers before its own. ``started_ns`` is the time of its
    start. ``note`` describes the result for people. Return None if the result must not
    be kept, because an input changed meanwhile or cannot be described.
    """
    search_dirs = list(search_dirs)
    listed = _listed(dependencies, toolkit_dirs, search_dirs)
    lines: list[bytes] = []
    texts: list[tuple[str | None, str]] = [(None, source)]
    for path in listed:
        described = _described(path, started_ns)
        if described is None:
            return None
        line, content = described
        lines.append(line)
        if not is_system_header(path):
            texts.append((os.path.dirname(path), content.decode("utf-8", "replace")))
    absent, asked = find_headers(texts, search_dirs, listed)
    for path in _listed(asked, toolkit_dirs, search_dirs):
        described = _described(path, started_ns)
        if described is None:
            return None
        if path not in listed:
            lines.append(described[0])
    lines += [store.absent_line(os.fsencode(path)) for path in absent]
    if any("\n" in path for path in absent):  # in the name of a folder
        return None
    if note:
        lines.append(b"N\t" + " ".join(note.split()).encode("utf-8", "replace"))
    return b"\n".join(lines)


def _described(path: str, started_ns: int) -> tuple[bytes, bytes] | None:
    """Return (line for a manifest, content) of a file, None if it changed meanwhile.

    A file whose name has a line break cannot be described either.
    """
    name = os.fsencode(path)
    try:
        with open(name, "rb") as file:
            content = file.read()
        stat = os.stat(name)
    except OSError:
        return None
    now = time.time_ns()
    changes = (stat.st_mtime_ns, stat.st_ctime_ns)
    if any(started_ns <= change <= now for change in changes) or b"\n" in name:
        return None
    return store.file_line(stat, store.digest_of(content).encode(), name), content


def is_system_header(path: str) -> bool:
    """Return whether a file is a header of the C or C++ library or of gcc."""
    return re.match(_SYSTEM, os.path.normpath(path)) is not None


def _listed(
    dependencies: Iterable[str],
    toolkit_dirs: Iterable[str],
    search_dirs: Iterable[str] = (),
) -> list[str]:
    """Return the dependencies to watch, absolute and in order."""
    is_toolkits = toolkit_test(toolkit_dirs, search_dirs)
    watched = []
    for path in dependencies:
        path = path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
        if is_toolkits(path):
            continue
        if not is_system_header(path) or path.endswith(_WITNESSES):
            watched.append(path)
    return list(dict.fromkeys(watched))


def toolkit_test(
    toolkit_dirs: Iterable[str], search_dirs: Iterable[str]
) -> Callable[[str], bool]:
    """Return a function that says whether a file is the toolkit's own.

    A folder inside of the toolkit that is among ``search_dirs`` is the user's, unless
    it is itself one of the toolkit's folders.
    """
    toolkit = tuple(os.path.join(folder, "") for folder in toolkit_dirs)
    named = [os.path.join(os.path.normpath(folder), "") for folder in search_dirs]
    users = tuple(each for each in named if each not in toolkit)
    users = tuple(each for each in users if each.startswith(toolkit))

    def test(path: str) -> bool:
        plain = os.path.normpath(path)
        return plain.startswith(toolkit) and not plain.startswith(users)

    return test


# -- include lines ---------------------------------------------------------------------


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


# -- what NVRTC reads ------------------------------------------------------------------


def users_own_headers(
    names: Iterable[str], given: Iterable[str], own_folders: Collection[str]
) -> frozenset[str]:
    """Return the names, of standard headers, that the user's folders have too."""
    folders = [folder for folder in given if folder not in own_folders]
    return frozenset(
        name
        for name in names
        for path in (os.path.join(folder, name) for folder in folders)
        if os.path.isfile(path) and not is_system_header(path)
    )


def follow_includes(
    source: str,
    folders: list[str],
    toolkit_dirs: Iterable[str],
    shared: Sequence[str] = (),
    offered: Collection[str] = (),
) -> list[str] | None:
    """Return the files to which the include lines of a source lead.

    Return None if that is unsure, because a macro names a file or a condition asks for
    one. Such lines are allowed in ``shared``, folders of the toolkit's headers and
    others. ``offered`` are the headers that are in no folder.

    All lines count, also those that a condition would skip: one file too many costs a
    look at it, one too few gives an outdated result.
    """
    is_toolkits = toolkit_test(toolkit_dirs, folders)
    trusted = tuple(os.path.join(folder, "") for folder in shared)
    found: list[str] = []
    texts: list[tuple[str, str]] = [("", source)]
    while texts:
        path, text = texts.pop()
        unsure = is_computed(text) or asks_for_headers(text)
        if unsure and not path.startswith(trusted):
            return None
        for quote, name, is_next in included_in(text):
            if name in offered:
                continue
            places = [*folders, *shared]
            if path and quote == '"':
                places.insert(0, os.path.dirname(path))
            candidates = [os.path.join(place, name) for place in places]
            paths = list(filter(os.path.isfile, candidates))
            if not is_next:
                del paths[1:]
            for each in paths:
                if each in found:
                    continue
                found.append(each)
                if not is_toolkits(each):
                    with open(each, encoding="utf-8", errors="replace") as file:
                        texts.append((each, file.read()))
    return found
