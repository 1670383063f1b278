"""``ReductionKernel``: one result from all elements, by an expression of one's own.

The functions of ``pycuda.gpuarray`` (sum, min, dot, ...) do not need it: they have
kernels of their own. What a program gives here is text, so that any map, any
associative and commutative operation and any type of results will do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import pycuda.driver as _cuda
from pycuda import _arguments, _codegen
from pycuda._driver import _plain_array, _working_context
from pycuda.tools import (
    VectorArg,
    context_dependent_memoize,
    dtype_to_ctype,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import DTypeLike

    from pycuda._driver import Function, GPUArray
    from pycuda.compiler import SourceModule
    from pycuda.elementwise import _Arguments
    from pycuda.tools import ScalarArg

_BLOCK_SIZE = 512
_MOST_BLOCKS = 1024
_ELEMENTS_PER_THREAD = 4

# Shared memory is bytes: a type of results may have a constructor. The operands of
# reduce_expr are references called a and b, and what is copied or assigned is always a
# variable: the one copy constructor of a type may take a "const volatile &".
_KERNEL = """#include <pycuda-complex.hpp>
{preamble}

template <class T, class V>
static __device__ __forceinline__ void {assign}(T &target, V &&value)
{{
    target = value;
}}

template <class T>
static __device__ __forceinline__ T {make}(const T &value)
{{
    return T(value);
}}

template <class T, class... V>
static __device__ __forceinline__ T {make}(V &&...values)
{{
    return T(values...);
}}

extern "C" __global__ void __launch_bounds__({block_size})
{name}({out_type} *{out}, {parameters}unsigned int {seq_count}, size_t {n})
{{
    __shared__ __align__(16) char {room}[{block_size} * sizeof({out_type})];
    {out_type} *{sdata} = ({out_type} *){room};
    const unsigned int {tid} = threadIdx.x;
    size_t i = (size_t)blockIdx.x * {block_size} * {seq_count} + {tid};
    {out_type} {acc} = {make}<{out_type}>({neutral});
    for (unsigned int {s} = 0; {s} < {seq_count} && i < {n}; {s}++)
    {{
        auto {mapped} = ({map_expr});
        {{
            auto &a = {acc};
            auto &b = {mapped};
            (void)a;
            (void)b;
            {assign}({acc}, ({reduce_expr}));
        }}
        i += {block_size};
    }}
    {sdata}[{tid}] = {acc};
    __syncthreads();
    for (unsigned int {s} = {block_size} / 2; {s} > 0; {s} >>= 1)
    {{
        if ({tid} < {s})
        {{
            auto &a = {sdata}[{tid}];
            auto &b = {sdata}[{tid} + {s}];
            (void)a;
            (void)b;
            {assign}({sdata}[{tid}], ({reduce_expr}));
        }}
        __syncthreads();
    }}
    if ({tid} == 0)
        {out}[blockIdx.x] = {sdata}[0];
}}
"""


def get_reduction_module(
    out_type: str,
    block_size: int,
    neutral: str | float,
    reduce_expr: str,
    map_expr: str | None,
    arguments: Sequence[ScalarArg | VectorArg | _RawVector],
    name: str = "reduce_kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
) -> SourceModule:
    """Return the module of one stage; ``out_type`` is the name of a C type."""
    _arguments.check_names(arguments)
    texts = (neutral, reduce_expr, map_expr, preamble, out_type)
    names = _arguments.Names(arguments, *texts)
    text = _KERNEL.format(
        block_size=block_size,
        map_expr=map_expr,
        reduce_expr=reduce_expr,
        preamble=preamble,
        out_type=out_type,
        name=name,
        parameters="".join(f"{argument.declarator()}, " for argument in arguments),
        neutral=neutral,
        **names.public("n", "seq_count", "tid", "s", "acc", "sdata"),
        **names.private("assign", "make", "out", "room", "mapped"),
    )
    return _codegen.load(text, options, keep)


def get_reduction_kernel_and_types(
    stage: int,
    out_type: str,
    block_size: int,
    neutral: str | float,
    reduce_expr: str,
    map_expr: str | None = None,
    arguments: _Arguments | None = None,
    name: str = "reduce_kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
) -> tuple[Function, list[str]]:
    """Return (prepared function, format characters) of stage 1 or 2.

    The arguments are the output, in stage 2 the results of stage 1, those of the
    program, the elements a thread takes up and the number of elements.
    """
    parsed: list[ScalarArg | VectorArg | _RawVector]
    parsed = [*_arguments.parsed(arguments or [])]
    if map_expr is None:
        map_expr = _first_vector(parsed).name + "[i]" if stage == 1 else None
    if stage == 2:
        names = _arguments.Names(parsed, neutral, reduce_expr, preamble, out_type)
        source = names.private("source")["source"]
        map_expr = f"{source}[i]"
        parsed = [_RawVector(out_type, source), *parsed]
    types = [argument.struct_char for argument in parsed]
    module = get_reduction_module(
        out_type,
        block_size,
        neutral,
        reduce_expr,
        map_expr,
        parsed,
        name,
        keep,
        options,
        preamble,
    )
    function = module.get_function(name)
    types = ["P", *types, "I", "N"]
    function.prepare("".join(types))
    return function, types


class _RawVector:
    """A parameter that points to elements of a C type by its name."""

    struct_char = "P"

    def __init__(self, c_type: str, name: str) -> None:
        self.c_type, self.name = c_type, name

    def declarator(self) -> str:
        return f"const {self.c_type} *{self.name}"


def _first_vector(arguments):
    for argument in arguments:
        if isinstance(argument, VectorArg):
            return argument
    raise RuntimeError("a ReductionKernel needs an array among its arguments")


class ReductionKernel:
    """A kernel that maps elements and joins what comes out to one result.

    ``map_expr`` is what is done to element ``i`` of the arguments, by default the first
    array's element; ``reduce_expr`` joins ``a`` and ``b``, in any order; ``neutral`` is
    the result of no elements. ``arguments`` is a C parameter list or a list of
    ScalarArg and VectorArg. An argument may have any name but ``i``; ``a`` and ``b`` in
    ``reduce_expr`` are always the two values. TypeError for an array of another dtype
    than the kernel declares, ValueError for one with fewer elements than it uses.

    A call returns an array without axes of ``dtype_out``, or ``out``. Its keywords are
    ``stream``, ``out``, ``allocator`` and ``kernel_wrapper``, which is given each
    function and returns what is called instead.
    """

    def __init__(
        self,
        dtype_out: DTypeLike,
        neutral: str | float,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: _Arguments | None = None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
    ) -> None:
        self.dtype_out: np.dtype[Any] = np.dtype(dtype_out)
        self.block_size: int = _BLOCK_SIZE
        self.stage1_func: Callable[..., None]
        self.stage2_func: Callable[..., None]
        self.stage1_arg_types: list[str]
        self.stage2_arg_types: list[str]
        own = _arguments.parsed(arguments or [])
        _arguments.check_names(own)
        first = _first_vector(own)
        used = _arguments.elementwise_names(
            [argument.name for argument in own],
            f"{first.name}[i]" if map_expr is None else map_expr,
            preamble,
        )
        self._arguments = _arguments.Arguments(own, used)
        self._words = (
            dtype_to_ctype(self.dtype_out),
            self.block_size,
            neutral,
            reduce_expr,
        )
        self._rest = (name, keep, options, preamble)
        self._map_expr = map_expr
        self._made = {}
        self._stages()

    def _stage(self, stage, arguments):
        """Return (function, format characters) of a stage."""
        name, keep, options, preamble = self._rest
        return get_reduction_kernel_and_types(
            stage,
            *self._words,
            self._map_expr,
            arguments,
            f"{name}_stage{stage}",
            keep,
            options,
            preamble,
        )

    def _stages(self):
        """Return the two stages in the current context."""
        context = _working_context()
        made = self._made.get(id(context))
        if made is None:
            own = self._arguments.arguments
            stages = [self._stage(stage, own) for stage in (1, 2)]
            (stage1, self.stage1_arg_types), (stage2, self.stage2_arg_types) = stages
            self.stage1_func = stage1.prepared_async_call
            self.stage2_func = stage2.prepared_async_call
            # The context is kept, so that its id is not another's.
            made = self._made[id(context)] = (*stages, context)
        return made[0][0].prepared_async_call, made[1][0].prepared_async_call

    def _reading_stage(self, converted):
        """Return the first stage, the arguments at these places declared const."""
        context = _working_context()
        key = (id(context), *converted)
        made = self._made.get(key)
        if made is None:
            function, _ = self._stage(1, self._arguments.read_only(converted))
            made = self._made[key] = (function, context)
        return made[0].prepared_async_call

    def _arranged(self, args, stream):
        """Return (values, first array, the first stage if it is not the usual one)."""
        values, first, _, converted = self._arguments.arrange(args, stream)
        stage1 = None
        if converted:
            self._stages()  # errors of the program's own text are raised here
            try:
                stage1 = self._reading_stage(converted)
            except _cuda.CompileError:
                raise self._arguments.writes(args, converted) from None
        return values, first, stage1

    def __call__(self, *args: Any, **kwargs: Any) -> GPUArray:
        from pycuda.gpuarray import GPUArray

        stream, out = kwargs.get("stream"), kwargs.get("out")
        if len(args) < len(self._arguments):
            raise TypeError(
                f"the kernel takes {len(self._arguments)} arguments, "
                f"{len(args)} were given"
            )
        args = args[: len(self._arguments)]
        values, first = self._arguments.gather(args), args[self._arguments.first]
        reading = None
        if values is None:
            values, first, reading = self._arranged(args, stream)
        allocator = kwargs.get("allocator")
        if allocator is None:
            allocator = first.allocator
        size = first.size
        given = out
        if out is not None:
            out = _plain_array(out)
            if out.dtype != self.dtype_out:
                raise ValueError(
                    f"out has dtype {out.dtype}, the result has {self.dtype_out}"
                )
            if out.size == 0:
                raise ValueError("out has no element for the result")
        wrap = kwargs.get("kernel_wrapper") or (lambda function: function)
        stage1, stage2 = self._stages()
        stage1, stage2 = wrap(reading or stage1), wrap(stage2)
        function, source = stage1, []
        while True:
            blocks, each = _cut(size)
            last = blocks == 1
            if last and out is not None:
                result = out
            else:
                shape = () if last else (blocks,)
                result = GPUArray(shape, self.dtype_out, allocator)
            function(
                (blocks, 1),
                (self.block_size, 1, 1),
                stream,
                result.gpudata,
                *source,
                *values,
                each,
                size,
            )
            if last:
                return result if given is None else given
            # gpudata keeps the partial results until the next stage is queued.
            function, source, size = stage2, [result.gpudata], blocks


def _cut(size):
    """Return (blocks, elements a thread takes up) for a number of elements."""
    each = _ELEMENTS_PER_THREAD
    if size <= _BLOCK_SIZE * each:
        return 1, max(-(-size // _BLOCK_SIZE), 1)
    blocks = min(-(-size // (_BLOCK_SIZE * each)), _MOST_BLOCKS)
    each = -(-size // (_BLOCK_SIZE * blocks))
    return -(-size // (_BLOCK_SIZE * each)), each


# Ready-made reductions


@context_dependent_memoize
def get_any_kernel(dtype_out: DTypeLike, dtype_in: DTypeLike) -> ReductionKernel:
    """Return the kernel of whether any element is not 0."""
    return ReductionKernel(
        dtype_out, "false", "a || b", "bool(in[i])", [VectorArg(dtype_in, "in")]
    )


@context_dependent_memoize
def get_all_kernel(dtype_out: DTypeLike, dtype_in: DTypeLike) -> ReductionKernel:
    """Return the kernel of whether all elements are not 0."""
    return ReductionKernel(
        dtype_out, "true", "a && b", "bool(in[i])", [VectorArg(dtype_in, "in")]
    )


def _element(name, dtype_in, dtype_out, index="i"):
    """Return the text of an element, converted only if it must be."""
    text = f"{name}[{index}]"
    if np.dtype(dtype_in) == np.dtype(dtype_out):
        return text
    return f"({dtype_to_ctype(dtype_out)})({text})"


@context_dependent_memoize
def get_sum_kernel(dtype_out: DTypeLike, dtype_in: DTypeLike) -> ReductionKernel:
    """Return the kernel of the sum, in ``dtype_out`` (None: the elements' dtype)."""
    dtype_out = dtype_in if dtype_out is None else dtype_out
    return ReductionKernel(
        dtype_out,
        "0",
        "a + b",
        _element("in", dtype_in, dtype_out),
        [VectorArg(dtype_in, "in")],
    )


@context_dependent_memoize
def get_subset_sum_kernel(
    dtype_out: DTypeLike, dtype_subset: DTypeLike, dtype_in: DTypeLike
) -> ReductionKernel:
    """Return the kernel of the sum of the elements at indices."""
    dtype_out = dtype_in if dtype_out is None else dtype_out
    return ReductionKernel(
        dtype_out,
        "0",
        "a + b",
        _element("in", dtype_in, dtype_out, "lookup_tbl[i]"),
        [VectorArg(dtype_subset, "lookup_tbl"), VectorArg(dtype_in, "in")],
    )


def _dot_dtypes(dtype_out, dtype_a, dtype_b):
    dtype_b = dtype_a if dtype_b is None else dtype_b
    if dtype_out is None:
        dtype_out = np.result_type(dtype_a, dtype_b)
    return np.dtype(dtype_out), dtype_b


@context_dependent_memoize
def get_dot_kernel(
    dtype_out: DTypeLike,
    dtype_a: DTypeLike | None = None,
    dtype_b: DTypeLike | None = None,
) -> ReductionKernel:
    """Return the kernel of the sum of products of two arrays."""
    dtype_a = dtype_out if dtype_a is None else dtype_a
    dtype_out, dtype_b = _dot_dtypes(dtype_out, dtype_a, dtype_b)
    a = _element("a", dtype_a, dtype_out)
    b = _element("b", dtype_b, dtype_out)
    return ReductionKernel(
        dtype_out,
        "0",
        "a + b",
        f"{a} * {b}",
        [VectorArg(dtype_a, "a"), VectorArg(dtype_b, "b")],
    )


@context_dependent_memoize
def get_subset_dot_kernel(
    dtype_out: DTypeLike,
    dtype_subset: DTypeLike,
    dtype_a: DTypeLike | None = None,
    dtype_b: DTypeLike | None = None,
) -> ReductionKernel:
    """Return the kernel of the sum of products of the elements at indices."""
    dtype_a = dtype_out if dtype_a is None else dtype_a
    dtype_out, dtype_b = _dot_dtypes(dtype_out, dtype_a, dtype_b)
    a = _element("a", dtype_a, dtype_out, "lookup_tbl[i]")
    b = _element("b", dtype_b, dtype_out, "lookup_tbl[i]")
    return ReductionKernel(
        dtype_out,
        "0",
        "a + b",
        f"{a} * {b}",
        [
            VectorArg(dtype_subset, "lookup_tbl"),
            VectorArg(dtype_a, "a"),
            VectorArg(dtype_b, "b"),
        ],
    )


def get_minmax_neutral(what: str, dtype: DTypeLike) -> str:
    """Return the text of what is neutral in a "min" or "max" of a dtype."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return f"{'' if what == 'min' else '-'}MY_INFINITY"
    if dtype.kind not in "iu":
        raise TypeError(f"elements of dtype {dtype} have no {what}")
    limits = np.iinfo(dtype)
    if what == "min":
        return f"{limits.max}{'ULL' if dtype.kind == 'u' else 'LL'}"
    # The least integer has no literal: its positive counterpart does not fit.
    return f"({limits.min + 1}LL - 1)" if limits.min else "0"


_INFINITY = "#define MY_INFINITY (1./0)"


def _minmax_expr(what, dtype):
    if np.dtype(dtype).kind == "f":
        return f"f{what}(a, b)"
    return f"{what}(a, b)"


@context_dependent_memoize
def get_minmax_kernel(what: str, dtype: DTypeLike) -> ReductionKernel:
    """Return the kernel of the least ("min") or greatest ("max") element."""
    neutral = get_minmax_neutral(what, dtype)
    return ReductionKernel(
        dtype,
        neutral,
        _minmax_expr(what, dtype),
        "in[i]",
        [VectorArg(dtype, "in")],
        preamble=_INFINITY,
    )


@context_dependent_memoize
def get_subset_minmax_kernel(
    what: str, dtype: DTypeLike, dtype_subset: DTypeLike
) -> ReductionKernel:
    """Return the kernel of the least or greatest of the elements at indices."""
    neutral = get_minmax_neutral(what, dtype)
    return ReductionKernel(
        dtype,
        neutral,
        _minmax_expr(what, dtype),
        "in[lookup_tbl[i]]",
        [VectorArg(dtype_subset, "lookup_tbl"), VectorArg(dtype, "in")],
        preamble=_INFINITY,
    )
