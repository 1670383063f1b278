"""The request for a compilation."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

_HALF_CHARACTER = "[\ud800-\udc7f\udd00-\udfff]"


class CompileRequest:
    """One compilation as a caller asks for it. ``build.prepare`` checks the values.

    The fields have the names of the arguments of ``pycuda.compiler.compile``. They do
    not change. (A NamedTuple would take longer to define than a hit takes.)
    """

    __slots__ = (
        "arch",
        "cache_dir",
        "code",
        "compiler",
        "include_dirs",
        "keep",
        "linked",
        "no_extern_c",
        "nvcc",
        "options",
        "quick",
        "source",
        "target",
    )

    def __init__(
        self,
        source: object,
        options: Iterable[str] = (),
        include_dirs: Iterable[str] | None = None,
        no_extern_c: bool = False,
        arch: str | Sequence[str] | None = None,
        code: str | None = None,
        target: str | None = None,
        linked: bool = True,
        quick: bool = False,
        nvcc: str = "nvcc",
        compiler: str | None = None,
        cache_dir: str | os.PathLike[str] | bool | None = None,
        keep: bool = False,
    ) -> None:
        #: What to compile: a str, bytes, or an object that str() makes a text of.
        self.source = source
        #: The compiler's options, without those for the architecture and our headers.
        self.options = options
        self.include_dirs = include_dirs
        self.no_extern_c = no_extern_c
        #: What to compile for. By default an image that the current device can load.
        self.arch = arch
        self.code = code
        self.target = target
        #: Whether relocatable code is linked if there is no ``target``.
        self.linked = linked
        #: Whether the compiler leaves out slow optimizations, if it can.
        self.quick = quick
        #: The tool: the program of nvcc, and "nvcc" or "nvrtc", by default nvcc.
        self.nvcc = nvcc
        self.compiler = compiler
        #: The cache's folder: None for the usual one, False to compile without a cache.
        self.cache_dir = cache_dir
        #: Compile even if the cache has the image, and leave the compiler's files.
        self.keep = keep

    def with_fields(self, **changes: Any) -> CompileRequest:
        """Return the same request with some other fields."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return CompileRequest(**{**fields, **changes})


def list_of(value: Iterable[str | os.PathLike[str]], name: str) -> list[str]:
    """Return a new list of strings from the argument ``name``.

    Raise TypeError for a single string, and for items that are no strings or paths.
    """
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a list of strings, not one string")
    items: list[str] = []
    for item in value:
        text: object = item
        if not isinstance(item, str) and isinstance(item, os.PathLike):
            text = os.fspath(item)
        if not isinstance(text, str):
            raise TypeError(f"{name} must be a list of strings, not one with {item!r}")
        if not text.isascii():
            check_characters(text, f"a string of {name}")
        items.append(text)
    return items


def check_characters(text: str, what: str) -> None:
    """Raise ValueError if a text has half of a surrogate pair, which UTF-8 lacks.

    Bytes that were decoded with "surrogateescape" are allowed. They are written as they
    were.
    """
    found = re.search(_HALF_CHARACTER, text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise ValueError(
            f"{what} has the character U+{ord(found[0]):04X} in line {line}: one half "
            "of a surrogate pair, which no file can have. Check how it was decoded"
        )
