"""The comparison of two results: one of array_api_strict, one of ours."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from pycuda.gpuarray import GPUArray


def plain(value: Any) -> Any:
    """Return a result in terms of NumPy and Python, whichever namespace it is from."""
    if isinstance(value, GPUArray):
        return value.get()
    inner = getattr(value, "_array", None)  # array_api_strict
    if inner is not None:
        return np.asarray(inner)
    inner = getattr(value, "_np_dtype", None)
    if inner is not None:
        return inner
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value)]
        return {name: plain(getattr(value, name)) for name in fields}
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """How far results may be apart."""

    #: Units of the last place.
    ulps: float = 0
    #: A number that adds its own units of the last place, such as the sum of all terms.
    scale: float = 0
    #: Whether zeros must have the same sign.
    signs: bool = False
    #: Whether complex results may overflow: then only that an element is not finite is
    #: compared, not which of its parts are infinite or NaN.
    overflow: bool = False

    def limits(self, wanted: Any) -> Any:
        """Return the largest allowed distances from the wanted numbers."""
        info = np.finfo(wanted.dtype)
        size = np.where(np.isfinite(wanted), np.abs(wanted), 0) + self.scale
        return self.ulps * (info.eps * size + info.tiny)


def _differs_in_zeros(wanted: Any, found: Any) -> bool:
    """Return whether a zero has the other sign."""
    zero = (wanted == 0) & (found == 0)
    return bool(np.any(zero & (np.signbit(wanted) != np.signbit(found))))


def _compare_parts(wanted: Any, found: Any, allowed: Any) -> str | None:
    """Compare real numbers: NaN, infinities, and the distance of the others."""
    if not np.array_equal(np.isnan(wanted), np.isnan(found)):
        return "NaN elsewhere"
    finite = np.isfinite(wanted) & np.isfinite(found)
    if not np.array_equal(wanted[~finite], found[~finite], equal_nan=True):
        return "infinite elsewhere"
    with np.errstate(all="ignore"):
        distance = np.abs(wanted - found)
    if np.any((distance > allowed) & finite):
        worst = float(np.max(np.where(finite, distance, 0)))
        return f"values differ by up to {worst:.3g}"
    return None


def _without_overflow(wanted: Any, found: Any) -> tuple[Any, Any]:
    """Return two complex arrays with 0 for the elements that are finite in neither."""
    beyond = ~np.isfinite(wanted) & ~np.isfinite(found)
    zero = wanted.dtype.type(0)
    return np.where(beyond, zero, wanted), np.where(beyond, zero, found)


def _compare_arrays(wanted: Any, found: Any, tolerance: Tolerance) -> str | None:
    if wanted.dtype != found.dtype:
        return f"dtype {found.dtype}, not {wanted.dtype}"
    if wanted.shape != found.shape:
        return f"shape {found.shape}, not {wanted.shape}"
    if wanted.dtype.kind not in "fc":
        return None if np.array_equal(wanted, found) else "values differ"
    with np.errstate(all="ignore"):
        allowed = tolerance.limits(wanted)
    if wanted.dtype.kind == "f":
        problem = _compare_parts(wanted, found, allowed)
        if problem is None and tolerance.signs and _differs_in_zeros(wanted, found):
            return "a zero has the other sign"
        return problem
    if tolerance.overflow:
        wanted, found = _without_overflow(wanted, found)
    for part in ("real", "imag"):
        problem = _compare_parts(getattr(wanted, part), getattr(found, part), allowed)
        if problem is not None:
            return f"{part} part: {problem}"
    return None


def _compare_all(wanted: Any, found: Any, tolerance: Tolerance) -> str | None:
    """Compare two lists, item by item."""
    if len(wanted) != len(found):
        return f"{len(found)} results, not {len(wanted)}"
    for k, (one, other) in enumerate(zip(wanted, found, strict=True)):
        problem = compare(one, other, tolerance)
        if problem is not None:
            return f"result {k}: {problem}"
    return None


def compare(wanted: Any, found: Any, tolerance: Tolerance) -> str | None:
    """Return how two plain results differ, or None."""
    if isinstance(wanted, np.ndarray):
        if not isinstance(found, np.ndarray):
            return f"{type(found).__name__}, not an array"
        return _compare_arrays(wanted, found, tolerance)
    if isinstance(wanted, list):
        if not isinstance(found, list):
            return f"{type(found).__name__}, not a sequence"
        return _compare_all(wanted, found, tolerance)
    if isinstance(wanted, dict):
        if not isinstance(found, dict) or wanted.keys() != found.keys():
            return f"{found}, not {wanted}"
        values = [found[name] for name in wanted]
        return _compare_all([*wanted.values()], values, tolerance)
    if type(wanted) is type(found) and wanted == found:
        return None
    if isinstance(wanted, np.dtype) and wanted == found:
        return None
    if isinstance(wanted, (float, complex)) and type(wanted) is type(found):
        both = np.asarray(wanted), np.asarray(found)
        return _compare_arrays(*both, tolerance)
    return f"{found!r}, not {wanted!r}"
