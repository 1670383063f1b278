"""The source of generated kernels of cross products."""

from __future__ import annotations

from pycuda._array.sources.elementwise import computation_type, computed, includes


def cross_text(request):
    """Return the source of a kernel of cross products: a ``_KernelRequest``'s.

    A thread computes ``vector`` vectors, which it loads and stores as whole words.
    """
    index = "uint64" if request.wide else "uint32"
    name, vector = request.compute, request.vector
    terms = [
        computed(
            f"cast<T>(op_multiply({computed(a, name)}, {computed(b, name)}))", name
        )
        for a, b in (("x[next]", "y[after]"), ("x[after]", "y[next]"))
    ]
    lines = [
        *includes(request),
        "using namespace pycuda_array;",
        f"typedef {name} T;",
        f"typedef {computation_type(name)} C;",
        "PYCUDA_FN void cross_product(T *z, const T *x, const T *y)",
        "{",
        "#pragma unroll",
        "for (int k = 0; k < 3; k++) {",
        "const int next = (k + 1) % 3, after = (k + 2) % 3;",
        f"z[k] = cast<T>(op_subtract({', '.join(terms)}));",
        "}",
        "}",
        'extern "C" __global__ void __launch_bounds__(256)',
        f"kernel(T *z, const T *x, const T *y, {index} n)",
        "{",
        f"{index} first = (({index})blockIdx.x * 256 + threadIdx.x) * {vector};",
        *(_whole_words(vector) if vector > 1 else []),
        f"for (int k = 0; k < {vector} && first < n; k++, first++)",
        "cross_product(z + 3 * first, x + 3 * first, y + 3 * first);",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _whole_words(vector):
    """Return the lines that compute ``vector`` vectors and return."""
    length = 3 * vector
    return [
        f"if (first + {vector} <= n) {{",
        f"pack<T, {length}> a, b, c;",
        "a.load(x + 3 * first);",
        "b.load(y + 3 * first);",
        "#pragma unroll",
        f"for (int k = 0; k < {length}; k += 3)",
        "cross_product(c.items + k, a.items + k, b.items + k);",
        "c.store(z + 3 * first);",
        "return;",
        "}",
    ]
