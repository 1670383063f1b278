"""A process that compiles one program with precompiled headers. See precompiled.py.

It reads a pickled order from stdin and writes the pickled answer to stdout: (status,
image, log, lowered names, whether a file was made). It imports nothing of the package,
so it starts in a few milliseconds.

Precompiled headers hold addresses. So the process starts itself again without random
addresses, and the name of the file has the address of the library.
"""

import ctypes
import os
import pickle
import sys

NO_RANDOM_ADDRESSES = 0x0040000
QUERY = 0xFFFFFFFF
DONE = 0
HEAP_EXHAUSTED = 14


def fix_addresses():
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


def address_of(library, function):
    """Return the address of a function of a library."""
    return ctypes.cast(getattr(library, function), ctypes.c_void_p).value


def strings(items):
    """Return an array of C strings."""
    return (ctypes.c_char_p * len(items))(*items)


def bytes_of(library, what, program):
    """Return a result of a program."""
    size = ctypes.c_size_t()
    if getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) != DONE:
        return b""
    buffer = ctypes.create_string_buffer(max(size.value, 1))
    getattr(library, f"nvrtcGet{what}")(program, buffer)
    return buffer.raw[: size.value]


def lowered(library, program, expression):
    """Return the name in the image of a name expression."""
    name = ctypes.c_char_p()
    library.nvrtcGetLoweredName(program, expression.encode(), ctypes.byref(name))
    return (name.value or b"").decode()


def compile_once(library, order, option):
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
        return None, -1
    for expression in order["expressions"]:
        library.nvrtcAddNameExpression(program, expression.encode())
    arguments = [*order["arguments"], "--pch-messages=true", option]
    encoded = strings([os.fsencode(argument) for argument in arguments])
    status = library.nvrtcCompileProgram(program, len(arguments), encoded)
    state = library.nvrtcGetPCHCreateStatus(program)
    log = bytes_of(library, "ProgramLog", program).rstrip(b"\0")
    image, names = b"", []
    if status == DONE:
        names = [lowered(library, program, each) for each in order["expressions"]]
        image = bytes_of(library, order["target"].upper(), program)
        if order["target"] == "ptx":
            image = image.rstrip(b"\0")
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return (status, image, log.decode("utf-8", "replace"), names), state


def work(order):
    """Compile, with the file of the headers if there is one, else make it."""
    library = ctypes.CDLL(order["library"])
    if not hasattr(library, "nvrtcGetPCHCreateStatus"):  # before CUDA 12.8
        return None, b"", "", [], False
    path = f"{order['base']}-{address_of(library, 'nvrtcVersion'):x}.pch"
    if os.path.exists(path):
        if os.path.getsize(path) == 0:  # NVRTC cannot make it
            return None, b"", "", [], False
        os.utime(path)
        answer, _ = compile_once(library, order, f"--use-pch={path}")
        return (*(answer or (None, b"", "", [])), False)
    draft = f"{path}.{os.getpid()}.part"
    answer, state = compile_once(library, order, f"--create-pch={draft}")
    made = state == DONE and os.path.exists(draft)
    if made:
        os.replace(draft, path)
    elif os.path.exists(draft):
        os.unlink(draft)
    if not made and answer is not None and answer[0] == DONE:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
    return (*(answer or (None, b"", "", [])), made)


def main():
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
