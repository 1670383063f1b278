"""``array[index]`` with arrays of indices and masks: reading and assigning.

One kernel finds the place of each element by the indices along the axes of the result
and moves the element. Indices of the host are looked at before; those of the device are
looked at by the kernel, which leaves out an element that is not there and notes it in
page-locked memory. ``[]`` and ``take`` wait for the kernel and raise the IndexError;
``subset_sum`` and its like, ``multi_take`` and ``multi_put`` do not wait: the next
get() or the next use of indices raises it.

A mask becomes arrays of indices on the device. How many there are is read back.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import np_reshape
from pycuda._array.nonzero import nonzero
from pycuda._array.overlap import apart, may_overlap
from pycuda._array.selection import Selection, as_index, checked_on_host
from pycuda._driver import GPUArray, _apply, _array_ops, _plain_array, to_gpu


def _check_mask(mask, shape, axis):
    wanted = shape[axis : axis + mask.ndim]
    if mask.shape != wanted:
        raise IndexError(
            f"a boolean index of shape {mask.shape} does not fit axes of shape {wanted}"
        )


def _spread_items(array, index):
    """Return the items of an index: slices, None, and index arrays as (array, known).

    There is one for each axis; Ellipsis and masks are expanded. An Ellipsis of no axes
    stays: index arrays on both sides of it are not neighbours. ``known`` says that an
    array was looked at.
    """
    items = list(index) if isinstance(index, tuple) else [index]
    items = [
        item
        if item is None or item is Ellipsis or isinstance(item, slice)
        else as_index(item)
        for item in items
    ]
    taken = 0
    for item in items:
        if item is not None and item is not Ellipsis:
            is_mask = not isinstance(item, slice) and item.dtype.kind == "b"
            taken += item.ndim if is_mask else 1
    dots = [n for n, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can have one Ellipsis only")
    if taken > array.ndim:
        raise IndexError(
            f"too many indices: the array has {array.ndim} axes, {taken} were indexed"
        )
    rest = [slice(None)] * (array.ndim - taken)
    place = dots[0] if dots else len(items)
    items[place : place + 1] = rest or items[place : place + 1]
    spread, axis = [], 0
    for item in items:
        if item is None or item is Ellipsis:
            spread.append(item)
        elif isinstance(item, slice):
            spread.append(item)
            axis += 1
        elif item.dtype.kind == "b":
            _check_mask(item, array.shape, axis)
            spread.append(item)
            axis += item.ndim
        else:
            spread.append(item)
            axis += 1
    return spread


def _is_basic(item):
    return item is None or isinstance(item, slice)


def _indices_of_mask(mask):
    """Return the index arrays that stand for a mask; one without axes adds one."""
    if mask.ndim == 0:
        return [np.zeros(int(bool(mask)), np.int64)]
    if isinstance(mask, GPUArray):
        return nonzero(mask)
    return [np.ascontiguousarray(places) for places in np.nonzero(mask)]


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


def _select(array, index, outs=()):
    """Return the selection of ``array[index]``, to be read before ``outs`` change."""
    array = _plain_array(array)
    basic, found = [], []  # found: (index array, is it of a mask, axis of the view)
    cut = 0  # how many index arrays are before an Ellipsis of no axes
    for item in _spread_items(array, index):
        if item is Ellipsis:
            cut = len(found)
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
    view = array[tuple(basic)]
    shape = _common_shape(given for given, *_ in found)
    axes = [axis for *_, axis in found]
    others = [n for n in range(view.ndim) if n not in axes]
    together = cut in (0, len(found)) and (
        axes == list(range(axes[0], axes[0] + len(axes)))
    )
    before = [n for n in others if together and n < axes[0]]
    after = [n for n in others if n not in before]
    indices = []
    for given, known, axis in found:
        if not isinstance(given, GPUArray):
            given = given if known else checked_on_host(given, view.shape[axis], axis)
            given, known = to_gpu(given), True
        given = apart(given, outs, None)
        row = [0] * (len(shape) - given.ndim)
        row += [
            0 if length == 1 else stride
            for length, stride in zip(given.shape, given.strides, strict=True)
        ]
        indices.append((given, [0] * len(before) + row + [0] * len(after), axis, known))
    return Selection(
        view,
        (*(view.shape[n] for n in before), *shape, *(view.shape[n] for n in after)),
        [
            *(view.strides[n] for n in before),
            *[0] * len(shape),
            *(view.strides[n] for n in after),
        ],
        indices,
    )


def get_item(array, index):
    """Return ``array[index]``, a copy."""
    selection = _select(array, index)
    if selection.size == 0:
        selection.look(None)
    result = selection.get(None)
    selection.wait(None)
    return result


def set_item(array, index, value):
    """Do ``array[index] = value``; where an element is named twice, one value wins."""
    array = _plain_array(array)
    value = _plain_array(value) if isinstance(value, GPUArray) else np.asarray(value)
    if value.ndim == 0 and _set_by_one_mask(array, index, value):
        return
    selection = _select(array, index, (array,))
    if isinstance(value, GPUArray) and value.dtype == array.dtype:
        elements = value
    else:  # converted as assignment does
        elements = GPUArray(value.shape, array.dtype, array.allocator)
        elements[...] = value
    strides = _broadcast_strides(elements, selection.shape)
    if may_overlap(elements, array):
        elements = elements.copy()
        strides = _broadcast_strides(elements, selection.shape)
    selection.look(None)
    selection.move("put", elements, strides, None)


def _broadcast_strides(array, shape):
    """Return the strides of an array for a shape that it is broadcast to."""
    missing = len(shape) - array.ndim
    lengths = array.shape
    while missing < 0 and lengths[0] == 1:  # as assignment allows
        lengths, missing = lengths[1:], missing + 1
    strides = array.strides[array.ndim - len(lengths) :]
    if missing < 0 or any(
        length not in (1, wanted)
        for length, wanted in zip(lengths, shape[missing:], strict=True)
    ):
        raise ValueError(
            f"values of shape {array.shape} cannot be assigned to {shape} elements"
        )
    return [0] * missing + [
        0 if length == 1 else stride
        for length, stride in zip(lengths, strides, strict=True)
    ]


def _set_by_one_mask(array, index, value):
    """Assign one value where one mask is true, without counting; False if not so."""
    if array.dtype.kind not in "biufc":
        return False
    items = [item for item in _spread_items(array, index) if item is not Ellipsis]
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
        _apply(_array_ops["where"], (where, one, view), view)
    return True
