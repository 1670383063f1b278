"""The files that a compilation by NVRTC reads, found by following ``#include`` lines.

NVRTC does not list what it read.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence

from pycuda._compile import includes, manifest
from pycuda._compile.nvrtc_headers import HEADERS


def users_own(given: Iterable[str], own_folders: Collection[str]) -> frozenset[str]:
    """Return the names of standard headers that the user's folders have too."""
    folders = [folder for folder in given if folder not in own_folders]
    return frozenset(
        name
        for name in HEADERS
        for path in (os.path.join(folder, name) for folder in folders)
        if os.path.isfile(path) and not manifest.is_system_header(path)
    )


def follow(
    source: str,
    folders: list[str],
    toolkit_dirs: Iterable[str],
    shared: Sequence[str] = (),
    offered: Collection[str] = HEADERS,
) -> list[str] | None:
    """Return the files to which the include lines of a source lead.

    Return None if that is unsure, because a macro names a file or a condition asks for
    one. Such lines are allowed in ``shared``, folders of the toolkit's headers and
    others. ``offered`` are the headers that are in no folder.

    All lines count, also those that a condition would skip: one file too many costs a
    look at it, one too few gives an outdated result.
    """
    is_toolkits = manifest.toolkit_test(toolkit_dirs, folders)
    trusted = tuple(os.path.join(folder, "") for folder in shared)
    found: list[str] = []
    texts: list[tuple[str, str]] = [("", source)]
    while texts:
        path, text = texts.pop()
        unsure = includes.is_computed(text) or includes.asks_for_headers(text)
        if unsure and not path.startswith(trusted):
            return None
        for quote, name, is_next in includes.included_in(text):
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
