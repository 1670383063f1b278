"""Scans (prefix sums): ``InclusiveScanKernel`` and ``ExclusiveScanKernel``.

Element ``i`` of the result joins elements 0 to ``i`` (inclusive) or 0 to ``i - 1``
(exclusive). The operation must be associative; it need not commute.

One kernel reads and writes each element once, for any length: see
``cuda/pycuda-scan.hpp``. The same input always gives the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pycuda._array.creation import empty_like
from pycuda._array.kernels.argument_names import Names
from pycuda._array.kernels.c_types import dtype_to_ctype, with_checks
from pycuda._array.kernels.compilation import load
from pycuda._array.kernels.kernel_arguments import accepts, has, wrong_dtype
from pycuda._driver import (
    GPUArray,
    _check_arrays,
    _KernelCall,
    _plain_array,
    _use_rest,
    _working_context,
)
from pycuda._warning import forgive

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import DTypeLike

    from pycuda._driver import Function, Stream, _Allocator

SHARED_PREAMBLE: str = """#include <pycuda-complex.hpp>
#include <pycuda-scan.hpp>
{preamble}
typedef {scan_type} {own}_type;
struct {own}_op {{
    static __device__ __forceinline__ {own}_type join({own}_type a, {own}_type b)
    {{
        return {scan_expr};
    }}
}};
"""
SCAN_INTERVALS_SOURCE: str = """
extern "C" __global__ void __launch_bounds__({threads}, {blocks})
{name}(const {own}_type *{own}_input, {own}_type *{own}_output,
       unsigned long long *{own}_slots, unsigned long long {own}_length,
       unsigned int {own}_tiles, unsigned int {own}_is_vector)
{{
    pycuda_scan::packed_lines<{own}_type> {own}_lines = {{{own}_length}};
    pycuda_scan::tile_scan<{own}_type, {own}_type, {own}_type, {own}_op, {threads},
                           {each}, {exclusive}>::run(
        {own}_input, sizeof({own}_type), {own}_output, sizeof({own}_type), {own}_slots,
        {own}_length, {own}_tiles, {own}_is_vector != 0, {neutral}, {own}_lines);
}}
"""
INCLUSIVE_UPDATE_SOURCE: str = SCAN_INTERVALS_SOURCE.replace(
    "{exclusive}", "false"
).replace("{neutral}", "{own}_type()")
EXCLUSIVE_UPDATE_SOURCE: str = SCAN_INTERVALS_SOURCE.replace(
    "{exclusive}", "true"
).replace("{neutral}", "{own}_type({neutral})")

#: The shared memory that a block may use for its elements.
_SHARED_BYTES = 47 << 10

#: A thread's part of a tile: one line of the cache.
_THREAD_BYTES = 128


def _shape_of(itemsize):
    """Return (threads of a block, elements of a thread)."""
    each = min(32, max(1, _THREAD_BYTES // itemsize))
    row = each * itemsize + max(16, itemsize)
    threads = 256
    while threads > 32 and threads * row + 9 * itemsize > _SHARED_BYTES:
        threads //= 2
    return threads, each


def _text_of(
    kernel: str,
    dtype: np.dtype[Any],
    scan_expr: str,
    neutral: object,
    name: str,
    preamble: str,
) -> str:
    """Return the source of a scan."""
    threads, each = _shape_of(dtype.itemsize)
    # Blocks on a multiprocessor that hide the waits of look-back, if registers allow.
    blocks = 6 if dtype.itemsize <= 8 and threads == 256 else 1
    own = Names((), scan_expr, neutral, preamble, name).prefix
    head = SHARED_PREAMBLE.format(
        scan_expr=scan_expr,
        preamble=with_checks(preamble, [dtype]),
        scan_type=dtype_to_ctype(dtype),
        own=own,
    )
    return head + kernel.format(
        name=name,
        threads=threads,
        blocks=blocks,
        each=each,
        neutral=neutral,
        own=own,
    )


def sample_sources() -> Iterator[tuple[str, str]]:
    """Yield (name, source) of scans of several types, for other compilers."""
    for name in ("int8", "int32", "float64", "complex128"):
        dtype = np.dtype(name)
        for kind, kernel in (
            ("inclusive", INCLUSIVE_UPDATE_SOURCE),
            ("exclusive", EXCLUSIVE_UPDATE_SOURCE),
        ):
            yield f"{kind} {name}", _text_of(kernel, dtype, "a + b", 0, "scan", "")


class _ScanKernelBase(_KernelCall):
    """The base class of both scans.

    ``scan_expr`` joins ``a`` and ``b``. ``neutral`` is the result of no elements.
    ``devices`` is not used.

    A call takes ``input_ary``, ``output_ary``, ``allocator`` and ``stream``. It scans
    into ``output_ary``, by default in place, and returns the output.
    ``output_ary="new"`` makes a new array. Raises ValueError unless the arrays have one
    axis, one length and the kernel's dtype. Signed and unsigned integers of one size
    count as one dtype. A bool input is read as numbers.

    Attributes
    ----------
    dtype : numpy.dtype
        The dtype of the elements.
    neutral : str, number or None
        The result of no elements.
    name_prefix : str
        The name of the kernel.
    options : list of str or None
        The compiler's options.
    scan_intervals_knl : pycuda.driver.Function
        The kernel that scans.
    final_update_knl : pycuda.driver.Function
        The same kernel: one kernel does both parts.
    final_update_tp : str
        The source of the kernel.
    scan_wg_size : int
        The number of threads of a block.
    update_wg_size : int
        The same number.
    scan_wg_seq_batches : int
        The number of elements that a thread processes at one time.
    """

    final_update_tp: str = INCLUSIVE_UPDATE_SOURCE
    scan_wg_size: int = 256
    update_wg_size: int = 256
    scan_wg_seq_batches: int = 32

    def __init__(
        self,
        dtype: DTypeLike,
        scan_expr: str,
        neutral: str | float | None = None,
        name_prefix: str = "scan",
        options: Sequence[str] | None = None,
        preamble: str = "",
        devices: object = None,
    ) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.neutral: str | float | None = neutral
        self.name_prefix: str = name_prefix
        self.options: Sequence[str] | None = options
        self.scan_intervals_knl: Function
        self.final_update_knl: Function
        threads, each = _shape_of(self.dtype.itemsize)
        self.scan_wg_size = self.update_wg_size = threads
        self.scan_wg_seq_batches = each
        self._text = _text_of(
            self.final_update_tp, self.dtype, scan_expr, neutral, name_prefix, preamble
        )
        self._made = {}
        self._function()

    def _function(self):
        """Return the kernel for the current context."""
        context = _working_context()
        made = self._made.get(id(context))
        if made is None:
            module = load(self._text, self.options)
            function = module.get_function(self.name_prefix).prepare("PPPQII")
            made = self._made[id(context)] = (
                function,
                context,  # kept alive, so that no other context gets its id
            )
            self.scan_intervals_knl = self.final_update_knl = function
        return made[0]

    if TYPE_CHECKING:

        def __call__(
            self,
            input_ary: GPUArray,
            output_ary: GPUArray | Literal["new"] | None = None,
            allocator: _Allocator | None = None,
            stream: Stream | None = None,
        ) -> GPUArray: ...

    def _prepare(self, use_range):
        """Let C run the calls in this context: see ``_KernelCall``."""
        self._remember(
            "scan",
            _working_context(),
            (self._function(),),
            (self.dtype,),
            b"\x02",
            0,
            self.dtype,
            self.scan_wg_size,
            self.scan_wg_seq_batches,
        )

    def _run(self, input_ary, output_ary=None, allocator=None, stream=None):
        """Arrange the arguments of a call that C refuses, and let C launch the scan."""
        given = self._output(input_ary, output_ary)
        values, result = _plain_array(input_ary), _plain_array(given)
        _check_arrays(values, result)
        self._check(values, result)
        if values.size == 0:
            return given
        target = result
        if not result.flags.forc:
            target = GPUArray(result.shape, result.dtype, result.allocator)
        source, output = self._packed(values, target, stream)
        if source is input_ary and output is given:
            raise RuntimeError("the function of this scan was prepared anew")
        if allocator is None:
            allocator = values.allocator
        _KernelCall.__call__(self, source, output, allocator, stream)
        if target is not result:
            result.set_async(target, stream)
        return given

    def _output(self, input_ary, output_ary):
        """Return the output that a call names: the input, a new array, or its own."""
        if output_ary is None:
            return input_ary
        if not isinstance(output_ary, str):
            return output_ary
        if output_ary != "new":
            raise ValueError(f'output_ary is an array or "new", not {output_ary!r}')
        dtype = self.dtype if input_ary.dtype.kind == "b" else None
        return empty_like(input_ary, dtype)

    def _accepts(self, dtype):
        """Return whether the kernel can scan elements of this dtype as its own."""
        if dtype == self.dtype:
            return True
        return dtype.itemsize == self.dtype.itemsize and accepts(self.dtype, dtype)

    def _forgive(self, array, name):
        """Warn that the kernel reads the bytes of an array as its own dtype.

        ValueError if these are more than the driver gave to the array.
        """
        text = str(wrong_dtype(name, self.dtype, array))
        is_short = array.dtype.itemsize < self.dtype.itemsize
        is_long_enough = array.flags.forc and has(array, self.dtype, 0, array.size)
        # The result of a comparison has no memory for numbers.
        if array.dtype.kind == "b" or (is_short and not is_long_enough):
            raise ValueError(text)
        forgive(text, ValueError)
        if is_short:
            _use_rest(array.ptr)

    def _check(self, input_ary, output_ary):
        """Raise ValueError unless the arrays have one axis, one length, one dtype."""
        arrays = {"input_ary": input_ary}
        if output_ary is not input_ary:
            arrays["output_ary"] = output_ary
        for name, array in arrays.items():
            if array.ndim != 1:
                raise ValueError(f"{name} has shape {array.shape}; scans take one axis")
            # A bool input is copied as numbers.
            is_copied = array is not output_ary and array.dtype.kind == "b"
            if not self._accepts(array.dtype) and not is_copied:
                self._forgive(array, name)
        if output_ary.shape != input_ary.shape:
            raise ValueError(
                f"input_ary has shape {input_ary.shape}, output_ary has "
                f"{output_ary.shape}"
            )

    def _packed(self, source, target, stream):
        """Return both arrays without gaps, as the kernel reads them.

        They do not overlap by half.
        """
        if source.dtype.kind == "b" and self.dtype.kind != "b":
            source = source.astype(self.dtype, stream)
        elif not source.flags.forc:
            source = source.astype(source.dtype, stream)
        source, target = self._declared(source), self._declared(target)
        if 0 < abs(source.ptr - target.ptr) < target.nbytes:
            # Blocks would write to elements that other blocks have still to read.
            source = source.astype(source.dtype, stream)
        return source, target

    def _declared(self, array):
        """Return an array, or its memory as elements of the kernel's dtype."""
        if array.dtype is self.dtype:
            return array
        return GPUArray(
            array.shape, self.dtype, array.allocator, base=array, gpudata=array.gpudata
        )


class InclusiveScanKernel(_ScanKernelBase):
    """Scan whose element ``i`` joins the elements 0 to ``i``.

    A call takes ``input_ary``, ``output_ary``, ``allocator`` and ``stream``. It scans
    into ``output_ary``, by default in place, and returns the output.
    ``output_ary="new"`` makes a new array.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the elements.
    scan_expr : str
        Expression in C that joins ``a`` and ``b``. It must be associative, and need not
        commute.
    neutral : str or float, optional
        Not used by this kernel.
    name_prefix : str, optional
        Name of the kernel, as profilers show it.
    options : sequence of str, optional
        Options of the compiler.
    preamble : str, optional
        Source before the kernel.
    devices : object, optional
        Not used; PyCUDA has this parameter.

    Raises
    ------
    CompileError
        If the compiler refuses the source.
    ValueError
        By a call, unless the arrays have one axis, one length and the kernel's dtype.

    See Also
    --------
    ExclusiveScanKernel : Leave out the element itself.
    pycuda.gpuarray.cumsum : The running sum, without a kernel of your own.

    Notes
    -----
    The constructor compiles the kernel, or loads it from the compile cache. A call
    enqueues it in ``stream``, by default in the current stream, and does not wait. It
    allocates memory for the results of the blocks with ``allocator``, by default with
    that of the input. Signed and unsigned integers of one size count as one dtype. A
    bool input is read as numbers. The same input always gives the same bits.

    Examples
    --------
    >>> from pycuda.scan import InclusiveScanKernel
    >>> running_maximum = InclusiveScanKernel(np.int32, "max(a, b)")
    >>> x = gpuarray.to_gpu(np.array([3, 1, 4, 1, 5], np.int32))
    >>> running_maximum(x)
    array([3, 3, 4, 4, 5], dtype=int32)
    """

    final_update_tp: str = INCLUSIVE_UPDATE_SOURCE


class ExclusiveScanKernel(_ScanKernelBase):
    """Scan whose element ``i`` joins the elements 0 to ``i - 1``.

    The first result is ``neutral``. A call is that of ``InclusiveScanKernel``.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the elements.
    scan_expr : str
        Expression in C that joins ``a`` and ``b``. It must be associative, and need not
        commute.
    neutral : str or float
        Neutral element, as an expression in C: to join it with a value does not
        change the value, because each thread begins with it. It is the result of no
        elements.
    name_prefix : str, optional
        Name of the kernel, as profilers show it.
    options : sequence of str, optional
        Options of the compiler.
    preamble : str, optional
        Source before the kernel.
    devices : object, optional
        Not used; PyCUDA has this parameter.

    Raises
    ------
    CompileError
        If the compiler refuses the source.
    ValueError
        If ``neutral`` is None. By a call, unless the arrays have one axis, one length
        and the kernel's dtype.

    See Also
    --------
    InclusiveScanKernel : Include the element itself.

    Examples
    --------
    >>> from pycuda.scan import ExclusiveScanKernel
    >>> offsets = ExclusiveScanKernel(np.int32, "a + b", neutral=0)
    >>> lengths = gpuarray.to_gpu(np.array([3, 1, 4], np.int32))
    >>> offsets(lengths, gpuarray.empty_like(lengths))
    array([0, 3, 4], dtype=int32)
    """

    final_update_tp: str = EXCLUSIVE_UPDATE_SOURCE

    def __init__(
        self,
        dtype: DTypeLike,
        scan_expr: str,
        neutral: str | float | None = None,
        name_prefix: str = "scan",
        options: Sequence[str] | None = None,
        preamble: str = "",
        devices: object = None,
    ) -> None:
        if neutral is None:
            raise ValueError("an exclusive scan needs a neutral element")
        super().__init__(
            dtype, scan_expr, neutral, name_prefix, options, preamble, devices
        )
