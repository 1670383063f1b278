"""What this process compiled or loaded already, so that the same request is quick.

The key of the cache needs the options for the device and the compiler's facts, and the
entry is read and its checksum computed. Here a request finds its result by its own
fields, if all else is as before: the variables of the environment, the current folder,
the device, the compilers, the headers, the places without a header, and the entry in
the cache. The files are compared by size, times and number, as the cache does.

A result is remembered only as long as its entry is in the cache. So whatever removes,
replaces or damages the entry counts here, too.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pycuda import driver
from pycuda._compile import architecture, store

if TYPE_CHECKING:
    from pycuda._compile.request import CompileRequest

# A build does more than to return an image if one of these is set.
_RECORDING = ("PYCUDA_CHECK_LOG", "PYCUDA_EMULATOR_COUNT_LOG", "PYCUDA_RECORD")

# Bytes of all sources and images that are remembered.
_MOST = 32 << 20

_known: dict[tuple[Any, ...], tuple[Call, Any, int]] = {}  # with their bytes
_size = 0


class Call:
    """One call of the compiler's functions: the request, and all that decides."""

    __slots__ = ("_around", "key", "watched")

    def __init__(self, request: CompileRequest, names: Sequence[str]) -> None:
        self.key = _key_of(request, names)
        self.watched: list[store.Stamp] = []  # the files, once they are known
        self._around: tuple[Any, ...] | None = None

    def find(self) -> Any:
        """Return the result of an earlier call, None without one."""
        found = _known.get(self.key) if self.key else None
        if found is None:
            return None
        call, result, _ = found
        if call._around == _around_now() and store.are_unchanged(call.watched):
            return result
        self._drop()
        return None

    def _drop(self) -> None:
        global _size
        _, _, size = _known.pop(self.key or (), (None, None, 0))
        _size -= size

    def begin(self) -> None:
        """Note what the result is going to depend on, before it is made."""
        if self.key and not any(name in os.environ for name in _RECORDING):
            self._around = _around_now()
            if self._around is not None:
                self._around = (dict(self._around[0]), *self._around[1:])

    def keep(self, result: Any, size: int) -> None:
        """Remember a result of so many bytes, if its files are known."""
        global _size
        if not (self.key and self.watched and self._around):
            return
        self._drop()
        if _size + size > _MOST:
            forget()
        if size <= _MOST:
            _size += size
            _known[self.key] = self, result, size


def forget() -> None:
    """Forget all results, so that the next request looks into the cache."""
    global _size
    _known.clear()
    _size = 0


def _key_of(request: CompileRequest, names: Sequence[str]) -> tuple[Any, ...] | None:
    """Return the fields of a request, None if it has other than plain values."""
    options, folders = request.options, request.include_dirs
    if type(request.source) is not str or type(options) not in (list, tuple):
        return None
    if request.keep:
        return None
    if folders is not None:
        if type(folders) not in (list, tuple):
            return None
        folders = tuple(folders)
    key = (
        request.source,
        tuple(options),
        folders,
        request.no_extern_c,
        request.arch,
        request.code,
        request.target,
        request.linked,
        request.quick,
        request.nvcc,
        request.compiler,
        request.cache_dir,
        tuple(names),
    )
    try:
        hash(key)
    except TypeError:  # such as a list of architectures
        return None
    return key


def _around_now() -> tuple[Any, ...] | None:
    """Return what a request depends on beside its fields and files."""
    # The dict below os.environ: one comparison instead of a look at each variable.
    variables = getattr(os.environ, "_data", None)
    if variables is None or driver.CUDA_DEBUGGING:
        return None
    try:
        folder = os.getcwd()
    except OSError:
        return None
    device = architecture.current_device()
    properties = device and (device.capability, device.software)
    return variables, folder, properties
