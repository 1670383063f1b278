"""The source of generated kernels that solve and decompose small matrices.

``cuda/pycuda-solver.hpp`` has the code.
"""

from __future__ import annotations

_ELEMENTS = {
    "float32": "float",
    "float64": "double",
    "complex64": "complex<float>",
    "complex128": "complex<double>",
}


def solver_text(request):
    """Return the source of a kernel that works on small matrices: a
    ``_KernelRequest``'s.

    The variant is the name of the function behind the prefix ``small_``.
    """
    function = request.variant.removeprefix("small_")
    element, threads = _ELEMENTS[request.compute], request.threads
    return "\n".join(
        [
            "#include <pycuda-solver.hpp>",
            "using namespace pycuda_solver;",
            f'extern "C" __global__ void __launch_bounds__({threads})',
            "kernel(const call c)",
            "{",
            "extern __shared__ double2 memory[];",
            f"{function}<{element}, {threads}>(c, memory);",
            "}",
            "",
        ]
    )
