"""The file of a bundle, written in one step. ``bundle.py`` has the format."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
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


def _replace(path: str, data: bytes) -> int:
    draft = f"{path}.{os.getpid()}.part"
    try:
        with open(draft, "xb") as file:
            file.write(data)
        os.replace(draft, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise
    return len(data)
