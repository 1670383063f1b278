"""Precompiled headers of NVRTC (12.8 and newer), for sources that begin with CUB.

NVRTC reads CUB's headers in seconds. It can write the result of reading them to a file
and read that file the next time. The file fits only a process in which NVRTC has the
same addresses. So the compilation runs in a process of its own, without random
addresses: ``precompiled_worker.py``.

The files are in a folder of the compile cache. A name there has the hash of all that
the headers depend on: the lines that include them, the options, the library. NVRTC
itself compares the times of the headers. The folder is bounded. A file is complete or
absent, and its name has a checksum.

Nothing here raises an error of its own. Without a result the compilation runs in this
process, as without precompiled headers.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from pycuda._compile import store, sweep
from pycuda._compile.toolkit import HEADERS

FOLDER = "precompiled"
VARIABLE = "PYCUDA_PRECOMPILED_HEADERS"

#: The first words of headers that take NVRTC more than a second.
HEAVY = ("cub/", "thrust/", "cuda/", "cooperative_groups")

#: The name of the header that stands for the first lines of the program.
OPENING = "pycuda-opening"

#: Free room on the disk without which no file is written.
_ROOM = 2 << 30
_ABANDONED_NS = 3600 * 1_000_000_000
_WORKER = os.path.join(os.path.dirname(__file__), "precompiled_worker.py")
_FILE = re.compile(r"[0-9a-f]{40}-[0-9a-f]+-([0-9a-f]{8}\.pch|[0-9]+\.part)")
_LINE = re.compile(r'[ \t]*#[ \t]*line[ \t]+(\d+)(?:[ \t]+"([^"\n]*)")?[ \t]*\Z')
_INCLUDE = re.compile(r"[ \t]*#[ \t]*include[ \t]*<([^>\n]+)>[ \t]*(?://.*)?\Z")
_PLAIN = re.compile(r"[ \t]*(?://.*|#[ \t]*(?:define|undef)\b.*[^\\])?\Z")
_NO_OPTIONS = (
    "-include",
    "--pre-include",
    "-pch",
    "--pch",
    "--create-pch",
    "--use-pch",
)
_ABOUT = re.compile(r"precompiled header|\bPCH\b")

# Whether a worker can run here: None before the first one.
_works: bool | None = None


class Parts(NamedTuple):
    """A program in two parts: the lines that include headers, and the rest."""

    opening: str
    names: list[str]  #: of the headers
    rest: str


def split(text: str) -> Parts | None:
    """Divide a program behind its last leading ``#include <...>``.

    Return None if it does not begin with heavy headers. The rest begins with a #line
    directive, so that messages have the same numbers.
    """
    lines = text.split("\n")
    number, file = 1, ""
    names: list[str] = []
    end, following = 0, ""
    comment = False
    for place, line in enumerate(lines):
        directive = _LINE.match(line)
        include = _INCLUDE.match(line)
        if comment or line.lstrip().startswith("/*"):
            _, closed, tail = line.partition("*/")
            comment = not closed
            if tail.strip():
                break
            number += 1
            continue
        if directive:
            number, file = int(directive[1]), directive[2] or file
            continue
        if not include and not _PLAIN.match(line):
            break
        number += 1
        if include:
            names.append(include[1])
            end, following = place + 1, f'#line {number} "{file}"'
    if not any(name.startswith(HEAVY) for name in names):
        return None
    kept = [line for line in lines[:end] if not _LINE.match(line)]
    # #line in front of this pragma would keep NVRTC from writing the file
    rest = [f"#include <{OPENING}>", "#pragma nv_hdrstop", following, *lines[end:]]
    return Parts("\n".join([*kept, ""]), names, "\n".join(rest))


def is_usable(arguments: Sequence[str]) -> bool:
    """Return whether precompiled headers are allowed and may work here."""
    from pycuda._driver import _setting

    if _works is False or not _setting(VARIABLE):
        return False
    if not sys.platform.startswith("linux") or not sys.executable:
        return False
    return not any(argument.startswith(_NO_OPTIONS) for argument in arguments)


class Request(NamedTuple):
    """One program for NVRTC."""

    library: str  #: the path of libnvrtc
    version: str  #: all that tells this library and its headers from others
    program: str  #: the name of the program
    text: str
    arguments: Sequence[str]
    target: str
    expressions: Sequence[str]
    offered: Mapping[str, str]  #: the headers that are in no folder, with their texts


Answer = tuple[int, bytes, str, list[str]]


def compile(
    request: Request, own_folders: Collection[str], cache: str
) -> Answer | None:
    """Compile with precompiled headers. Return None if that did not work.

    The answer is (status, image, log, lowered names). ``own_folders`` are those of the
    toolkit: only their headers are compiled in advance. ``cache`` is the cache's
    folder.
    """
    parts = split(request.text)
    if parts is None or not is_usable(request.arguments):
        return None
    if not _are_toolkits(parts.names, request, own_folders):
        return None
    folder = os.path.join(cache, FOLDER)
    key = store.key_of(
        parts.opening,
        request.version,
        request.library,
        *request.arguments,
        "",
        *request.offered,
        *request.offered.values(),
    )
    if not _has_room(folder, key):
        return None
    reply = _run_worker(request, parts, os.path.join(folder, key))
    if reply is None:
        return None
    status, image, log, lowered, made = reply
    if made:
        _sweep(folder)
    if status is None or (status != 0 and OPENING in log):
        return None  # the messages would name our own lines
    return status, image, _without_messages(log), lowered


def _are_toolkits(
    names: Sequence[str], request: Request, own_folders: Collection[str]
) -> bool:
    """Return whether each header is the toolkit's or ours, not a file of the user."""
    folders = [each[2:] for each in request.arguments if each.startswith("-I")]
    for name in names:
        if name in request.offered:
            continue
        paths = [os.path.join(folder, name) for folder in folders]
        first = next((path for path in paths if os.path.isfile(path)), None)
        own = tuple(os.path.join(each, "") for each in (HEADERS, *own_folders))
        if first is None or not first.startswith(own):
            return False
    return True


def _run_worker(
    request: Request, parts: Parts, base: str
) -> tuple[int | None, bytes, str, list[str], bool] | None:
    """Run the compilation in a process of its own."""
    global _works
    order = {
        "library": request.library,
        "program": request.program,
        "text": parts.rest,
        "headers": {**request.offered, OPENING: parts.opening},
        "arguments": list(request.arguments),
        "target": request.target,
        "expressions": list(request.expressions),
        "base": base,
    }
    command = [sys.executable, "-I", "-S", _WORKER]
    try:
        worker = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        _works = False
        return None
    try:
        data, _ = worker.communicate(pickle.dumps(order))
    finally:
        worker.kill()  # after an interruption; nothing happens to one that has ended
        worker.wait()
    if worker.returncode < 0:
        _remove_all(base)  # the file may be damaged
        return None
    try:
        reply = pickle.loads(data)
        status, image, log, lowered, made = reply
    except (pickle.UnpicklingError, EOFError, TypeError, ValueError):
        _works = False  # no Python, or a system that refuses fixed addresses
        return None
    _works = True
    return status, image, log, lowered, made


# -- the log ---------------------------------------------------------------------------


def _without_messages(log: str) -> str:
    """Leave out what NVRTC says of precompiled headers."""
    kept = [line for line in log.split("\n") if "using precompiled header" not in line]
    kept = [line for line in kept if "creating precompiled header" not in line]
    blocks: list[str] = []
    dropped = False
    for block in "\n".join(kept).split("\n\n"):
        # a remark about warnings follows the warning
        dropped = bool(_ABOUT.search(block)) or (dropped and block[:7] == "Remark:")
        if not dropped:
            blocks.append(block)
    return "\n\n".join(blocks)


# -- the folder ------------------------------------------------------------------------


def _has_room(folder: str, key: str) -> bool:
    """Return whether the folder has this file, or the disk has room for it."""
    try:
        os.makedirs(folder, exist_ok=True)
        if any(name.startswith(key) for name in os.listdir(folder)):
            return True
        disk = os.statvfs(folder)
        return disk.f_bavail * disk.f_frsize > _ROOM
    except OSError:
        return False


def _remove_all(base: str) -> None:
    """Remove the files of a key."""
    folder, key = os.path.split(base)
    for path, _, _ in files(folder):
        if os.path.basename(path).startswith(key):
            sweep.remove(path)


def files(folder: str) -> list[tuple[str, int, int]]:
    """Return (path, bytes, time of the last use in ns). The oldest use comes first."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as items:
        for item in items:
            if _FILE.fullmatch(item.name):
                with contextlib.suppress(OSError):
                    stat = item.stat(follow_symlinks=False)
                    found.append((item.path, stat.st_size, stat.st_mtime_ns))
    return sorted(found, key=lambda file: file[2])


def _sweep(folder: str) -> None:
    """Remove drafts of lost processes, then the files used longest ago.

    The folder has half of PYCUDA_CACHE_SIZE, beside the cache itself. The file used
    last stays, however large it is.
    """
    now = time.time_ns()
    complete = []
    for path, size, used_ns in files(folder):
        if path.endswith(".pch"):
            complete.append((path, size))
        elif used_ns < now - _ABANDONED_NS:
            sweep.remove(path)
    most = sweep.bound()
    total = sum(size for _, size in complete)
    for path, size in complete[:-1]:
        if most is None or total <= most // 2:
            break
        total -= size if sweep.remove(path) else 0


def clear(cache: str, older_than_ns: int | None = None) -> tuple[int, int]:
    """Remove all files, or those not used since a time; return (number, bytes)."""
    number = size = 0
    for path, each, used_ns in files(os.path.join(cache, FOLDER)):
        old = older_than_ns is None or used_ns < older_than_ns
        if old and sweep.remove(path):
            number, size = number + 1, size + each
    return number, size
