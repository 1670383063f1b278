"""Calls of functions that change shapes, join, index, search, sort and compare sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.standard.draws import Case, Draw, Drawer
from support.standard.operands import (
    ALL,
    INTEGERS,
    NUMBERS,
    REAL,
    Operand,
    Shape,
    draw,
    draw_axis,
    draw_broadcast,
    draw_shape,
)

# -- shapes ----------------------------------------------------------------------------


def _array(pick: Draw, name: str, low: int = 0, zero: bool = True) -> Operand:
    dtype = pick.dtype(name, ALL)
    return draw(pick.rng, dtype, draw_shape(pick.rng, low, zero=zero))


def _other_shape(pick: Draw, shape: Shape) -> Shape:
    """Return another shape of as many elements; one length may be -1."""
    size = int(np.prod(shape))
    shapes: list[Shape] = [(size,), shape[::-1], (*shape, 1), (1, *shape)]
    if len(shape) > 1:
        shapes.append((shape[0] * shape[1], *shape[2:]))
    if size:
        shapes += [(-1,), (-1, *shape[1:]) if shape else (1, -1)]
        shapes += [(size // 2, 2)] if size % 2 == 0 else []
    return pick.one(*shapes)


def _reshape(pick: Draw, name: str) -> Case:
    x = _array(pick, name)
    keywords = {"copy": pick.one(True, None)} if pick.chance(0.4) else {}
    return Case(name, (x, _other_shape(pick, x.host.shape)), keywords)


def _one_array(low: int = 0) -> Drawer:
    """Return the generator of a function of one array."""

    def drawer(pick: Draw, name: str) -> Case:
        return Case(name, (_array(pick, name, low),))

    return drawer


def _flip(pick: Draw, name: str) -> Case:
    x = _array(pick, name)
    keywords: dict[str, Any] = {}
    ndim = x.host.ndim
    if ndim and pick.chance(0.7):
        keywords["axis"] = draw_axis(pick.rng, ndim)
        if pick.chance(0.3):
            keywords["axis"] = tuple(range(pick.whole(1, ndim)))
    return Case(name, (x,), keywords)


def _roll(pick: Draw, name: str) -> Case:
    x = _array(pick, name)
    ndim = x.host.ndim
    if not ndim or pick.chance(0.3):
        return Case(name, (x, pick.whole(-9, 9)))
    if pick.chance(0.4):
        axes = tuple(range(pick.whole(1, ndim)))
        shift = tuple(pick.whole(-9, 9) for _ in axes)
        return Case(name, (x, pick.one(shift, shift[0])), {"axis": axes})
    return Case(name, (x, pick.whole(-9, 9)), {"axis": draw_axis(pick.rng, ndim)})


def _expand_dims(pick: Draw, name: str) -> Case:
    x = _array(pick, name)
    return Case(name, (x, draw_axis(pick.rng, x.host.ndim + 1)))


def _squeeze(pick: Draw, name: str) -> Case:
    shape = [*draw_shape(pick.rng, 1)]
    axes = tuple(k for k in range(len(shape)) if pick.chance(0.5))
    for axis in axes:
        shape[axis] = 1
    x = draw(pick.rng, pick.dtype(name, ALL), tuple(shape))
    chosen = tuple(pick.one(axis, axis - len(shape)) for axis in axes)
    return Case(name, (x, chosen[0] if len(chosen) == 1 else chosen))


def _permutation(pick: Draw, ndim: int) -> tuple[int, ...]:
    return tuple(int(k) for k in pick.rng.permutation(ndim))


def _permute_dims(pick: Draw, name: str) -> Case:
    x = _array(pick, name)
    return Case(name, (x, _permutation(pick, x.host.ndim)))


def _moveaxis(pick: Draw, name: str) -> Case:
    x = _array(pick, name, 1)
    ndim = x.host.ndim
    if pick.chance(0.5):
        return Case(name, (x, draw_axis(pick.rng, ndim), draw_axis(pick.rng, ndim)))
    count = pick.whole(1, ndim)
    source = _permutation(pick, ndim)[:count]
    return Case(name, (x, source, _permutation(pick, ndim)[:count]))


def _broadcast_to(pick: Draw, name: str) -> Case:
    shape = draw_shape(pick.rng)
    x = draw(pick.rng, pick.dtype(name, ALL), draw_broadcast(pick.rng, shape))
    return Case(name, (x, shape))


def _broadcast_arrays(pick: Draw, name: str) -> Case:
    shape = draw_shape(pick.rng)
    dtype = pick.dtype(name, ALL)
    arrays = [
        draw(pick.rng, dtype, draw_broadcast(pick.rng, shape))
        for _ in range(pick.whole(1, 3))
    ]
    return Case(name, tuple(arrays))


def _broadcast_shapes(pick: Draw, name: str) -> Case:
    shape = draw_shape(pick.rng)
    count = pick.whole(1, 3)
    return Case(name, tuple(draw_broadcast(pick.rng, shape) for _ in range(count)))


def _concat(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, ALL)
    shape = draw_shape(pick.rng, 1)
    axis = draw_axis(pick.rng, len(shape))
    if pick.chance(0.15):
        shapes = [draw_shape(pick.rng) for _ in range(pick.whole(1, 3))]
        return Case(
            name, ([draw(pick.rng, dtype, one) for one in shapes],), {"axis": None}
        )
    arrays = []
    for _ in range(pick.whole(1, 4)):
        own = [*shape]
        own[axis] = pick.whole(0, 4)
        arrays.append(draw(pick.rng, dtype, tuple(own)))
    return Case(name, (pick.one(arrays, tuple(arrays)),), {"axis": axis})


def _stack(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, ALL)
    shape = draw_shape(pick.rng)
    arrays = [draw(pick.rng, dtype, shape) for _ in range(pick.whole(1, 4))]
    return Case(name, (arrays,), {"axis": draw_axis(pick.rng, len(shape) + 1)})


def _unstack(pick: Draw, name: str) -> Case:
    x = _array(pick, name, 1)
    return Case(name, (x,), {"axis": draw_axis(pick.rng, x.host.ndim)})


def _repeat(pick: Draw, name: str) -> Case:
    x = _array(pick, name)
    ndim = x.host.ndim
    keywords: dict[str, Any] = {}
    length = x.host.size
    if ndim and pick.chance(0.7):
        keywords["axis"] = draw_axis(pick.rng, ndim)
        length = x.host.shape[keywords["axis"]]
    if pick.chance(0.5):
        return Case(name, (x, pick.whole(0, 4)), keywords)
    counts = Operand(pick.rng.integers(0, 4, length).astype("int64"))
    return Case(name, (x, counts), keywords)


def _tile(pick: Draw, name: str) -> Case:
    x = _array(pick, name)
    count = pick.whole(0, 4)
    return Case(name, (x, tuple(pick.whole(0, 3) for _ in range(count))))


# -- indexing --------------------------------------------------------------------------


def _take(pick: Draw, name: str) -> Case:
    x = _array(pick, name, 1, zero=False)
    axis = draw_axis(pick.rng, x.host.ndim)
    length = x.host.shape[axis]
    dtype = pick.one("int64", "int32", "uint8")
    low = 0 if dtype == "uint8" else -length
    indices = pick.rng.integers(low, length, pick.whole(0, 6)).astype(dtype)
    keywords = {"axis": axis} if x.host.ndim > 1 or pick.chance(0.5) else {}
    return Case(name, (x, Operand(indices)), keywords)


def _take_along_axis(pick: Draw, name: str) -> Case:
    x = _array(pick, name, 1, zero=False)
    axis = draw_axis(pick.rng, x.host.ndim)
    shape = [*x.host.shape]
    length = shape[axis]
    shape[axis] = pick.whole(0, 5)
    indices = pick.rng.integers(-length, length, shape)
    return Case(name, (x, Operand(indices)), {"axis": axis})


def _basic_key(pick: Draw, shape: Shape) -> tuple[Any, ...]:
    """Return integers and slices for all axes, or for some and an Ellipsis."""
    items: list[Any] = []
    for length in shape:
        if length and pick.chance(0.3):
            items.append(pick.whole(-length, length - 1))
            continue
        start = pick.one(None, pick.whole(0, length))
        stop = pick.one(None, pick.whole(0, length))
        step = pick.one(None, 1, 2)
        if pick.chance(0.2):
            start, stop, step = None, None, pick.one(-1, -2)
        items.append(slice(start, stop, step))
    if pick.chance(0.3):
        items[pick.whole(0, len(items)) :] = [Ellipsis]
    return tuple(items)


def _key(pick: Draw, shape: Shape, reading: bool) -> Any:
    if shape and pick.chance(0.25):
        return draw(pick.rng, "bool", shape[: pick.whole(1, len(shape))])
    if reading and shape and 0 not in shape and pick.chance(0.25):
        wide = draw_shape(pick.rng, 1, 2, zero=False)
        return tuple(
            Operand(pick.rng.integers(-n, n, draw_broadcast(pick.rng, wide)))
            if k == 0 or pick.chance(0.6)
            else pick.whole(-n, n - 1)
            for k, n in enumerate(shape)
        )
    items = [*_basic_key(pick, shape)]
    if reading and pick.chance(0.2):
        items.insert(pick.whole(0, len(items)), None)
    return items[0] if len(items) == 1 and pick.chance(0.5) else tuple(items)


def _getitem(pick: Draw, name: str) -> Case:
    x = _array(pick, name)
    return Case(f"array.{name}", (x, _key(pick, x.host.shape, True)))


def _setitem(pick: Draw, name: str) -> Case:
    x = _array(pick, name)
    key = _key(pick, x.host.shape, False)
    index = key.host if isinstance(key, Operand) else key
    part = x.host[index].shape
    dtype = str(x.host.dtype)
    value: Any = draw(pick.rng, dtype, () if pick.chance(0.4) else part)
    if pick.chance(0.3):
        value = pick.chance(0.5) if dtype == "bool" else pick.whole(0, 7)
    return Case(f"array.{name}", (x, key, value))


def _scalar(pick: Draw, name: str) -> Case:
    kinds = {"__index__": INTEGERS, "__complex__": NUMBERS, "__bool__": ALL}
    x = draw(pick.rng, pick.dtype(name, kinds.get(name, REAL)), (), 0.0)
    return Case(f"array.{name}", (x,))


def _attribute(pick: Draw, name: str) -> Case:
    shape = draw_shape(pick.rng, 2, 2 if name == "T" else 4)
    return Case(f"array.{name}", (draw(pick.rng, pick.dtype(name, ALL), shape),))


# -- searching, sorting, sets ----------------------------------------------------------


def _sort(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, REAL)
    descending = pick.chance(0.4)
    # The places of NaN in descending order, and of zeros with different signs, are the
    # implementation's choice.
    special = 0.15 if "int" in dtype else 0.0
    x = draw(pick.rng, dtype, draw_shape(pick.rng, 1), special)
    if "float" in dtype and pick.chance(0.5):
        x = Operand(np.round(x.base) + np.asarray(0, dtype), x.layout)
        if not descending and pick.chance(0.5):
            chosen = pick.rng.random(x.base.shape) < 0.1
            values = pick.rng.choice([np.nan, np.inf, -np.inf], x.base.shape)
            x = Operand(np.where(chosen, values, x.base).astype(dtype), x.layout)
    keywords: dict[str, Any] = {"axis": draw_axis(pick.rng, x.host.ndim)}
    if descending:
        keywords["descending"] = True
    if name == "sort" and pick.chance(0.3):
        keywords["stable"] = False
    return Case(name, (x,), keywords)


def _searchsorted(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, REAL)
    values = draw(pick.rng, dtype, (pick.whole(1, 12),), 0.0, packed=True).host
    if "float" in dtype:
        values = np.round(values)
    x2: Any = draw(pick.rng, dtype, draw_shape(pick.rng), 0.0)
    if pick.chance(0.2):
        x2 = pick.whole(0, 9)
    keywords: dict[str, Any] = {"side": pick.one("left", "right")}
    if pick.chance(0.3):
        keywords["sorter"] = Operand(np.argsort(values, kind="stable"))
        return Case(name, (Operand(values), x2), keywords)
    return Case(name, (Operand(np.sort(values)), x2), keywords)


def _repeated(pick: Draw, dtype: str, low: int = 0) -> Operand:
    """Return an array in which elements occur several times."""
    x = draw(pick.rng, dtype, draw_shape(pick.rng, low), 0.0)
    if np.dtype(dtype).kind in "fc":
        values = np.round(x.base.real / 4) + 0.0
        if np.dtype(dtype).kind == "f" and pick.chance(0.3):
            values = np.where(pick.rng.random(values.shape) < 0.1, np.nan, values)
        return Operand(values.astype(dtype), x.layout)
    return x


def _unique(pick: Draw, name: str) -> Case:
    return Case(name, (_repeated(pick, pick.dtype(name, ("bool", *REAL))),))


def _isin(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, INTEGERS)
    x1: Any = _repeated(pick, dtype)
    x2: Any = _repeated(pick, dtype)
    if pick.chance(0.2):
        x2 = pick.whole(0, 9)
    elif pick.chance(0.1):
        x1 = pick.whole(0, 9)
    return Case(name, (x1, x2))


def _nonzero(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, ALL)
    x = _repeated(pick, dtype, 1)
    return Case(name, (x,))


DRAWERS: dict[str, Drawer] = {
    "argsort": _sort,
    "broadcast_arrays": _broadcast_arrays,
    "broadcast_shapes": _broadcast_shapes,
    "broadcast_to": _broadcast_to,
    "concat": _concat,
    "expand_dims": _expand_dims,
    "flip": _flip,
    "isin": _isin,
    "matrix_transpose": _one_array(2),
    "moveaxis": _moveaxis,
    "nonzero": _nonzero,
    "permute_dims": _permute_dims,
    "repeat": _repeat,
    "reshape": _reshape,
    "roll": _roll,
    "searchsorted": _searchsorted,
    "sort": _sort,
    "squeeze": _squeeze,
    "stack": _stack,
    "take": _take,
    "take_along_axis": _take_along_axis,
    "tile": _tile,
    "unique_all": _unique,
    "unique_counts": _unique,
    "unique_inverse": _unique,
    "unique_values": _unique,
    "unstack": _unstack,
    "T": _attribute,
    "mT": _attribute,
    "__bool__": _scalar,
    "__complex__": _scalar,
    "__float__": _scalar,
    "__getitem__": _getitem,
    "__index__": _scalar,
    "__int__": _scalar,
    "__setitem__": _setitem,
}
