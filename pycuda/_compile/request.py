"""The request for a compilation."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class CompileRequest(NamedTuple):
    """One compilation as a caller asks for it. ``build.prepare`` checks the values.

    The fields have the names of the arguments of ``pycuda.compiler.compile``.
    """

    #: What to compile: a str, bytes, or an object that str() makes a text of.
    source: object

    #: The compiler's options, without those for the architecture and our headers.
    options: Iterable[str] = ()
    include_dirs: Iterable[str] | None = None
    no_extern_c: bool = False

    #: What to compile for. By default an image that the current device can load.
    arch: str | Sequence[str] | None = None
    code: str | None = None
    target: str | None = None

    #: Whether relocatable code is linked if there is no ``target``.
    linked: bool = True

    #: Whether the compiler leaves out slow optimizations, if it can.
    quick: bool = False

    #: The tool: the program of nvcc, and "nvcc" or "nvrtc", by default nvcc.
    nvcc: str = "nvcc"
    compiler: str | None = None

    #: The cache's folder: None for the usual one, False to compile without a cache.
    cache_dir: str | os.PathLike[str] | bool | None = None
    #: Compile even if the cache has the image, and leave the compiler's files.
    keep: bool = False
