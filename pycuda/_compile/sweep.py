"""The size of the compile cache: counted, bounded, and cleared of leftover files.

Each stored entry adds its size to the file ``usage``. So the whole folder is listed
only when the bound may be exceeded, when that file grew long, or once a day. The
entries used longest ago are removed first; ``store.load`` keeps the times of their last
use. Only files with the names of cache files are removed, since the folder may have
others.

Nothing here raises OSError. Two processes that count at one time can miss each other's
sizes; the next listing of the folder corrects the sum.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from pycuda._compile import lock
from pycuda._warning import warn

USAGE = "usage"
VARIABLE = "PYCUDA_CACHE_SIZE"
DEFAULT_BOUND = 1 << 30

_SIZE = re.compile(
    r"(?=\.?[0-9])([0-9]{0,30})(?:\.([0-9]{0,30}))?([KMGT]?)(?:i?B)?", re.IGNORECASE
)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_ENTRY = re.compile(r"[0-9a-f]{40}\.(?:cubin|ptx|fatbin)|(?:nvcc|NVRTC)-[0-9a-f]{40}")
_DRAFT = re.compile(rf"\.(?:{_ENTRY.pattern}|{USAGE})\..*\.part")
_LOCK = re.compile(rf"\.(?:{_ENTRY.pattern})\.lock")

# A sweep frees this part of the bound, so that the next entry needs no other sweep.
_ROOM = 10  # one tenth

_LONGEST = 16384  # bytes of the file of sizes
_DAY_NS = 24 * 3600 * 1_000_000_000
_ABANDONED_NS = 3600 * 1_000_000_000  # a draft is written and renamed in milliseconds

_complained: set[str] = set()


@dataclass(frozen=True)
class Entry:
    """One file of the cache: where it is, its size in bytes, its last use in ns.

    Attributes
    ----------
    path : str
        The path of the file.
    size : int
        The size of the file, in bytes.
    used_ns : int
        The time of the last use, in ns since 1970.
    """

    path: str
    size: int
    used_ns: int


def complaint() -> str | None:
    """Return what is wrong with PYCUDA_CACHE_SIZE, None if nothing is."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text or _SIZE.fullmatch(text):
        return None
    return (
        f"{VARIABLE} is a number of bytes, or one followed by K, M, G or T, not "
        f"{text!r}"
    )


def bound() -> int | None:
    """Return the largest size of a cache in bytes, None for no limit."""
    match = _SIZE.fullmatch(os.environ.get(VARIABLE, "").strip())
    if match is None:
        _complain(complaint())
        return DEFAULT_BOUND
    whole, part = int(match[1] or 0), match[2] or ""
    unit = _UNITS[match[3].upper()]
    return whole * unit + int(part or 0) * unit // 10 ** len(part) or None


def _complain(wrong: str | None) -> None:
    if wrong is None or wrong in _complained:
        return
    _complained.add(wrong)
    warn(f"{wrong}; the cache is bounded to 1 GiB")


def entries(folder: str) -> list[Entry]:
    """Return the entries in a folder. The one used longest ago comes first."""
    found = [
        Entry(item.path, stat.st_size, stat.st_mtime_ns)
        for item, stat in _files(folder)
        if _ENTRY.fullmatch(item.name)
    ]
    return sorted(found, key=lambda entry: (entry.used_ns, entry.path))


def _files(folder: str) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    try:
        with os.scandir(folder) as items:
            for item in items:
                with contextlib.suppress(OSError):  # gone meanwhile
                    if item.is_file(follow_symlinks=False):
                        yield item, item.stat(follow_symlinks=False)
    except OSError:
        return


def grown(folder: str, size: int) -> None:
    """Add ``size`` to the sum of stored bytes. Sweep if it exceeds the bound."""
    most = bound()
    total = _add(os.path.join(folder, USAGE), size)
    if total is None or (most is not None and total > most):
        sweep(folder, most)


def _add(path: str, size: int) -> int | None:
    """Return the sum of all noted sizes, None if the folder must be listed."""
    try:
        with open(path, "a+b", buffering=0) as file:
            file.write(b"%d\n" % size)
            file.seek(0)
            text = file.read(_LONGEST + 1)
        head, *sizes = text.splitlines()
        since_ns, total = map(int, head.split())
        now = time.time_ns()
        if len(text) > _LONGEST or not now - _DAY_NS < since_ns <= now:
            return None
        return total + sum(map(int, sizes))
    except (OSError, ValueError):
        return None


def sweep(folder: str, most: int | None) -> None:
    """Remove leftover files, then the entries used longest ago until the rest fits.

    The entry used last stays, however large it is.
    """
    remove_leftovers(folder)
    found = entries(folder)
    total = sum(entry.size for entry in found)
    if most is not None and total > most:
        for entry in found[:-1]:
            total -= entry.size if remove(entry.path) else 0
            if total <= most - most // _ROOM:
                break
    _write_total(folder, total)


def remove_leftovers(folder: str, abandoned_ns: int = _ABANDONED_NS) -> None:
    """Remove the drafts and lock files of processes that ended too soon."""
    now = time.time_ns()
    for item, stat in _files(folder):
        if _DRAFT.fullmatch(item.name) and stat.st_mtime_ns < now - abandoned_ns:
            remove(item.path)
        elif _LOCK.fullmatch(item.name):
            lock.remove_if_unused(item.path)


def remove(path: str) -> bool:
    """Remove a file. Return whether that was possible."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def _write_total(folder: str, total: int) -> None:
    path = os.path.join(folder, USAGE)
    draft = os.path.join(folder, f".{USAGE}.{os.getpid()}.{time.monotonic_ns()}.part")
    try:
        with open(draft, "xb") as file:
            file.write(b"%d %d\n" % (time.time_ns(), total))
        os.replace(draft, path)
    except OSError:
        remove(draft)


def clear(folder: str, older_than_ns: int | None = None) -> tuple[int, int]:
    """Remove all entries, or those not used since a time; return (number, bytes)."""
    number = size = 0
    for entry in entries(folder):
        old = older_than_ns is None or entry.used_ns < older_than_ns
        if old and remove(entry.path):
            number, size = number + 1, size + entry.size
    remove_leftovers(folder)
    if os.path.exists(os.path.join(folder, USAGE)):
        _write_total(folder, sum(entry.size for entry in entries(folder)))
    return number, size
