"""Linking of device code by nvcc: which pieces, which libraries, one run, cached.

Only ``pycuda.compiler`` calls this.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from pycuda._compile import nvcc, store, toolkit

# The machine number of device code in an ELF header, at bytes 18 and 19.
_ELF_CUDA = b"\xbe\x00"


def suffix_of(piece: bytes) -> str:
    """Return what a file with this content is called: its kind, which nvcc goes by."""
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


def contents(pieces: Iterable[object]) -> list[tuple[str, bytes]]:
    """Return (suffix, content) of the pieces, which are bytes or paths.

    A file that is not there is a FileNotFoundError.
    """
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
        suffix = suffix_of(data)
        found.append((suffix, data.rstrip(b"\0") if suffix == ".ptx" else data))
    return found


def digest(suffix: str, content: bytes) -> str:
    """Return what stands for a piece in a key."""
    return f"{suffix} {store.digest_of(content)}"


def run(
    path: str,
    pieces: Sequence[tuple[str, bytes]],
    options: Sequence[str],
    target: str,
    keep: bool,
) -> toolkit.Result:
    """Link pieces with the nvcc at ``path``; return a Result."""
    with store.work_folder(keep) as folder:
        names = []
        for number, (suffix, data) in enumerate(pieces):
            names.append(os.path.join(folder, f"piece{number}{suffix}"))
            with open(names[-1], "wb") as file:
                file.write(data)
        return nvcc.link_in(folder, path, names, options, target, keep)


def libraries(options: Sequence[str]) -> list[str]:
    """Return the files that options name for the linker, as far as they are found.

    Libraries of the toolkit are not among them: they go with the compiler.
    """
    folders = _values(options, "-L", "--library-path")
    beside = os.environ.get("LIBRARY_PATH")
    folders += beside.split(os.pathsep) if beside else []
    names = _values(options, "-l", "--library")
    found = []
    for name in names:
        paths = (os.path.join(folder, f"lib{name}.a") for folder in folders)
        found += [path for path in paths if os.path.isfile(path)][:1]
    found += [
        option
        for option in options
        if not option.startswith("-") and os.path.isfile(option)
    ]
    return [os.path.abspath(path) for path in found]


def _values(options: Sequence[str], short: str, long: str) -> list[str]:
    values = []
    for number, option in enumerate(options):
        if option in (short, long):
            value = "".join(options[number + 1 : number + 2])
        elif option.startswith(long + "="):
            value = option.partition("=")[2]
        elif option.startswith(short) and not option.startswith("-lineinfo"):
            value = option[len(short) :].removeprefix("=")
        else:
            continue
        values += [part for part in value.split(",") if part]
    return values
