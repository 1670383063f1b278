"""The file of a bundle, written in one step. ``bundle.py`` has the format."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pycuda._compile import store
from pycuda._compile.bundle import MAGIC, Header

_LENGTH_SIZE = 8


class NewImage(NamedTuple):
    """An image to write: see ``bundle.Image``."""

    target: str
    arch: str
    lowered: Sequence[str]
    data: bytes


class NewSource(NamedTuple):
    """A source to write: see ``bundle.Source``."""

    key: str
    kernels: str
    headers: Sequence[Header]
    images: Sequence[NewImage]
    types: Mapping[str, str]


def write(
    path: str, version: str, notes: Iterable[str], sources: Iterable[NewSource]
) -> int:
    """Write a bundle in place of what is at ``path``. Return its size in bytes."""
    lines = [_line("V", version), *(_line("N", note) for note in notes)]
    pieces: list[bytes] = []
    places: dict[str, int] = {}  # of the images by digest
    end = 0
    for source in sources:
        lines.append(_line("S", source.key, source.kernels))
        lines += [_line("H", *header) for header in source.headers]
        lines += [_line("T", *row) for row in source.types.items()]
        for image in source.images:
            digest, size = store.digest_of(image.data), len(image.data)
            if digest not in places:
                places[digest] = end
                pieces.append(image.data)
                end += size
            place = str(places[digest])
            head = (image.target, image.arch, place, str(size), digest)
            lines.append(_line("I", *head, *image.lowered))
    index = b"\n".join(lines)
    length = len(index).to_bytes(_LENGTH_SIZE, "little")
    parts = [MAGIC, store.digest_bytes(index), length, index, *pieces]
    return _replace(path, b"".join(parts))


def _line(kind: str, *fields: str) -> bytes:
    """Return a line of the index. Raise ValueError for a field with a separator."""
    for field in fields:
        if "\t" in field or "\n" in field:
            raise ValueError(
                f"{field!r} has a tab or a line break, which a bundle cannot store. "
                "Rename it"
            )
    return os.fsencode("\t".join((kind, *fields)))


def complaint(path: str) -> str:
    """Return why no bundle can be written to a path, "" if one can."""
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    if os.path.isdir(path):
        return "this is a folder, and the name of a file is needed"
    if os.path.exists(path) and not os.path.isfile(path):
        return "this is not a file, but a device or a pipe"
    if not os.path.isdir(folder):
        return f"there is no folder '{folder}'"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"the folder '{folder}' cannot be written"
    return ""


def _replace(path: str, data: bytes) -> int:
    """Write a file in one step. A symbolic link stays, and its target is replaced."""
    path = os.path.realpath(path)
    reason = complaint(path)
    if reason:
        raise ValueError(f"'{path}': {reason}")
    draft = f"{path}.{os.getpid()}.part"
    with open(draft, "xb") as file:
        try:
            file.write(data)
            file.close()
            os.replace(draft, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise
    return len(data)
