"""Special functions, as SciPy names them: see ``pycuda.array_api.special``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from pycuda._array.functions.conversion import asarray
from pycuda._array.functions.sequences import broadcast_arrays
from pycuda._array.kernels.elementwise_kernel import ElementwiseKernel
from pycuda._context_cache import context_dependent_memoize
from pycuda._driver import GPUArray

_Function: TypeAlias = Callable[..., GPUArray]

__all__ = [
    "betainc",
    "betaincc",
    "betaln",
    "chdtrc",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "expit",
    "fdtr",
    "fdtrc",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log_ndtr",
    "logit",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "sinc",
    "stdtr",
    "xlog1py",
    "xlogy",
    "zeta",
]


@context_dependent_memoize
def _kernel(expression: str, count: int, dtype: str) -> Any:
    """Return the kernel of a function of so many arrays."""
    names = "abc"[:count]
    scalar = {"float32": "float", "float64": "double"}[dtype]
    arguments = [f"{scalar} *z", *(f"{scalar} *p{name}" for name in names)]
    read = " ".join(f"const double {name} = p{name}[i];" for name in names)
    return ElementwiseKernel(
        ", ".join(arguments),
        f"{read} z[i] = ({scalar})({expression});",
        "special_function",
        preamble="#include <pycuda-special.hpp>",
    )


def _computed(
    name: str, expression: str, count: int, args: tuple[Any, ...]
) -> GPUArray:
    """Return a function of arrays and numbers, broadcast to one shape."""
    if len(args) != count:
        raise TypeError(f"{name}() takes {count} arguments, {len(args)} were given")
    arrays = [x for x in args if isinstance(x, GPUArray)]
    if not arrays:
        raise TypeError(f"{name}() takes at least one GPUArray")
    found = np.result_type(*(x.dtype if isinstance(x, GPUArray) else x for x in args))
    if found.kind not in "biuf":
        raise TypeError(f"{name}() takes real arrays, not {found}")
    dtype = np.dtype("float32" if found == np.float32 else "float64")
    operands = [asarray(x, dtype) for x in args]
    operands = list(broadcast_arrays(*operands))
    result = GPUArray(operands[0].shape, dtype, arrays[0].allocator)
    if result.size:
        _kernel(expression, count, dtype.name)(result, *operands)
    return result


#: The docstring of a function made by _make().
_TEXT = """{doc}

Parameters
----------
*args : GPUArray or number
    {count}, in the order of SciPy's function. They broadcast, and one of
    them is an array of real numbers.

Returns
-------
GPUArray
    A new array, float32 if the arguments are float32, else float64.

Raises
------
TypeError
    If there are other numbers of arguments, no array, or complex numbers.
ValueError
    If the shapes do not broadcast.

Notes
-----
The call does not wait. The result is allocated by the allocator of the first array. All
functions compute in double precision.
"""

_COUNTS = {1: "One argument", 2: "Two arguments", 3: "Three arguments"}


def _make(name: str, expression: str, doc: str) -> _Function:
    """Return a function of one array, or of ``a``, ``b`` and ``c`` in an expression."""
    count = expression.count(",") + 1

    def function(*args: GPUArray | float) -> GPUArray:
        return _computed(name, expression, count, args)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _TEXT.format(doc=doc, count=_COUNTS[count])
    return function


def _ours(name: str, arguments: str, doc: str) -> _Function:
    return _make(name, f"pycuda_special::{name}({arguments})", doc)


erf: _Function = _make("erf", "erf(a)", "Return the error function.")
erfc: _Function = _make("erfc", "erfc(a)", "Return 1 minus the error function.")
erfcx: _Function = _make("erfcx", "erfcx(a)", "Return ``exp(x**2) * erfc(x)``.")
erfinv: _Function = _make(
    "erfinv", "erfinv(a)", "Return the inverse of the error function."
)
ndtr: _Function = _make(
    "ndtr", "normcdf(a)", "Return the normal distribution function."
)
ndtri: _Function = _make("ndtri", "normcdfinv(a)", "Return the inverse of ``ndtr``.")
log_ndtr: _Function = _ours("log_ndtr", "a", "Return the logarithm of ``ndtr``.")
gamma: _Function = _make("gamma", "tgamma(a)", "Return the gamma function.")
gammaln: _Function = _make(
    "gammaln", "lgamma(a)", "Return the logarithm of ``abs(gamma(x))``."
)
psi: _Function = _ours(
    "psi", "a", "Return the derivative of the logarithm of ``gamma``."
)
digamma: _Function = psi
i0: _Function = _make(
    "i0", "cyl_bessel_i0(a)", "Return the modified Bessel function I of order 0."
)
i1: _Function = _make(
    "i1", "cyl_bessel_i1(a)", "Return the modified Bessel function I of order 1."
)
i0e: _Function = _ours("i0e", "a", "Return ``exp(-abs(x)) * i0(x)``.")
i1e: _Function = _ours("i1e", "a", "Return ``exp(-abs(x)) * i1(x)``.")
entr: _Function = _ours(
    "entr", "a", "Return ``-x * log(x)``, 0 for 0, -inf for negative numbers."
)
expit: _Function = _ours("expit", "a", "Return ``1 / (1 + exp(-x))``.")
logit: _Function = _ours("logit", "a", "Return ``log(x / (1 - x))``.")
sinc: _Function = _ours("sinc", "a", "Return ``sin(pi * x) / (pi * x)``, 1 for 0.")
xlogy: _Function = _ours("xlogy", "a, b", "Return ``x * log(y)``, 0 where x is 0.")
xlog1py: _Function = _ours(
    "xlog1py", "a, b", "Return ``x * log1p(y)``, 0 where x is 0."
)
gammainc: _Function = _ours(
    "gammainc", "a, b", "Return the incomplete gamma function P(a, x)."
)
gammaincc: _Function = _ours("gammaincc", "a, b", "Return ``1 - gammainc(a, x)``.")
chdtrc: _Function = _ours(
    "chdtrc", "a, b", "Return 1 minus the distribution function of chi-square(df)."
)
polygamma: _Function = _ours(
    "polygamma", "a, b", "Return the derivative of order n of ``psi``, at x."
)
_riemann_zeta = _ours("riemann_zeta", "a", "Return the zeta function of Riemann.")
_hurwitz_zeta = _ours("zeta", "a, b", "Return the zeta function of Hurwitz.")


def zeta(x: GPUArray | float, q: GPUArray | float | None = None) -> GPUArray:
    """Return the zeta function of Riemann, or that of Hurwitz.

    The latter is the sum of ``(k + q)**-x`` over all integers k from 0 on.

    Parameters
    ----------
    x : GPUArray or number
        The exponent. With ``q``, the result is NaN where it is below 1.
    q : GPUArray or number, optional
        First base. The arguments broadcast, and one of them is an array.

    Returns
    -------
    GPUArray
        A new array, float32 if the arguments are float32, else float64.
    """
    return _riemann_zeta(x) if q is None else _hurwitz_zeta(x, q)


betaln: _Function = _ours(
    "betaln", "a, b", "Return the logarithm of the beta function."
)
betainc: _Function = _ours(
    "betainc", "a, b, c", "Return the incomplete beta function I(a, b, x)."
)
betaincc: _Function = _ours("betaincc", "a, b, c", "Return ``1 - betainc(a, b, x)``.")
fdtr: _Function = _ours(
    "fdtr", "a, b, c", "Return the distribution function of F(dfn, dfd)."
)
fdtrc: _Function = _ours("fdtrc", "a, b, c", "Return ``1 - fdtr(dfn, dfd, x)``.")
stdtr: _Function = _ours(
    "stdtr", "a, b", "Return the distribution function of Student's t(df)."
)
