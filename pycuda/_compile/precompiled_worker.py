"""A process that compiles one program with precompiled headers. See precompiled.py.

It reads a pickled order from stdin and writes the pickled answer to stdout: (status,
image, log, lowered names, whether a file was made). It imports nothing of the package,
so it starts in a few milliseconds.

Precompiled headers hold addresses. So the process starts itself again without random
addresses. The name of the file has the address of the library, and a checksum.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import pickle
import sys
import zlib
from typing import Any

NO_RANDOM_ADDRESSES = 0x0040000
QUERY = 0xFFFFFFFF
DONE = 0

# What precompiled.py writes, and (status, image, log, lowered names).
Order = dict[str, Any]
Answer = tuple["int | None", bytes, str, list[str]]
NOTHING: Answer = None, b"", "", []


def fix_addresses() -> bool:
    """Start again without random addresses. Return whether they are fixed now."""
    libc = ctypes.CDLL(None, use_errno=True)
    persona = libc.personality(ctypes.c_ulong(QUERY))
    if persona == -1:
        return False
    if persona & NO_RANDOM_ADDRESSES:
        return True
    if libc.personality(ctypes.c_ulong(persona | NO_RANDOM_ADDRESSES)) == -1:
        return False
    if not libc.personality(ctypes.c_ulong(QUERY)) & NO_RANDOM_ADDRESSES:
        return False
    os.execv(sys.executable, [sys.executable, "-I", "-S", __file__])
    return False


def address_of(library: ctypes.CDLL, function: str) -> int:
    """Return the address of a function of a library."""
    return ctypes.cast(getattr(library, function), ctypes.c_void_p).value or 0


def strings(items: list[bytes]) -> ctypes.Array[ctypes.c_char_p]:
    """Return an array of C strings."""
    return (ctypes.c_char_p * len(items))(*items)


def bytes_of(library: ctypes.CDLL, what: str, program: ctypes.c_void_p) -> bytes:
    """Return a result of a program."""
    size = ctypes.c_size_t()
    if getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) != DONE:
        return b""
    buffer = ctypes.create_string_buffer(max(size.value, 1))
    getattr(library, f"nvrtcGet{what}")(program, buffer)
    return buffer.raw[: size.value]


def lowered(library: ctypes.CDLL, program: ctypes.c_void_p, expression: str) -> str:
    """Return the name in the image of a name expression."""
    name = ctypes.c_char_p()
    library.nvrtcGetLoweredName(program, expression.encode(), ctypes.byref(name))
    return (name.value or b"").decode()


def compile_once(library: ctypes.CDLL, order: Order, option: str) -> tuple[Answer, int]:
    """Compile with one more option. Return the answer, and the state of the file."""
    program = ctypes.c_void_p()
    headers = order["headers"]
    status = library.nvrtcCreateProgram(
        ctypes.byref(program),
        order["text"].encode("utf-8", "surrogateescape"),
        order["program"].encode(),
        len(headers),
        strings([text.encode() for text in headers.values()]),
        strings([name.encode() for name in headers]),
    )
    if status != DONE:
        return NOTHING, -1
    for expression in order["expressions"]:
        library.nvrtcAddNameExpression(program, expression.encode())
    arguments = [*order["arguments"], "--pch-messages=true", option]
    encoded = strings([os.fsencode(argument) for argument in arguments])
    status = library.nvrtcCompileProgram(program, len(arguments), encoded)
    state = library.nvrtcGetPCHCreateStatus(program)
    log = bytes_of(library, "ProgramLog", program).rstrip(b"\0")
    image = b""
    names: list[str] = []
    if status == DONE:
        names = [lowered(library, program, each) for each in order["expressions"]]
        image = bytes_of(library, order["target"].upper(), program)
        if order["target"] == "ptx":
            image = image.rstrip(b"\0")
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return (status, image, log.decode("utf-8", "replace"), names), state


def checksum(path: str) -> int:
    """Return the checksum of a file."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return 0
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return zlib.crc32(content)


def find(start: str) -> str | None:
    """Return the file whose path begins so, and remove a damaged one."""
    folder, name = os.path.split(start)
    for each in os.listdir(folder):
        if each.startswith(name) and each.endswith(".pch"):
            path = os.path.join(folder, each)
            with contextlib.suppress(OSError):  # another process removed it
                if f"{start}{checksum(path):08x}.pch" == path:
                    return path
                os.unlink(path)
    return None


def work(order: Order) -> tuple[int | None, bytes, str, list[str], bool]:
    """Compile, with the file of the headers if there is one, else make it."""
    library = ctypes.CDLL(order["library"])
    if not hasattr(library, "nvrtcGetPCHCreateStatus"):  # before CUDA 12.8
        return *NOTHING, False
    start = f"{order['base']}-{address_of(library, 'nvrtcVersion'):x}-"
    path = find(start)
    if path is not None:
        if os.path.getsize(path) == 0:  # NVRTC cannot make it
            return *NOTHING, False
        os.utime(path)
        answer, _ = compile_once(library, order, f"--use-pch={path}")
        return *answer, False
    draft = f"{start}{os.getpid()}.part"
    answer, state = compile_once(library, order, f"--create-pch={draft}")
    made = state == DONE and os.path.exists(draft)
    if not made and answer[0] == DONE:
        open(draft, "wb").close()  # so that the next compilations do not try it
    if made or answer[0] == DONE:
        os.replace(draft, f"{start}{checksum(draft):08x}.pch")
    elif os.path.exists(draft):
        os.unlink(draft)
    return *answer, made


def main() -> int:
    """Read the order, write the answer."""
    if not fix_addresses():
        return 1
    order = pickle.load(sys.stdin.buffer)
    output = os.dup(1)
    os.dup2(2, 1)  # what the library prints is no part of the answer
    with open(output, "wb") as file:
        pickle.dump(work(order), file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
