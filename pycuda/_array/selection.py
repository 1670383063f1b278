"""Selections: the elements at index arrays, and the kernel that copies them.

The kernel finds each element by the indices along the axes of the result, and reads or
writes it. Index arrays of the host are checked before the launch. Those of the device
are checked by the kernel: it skips an element whose index is out of bounds and notes
the index in the report of the context.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.c_types import dtype_to_ctype
from pycuda._array.compilation import compile_text
from pycuda._array.context_cache import context_dependent_memoize
from pycuda._array.index_report import (
    check_report,
    expect_report,
    raise_index_error,
    report_of_context,
)
from pycuda._driver import GPUArray, _check_arrays, _plain_array, module_from_buffer

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

#: What the kernel does with an element, after it checked the indices.
_MOVES = {"get": "elements[0] = *place", "put": "*place = elements[0]", "check": ""}

#: The C type of a word of so many bytes.
_WORDS = {
    1: "unsigned char",
    2: "unsigned short",
    4: "unsigned",
    8: "uint2",
    16: "uint4",
}


def _index_lines(k, kind):
    """Return the lines that read index array ``k`` and add its offset to ``a``."""
    if kind.startswith("unsigned"):
        # A value above the range of long long turns negative: it is out of bounds.
        wrap = f"if (i{k} < 0) i{k} = length{k};"
    else:
        wrap = f"if (given{k} < 0) i{k} += length{k};"
    return [
        f"const char *at{k} = (const char *)indices{k} + x{k};",
        f"const {kind} given{k} = *(const {kind} *)at{k};",
        f"long long i{k} = given{k};",
        wrap,
        f"if (i{k} < 0 || i{k} >= length{k}) {{",
        f"note(report, given{k}, axis{k}, length{k}); return; }}",
        f"a += i{k} * stride{k};",
    ]


@context_dependent_memoize
def _mover(itemsize, word, what, ndim, index_types):
    """Return the prepared kernel for one layout.

    ``word`` is the size in bytes of one copy, a divisor of ``itemsize``. ``what`` is a
    key of _MOVES, ``ndim`` the number of axes of the result. ``index_types`` are the C
    types of the index arrays.
    """
    head = _HEAD.replace("WORD", _WORDS[word]).replace("COUNT", str(itemsize // word))
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
        lines += _index_lines(k, kind)
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
    function = module_from_buffer(compile_text(text)).get_function("kernel")
    numbers = ndim * len(operands) + 3 * len(index_types)
    return function.prepare(
        "PPPQ" + "P" * len(index_types) + "Q" * ndim + "q" * numbers
    )


def _merged(shape, strides):
    """Return shape and rows of strides with neighbouring axes merged if possible."""
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


class Selection:
    """The elements of ``view`` at index arrays, in the shape of a result.

    ``indices`` has one tuple for each index array: the array, its strides along the
    axes of the result, the axis of the view that it indexes, and whether its values
    were checked.
    """

    def __init__(self, view, shape, strides, indices):
        self.view, self.shape, self.strides = view, shape, strides
        self.indices = indices
        self.size = int(np.prod(shape, dtype=object))
        self.is_checked = all(checked for *_, checked in indices)

    def move(self, what, elements, strides, stream):
        """Enqueue the kernel. ``strides`` are those of ``elements``."""
        view = self.view
        if self.size == 0:
            return
        if 0 in view.shape:  # no index can be in bounds
            self._check_on_host()
        arrays = [array for array, *_ in self.indices]
        _check_arrays(view, *arrays, *(() if elements is None else (elements,)))
        shape, rows = _merged(
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
            report_of_context().pointer,
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

    def check(self, stream):
        """Raise IndexError for a wrong index; wait for the device if necessary."""
        if self.is_checked:
            return
        if self.size == 0:
            self._check_on_host()
            return
        self.move("check", None, (0,) * len(self.shape), stream)
        self.wait(stream)

    def wait(self, stream):
        """Wait for the kernel and raise IndexError if it noted a wrong index."""
        if not self.is_checked and not expect_report(stream):
            check_report()

    def _check_on_host(self):
        for array, _, axis, checked in self.indices:
            if not checked and array.size:
                checked_on_host(array.get(), self.view.shape[axis], axis)


def checked_on_host(index, length, axis):
    """Return a host array of indices as int64, with negative ones made positive.

    Raises IndexError if one is out of bounds.
    """
    if index.size:
        low, high = int(index.min()), int(index.max())
        if low < -length:
            raise_index_error(low, axis, length)
        if high >= length:
            raise_index_error(high, axis, length)
    index = np.ascontiguousarray(index, dtype=np.int64).reshape(index.shape)
    return np.where(index < 0, index + length, index)


def as_index(item):
    """Return an index array of integers or bool, on the device or the host."""
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
