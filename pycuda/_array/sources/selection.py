"""The source of the kernels that select the first elements of an order."""

from __future__ import annotations

from pycuda._array.sources.sort import KEYS


def selection_text(dtype_name: str) -> str:
    """Return the source of the kernels ``find`` and ``store`` for a dtype."""
    return "\n".join(
        [
            "#include <pycuda-select.hpp>",
            "using namespace pycuda_sort;",
            f"typedef {KEYS[dtype_name]} KEY;",
            "typedef KEY::element E;",
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
