"""What the namespace can do, as the standard's inspection functions tell it."""

from __future__ import annotations

from typing import Any

from pycuda.array_api import _data_types as types
from pycuda.array_api._data_types import KINDS, DType
from pycuda.array_api._devices import check_device, current_device
from pycuda.driver import Device

_MAX_NDIM = 64


class NamespaceInfo:
    """The answers of ``__array_namespace_info__()``."""

    def capabilities(self) -> dict[str, Any]:
        """Return the optional abilities: masks and shapes that depend on data."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": _MAX_NDIM,
        }

    def default_device(self) -> Device:
        """Return the device of the current context."""
        return current_device()

    def default_dtypes(self, *, device: Device | None = None) -> dict[str, DType]:
        """Return the data types that functions choose if none is given."""
        check_device(device)
        return {
            "real floating": types.float64,
            "complex floating": types.complex128,
            "integral": types.int64,
            "indexing": types.int64,
        }

    def dtypes(
        self,
        *,
        device: Device | None = None,
        kind: str | tuple[str, ...] | None = None,
    ) -> dict[str, DType]:
        """Return the data types by name, all of them or those of some kinds.

        Raises ValueError for a name that is no kind.
        """
        check_device(device)
        if kind is None:
            return {**KINDS["bool"], **KINDS["numeric"]}
        kinds = kind if isinstance(kind, tuple) else (kind,)
        found: dict[str, DType] = {}
        for name in kinds:
            if name not in KINDS:
                raise ValueError(f"{name!r} is not a kind: {', '.join(KINDS)} are")
            found.update(KINDS[name])
        return found

    def devices(self) -> tuple[Device, ...]:
        """Return the devices on which arrays can be made: the current context's."""
        return (current_device(),)


def __array_namespace_info__() -> NamespaceInfo:
    """Return an object whose methods describe the namespace."""
    return NamespaceInfo()
