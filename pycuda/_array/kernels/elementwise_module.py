"""The module of an elementwise kernel: a program's operation in a generated loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pycuda._array.kernels.argument_names import Names, check_names, parse_arguments
from pycuda._array.kernels.c_types import ScalarArg, VectorArg
from pycuda._array.kernels.compilation import load

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from pycuda._array.kernels.c_types import _Arguments
    from pycuda._array.kernels.compilation import SourceModule
    from pycuda._driver import Function

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
    text = _KERNEL.format(
        preamble=preamble,
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
    """Return the module of a kernel over ``n`` elements. ``n`` is an argument."""
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
    """Return the module of a kernel over a range.

    ``start``, ``stop`` and ``step`` are arguments.
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
    """Return the prepared function of a kernel; its last parameter is ``n``."""
    return get_elwise_kernel_and_types(
        arguments, operation, name, keep, options, **kwargs
    )[1]
