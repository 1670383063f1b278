"""Connected parts of a graph, for ``pycuda.sparse.packeted``."""

from __future__ import annotations

from typing import Any

import numpy as np

_Indices = np.ndarray[Any, np.dtype[np.int64]]


def symmetric_pattern(indptr: _Indices, indices: _Indices) -> tuple[_Indices, _Indices]:
    """Return (indptr, indices) of the elements of a square matrix and its transpose."""
    count = len(indptr) - 1
    rows = np.repeat(np.arange(count), np.diff(indptr))
    both = np.concatenate([rows, indices]), np.concatenate([indices, rows])
    order = np.argsort(both[0], kind="stable")
    pointers = np.searchsorted(both[0][order], np.arange(count + 1))
    return pointers, both[1][order].astype(np.int64)


def _neighbours(indptr: _Indices, indices: _Indices, vertices: _Indices) -> _Indices:
    begins = indptr[vertices]
    counts = indptr[vertices + 1] - begins
    ends = np.cumsum(counts)
    places = np.arange(ends[-1]) + np.repeat(begins - ends + counts, counts)
    return indices[places]


def _once_each(vertices: _Indices, marks: _Indices) -> _Indices:
    """Return the vertices without repetitions; ``marks`` is a buffer for all."""
    numbers = np.arange(len(vertices))
    marks[vertices] = numbers
    return vertices[marks[vertices] == numbers]


def partition(indptr: _Indices, indices: _Indices, most: int) -> list[_Indices]:
    """Return parts of at most ``most`` vertices each, as large as possible.

    A part grows from a vertex by whole rings of neighbours that have no part yet. The
    next part begins beside it. ``indptr`` and ``indices`` are the neighbours of each
    vertex.
    """
    count = len(indptr) - 1
    if most >= count:
        return [np.arange(count)] if count else []
    parts_left = -(-count // most)
    free = np.ones(count, bool)
    marks = np.empty(count, np.int64)
    lowest = 0  # no vertex below is free
    border: _Indices = np.empty(0, np.int64)
    parts = []
    left = count
    while left:
        size = -(-left // parts_left)
        rings: list[_Indices] = []
        missing = size
        ring = border[free[border]][:1]
        while missing:
            if not len(ring):
                while not free[lowest]:
                    step = free[lowest : lowest + 4096].argmax()
                    lowest += int(step) or len(free[lowest : lowest + 4096])
                ring = np.array([lowest])
            taken = ring[:missing]
            free[taken] = False
            missing -= len(taken)
            rings.append(taken)
            found = _neighbours(indptr, indices, taken)
            found = _once_each(found[free[found]], marks)
            border = np.concatenate([ring[len(taken) :], found])
            ring = border
        parts.append(np.sort(np.concatenate(rings)))
        left -= size
        parts_left -= 1
    return parts
