"""Sorts of elements of any type by a key in C: ``SortKernel``.

The radix sort of ``cuda/pycuda-sort.hpp``: the first launch counts all digits of the
keys, then each of the following moves the elements by one digit of 8 bits. Short arrays
are sorted by one block in one launch. Equal keys keep their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pycuda._array.copies import may_overlap
from pycuda._array.kernels.argument_names import Names
from pycuda._array.kernels.c_types import dtype_to_ctype, with_checks
from pycuda._array.kernels.compilation import load
from pycuda._array.kernels.kernel_arguments import accepts, wrong_dtype
from pycuda._driver import GPUArray, _plain_array, _working_context

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import DTypeLike

    from pycuda._driver import Function, Stream, _Allocator

KEY_SOURCE: str = """#include <pycuda-complex.hpp>
#include <pycuda-sort.hpp>
{preamble}
typedef {sort_type} {own}_type;
struct {own}_key {{
    typedef {own}_type element;
    enum {{ DIGITS = sizeof({key_type}) }};
    static __device__ __forceinline__ unsigned int
    digit(const {own}_type &x, unsigned int place)
    {{
        return pycuda_sort::digit_of(
            pycuda_sort::order_of(({key_type})({key_expr})), place);
    }}
}};
"""
PASS_SOURCE: str = """
extern "C" __global__ void __launch_bounds__({threads})
{name}(const pycuda_sort::pass<{own}_type, {count}, {count}> {own}_pass)
{{
    pycuda_sort::onesweep<{own}_key, {indices}, {count}, {threads}, {items}>::run(
        {own}_pass);
}}
"""
BLOCK_SOURCE: str = """
extern "C" __global__ void __launch_bounds__({threads})
{name}(const {own}_type *{own}_in, {own}_type *{own}_out, long long *{own}_indices,
       unsigned long long {own}_length, unsigned int {own}_flip)
{{
    pycuda_sort::block_sort<{own}_key, {indices}, {threads}, {items}>::run({own}_in,
        {own}_out, {own}_indices, (unsigned int){own}_length, {own}_flip);
}}
"""
COUNT_SOURCE: str = """
extern "C" __global__ void __launch_bounds__({threads})
{name}(const pycuda_sort::pass<{own}_type, {count}, {count}> {own}_pass)
{{
    pycuda_sort::digit_totals<{own}_key, {count}, {threads}>::run({own}_pass);
}}
"""
_SOURCES = {
    "pass": PASS_SOURCE,
    "count": COUNT_SOURCE,
    "block": BLOCK_SOURCE,
}
#: The parameters of each kernel, as formats of prepare().
_FORMATS = {"pass": "PPPPPPPPQQIIII", "count": "PPPPPPPPQQIIII", "block": "PPPQI"}

_THREADS = 256
_BINS = 256
_NARROW = (1 << 30) - 1  # the longest array whose counts have 32 bits
_SHARED_BYTES = 29 << 10  # of the elements of a block
_COUNT_BYTES = _THREADS // 32 * 2048  # of the warps' counters
_PART = 2048  # elements that a block counts at least
_MOST_PARTS = 512


def _items_of(itemsize):
    """Return the elements of a thread, a multiple of 4; of indices as many fit."""
    items = min(24, _SHARED_BYTES // (_THREADS * (itemsize + 8))) // 4 * 4
    if items == 0:
        raise ValueError(
            f"a sort of elements of {itemsize} bytes: at most "
            f"{_SHARED_BYTES // (4 * _THREADS) - 8} are possible; sort their indices"
        )
    return items


def sample_sources() -> Iterator[tuple[str, str]]:
    """Yield (name, source) of sorts of several types, for other compilers."""
    for dtype, key_type in (("int8", "signed char"), ("float64", "double")):
        head = _head_of(np.dtype(dtype), "x", key_type, "own", "")
        for kind in _SOURCES:
            yield f"sort {kind} {dtype}", head + _body_of(kind, "sort", "own", 4, True)


def _head_of(dtype, key_expr, key_type, own, preamble):
    return KEY_SOURCE.format(
        preamble=with_checks(preamble, [dtype]),
        sort_type=dtype_to_ctype(dtype),
        key_type=key_type,
        key_expr=key_expr,
        own=own,
    )


def _body_of(kind, name, own, items, has_indices, wide=False):
    """Return the source of one of the kernels."""
    return _SOURCES[kind].format(
        name=name,
        own=own,
        count="unsigned long long" if wide else "unsigned int",
        threads=_THREADS,
        items=items,
        indices="true" if has_indices else "false",
    )


class SortKernel:
    """Stable sort of arrays with one axis, by a key.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the elements: any that has a name in C, a struct registered with
        ``pycuda.tools.get_or_register_dtype`` too.
    key_expr : str, optional
        Expression in C of the key of an element ``x``. The default is the element
        itself.
    key_dtype : dtype_like, optional
        Dtype to which the key is converted: bool, an integer, float32 or float64. The
        default is ``dtype``. NaNs are the greatest keys.
    name_prefix : str, optional
        Name of the kernels, as profilers show it.
    options : sequence of str, optional
        Options of the compiler.
    preamble : str, optional
        Source before the kernel.

    Raises
    ------
    CompileError
        If the compiler refuses the source.
    TypeError
        If keys of ``key_dtype`` cannot be sorted.
    ValueError
        If an element has too many bytes for the shared memory of a block.

    See Also
    --------
    pycuda.gpuarray.sort : Sort without a kernel of your own.

    Notes
    -----
    The constructor compiles a kernel, or loads it from the compile cache. Other
    kernels, for long arrays and for indices, are compiled when a call needs them.

    Examples
    --------
    >>> from pycuda.sort import SortKernel
    >>> by_last_digit = SortKernel(np.int32, key_expr="x % 10")
    >>> x = gpuarray.to_gpu(np.array([31, 12, 20, 11], np.int32))
    >>> by_last_digit(x)
    array([20, 31, 11, 12], dtype=int32)
    """

    def __init__(
        self,
        dtype: DTypeLike,
        key_expr: str = "x",
        key_dtype: DTypeLike | None = None,
        name_prefix: str = "sort",
        options: Sequence[str] | None = None,
        preamble: str = "",
    ) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.key_dtype: np.dtype[Any] = np.dtype(
            self.dtype if key_dtype is None else key_dtype
        )
        self.name_prefix: str = name_prefix
        self.options: Sequence[str] | None = options
        if self.key_dtype.kind not in "biuf" or self.key_dtype == np.float16:
            raise TypeError(
                f"a sort by keys of dtype {self.key_dtype}: key_dtype is bool, an "
                "integer, float32 or float64"
            )
        key_type = dtype_to_ctype(self.key_dtype)
        self._own = Names((), key_expr, preamble, name_prefix).prefix
        self._head = _head_of(self.dtype, key_expr, key_type, self._own, preamble)
        self._items = _items_of(self.dtype.itemsize)
        self._made: dict[tuple[Any, ...], tuple[Function, object]] = {}
        self._function("block", False)

    def _function(self, kind, has_indices, wide=False):
        """Return a kernel for the current context."""
        context = _working_context()
        key = (id(context), kind, has_indices, wide)
        made = self._made.get(key)
        if made is None:
            body = _body_of(
                kind, self.name_prefix, self._own, self._items, has_indices, wide
            )
            module = load(self._head + body, self.options)
            function = module.get_function(self.name_prefix).prepare(_FORMATS[kind])
            # The context is kept alive, so that no other context gets its id.
            made = self._made[key] = (function, context)
        return made[0]

    def __call__(
        self,
        input_ary: GPUArray,
        output_ary: GPUArray | None = None,
        *,
        descending: bool = False,
        allocator: _Allocator | None = None,
        stream: Stream | None = None,
    ) -> GPUArray:
        """Sort an array.

        Parameters
        ----------
        input_ary : GPUArray
            Array with one axis and the kernel's dtype.
        output_ary : GPUArray, optional
            Array of the same shape and dtype for the result. The default is to sort in
            place.
        descending : bool, optional
            If true, sort from the greatest key to the least.
        allocator : callable, optional
            Function of a number of bytes that returns device memory. The default is the
            allocator of the array.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Returns
        -------
        GPUArray
            The output.

        Raises
        ------
        ValueError
            Unless the arrays have one axis, one length and the kernel's dtype.

        Notes
        -----
        The call does not wait. An array that one block cannot sort needs memory for two
        copies of the elements.
        """
        given = input_ary if output_ary is None else output_ary
        source, target = _plain_array(input_ary), _plain_array(given)
        self._check(source, "input_ary")
        self._check(target, "output_ary")
        if source.shape != target.shape:
            raise ValueError(
                f"input_ary has shape {source.shape}, output_ary has {target.shape}"
            )
        if source.size:
            # A single pass writes the target while it reads the source.
            is_copied = self.key_dtype.itemsize == 1 and may_overlap(source, target)
            if is_copied or not source.flags.forc:
                source = source.astype(source.dtype, stream)
            work = target
            if not target.flags.forc:
                work = GPUArray(target.shape, target.dtype, target.allocator)
            if allocator is None:
                allocator = target.allocator
            self._run(source, work, None, descending, allocator, stream)
            if work is not target:
                target.set_async(work, stream)
        return given

    def argsort(
        self,
        input_ary: GPUArray,
        *,
        descending: bool = False,
        allocator: _Allocator | None = None,
        stream: Stream | None = None,
    ) -> GPUArray:
        """Return the indices that sort an array.

        Parameters
        ----------
        input_ary : GPUArray
            Array with one axis and the kernel's dtype.
        descending : bool, optional
            If true, sort from the greatest key to the least.
        allocator : callable, optional
            Function of a number of bytes that returns device memory. The default is the
            allocator of the array.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Returns
        -------
        GPUArray
            The indices, int64.

        Raises
        ------
        ValueError
            Unless the array has one axis and the kernel's dtype.

        Examples
        --------
        >>> from pycuda.sort import SortKernel
        >>> x = gpuarray.to_gpu(np.array([3, 1, 2], np.float32))
        >>> SortKernel(np.float32).argsort(x)
        array([1, 2, 0])
        """
        source = _plain_array(input_ary)
        self._check(source, "input_ary")
        if allocator is None:
            allocator = source.allocator
        indices = GPUArray(source.shape, np.int64, allocator)
        if source.size:
            if not source.flags.forc:
                source = source.astype(source.dtype, stream)
            self._run(source, None, indices, descending, allocator, stream)
        return indices

    def _check(self, array, name):
        """Raise ValueError unless an array has one axis and the kernel's dtype."""
        if array.ndim != 1:
            raise ValueError(f"{name} has shape {array.shape}; sorts take one axis")
        if array.dtype != self.dtype and not accepts(self.dtype, array.dtype):
            raise ValueError(str(wrong_dtype(name, self.dtype, array)))

    def _run(self, source, target, indices, descending, allocator, stream):
        """Enqueue the kernels; target or indices are None if they are no results."""
        flip = _BINS - 1 if descending else 0
        if source.size > _THREADS * self._items:
            self._passes(source, target, indices, flip, allocator, stream)
            return
        self._function("block", indices is not None).prepared_async_call(
            (1, 1),
            (_THREADS, 1, 1),
            stream,
            source.gpudata,
            0 if target is None else target.gpudata,
            0 if indices is None else indices.gpudata,
            source.size,
            flip,
        )

    def _passes(self, source, target, indices, flip, allocator, stream):
        """Sort by one pass for each digit."""
        size, digits = source.size, self.key_dtype.itemsize
        wide = size > _NARROW
        count = np.dtype(np.uint64 if wide else np.uint32)
        tiles = -(-size // (_THREADS * self._items))
        row = _BINS * count.itemsize
        # The totals, a ticket for each pass, what blocks tell each other.
        head = (digits + 1) * _BINS
        words = digits * tiles * _BINS
        shared = GPUArray(head + words, count, allocator)
        shared[:head].fill(0, stream)
        base = shared.ptr
        slots = base + head * count.itemsize
        parts = min(_MOST_PARTS, -(-size // _PART))
        self._function("count", False, wide).prepared_async_call(
            (parts, 1),
            (_THREADS, 1, 1),
            stream,
            *(source.ptr, 0, 0, 0, 0, base, slots, 0),
            *(size, words, 0, 0, flip, parts),
        )
        function = self._function("pass", indices is not None, wide)
        each = source.dtype.itemsize + (0 if indices is None else count.itemsize)
        shared_size = _COUNT_BYTES + _THREADS * self._items * each

        def launch(*arguments):
            function.prepared_async_call(
                (tiles, 1),
                (_THREADS, 1, 1),
                stream,
                *arguments,
                shared_size=shared_size,
            )

        keys = [GPUArray(size, source.dtype, allocator) for _ in range(2)]
        values = []
        if indices is not None:
            values = [GPUArray(size, count, allocator) for _ in range(2)]
        read, read_values = source.ptr, 0
        for place in range(digits):
            is_last = place == digits - 1
            write = keys[place % 2].ptr
            write_values = values[place % 2].ptr if values else 0
            if is_last:
                write = 0 if target is None else target.ptr
            launch(
                *(read, write, read_values, write_values),
                indices.ptr if is_last and indices is not None else 0,
                base + place * row,
                slots + place * tiles * row,
                base + digits * row + 4 * place,
                *(size, 0, tiles, place, flip, 0),
            )
            read, read_values = write, write_values
