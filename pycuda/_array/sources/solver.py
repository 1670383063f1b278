"""The source of generated kernels that solve and decompose matrices.

``cuda/pycuda-solver.hpp`` has the code.
"""

from __future__ import annotations

_ELEMENTS = {
    "float32": "float",
    "float64": "double",
    "complex64": "complex<float>",
    "complex128": "complex<double>",
}

#: The function of the header for each variant.
_FUNCTIONS = {
    "small_solve": "solve",
    "small_determinant": "determinant",
    "determinant_of_factors": "determinant_of_factors",
    "small_cholesky": "cholesky",
    "small_triangular": "triangular",
    "small_eigenvalues": "eigenvalues",
    "small_singular_values": "singular_values",
    "values_of_diagonals": "values_of_diagonals",
}


def solver_text(request):
    """Return the source of a kernel that solves or decomposes.

    ``request`` is a ``_KernelRequest``.
    """
    function = _FUNCTIONS[request.variant]
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
