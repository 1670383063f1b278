"""``array[index]`` with index arrays and masks: reading and assigning.

``[]`` and ``take`` wait for the kernel and raise IndexError for a wrong index.
``subset_sum`` and its kin, ``multi_take`` and ``multi_put`` do not wait: the next get()
or the next use of indices raises the error.

A mask is turned into index arrays on the device. Their length is read back.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import np_reshape
from pycuda._array.layout import broadcast_row
from pycuda._array.nonzero import nonzero
from pycuda._array.overlap import apart, may_overlap
from pycuda._array.selection import Selection, as_index, checked_on_host
from pycuda._driver import GPUArray, _array_ops, _elementwise, _plain_array, to_gpu

# -- the items of an index -------------------------------------------------------------


def _is_basic(item):
    return item is None or isinstance(item, slice)


def _axes_of(item):
    """Return the number of the array's axes that an item of an index uses."""
    if item is None or item is Ellipsis:
        return 0
    if not isinstance(item, slice) and item.dtype.kind == "b":
        return item.ndim
    return 1


def _expand_ellipsis(items, ndim):
    """Replace the Ellipsis by slices, so that each axis has its item.

    An Ellipsis that has no axes is kept: it separates the index arrays before it from
    those after it.
    """
    places = [n for n, item in enumerate(items) if item is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can have one Ellipsis only")
    used = sum(map(_axes_of, items))
    if used > ndim:
        raise IndexError(
            f"too many indices: the array has {ndim} axes, {used} were indexed"
        )
    if used < ndim:
        place = places[0] if places else len(items)
        items[place : place + 1] = [slice(None)] * (ndim - used)


def _check_masks(items, shape):
    """Raise IndexError unless each mask has the shape of its axes."""
    axis = 0
    for item in items:
        axes = _axes_of(item)
        if not _is_basic(item) and item is not Ellipsis and item.dtype.kind == "b":
            wanted = shape[axis : axis + axes]
            if item.shape != wanted:
                raise IndexError(
                    f"a boolean index of shape {item.shape} does not fit axes of shape "
                    f"{wanted}"
                )
        axis += axes


def _items_of(array, index):
    """Return the items of an index: slices, None, index arrays and masks.

    Together the items index all axes of the array. See _expand_ellipsis for Ellipsis.
    """
    items = list(index) if isinstance(index, tuple) else [index]
    for n, item in enumerate(items):
        if not _is_basic(item) and item is not Ellipsis:
            items[n] = as_index(item)
    _expand_ellipsis(items, array.ndim)
    _check_masks(items, array.shape)
    return items


# -- from an index to a selection ------------------------------------------------------


def _indices_of_mask(mask):
    """Return the index arrays of a mask, one for each axis.

    A mask without axes has one index array: it adds an axis of length 0 or 1.
    """
    if mask.ndim == 0:
        return [np.zeros(int(bool(mask)), np.int64)]
    if isinstance(mask, GPUArray):
        return nonzero(mask)
    return [np.ascontiguousarray(places) for places in np.nonzero(mask)]


def _separate(items):
    """Return (basic index, index arrays, whether an Ellipsis separates them).

    The basic index makes a view in which each index array indexes an axis of its own.
    For each index array there is (array, whether it is checked, axis of the view).
    """
    basic, found = [], []
    before = 0  # index arrays before an Ellipsis that has no axes
    for item in items:
        if item is Ellipsis:
            before = len(found)
        elif _is_basic(item):
            basic.append(item)
        elif item.dtype.kind == "b":
            whole = None if item.ndim == 0 else slice(None)
            for places in _indices_of_mask(item):
                found.append((places, True, len(basic)))
                basic.append(whole)
        else:
            found.append((item, False, len(basic)))
            basic.append(slice(None))
    return tuple(basic), found, 0 < before < len(found)


def _common_shape(indices):
    """Return the shape to which index arrays are broadcast."""
    shapes = [index.shape for index in indices]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        shapes = ", ".join(map(str, shapes))
        raise IndexError(
            f"index arrays of shapes {shapes} cannot be broadcast together"
        ) from None


def _other_axes(ndim, axes, are_separated):
    """Return the axes without index array that come before and after the others.

    The axes of neighbouring index arrays replace the axes that they index. The axes of
    other index arrays come first in the result.
    """
    others = [n for n in range(ndim) if n not in axes]
    first = axes[0]
    if are_separated or axes != list(range(first, first + len(axes))):
        return [], others
    return [n for n in others if n < first], [n for n in others if n > first]


def _on_device(index, checked, length, axis, outs):
    """Return (index array on the device, whether it is checked)."""
    if isinstance(index, GPUArray):
        return apart(index, outs, None), checked
    if not checked:
        index = checked_on_host(index, length, axis)
    return to_gpu(index), True


def _select(array, index, outs=()):
    """Return the selection of ``array[index]``, to be read before ``outs`` change."""
    array = _plain_array(array)
    basic, found, are_separated = _separate(_items_of(array, index))
    view = array[basic]
    shape = _common_shape(given for given, *_ in found)
    axes = [axis for *_, axis in found]
    before, after = _other_axes(view.ndim, axes, are_separated)
    indices = []
    for given, checked, axis in found:
        given, checked = _on_device(given, checked, view.shape[axis], axis, outs)
        row = broadcast_row(given, len(shape))
        indices.append(
            (given, [0] * len(before) + row + [0] * len(after), axis, checked)
        )
    lengths, strides = view.shape, view.strides
    return Selection(
        view,
        (*(lengths[n] for n in before), *shape, *(lengths[n] for n in after)),
        [
            *(strides[n] for n in before),
            *[0] * len(shape),
            *(strides[n] for n in after),
        ],
        indices,
    )


# -- reading and assigning -------------------------------------------------------------


def get_item(array, index):
    """Return ``array[index]``, a copy."""
    selection = _select(array, index)
    if selection.size == 0:
        selection.check(None)
    result = selection.get(None)
    selection.wait(None)
    return result


def set_item(array, index, value):
    """Do ``array[index] = value``. An element that is indexed twice gets one value."""
    array = _plain_array(array)
    value = _plain_array(value) if isinstance(value, GPUArray) else np.asarray(value)
    if value.ndim == 0 and _set_by_one_mask(array, index, value):
        return
    selection = _select(array, index, (array,))
    if isinstance(value, GPUArray) and value.dtype == array.dtype:
        elements = value
    else:  # convert as an assignment does
        elements = GPUArray(value.shape, array.dtype, array.allocator)
        elements[...] = value
    strides = _broadcast_strides(elements, selection.shape)
    if may_overlap(elements, array):
        elements = elements.copy()
        strides = _broadcast_strides(elements, selection.shape)
    selection.check(None)
    selection.move("put", elements, strides, None)


def _broadcast_strides(array, shape):
    """Return the strides of an array that is broadcast to a shape."""
    missing = len(shape) - array.ndim
    lengths = array.shape
    while missing < 0 and lengths[0] == 1:  # NumPy's assignment drops such axes
        lengths, missing = lengths[1:], missing + 1
    strides = array.strides[array.ndim - len(lengths) :]
    if missing < 0 or any(
        length not in (1, wanted)
        for length, wanted in zip(lengths, shape[missing:], strict=True)
    ):
        raise ValueError(
            f"values of shape {array.shape} cannot be assigned to {shape} elements"
        )
    row = [0] * missing
    for length, stride in zip(lengths, strides, strict=True):
        row.append(0 if length == 1 else stride)
    return row


def _set_by_one_mask(array, index, value):
    """Fast path for ``x[mask] = scalar``. Return False if the index is no single mask.

    The number of true elements need not be read back.
    """
    if array.dtype.kind not in "biufc":
        return False
    items = [item for item in _items_of(array, index) if item is not Ellipsis]
    masks = [item for item in items if not _is_basic(item)]
    if len(masks) != 1 or masks[0].dtype.kind != "b" or masks[0].ndim == 0:
        return False
    mask = masks[0]
    basic, behind = [], 0
    for item in items:
        if item is mask:
            basic += [slice(None)] * mask.ndim
            behind = 0
        else:
            basic.append(item)
            behind += 1
    view = array[tuple(basic)]
    if not isinstance(mask, GPUArray):
        mask = to_gpu(mask)
    one = GPUArray((), array.dtype, array.allocator)
    one[...] = value
    if view.size:
        where = np_reshape(mask, (*mask.shape, *(1,) * behind))
        _elementwise(_array_ops["where"], (where, one, view), view)
    return True
