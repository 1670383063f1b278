"""The source of generated kernels of cross products."""

from __future__ import annotations

from types import SimpleNamespace

from pycuda._array.sources.elementwise import computation_type, computed, includes


def cross_text(request):
    """Return the source of a kernel of cross products: a ``_KernelRequest``'s.

    A thread computes a vector of three elements.
    """
    index = "uint64" if request.wide else "uint32"
    name = request.compute
    terms = []
    for a, b in (("a[next]", "b[after]"), ("a[after]", "b[next]")):
        product = f"op_multiply({computed(a, name)}, {computed(b, name)})"
        terms.append(computed(f"cast<T>({product})", name))
    lines = [
        *includes(request),
        "using namespace pycuda_array;",
        f"typedef {name} T;",
        f"typedef {computation_type(name)} C;",
        'extern "C" __global__ void __launch_bounds__(256)',
        f"kernel(T *z, const T *x, const T *y, {index} n)",
        "{",
        f"const {index} first = ({index})blockIdx.x * 256 + threadIdx.x;",
        "if (first >= n) return;",
        "T a[3], b[3];",
        "#pragma unroll",
        "for (int k = 0; k < 3; k++) {",
        "a[k] = x[3 * first + k]; b[k] = y[3 * first + k];",
        "}",
        "#pragma unroll",
        "for (int k = 0; k < 3; k++) {",
        "const int next = (k + 1) % 3, after = (k + 2) % 3;",
        f"z[3 * first + k] = cast<T>(op_subtract({', '.join(terms)}));",
        "}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def sample_sources():
    """Yield (name, source) of kernels that tools/compile_matrix.py compiles."""
    for name in ("int8", "float16", "complex64"):
        request = SimpleNamespace(compute=name, wide=name == "int8")
        yield f"cross products of {name}", cross_text(request)
