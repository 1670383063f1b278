"""The operands of compared calls: arrays of random values, shapes and layouts.

An operand is drawn once and made into an array of each namespace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pycuda.gpuarray import to_gpu

Host: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Generator: TypeAlias = np.random.Generator
Shape: TypeAlias = tuple[int, ...]

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = (*INTEGERS, *FLOATS)
NUMBERS = (*REAL, *COMPLEX)
ALL = ("bool", *NUMBERS)


@dataclass(frozen=True)
class Operand:
    """An array: packed elements, and the view of them that is meant."""

    base: Host
    layout: str = "packed"

    def view(self, array: Any) -> Any:
        """Return the meant view of the elements, for an array of any library."""
        if self.layout == "transposed":
            return array.T
        if self.layout == "reversed":
            return array[..., ::-1]
        if self.layout == "spread":
            return array[..., ::2]
        if self.layout == "inner":
            return array[..., 1:]
        return array

    @property
    def host(self) -> Host:
        """The elements as an array of NumPy."""
        return self.view(self.base)

    def __repr__(self) -> str:
        host = self.host
        values = np.array2string(host, threshold=12, separator=", ")
        return f"array({values}, {host.dtype}, shape={host.shape}, {self.layout})"


@dataclass(frozen=True)
class Type:
    """A data type, by its name."""

    name: str

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Method:
    """The method of an operand, or an operator, in place of a function."""

    name: str


def convert(value: Any, namespace: Any, is_ours: bool) -> Any:
    """Return an argument as a namespace takes it."""
    if isinstance(value, Operand):
        if is_ours:
            return value.view(to_gpu(value.base))
        return namespace.asarray(value.host, copy=True)
    if isinstance(value, Type):
        return getattr(namespace, value.name)
    if isinstance(value, tuple):
        return tuple(convert(item, namespace, is_ours) for item in value)
    if isinstance(value, list):
        return [convert(item, namespace, is_ours) for item in value]
    return value


# -- shapes ----------------------------------------------------------------------------


def draw_shape(rng: Generator, low: int = 0, high: int = 3, zero: bool = True) -> Shape:
    """Return a shape of ``low`` to ``high`` axes. Few lengths are 0."""
    ndim = int(rng.integers(low, high + 1))
    lengths = rng.choice([1, 2, 3, 4, 5, 7], ndim)
    if zero and ndim and rng.random() < 0.06:
        lengths[rng.integers(ndim)] = 0
    return tuple(int(length) for length in lengths)


def draw_broadcast(rng: Generator, shape: Shape) -> Shape:
    """Return a shape that broadcasts to another one."""
    kept = shape[int(rng.integers(len(shape) + 1)) :] if rng.random() < 0.5 else shape
    return tuple(1 if rng.random() < 0.2 else length for length in kept)


def draw_axis(rng: Generator, ndim: int) -> int:
    """Return an axis, counted from the front or from the end."""
    return int(rng.integers(-ndim, ndim))


# -- values ----------------------------------------------------------------------------

_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0)


def _draw_floats(rng: Generator, shape: Shape, dtype: Any, special: float) -> Host:
    scale = rng.choice([0.3, 1.0, 3.0, 30.0])
    values = (rng.standard_normal(shape) * scale).astype(dtype)
    chosen = rng.random(shape) < special
    return np.where(chosen, rng.choice(_SPECIAL, shape), values).astype(dtype)


def _draw_integers(rng: Generator, shape: Shape, dtype: Any, special: float) -> Host:
    limits = np.iinfo(dtype)
    low = -20 if limits.min else 0
    values = rng.integers(low, 21, shape).astype(dtype)
    extremes = np.array([limits.min, limits.max, 0, 1], dtype)
    chosen = rng.random(shape) < special
    return np.where(chosen, rng.choice(extremes, shape), values).astype(dtype)


def draw_values(rng: Generator, shape: Shape, dtype: str, special: float) -> Host:
    """Return random elements. ``special`` is the share of infinities, NaN and such."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        return _draw_integers(rng, shape, dtype, special)
    if kind == "f":
        return _draw_floats(rng, shape, dtype, special)
    part = np.empty(shape, dtype).real.dtype
    values = np.empty(shape, dtype)
    values.real = _draw_floats(rng, shape, part, special)
    values.imag = _draw_floats(rng, shape, part, special)
    return values


_LAYOUTS = ("transposed", "reversed", "spread", "inner")


def draw(
    rng: Generator,
    dtype: str,
    shape: Shape,
    special: float = 0.15,
    low: float | None = None,
    packed: bool = False,
) -> Operand:
    """Return an operand. ``low`` replaces smaller values; few operands have gaps."""
    layout = "packed"
    base_shape = shape
    if shape and not packed and rng.random() < 0.25:
        layout = str(rng.choice(_LAYOUTS))
    if layout == "transposed":
        base_shape = shape[::-1]
        if len(shape) != 2:
            layout, base_shape = "packed", shape
    elif layout == "spread":
        base_shape = (*shape[:-1], 2 * shape[-1])
    elif layout == "inner":
        base_shape = (*shape[:-1], shape[-1] + 1)
    values = draw_values(rng, base_shape, dtype, special)
    if low is not None:
        values = np.where(values < low, np.asarray(low).astype(dtype), values)
        values = values.astype(dtype)
    return Operand(values, layout)
