"""The compile cache, for its user: list its entries, get its size, clear it.

``python -m pycuda.cache`` prints where the cache is and how full. The commands
``list``, ``size`` and ``clear`` do the rest. Entries can be removed at any time, also
while programs run: a missing entry is compiled again.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Sequence

from pycuda._compile import precompiled, store, sweep
from pycuda._compile.sweep import Entry

__all__ = ["Entry", "clear", "entries", "folder", "note", "size"]

_DAY = 24 * 3600
_AGES = 1e6  # days


def folder(cache_dir: str | os.PathLike[str] | None = None) -> str:
    """Return the folder of the cache: ``cache_dir``, or else the usual one."""
    if cache_dir is None:
        return store.default_dir()
    return os.fspath(cache_dir)


def entries(cache_dir: str | os.PathLike[str] | None = None) -> list[Entry]:
    """Return the entries. The one used longest ago comes first.

    The time of the last use, ``used_ns``, is exact to the hour.
    """
    return sweep.entries(folder(cache_dir))


def size(cache_dir: str | os.PathLike[str] | None = None) -> int:
    """Return the size of all entries in bytes."""
    return sum(entry.size for entry in entries(cache_dir))


def note(entry: Entry) -> str:
    """Return what is in an entry: the compiler, the architecture, the kernels."""
    text = store.note_of(entry.path)
    if text is None:
        return "damaged or gone"
    if text:
        return text
    if "-" in os.path.basename(entry.path):
        return "about the compiler"
    return "no kernels by name"


def clear(
    cache_dir: str | os.PathLike[str] | None = None,
    older_than_days: float | None = None,
) -> tuple[int, int]:
    """Remove all entries, or those unused for that long; return (number, bytes).

    Precompiled headers count as entries here.
    """
    before = None
    if older_than_days is not None:
        if math.isnan(older_than_days):
            raise ValueError("older_than_days is a number of days, not nan")
        # A larger age would exceed the range of times and makes no difference.
        days = max(-_AGES, min(_AGES, older_than_days))
        before = time.time_ns() - int(days * _DAY * 1e9)
    path = folder(cache_dir)
    number, freed = sweep.clear(path, before)
    headers, more = precompiled.clear(path, before)
    return number + headers, freed + more


def _in_words(number: int) -> str:
    value = float(number)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            break
        value /= 1024
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def _print_summary(path: str) -> None:
    found = sweep.entries(path)
    most = sweep.bound()
    print(f"folder   {path}")
    print(f"entries  {len(found)}")
    print(f"size     {_in_words(sum(entry.size for entry in found))}")
    print(f"bound    {'none' if most is None else _in_words(most)}")
    headers = precompiled.files(os.path.join(path, precompiled.FOLDER))
    if headers:
        total = sum(size for _, size, _ in headers)
        print(f"headers  {len(headers)} precompiled, {_in_words(total)}")


def _print_list(path: str) -> None:
    for entry in sweep.entries(path):
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used_ns / 1e9))
        name = os.path.basename(entry.path)
        target = name.partition(".")[2] or "facts"
        key = name.partition(".")[0].rpartition("-")[2][:10]
        what = note(entry)
        print(f"{used}  {_in_words(entry.size):>10}  {target:6}  {key}  {what}")


def _days(text: str) -> float:
    number = float(text)
    if math.isnan(number):
        raise ValueError(text)
    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pycuda.cache",
        description="Look at the cache of compiled kernels, or empty it.",
    )
    parser.add_argument(
        "--dir", help="another folder than PYCUDA_CACHE_DIR or the user's own"
    )
    commands = parser.add_subparsers(dest="command", metavar="command")
    commands.add_parser("list", help="list the entries, the oldest use first")
    commands.add_parser("size", help="print the size of all entries in bytes")
    clearing = commands.add_parser("clear", help="remove the entries")
    clearing.add_argument(
        "--older-than",
        type=_days,
        metavar="DAYS",
        help="only entries that were not used since",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; return the exit status."""
    given = _parser().parse_args(arguments)
    try:
        _obey(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe. Discard the rest of the buffer.
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
    return 0


def _obey(given: argparse.Namespace) -> None:
    path = folder(given.dir)
    if given.command == "list":
        _print_list(path)
    elif given.command == "size":
        print(size(path))
    elif given.command == "clear":
        number, freed = clear(path, given.older_than)
        print(f"removed {number} entries, {_in_words(freed)}, from {path}")
    else:
        _print_summary(path)


if __name__ == "__main__":
    sys.exit(main())
