"""The list of the files that a compilation read, which its cache entry keeps.

``store.py`` compares it at each hit. Headers of the toolkit and of the system's C and
C++ libraries are not listed one by one. They come with the compiler, whose identity is
in the key of the entry; for each of the system's libraries one header is listed. Only a
compilation needs this file, not a hit.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable

from pycuda._compile import includes, store

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
    absent, asked = includes.find_headers(texts, search_dirs, listed)
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
