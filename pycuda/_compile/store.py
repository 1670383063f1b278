"""The compile cache on disk: one file for each entry, complete or absent.

An entry is a checksum, a manifest and a payload. The manifest (``manifest.py``) names
the files that the compiler read, and the places where it found no header. So a hit is
confirmed without starting the compiler: each file has the same size, times and number
as before, or else the same content, and each of the places has still no file.

Nothing here raises OSError. A cache that cannot be read is a miss. A cache that cannot
be written costs one warning.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterable

from pycuda._warning import warn

try:
    # The builtin module: hashlib would load OpenSSL, ten times the cost of a whole hit.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

#: The folder of this package's headers for device code.
HEADERS = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cuda"
)
_HEADERS = os.fsencode(os.path.join(HEADERS, ""))

# In place of that folder in a manifest. Environments that share a cache have it in
# different places.
_PACKAGE = b"<pycuda>/"

_MAGIC = b"PCUCACHE2\n"
_DIGEST_SIZE = 20
_LENGTH_SIZE = 8
_HEAD_SIZE = len(_MAGIC) + _DIGEST_SIZE + _LENGTH_SIZE

# A file changed this short a time ago may change again without a change of its times.
_SETTLED_NS = 1_000_000_000

# An entry's time of change is the time of its last use, as exact as this.
_USE_NS = 3600 * 1_000_000_000

# Size, time of content, time of change and number of a file.
_STAMP = b"%d %d %d %d"

_complained = False


def default_dir() -> str:
    """Return the directory used when the program names none."""
    chosen = os.environ.get("PYCUDA_CACHE_DIR")
    if chosen:
        return chosen
    if sys.platform.startswith("linux"):
        # The folder that platformdirs would name. Its import takes a hundred times
        # longer.
        base = os.environ.get("XDG_CACHE_HOME", "").strip()
        if not os.path.isabs(base):  # the XDG rules ignore a relative path
            base = os.path.expanduser("~/.cache")
        if not os.path.isabs(base):
            base = _base_without_a_home()
        return os.path.join(base, "pycuda", "compiler-cache-v2")
    from platformdirs import user_cache_dir

    return os.path.join(user_cache_dir("pycuda", "pycuda"), "compiler-cache-v2")


def _base_without_a_home() -> str:
    """Return a folder for temporary files that no other user can write."""
    import stat
    import tempfile

    path = os.path.join(tempfile.gettempdir(), f"pycuda-uid{os.getuid()}")
    with contextlib.suppress(OSError):
        os.mkdir(path, 0o700)
    try:
        found = os.lstat(path)
    except OSError:
        return path  # nothing can be kept; store.save warns of it once
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    # Code from a folder that another user can write could be that user's code.
    if mine and not found.st_mode & 0o022:
        return path
    return os.devnull


def shared_dirs() -> list[str]:
    """Return the folders of caches that are read after the own one, and not written."""
    value = os.environ.get("PYCUDA_SHARED_CACHE")
    return [each for each in value.split(os.pathsep) if each] if value else []


def resolve_dir(cache_dir: str | os.PathLike[str] | bool | None) -> str | None:
    """Return the directory to use for a ``cache_dir`` argument, None for no cache."""
    if "PYCUDA_DISABLE_CACHE" in os.environ:
        return None
    if cache_dir is None:
        return default_dir()
    if cache_dir is True:
        raise TypeError("cache_dir is a folder, None for the usual one, or False")
    if not cache_dir:
        return None
    folder = os.fsdecode(cache_dir)
    try:
        os.fsencode(folder)
    except UnicodeEncodeError:
        raise ValueError(
            f"cache_dir is {folder!r}, with one half of a surrogate pair, which no "
            "path can have. Check how it was decoded"
        ) from None
    return folder


def key_of(*parts: str) -> str:
    """Hash strings to a file name. Each part is hashed with its length."""
    state = blake2b(digest_size=_DIGEST_SIZE)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape")
        state.update(b"%d:" % len(data))
        state.update(data)
    return state.hexdigest()


# (path, its size, times and number, or None for a place without a file).
Stamp = tuple["str | bytes", "tuple[int, ...] | None"]


def load(
    path: str, shared: bool = False, watched: list[Stamp] | None = None
) -> bytes | None:
    """Return the payload stored at ``path``, or None if it is missing or outdated.

    An entry of a ``shared`` cache is not changed. The entry and the files that its
    manifest names are added to ``watched``, unless a stamp of them was changed now.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            data = file.read()
            stat = os.fstat(file.fileno())
    except OSError:
        return None
    split = _split(data)
    if split is None:
        return None
    manifest, payload = split
    fresh = manifest
    if manifest:
        checked = _recheck(manifest)
        if checked is None:
            return None
        fresh = checked
    if fresh != manifest:
        if not shared:
            save(path, fresh, payload, say=False)
    elif not shared and stat.st_mtime_ns < time.time_ns() - _USE_NS:
        # In a folder that cannot be written, nothing is evicted either.
        with contextlib.suppress(OSError):
            os.utime(path)
    elif watched is not None:
        watched += [(path, _stamp_of(stat)), *_stamps_in(manifest)]
    return payload


def watch(path: str, manifest: bytes, watched: list[Stamp]) -> None:
    """Add an entry that was saved just now, and the files of its manifest."""
    with contextlib.suppress(OSError):
        watched += [(path, _stamp_of(os.stat(path))), *_stamps_in(manifest)]


def are_unchanged(watched: list[Stamp]) -> bool:
    """Return whether all files and places are as they were."""
    stat = os.stat
    for path, stamp in watched:
        if stamp is None:
            if os.path.isfile(path):
                return False
            continue
        try:
            found = stat(path)
        except OSError:
            return False
        if stamp != (
            found.st_size,
            found.st_mtime_ns,
            found.st_ctime_ns,
            found.st_ino,
        ):
            return False
    return True


def stamps_of(paths: Iterable[str]) -> list[Stamp]:
    """Return files with their stamps, nothing if one of them is gone."""
    try:
        return [(path, _stamp_of(os.stat(path))) for path in paths]
    except OSError:
        return []


def _stamp_of(stat: os.stat_result) -> tuple[int, ...]:
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def _stamps_in(manifest: bytes) -> list[Stamp]:
    """Return what a manifest says about files and places."""
    found: list[Stamp] = []
    for line in manifest.split(b"\n"):
        if line[:1] == b"A":
            found.append((_here(line[2:]), None))
        elif line[:1] == b"F":
            _, stamp, _, name = line.split(b"\t", 3)
            found.append((_here(name), tuple(map(int, stamp.split()))))
    return found


def holds(manifest: bytes) -> bool:
    """Return whether all inputs are still as the manifest describes them."""
    return not manifest or _recheck(manifest) is not None


def note_of(path: str) -> str | None:
    """Return the note in an entry, None if the entry is damaged or gone."""
    try:
        with open(path, "rb") as file:
            split = _split(file.read())
    except OSError:
        return None
    if split is None:
        return None
    lines = split[0].split(b"\n")
    notes = [line[2:].decode("utf-8", "replace") for line in lines if line[:1] == b"N"]
    return " ".join(notes)


def files_of(path: str) -> list[tuple[str, str]]:
    """Return (digest, path) of the files that a compilation read, by its entry."""
    try:
        with open(path, "rb") as file:
            split = _split(file.read())
    except OSError:
        return []
    lines = split[0].split(b"\n") if split is not None else []
    found = [line.split(b"\t", 3)[2:] for line in lines if line[:1] == b"F"]
    return [(digest.decode(), os.fsdecode(_here(name))) for digest, name in found]


def save(path: str, manifest: bytes, payload: bytes, say: bool = True) -> bool:
    """Write an entry in one step. Return whether it was written.

    Without ``say`` a failure is silent; otherwise the first one is a warning.
    """
    head = len(manifest).to_bytes(_LENGTH_SIZE, "little")
    body = head + manifest + payload
    data = _MAGIC + digest_bytes(body) + body
    folder, name = os.path.split(path)
    draft = os.path.join(
        folder,
        f".{name}.{process_name()}.{threading.get_ident()}.{time.monotonic_ns()}.part",
    )
    try:
        os.makedirs(folder or ".", exist_ok=True)
        _write(draft, data)
        os.replace(draft, path)
    except OSError as error:
        # The draft was never made, or the folder allows no changes.
        with contextlib.suppress(OSError):
            os.unlink(draft)
        if say:
            _complain(folder, error)
        return False
    from pycuda._compile import sweep

    sweep.grown(folder, len(data))
    return True


def process_name() -> str:
    """Return a name of this process that no process of another machine has."""
    name = os.uname().nodename if hasattr(os, "uname") else os.environ["COMPUTERNAME"]
    return f"{name}.{os.getpid()}"


def _write(path: str, data: bytes) -> None:
    with open(path, "xb", buffering=0) as file:
        left = memoryview(data)
        while left:
            left = left[file.write(left) :]


def _complain(folder: str, error: OSError) -> None:
    global _complained
    if _complained:
        return
    _complained = True
    warn(
        f"compiled code cannot be kept in '{folder}' ({error.strerror or error}); "
        "programs work, but compile again each time. Set PYCUDA_CACHE_DIR to a "
        "directory that can be written, or PYCUDA_DISABLE_CACHE to do without."
    )


def digest_of(data: bytes) -> str:
    """Return the hash of a content, as text."""
    return blake2b(data, digest_size=_DIGEST_SIZE).hexdigest()


def digest_bytes(data: bytes | memoryview) -> bytes:
    """Return the hash of a content."""
    return blake2b(data, digest_size=_DIGEST_SIZE).digest()


def _split(data: bytes) -> tuple[bytes, bytes] | None:
    """Return (manifest, payload) of an entry's bytes, None if they are damaged."""
    if len(data) < _HEAD_SIZE or not data.startswith(_MAGIC):
        return None
    start = len(_MAGIC) + _DIGEST_SIZE
    found = blake2b(memoryview(data)[start:], digest_size=_DIGEST_SIZE).digest()
    if found != data[len(_MAGIC) : start]:
        return None
    middle = _HEAD_SIZE + int.from_bytes(data[start:_HEAD_SIZE], "little")
    return data[_HEAD_SIZE:middle], data[middle:]


# A manifest is lines. "F<tab>stamp<tab>digest<tab>path" is a file that was read,
# "A<tab>path" a place where a header was looked for and not found, "N<tab>text" a note
# for people. The stamp has the file's number because a file can be replaced by one with
# the same size and times.


def _recheck(manifest: bytes) -> bytes | None:
    """Return the manifest with the present stamps, None if an input has changed."""
    changed = False
    lines = manifest.split(b"\n")
    for number, line in enumerate(lines):
        if line[:1] == b"A":
            if os.path.isfile(_here(line[2:])):
                return None
            continue
        if line[:1] == b"N":
            continue
        _, stamp, digest, name = line.split(b"\t", 3)
        path = _here(name)
        try:
            stat = os.stat(path)
        except OSError:
            return None
        found = _STAMP % (
            stat.st_size,
            stat.st_mtime_ns,
            stat.st_ctime_ns,
            stat.st_ino,
        )
        if found == stamp:
            continue
        if found.partition(b" ")[0] != stamp.partition(b" ")[0]:  # another size
            return None
        now = time.time_ns()
        if _digest_of_file(path) != digest:
            return None
        if max(stat.st_mtime_ns, stat.st_ctime_ns) < now - _SETTLED_NS:
            lines[number] = file_line(stat, digest, path)
            changed = True
    if not changed:
        return manifest
    return b"\n".join(lines)


def file_line(stat: os.stat_result, digest: bytes, path: bytes) -> bytes:
    """Return the line of a manifest for a file that was read."""
    stamp = _STAMP % (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    return b"F\t%b\t%b\t%b" % (stamp, digest, _anywhere(path))


def absent_line(path: bytes) -> bytes:
    """Return the line of a manifest for a place that has no header."""
    return b"A\t" + _anywhere(path)


def _anywhere(path: bytes) -> bytes:
    """Return a path as manifests name it."""
    return _PACKAGE + path[len(_HEADERS) :] if path.startswith(_HEADERS) else path


def _here(name: bytes) -> bytes:
    """Return the path on this machine of a name in a manifest."""
    return _HEADERS + name[len(_PACKAGE) :] if name.startswith(_PACKAGE) else name


def _digest_of_file(path: bytes) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return digest_of(file.read()).encode()
    except OSError:
        return None
