"""``ReductionKernel``: one result from all elements, by a program's expressions.

The map may be any expression, the operation any associative and commutative one, the
result any type. The functions of ``pycuda.gpuarray`` (sum, min, dot, ...) have kernels
of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pycuda._array.kernels.argument_names import (
    Names,
    check_names,
    elementwise_names,
    parse_arguments,
)
from pycuda._array.kernels.c_types import VectorArg, dtype_to_ctype, with_checks
from pycuda._array.kernels.compilation import CompileError, load
from pycuda._array.kernels.elementwise_kernel import copy_back
from pycuda._array.kernels.kernel_arguments import Arguments
from pycuda._driver import GPUArray, _KernelCall, _plain_array, _working_context
from pycuda._warning import warn
from pycuda.compyte.dtypes import NAME_TO_DTYPE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import DTypeLike

    from pycuda._array.kernels.c_types import ScalarArg, _Arguments
    from pycuda._array.kernels.compilation import SourceModule
    from pycuda._driver import Function

#: The keywords of a call.
_KEYWORDS = ("stream", "out", "allocator", "kernel_wrapper")

_BLOCK_SIZE = 512
_MOST_BLOCKS = 1024
_ELEMENTS_PER_THREAD = 4

# Shared memory is declared as bytes, because the type of the result may have a
# constructor. The operands of reduce_expr are references called a and b. Only variables
# are copied or assigned: the copy constructor of a type may take a "const volatile &".
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
    """Return the module of one stage of a reduction.

    Parameters
    ----------
    out_type : str
        Name of the result's type in C.
    block_size : int
        Threads of a block, a power of 2.
    neutral : str or float
        Neutral element, as an expression in C: to join it with a value does not
        change the value, because each thread begins with it. It is the result of no
        elements.
    reduce_expr : str
        Expression in C that joins two values ``a`` and ``b``.
    map_expr : str
        Expression in C that maps the elements ``i`` to a value.
    arguments : sequence of ScalarArg and VectorArg
        The arguments of the kernel, without the first and the last two.
    name : str, optional
        Name of the kernel.
    keep : bool, optional
        If true, compile in a folder that is not removed, and print its name.
    options : sequence of str, optional
        Options of the compiler.
    preamble : str, optional
        Source before the kernel.

    Returns
    -------
    SourceModule
        The compiled module.

    Raises
    ------
    CompileError
        If the compiler refuses the source.
    """
    check_names(arguments)
    texts = (neutral, reduce_expr, map_expr, preamble, out_type)
    names = Names(arguments, *texts)
    arrays = [each.dtype for each in arguments if isinstance(each, VectorArg)]
    arrays += [NAME_TO_DTYPE[out_type]] if out_type in NAME_TO_DTYPE else []
    text = _KERNEL.format(
        block_size=block_size,
        map_expr=map_expr,
        reduce_expr=reduce_expr,
        preamble=with_checks(preamble, arrays),
        out_type=out_type,
        name=name,
        parameters="".join(f"{argument.declarator()}, " for argument in arguments),
        neutral=neutral,
        **names.public("n", "seq_count", "tid", "s", "acc", "sdata"),
        **names.private("assign", "make", "out", "room", "mapped"),
    )
    return load(text, options, keep)


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
    """Return the prepared function of one stage, and the format of its parameters.

    Parameters
    ----------
    stage : {1, 2}
        Stage of the reduction. The second joins the results of the first.
    out_type : str
        Name of the result's type in C.
    block_size : int
        Threads of a block, a power of 2.
    neutral : str or float
        Neutral element, as an expression in C: to join it with a value does not
        change the value, because each thread begins with it. It is the result of no
        elements.
    reduce_expr : str
        Expression in C that joins two values ``a`` and ``b``.
    map_expr : str, optional
        Expression in C that maps the elements ``i`` to a value. The default is the
        element of the first array.
    arguments : str or list of ScalarArg and VectorArg
        The parameter list in C, or its arguments.
    name : str, optional
        Name of the kernel.
    keep : bool, optional
        If true, compile in a folder that is not removed, and print its name.
    options : sequence of str, optional
        Options of the compiler.
    preamble : str, optional
        Source before the kernel.

    Returns
    -------
    function : Function
        The prepared kernel. Its parameters are the output, in stage 2 the results of
        stage 1, the program's arguments, the number of elements that a thread reduces,
        and the number of all elements.
    types : list of str
        The format characters of the parameters.

    Raises
    ------
    CompileError
        If the compiler refuses the source.
    """
    parsed: list[ScalarArg | VectorArg | _RawVector]
    parsed = [*parse_arguments(arguments or [])]
    if map_expr is None:
        map_expr = _first_vector(parsed).name + "[i]" if stage == 1 else None
    if stage == 2:
        names = Names(parsed, neutral, reduce_expr, preamble, out_type)
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
    """A parameter that points to elements of a C type, which has no dtype."""

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


class ReductionKernel(_KernelCall):
    """Kernel that maps the elements and joins the values to one result.

    A call takes the arguments in order and the keywords ``stream``, ``out``,
    ``allocator`` and ``kernel_wrapper``. It returns ``out``, or a new array without
    axes.

    Parameters
    ----------
    dtype_out : dtype_like
        Dtype of the result, and of the values that are joined. It may be that of a
        struct that ``pycuda.tools.get_or_register_dtype`` has registered and that
        ``preamble`` defines.
    neutral : str or float
        Neutral element, as an expression in C: to join it with a value does not
        change the value, because each thread begins with it. It is the result of no
        elements.
    reduce_expr : str
        Expression in C that joins two values ``a`` and ``b``, in any order.
    map_expr : str, optional
        Expression in C that maps the elements ``i`` of the arguments to a value. The
        default is the element of the first array.
    arguments : str or list of ScalarArg and VectorArg
        The parameter list in C, such as ``"float *x, float *y"``. An argument may have
        any name but ``i``.
    name : str, optional
        Name of the kernels, as profilers show it.
    keep : bool, optional
        If true, compile in a folder that is not removed, and print its name.
    options : sequence of str, optional
        Options of the compiler.
    preamble : str, optional
        Source before the kernels.

    Attributes
    ----------
    dtype_out : numpy.dtype
        The dtype of the result.
    block_size : int
        The number of threads of a block.
    stage1_func : callable
        The launch of the first stage, which reads the arguments; a bound
        ``prepared_async_call``.
    stage2_func : callable
        The launch of the second stage, which combines the results of the blocks.
    stage1_arg_types : list of str
        The formats of the first stage's arguments, as ``prepare`` takes them.
    stage2_arg_types : list of str
        The formats of the second stage's arguments, as ``prepare`` takes them.

    Raises
    ------
    CompileError
        If the compiler refuses the source.
    RuntimeError
        If there is no array among the arguments.
    TypeError
        By a call with ``PYCUDA_STRICT=1``, if an array has another dtype than the
        kernel declares; otherwise that is a warning.
    ValueError
        By a call, if an array has fewer elements than the kernel uses, or if ``out``
        has another dtype.

    See Also
    --------
    pycuda.elementwise.ElementwiseKernel : A result for each element.
    pycuda.gpuarray.sum : The sum, without a kernel of your own.

    Notes
    -----
    The constructor compiles the kernels, or loads them from the compile cache. A call
    enqueues them in ``stream``, by default in the current stream, and does not wait. It
    allocates the result and the partial results with ``allocator``, by default with
    that of the first array. ``kernel_wrapper`` is a function that gets each launch
    function and returns a replacement. As in PyCUDA a call ignores any other keyword,
    with a warning.

    Examples
    --------
    >>> from pycuda.reduction import ReductionKernel
    >>> dot = ReductionKernel(np.float32, neutral="0", reduce_expr="a + b",
    ...                       map_expr="x[i] * y[i]", arguments="float *x, float *y")
    >>> x = gpuarray.arange(4, dtype=np.float32)
    >>> print(dot(x, x))
    14.0
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
        try:
            self.dtype_out: np.dtype[Any] = np.dtype(dtype_out)
        except TypeError:
            raise TypeError(
                f"dtype_out must be a dtype, not {dtype_out!r}: ReductionKernel takes "
                "dtype_out, neutral, reduce_expr, map_expr and arguments"
            ) from None
        self.block_size: int = _BLOCK_SIZE
        self.stage1_func: Callable[..., None]
        self.stage2_func: Callable[..., None]
        self.stage1_arg_types: list[str]
        self.stage2_arg_types: list[str]
        own = parse_arguments(arguments or [])
        check_names(own)
        first = _first_vector(own)
        used = elementwise_names(
            [argument.name for argument in own],
            f"{first.name}[i]" if map_expr is None else map_expr,
            preamble,
        )
        self._arguments = Arguments(own, used)
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
        """Return the launch functions of both stages for the current context."""
        context = _working_context()
        made = self._made.get(id(context))
        if made is None:
            own = self._arguments.arguments
            stages = [self._stage(stage, own) for stage in (1, 2)]
            (stage1, self.stage1_arg_types), (stage2, self.stage2_arg_types) = stages
            self.stage1_func = stage1.prepared_async_call
            self.stage2_func = stage2.prepared_async_call
            # The context is kept alive, so that no other context gets its id.
            made = self._made[id(context)] = (*stages, context)
        return made[0][0].prepared_async_call, made[1][0].prepared_async_call

    def _prepare(self, use_range):
        """Let C run the calls in this context: see ``_KernelCall``."""
        self._stages()
        stage1, stage2, context = self._made[id(_working_context())]
        self._remember(
            "reduction",
            context,
            (stage1[0], stage2[0]),
            self._arguments.dtypes,
            self._arguments.uses,
            self._arguments.first,
            self.dtype_out,
            self.block_size,
            _ELEMENTS_PER_THREAD,
            _MOST_BLOCKS,
        )

    def _reading_stage(self, places):
        """Return the first stage with the arguments at these places declared const.

        None if it does not compile: then the kernel may write to them.
        """
        context = _working_context()
        key = (id(context), *places)
        made = self._made.get(key)
        if made is None:
            self._stages()  # raises the errors in the program's own code
            try:
                function = self._stage(1, self._arguments.read_only(places))[0]
                call = function.prepared_async_call
            except CompileError:
                call = None
            made = self._made[key] = (call, context)
        return made[0]

    def _arranged(self, args, stream):
        """Return (values, first array, a first stage or None, triples to copy back)."""
        arguments = self._arguments
        values, first, back, converted = arguments.arrange(args, stream)
        copied = [
            k
            for k, value in enumerate(values)
            if any(value is packed.gpudata for _, packed in back)
        ]
        if not converted and not copied:
            return values, first, None, ()
        stage1 = self._reading_stage(sorted([*converted, *copied]))
        if stage1 is not None:
            return values, first, stage1, ()
        if converted:
            stage1 = self._reading_stage(converted)
            if stage1 is None:
                raise arguments.writes(args, converted)
        return values, first, stage1, arguments.copies_before(args, back, stream)

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> GPUArray: ...

    def _run(self, *args, **kwargs):
        """Arrange the arguments of a call that C refuses, and launch the stages."""
        for name in kwargs:
            if name in _KEYWORDS:
                continue
            warn(
                f"a call of a ReductionKernel ignores the keyword '{name}'; it has the "
                f"keywords {', '.join(_KEYWORDS)}"
            )
        stream, out = kwargs.get("stream"), kwargs.get("out")
        if len(args) < len(self._arguments):
            raise self._arguments.other_count(len(args))
        args = args[: len(self._arguments)]
        values, first, reading, back = self._arranged(args, stream)
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
            if back:
                copy_back(back, stream)
                back = ()
            if last:
                return result if given is None else given
            # gpudata keeps the partial results until the next stage is enqueued.
            function, source, size = stage2, [result.gpudata], blocks


def _cut(size):
    """Return (blocks, elements that a thread reduces) for a number of elements."""
    each = _ELEMENTS_PER_THREAD
    if size <= _BLOCK_SIZE * each:
        return 1, max(-(-size // _BLOCK_SIZE), 1)
    blocks = min(-(-size // (_BLOCK_SIZE * each)), _MOST_BLOCKS)
    each = -(-size // (_BLOCK_SIZE * blocks))
    return -(-size // (_BLOCK_SIZE * each)), each
