"""Calls of linear algebra functions and Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.standard.draws import Case, Draw, Drawer
from support.standard.operands import (
    COMPLEX,
    FLOATS,
    NUMBERS,
    Operand,
    Shape,
    Type,
    draw,
    draw_axis,
    draw_broadcast,
    draw_shape,
)
from support.standard.results import Tolerance

_FLOATING = (*FLOATS, *COMPLEX)


def _products(x1: Operand, x2: Operand, terms: int) -> Tolerance:
    """Return the tolerance of sums of so many products."""
    if x1.host.dtype.kind not in "fc":
        return Tolerance()
    sizes = [float(np.max(np.abs(x.host), initial=0)) for x in (x1, x2)]
    return Tolerance(16, max(terms, 1) * sizes[0] * sizes[1])


# -- products --------------------------------------------------------------------------


def _numbers(pick: Draw, name: str, shape: Shape) -> Operand:
    return draw(pick.rng, pick.dtype(name, NUMBERS), shape, 0.0)


def _matmul(pick: Draw, name: str) -> Case:
    rows, inner, columns = (pick.whole(0 if pick.chance(0.05) else 1, 7) for _ in "abc")
    batch = draw_shape(pick.rng, 0, 2)
    own = draw_broadcast(pick.rng, batch)
    first: Shape = (*batch, rows, inner)
    second: Shape = (*own, inner, columns)
    if pick.chance(0.2):
        first = (inner,)
    if pick.chance(0.2):
        second = (inner,)
    x1 = _numbers(pick, name, first)
    x2 = draw(pick.rng, str(x1.host.dtype), second, 0.0)
    method = name.startswith("__")
    return Case(
        f"array.{name}" if method else name, (x1, x2), {}, _products(x1, x2, inner)
    )


def _tensordot(pick: Draw, name: str) -> Case:
    shape = draw_shape(pick.rng, 1)
    axes: Any = pick.whole(0, len(shape))
    x1 = _numbers(pick, name, shape)
    if pick.chance(0.5):
        count = pick.whole(0, len(shape))
        own = [int(k) for k in pick.rng.choice(len(shape), count, replace=False)]
        second = (*(shape[k] for k in own), pick.whole(1, 4))
        axes = (tuple(own), tuple(range(count)))
    else:
        second = (*shape[len(shape) - axes :], pick.whole(1, 4))
    x2 = draw(pick.rng, str(x1.host.dtype), second, 0.0)
    terms = int(np.prod(shape))
    return Case(name, (x1, x2), {"axes": axes}, _products(x1, x2, terms))


def _vecdot(pick: Draw, name: str) -> Case:
    shape = draw_shape(pick.rng, 1)
    axis = -pick.whole(1, len(shape))
    x1 = _numbers(pick, name, shape)
    x2 = draw(pick.rng, str(x1.host.dtype), shape, 0.0)
    keywords = {"axis": axis} if axis != -1 or pick.chance(0.3) else {}
    return Case(name, (x1, x2), keywords, _products(x1, x2, shape[axis]))


def _cross(pick: Draw, name: str) -> Case:
    shape = [*draw_shape(pick.rng, 1)]
    axis = -pick.whole(1, len(shape))
    shape[axis] = 3
    x1 = _numbers(pick, name, tuple(shape))
    x2 = draw(pick.rng, str(x1.host.dtype), tuple(shape), 0.0)
    return Case(name, (x1, x2), {"axis": axis}, _products(x1, x2, 2))


def _outer(pick: Draw, name: str) -> Case:
    x1 = _numbers(pick, name, (pick.whole(0, 6),))
    x2 = draw(pick.rng, str(x1.host.dtype), (pick.whole(0, 6),), 0.0)
    return Case(name, (x1, x2), {}, _products(x1, x2, 1))


def _transposed(pick: Draw, name: str) -> Case:
    return Case(name, (_numbers(pick, name, draw_shape(pick.rng, 2, 4)),))


def _diagonal(pick: Draw, name: str) -> Case:
    x = _numbers(pick, name, draw_shape(pick.rng, 2, 4))
    keywords: dict[str, Any] = {"offset": pick.whole(-4, 4)} if pick.chance(0.7) else {}
    scale = 0.0
    if name == "linalg.trace":
        scale = float(np.sum(np.abs(x.host.astype(complex))))
    return Case(name, (x,), keywords, Tolerance(8, scale))


# -- norms -----------------------------------------------------------------------------


def _vector_norm(pick: Draw, name: str) -> Case:
    x = draw(
        pick.rng, pick.dtype(name, _FLOATING), draw_shape(pick.rng, zero=False), 0.0
    )
    keywords: dict[str, Any] = {"ord": pick.one(0, 1, 2, 3, 0.5, -1, np.inf, -np.inf)}
    if x.host.ndim and pick.chance(0.7):
        keywords["axis"] = draw_axis(pick.rng, x.host.ndim)
        if pick.chance(0.3):
            keywords["axis"] = tuple(range(pick.whole(1, x.host.ndim)))
    if pick.chance(0.4):
        keywords["keepdims"] = True
    return Case(name, (x,), keywords, Tolerance(64))


def _matrix_norm(pick: Draw, name: str) -> Case:
    shape = draw_shape(pick.rng, 2, 4, zero=False)
    x = draw(pick.rng, pick.dtype(name, _FLOATING), shape, 0.0)
    keywords: dict[str, Any] = {}
    if pick.chance(0.8):
        keywords["ord"] = pick.one("fro", 1, -1, np.inf, -np.inf, 2, -2, "nuc")
    if pick.chance(0.4):
        keywords["keepdims"] = True
    scale = float(np.sum(np.abs(x.host)))
    return Case(name, (x,), keywords, Tolerance(64, scale))


# -- solvers ---------------------------------------------------------------------------


def _matrices(pick: Draw, name: str, kind: str = "square") -> Operand:
    """Return well-conditioned matrices: of any shape, square, Hermitian, positive."""
    dtype = pick.dtype(name, _FLOATING)
    rows = pick.whole(1, 6)
    columns = pick.whole(1, 6) if kind == "any" else rows
    batch = draw_shape(pick.rng, 0, 2, zero=False)
    x = draw(pick.rng, dtype, (*batch, rows, columns), 0.0, packed=True).host
    x = (x / (1 + np.max(np.abs(x), initial=0))).astype(dtype)
    if kind in ("hermitian", "positive"):
        x = (x + np.conj(np.swapaxes(x, -1, -2))) / 2
    if kind in ("square", "positive"):
        x = x + (2 * rows) * np.eye(rows)
    if kind == "hermitian":
        x = x + np.diag(3.0 * np.arange(rows))
    return Operand(np.ascontiguousarray(x.astype(dtype)))


def _solver(kind: str) -> Drawer:
    """Return the generator of a function of matrices of some kind."""

    def drawer(pick: Draw, name: str) -> Case:
        x = _matrices(pick, name, kind)
        keywords: dict[str, Any] = {}
        if name == "linalg.cholesky" and pick.chance(0.5):
            keywords["upper"] = True
        if name == "linalg.svd":
            keywords["full_matrices"] = False
        if name == "linalg.qr" and pick.chance(0.4):
            keywords["mode"] = "complete"
        scale = float(np.sum(np.abs(x.host)))
        if name == "linalg.det":
            scale = float(np.max(np.abs(np.linalg.det(x.host)), initial=0)) * 8
        return Case(name, (x,), keywords, Tolerance(256, scale))

    return drawer


def _solve(pick: Draw, name: str) -> Case:
    x1 = _matrices(pick, name)
    rows = x1.host.shape[-1]
    shape: Shape = (rows,)
    if pick.chance(0.6):
        shape = (*x1.host.shape[:-2], rows, pick.whole(1, 4))
    x2 = draw(pick.rng, str(x1.host.dtype), shape, 0.0)
    scale = float(np.max(np.abs(x2.host), initial=0))
    return Case(name, (x1, x2), {}, Tolerance(256, scale))


def _matrix_power(pick: Draw, name: str) -> Case:
    x = _matrices(pick, name)
    power = pick.whole(-2, 5)
    scale = float((2 * np.max(np.abs(x.host), initial=1)) ** max(power, 1))
    return Case(name, (x, power), {}, Tolerance(256, scale))


# -- Fourier transforms ----------------------------------------------------------------

_TO_COMPLEX = {"fft.rfft", "fft.rfftn", "fft.ihfft"}


def _fourier_types(name: str) -> tuple[str, ...]:
    return FLOATS if name in _TO_COMPLEX else COMPLEX


def _length(pick: Draw, name: str, length: int) -> int:
    """Return a length to which an axis is cut off or padded."""
    low = 2 if name in ("fft.irfft", "fft.hfft", "fft.irfftn") else 1
    return max(pick.whole(1, length + 3), low)


def _transform(pick: Draw, name: str) -> Case:
    shape = draw_shape(pick.rng, 1, zero=False)
    axis = draw_axis(pick.rng, len(shape))
    x = draw(pick.rng, pick.dtype(name, _fourier_types(name)), shape, 0.0)
    keywords: dict[str, Any] = {"axis": axis}
    if pick.chance(0.5) or shape[axis] == 1:
        keywords["n"] = _length(pick, name, shape[axis])
    if pick.chance(0.6):
        keywords["norm"] = pick.one("backward", "ortho", "forward")
    return Case(name, (x,), keywords, Tolerance(32, float(np.sum(np.abs(x.host)))))


def _transform_n(pick: Draw, name: str) -> Case:
    shape = draw_shape(pick.rng, 1, zero=False)
    x = draw(pick.rng, pick.dtype(name, _fourier_types(name)), shape, 0.0)
    count = pick.whole(1, len(shape))
    axes = tuple(int(k) for k in pick.rng.choice(len(shape), count, replace=False))
    keywords: dict[str, Any] = {"axes": axes}
    if pick.chance(0.4) or shape[axes[-1]] == 1:
        keywords["s"] = tuple(_length(pick, name, shape[axis]) for axis in axes)
    if pick.chance(0.6):
        keywords["norm"] = pick.one("backward", "ortho", "forward")
    return Case(name, (x,), keywords, Tolerance(32, float(np.sum(np.abs(x.host)))))


def _frequencies(pick: Draw, name: str) -> Case:
    keywords: dict[str, Any] = {}
    if pick.chance(0.5):
        keywords["d"] = pick.one(0.5, 2.0, 0.1)
    if pick.chance(0.5):
        keywords["dtype"] = Type(pick.dtype(name, FLOATS))
    return Case(name, (pick.whole(1, 30),), keywords, Tolerance(2))


def _shift(pick: Draw, name: str) -> Case:
    shape = draw_shape(pick.rng, 1)
    x = draw(pick.rng, pick.dtype(name, _FLOATING), shape, 0.1)
    axes = (draw_axis(pick.rng, len(shape)),)
    return Case(
        name, (x,), {"axes": pick.one(axes, axes[0])} if pick.chance(0.6) else {}
    )


DRAWERS: dict[str, Drawer] = {
    "__matmul__": _matmul,
    "matmul": _matmul,
    "tensordot": _tensordot,
    "vecdot": _vecdot,
    "linalg.cholesky": _solver("positive"),
    "linalg.cross": _cross,
    "linalg.det": _solver("square"),
    "linalg.diagonal": _diagonal,
    "linalg.eig": _solver("hermitian"),
    "linalg.eigh": _solver("hermitian"),
    "linalg.eigvals": _solver("hermitian"),
    "linalg.eigvalsh": _solver("hermitian"),
    "linalg.inv": _solver("square"),
    "linalg.matmul": _matmul,
    "linalg.matrix_norm": _matrix_norm,
    "linalg.matrix_power": _matrix_power,
    "linalg.matrix_rank": _solver("any"),
    "linalg.matrix_transpose": _transposed,
    "linalg.outer": _outer,
    "linalg.pinv": _solver("square"),
    "linalg.qr": _solver("any"),
    "linalg.slogdet": _solver("square"),
    "linalg.solve": _solve,
    "linalg.svd": _solver("any"),
    "linalg.svdvals": _solver("any"),
    "linalg.tensordot": _tensordot,
    "linalg.trace": _diagonal,
    "linalg.vecdot": _vecdot,
    "linalg.vector_norm": _vector_norm,
    **dict.fromkeys(
        ("fft.fft", "fft.ifft", "fft.rfft", "fft.irfft", "fft.hfft", "fft.ihfft"),
        _transform,
    ),
    **dict.fromkeys(("fft.fftn", "fft.ifftn", "fft.rfftn", "fft.irfftn"), _transform_n),
    "fft.fftfreq": _frequencies,
    "fft.rfftfreq": _frequencies,
    "fft.fftshift": _shift,
    "fft.ifftshift": _shift,
}
