"""The source of the kernels that select the first elements of an order."""

from __future__ import annotations

from pycuda._array.sources.sort import KEYS


def _head(dtype_name):
    return [
        "#include <pycuda-select.hpp>",
        "using namespace pycuda_sort;",
        f"typedef {KEYS[dtype_name]} KEY;",
        "typedef KEY::element E;",
    ]


def few_text(request):
    """Return the source of a kernel that selects few elements: a ``_KernelRequest``'s.

    The vector is the number of elements that a thread reads at once.
    """
    form = "false" if request.wide else "true"
    threads = request.threads
    sizes = f"KEY, {form}, {threads}, {request.vector}"
    parameters, call = {
        "few_of_blocks": (
            f"entry<{form}> *entries",
            f"first_of_blocks<{sizes}>(in, length, flip, k, entries);",
        ),
        "few_of_all": (
            f"const entry<{form}> *entries, uint64 count, E *elements, int64 *indices",
            f"first_of_all<{sizes}>(in, length, flip, k, entries, count, elements, "
            "indices);",
        ),
    }[request.variant]
    return "\n".join(
        [
            *_head(request.types[0]),
            f'extern "C" __global__ void __launch_bounds__({threads})',
            f"kernel(const E *in, uint64 length, uint64 flip, uint32 k, {parameters})",
            "{",
            call,
            "}",
            "",
        ]
    )


def selection_text(dtype_name: str) -> str:
    """Return the source of the kernels ``find`` and ``store`` for a dtype."""
    return "\n".join(
        [
            *_head(dtype_name),
            'extern "C" __global__ void __launch_bounds__(256)',
            "find(const E *in, uint64 length, selection *to, uint64 flip,",
            "uint32 place, uint32 of_index)",
            "{",
            "select<KEY>::find(in, length, to, place, of_index != 0, flip);",
            "}",
            'extern "C" __global__ void __launch_bounds__(256)',
            "store(const E *in, uint64 length, selection *to, uint64 flip,",
            "E *elements, int64 *indices)",
            "{",
            "select<KEY>::store(in, length, to, flip, elements, indices);",
            "}",
            "",
        ]
    )
