"""CUDA toolkits and their compilers: places, facts, the folder and result of a run.

The facts about a compiler are kept in the compile cache under its path, size and time.
So a process whose kernels are all cached starts no compiler to learn them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence

from pycuda._compile import store

HEADERS = store.HEADERS

# The names of the toolkit's libraries of device code, and where its wheels have them.
LIBRARY_PATTERN = "lib%s.a"
LIBRARY_WHEELS = ("nvidia/cu13/lib", "nvidia/cuda_runtime/lib")

_facts: dict[tuple[str, str], Facts] = {}


def homes() -> list[str]:
    """Return the toolkits' own folders: those the user names, then the usual one."""
    named = (os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH"))
    return [*filter(None, named), "/usr/local/cuda"]


def described_homes() -> str:
    """Return the values of the user's variables, for messages."""
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


def on_path(names: Iterable[str]) -> str | None:
    """Return the first executable of these names on PATH, or None."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        for name in names:
            path = os.path.join(folder, name)
            if is_program(path):
                return path
    return None


def is_program(path: str) -> bool:
    """Return whether a file exists and can be executed."""
    return os.path.isfile(path) and os.access(path, os.X_OK)


def device_library_folders(nvcc: str) -> list[str]:
    """Return where the toolkit's libraries of device code may be, likely places first.

    The toolkit of the program ``nvcc`` is among them.
    """
    environ = os.environ
    machine = os.uname().machine
    roots = [environ.get(name) for name in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH")]
    folders = [
        os.path.join(root, part)
        for root in filter(None, roots)
        for part in ("lib64", "lib")
    ]
    folders += filter(None, environ.get("LD_LIBRARY_PATH", "").split(os.pathsep))
    folders.append(f"/usr/lib/{machine}-linux-gnu")
    path: str | None = nvcc
    if not os.path.dirname(nvcc):
        path = on_path([nvcc])
    if path is not None:
        root = os.path.dirname(os.path.dirname(os.path.realpath(path)))
        parts = ("lib64", "lib", f"targets/{machine}-linux/lib")
        folders += [os.path.join(root, part) for part in parts]
    folders += library_folders(LIBRARY_WHEELS)
    return list(dict.fromkeys(map(os.path.abspath, folders)))


@contextlib.contextmanager
def work_folder(keep: bool) -> Iterator[str]:
    """Make a folder, and remove it at the end; with ``keep``, print where it is."""
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


class Result:
    """The result of one run of a compiler.

    ``read`` are the paths that it read, None if that is unsure. ``messages`` are what
    it printed. ``lowered`` are the names in the image of the kernels that were asked
    for by an expression. ``search_dirs`` are the folders where it looked for headers,
    None if they follow from nvcc's options.
    """

    __slots__ = ("image", "lowered", "messages", "read", "search_dirs", "started_ns")

    def __init__(
        self,
        image: bytes,
        read: list[str] | None,
        started_ns: int,
        messages: str,
        lowered: Sequence[str] = (),
    ) -> None:
        self.image: bytes = image
        self.read: list[str] | None = read
        self.started_ns: int = started_ns
        self.messages: str = messages
        self.lowered: Sequence[str] = lowered
        self.search_dirs: list[str] | None = None


class Tool(ABC):
    """A compiler: nvcc or NVRTC. ``path`` is its program or library."""

    __slots__ = ()

    name: str
    path: str

    @abstractmethod
    def facts(self, folder: str | None) -> Facts:
        """Return the facts about this compiler, kept in the cache ``folder``."""

    @abstractmethod
    def run(
        self,
        source: str,
        options: Sequence[str],
        target: str,
        keep: bool,
        names: Sequence[str] = (),
    ) -> Result:
        """Compile ``source``. Raise CompileError with the compiler's messages.

        ``target`` is the kind of image. ``keep`` leaves the files and prints where they
        are. ``names`` are C++ expressions for kernels that the image must have.
        """


class Facts:
    """The facts about one compiler: name, version, architectures, header folders.

    ``toolkit_dirs`` are folders with only the toolkit's own files. ``file`` is the real
    path of the compiler's file, with size and time.
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
    """Return the folders below ``root`` that have only a toolkit's own headers.

    The list is empty if ``root`` is no toolkit but another folder with a ``bin``, such
    as the user's home. In a conda environment all packages share one ``include``.
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
    """Return the Facts of the compiler at ``path``, kept in ``folder`` if there is one.

    If they are not known yet, ``ask()`` returns (version text, list of architectures as
    text). Raise OSError if there is no file at ``path``.
    """
    stat = os.stat(path)
    stamp = f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"
    known = _facts.get((path, stamp))
    if known is not None:
        return known

    def make() -> tuple[bytes | None, bytes]:
        version, archs = ask()
        data = f"{version}\0{archs}".encode("utf-8", "surrogateescape")
        manifest = b"" if version.strip() else None
        return manifest, data

    if folder:
        entry = os.path.join(folder, f"{name}-{store.key_of(path, stamp)}")
        data = store.load(entry)
        if data is None:
            from pycuda._compile import single_flight

            data = single_flight.get(entry, make)
    else:
        _, data = make()
    version, _, archs = data.decode("utf-8", "surrogateescape").partition("\0")
    file = f"{os.path.realpath(path)} {stat.st_size} {stat.st_mtime_ns}"
    facts = _facts[path, stamp] = Facts(name, path, version, archs, file)
    return facts
