"""Where CUDA toolkits are, and what is remembered about the compilers in them.

What a compiler says about itself is kept in the compile cache under its path, size and
time, so that a process whose kernels are all cached starts nothing to learn it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence

from pycuda._compile import store

_facts: dict[tuple[str, str], Facts] = {}


def homes() -> list[str]:
    """Return the toolkits' own folders: those the user names, then the usual one."""
    named = (os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH"))
    return [*filter(None, named), "/usr/local/cuda"]


def described_homes() -> str:
    """Say what the user's variables are, for the message that nothing was found."""
    return ", ".join(
        f"{name}={os.environ.get(name) or '(not set)'}"
        for name in ("CUDA_HOME", "CUDA_PATH")
    )


def in_wheels(parts: Iterable[str]) -> list[str]:
    """Return where NVIDIA's wheels would put these folders."""
    return [os.path.join(entry or os.curdir, p) for entry in sys.path for p in parts]


def library_folders(wheel_folders: Iterable[str]) -> list[str]:
    """Return where a toolkit and NVIDIA's wheels have libraries; some may not exist."""
    folders = [
        os.path.join(home, part)
        for home in homes()
        for part in ("lib64", "lib", f"targets/{os.uname().machine}-linux/lib")
    ]
    return folders + in_wheels(wheel_folders)


def library_paths(names: Sequence[str], wheel_folders: Iterable[str]) -> list[str]:
    """Return what to try to open, in order: names for the loader, then files."""
    folders = library_folders(wheel_folders)
    files = [os.path.join(folder, name) for folder in folders for name in names]
    return [*names, *filter(os.path.isfile, files)]


class Result:
    """What one run of a compiler gave.

    ``read`` are the paths it read, None if that is unsure; ``lowered`` what the image
    calls the kernels that were asked for by name; ``search_dirs`` where it looked for
    headers, None if that follows from nvcc's options.
    """

    __slots__ = ("chatter", "image", "lowered", "read", "search_dirs", "started_ns")

    def __init__(
        self,
        image: bytes,
        read: list[str] | None,
        started_ns: int,
        chatter: str,
        lowered: Sequence[str] = (),
    ) -> None:
        self.image: bytes = image
        self.read: list[str] | None = read
        self.started_ns: int = started_ns
        self.chatter: str = chatter
        self.lowered: Sequence[str] = lowered
        self.search_dirs: list[str] | None = None


class Facts:
    """What one compiler is: its name, version text, architectures, header folders.

    ``toolkit_dirs`` have nothing but what came with the compiler. ``file`` is the real
    path of its file, with size and time.
    """

    __slots__ = ("archs", "file", "name", "release", "toolkit_dirs", "version")

    def __init__(
        self, name: str, path: str, version: str, archs: str, file: str = ""
    ) -> None:
        self.file: str = file
        self.name: str = name
        self.version: str = version
        self.archs: list[int] = parse_archs(archs)
        self.release: str = (
            version.partition("release ")[2].partition(",")[0] or "unknown"
        )
        paths = {path, os.path.realpath(path)}
        roots = {os.path.dirname(os.path.dirname(each)) for each in paths}
        self.toolkit_dirs: list[str] = [
            folder for root in sorted(roots) for folder in folders_of_toolkit(root)
        ]


def folders_of_toolkit(root: str) -> list[str]:
    """Return the folders below ``root`` that have nothing but a toolkit's own headers.

    There are none if it is just a folder with a ``bin``, such as the user's home. In a
    conda environment all packages share one ``include``.
    """
    machine = f"targets/{os.uname().machine}-linux/include"
    parts = ["targets", machine, f"{machine}/cccl", "nvvm"]
    if not os.path.isdir(os.path.join(root, "conda-meta")):
        parts = ["include", "include/cccl", *parts]
    folders = [os.path.join(root, part) for part in parts]
    if os.path.dirname(root) in in_wheels(("nvidia",)):
        return folders
    is_toolkit = any(
        os.path.exists(os.path.join(root, name)) for name in ("nvvm", "version.json")
    ) and any(
        os.path.isfile(os.path.join(root, part, "cuda_runtime.h"))
        for part in ("include", machine)
    )
    return folders if is_toolkit else []


def parse_archs(text: str) -> list[int]:
    """Return the numbers in a list such as ``compute_75 compute_80``, in order."""
    words = (word.partition("compute_")[2] for word in text.split())
    return sorted({int(word) for word in words if word.isdigit()})


def facts_of(
    name: str, path: str, folder: str | None, ask: Callable[[], tuple[str, str]]
) -> Facts:
    """Return the Facts of the compiler at ``path``, kept in ``folder`` (None: not
    kept).

    ``ask()`` returns (version text, list of architectures as text) if they are not
    known yet. Raises OSError if the file is not there.
    """
    stat = os.stat(path)
    stamp = f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"
    known = _facts.get((path, stamp))
    if known is not None:
        return known
    kept = folder and os.path.join(folder, f"{name}-{store.key_of(path, stamp)}")
    data = store.load(kept) if kept else None

    def make() -> tuple[bytes | None, bytes]:
        version, archs = ask()
        data = f"{version}\0{archs}".encode("utf-8", "surrogateescape")
        return (b"" if version.strip() else None), data

    if data is None:
        if kept:
            from pycuda._compile import single_flight

            data = single_flight.get(kept, make)
        else:
            data = make()[1]
    version, _, archs = data.decode("utf-8", "surrogateescape").partition("\0")
    file = f"{os.path.realpath(path)} {stat.st_size} {stat.st_mtime_ns}"
    facts = _facts[path, stamp] = Facts(name, path, version, archs, file)
    return facts
