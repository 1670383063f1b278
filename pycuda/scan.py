"""Scans (prefix sums) of one-dimensional arrays: ``InclusiveScanKernel`` and
``ExclusiveScanKernel``.

Element ``i`` of the result joins elements 0 to ``i`` (inclusive) or 0 to ``i - 1``
(exclusive). The operation must be associative; it need not commute.

Each block scans a run of elements; where there are several, the totals of the runs are
scanned in turn and go before each run in a second pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import pycuda.driver as _cuda
from pycuda import _codegen
from pycuda.tools import dtype_to_ctype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

    from pycuda._driver import Function, GPUArray, Stream, _Allocator

SHARED_PREAMBLE: str = """#include <pycuda-complex.hpp>
#define PYCUDA_THREADS {threads}
#define PYCUDA_EACH {each}
#define SCAN_EXPR(a, b) ({scan_expr})
{preamble}
typedef {scan_type} scan_type;
"""

# Within a block each thread joins its own elements, then the threads' totals are
# scanned in shared memory, then each thread goes over its elements again.
SCAN_INTERVALS_SOURCE: str = """
extern "C" __global__ void __launch_bounds__(PYCUDA_THREADS)
{name}_totals(const scan_type *input, scan_type *totals, unsigned long long n)
{{
    __shared__ __align__(16) char room[PYCUDA_THREADS * sizeof(scan_type)];
    scan_type *shared = (scan_type *)room;
    const unsigned int tid = threadIdx.x;
    unsigned long long begin =
        ((unsigned long long)blockIdx.x * PYCUDA_THREADS + tid) * PYCUDA_EACH;
    unsigned long long end = begin + PYCUDA_EACH < n ? begin + PYCUDA_EACH : n;
    if (begin < n)
    {{
        scan_type acc = input[begin];
        for (unsigned long long i = begin + 1; i < end; i++)
            acc = SCAN_EXPR(acc, input[i]);
        shared[tid] = acc;
    }}
    /* how many threads of this block have elements */
    unsigned long long first = (unsigned long long)blockIdx.x * PYCUDA_THREADS;
    unsigned long long left = (n - first * PYCUDA_EACH + PYCUDA_EACH - 1) / PYCUDA_EACH;
    unsigned int count = left < PYCUDA_THREADS ? (unsigned int)left : PYCUDA_THREADS;
    /* neighbours are joined, so that the order stays */
    for (unsigned int width = 1; width < PYCUDA_THREADS; width *= 2)
    {{
        __syncthreads();
        if (tid % (2 * width) == 0 && tid + width < count)
            shared[tid] = SCAN_EXPR(shared[tid], shared[tid + width]);
    }}
    if (tid == 0)
        totals[blockIdx.x] = shared[0];
}}
"""

_UPDATE_SOURCE = """
extern "C" __global__ void __launch_bounds__(PYCUDA_THREADS)
{name}_update(const scan_type *input, scan_type *output, const scan_type *before,
              unsigned long long n)
{{
    __shared__ __align__(16) char room[PYCUDA_THREADS * sizeof(scan_type)];
    scan_type *shared = (scan_type *)room;
    const unsigned int tid = threadIdx.x;
    unsigned long long begin =
        ((unsigned long long)blockIdx.x * PYCUDA_THREADS + tid) * PYCUDA_EACH;
    unsigned long long end = begin + PYCUDA_EACH < n ? begin + PYCUDA_EACH : n;
    scan_type own[PYCUDA_EACH];
    if (begin < n)
    {{
        for (int k = 0; k < PYCUDA_EACH && begin + k < end; k++)
            own[k] = k == 0 ? input[begin] : SCAN_EXPR(own[k - 1], input[begin + k]);
        shared[tid] = own[end - begin - 1];
    }}
    for (unsigned int width = 1; width < PYCUDA_THREADS; width *= 2)
    {{
        __syncthreads();
        scan_type joined;
        if (tid >= width && begin < n)
            joined = SCAN_EXPR(shared[tid - width], shared[tid]);
        __syncthreads();
        if (tid >= width && begin < n)
            shared[tid] = joined;
    }}
    __syncthreads();
    if (begin >= n)
        return;
    const bool has_block = blockIdx.x > 0, has_thread = tid > 0;
    scan_type prefix;
    if (has_block)
        prefix = has_thread ? SCAN_EXPR(before[blockIdx.x - 1], shared[tid - 1])
                            : before[blockIdx.x - 1];
    else if (has_thread)
        prefix = shared[tid - 1];
    for (int k = 0; begin + k < end; k++)
    {{
{store}
    }}
}}
"""

INCLUSIVE_UPDATE_SOURCE: str = _UPDATE_SOURCE.replace(
    "{store}",
    """        output[begin + k] =
            has_block || has_thread ? SCAN_EXPR(prefix, own[k]) : own[k];""",
)
EXCLUSIVE_UPDATE_SOURCE: str = _UPDATE_SOURCE.replace(
    "{store}",
    """        if (k == 0)
            output[begin] = has_block || has_thread ? prefix : scan_type({neutral});
        else
            output[begin + k] = has_block || has_thread
                                    ? SCAN_EXPR(prefix, own[k - 1]) : own[k - 1];""",
)


class _ScanKernelBase:
    """What the two kinds of scans share.

    ``scan_expr`` joins ``a`` and ``b``; ``neutral`` is the result of no elements.
    ``devices`` is not used.
    """

    final_update_tp: str = INCLUSIVE_UPDATE_SOURCE
    scan_wg_size: int = 128
    update_wg_size: int = 128
    scan_wg_seq_batches: int = 6

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
        words = {
            "threads": self.scan_wg_size,
            "each": self.scan_wg_seq_batches,
            "scan_expr": scan_expr,
            "preamble": preamble,
            "scan_type": dtype_to_ctype(self.dtype),
        }
        head = SHARED_PREAMBLE.format(**words)
        totals = SCAN_INTERVALS_SOURCE.format(name=name_prefix)
        # The totals of runs are scanned inclusively, whatever the kernel does.
        inner = INCLUSIVE_UPDATE_SOURCE.format(name=f"{name_prefix}_inner")
        final = self.final_update_tp.format(name=name_prefix, neutral=neutral)
        self._text = head + totals + inner + final
        self._made = {}
        self._functions()

    def _functions(self):
        """Return (totals, inner update, final update) in the current context."""
        context = _cuda.Context.get_current()
        made = self._made.get(id(context))
        if made is None:
            module = _codegen.load(self._text, self.options)
            prefix = self.name_prefix
            made = (
                module.get_function(f"{prefix}_totals").prepare("PPQ"),
                module.get_function(f"{prefix}_inner_update").prepare("PPPQ"),
                module.get_function(f"{prefix}_update").prepare("PPPQ"),
                context,  # kept, so that its id is not another's
            )
            self._made[id(context)] = made
            self.scan_intervals_knl, _, self.final_update_knl, _ = made
        return made[:3]

    def __call__(
        self,
        input_ary: GPUArray,
        output_ary: GPUArray | Literal["new"] | None = None,
        allocator: _Allocator | None = None,
        stream: Stream | None = None,
    ) -> GPUArray:
        """Scan into ``output_ary``, by default in place; return the output.

        ``output_ary="new"`` makes a new array. ValueError unless the arrays have one
        axis, one length and the kernel's dtype.
        """
        from pycuda.gpuarray import GPUArray, empty_like

        if output_ary is None:
            output_ary = input_ary
        elif isinstance(output_ary, str) and output_ary == "new":
            output_ary = empty_like(input_ary)
        for array, name in ((input_ary, "input_ary"), (output_ary, "output_ary")):
            if array.ndim != 1:
                raise ValueError(f"{name} has shape {array.shape}; scans take one axis")
            if array.dtype != self.dtype:
                raise ValueError(
                    f"{name} has dtype {array.dtype}, the kernel has {self.dtype}"
                )
        if output_ary.shape != input_ary.shape:
            raise ValueError(
                f"input_ary has shape {input_ary.shape}, output_ary has "
                f"{output_ary.shape}"
            )
        if input_ary.size == 0:
            return output_ary
        source = input_ary if input_ary.flags.forc else input_ary.copy()
        target = output_ary
        if not output_ary.flags.forc:
            target = GPUArray(output_ary.shape, self.dtype, output_ary.allocator)
        allocator = allocator or input_ary.allocator
        final = self._functions()[2]
        self._scan(source, target, final, allocator, stream)
        if target is not output_ary:
            output_ary[...] = target
        return output_ary

    def _scan(self, source, target, update, allocator, stream):
        from pycuda.gpuarray import GPUArray

        totals_of, inner, _ = self._functions()
        block = (self.scan_wg_size, 1, 1)
        size = source.size
        runs = -(-size // (self.scan_wg_size * self.scan_wg_seq_batches))
        before = 0
        if runs > 1:
            totals = GPUArray(runs, self.dtype, allocator)
            totals_of.prepared_async_call(
                (runs, 1), block, stream, source.gpudata, totals.gpudata, size
            )
            self._scan(totals, totals, inner, allocator, stream)
            before = totals.gpudata
        update.prepared_async_call(
            (runs, 1), block, stream, source.gpudata, target.gpudata, before, size
        )


class InclusiveScanKernel(_ScanKernelBase):
    """Scan with each element itself: ``scan_expr`` joins ``a`` and ``b``."""

    final_update_tp: str = INCLUSIVE_UPDATE_SOURCE


class ExclusiveScanKernel(_ScanKernelBase):
    """Scan without the element itself; the first result is ``neutral``."""

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
