"""Elements of a GPUArray by arrays of indices and masks: reading, assigning, ``take``.

One kernel finds the place of each element by the indices along the axes of the result
and moves the element. Indices of the host are looked at before; those of the device are
looked at by the kernel, which leaves out an element that is not there and notes it in
page-locked memory. ``[]`` and ``take`` wait for the kernel and raise the IndexError;
``subset_sum`` and its like, ``multi_take`` and ``multi_put`` do not wait: the next
get() or the next use of indices raises it.

A mask becomes arrays of indices on the device. How many there are is read back.
"""

import ctypes
import operator

import numpy as np

import pycuda.driver as drv
from pycuda import _codegen, gpuarray
from pycuda._driver import (
    GPUArray,
    _apply,
    _array_ops,
    _call_after_get,
    _check_arrays,
    _plain_array,
    _wait_unless_captured,
    _working_context,
    module_from_buffer,
)
from pycuda.tools import context_dependent_memoize, dtype_to_ctype

# -- indices that are not there --------------------------------------------------------


class _Report:
    """Page-locked memory in which kernels of a context note a wrong index.

    The numbers are: 2 once the others are there, the index, its axis, the axis' length.
    """

    def __init__(self):
        array = drv.pagelocked_zeros(
            4, np.int64, mem_flags=drv.host_alloc_flags.DEVICEMAP
        )
        # The report and its context form a cycle. The collector sees the allocation in
        # it, but would not see it through an array.
        self._memory = array.base
        self._numbers = (ctypes.c_longlong * 4).from_address(array.ctypes.data)
        self.pointer = self._memory.get_device_pointer()

    def check(self):
        """Raise IndexError for a wrong index that was noted, and forget it."""
        if self._numbers[0] != 2:
            return
        _, index, axis, length = self._numbers
        self._numbers[0] = 0
        _raise_index_error(index, axis, length)


_ATTRIBUTE = "_report_of_indices"


def _report():
    """Return the report of the current context, which is an attribute of it."""
    context = _working_context()
    report = getattr(context, _ATTRIBUTE, None)
    if report is None:
        report = _Report()
        setattr(context, _ATTRIBUTE, report)
    return report


def _raise_index_error(index, axis, length):
    raise IndexError(
        f"index {index} is out of bounds for axis {axis} of length {length}"
    )


def _check_report():
    report = getattr(_working_context(), _ATTRIBUTE, None)
    if report is not None:
        report.check()


# -- the kernel ------------------------------------------------------------------------

_HEAD = """
struct element { WORD words[COUNT]; };

__device__ void
note(long long *report, long long index, long long axis, long long length)
{
    unsigned long long *state = (unsigned long long *)report;
    if (atomicCAS(state, 0ull, 1ull) == 0ull) {
        report[1] = index;
        report[2] = axis;
        report[3] = length;
        __threadfence_system();
        *(volatile unsigned long long *)state = 2ull;
    }
}
"""

#: What the kernel does with the place of an element: read it, write it, or nothing.
_MOVES = {"get": "elements[0] = *place", "put": "*place = elements[0]", "look": ""}


@context_dependent_memoize
def _mover(itemsize, word, what, ndim, index_types):
    """Return the kernel for a result of ``ndim`` axes and indices of these C types."""
    names = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "uint2"}
    names[16] = "uint4"
    head = _HEAD.replace("WORD", names[word]).replace("COUNT", str(itemsize // word))
    many = range(len(index_types))
    operands = ["a", "e", *(f"x{k}" for k in many)]
    parameters = ["char *array", "char *moved", "long long *report"]
    parameters += ["unsigned long long n"]
    parameters += [f"const {kind} *indices{k}" for k, kind in enumerate(index_types)]
    parameters += [f"unsigned long long d{axis}" for axis in range(ndim)]
    parameters += [f"long long s_{o}{axis}" for o in operands for axis in range(ndim)]
    for k in many:
        parameters += [f"long long {name}{k}" for name in ("length", "stride", "axis")]
    lines = [
        "unsigned long long rest = blockIdx.x * 256ull + threadIdx.x;",
        "if (rest >= n) return;",
        *(f"long long {o} = 0;" for o in operands),
    ]
    for axis in range(ndim - 1, -1, -1):
        lines.append(f"{{ long long at = rest % d{axis}; rest /= d{axis};")
        lines += [f"{o} += at * s_{o}{axis};" for o in operands]
        lines.append("}")
    for k, kind in enumerate(index_types):
        lines += [
            f"const char *at{k} = (const char *)indices{k} + x{k};",
            f"const {kind} given{k} = *(const {kind} *)at{k};",
            f"long long i{k} = given{k};",
            f"if (given{k} < 0) i{k} += length{k};"
            if not kind.startswith("unsigned")
            else f"if (i{k} < 0) i{k} = length{k};",
            f"if (i{k} < 0 || i{k} >= length{k}) {{",
            f"note(report, given{k}, axis{k}, length{k}); return; }}",
            f"a += i{k} * stride{k};",
        ]
    lines += [
        "element *place = (element *)(array + a);",
        "element *elements = (element *)(moved + e);",
        f"{_MOVES[what]};",
    ]
    text = "\n".join(
        [
            head,
            'extern "C" __global__ void __launch_bounds__(256)',
            f"kernel({', '.join(parameters)})",
            "{",
            *lines,
            "}",
        ]
    )
    function = module_from_buffer(_codegen.compile_text(text)).get_function("kernel")
    numbers = ndim * (len(operands)) + 3 * len(index_types)
    return function.prepare(
        "PPPQ" + "P" * len(index_types) + "Q" * ndim + "q" * numbers
    )


def _joined(shape, strides):
    """Return shape and rows of strides, neighbouring axes joined where possible."""
    lengths, columns = [], []
    for length, *column in zip(shape, *strides, strict=True):
        if length == 1:
            continue
        if lengths and all(
            outer == inner * length
            for outer, inner in zip(columns[-1], column, strict=True)
        ):
            lengths[-1] *= length
            columns[-1] = column
        else:
            lengths.append(length)
            columns.append(column)
    rows = zip(*columns, strict=True) if columns else [()] * len(strides)
    return lengths, [list(row) for row in rows]


class _Selection:
    """The elements of ``view`` that arrays of indices name, in the shape of a result.

    ``indices`` has for each array of indices (array, its strides along the result's
    axes, the axis of the view that it is for, whether it is known to be right).
    """

    def __init__(self, view, shape, strides, indices):
        self.view, self.shape, self.strides = view, shape, strides
        self.indices = indices
        self.size = int(np.prod(shape, dtype=object))
        self.is_known = all(known for *_, known in indices)

    def move(self, what, elements, strides, stream):
        """Queue the kernel. ``strides`` are those of the elements."""
        view = self.view
        if self.size == 0:
            return
        if 0 in view.shape:  # so none of the indices is there
            self._look_on_host()
        arrays = [array for array, *_ in self.indices]
        _check_arrays(view, *arrays, *(() if elements is None else (elements,)))
        shape, rows = _joined(
            self.shape, [self.strides, strides, *(row for _, row, *_ in self.indices)]
        )
        moved = 0 if elements is None else elements.ptr
        low = view.ptr | moved | view.dtype.itemsize | 16
        for stride in (*view.strides, *strides):
            low |= stride
        kernel = _mover(
            view.dtype.itemsize,
            low & -low,
            what,
            len(shape),
            tuple(dtype_to_ctype(array.dtype) for array in arrays),
        )
        bounds = [
            number
            for _, _, axis, _ in self.indices
            for number in (view.shape[axis], view.strides[axis], axis)
        ]
        kernel.prepared_async_call(
            (-(-self.size // 256), 1),
            (256, 1, 1),
            stream,
            view.ptr,
            moved,
            _report().pointer,
            self.size,
            *(array.ptr for array in arrays),
            *shape,
            *(number for row in rows for number in row),
            *bounds,
        )

    def get(self, stream, out=None):
        """Return the elements, in ``out`` or a new array, without waiting."""
        if out is None:
            out = GPUArray(self.shape, self.view.dtype, self.view.allocator)
            out._counts_as = self.view._counts_as
        self.move("get", out, out.strides, stream)
        return out

    def look(self, stream):
        """Raise IndexError for a wrong index; waits for the device if it must."""
        if self.is_known:
            return
        if self.size == 0:
            self._look_on_host()
            return
        self.move("look", None, (0,) * len(self.shape), stream)
        self.wait(stream)

    def wait(self, stream):
        """Wait for the kernel and raise what it noted."""
        if not self.is_known and not expect_report(stream):
            _check_report()

    def _look_on_host(self):
        for array, _, axis, known in self.indices:
            if not known and array.size:
                _checked_on_host(array.get(), self.view.shape[axis], axis)


def expect_report(stream, wait=True):
    """See to it that a wrong index is told of: False if it can be seen now."""
    if wait and _wait_unless_captured(stream):
        return False
    _call_after_get(_check_report)
    return True


# -- from an index to a selection ------------------------------------------------------


def _as_index(item):
    """Return an index array, of integers or bool, on the device or the host."""
    if isinstance(item, GPUArray):
        result = _plain_array(item)
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


def _check_mask(mask, shape, axis):
    wanted = shape[axis : axis + mask.ndim]
    if mask.shape != wanted:
        raise IndexError(
            f"a boolean index of shape {mask.shape} does not fit axes of shape {wanted}"
        )


def _checked_on_host(index, length, axis):
    """Return a host array of indices as int64, none of them negative."""
    if index.size:
        low, high = int(index.min()), int(index.max())
        if low < -length or high >= length:
            _raise_index_error(low if low < -length else high, axis, length)
    index = np.ascontiguousarray(index, dtype=np.int64).reshape(index.shape)
    return np.where(index < 0, index + length, index)


@context_dependent_memoize
def _lister(ndim):
    """Return the kernel that lists the indices of the true elements of a mask."""
    from pycuda.elementwise import ElementwiseKernel

    axes = range(ndim)
    arguments = ["bool *mask", "long *count", *(f"long *at{k}" for k in axes)]
    arguments += [f"long d{k}" for k in axes]
    lines = ["if (mask[i]) {", "long place = count[i] - 1; size_t rest = i;"]
    for k in range(ndim - 1, 0, -1):
        lines.append(f"at{k}[place] = rest % d{k}; rest /= d{k};")
    lines += ["at0[place] = rest;", "}"]
    return ElementwiseKernel(", ".join(arguments), "\n".join(lines), "list_true")


def nonzero(mask, stream=None):
    """Return the indices of the true elements of a mask with axes, one array an axis.

    Their number is read back.
    """
    mask = _plain_array(mask)
    shape = mask.shape
    packed = gpuarray._in_c_order(mask, stream)
    if packed.size == 0:
        return [GPUArray(0, np.int64, mask.allocator) for _ in shape]
    count = packed.reshape(packed.size).astype(np.int64, stream)
    gpuarray._scan_kernel(count.dtype, "a + b")(count, stream=stream)
    found = int(count[-1].get(stream=stream))
    places = [GPUArray(found, np.int64, mask.allocator) for _ in shape]
    if found:
        kernel = _lister(mask.ndim)
        kernel(packed.reshape(packed.size), count, *places, *shape, stream=stream)
    return places


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


def apart(array, outs, stream):
    """Return an array, or a copy of it if its memory is also that of an output."""
    if isinstance(array, GPUArray):
        plain = _plain_array(array)
        if any(
            out is not None and _may_overlap(plain, _plain_array(out)) for out in outs
        ):
            return gpuarray._c_copy(plain, stream=stream)
    return array


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
            given = given if known else _checked_on_host(given, view.shape[axis], axis)
            given, known = gpuarray.to_gpu(given), True
        given = apart(given, outs, None)
        row = [0] * (len(shape) - given.ndim)
        row += [
            0 if length == 1 else stride
            for length, stride in zip(given.shape, given.strides, strict=True)
        ]
        indices.append((given, [0] * len(before) + row + [0] * len(after), axis, known))
    return _Selection(
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
    if _may_overlap(elements, array):
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


def _may_overlap(one, other):
    if one.size == 0 or other.size == 0:
        return False
    (low, high), (begin, end) = _extent(one), _extent(other)
    return low < end and begin < high


def _extent(array):
    reaches = [
        (length - 1) * stride
        for length, stride in zip(array.shape, array.strides, strict=True)
    ]
    low = array.ptr + sum(reach for reach in reaches if reach < 0)
    high = array.ptr + sum(reach for reach in reaches if reach > 0)
    return low, high + array.dtype.itemsize


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
        mask = gpuarray.to_gpu(mask)
    one = GPUArray((), array.dtype, array.allocator)
    one[...] = value
    if view.size:
        where = gpuarray._np_reshape(mask, (*mask.shape, *(1,) * behind))
        _apply(_array_ops["where"], (where, one, view), view)
    return True


# -- flat indices ----------------------------------------------------------------------


def _flat(array, indices, what, stream):
    """Return the selection of the elements at flat indices.

    An array with gaps is packed by the stream.
    """
    index = _as_index(indices)
    if index.dtype.kind == "b":
        raise IndexError(f"{what}: indices must be integers, not bool")
    array = _plain_array(array)
    length = operator.index(array.size)
    flat = array if array.flags.forc else gpuarray._c_copy(array, stream=stream)
    known = not isinstance(index, GPUArray)
    if known:
        index = gpuarray.to_gpu(_checked_on_host(index, length, 0))
    return _Selection(
        flat.reshape(length),
        index.shape,
        [0] * index.ndim,
        [(index, list(index.strides), 0, known)],
    )


def take(array, indices, out, stream, wait=True):
    """Return the elements at flat indices, in ``out`` if that is given."""
    given, out = out, _plain_array(out)
    selection = _flat(array, apart(indices, (out,), stream), "take", stream)
    if out is not None and (out.shape != selection.shape or out.dtype != array.dtype):
        raise ValueError(
            f"take: the result has shape {selection.shape} and dtype {array.dtype}, "
            f"out has {out.shape} and {out.dtype}"
        )
    overlaps = out is not None and _may_overlap(out, _plain_array(array))
    target = None if overlaps else out
    result = selection.get(stream, target)
    if wait:
        selection.wait(stream)
    elif not selection.is_known:
        expect_report(stream, wait=False)
    if out is None:
        return result
    if result is not out:
        out.set(result, stream=stream)
    return given


def put(array, indices, values, stream):
    """Put values at flat indices of a packed array, without waiting."""
    array, values = _plain_array(array), _plain_array(values)
    if not array.flags.forc:
        raise ValueError("put: the array to put into must be contiguous")
    selection = _flat(array, apart(indices, (array,), stream), "put", stream)
    if values.size != selection.size:
        raise ValueError(
            f"put: {values.size} values were given for {selection.size} indices"
        )
    elements = values
    if values.dtype != array.dtype or _may_overlap(values, array):
        elements = GPUArray(values.shape, array.dtype, array.allocator)
        _apply(_array_ops["copy"], (values,), elements, None, stream)
    if elements.shape != selection.shape:
        elements = gpuarray._in_c_order(elements, stream).reshape(selection.shape)
    selection.move("put", elements, elements.strides, stream)
    if not selection.is_known:
        expect_report(stream, wait=False)
