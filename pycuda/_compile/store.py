"""The compile cache on disk: one file an entry, whole or not there.

An entry is a checksum, a manifest and a payload. The manifest names the files the
compiler read, so that a hit is known to be one without starting the compiler: each file
is the one it was, by size, times and number, or else has the same content; each place
where a header was looked for in vain still has no file. Headers of the toolkit and of
the system's C and C++ libraries are not listed one by one (they come with the compiler,
whose identity is in the key); one of the latter stands witness for each library.

Nothing here raises OSError: a cache that cannot be read is a miss and one that cannot
be written costs one warning. Only ``pycuda.compiler`` and what compiles for it call
this.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

try:
    # The builtin module: hashlib would load OpenSSL, ten times the cost of a whole hit.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

_MAGIC = b"PCUCACHE2\n"
_DIGEST_SIZE = 20
_LENGTH_SIZE = 8
_HEAD_SIZE = len(_MAGIC) + _DIGEST_SIZE + _LENGTH_SIZE

# A file changed this short a time ago may change again without its time changing.
_SETTLED_NS = 1_000_000_000

# The headers of the C and C++ libraries and of gcc itself. As text: only a miss needs
# it, and to compile it takes as long as to import all of this.
_SYSTEM = (
    r"/usr/include/(?:alloca|assert|complex|ctype|endian|errno|features|features-time64"
    r"|fenv|float|inttypes|limits|locale|malloc|math|memory|pthread|sched|setjmp|signal"
    r"|stdc-predef|stddef|stdint|stdio|stdlib|string|strings|time|unistd|wchar"
    r"|wctype)\.h$"
    r"|/usr/include/(?:[^/]+-linux-gnu/)?(?:asm|asm-generic|bits|c\+\+|gnu|linux|sys)/"
    r"|.*/lib(?:64)?/gcc/"
)
_WITNESSES = ("/stdc-predef.h", "/stddef.h", "/cstdlib")

# Include lines are taken for such wherever they are, in comments and strings, too: a
# name too many costs a look, one too few a wrong result. Lines may be broken anywhere.
_BREAK = re.compile(r"(?:\\|\?\?/)[ \t\v\f]*\r?\n")
_HASH = r"(?:#|%:|\?\?=)"
_BLOCK_COMMENT = r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/"
_GAP = rf"(?:[ \t\v\f]|{_BLOCK_COMMENT})*"
_NAME = r"([<\"])([^>\"\n]+)[>\"]"
_INCLUDE = re.compile(rf"{_HASH}{_GAP}(include_next|include|import)\b{_GAP}{_NAME}")
_ASKED = re.compile(rf"\b__has_include(?:_next)?{_GAP}\({_GAP}{_NAME}")
_DEFINED = re.compile(rf"{_HASH}{_GAP}define[ \t]+\w+{_GAP}{_NAME}")
_COMPUTED = re.compile(
    rf'^[ \t]*{_HASH}[ \t]*(?:include(?:_next)?|import)\b(?![ \t]*[<"])', re.MULTILINE
)
_COMMENT = re.compile(
    rf"//[^\n]*|{_BLOCK_COMMENT}|" r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
)

# How exact the time of the last use is, which is an entry's time of change.
_USE_NS = 3600 * 1_000_000_000

# The folder of the package, with its separator.
_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")

_complained = False


def default_dir() -> str:
    """Return the directory used when the program names none."""
    chosen = os.environ.get("PYCUDA_CACHE_DIR")
    if chosen:
        return chosen
    if sys.platform.startswith("linux"):
        # What platformdirs answers here, for a hundredth of the time its import takes.
        base = os.environ.get("XDG_CACHE_HOME", "").strip()
        if not os.path.isabs(base):  # which the XDG rules say to ignore
            base = os.path.expanduser("~/.cache")
        if not os.path.isabs(base):
            base = _base_without_a_home()
        return os.path.join(base, "pycuda", "compiler-cache-v2")
    from platformdirs import user_cache_dir

    return os.path.join(user_cache_dir("pycuda", "pycuda"), "compiler-cache-v2")


def _base_without_a_home() -> str:
    """Return a folder for temporary files that nobody else can write."""
    import stat
    import tempfile

    path = os.path.join(tempfile.gettempdir(), f"pycuda-uid{os.getuid()}")
    with contextlib.suppress(OSError):
        os.mkdir(path, 0o700)
    try:
        found = os.lstat(path)
    except OSError:
        return path  # then nothing can be kept, which is said once
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    # Code from somebody else's folder would be somebody else's code.
    return path if mine and not found.st_mode & 0o022 else os.devnull


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
    """Hash strings to a file name; no two different lists of parts run together."""
    state = blake2b(digest_size=_DIGEST_SIZE)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape")
        state.update(b"%d:" % len(data))
        state.update(data)
    return state.hexdigest()


def load(path: str) -> bytes | None:
    """Return the payload stored at ``path``, or None if there is none that holds."""
    try:
        with open(path, "rb", buffering=0) as file:
            data = file.read()
            used_ns = os.fstat(file.fileno()).st_mtime_ns
    except OSError:
        return None
    split = _split(data)
    if split is None:
        return None
    manifest, payload = split
    fresh = _recheck(manifest) if manifest else manifest
    if fresh is None:
        return None
    if fresh != manifest:
        save(path, fresh, payload, say=False)
    elif used_ns < time.time_ns() - _USE_NS:
        with contextlib.suppress(OSError):  # read-only, where nothing is evicted
            os.utime(path)
    return payload


def holds(manifest: bytes) -> bool:
    """Say whether all inputs are still what the manifest describes."""
    return not manifest or _recheck(manifest) is not None


def note_of(path: str) -> str | None:
    """Return what an entry says about itself, None if it is damaged or gone."""
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


def save(path: str, manifest: bytes, payload: bytes, say: bool = True) -> bool:
    """Write an entry in one step and return whether it is there.

    Say once if that is not possible.
    """
    head = len(manifest).to_bytes(_LENGTH_SIZE, "little")
    body = head + manifest + payload
    data = _MAGIC + _digest(body) + body
    folder, name = os.path.split(path)
    draft = os.path.join(
        folder,
        f".{name}.{os.getpid()}.{threading.get_ident()}.{time.monotonic_ns()}.part",
    )
    try:
        os.makedirs(folder or ".", exist_ok=True)
        _write(draft, data)
        os.replace(draft, path)
    except OSError as error:
        with contextlib.suppress(OSError):  # never made, or a folder without changes
            os.unlink(draft)
        if say:
            _complain(folder, error)
        return False
    from pycuda._compile import sweep

    sweep.grown(folder, len(data))
    return True


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with open(descriptor, "wb", buffering=0) as file:
        left = memoryview(data)
        while left:
            left = left[file.write(left) :]


def _complain(folder: str, error: OSError) -> None:
    global _complained
    if _complained:
        return
    _complained = True
    warnings.warn(
        f"compiled code cannot be kept in '{folder}' ({error.strerror or error}); "
        "programs work, but compile again each time. Set PYCUDA_CACHE_DIR to a "
        "directory that can be written, or PYCUDA_DISABLE_CACHE to do without.",
        stacklevel=outside(),
    )


def outside() -> int:
    """Return the stacklevel at which a warning names the user's line, not ours."""
    level = 1
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level


@contextlib.contextmanager
def work_folder(keep: bool) -> Iterator[str]:
    """Give a directory to compile in; kept ones are announced, others removed."""
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="pycuda-")
    try:
        yield folder
    finally:
        if keep:
            print(f"*** compiler output in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def digest_of(data: bytes) -> str:
    """Return the hash of a content, as text."""
    return _digest(data).hex()


def _digest(data: bytes | memoryview) -> bytes:
    return blake2b(data, digest_size=_DIGEST_SIZE).digest()


def _split(data: bytes) -> tuple[bytes, bytes] | None:
    """Return (manifest, payload) of an entry's bytes, None if they are damaged."""
    if len(data) < _HEAD_SIZE or not data.startswith(_MAGIC):
        return None
    start = len(_MAGIC) + _DIGEST_SIZE
    if _digest(memoryview(data)[start:]) != data[len(_MAGIC) : start]:
        return None
    middle = _HEAD_SIZE + int.from_bytes(data[start:_HEAD_SIZE], "little")
    return data[_HEAD_SIZE:middle], data[middle:]


# A manifest is lines. "F<tab>stamp<tab>digest<tab>path" is a file that was read,
# "A<tab>path" a place where a header was looked for and not found, "N<tab>text" a note
# for people. A stamp is size, time of content, time of change and number of the file: a
# file can be replaced by one with the same size and time.


def _recheck(manifest: bytes) -> bytes | None:
    """Return the manifest as it should be now, None if an input has changed."""
    changed = False
    lines = manifest.split(b"\n")
    for number, line in enumerate(lines):
        if line[:1] == b"A":
            if os.path.isfile(line[2:]):
                return None
            continue
        if line[:1] == b"N":
            continue
        _, stamp, digest, path = line.split(b"\t", 3)
        try:
            stat = os.stat(path)
        except OSError:
            return None
        found = _stamp(stat)
        if found == stamp:
            continue
        if found.partition(b" ")[0] != stamp.partition(b" ")[0]:  # another size
            return None
        now = time.time_ns()
        if _digest_of_file(path) != digest:
            return None
        if max(stat.st_mtime_ns, stat.st_ctime_ns) < now - _SETTLED_NS:
            lines[number] = _file_line(stat, digest, path)
            changed = True
    return b"\n".join(lines) if changed else manifest


def _stamp(stat: os.stat_result) -> bytes:
    times = (stat.st_mtime_ns, stat.st_ctime_ns)
    return b"%d %d %d %d" % (stat.st_size, *times, stat.st_ino)


def _file_line(stat: os.stat_result, digest: bytes, path: bytes) -> bytes:
    return b"F\t%b\t%b\t%b" % (_stamp(stat), digest, path)


def _digest_of_file(path: bytes) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return _digest(file.read()).hex().encode()
    except OSError:
        return None


def parse_dependencies(text: str) -> list[str]:
    """Return the paths in a make rule as compilers write it."""
    paths: list[str] = []
    for rule in re.sub(r"\\\r?\n", " ", text).splitlines():
        _, colon, names = rule.partition(": ")
        if colon:
            for name in re.findall(r"(?:\\.|[^\s\\])+", names):
                paths.append(re.sub(r"\\([ #\\])", r"\1", name).replace("$$", "$"))
    return list(dict.fromkeys(paths))


def make_manifest(
    source: str,
    dependencies: Iterable[str],
    search_dirs: Iterable[str],
    toolkit_dirs: Iterable[str],
    started_ns: int,
    note: str = "",
) -> bytes | None:
    """Describe what a compilation read.

    ``dependencies`` are paths, ``search_dirs`` where the compiler looks for headers
    before its own folders, ``started_ns`` the time at which it started, ``note`` what
    to tell people about the result. Returns bytes, or None if the result must not be
    kept because an input changed meanwhile or cannot be described.
    """
    search_dirs = list(search_dirs)
    listed = _listed(dependencies, toolkit_dirs, search_dirs)
    lines: list[bytes] = []
    texts: list[tuple[str | None, str]] = [(None, source)]
    for path in listed:
        described = _described(path, started_ns)
        if described is None:
            return None
        line, content = described
        lines.append(line)
        if not is_systems(path):
            texts.append((os.path.dirname(path), content.decode("utf-8", "replace")))
    absent, asked = _looked_for(texts, search_dirs, listed)
    for path in _listed(asked, toolkit_dirs, search_dirs):
        described = _described(path, started_ns)
        if described is None:
            return None
        if path not in listed:
            lines.append(described[0])
    lines += [b"A\t" + os.fsencode(path) for path in absent]
    if any("\n" in path for path in absent):  # a folder's name has one
        return None
    if note:
        lines.append(b"N\t" + " ".join(note.split()).encode("utf-8", "replace"))
    return b"\n".join(lines)


def _described(path: str, started_ns: int) -> tuple[bytes, bytes] | None:
    """Return (line for a manifest, content) of a file, None if it changed meanwhile."""
    name = os.fsencode(path)
    try:
        with open(name, "rb") as file:
            content = file.read()
        stat = os.stat(name)
    except OSError:
        return None
    now = time.time_ns()
    changes = (stat.st_mtime_ns, stat.st_ctime_ns)
    if any(started_ns <= change <= now for change in changes) or b"\n" in name:
        return None
    return _file_line(stat, _digest(content).hex().encode(), name), content


def _looked_for(
    texts: list[tuple[str | None, str]], search_dirs: list[str], read: list[str]
) -> tuple[list[str], list[str]]:
    """Return (places that must stay empty, files that must stay) for the headers that
    texts name.

    A text comes with its folder. ``read`` are the files that the compiler has read: a
    name that a macro gives is one of theirs, or one that is defined somewhere.
    """
    absent: dict[str, None] = {}
    present: dict[str, None] = {}
    for folder, text in texts:
        wanted = included_in(text)
        asked = _ASKED.findall(_joined(text))
        if is_computed(text):
            wanted += [
                ('"', name, False) for name in _computed(texts, search_dirs, read)
            ]
        wanted += [(quote, name, False) for quote, name in asked]
        names_asked = {name for _, name in asked}
        for quote, name, is_next in wanted:
            around = [folder] if folder and quote == '"' else []
            for place in (*around, *search_dirs):
                candidate = os.path.join(place, name)
                if not os.path.isfile(candidate):
                    absent[candidate] = None
                    continue
                if name in names_asked:
                    present[candidate] = None
                if not is_next:
                    break
    return list(absent), list(present)


def _computed(
    texts: list[tuple[str | None, str]], search_dirs: list[str], read: list[str]
) -> list[str]:
    """Return the names that a macro may give to an include line."""
    names = {name for _, text in texts for _, name in _DEFINED.findall(_joined(text))}
    for path in map(os.path.normpath, read):
        for folder in search_dirs:
            if path.startswith(os.path.join(folder, "")):
                names.add(os.path.relpath(path, folder))
    return sorted(names)


def included_in(text: str) -> list[tuple[str, str, bool]]:
    """Return (< or quote, name, whether the next one of that name) of include lines."""
    found = _INCLUDE.findall(_joined(text))
    return [(quote, name, word == "include_next") for word, quote, name in found]


def is_computed(text: str) -> bool:
    """Say whether a macro gives the name of an include line."""
    return any(map(_COMPUTED.search, (text, _without_comments(text))))


def asks_for_headers(text: str) -> bool:
    """Say whether a text asks if a header exists."""
    return "__has_include" in _joined(text)


def _joined(text: str) -> str:
    return _BREAK.sub("", text)


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda m: " " if m[0][0] == "/" else m[0], _joined(text))


def is_systems(path: str) -> bool:
    """Say whether a file is a header of the C or C++ library or of gcc."""
    return re.match(_SYSTEM, os.path.normpath(path)) is not None


def _listed(
    dependencies: Iterable[str],
    toolkit_dirs: Iterable[str],
    search_dirs: Iterable[str] = (),
) -> list[str]:
    """Return the dependencies to watch, absolute and in order."""
    is_toolkits = toolkit_test(toolkit_dirs, search_dirs)
    watched = []
    for path in dependencies:
        path = path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
        if is_toolkits(path):
            continue
        if not is_systems(path) or path.endswith(_WITNESSES):
            watched.append(path)
    return list(dict.fromkeys(watched))


def toolkit_test(
    toolkit_dirs: Iterable[str], search_dirs: Iterable[str]
) -> Callable[[str], bool]:
    """Return what says whether a file is the toolkit's own.

    A folder inside of the toolkit's that the user names is the user's, unless it is
    itself one of the toolkit's.
    """
    toolkit = tuple(os.path.join(folder, "") for folder in toolkit_dirs)
    named = [os.path.join(os.path.normpath(folder), "") for folder in search_dirs]
    users = tuple(each for each in named if each not in toolkit)
    users = tuple(each for each in users if each.startswith(toolkit))

    def test(path: str) -> bool:
        plain = os.path.normpath(path)
        return plain.startswith(toolkit) and not plain.startswith(users)

    return test
