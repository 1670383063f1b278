"""The source of generated sorts.

``cuda/pycuda-sort.hpp`` has the code. This file chooses the type of the keys and the
size of a block.
"""

from __future__ import annotations

#: The type that describes the keys of a dtype.
KEYS = {
    "bool": "number_key<unsigned char>",
    "int8": "number_key<signed char>",
    "uint8": "number_key<unsigned char>",
    "int16": "number_key<short>",
    "uint16": "number_key<unsigned short>",
    "int32": "number_key<int>",
    "uint32": "number_key<unsigned int>",
    "int64": "number_key<long long>",
    "uint64": "number_key<unsigned long long>",
    "float16": "half_key<0x7c00>",
    "bfloat16": "half_key<0x7f80>",
    "float32": "number_key<float>",
    "float64": "number_key<double>",
    "complex64": "complex_key<float>",
    "complex128": "complex_key<double>",
}


def sort_text(request):
    """Return the source of a kernel of a sort: a ``_KernelRequest``'s.

    The tile of the request is the number of threads in a block, or of lanes for a
    line; the vector is the number of elements of a thread.
    """
    body = {
        "sort_pass": _pass,
        "sort_count": _count,
        "sort_block": _block,
        "sort_lanes": _lanes,
    }[request.variant](request)
    return "\n".join(
        [
            "#include <pycuda-sort.hpp>",
            "using namespace pycuda_sort;",
            f"typedef {KEYS[request.types[0]]} KEY;",
            "typedef KEY::element E;",
            *body,
            "",
        ]
    )


def _pass(request):
    """Return the kernel that moves elements by one digit."""
    count = "uint64" if request.wide else "uint32"
    threads, items = request.tile, request.vector
    values = "true" if request.partial else "false"
    return [
        f'extern "C" __global__ void __launch_bounds__({threads})',
        f"kernel(const pass<E, {count}, {count}> p)",
        "{",
        f"onesweep<KEY, {values}, {count}, {threads}, {items}>::run(p);",
        "}",
    ]


def _count(request):
    """Return the kernel that counts all digits."""
    count = "uint64" if request.wide else "uint32"
    threads = request.tile
    return [
        f'extern "C" __global__ void __launch_bounds__({threads})',
        f"kernel(const pass<E, {count}, {count}> p)",
        "{",
        f"digit_totals<KEY, {count}, {threads}>::run(p);",
        "}",
    ]


def _block(request):
    """Return the kernel that sorts a line in each block."""
    threads, items = request.tile, request.vector
    indices = "true" if request.partial else "false"
    return [
        f'extern "C" __global__ void __launch_bounds__({threads})',
        "kernel(const E *in, E *out, int64 *indices, uint64 length, uint64 lines,",
        "uint32 flip)",
        "{",
        f"block_sort<KEY, {indices}, {threads}, {items}>::run(in, out, indices,",
        "(uint32)length, flip);",
        "}",
    ]


def _lanes(request):
    """Return the kernel that sorts a line in some lanes of a warp."""
    lanes, items = request.tile, request.vector
    indices = "true" if request.partial else "false"
    return [
        'extern "C" __global__ void __launch_bounds__(256)',
        "kernel(const E *in, E *out, int64 *indices, uint64 length, uint64 lines,",
        "uint32 flip)",
        "{",
        f"warp_sort<KEY, {indices}, {lanes}, {items}>::run(in, out, indices,",
        "(uint32)length, lines, flip);",
        "}",
    ]
