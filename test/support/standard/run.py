"""Calls cases in both namespaces and counts the differences."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pycuda.array_api as ours
from support.standard import (
    creation_cases,
    elementwise_cases,
    error_cases,
    linear_cases,
    reduction_cases,
    shape_cases,
)
from support.standard.draws import Case, Draw, Drawer
from support.standard.operands import convert
from support.standard.results import compare, plain

DRAWERS: dict[str, Drawer] = {
    **elementwise_cases.DRAWERS,
    **reduction_cases.DRAWERS,
    **shape_cases.DRAWERS,
    **creation_cases.DRAWERS,
    **linear_cases.DRAWERS,
    **error_cases.DRAWERS,
}


@dataclass
class Outcome:
    """What a run found."""

    #: Calls compared.
    cases: int = 0
    #: Calls that need a library which is not installed, by function.
    unavailable: Counter[str] = field(default_factory=Counter)
    #: Calls that array_api_strict refuses, by function; they are not counted as cases.
    refused: Counter[str] = field(default_factory=Counter)
    #: (function, call, difference)
    differences: list[tuple[str, str, str]] = field(default_factory=list)


def _called(case: Case, namespace: Any, is_ours: bool) -> Any:
    """Return the result of a call as NumPy's arrays and Python's values."""
    args = convert(case.args, namespace, is_ours)
    keywords = {k: convert(v, namespace, is_ours) for k, v in case.kwargs.items()}
    owner, _, name = case.name.rpartition(".")
    if owner == "array":
        method = getattr(args[0], name)
        result = method(*args[1:], **keywords) if callable(method) else method
        return plain(args[0] if name == "__setitem__" else result)
    if owner == "info":
        owner_of_it = namespace.__array_namespace_info__()
    else:
        owner_of_it = getattr(namespace, owner) if owner else namespace
    return plain(getattr(owner_of_it, name)(*args, **keywords))


def _shape_only(value: Any) -> Any:
    """Return an array without its values, for functions that do not set them."""
    return np.zeros_like(value)


def _product(parts: list[Any]) -> list[Any]:
    """Return what factors of a matrix have in common however they are chosen."""
    left, right = parts
    return [left @ right, np.conj(np.swapaxes(left, -1, -2)) @ left]


def _singular(parts: list[Any]) -> list[Any]:
    left, values, right = parts
    return [(left * values[..., None, :]) @ right, values]


def _eigen(parts: list[Any]) -> list[Any]:
    values, vectors = parts
    order = np.argsort(values.real, axis=-1)
    sizes = np.sum(np.abs(vectors) ** 2, axis=-2)
    return [np.take_along_axis(values, order, -1), sizes.astype(values.real.dtype)]


def _restored(parts: list[Any]) -> list[Any]:
    """Return the array that an inverse gives back: which NaN is which is left open."""
    values, inverse = parts
    return [values, values[inverse], np.sort(inverse, axis=None)]


def _sorted(values: Any) -> Any:
    return np.sort(values, axis=-1)


_FORMS: dict[str, Callable[[Any], Any]] = {
    "empty": _shape_only,
    "empty_like": _shape_only,
    "linalg.qr": _product,
    "linalg.svd": _singular,
    "linalg.eigh": _eigen,
    "linalg.eig": _eigen,
    "linalg.eigvals": _sorted,
    "unique_inverse": _restored,
}


def _is_unavailable(error: Exception) -> bool:
    """Return whether an error says that a library is not installed."""
    text = str(error)
    says = "pip install" in text or "the extra " in text
    return isinstance(error, (ImportError, RuntimeError)) and says


def _difference(case: Case, strict: Any, outcome: Outcome) -> str | None:
    """Compare one call. Return how the results differ, or None."""
    try:
        wanted = _called(case, strict, False)
    except Exception as error:
        if not case.raises:
            outcome.refused[case.name] += 1
            outcome.cases -= 1
            return None
        wanted = error
    try:
        found = _called(case, ours, True)
    except Exception as error:
        if _is_unavailable(error):
            outcome.unavailable[case.name] += 1
            outcome.cases -= 1
            return None
        if case.raises and isinstance(error, case.raises):
            return None
        return f"{type(error).__name__}: {error}"
    if case.raises:
        return f"{found!r} instead of an error"
    form = _FORMS.get(case.name)
    if form is not None:
        wanted, found = form(wanted), form(found)
    return compare(wanted, found, case.tolerance)


def run(
    count: int,
    seed: int = 0,
    variety: int = 2,
    names: list[str] | None = None,
    types_seed: int | None = None,
) -> Outcome:
    """Compare so many calls, in turn of each function.

    ``variety`` limits the data types of each function, since each needs kernels of its
    own; ``types_seed``, by default the seed, decides which. ``names`` are the
    functions, by default all.
    """
    import array_api_strict as strict

    pick = Draw(seed, variety, types_seed)
    chosen = list(DRAWERS) if names is None else names
    outcome = Outcome()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for k in range(count):
            name = chosen[k % len(chosen)]
            case = DRAWERS[name](pick, name)
            outcome.cases += 1
            problem = _difference(case, strict, outcome)
            if problem is not None:
                outcome.differences.append((case.name, str(case), problem))
    return outcome
