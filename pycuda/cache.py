"""The compile cache, for its user: list its entries, get its size, clear it.

``python -m pycuda.cache`` prints where the cache is and how full. The commands
``list``, ``size`` and ``clear`` do the rest. Entries can be removed at any time, also
while programs run: a missing entry is compiled again. ``--json`` prints JSON.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from pycuda import _command_line, _hide_imports
from pycuda._compile import precompiled, store, sweep
from pycuda._compile.sweep import Entry

__all__ = ["Entry", "clear", "entries", "folder", "note", "size"]
_hide_imports(globals())

_DAY = 24 * 3600
_AGES = 1e6  # days


def folder(cache_dir: str | os.PathLike[str] | None = None) -> str:
    """Return the folder of the compile cache.

    Parameters
    ----------
    cache_dir : path, optional
        The folder. The default is that of the user.

    Returns
    -------
    str
        The folder. It need not exist.
    """
    if cache_dir is None:
        return store.default_dir()
    return os.fspath(cache_dir)


def entries(cache_dir: str | os.PathLike[str] | None = None) -> list[Entry]:
    """Return the entries of the compile cache.

    Parameters
    ----------
    cache_dir : path, optional
        The folder. The default is that of the user.

    Returns
    -------
    list of Entry
        The entries. The one used longest ago comes first.

    Notes
    -----
    The time of the last use, ``used_ns``, is exact to the hour.
    """
    return sweep.entries(folder(cache_dir))


def size(cache_dir: str | os.PathLike[str] | None = None) -> int:
    """Return the size of all entries of the compile cache.

    Parameters
    ----------
    cache_dir : path, optional
        The folder. The default is that of the user.

    Returns
    -------
    int
        The size, in bytes.
    """
    return sum(entry.size for entry in entries(cache_dir))


def note(entry: Entry) -> str:
    """Return what is in an entry: the compiler, the architecture, the kernels.

    Parameters
    ----------
    entry : Entry
        The entry.

    Returns
    -------
    str
        One line of text.
    """
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
    """Remove entries of the compile cache.

    Parameters
    ----------
    cache_dir : path, optional
        The folder. The default is that of the user.
    older_than_days : float, optional
        Remove only what was not used for so many days. The default is to remove all.

    Returns
    -------
    number : int
        Number of entries that were removed. Precompiled headers count as entries here.
    bytes : int
        Their size, in bytes.

    Raises
    ------
    ValueError
        If ``older_than_days`` is not a number.
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


def _summary(path: str) -> dict[str, Any]:
    """Return what the cache has, in bytes. ``bound``: its largest size, or None."""
    found = sweep.entries(path)
    headers = precompiled.files(os.path.join(path, precompiled.FOLDER))
    return {
        "folder": path,
        "entries": len(found),
        "size": sum(entry.size for entry in found),
        "bound": sweep.bound(),
        "headers": len(headers),
        "headers_size": sum(size for _, size, _ in headers),
    }


def _print_summary(path: str) -> None:
    found = _summary(path)
    most = found["bound"]
    print(f"folder   {found['folder']}")
    print(f"entries  {found['entries']}")
    print(f"size     {_in_words(found['size'])}")
    print(f"bound    {'none' if most is None else _in_words(most)}")
    if found["headers"]:
        size = _in_words(found["headers_size"])
        print(f"headers  {found['headers']} precompiled, {size}")


def _rows(path: str) -> list[dict[str, Any]]:
    """Return the entries for a list, each with its time of use in seconds."""
    rows = []
    for entry in sweep.entries(path):
        key, _, target = os.path.basename(entry.path).partition(".")
        rows.append(
            {
                "path": entry.path,
                "used": entry.used_ns / 1e9,
                "size": entry.size,
                "target": target or "facts",
                "key": key.rpartition("-")[2],
                "contents": note(entry),
            }
        )
    return rows


def _print_rows(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(row["used"]))
        size, target, key = _in_words(row["size"]), row["target"], row["key"][:10]
        print(f"{used}  {size:>10}  {target:6}  {key}  {row['contents']}")


def _days(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise argparse.ArgumentTypeError(f"invalid number of days: '{text}'")
    return number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command line.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser.
    """
    _command_line.add_json(parser)
    parser.add_argument(
        "--dir", help="another folder than PYCUDA_CACHE_DIR or the user's own"
    )
    commands = parser.add_subparsers(dest="command", metavar="command")
    listing = commands.add_parser("list", help="list the entries, oldest use first")
    sizing = commands.add_parser("size", help="print the size of all entries in bytes")
    clearing = commands.add_parser("clear", help="remove the entries")
    clearing.add_argument(
        "--older-than",
        type=_days,
        metavar="DAYS",
        help="only entries that were not used since",
    )
    for command in (listing, sizing, clearing):
        _command_line.add_json(command, nested=True)
        _command_line.add_refuse(command)


def run(given: argparse.Namespace) -> int:
    """Execute a parsed command line.

    Parameters
    ----------
    given : argparse.Namespace
        The arguments.

    Returns
    -------
    int
        The exit status.
    """
    if given.dir == "":
        given.refuse("--dir is the name of a folder, not an empty text")
    path = folder(given.dir)
    try:
        os.listdir(path)
    except FileNotFoundError:
        pass  # nothing was compiled yet
    except OSError as error:
        reason = f"the cache cannot be read: {_command_line.reason_of(error)}"
        return _command_line.fail(given, "cache", reason)
    if given.command == "list":
        rows = _rows(path)
        if given.json:
            _command_line.print_json({"folder": path, "entries": rows})
        else:
            _print_rows(rows)
    elif given.command == "size":
        if given.json:
            _command_line.print_json({"folder": path, "size": size(path)})
        else:
            print(size(path))
    elif given.command == "clear":
        number, freed = clear(path, given.older_than)
        if number == 0 and not os.access(path, os.W_OK) and entries(path):
            reason = f"the folder '{path}' cannot be written, so no entry was removed"
            return _command_line.fail(given, "cache", reason)
        if given.json:
            removed = {"folder": path, "removed": number, "size": freed}
            _command_line.print_json(removed)
        else:
            print(f"removed {number} entries, {_in_words(freed)}, from {path}")
    elif given.json:
        _command_line.print_json(_summary(path))
    else:
        _print_summary(path)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments. The default is that of the process.

    Returns
    -------
    int
        The exit status.
    """
    return _command_line.main("cache", add_arguments, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
