"""Making a bundle: from recorded sources to images, and from those to a file."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pycuda._compile import (
    architecture,
    build,
    bundle,
    manifest,
    progress,
    store,
    tools,
)
from pycuda._compile.bundle import MAGIC, Header
from pycuda._compile.recording import Recorded
from pycuda._compile.request import CompileRequest
from pycuda._compile.source_text import wrapped
from pycuda._compile.store import HEADERS
from pycuda._compile.toolkit import work_folder
from pycuda.driver import CompileError

_LENGTH_SIZE = 8
_ARCHITECTURE = re.compile(r"(?:(sm|compute)_)?([0-9]{2,3}|[0-9]{1,2}\.[0-9])([af]?)")


#: The first architectures with a letter: code for one GPU, or for a family.
_OLDEST_WITH_LETTER = {"a": 90, "f": 100}


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


class Architectures(NamedTuple):
    """What to make images for: numbers such as "80" and "90a"."""

    code: tuple[str, ...]  # machine code for these GPUs
    ptx: tuple[str, ...]  # PTX, which newer GPUs and the software device can load

    def __str__(self) -> str:
        named = [f"sm_{number}" for number in self.code]
        return ", ".join([*named, *(f"compute_{number}" for number in self.ptx)])


def parse_architectures(text: str) -> Architectures:
    """Return the architectures in a list such as "80,90" or "sm_80,compute_90".

    A plain number means machine code, and for the newest of them PTX too.
    """
    code: list[str] = []
    ptx: list[str] = []
    plain: list[str] = []
    for word in filter(None, text.replace(" ", ",").split(",")):
        match = _ARCHITECTURE.fullmatch(word)
        if match is None:
            raise ValueError(
                "an architecture is one like 80, 9.0, sm_80 or compute_90, not "
                f"'{word}'"
            )
        kind, number, letter = match[1], match[2].replace(".", ""), match[3]
        (ptx if kind == "compute" else code).append(number + letter)
        if kind is None and not letter:
            plain.append(number)
    if not code and not ptx:
        raise ValueError("there are no architectures; name some, such as 80,90")
    if plain:
        ptx.append(max(plain, key=int))
    return Architectures(tuple(dict.fromkeys(code)), tuple(dict.fromkeys(ptx)))


def unknown(archs: Architectures) -> str:
    """Return which architectures no compiler of this machine knows, "" if none.

    A compiler that is missing, or does not tell, knows all: its own message comes when
    it compiles.
    """
    compilers = tools.installed()
    known = {number for facts in compilers for number in facts.archs}
    if not all(facts.archs for facts in compilers) or not known:
        return ""
    names = [f"{facts.name} {facts.release}" for facts in compilers]
    wrong = []
    for each in dict.fromkeys((*archs.code, *archs.ptx)):
        number, letter = int(each.rstrip("af")), each.lstrip("0123456789")
        if number not in known or number < _OLDEST_WITH_LETTER.get(letter, 0):
            wrong.append(each)
    if not wrong:
        return ""
    plural = "s" if len(wrong) > 1 else ""
    return (
        f"the compilers of this machine ({', '.join(names)}) do not know the "
        f"architecture{plural} {', '.join(wrong)}. They know "
        f"{', '.join(map(str, sorted(known)))}"
    )


def architectures_of(recorded: Iterable[Recorded]) -> Architectures:
    """Return the architectures of the devices for which programs compiled."""
    devices = {each.device for each in recorded if each.device is not None}
    numbers = {10 * d.capability[0] + d.capability[1] for d in devices}
    code = {10 * d.capability[0] + d.capability[1] for d in devices if not d.software}
    newest = sorted(numbers)[-1:]
    return Architectures(tuple(map(str, sorted(code))), tuple(map(str, newest)))


# -- the jobs --------------------------------------------------------------------------


class _Job(NamedTuple):
    """One image to make."""

    request: CompileRequest
    names: tuple[str, ...]
    arch: str  # as the bundle calls it


def _jobs(each: Recorded, archs: Architectures) -> list[_Job]:
    """Return the images that a source needs."""
    request = each.request
    as_ptx = request.with_fields(
        target="ptx", code=None, options=_with_lines(request.options)
    )
    requests: list[tuple[CompileRequest, str]] = []
    named = request.arch is not None or architecture.names_arch(list(request.options))
    if named or each.device is None:
        label = "" if named else bundle.DEFAULT
        requests.append((request, label))
        if named and request.target is None:
            requests.append((as_ptx.with_fields(arch=_newest(request.arch)), label))
    elif request.target == "ptx":
        numbers = dict.fromkeys((*archs.code, *archs.ptx))
        requests += _for_each(as_ptx.with_fields(code=request.code), "compute", numbers)
    else:
        requests += _for_each(request, "sm", archs.code)
        if request.target is None:
            requests += _for_each(as_ptx, "compute", archs.ptx)
    return [_Job(made, each.names, label) for made, label in requests]


def _for_each(
    request: CompileRequest, kind: str, numbers: Iterable[str]
) -> list[tuple[CompileRequest, str]]:
    archs = [f"{kind}_{number}" for number in numbers]
    return [(request.with_fields(arch=arch), arch) for arch in archs]


def _with_lines(options: Iterable[str]) -> list[str]:
    """Return the options of PTX, which the checks of the software device may run."""
    found = list(options)
    if not build.LINE_OPTIONS.intersection(found):
        found.append("-lineinfo")
    return found


def _newest(arch: str | Sequence[str] | None) -> str | None:
    if arch is None or isinstance(arch, str):
        return arch
    return max(arch, key=lambda each: int("".join(filter(str.isdigit, each)) or 0))


class _Made(NamedTuple):
    """An image, the compiler that made it, and the headers that it read."""

    image: NewImage
    compiler: str
    headers: tuple[Header, ...]


def _make(job: _Job) -> _Made:
    compilation = build.prepare(job.request)
    with work_folder(keep=False) as folder:
        if compilation.folder is None:  # the list of headers is in the cache's entry
            compilation.folder = folder
            compilation.choose_tool()
        image, lowered, _ = build.build(compilation, job.names)
        facts = compilation.facts
        if facts is None:
            raise AssertionError("a tool with a cache has facts")
        entry = build.entry_of(compilation, compilation.folder, facts, job.names)
        read = store.files_of(entry)
    made = NewImage(compilation.target, job.arch, lowered, image)
    return _Made(made, f"{facts.name} {facts.release}", _headers(job.request, read))


def _headers(
    request: CompileRequest, read: Iterable[tuple[str, str]]
) -> tuple[Header, ...]:
    """Return the headers among the files that a compilation read."""
    _, folders = bundle.split_options(request.options)
    folders += request.include_dirs or ()
    folders.sort(key=len, reverse=True)
    found: list[Header] = []
    for digest, path in read:
        path = os.path.normpath(path)
        if manifest.is_system_header(path):
            continue
        kind, place = bundle.ELSEWHERE, path
        if path.startswith(os.path.join(HEADERS, "")):
            kind, place = bundle.OF_PACKAGE, os.path.relpath(path, HEADERS)
        else:
            for folder in folders:
                if path.startswith(os.path.join(os.path.normpath(folder), "")):
                    kind, place = bundle.IN_FOLDER, os.path.relpath(path, folder)
                    break
        found.append((kind, digest, place))
    return tuple(sorted(set(found)))


# -- all of them -----------------------------------------------------------------------


class Result(NamedTuple):
    """The sources of a bundle, the compilers that made it, and what failed."""

    sources: list[NewSource]
    compilers: list[str]
    failures: list[tuple[str, str, Exception]]  # (line of the program, arch, error)


# From the text of a source and its kernels to the types of their parameters.
TypesOf = Callable[[str, Iterable[str]], dict[str, str]]


def make(
    recorded: Sequence[Recorded],
    archs: Architectures,
    types_of: TypesOf,
    workers: int | None = None,
) -> Result:
    """Compile all sources for all architectures, side by side."""
    rows = [(each, job) for each in recorded for job in _jobs(each, archs)]
    results: list[_Made | Exception] = []
    if rows:
        jobs = [partial(_make, job) for _, job in rows]
        results = progress.run_all(jobs, workers, progress=True)
    groups: dict[tuple[str, tuple[Header, ...]], dict[tuple[str, str], NewImage]] = {}
    kernels: dict[str, str] = {}
    types: dict[str, dict[str, str]] = {}
    compilers: dict[str, None] = {}
    failures: list[tuple[str, str, Exception]] = []
    for (each, job), result in zip(rows, results, strict=True):
        if isinstance(result, Exception):
            failures.append((each.line, job.arch, result))
            continue
        key = _key(each)
        kernels[key] = _kernels(each)
        text = wrapped(each.request.source, each.request.no_extern_c)
        types[key] = types_of(text, build.kernels_in(text))
        compilers[result.compiler] = None
        image = result.image
        group = groups.setdefault((key, result.headers), {})
        group[image.target, image.arch] = image
    sources = [
        NewSource(key, kernels[key], headers, list(images.values()), types[key])
        for (key, headers), images in groups.items()
    ]
    return Result(sources, list(compilers), failures)


def _key(each: Recorded) -> str:
    options, _ = bundle.split_options(each.request.options)
    return bundle.key_of(each.request, options, each.names)


def _kernels(each: Recorded) -> str:
    found = each.names or build.kernels_in(str(each.request.source))
    return " ".join(", ".join(dict.fromkeys(found)).split())[:200] or "no kernels"


def first_lines(error: Exception) -> str:
    """Return the message of an error, without the output of the compiler's command.

    A message that names no line of the source ends with the compiler's first words.
    """
    if not isinstance(error, CompileError):
        return str(error)
    text = str(error).partition("\n[command")[0]
    words = tools.output_of(error).split("\n")
    said = next((line.strip() for line in words if line.strip()), "")
    if "\n" in text or not said or said in text:
        return text
    return f"{text}: {said}"


# -- the file --------------------------------------------------------------------------


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
