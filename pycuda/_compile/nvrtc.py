"""NVRTC, the compiler that is a library: where it is, and which release it is.

It needs neither nvcc nor a host compiler. Only a compilation needs the library itself,
which ``nvrtc_program.py`` calls. A hit of the cache does not, so it need not wait for
the import of that file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from pycuda import _extras
from pycuda._compile import store, toolkit
from pycuda._compile.nvrtc_headers import HEADERS
from pycuda._compile.toolkit import Result
from pycuda.driver import CompilerNotFoundError

_WHEEL_FOLDERS = ("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib")
_WHEEL_HEADERS = (
    "nvidia/cu13/include",
    "nvidia/cuda_runtime/include",
    "nvidia/cuda_cccl/include",
    "nvidia/curand/include",
)

_found: dict[tuple[str | None, ...], str] = {}
_own: dict[tuple[str | None, ...], list[str]] = {}
_broken: dict[str, str] = {}  # libraries that cannot be loaded, with the reason


def find() -> str | None:
    """Return the path of the newest NVRTC in the first place that has one, or None."""
    environ = os.environ
    key = tuple(map(environ.get, ("CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH")))
    path = _found.get(key)
    if path is None:
        path = _search()
        if path is not None:
            _found[key] = path
    return path


def _search() -> str | None:
    folders = toolkit.library_folders(_WHEEL_FOLDERS)
    folders += filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep))
    folders += [
        os.path.join(sys.prefix, "lib"),
        f"/usr/lib/{os.uname().machine}-linux-gnu",
        "/usr/lib64",
    ]
    for folder in folders:
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        paths = [
            os.path.abspath(os.path.join(folder, name))
            for name in names
            if name.startswith("libnvrtc.so.")
        ]
        paths = [path for path in paths if path not in _broken]
        if paths:
            return max(paths, key=_version_in)
    return None


def _version_in(path: str) -> list[int]:
    parts = os.path.basename(path).split(".")
    return [int(part) for part in parts if part.isdecimal()]


def complaint() -> str:
    """Return which libraries were found but cannot be loaded; "" if there are none."""
    return "; ".join(
        f"'{path}' cannot be loaded: {reason}" for path, reason in _broken.items()
    )


class Tool(toolkit.Tool):
    """One NVRTC library."""

    __slots__ = ("_folder", "_seen", "path")

    name = "NVRTC"

    def __init__(self) -> None:
        self._seen: toolkit.Facts | None = None
        self._folder: str | None = None  # of the cache, for precompiled headers
        self.path: str = _found_path()

    def facts(self, folder: str | None) -> toolkit.Facts:
        """Return the facts. A library that cannot be loaded counts as not found."""
        self._folder = folder or self._folder
        while self._seen is None:
            try:
                facts = toolkit.facts_of("NVRTC", self.path, folder, self._introduce)
            except OSError as error:
                _broken[self.path] = str(error)
                _found.clear()
                self.path = _found_path()
                continue
            # The standard headers are ours and change with this package. Of the
            # toolkit's headers only the folders are part of the version.
            parts = (facts.version.partition("\n")[0], _HEADERS_KEY, facts.file)
            facts.version = "\n".join((*parts, *_own_folders(self.path)))
            self._seen = facts
        return self._seen

    def _introduce(self) -> tuple[str, str]:
        from pycuda._compile import nvrtc_program

        return nvrtc_program.library(self.path).introduce()

    def run(
        self,
        source: str,
        options: Sequence[str],
        target: str,
        keep: bool,
        names: Sequence[str] = (),
    ) -> Result:
        from pycuda._compile import nvrtc_program

        facts = self._seen or self.facts(None)
        own_folders = _own_folders(self.path)
        facts.toolkit_dirs = _toolkits_among(own_folders)
        return nvrtc_program.run(
            self.path,
            facts,
            own_folders,
            None if keep else self._folder,
            source,
            options,
            target,
            keep,
            names,
        )


def _own_folders(path: str) -> list[str]:
    """Return the header folders of a library's toolkit."""
    environ = os.environ
    key = (path, environ.get("CUDA_HOME"), environ.get("CUDA_PATH"), *sys.path)
    folders = _own.get(key)
    if folders is None:
        folders = _own[key] = _search_own(path)
    return folders


def _search_own(path: str) -> list[str]:
    root = os.path.dirname(os.path.dirname(path))
    folders = [os.path.join(root, "include"), *toolkit.in_wheels(_WHEEL_HEADERS)]
    folders += [os.path.join(home, "include") for home in toolkit.homes()]
    folders = [folder for folder in folders if os.path.isdir(folder)]
    with_library = [os.path.join(folder, "cccl") for folder in folders]
    folders += [folder for folder in with_library if os.path.isdir(folder)]
    return list(dict.fromkeys(folders))


def _toolkits_among(folders: Iterable[str]) -> list[str]:
    """Return the folders that have only a toolkit's headers."""
    found = []
    for folder in folders:
        root = folder.removesuffix("/cccl").removesuffix("/include")
        if folder in toolkit.folders_of_toolkit(root):
            found.append(folder)
    return found


def _found_path() -> str:
    """Return the path of a library that can be loaded. Raise CompilerNotFoundError."""
    path = find()
    if path is not None and path not in _broken:
        return path
    msg = (
        "NVRTC (libnvrtc.so) was not found. Install it: "
        f"{_extras.command('nvrtc')}\n"
        "These places have no libnvrtc.so:\n"
        "  LD_LIBRARY_PATH\n"
        f"  {toolkit.described_homes()}, /usr/local/cuda\n"
        f"  NVIDIA's wheels ({' or '.join(_WHEEL_FOLDERS)} in site-packages)"
    )
    if _broken:
        msg += f"\n{complaint()}"
    raise CompilerNotFoundError(msg, ["nvrtc"], "libnvrtc.so")


_HEADERS_KEY = store.key_of(*HEADERS, *HEADERS.values())
