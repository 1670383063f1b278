"""``ElementwiseKernel``: a program's operation on the elements of its arguments.

The operation becomes the body of a generated loop over the elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pycuda._array.copies import empty_alike
from pycuda._array.kernels.argument_names import (
    Names,
    check_names,
    elementwise_names,
    names_of,
    parse_arguments,
)
from pycuda._array.kernels.c_types import ScalarArg, VectorArg, with_checks
from pycuda._array.kernels.compilation import CompileError, load
from pycuda._array.kernels.kernel_arguments import Arguments, count_of
from pycuda._context_cache import context_dependent_memoize
from pycuda._driver import (
    Context,
    _KernelCall,
    _plain_array,
    _working_context,
    device_attribute,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from pycuda._array.kernels.c_types import _Arguments
    from pycuda._array.kernels.compilation import SourceModule
    from pycuda._driver import Function, TextureReference

    _Made: TypeAlias = tuple[SourceModule, Function, list[ScalarArg | VectorArg]]


def splay_backend(n, dev):
    """Return (grid, block) for a loop over ``n`` elements on a device."""
    most = 32 * dev.get_attribute(device_attribute.MULTIPROCESSOR_COUNT)
    each = -(-n // most)
    threads = 32 * min(max(-(-each // 32), 1), 4)
    blocks = min(max(-(-n // threads), 1), most)
    return (blocks, 1), (threads, 1, 1)


def splay(n, dev=None):
    """Return grid and block of a kernel whose threads share the elements.

    Parameters
    ----------
    n : int
        Number of elements.
    dev : Device, optional
        The device. The default is that of the current context.

    Returns
    -------
    grid : tuple of int
        Numbers of blocks along two axes.
    block : tuple of int
        Numbers of threads along three axes.

    Examples
    --------
    >>> gpuarray.splay(100)
    ((4, 1), (32, 1, 1))
    """
    return splay_backend(n, Context.get_device() if dev is None else dev)


# -- the module of a kernel ------------------------------------------------------------


# The loop of a kernel over the first n elements, and of one over a range.
_LOOPS = {
    False: """
    size_t i;
    {loop_prep};
    for (i = (size_t){cta_start} + {tid}; i < {n}; i += {total_threads})
    {{
        {operation};
    }}
    {after_loop};
""",
    True: """
    long i;
    {loop_prep};
    if ({step} < 0)
    {{
        for (i = {start} + (long)({cta_start} + {tid}) * {step}; i > {stop};
             i += (long){total_threads} * {step})
        {{
            {operation};
        }}
    }}
    else
    {{
        for (i = {start} + (long)({cta_start} + {tid}) * {step}; i < {stop};
             i += (long){total_threads} * {step})
        {{
            {operation};
        }}
    }}
    {after_loop};
""",
}
_KERNEL = """#include <pycuda-complex.hpp>
{preamble}

extern "C" __global__ void {name}({parameters})
{{
    const unsigned int {tid} = threadIdx.x;
    const unsigned int {total_threads} = gridDim.x * blockDim.x;
    const unsigned int {cta_start} = blockDim.x * blockIdx.x;
{loop}}}
"""

#: What follows a program's arguments, by use_range.
BOUNDS = {False: ("n",), True: ("start", "stop", "step")}
_BOUND_DTYPES = {False: np.uintp, True: np.intp}


def _module(
    use_range,
    arguments,
    operation,
    name="kernel",
    keep=False,
    options=None,
    preamble="",
    loop_prep="",
    after_loop="",
    bounds=None,
):
    """Return the module. ``bounds`` are the names of the last arguments, if special."""
    usual = BOUNDS[use_range]
    bounds = usual if bounds is None else bounds
    own = [argument for argument in arguments if argument.name not in bounds]
    check_names(own)
    texts = (operation, preamble, loop_prep, after_loop)
    names = Names(own, *texts)
    names = names.public("tid", "total_threads", "cta_start")
    names |= zip(usual, bounds, strict=True)
    loop = _LOOPS[use_range].format(
        operation=operation, loop_prep=loop_prep, after_loop=after_loop, **names
    )
    arrays = [each.dtype for each in arguments if isinstance(each, VectorArg)]
    text = _KERNEL.format(
        preamble=with_checks(preamble, arrays),
        name=name,
        parameters=", ".join(argument.declarator() for argument in arguments),
        loop=loop,
        **names,
    )
    return load(text, options, keep)


def get_elwise_module(
    arguments: Sequence[ScalarArg | VectorArg],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    """Return the module of a kernel over ``n`` elements.

    Parameters
    ----------
    arguments : sequence of ScalarArg and VectorArg
        The arguments of the kernel. One of them is ``n``.
    operation : str
        One or more statements in C.
    name : str, optional
        Name of the kernel.
    keep : bool, optional
        If true, compile in a folder that is not removed, and print its name.
    options : sequence of str, optional
        Options of the compiler.
    preamble : str, optional
        Source before the kernel.
    loop_prep : str, optional
        Statements in front of the loop over the elements.
    after_loop : str, optional
        Statements behind the loop.

    Returns
    -------
    SourceModule
        The compiled module.

    Raises
    ------
    CompileError
        If the compiler refuses the source.
    """
    return _module(
        False,
        arguments,
        operation,
        name,
        keep,
        options,
        preamble,
        loop_prep,
        after_loop,
    )


def get_elwise_range_module(
    arguments: Sequence[ScalarArg | VectorArg],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    """Return the module of a kernel over a range of indices.

    Parameters
    ----------
    arguments : sequence of ScalarArg and VectorArg
        The arguments of the kernel. Among them are ``start``, ``stop`` and ``step``.
    operation : str
        One or more statements in C.
    name : str, optional
        Name of the kernel.
    keep : bool, optional
        If true, compile in a folder that is not removed, and print its name.
    options : sequence of str, optional
        Options of the compiler.
    preamble : str, optional
        Source before the kernel.
    loop_prep : str, optional
        Statements in front of the loop over the elements.
    after_loop : str, optional
        Statements behind the loop.

    Returns
    -------
    SourceModule
        The compiled module.

    Raises
    ------
    CompileError
        If the compiler refuses the source.
    """
    return _module(
        True,
        arguments,
        operation,
        name,
        keep,
        options,
        preamble,
        loop_prep,
        after_loop,
    )


def get_elwise_kernel_and_types(
    arguments: _Arguments,
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    use_range: bool = False,
    **kwargs: Any,
) -> _Made:
    """Return the module, the prepared function and the arguments of a kernel.

    Parameters
    ----------
    arguments : str or list of ScalarArg and VectorArg
        The parameter list in C, or its arguments.
    operation : str
        One or more statements in C.
    name : str, optional
        Name of the kernel.
    keep : bool, optional
        If true, compile in a folder that is not removed, and print its name.
    options : sequence of str, optional
        Options of the compiler.
    use_range : bool, optional
        If true, the kernel loops over a range of indices.
    **kwargs
        ``preamble``, ``loop_prep`` and ``after_loop``, as for ``ElementwiseKernel``.

    Returns
    -------
    module : SourceModule
        The compiled module.
    function : Function
        The prepared kernel.
    arguments : list of ScalarArg and VectorArg
        The arguments, which end with ``n``, or with ``start``, ``stop`` and ``step``.

    Raises
    ------
    CompileError
        If the compiler refuses the source.
    """
    parsed = parse_arguments(arguments)
    texts = [kwargs.get(w, "") for w in ("preamble", "loop_prep", "after_loop")]
    usual = BOUNDS[use_range]
    bounds = Names(parsed, operation, *texts).public(*usual).values()
    parsed += [ScalarArg(_BOUND_DTYPES[use_range], bound) for bound in bounds]
    module = _module(
        use_range,
        parsed,
        operation,
        name,
        keep,
        options,
        bounds=tuple(bounds),
        **kwargs,
    )
    function = module.get_function(name)
    function.prepare("".join(argument.struct_char for argument in parsed))
    return module, function, parsed


def get_elwise_kernel(
    arguments: _Arguments,
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    **kwargs: Any,
) -> Function:
    """Return the prepared function of a kernel; its last parameter is ``n``.

    Parameters
    ----------
    arguments : str or list of ScalarArg and VectorArg
        The parameter list in C, or its arguments.
    operation : str
        One or more statements in C.
    name : str, optional
        Name of the kernel.
    keep : bool, optional
        If true, compile in a folder that is not removed, and print its name.
    options : sequence of str, optional
        Options of the compiler.
    **kwargs
        ``use_range``, ``preamble``, ``loop_prep`` and ``after_loop``, as for
        ``get_elwise_kernel_and_types``.

    Returns
    -------
    Function
        The prepared kernel.

    Raises
    ------
    CompileError
        If the compiler refuses the source.

    Examples
    --------
    >>> from pycuda.elementwise import get_elwise_kernel
    >>> square = get_elwise_kernel("float *x", "x[i] *= x[i]")
    >>> x = gpuarray.arange(4, dtype=np.float32)
    >>> square.prepared_call((1, 1), (32, 1, 1), x.gpudata, x.size)
    >>> x
    array([0., 1., 4., 9.], dtype=float32)
    """
    return get_elwise_kernel_and_types(
        arguments, operation, name, keep, options, **kwargs
    )[1]


# -- copies that a kernel worked on, and the way back to the arrays --------------------


@context_dependent_memoize
def _merger(itemsize):
    """Return the kernel that copies from ``after`` the elements that changed.

    Its arguments are ``now``, which it writes to, ``before`` and ``after``. Elements
    are compared by their bits.
    """
    word = min(itemsize & -itemsize, 8)
    kind = {1: "char", 2: "short", 4: "int", 8: "long long"}[word]
    count = itemsize // word
    return get_elwise_kernel(
        f"{kind} *now, {kind} *before, {kind} *after",
        f"""
        bool changed = false;
        for (size_t k = i * {count}; k < (i + 1) * {count}; k++)
            changed = changed || before[k] != after[k];
        for (size_t k = i * {count}; changed && k < (i + 1) * {count}; k++)
            now[k] = after[k];
        """,
        "merge",
    )


def copy_back(triples, stream):
    """Copy the triples of ``Arguments.copies_before`` back to their arrays."""
    for array, packed, before in triples:
        if before is None:
            array.set_async(packed, stream)
            continue
        now = empty_alike(packed)
        now.set_async(array, stream)
        _merger(packed.dtype.itemsize).prepared_async_call(
            now._grid,
            now._block,
            stream,
            now.gpudata,
            before.gpudata,
            packed.gpudata,
            now.size,
        )
        array.set_async(now, stream)


# -- kernels ---------------------------------------------------------------------------


def _bounds(array, range_, slice_):
    """Return (start, stop and step, number of indices, least index, extent)."""
    if slice_ is not None:
        bounds = slice_.indices(getattr(_plain_array(array), "size", 0))
    else:
        bounds = (range_.start, range_.stop, range_.step)
        if None in bounds:
            raise TypeError("range needs start, stop and step")
    indices = range(*bounds)
    least = extent = 0
    if indices:
        least, extent = min(indices[0], indices[-1]), max(indices[0], indices[-1]) + 1
    return bounds, len(indices), least, extent


#: What the constructor takes beside the names in its signature.
_TEXTS = ("preamble", "loop_prep", "after_loop")


class ElementwiseKernel(_KernelCall):
    """Kernel made of an operation on the elements ``i`` of its arguments.

    A call takes the arguments in order, and the keywords ``stream`` and ``range`` (an
    object with start, stop and step) or ``slice``, which select the indices.

    Parameters
    ----------
    arguments : str or list of ScalarArg and VectorArg
        The parameter list in C, such as ``"float a, float *x"``. An argument may have
        any name but ``i``. If an argument is called ``n`` or ``tid``, the operation
        sees the argument under that name.
    operation : str
        One or more statements in C. ``i`` is the index and ``n`` the number of
        elements.
    name : str, optional
        Name of the kernel, as profilers show it.
    keep : bool, optional
        If true, compile in a folder that is not removed, and print its name.
    options : sequence of str, optional
        Options of the compiler.
    **kwargs
        ``preamble``, source before the kernel; ``loop_prep`` and ``after_loop``,
        statements in front of the loop over the elements and behind it.

    Attributes
    ----------
    gen_kwargs : dict
        The arguments of the constructor.

    Raises
    ------
    TypeError
        By a call with ``PYCUDA_STRICT=1``, if an array has another dtype than the
        kernel declares; otherwise that is a warning.
    ValueError
        By a call, if an array has fewer elements than the operation uses.
    RuntimeError
        By a call, if there is no array among the arguments.

    See Also
    --------
    pycuda.reduction.ReductionKernel : One result from all elements.
    pycuda.scan.InclusiveScanKernel : Running results.

    Notes
    -----
    The first array gives the number of elements. It and the arrays of its shape may
    have any strides. The first call in a context compiles the kernel, or loads it from
    the compile cache. A call enqueues the kernel in ``stream``, by default in the
    current stream, and does not wait. It allocates memory only for arrays with gaps.

    Examples
    --------
    >>> from pycuda.elementwise import ElementwiseKernel
    >>> axpy = ElementwiseKernel("float a, float *x, float *y", "y[i] += a * x[i]")
    >>> x = gpuarray.arange(4, dtype=np.float32)
    >>> y = gpuarray.ones(4, np.float32)
    >>> axpy(2, x, y)
    >>> y
    array([1., 3., 5., 7.], dtype=float32)
    >>> axpy(10, x, y, slice=slice(0, 4, 2))
    >>> y
    array([ 1.,  3., 25.,  7.], dtype=float32)
    """

    def __init__(
        self,
        arguments: _Arguments,
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(arguments, str):
            arguments = list(arguments)
        check_names(arguments)
        if not name.isidentifier():
            raise ValueError(
                f"the kernel's name must be a name of C, not {name!r}; the order is "
                "ElementwiseKernel(arguments, operation, name)"
            )
        self.gen_kwargs: dict[str, Any] = dict(
            kwargs,
            arguments=arguments,
            operation=operation,
            name=name,
            keep=keep,
            options=options,
        )
        self._made = {}

    def generate_stride_kernel_and_types(self, use_range: bool) -> _Made:
        """Return the module, the function and the arguments for the current context.

        Parameters
        ----------
        use_range : bool
            If true, those of the kernel for ``range`` and ``slice``.

        Returns
        -------
        module : SourceModule
            The compiled module.
        function : Function
            The prepared kernel.
        arguments : list of ScalarArg and VectorArg
            The arguments of the kernel, with those that follow the program's.
        """
        return self._variant(use_range)[:3]

    def _variant(self, use_range, arguments=None, converted=()):
        """Return (module, function, arguments, their checks, context).

        ``arguments`` are those of the kernel, with the ones at ``converted`` declared
        const.
        """
        context = _working_context()
        key = (id(context), use_range, *converted)
        made = self._made.get(key)
        if made is None:
            kwargs = dict(self.gen_kwargs)
            self._check_keywords(kwargs)
            if arguments is not None:
                kwargs["arguments"] = arguments
            module, function, full = get_elwise_kernel_and_types(
                use_range=use_range, **kwargs
            )
            own = full[: -len(BOUNDS[use_range])]
            if not any(isinstance(argument, VectorArg) for argument in own):
                raise RuntimeError(
                    "an ElementwiseKernel needs an array among its arguments"
                )
            used = elementwise_names(
                names_of(own),
                self.gen_kwargs["operation"],
                self.gen_kwargs.get("preamble", ""),
            )
            # The context is kept alive, so that no other context gets its id.
            made = module, function, full, Arguments(own, used), context
            self._made[key] = made
        return made

    @staticmethod
    def _check_keywords(kwargs):
        """Refuse unknown keywords of the constructor, at the first call as PyCUDA."""
        known = ("arguments", "operation", "name", "keep", "options", *_TEXTS)
        unknown = sorted(kwargs.keys() - known)
        if unknown:
            raise TypeError(
                "this ElementwiseKernel was made with unknown keywords: "
                f"{', '.join(unknown)}; it takes {', '.join(known)}"
            )

    def get_texref(self, name: str, use_range: bool = False) -> TextureReference:
        """Return a texture reference of the kernel's module.

        Parameters
        ----------
        name : str
            Name of the texture reference in the preamble.
        use_range : bool, optional
            If true, that of the kernel for ``range`` and ``slice``.

        Returns
        -------
        TextureReference
            The texture reference.

        Raises
        ------
        LogicError
            If the module has no such texture reference.
        """
        return self.generate_stride_kernel_and_types(use_range)[0].get_texref(name)

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> None: ...

    def _prepare(self, use_range):
        """Let C run the calls in this context: see ``_KernelCall``."""
        _, function, _, arguments, context = self._variant(use_range)
        self._remember(
            "range" if use_range else "elementwise",
            context,
            (function,),
            arguments.dtypes,
            arguments.uses,
            arguments.first,
        )

    def _run(self, *args, range=None, slice=None, stream=None, **unknown):
        """Arrange the arguments of a call that C refuses, and launch the kernel."""
        if unknown:
            raise TypeError(f"unknown keywords: {', '.join(sorted(unknown))}")
        if range is not None and slice is not None:
            raise TypeError("range and slice cannot be given together")
        use_range = range is not None or slice is not None
        _, function, _, arguments, _ = self._variant(use_range)
        if len(args) != len(arguments):
            raise arguments.other_count(len(args))
        given, extent, least = args[arguments.first], -1, 0
        if use_range:
            bounds, count, least, extent = _bounds(given, range, slice)
        function, values, first, back = self._arranged(
            use_range, function, arguments, args, stream, extent, least
        )
        if use_range:
            (grid, block), has_work = splay(max(count, 1)), first.mem_size
        else:
            grid, block, has_work = first._grid, first._block, count_of(given)
            bounds = (has_work,)
        if has_work:
            function.prepared_async_call(grid, block, stream, *values, *bounds)
        if back:
            copy_back(back, stream)

    def _arranged(self, use_range, function, arguments, args, stream, extent, least):
        """Return (function, values, first array, triples for copy_back())."""
        values, first, back, converted = arguments.arrange(args, stream, extent, least)
        if converted:
            try:
                function = self._variant(
                    use_range, arguments.read_only(converted), converted
                )[1]
            except CompileError:
                raise arguments.writes(args, converted) from None
        if back:
            back = arguments.copies_before(args, back, stream)
        return function, values, first, back
