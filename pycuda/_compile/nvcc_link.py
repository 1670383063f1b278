"""Linking of relocatable device code by nvcc, cached like a compilation.

The driver links too: that is its ``Linker``, which ``pycuda.compiler.DynamicModule``
uses.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from pycuda import _warning
from pycuda._compile import architecture, build, nvcc, progress, store
from pycuda._compile.request import CompileRequest, list_of
from pycuda._compile.toolkit import Result, work_folder

# The machine number of device code in an ELF header, at bytes 18 and 19.
_ELF_CUDA = b"\xbe\x00"

# (suffix of a file, content)
Piece = tuple[str, bytes]


def link(pieces: Iterable[object], request: CompileRequest) -> bytes:
    """Link pieces and return the image, from the cache or from nvcc.

    Of the request count the options, the architecture, nvcc and the caching.
    """
    options = list_of(request.options, "options")
    folder = store.resolve_dir(request.cache_dir)
    found = _contents(pieces)
    if not found:
        raise ValueError("there are no pieces to link")
    tool = nvcc.Tool(request.nvcc)
    facts = tool.facts(folder)
    device = architecture.current_device()
    target = architecture.add_options(options, request, device, tool, facts)
    entry = None
    if folder:
        parts = "\n".join(f"{suffix} {store.digest_of(data)}" for suffix, data in found)
        key = build.key_of(parts, options, f"linked {target}", facts)
        entry = os.path.join(folder, f"{key}.{target}")
        if not request.keep:
            image = store.load(entry)
            if image is not None:
                return image
    messages = []

    def make() -> tuple[bytes | None, bytes]:
        result = _run(tool.path, found, options, target, request.keep)
        messages.append(result.messages)
        manifest = None
        if entry:
            note = build.note_of(options, facts, ["linked code"])
            result.search_dirs = []
            manifest = build.manifest_of(result, "", options, facts, note)
        return manifest, result.image

    with progress.shown("linked code with nvcc"):
        image = build.make_once(entry, request.keep, make)
    _warning.pass_on("".join(messages))
    return image


def _suffix_of(piece: bytes) -> str:
    """Return the suffix for a file with this content. nvcc goes by the suffix."""
    if piece.startswith(b"\x7fELF"):
        return ".cubin" if piece[18:20] == _ELF_CUDA else ".o"
    if piece.startswith(b"\x50\xed\x55\xba"):
        return ".fatbin"
    if piece.startswith(b"!<arch>\n"):
        return ".a"
    if b".version" in piece:
        return ".ptx"
    raise ValueError(
        "a piece to link is a cubin, a fatbin, PTX, an object or an archive, as bytes "
        "or as the path of a file; this is none of them"
    )


def _contents(pieces: Iterable[object]) -> list[Piece]:
    """Return the pieces. Raise FileNotFoundError for a path without a file."""
    found = []
    for piece in pieces:
        if isinstance(piece, (bytes, bytearray, memoryview)):
            data = bytes(piece)
        elif isinstance(piece, (str, os.PathLike)):
            with open(piece, "rb") as file:
                data = file.read()
        else:
            raise TypeError(
                f"a piece to link is bytes or a path, not {type(piece).__name__}"
            )
        suffix = _suffix_of(data)
        if suffix == ".ptx":
            data = data.rstrip(b"\0")
        found.append((suffix, data))
    return found


def _run(
    path: str, pieces: Sequence[Piece], options: Sequence[str], target: str, keep: bool
) -> Result:
    """Link pieces with the nvcc at ``path``."""
    with work_folder(keep) as folder:
        names = []
        for number, (suffix, data) in enumerate(pieces):
            names.append(os.path.join(folder, f"piece{number}{suffix}"))
            with open(names[-1], "wb") as file:
                file.write(data)
        return nvcc.link_in(folder, path, names, options, target, keep)
