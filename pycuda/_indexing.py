"""Elements of a GPUArray by arrays of indices: reading, assigning, ``take``.

Every index becomes an array of byte offsets on the device; one kernel then gathers or
scatters. Indices are checked before: a wrong one is an IndexError, not another's
memory.
"""

import operator

import numpy as np

from pycuda import _codegen, gpuarray
from pycuda._driver import GPUArray, module_from_buffer
from pycuda.tools import context_dependent_memoize

_MOVE = """
struct element {{ {word} words[{count}]; }};
extern "C" __global__ void __launch_bounds__(256)
kernel(char *array, const long long *offsets, element *elements, unsigned long long n)
{{
    unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
    if (i < n) {{
        element *place = (element *)(array + offsets[i]);
        {move};
    }}
}}
"""


@context_dependent_memoize
def _mover(itemsize, word, scatter):
    """Return the kernel that moves elements of ``itemsize`` bytes by offsets."""
    names = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "uint2"}
    names[16] = "uint4"
    move = "*place = elements[i]" if scatter else "elements[i] = *place"
    text = _MOVE.format(word=names[word], count=itemsize // word, move=move)
    function = module_from_buffer(_codegen.compile_text(text)).get_function("kernel")
    return function.prepare("PPPQ")


def _move(array, offsets, elements, scatter, stream):
    """Copy between elements and the places of ``array`` at offsets, both packed."""
    if elements.size == 0:
        return
    itemsize = array.dtype.itemsize
    low = array.ptr | elements.ptr | itemsize | 16
    for stride in array.strides:
        low |= stride
    function = _mover(itemsize, low & -low, scatter)
    grid = (-(-elements.size // 256), 1)
    function.prepared_async_call(
        grid, (256, 1, 1), stream, array.ptr, offsets.ptr, elements.ptr, elements.size
    )


# Indices as offsets


def _as_index(item):
    """Return an index array, of integers or bool, on the device or the host."""
    if isinstance(item, GPUArray):
        result = item
    else:
        result = np.asarray(item)
        if result.size == 0 and not isinstance(item, np.ndarray):
            result = result.astype(np.intp)
    if result.dtype.kind not in "biu":
        raise IndexError(
            f"arrays used as indices must be of integer or boolean type, not "
            f"{result.dtype}"
        )
    return result


def _expand_mask(mask, shape, axis):
    """Return the index arrays that stand for a mask of the axes from ``axis`` on."""
    wanted = shape[axis : axis + mask.ndim]
    if mask.shape != wanted:
        raise IndexError(
            f"a boolean index of shape {mask.shape} does not fit axes of shape {wanted}"
        )
    host = mask.get() if isinstance(mask, GPUArray) else mask
    return [np.ascontiguousarray(places) for places in np.nonzero(host)]


def _checked(index, length, axis):
    """Return an index array on the device as int64, none of them negative."""
    if index.size and not isinstance(index, GPUArray):
        low, high = int(index.min()), int(index.max())
    elif index.size:
        low = int(gpuarray.min(index).get())
        high = int(gpuarray.max(index).get())
    else:
        low, high = 0, -1
    if low < -length or high >= length:
        worst = low if low < -length else high
        raise IndexError(
            f"index {worst} is out of bounds for axis {axis} of length {length}"
        )
    if not isinstance(index, GPUArray):
        index = np.ascontiguousarray(index, dtype=np.int64)
        return gpuarray.to_gpu(np.where(index < 0, index + length, index))
    index = index.astype(np.int64)
    return gpuarray.where(index < 0, index + length, index) if low < 0 else index


def _spread_items(array, index):
    """Return the items of an index, one for each axis, masks and Ellipsis expanded.

    Each is a slice, None, an integer or an index array.
    """
    items = list(index) if isinstance(index, tuple) else [index]
    items = [
        item
        if item is None or item is Ellipsis or isinstance(item, slice)
        else _as_index(item)
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
    items[place : place + 1] = rest
    spread, axis = [], 0
    for item in items:
        if item is None:
            spread.append(item)
        elif isinstance(item, slice):
            spread.append(item)
            axis += 1
        elif item.dtype.kind == "b":
            spread += _expand_mask(item, array.shape, axis)
            axis += item.ndim
        else:
            spread.append(item)
            axis += 1
    return spread


def _offsets_of(array, index):
    """Return (view, offsets): the elements are at these bytes from the view's first."""
    items = _spread_items(array, index)
    basic = tuple(
        item if item is None or isinstance(item, slice) else slice(None)
        for item in items
    )
    view = array[basic]
    places = [
        n
        for n, item in enumerate(items)
        if item is not None and not isinstance(item, slice)
    ]
    arrays = [_checked(items[n], view.shape[n], n) for n in places]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    together = places == list(range(places[0], places[0] + len(places)))
    others = [n for n in range(view.ndim) if n not in places]
    before = [n for n in others if together and n < places[0]]
    after = [n for n in others if n not in before]
    result_shape = (
        *(view.shape[n] for n in before),
        *shape,
        *(view.shape[n] for n in after),
    )
    offsets = gpuarray.zeros(result_shape, np.int64)
    for n, a in zip(places, arrays, strict=True):
        filler = (1,) * len(after)
        offsets += a.reshape(*a.shape, *filler) * view.strides[n]
    for position, n in [
        *enumerate(before),
        *enumerate(after, len(before) + len(shape)),
    ]:
        steps = np.arange(view.shape[n], dtype=np.int64) * view.strides[n]
        behind = (1,) * (len(result_shape) - position - 1)
        offsets += gpuarray.to_gpu(steps).reshape(-1, *behind)
    return view, offsets


def get_item(array, index):
    """Return ``array[index]``, a copy."""
    view, offsets = _offsets_of(array, index)
    result = GPUArray(offsets.shape, array.dtype, array.allocator)
    _move(view, offsets, result, False, None)
    return result


def set_item(array, index, value):
    """Do ``array[index] = value``; where an element is named twice, one value wins."""
    view, offsets = _offsets_of(array, index)
    elements = GPUArray(offsets.shape, array.dtype, array.allocator)
    elements[...] = value
    _move(view, offsets, elements, True, None)


# Flat indices


def _flat_offsets(array, indices, what):
    index = _as_index(indices)
    if index.dtype.kind == "b":
        raise IndexError(f"{what}: indices must be integers, not bool")
    return _checked(index, operator.index(array.size), 0) * array.dtype.itemsize


def take(array, indices, out, stream):
    """Return the elements at flat indices, in ``out`` if that is given."""
    offsets = _flat_offsets(array, indices, "take")
    flat = array if array.flags.c_contiguous else array.ravel()
    result = GPUArray(offsets.shape, array.dtype, array.allocator)
    _move(flat, offsets, result, False, stream)
    if out is None:
        return result
    if out.shape != result.shape or out.dtype != result.dtype:
        raise ValueError(
            f"take: the result has shape {result.shape} and dtype {result.dtype}, out "
            f"has {out.shape} and {out.dtype}"
        )
    out.set(result, stream=stream)
    return out


def put(array, indices, values, stream):
    """Put values at flat indices of a packed array."""
    if not array.flags.forc:
        raise ValueError("put: the array to put into must be contiguous")
    offsets = _flat_offsets(array, indices, "put")
    elements = GPUArray(offsets.shape, array.dtype, array.allocator)
    if values.size != elements.size:
        raise ValueError(
            f"put: {values.size} values were given for {elements.size} indices"
        )
    elements[...] = values.reshape(elements.shape)
    _move(array, offsets, elements, True, stream)
