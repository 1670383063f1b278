"""Kernels over elements: ``ElementwiseKernel``, and ready-made ones by dtype.

The text of an operation is put into a loop over the elements and compiled at its first
use in a context. The functions ``get_*_kernel`` return prepared functions whose last
parameter is the number of elements.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

import pycuda.driver as _cuda
from pycuda import _arguments, _codegen
from pycuda._driver import _plain_array, _working_context
from pycuda.tools import (
    ScalarArg,
    VectorArg,
    context_dependent_memoize,
    dtype_to_ctype,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from numpy.typing import DTypeLike

    from pycuda._driver import Function, TextureReference
    from pycuda.compiler import SourceModule

    _Arguments: TypeAlias = str | Iterable[ScalarArg | VectorArg]
    _Made: TypeAlias = tuple[SourceModule, Function, list[ScalarArg | VectorArg]]

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
_BOUNDS = {False: ("n",), True: ("start", "stop", "step")}
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
    """Return the module. ``bounds`` are names of the last arguments, if not usual."""
    usual = _BOUNDS[use_range]
    bounds = usual if bounds is None else bounds
    own = [argument for argument in arguments if argument.name not in bounds]
    _arguments.check_names(own)
    texts = (operation, preamble, loop_prep, after_loop)
    names = _arguments.Names(own, *texts)
    names = names.public("tid", "total_threads", "cta_start")
    names |= zip(usual, bounds, strict=True)
    loop = _LOOPS[use_range].format(
        operation=operation, loop_prep=loop_prep, after_loop=after_loop, **names
    )
    text = _KERNEL.format(
        preamble=preamble,
        name=name,
        parameters=", ".join(argument.declarator() for argument in arguments),
        loop=loop,
        **names,
    )
    return _codegen.load(text, options, keep)


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
    """Return the module of a kernel over ``n`` elements, ``n`` being an argument."""
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
    """Return the module of a kernel from ``start`` to ``stop`` by ``step``, which are
    arguments.
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
    """Return (module, prepared function, arguments).

    The arguments end with ``n``, or with ``start``, ``stop`` and ``step``.
    """
    parsed = _arguments.parsed(arguments)
    texts = [kwargs.get(w, "") for w in ("preamble", "loop_prep", "after_loop")]
    usual = _BOUNDS[use_range]
    bounds = _arguments.Names(parsed, operation, *texts).public(*usual).values()
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
    """Return the prepared function of a kernel; its last parameter is ``n``."""
    return get_elwise_kernel_and_types(
        arguments, operation, name, keep, options, **kwargs
    )[1]


class ElementwiseKernel:
    """A kernel made of an operation on the elements ``i`` of its arguments.

    ``arguments`` is a C parameter list such as ``"float a, float *x"``, or a list of
    ScalarArg and VectorArg. In the operation, which may be several statements, ``i`` is
    the index, ``n`` the number of elements. ``preamble`` goes before the kernel,
    ``loop_prep`` and ``after_loop`` around its loop. An argument may have any name but
    ``i``; one called ``n`` or ``tid`` is what the operation sees under that name.

    A call takes the arguments in order and the keywords ``stream``, and ``range`` (an
    object with start, stop and step) or ``slice``, which say for which indices to run.
    The first array gives the number of elements; it and the arrays of its shape may
    have any strides. TypeError for an array of another dtype than the kernel declares,
    ValueError for one with fewer elements than the operation uses.
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
        _arguments.check_names(arguments)
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
        """Return (module, prepared function, arguments) in the current context."""
        return self._variant(use_range)[:3]

    def _variant(self, use_range, arguments=None, converted=()):
        """Return (module, function, arguments, what a call checks, context).

        ``arguments`` replaces the kernel's, with those at ``converted`` declared const.
        """
        context = _working_context()
        key = (id(context), use_range, *converted)
        made = self._made.get(key)
        if made is None:
            kwargs = dict(self.gen_kwargs)
            if arguments is not None:
                kwargs["arguments"] = arguments
            module, function, full = get_elwise_kernel_and_types(
                use_range=use_range, **kwargs
            )
            own = full[: -len(_BOUNDS[use_range])]
            if not any(isinstance(argument, VectorArg) for argument in own):
                raise RuntimeError(
                    "an ElementwiseKernel needs an array among its arguments"
                )
            used = _arguments.elementwise_names(
                _arguments.names_of(own),
                self.gen_kwargs["operation"],
                self.gen_kwargs.get("preamble", ""),
            )
            # The context is kept, so that its id is not another's.
            made = module, function, full, _arguments.Arguments(own, used), context
            self._made[key] = made
        return made

    def get_texref(self, name: str, use_range: bool = False) -> TextureReference:
        """Return a texture reference of the kernel's module."""
        return self.generate_stride_kernel_and_types(use_range)[0].get_texref(name)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        range_ = slice_ = stream = None
        if kwargs:
            range_ = kwargs.pop("range", None)
            slice_ = kwargs.pop("slice", None)
            stream = kwargs.pop("stream", None)
            if kwargs:
                raise TypeError(f"unknown keywords: {', '.join(sorted(kwargs))}")
            if range_ is not None and slice_ is not None:
                raise TypeError("range and slice cannot be given together")
        use_range = range_ is not None or slice_ is not None
        _, function, _, arguments, _ = self._variant(use_range)
        if len(args) != len(arguments):
            raise TypeError(
                f"the kernel takes {len(arguments)} arguments, {len(args)} were given"
            )
        if use_range:
            self._call_range(function, arguments, args, range_, slice_, stream)
            return
        values, first, back = arguments.gather(args), args[arguments.first], ()
        if values is None:
            function, values, first, back = self._arranged(
                False, function, arguments, args, stream
            )
            count = _arguments.count_of(args[arguments.first])
        else:
            count = first.mem_size
        values.append(count)
        if count:
            function.prepared_async_call(first._grid, first._block, stream, *values)
        if back:
            _arguments.copy_back(back, stream)

    def _call_range(self, function, arguments, args, range_, slice_, stream):
        if slice_ is not None:
            first = _plain_array(args[arguments.first])
            bounds = slice_.indices(getattr(first, "size", 0))
        else:
            bounds = (range_.start, range_.stop, range_.step)
            if None in bounds:
                raise TypeError("range needs start, stop and step")
        indices = builtins.range(*bounds)
        extent = max(indices[0], indices[-1]) + 1 if indices else 0
        least = min(indices[0], indices[-1]) if indices else 0
        first, back = args[arguments.first], ()
        values = arguments.gather(args, extent) if least >= 0 else None
        if values is None:
            function, values, first, back = self._arranged(
                True, function, arguments, args, stream, extent, least
            )
        from pycuda.gpuarray import splay

        grid, block = splay(max(len(indices), 1))
        if first.mem_size:
            function.prepared_async_call(grid, block, stream, *values, *bounds)
        if back:
            _arguments.copy_back(back, stream)

    def _arranged(
        self, use_range, function, arguments, args, stream, extent=-1, least=0
    ):
        """Return (function, values, first array, what copy_back() takes)."""
        values, first, back, converted = arguments.arrange(args, stream, extent, least)
        if converted:
            try:
                function = self._variant(
                    use_range, arguments.read_only(converted), converted
                )[1]
            except _cuda.CompileError:
                raise arguments.writes(args, converted) from None
        if back:
            back = arguments.copies_before(args, back, stream)
        return function, values, first, back


# Kernels by dtype


def _get_real_dtype(dtype):
    """Return the dtype of the parts of a complex dtype; others are their own."""
    dtype = np.dtype(dtype)
    return np.dtype(dtype.char.lower()) if dtype.kind == "c" else dtype


def _vector(dtype, name):
    return VectorArg(dtype, name)


def _scalar(dtype, name):
    return ScalarArg(dtype, name)


def _either(dtype, name, is_scalar):
    """Return (argument, how the operation reads it)."""
    if is_scalar:
        return ScalarArg(dtype, name), name
    return VectorArg(dtype, name), f"{name}[i]"


def _cast(dtype, text):
    return f"({dtype_to_ctype(dtype)})({text})"


@context_dependent_memoize
def get_take_kernel(
    dtype: DTypeLike, idx_dtype: DTypeLike, vec_count: int = 1
) -> tuple[Function, list[TextureReference]]:
    """Return (kernel, []): dest<k>[i] = src<k>[idx[i]]; idx, dests, srcs, n."""
    numbers = builtins.range(vec_count)
    arguments = [_vector(idx_dtype, "idx")]
    arguments += [_vector(dtype, f"dest{k}") for k in numbers]
    arguments += [_vector(dtype, f"src{k}") for k in numbers]
    body = "; ".join(f"dest{k}[i] = src{k}[idx[i]]" for k in numbers)
    return get_elwise_kernel(arguments, body, "take"), []


@context_dependent_memoize
def get_take_put_kernel(
    dtype: DTypeLike, idx_dtype: DTypeLike, with_offsets: bool, vec_count: int = 1
) -> tuple[Function, list[TextureReference]]:
    """Return (kernel, []): dest<k>[dest_idx[i]] = src<k>[src_idx[i] + offset<k>].

    The arguments are dest_idx, src_idx, dests, srcs, offsets if there are any, n.
    """
    numbers = builtins.range(vec_count)
    arguments = [_vector(idx_dtype, "dest_idx"), _vector(idx_dtype, "src_idx")]
    arguments += [_vector(dtype, f"dest{k}") for k in numbers]
    arguments += [_vector(dtype, f"src{k}") for k in numbers]
    offset = ""
    if with_offsets:
        arguments += [_scalar(idx_dtype, f"offset{k}") for k in numbers]
        offset = " + offset{k}"
    body = "; ".join(
        f"dest{k}[dest_idx[i]] = src{k}[src_idx[i]{offset.format(k=k)}]"
        for k in numbers
    )
    return get_elwise_kernel(arguments, body, "take_put"), []


@context_dependent_memoize
def get_put_kernel(
    dtype: DTypeLike, idx_dtype: DTypeLike, vec_count: int = 1
) -> Function:
    """Return the kernel dest<k>[idx[i]] = src<k>[i]; idx, dests, srcs, n."""
    numbers = builtins.range(vec_count)
    arguments = [_vector(idx_dtype, "idx")]
    arguments += [_vector(dtype, f"dest{k}") for k in numbers]
    arguments += [_vector(dtype, f"src{k}") for k in numbers]
    body = "; ".join(f"dest{k}[idx[i]] = src{k}[i]" for k in numbers)
    return get_elwise_kernel(arguments, body, "put")


@context_dependent_memoize
def get_copy_kernel(dtype_dest: DTypeLike, dtype_src: DTypeLike) -> Function:
    """Return the kernel dest[i] = src[i], with conversion; dest, src, n."""
    source = "src[i]"
    if np.dtype(dtype_src).kind == "c" and np.dtype(dtype_dest).kind != "c":
        source += ".real()"
    return get_elwise_kernel(
        [_vector(dtype_dest, "dest"), _vector(dtype_src, "src")],
        f"dest[i] = {source}",
        "copy",
    )


@context_dependent_memoize
def get_linear_combination_kernel(
    summand_descriptors: Sequence[tuple[bool, DTypeLike, DTypeLike]], dtype_z: DTypeLike
) -> tuple[Function, list[TextureReference]]:
    """Return (kernel, texture references): z[i] = a0 * x0[i] + a1 * x1[i] + ...

    A descriptor is (is_gpu_scalar, scalar_dtype, vector_dtype). The arguments are a0,
    x0, a1, x1, ..., z, n, without the scalars that are on the device. For each of those
    there is a texture reference, in their order. Bind the scalar's array to it before
    the call, with ``bind_to_texref_ext`` (``allow_double_hack=True`` for ``float64``,
    ``allow_complex_hack=True`` for complex numbers).
    """
    arguments, declared, prep, textures = [], [], [], []
    for k, (on_device, scalar_dtype, vector_dtype) in enumerate(summand_descriptors):
        if on_device:
            stored = dtype_to_ctype(scalar_dtype, with_fp_tex_hack=True)
            declared.append(f"texture<{stored}, 1, cudaReadModeElementType> scalar{k};")
            textures.append(f"scalar{k}")
            prep.append(
                f"{dtype_to_ctype(scalar_dtype)} a{k} = fp_tex1Dfetch(scalar{k}, 0)"
            )
        else:
            arguments.append(_scalar(scalar_dtype, f"a{k}"))
        arguments.append(_vector(vector_dtype, f"x{k}"))
    arguments.append(_vector(dtype_z, "z"))
    module, kernel, made = get_elwise_kernel_and_types(
        arguments,
        _combination(summand_descriptors, dtype_z),
        "linear_combination",
        preamble="\n".join(["#include <pycuda-helpers.hpp>", *declared])
        if declared
        else "",
        loop_prep="; ".join(prep),
    )
    references = [module.get_texref(name) for name in textures]
    kernel.prepare("".join(argument.struct_char for argument in made), references)
    return kernel, references


def _combination(descriptors, dtype_z):
    """Return the operation of a linear combination."""
    summands = [
        f"{_cast(dtype_z, f'a{k}')} * {_cast(dtype_z, f'x{k}[i]')}"
        for k in builtins.range(len(descriptors))
    ]
    return f"z[i] = {' + '.join(summands)}"


@context_dependent_memoize
def _combination_by_address(descriptors, dtype_z):
    """Return the kernel of a linear combination that takes addresses of scalars.

    Its arguments are a0, x0, a1, x1, ..., z, n.
    """
    arguments, prep = [], []
    for k, (on_device, scalar_dtype, vector_dtype) in enumerate(descriptors):
        if on_device:
            arguments.append(_vector(scalar_dtype, f"a{k}_address"))
            prep.append(f"{dtype_to_ctype(scalar_dtype)} a{k} = *a{k}_address")
        else:
            arguments.append(_scalar(scalar_dtype, f"a{k}"))
        arguments.append(_vector(vector_dtype, f"x{k}"))
    arguments.append(_vector(dtype_z, "z"))
    return get_elwise_kernel(
        arguments,
        _combination(descriptors, dtype_z),
        "linear_combination",
        loop_prep="; ".join(prep),
    )


@context_dependent_memoize
def get_axpbyz_kernel(
    dtype_x: DTypeLike,
    dtype_y: DTypeLike,
    dtype_z: DTypeLike,
    x_is_scalar: bool = False,
    y_is_scalar: bool = False,
) -> Function:
    """Return the kernel z[i] = a * x[i] + b * y[i]; a, x, b, y, z, n."""
    x, read_x = _either(dtype_x, "x", x_is_scalar)
    y, read_y = _either(dtype_y, "y", y_is_scalar)
    a, b = _scalar(dtype_z, "a"), _scalar(dtype_z, "b")
    body = f"z[i] = a * {_cast(dtype_z, read_x)} + b * {_cast(dtype_z, read_y)}"
    return get_elwise_kernel([a, x, b, y, _vector(dtype_z, "z")], body, "axpbyz")


@context_dependent_memoize
def get_axpbz_kernel(dtype_x: DTypeLike, dtype_z: DTypeLike) -> Function:
    """Return the kernel z[i] = a * x[i] + b; a, x, b, z, n."""
    return get_elwise_kernel(
        [
            _scalar(dtype_z, "a"),
            _vector(dtype_x, "x"),
            _scalar(dtype_z, "b"),
            _vector(dtype_z, "z"),
        ],
        f"z[i] = a * {_cast(dtype_z, 'x[i]')} + b",
        "axpbz",
    )


@context_dependent_memoize
def get_binary_op_kernel(
    dtype_x: DTypeLike,
    dtype_y: DTypeLike,
    dtype_z: DTypeLike,
    operator: str,
    x_is_scalar: bool = False,
    y_is_scalar: bool = False,
) -> Function:
    """Return the kernel z[i] = x[i] <operator> y[i], in z's dtype; x, y, z, n."""
    x, read_x = _either(dtype_x, "x", x_is_scalar)
    y, read_y = _either(dtype_y, "y", y_is_scalar)
    body = f"z[i] = {_cast(dtype_z, read_x)} {operator} {_cast(dtype_z, read_y)}"
    return get_elwise_kernel([x, y, _vector(dtype_z, "z")], body, "binary_op")


@context_dependent_memoize
def get_rdivide_elwise_kernel(dtype_x: DTypeLike, dtype_z: DTypeLike) -> Function:
    """Return the kernel z[i] = y / x[i]; x, y, z, n."""
    return get_elwise_kernel(
        [_vector(dtype_x, "x"), _scalar(dtype_z, "y"), _vector(dtype_z, "z")],
        f"z[i] = y / {_cast(dtype_z, 'x[i]')}",
        "divide_r",
    )


def _call(function, dtype, *values):
    values = ", ".join(_cast(dtype, value) for value in values)
    return f"{function}({values})"


@context_dependent_memoize
def get_binary_func_kernel(
    func: str, dtype_x: DTypeLike, dtype_y: DTypeLike, dtype_z: DTypeLike
) -> Function:
    """Return the kernel z[i] = func(x[i], y[i]); x, y, z, n."""
    return get_elwise_kernel(
        [_vector(dtype_x, "x"), _vector(dtype_y, "y"), _vector(dtype_z, "z")],
        f"z[i] = {_call(func, dtype_z, 'x[i]', 'y[i]')}",
        "binary_func",
    )


@context_dependent_memoize
def get_binary_func_scalar_kernel(
    func: str, dtype_x: DTypeLike, dtype_y: DTypeLike, dtype_z: DTypeLike
) -> Function:
    """Return the kernel z[i] = func(x[i], y) with a number y; x, y, z, n."""
    return get_elwise_kernel(
        [_vector(dtype_x, "x"), _scalar(dtype_y, "y"), _vector(dtype_z, "z")],
        f"z[i] = {_call(func, dtype_z, 'x[i]', 'y')}",
        "binary_func_scalar",
    )


def get_binary_minmax_kernel(
    func: str,
    dtype_x: DTypeLike,
    dtype_y: DTypeLike,
    dtype_z: DTypeLike,
    use_scalar: bool,
) -> Function:
    """Return the kernel of "min" or "max" of arrays, or of an array and a number."""
    if np.dtype(dtype_z).kind == "f":
        func = f"f{func}"
    make = get_binary_func_scalar_kernel if use_scalar else get_binary_func_kernel
    return make(func, dtype_x, dtype_y, dtype_z)


@context_dependent_memoize
def get_fill_kernel(dtype: DTypeLike) -> Function:
    """Return the kernel z[i] = a; a, z, n."""
    return get_elwise_kernel(
        [_scalar(dtype, "a"), _vector(dtype, "z")], "z[i] = a", "fill"
    )


@context_dependent_memoize
def get_reverse_kernel(dtype: DTypeLike) -> Function:
    """Return the kernel z[i] = y[n - 1 - i]; y, z, n."""
    return get_elwise_kernel(
        [_vector(dtype, "y"), _vector(dtype, "z")], "z[i] = y[n - 1 - i]", "reverse"
    )


@context_dependent_memoize
def get_real_kernel(dtype: DTypeLike, real_dtype: DTypeLike) -> Function:
    """Return the kernel z[i] = real(y[i]); y, z, n."""
    return get_elwise_kernel(
        [_vector(dtype, "y"), _vector(real_dtype, "z")], "z[i] = real(y[i])", "real"
    )


@context_dependent_memoize
def get_imag_kernel(dtype: DTypeLike, real_dtype: DTypeLike) -> Function:
    """Return the kernel z[i] = imag(y[i]); y, z, n."""
    return get_elwise_kernel(
        [_vector(dtype, "y"), _vector(real_dtype, "z")], "z[i] = imag(y[i])", "imag"
    )


@context_dependent_memoize
def get_conj_kernel(dtype: DTypeLike, conj_dtype: DTypeLike) -> Function:
    """Return the kernel z[i] = conj(y[i]); y, z, n."""
    return get_elwise_kernel(
        [_vector(dtype, "y"), _vector(conj_dtype, "z")],
        "z[i] = pycuda::conj(y[i])",
        "conj",
    )


@context_dependent_memoize
def get_arange_kernel(dtype: DTypeLike) -> Function:
    """Return the kernel z[i] = start + i * step; z, start, step, n."""
    return get_elwise_kernel(
        [_vector(dtype, "z"), _scalar(dtype, "start"), _scalar(dtype, "step")],
        f"z[i] = start + {_cast(dtype, 'i')} * step",
        "arange",
    )


@context_dependent_memoize
def get_pow_array_kernel(
    dtype_x: DTypeLike,
    dtype_y: DTypeLike,
    dtype_z: DTypeLike,
    is_base_array: bool,
    is_exp_array: bool,
) -> Function:
    """Return the kernel z[i] = x ** y; either may be a number, not both; x, y, z, n."""
    if not (is_base_array or is_exp_array):
        raise AssertionError("one of base and exponent must be an array")
    x, read_x = _either(dtype_x, "x", not is_base_array)
    y, read_y = _either(dtype_y, "y", not is_exp_array)
    function = "powf" if np.dtype(dtype_z) == np.float32 else "pow"
    body = f"z[i] = {_call(function, dtype_z, read_x, read_y)}"
    return get_elwise_kernel([x, y, _vector(dtype_z, "z")], body, "pow_method")


@context_dependent_memoize
def get_pow_kernel(dtype: DTypeLike) -> Function:
    """Return the kernel z[i] = y[i] ** value; value, y, z, n."""
    function = "powf" if np.dtype(dtype) == np.float32 else "pow"
    return get_elwise_kernel(
        [_scalar(dtype, "value"), _vector(dtype, "y"), _vector(dtype, "z")],
        f"z[i] = {function}(y[i], value)",
        "pow_method",
    )


@context_dependent_memoize
def get_fmod_kernel() -> Function:
    """Return the kernel z[i] = fmod(a[i], s[i]) of floats; a, s, z, n."""
    return get_elwise_kernel(
        "float *a, float *s, float *z", "z[i] = fmodf(a[i], s[i])", "fmod_kernel"
    )


@context_dependent_memoize
def get_modf_kernel() -> Function:
    """Return the kernel of floats that splits x into y (whole) and z; x, y, z, n."""
    return get_elwise_kernel(
        "float *x, float *intpart, float *fracpart",
        "fracpart[i] = modff(x[i], &intpart[i])",
        "modf_kernel",
    )


@context_dependent_memoize
def get_frexp_kernel() -> Function:
    """Return the kernel of floats x = significand * 2 ** exponent; in that order, n."""
    return get_elwise_kernel(
        "float *x, float *significand, float *exponent",
        "int e = 0; significand[i] = frexpf(x[i], &e); exponent[i] = e",
        "frexp_kernel",
    )


@context_dependent_memoize
def get_ldexp_kernel() -> Function:
    """Return the kernel z[i] = sig[i] * 2 ** int(expt[i]); sig, expt, z, n."""
    return get_elwise_kernel(
        "float *sig, float *expt, float *z",
        "z[i] = ldexpf(sig[i], (int)expt[i])",
        "ldexp_kernel",
    )


@context_dependent_memoize
def get_unary_func_kernel(
    func_name: str, in_dtype: DTypeLike, out_dtype: DTypeLike | None = None
) -> Function:
    """Return the kernel z[i] = func(y[i]); y, z, n."""
    out_dtype = in_dtype if out_dtype is None else out_dtype
    return get_elwise_kernel(
        [_vector(in_dtype, "y"), _vector(out_dtype, "z")],
        f"z[i] = {func_name}(y[i])",
        f"{func_name.replace('::', '_')}_kernel",
    )


def _get_choice_kernel(test, name, crit_dtype, dtype):
    return get_elwise_kernel(
        [
            _vector(crit_dtype, "crit"),
            _vector(dtype, "then_"),
            _vector(dtype, "else_"),
            _vector(dtype, "result"),
        ],
        f"result[i] = {test} ? then_[i] : else_[i]",
        name,
    )


@context_dependent_memoize
def get_if_positive_kernel(crit_dtype: DTypeLike, dtype: DTypeLike) -> Function:
    """Return the kernel that chooses by crit[i] > 0.

    Its arguments are ``crit, then_, else_, result, n``.
    """
    return _get_choice_kernel("crit[i] > 0", "if_positive", crit_dtype, dtype)


@context_dependent_memoize
def get_where_kernel(crit_dtype: DTypeLike, dtype: DTypeLike) -> Function:
    """Return the kernel that chooses by crit[i] != 0.

    Its arguments are ``crit, then_, else_, result, n``.
    """
    return _get_choice_kernel("crit[i] != 0", "if_nonzero", crit_dtype, dtype)


@context_dependent_memoize
def get_scalar_op_kernel(
    dtype_x: DTypeLike, dtype_a: DTypeLike, dtype_y: DTypeLike, operator: str
) -> Function:
    """Return the kernel y[i] = x[i] <operator> a; x, a, y, n."""
    return get_elwise_kernel(
        [_vector(dtype_x, "x"), _scalar(dtype_a, "a"), _vector(dtype_y, "y")],
        f"y[i] = x[i] {operator} a",
        "scalar_op",
    )


@context_dependent_memoize
def get_logical_not_kernel(dtype_x: DTypeLike, dtype_out: DTypeLike) -> Function:
    """Return the kernel out[i] = (x[i] == 0); x, out, n."""
    return get_elwise_kernel(
        [_vector(dtype_x, "x"), _vector(dtype_out, "out")],
        f"out[i] = (x[i] == {_cast(dtype_x, '0')})",
        "logical_not",
    )
