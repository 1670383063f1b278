"""What a part of a program leaves behind: memory and other objects of the driver.

``Mark`` is a moment. What exists later and did not exist then has been left behind. A
kernel that the package has compiled for itself is no leak, and neither is memory that a
pool holds unused.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import NamedTuple

from pycuda import _driver

#: Objects that have memory of their own in the notes, or that caches keep.
_NOT_COUNTED = frozenset(("memory", "host", "array", "module", "physical", "range"))

#: The words for objects, by their kind.
_WORDS = {
    "stream": "stream",
    "event": "event",
    "graph": "graph",
    "graph_exec": "executable graph",
    "pool": "memory pool",
    "texture_object": "texture object",
    "surface_object": "surface object",
    "context": "context",
}


class Held(NamedTuple):
    """Allocations that one line of the program has made."""

    bytes: int
    allocations: int
    kind: str
    file: str | None
    line: int
    function: str | None

    def __str__(self) -> str:
        from pycuda._page import bytes_text

        amount = bytes_text(self.bytes)
        if self.allocations > 1:
            amount += f" in {self.allocations} allocations"
        if self.file is None:
            return f"{amount} of {self.kind} memory, allocated at an unknown line"
        path = os.path.relpath(self.file)
        if len(path) > len(self.file):
            path = self.file
        place = f"{path}:{self.line}"
        if self.function and not self.function.startswith("<"):
            place += f" in {self.function}"
        return f"{amount} of {self.kind} memory, allocated at {place}"


class Mark:
    """The memory and the objects of the driver that exist at one moment."""

    def __init__(self) -> None:
        self._notes = {
            (address, ticks): (size, kind, site)
            for address, size, _, kind, held, _, site, _, ticks in (
                _driver._memory_notes()
            )
            if not held
        }
        self._counts = Counter(_driver._live_counts())

    def lines_since(self, before: Mark) -> list[Held]:
        """Return the memory that did not exist at an earlier mark, by line."""
        found: dict[tuple[int, str], list[int]] = {}
        for key, (size, kind, site) in self._notes.items():
            if key not in before._notes:
                total = found.setdefault((site, kind), [0, 0])
                total[0] += size
                total[1] += 1
        held = [
            Held(size, count, kind, *_driver._call_site(site))
            for (site, kind), (size, count) in found.items()
        ]
        return sorted(held, key=lambda each: -each.bytes)

    def objects_since(self, *before: Mark) -> list[str]:
        """Return the objects that are more than at each of the earlier marks."""
        found = []
        for kind, count in self._counts.items():
            more = count - max(mark._counts[kind] for mark in before)
            if more > 0 and kind not in _NOT_COUNTED:
                word = _WORDS.get(kind, kind.replace("_", " "))
                found.append(f"{more} {word}{'s' if more > 1 else ''}")
        return found
