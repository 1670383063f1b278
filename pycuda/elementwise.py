"""Elementwise kernels: ``ElementwiseKernel``, and ready-made kernels by dtype.

An operation becomes the body of a loop over the elements, which is compiled at its
first use in a context. The functions ``get_*_kernel`` return prepared functions, whose
last parameter is the number of elements.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

import numpy as np

from pycuda import _hide_imports
from pycuda._array.kernels.elementwise_kernel import (
    ElementwiseKernel as ElementwiseKernel,
    get_elwise_kernel as get_elwise_kernel,
    get_elwise_kernel_and_types as get_elwise_kernel_and_types,
    get_elwise_module as get_elwise_module,
    get_elwise_range_module as get_elwise_range_module,
)
from pycuda._public import publish as _publish
from pycuda.tools import (
    ScalarArg as ScalarArg,
    VectorArg as VectorArg,
    context_dependent_memoize as context_dependent_memoize,
    dtype_to_ctype as dtype_to_ctype,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

    from pycuda._driver import Function, TextureReference

__all__ = [
    "ElementwiseKernel",
    "ScalarArg",
    "VectorArg",
    "context_dependent_memoize",
    "dtype_to_ctype",
    "get_arange_kernel",
    "get_axpbyz_kernel",
    "get_axpbz_kernel",
    "get_binary_func_kernel",
    "get_binary_func_scalar_kernel",
    "get_binary_minmax_kernel",
    "get_binary_op_kernel",
    "get_conj_kernel",
    "get_copy_kernel",
    "get_elwise_kernel",
    "get_elwise_kernel_and_types",
    "get_elwise_module",
    "get_elwise_range_module",
    "get_fill_kernel",
    "get_fmod_kernel",
    "get_frexp_kernel",
    "get_if_positive_kernel",
    "get_imag_kernel",
    "get_ldexp_kernel",
    "get_linear_combination_kernel",
    "get_logical_not_kernel",
    "get_modf_kernel",
    "get_pow_array_kernel",
    "get_pow_kernel",
    "get_put_kernel",
    "get_rdivide_elwise_kernel",
    "get_real_kernel",
    "get_reverse_kernel",
    "get_scalar_op_kernel",
    "get_take_kernel",
    "get_take_put_kernel",
    "get_unary_func_kernel",
    "get_where_kernel",
]
_hide_imports(globals())


def _get_real_dtype(dtype):
    """Return the dtype of a complex dtype's parts, or the dtype itself."""
    dtype = np.dtype(dtype)
    return np.dtype(dtype.char.lower()) if dtype.kind == "c" else dtype


def _vector(dtype, name):
    return VectorArg(dtype, name)


def _scalar(dtype, name):
    return ScalarArg(dtype, name)


def _either(dtype, name, is_scalar):
    """Return (argument, expression that reads it in the operation)."""
    if is_scalar:
        return ScalarArg(dtype, name), name
    return VectorArg(dtype, name), f"{name}[i]"


def _cast(dtype, text):
    return f"({dtype_to_ctype(dtype)})({text})"


@context_dependent_memoize
def get_take_kernel(
    dtype: DTypeLike, idx_dtype: DTypeLike, vec_count: int = 1
) -> tuple[Function, list[TextureReference]]:
    """Return the kernel ``dest<k>[i] = src<k>[idx[i]]``.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the elements.
    idx_dtype : dtype_like
        Dtype of the indices.
    vec_count : int, optional
        Number of arrays that one call handles.

    Returns
    -------
    kernel : Function
        The prepared kernel. Its parameters are idx, dests, srcs, n.
    references : list of TextureReference
        An empty list.
    """
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
    """Return the kernel ``dest<k>[dest_idx[i]] = src<k>[src_idx[i] + offset<k>]``.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the elements.
    idx_dtype : dtype_like
        Dtype of the indices.
    with_offsets : bool
        If true, the kernel has an offset for each source.
    vec_count : int, optional
        Number of arrays that one call handles.

    Returns
    -------
    kernel : Function
        The prepared kernel. Its parameters are dest_idx, src_idx, dests, srcs, offsets
        if there are any, n.
    references : list of TextureReference
        An empty list.
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
    """Return the kernel ``dest<k>[idx[i]] = src<k>[i]``.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the elements.
    idx_dtype : dtype_like
        Dtype of the indices.
    vec_count : int, optional
        Number of arrays that one call handles.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are idx, dests, srcs, n.
    """
    numbers = builtins.range(vec_count)
    arguments = [_vector(idx_dtype, "idx")]
    arguments += [_vector(dtype, f"dest{k}") for k in numbers]
    arguments += [_vector(dtype, f"src{k}") for k in numbers]
    body = "; ".join(f"dest{k}[idx[i]] = src{k}[i]" for k in numbers)
    return get_elwise_kernel(arguments, body, "put")


@context_dependent_memoize
def get_copy_kernel(dtype_dest: DTypeLike, dtype_src: DTypeLike) -> Function:
    """Return the kernel ``dest[i] = src[i]``, with conversion.

    Parameters
    ----------
    dtype_dest : dtype_like
        Dtype of the result.
    dtype_src : dtype_like
        Dtype of the source.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are dest, src, n.
    """
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
    """Return the kernel ``z[i] = a0 * x0[i] + a1 * x1[i] + ...``.

    Parameters
    ----------
    summand_descriptors : sequence of tuple
        For each summand (is_gpu_scalar, scalar_dtype, vector_dtype).
    dtype_z : dtype_like
        Dtype of ``z``, in which the kernel computes.

    Returns
    -------
    kernel : Function
        The prepared kernel. Its parameters are a0, x0, a1, x1, ..., z, n, without the
        scalars on the device.
    references : list of TextureReference
        A texture reference for each scalar on the device, in the same order.

    Notes
    -----
    Before a call, bind the array of each scalar on the device to its texture reference
    with ``bind_to_texref_ext``: with ``allow_double_hack=True`` for float64, and with
    ``allow_complex_hack=True`` for complex numbers.
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
    if declared:
        declared.insert(0, "#include <pycuda-helpers.hpp>")
    module, kernel, made = get_elwise_kernel_and_types(
        arguments,
        _combination(summand_descriptors, dtype_z),
        "linear_combination",
        preamble="\n".join(declared),
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
    """Return the kernel of a linear combination with addresses of device scalars.

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
    """Return the kernel ``z[i] = a * x[i] + b * y[i]``.

    Parameters
    ----------
    dtype_x : dtype_like
        Dtype of ``x``.
    dtype_y : dtype_like
        Dtype of ``y``.
    dtype_z : dtype_like
        Dtype of ``z``, in which the kernel computes.
    x_is_scalar : bool, optional
        If true, ``x`` is a number instead of an array.
    y_is_scalar : bool, optional
        If true, ``y`` is a number instead of an array.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are a, x, b, y, z, n.
    """
    x, read_x = _either(dtype_x, "x", x_is_scalar)
    y, read_y = _either(dtype_y, "y", y_is_scalar)
    a, b = _scalar(dtype_z, "a"), _scalar(dtype_z, "b")
    body = f"z[i] = a * {_cast(dtype_z, read_x)} + b * {_cast(dtype_z, read_y)}"
    return get_elwise_kernel([a, x, b, y, _vector(dtype_z, "z")], body, "axpbyz")


@context_dependent_memoize
def get_axpbz_kernel(dtype_x: DTypeLike, dtype_z: DTypeLike) -> Function:
    """Return the kernel ``z[i] = a * x[i] + b``.

    Parameters
    ----------
    dtype_x : dtype_like
        Dtype of ``x``.
    dtype_z : dtype_like
        Dtype of ``z``, in which the kernel computes.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are a, x, b, z, n.
    """
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
    """Return the kernel ``z[i] = x[i] operator y[i]``.

    Parameters
    ----------
    dtype_x : dtype_like
        Dtype of ``x``.
    dtype_y : dtype_like
        Dtype of ``y``.
    dtype_z : dtype_like
        Dtype of ``z``, in which the kernel computes.
    operator : str
        Operator in C, such as "*".
    x_is_scalar : bool, optional
        If true, ``x`` is a number instead of an array.
    y_is_scalar : bool, optional
        If true, ``y`` is a number instead of an array.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are x, y, z, n.
    """
    x, read_x = _either(dtype_x, "x", x_is_scalar)
    y, read_y = _either(dtype_y, "y", y_is_scalar)
    body = f"z[i] = {_cast(dtype_z, read_x)} {operator} {_cast(dtype_z, read_y)}"
    return get_elwise_kernel([x, y, _vector(dtype_z, "z")], body, "binary_op")


@context_dependent_memoize
def get_rdivide_elwise_kernel(dtype_x: DTypeLike, dtype_z: DTypeLike) -> Function:
    """Return the kernel ``z[i] = y / x[i]``.

    Parameters
    ----------
    dtype_x : dtype_like
        Dtype of ``x``.
    dtype_z : dtype_like
        Dtype of ``z``, in which the kernel computes.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are x, y, z, n.
    """
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
    """Return the kernel ``z[i] = func(x[i], y[i])``.

    Parameters
    ----------
    func : str
        Name of a function in C.
    dtype_x : dtype_like
        Dtype of ``x``.
    dtype_y : dtype_like
        Dtype of ``y``.
    dtype_z : dtype_like
        Dtype of ``z``, in which the kernel computes.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are x, y, z, n.
    """
    return get_elwise_kernel(
        [_vector(dtype_x, "x"), _vector(dtype_y, "y"), _vector(dtype_z, "z")],
        f"z[i] = {_call(func, dtype_z, 'x[i]', 'y[i]')}",
        "binary_func",
    )


@context_dependent_memoize
def get_binary_func_scalar_kernel(
    func: str, dtype_x: DTypeLike, dtype_y: DTypeLike, dtype_z: DTypeLike
) -> Function:
    """Return the kernel ``z[i] = func(x[i], y)`` with a number ``y``.

    Parameters
    ----------
    func : str
        Name of a function in C.
    dtype_x : dtype_like
        Dtype of ``x``.
    dtype_y : dtype_like
        Dtype of ``y``.
    dtype_z : dtype_like
        Dtype of ``z``, in which the kernel computes.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are x, y, z, n.
    """
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
    """Return the kernel of the lesser or greater of two elements.

    Parameters
    ----------
    func : {"min", "max"}
        Which of both.
    dtype_x : dtype_like
        Dtype of ``x``.
    dtype_y : dtype_like
        Dtype of ``y``.
    dtype_z : dtype_like
        Dtype of ``z``, in which the kernel computes.
    use_scalar : bool
        If true, ``y`` is a number instead of an array.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are x, y, z, n.
    """
    if np.dtype(dtype_z).kind == "f":
        func = f"f{func}"
    make = get_binary_func_scalar_kernel if use_scalar else get_binary_func_kernel
    return make(func, dtype_x, dtype_y, dtype_z)


@context_dependent_memoize
def get_fill_kernel(dtype: DTypeLike) -> Function:
    """Return the kernel ``z[i] = a``.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the elements.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are a, z, n.

    Examples
    --------
    >>> from pycuda.elementwise import get_fill_kernel
    >>> z = gpuarray.empty(3, np.float32)
    >>> fill = get_fill_kernel(np.float32)
    >>> fill.prepared_call((1, 1), (32, 1, 1), 2.5, z.gpudata, z.size)
    >>> z
    array([2.5, 2.5, 2.5], dtype=float32)
    """
    return get_elwise_kernel(
        [_scalar(dtype, "a"), _vector(dtype, "z")], "z[i] = a", "fill"
    )


@context_dependent_memoize
def get_reverse_kernel(dtype: DTypeLike) -> Function:
    """Return the kernel ``z[i] = y[n - 1 - i]``.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the elements.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are y, z, n.
    """
    return get_elwise_kernel(
        [_vector(dtype, "y"), _vector(dtype, "z")], "z[i] = y[n - 1 - i]", "reverse"
    )


@context_dependent_memoize
def get_real_kernel(dtype: DTypeLike, real_dtype: DTypeLike) -> Function:
    """Return the kernel ``z[i] = real(y[i])``.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the elements.
    real_dtype : dtype_like
        Dtype of the result.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are y, z, n.
    """
    return get_elwise_kernel(
        [_vector(dtype, "y"), _vector(real_dtype, "z")], "z[i] = real(y[i])", "real"
    )


@context_dependent_memoize
def get_imag_kernel(dtype: DTypeLike, real_dtype: DTypeLike) -> Function:
    """Return the kernel ``z[i] = imag(y[i])``.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the elements.
    real_dtype : dtype_like
        Dtype of the result.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are y, z, n.
    """
    return get_elwise_kernel(
        [_vector(dtype, "y"), _vector(real_dtype, "z")], "z[i] = imag(y[i])", "imag"
    )


@context_dependent_memoize
def get_conj_kernel(dtype: DTypeLike, conj_dtype: DTypeLike) -> Function:
    """Return the kernel ``z[i] = conj(y[i])``.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the elements.
    conj_dtype : dtype_like
        Dtype of the result.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are y, z, n.
    """
    return get_elwise_kernel(
        [_vector(dtype, "y"), _vector(conj_dtype, "z")],
        "z[i] = pycuda::conj(y[i])",
        "conj",
    )


@context_dependent_memoize
def get_arange_kernel(dtype: DTypeLike) -> Function:
    """Return the kernel ``z[i] = start + i * step``.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the elements.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are z, start, step, n.
    """
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
    """Return the kernel ``z[i] = x ** y``, where one of both may be a number.

    Parameters
    ----------
    dtype_x : dtype_like
        Dtype of ``x``.
    dtype_y : dtype_like
        Dtype of ``y``.
    dtype_z : dtype_like
        Dtype of ``z``, in which the kernel computes.
    is_base_array : bool
        If false, the base ``x`` is a number.
    is_exp_array : bool
        If false, the exponent ``y`` is a number.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are x, y, z, n.

    Raises
    ------
    AssertionError
        If both are numbers.
    """
    if not (is_base_array or is_exp_array):
        raise AssertionError("one of base and exponent must be an array")
    x, read_x = _either(dtype_x, "x", not is_base_array)
    y, read_y = _either(dtype_y, "y", not is_exp_array)
    function = "powf" if np.dtype(dtype_z) == np.float32 else "pow"
    body = f"z[i] = {_call(function, dtype_z, read_x, read_y)}"
    return get_elwise_kernel([x, y, _vector(dtype_z, "z")], body, "pow_method")


@context_dependent_memoize
def get_pow_kernel(dtype: DTypeLike) -> Function:
    """Return the kernel ``z[i] = y[i] ** value``.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the elements.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are value, y, z, n.
    """
    function = "powf" if np.dtype(dtype) == np.float32 else "pow"
    return get_elwise_kernel(
        [_scalar(dtype, "value"), _vector(dtype, "y"), _vector(dtype, "z")],
        f"z[i] = {function}(y[i], value)",
        "pow_method",
    )


@context_dependent_memoize
def get_fmod_kernel() -> Function:
    """Return the kernel ``z[i] = fmod(a[i], s[i])`` of float32.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are a, s, z, n.
    """
    return get_elwise_kernel(
        "float *a, float *s, float *z", "z[i] = fmodf(a[i], s[i])", "fmod_kernel"
    )


@context_dependent_memoize
def get_modf_kernel() -> Function:
    """Return the kernel that splits float32 into whole and fractional parts.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are x, intpart, fracpart, n.
    """
    return get_elwise_kernel(
        "float *x, float *intpart, float *fracpart",
        "fracpart[i] = modff(x[i], &intpart[i])",
        "modf_kernel",
    )


@context_dependent_memoize
def get_frexp_kernel() -> Function:
    """Return the kernel that splits float32 into significand and exponent.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are x, significand, exponent, n.
    """
    return get_elwise_kernel(
        "float *x, float *significand, float *exponent",
        "int e = 0; significand[i] = frexpf(x[i], &e); exponent[i] = e",
        "frexp_kernel",
    )


@context_dependent_memoize
def get_ldexp_kernel() -> Function:
    """Return the kernel ``z[i] = sig[i] * 2 ** int(expt[i])`` of float32.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are sig, expt, z, n.
    """
    return get_elwise_kernel(
        "float *sig, float *expt, float *z",
        "z[i] = ldexpf(sig[i], (int)expt[i])",
        "ldexp_kernel",
    )


@context_dependent_memoize
def get_unary_func_kernel(
    func_name: str, in_dtype: DTypeLike, out_dtype: DTypeLike | None = None
) -> Function:
    """Return the kernel ``z[i] = func(y[i])``.

    Parameters
    ----------
    func_name : str
        Name of a function in C.
    in_dtype : dtype_like
        Dtype of ``y``.
    out_dtype : dtype_like, optional
        Dtype of ``z``. The default is that of ``y``.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are y, z, n.
    """
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
    """Return the kernel that selects by ``crit[i] > 0``.

    Parameters
    ----------
    crit_dtype : dtype_like
        Dtype of the condition.
    dtype : dtype_like
        Dtype of the values and of the result.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are ``crit, then_, else_, result, n``.
    """
    return _get_choice_kernel("crit[i] > 0", "if_positive", crit_dtype, dtype)


@context_dependent_memoize
def get_where_kernel(crit_dtype: DTypeLike, dtype: DTypeLike) -> Function:
    """Return the kernel that selects by ``crit[i] != 0``.

    Parameters
    ----------
    crit_dtype : dtype_like
        Dtype of the condition.
    dtype : dtype_like
        Dtype of the values and of the result.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are ``crit, then_, else_, result, n``.
    """
    return _get_choice_kernel("crit[i] != 0", "if_nonzero", crit_dtype, dtype)


@context_dependent_memoize
def get_scalar_op_kernel(
    dtype_x: DTypeLike, dtype_a: DTypeLike, dtype_y: DTypeLike, operator: str
) -> Function:
    """Return the kernel ``y[i] = x[i] operator a``.

    Parameters
    ----------
    dtype_x : dtype_like
        Dtype of ``x``.
    dtype_a : dtype_like
        Dtype of ``a``.
    dtype_y : dtype_like
        Dtype of ``y``.
    operator : str
        Operator in C, such as "*".

    Returns
    -------
    Function
        The prepared kernel. Its parameters are x, a, y, n.
    """
    return get_elwise_kernel(
        [_vector(dtype_x, "x"), _scalar(dtype_a, "a"), _vector(dtype_y, "y")],
        f"y[i] = x[i] {operator} a",
        "scalar_op",
    )


@context_dependent_memoize
def get_logical_not_kernel(dtype_x: DTypeLike, dtype_out: DTypeLike) -> Function:
    """Return the kernel ``out[i] = (x[i] == 0)``.

    Parameters
    ----------
    dtype_x : dtype_like
        Dtype of ``x``.
    dtype_out : dtype_like
        Dtype of the result.

    Returns
    -------
    Function
        The prepared kernel. Its parameters are x, out, n.
    """
    return get_elwise_kernel(
        [_vector(dtype_x, "x"), _vector(dtype_out, "out")],
        f"out[i] = (x[i] == {_cast(dtype_x, '0')})",
        "logical_not",
    )


_publish(globals())
