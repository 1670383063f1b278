"""The source of the kernels that select the first elements of an order."""

from __future__ import annotations

from pycuda._array.sources.sort import KEYS

#: The threads of a block that selects few elements, the elements that each reads at
#: once, and the entries that the block keeps.
FEW_THREADS, FEW_EACH, FEW_ROOM = 256, 16, 1024


def _head(dtype_name):
    return [
        "#include <pycuda-select.hpp>",
        "using namespace pycuda_sort;",
        f"typedef {KEYS[dtype_name]} KEY;",
        "typedef KEY::element E;",
    ]


def few_texts(dtype_name: str, narrow: bool) -> tuple[str, str]:
    """Return the sources of two kernels that select few elements.

    Each block of the first one stores its entries, from which the second one selects.
    """
    form = "true" if narrow else "false"
    sizes = f"KEY, {form}, {FEW_THREADS}, {FEW_EACH}, {FEW_ROOM}"
    head = [
        *_head(dtype_name),
        f'extern "C" __global__ void __launch_bounds__({FEW_THREADS})',
        "kernel(const E *in, uint64 length, uint64 flip, uint32 k,",
    ]
    blocks = [
        *head,
        f"entry<{form}> *out)",
        "{",
        f"first_of_blocks<{sizes}>(in, length, flip, k, out);",
        "}",
        "",
    ]
    whole = [
        *head,
        f"const entry<{form}> *entries, uint64 count, E *elements, int64 *indices)",
        "{",
        f"first_of_all<{sizes}>(in, length, flip, k, entries, count, elements,",
        "indices);",
        "}",
        "",
    ]
    return "\n".join(blocks), "\n".join(whole)


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
