"""Bundles: the images of a program's kernels in one file, for machines without nvcc.

A bundle has images for several architectures. The key of a source has its text, its
options and the names of its kernels, but nothing about the compiler or about this
machine. So a program finds its images before any compiler is looked for. Each source
lists the headers that it was made with. A header that is there must have the same
content. A header that is not there cannot differ.

The file is a checksum, an index and the images. The index is lines of fields separated
by tabs, in this order::

    V  version of the package that made the bundle
    N  note for people
    S  key, name of the kernels for people
    H  kind, digest, path          a header of this source
    T  kernel, characters          the types of its parameters; see _parameter_types.py
    I  target, architecture, offset, size, digest, names of kernels in the image

``bundle_writer.py`` writes it. A key may occur several times, with different headers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pycuda import _start
from pycuda._compile import store
from pycuda._compile.request import CompileRequest
from pycuda._compile.store import HEADERS
from pycuda._warning import warn

if TYPE_CHECKING:
    from pycuda._compile.architecture import TargetDevice

VARIABLE = "PYCUDA_BUNDLE"

MAGIC = b"PCUBUNDLE1\n"
_DIGEST_SIZE = 20
_LENGTH_SIZE = 8
_HEAD_SIZE = len(MAGIC) + _DIGEST_SIZE + _LENGTH_SIZE

# The kinds of headers: below a folder of the options, of this package, or neither.
IN_FOLDER, OF_PACKAGE, ELSEWHERE = "folder", "package", "path"

#: The architecture of an image that was compiled without a context.
DEFAULT = "default"

_INCLUDE_OPTIONS = ("-I", "--include-path", "-isystem", "--system-include")


# (kind, digest, path): a header that a source was compiled with.
Header = tuple[str, str, str]


# NamedTuples would take longer to define than the look-up of an image takes.
class Image:
    """One image in a bundle.

    ``arch`` is one like "sm_80" or "compute_90". It is "" if the program names the
    architecture, and DEFAULT if it compiles without a context.
    """

    __slots__ = ("arch", "digest", "lowered", "offset", "size", "target")

    def __init__(self, fields: Sequence[str]) -> None:
        target, arch, offset, size, digest, *lowered = fields
        self.target: str = target
        self.arch: str = arch
        self.offset: int = int(offset)
        self.size: int = int(size)
        self.digest: str = digest
        self.lowered: list[str] = lowered


class Source:
    """One source in a bundle: its key, its kernels for people, headers and images."""

    __slots__ = ("headers", "images", "kernels", "key", "types")

    def __init__(self, key: str, kernels: str) -> None:
        self.key: str = key
        self.kernels: str = kernels
        self.headers: list[Header] = []
        self.images: list[Image] = []
        self.types: dict[str, str] = {}


# -- the key ---------------------------------------------------------------------------


def split_options(options: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return (the options without folders of headers, these folders)."""
    kept: list[str] = []
    folders: list[str] = []
    rest = iter(options)
    for option in rest:
        name, equals, value = option.partition("=")
        if name in _INCLUDE_OPTIONS:
            value = value if equals else next(rest, "")
        elif option.startswith("-I"):
            value = option[2:]
        else:
            kept.append(option)
            continue
        folders += [os.path.abspath(each) for each in value.split(",") if each]
    return kept, folders


def key_of(
    request: CompileRequest, options: Sequence[str], names: Sequence[str]
) -> str:
    """Return the key of a source. The request has a text, ``options`` no folders."""
    arch = request.arch
    if isinstance(arch, (list, tuple)):
        arch = ",".join(map(str, arch))
    return store.key_of(
        str(request.source),
        "plain" if request.no_extern_c else "C",
        request.target or "",
        "linked" if request.linked else "",
        str(arch or ""),
        str(request.code or ""),
        "\n".join(names),
        *options,
    )


# -- the file --------------------------------------------------------------------------


class DamagedBundleError(ValueError):
    """A file is not a bundle, or its index is damaged."""


class Bundle:
    """An open bundle: its path and its index. The images are read when needed."""

    def __init__(self, path: str) -> None:
        """Read the index. Raise OSError or DamagedBundleError."""
        self.path = path
        with open(path, "rb", buffering=0, opener=_open_at_once) as file:
            head = file.read(_HEAD_SIZE)
            if len(head) < _HEAD_SIZE or not head.startswith(MAGIC):
                raise DamagedBundleError(f"'{path}' is not a bundle of kernels")
            size = int.from_bytes(head[-_LENGTH_SIZE:], "little")
            room = os.fstat(file.fileno()).st_size - _HEAD_SIZE
            index = file.read(size) if size <= room else b""
        digest = head[len(MAGIC) : len(MAGIC) + _DIGEST_SIZE]
        if len(index) != size or store.digest_bytes(index) != digest:
            raise DamagedBundleError(
                f"the bundle '{path}' is damaged: its index does not have the checksum "
                "that it was written with. Make or copy it again"
            )
        self._index = b"\n" + index
        self._start = _HEAD_SIZE + size  # of the images

    def notes(self) -> list[str]:
        """Return the notes for people: the package's version, the compilers."""
        lines = self._index.split(b"\nS\t", 1)[0].split(b"\n")
        return [line[2:].decode() for line in lines if line]

    def sources(self, key: str | None = None) -> list[Source]:
        """Return all sources, or those with a key."""
        found: list[Source] = []
        mark = b"\nS\t" + (key or "").encode()
        at = self._index.find(mark)
        while at >= 0:
            end = self._index.find(b"\nS\t", at + 1)
            part = self._index[at + 1 :] if end < 0 else self._index[at + 1 : end]
            try:
                found.append(_source(part))
            except ValueError:
                raise DamagedBundleError(
                    f"the bundle '{self.path}' has an index that this version of "
                    "pycuda cannot read. Make it again with python -m pycuda.precompile"
                ) from None
            at = self._index.find(mark, at + 1)
        return found

    def verify(self) -> None:
        """Read all of the file. Raise DamagedBundleError if anything is damaged."""
        for source in self.sources():
            for image in source.images:
                if self.read(image) is None:
                    raise DamagedBundleError(
                        f"the bundle '{self.path}' is damaged: an image of "
                        f"'{source.kernels}' is not there or was changed. Make or copy "
                        "it again"
                    )

    def read(self, image: Image) -> bytes | None:
        """Return the bytes of an image, None if they are damaged or gone."""
        try:
            with open(self.path, "rb", buffering=0) as file:
                file.seek(self._start + image.offset)
                data = file.read(image.size)
        except (OSError, ValueError):  # a place before the begin of the file
            return None
        return data if store.digest_of(data) == image.digest else None


def _open_at_once(path: str, flags: int) -> int:
    """Open a file. A pipe that has no writer does not make the program wait."""
    return os.open(path, flags | os.O_NONBLOCK)


def _source(part: bytes) -> Source:
    """Return the source that some lines of an index describe."""
    first, *rest = os.fsdecode(part).split("\n")
    _, key, kernels = first.split("\t")
    source = Source(key, kernels)
    for line in rest:
        kind, *fields = line.split("\t")
        if kind == "H":
            where, digest, path = fields
            source.headers.append((where, digest, path))
        elif kind == "T":
            kernel, characters = fields
            source.types[kernel] = characters
        elif kind == "I":
            source.images.append(Image(fields))
    return source


# -- the bundles of this process -------------------------------------------------------

_used: list[Bundle] = []  # by the program, the newest first
_named: tuple[str, list[Bundle]] = ("", [])  # value of the variable, its bundles
_complained: set[str] = set()


def use(path: str) -> None:
    """Use a bundle in this process, before those that are in use already."""
    bundle = Bundle(os.path.abspath(path))
    _used[:] = [bundle, *(each for each in _used if each.path != bundle.path)]


def in_use() -> list[Bundle]:
    """Return the bundles that the program and PYCUDA_BUNDLE name, in order."""
    global _named
    value = os.environ.get(VARIABLE, "")
    if value != _named[0]:
        opened = [_open_named(each) for each in value.split(os.pathsep) if each]
        _named = value, [each for each in opened if each is not None]
    return _used + _named[1]


def are_used() -> bool:
    """Return whether the program or PYCUDA_BUNDLE names a bundle."""
    return bool(_used) or VARIABLE in os.environ


def _open_named(path: str) -> Bundle | None:
    folder = _start.FOLDER if path in _start.BUNDLES else ""
    try:
        return Bundle(os.path.abspath(os.path.join(folder, path)))
    except OSError as error:
        reason = f"the bundle '{path}' cannot be read: {error.strerror or error}"
    except DamagedBundleError as error:
        reason = str(error)
    _complain(f"{reason}. {VARIABLE} names it; its kernels are compiled instead")
    return None


def _complain(text: str) -> None:
    if text not in _complained:
        _complained.add(text)
        warn(text)


class Offer:
    """What the bundles in use have for a request, on the device it is for."""

    __slots__ = ("_bundles", "_device", "_folders", "_options", "_request", "_why")

    def __init__(
        self,
        bundles: Sequence[Bundle],
        request: CompileRequest,
        device: TargetDevice | None,
    ) -> None:
        self._bundles = bundles
        self._request = request
        self._options, folders = split_options(request.options)
        self._folders = [*folders, *(request.include_dirs or ())]
        self._device = device
        self._why = ""

    def image(self, names: Sequence[str]) -> tuple[bytes, Image, Source, str] | None:
        """Return (image, its description, source, path of the bundle), or None.

        ``names`` are C++ expressions for kernels.
        """
        key = key_of(self._request, self._options, names)
        for bundle in self._bundles:
            for source in self._sources(bundle, key):
                changed = self._changed(source.headers)
                if changed:
                    self._why = (
                        f"it was made with another content of the header '{changed}'"
                    )
                    _complain(
                        f"the kernels of '{source.kernels}' in the bundle "
                        f"'{bundle.path}' are not used: {self._why}. Make the bundle "
                        "again with python -m pycuda.precompile"
                    )
                    continue
                found = best(source.images, self._request.target, self._device)
                if found is None:
                    self._why = _no_architecture(source.images, self._device)
                    continue
                data = bundle.read(found)
                if data is not None:
                    return data, found, source, bundle.path
                self._why = "an image in it is damaged"
                _complain(
                    f"the bundle '{bundle.path}' was changed or is damaged, so its "
                    "kernels are compiled instead. Make or copy it again"
                )
        return None

    def _sources(self, bundle: Bundle, key: str) -> list[Source]:
        """Return the sources of a bundle with a key, none if its index is damaged."""
        try:
            return bundle.sources(key)
        except DamagedBundleError as error:
            self._why = "its index is of another version or damaged"
            _complain(f"{error}. Its kernels are compiled instead")
            return []

    def complaint(self) -> str:
        """Return why no bundle has the image, for the error of a missing compiler."""
        paths = ", ".join(f"'{bundle.path}'" for bundle in self._bundles)
        plural = "s" if len(self._bundles) > 1 else ""
        why = self._why or "it has no image of this source with these options"
        return (
            f"The bundle{plural} {paths} cannot replace the compiler: {why}. Make it "
            "again with python -m pycuda.precompile."
        )

    def _changed(self, headers: Iterable[Header]) -> str | None:
        """Return the path of a header whose content differs, None if none does."""
        for header in headers:
            _, digest, _ = header
            for path in self._places(header):
                try:
                    with open(path, "rb") as file:
                        content = file.read()
                except OSError:
                    continue
                if store.digest_of(content) != digest:
                    return path
                break
        return None

    def _places(self, header: Header) -> list[str]:
        kind, _, path = header
        if kind == IN_FOLDER:
            return [os.path.join(folder, path) for folder in self._folders]
        if kind == OF_PACKAGE:
            return [os.path.join(HEADERS, path)]
        return [path]


# -- the choice of an image ------------------------------------------------------------


def best(
    images: Sequence[Image], target: str | None, device: TargetDevice | None
) -> Image | None:
    """Return the best image for a device, None if there is none.

    ``target`` is the kind of image that the caller asks for, None for one that the
    device can load.
    """
    software = target is None and device is not None and device.software
    ranked = []
    for image in images:
        is_ptx = image.target == "ptx"
        if (target is not None and image.target != target) or (software and not is_ptx):
            continue
        rank = _rank(image.arch, device)
        if rank is not None:
            ranked.append((not is_ptx, rank, image))
    if not ranked:
        return None
    return max(ranked, key=lambda row: row[:2])[2]


def _rank(arch: str, device: TargetDevice | None) -> int | None:
    """Return a number that is higher for a better architecture, None for none.

    Code for a GPU runs on GPUs of the same major version and of a later minor one. PTX
    runs on all later GPUs. An architecture with a letter is for that GPU alone.
    """
    if not arch:
        return 0
    if device is None or arch == DEFAULT:
        return 0 if device is None and arch == DEFAULT else None
    kind, _, text = arch.partition("_")
    digits = "".join(filter(str.isdigit, text))
    if not digits:
        return None
    number = int(digits)
    major, minor = device.capability
    have = 10 * major + minor
    if not text.isdigit():
        return number if number == have else None
    if number > have or (kind == "sm" and number // 10 != major):
        return None
    return number


def _no_architecture(images: Iterable[Image], device: TargetDevice | None) -> str:
    """Return the reason why none of the images is for a device."""
    have = ", ".join(dict.fromkeys(image.arch or image.target for image in images))
    if device is None:
        return f"it has images of this source for {have}, and there is no context"
    capability = ".".join(map(str, device.capability))
    why = (
        f"it has images of this source for {have}, and the device has compute "
        f"capability {capability}"
    )
    if device.software:
        why += (
            ". The software device needs PTX, which compute_NN is, for a capability up "
            "to its own, which PYCUDA_EMULATOR_CAPABILITY sets"
        )
    return why
