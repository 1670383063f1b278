"""The source of generated medians and quantiles.

``cuda/pycuda-quantile.hpp`` has the code. This file chooses the types.
"""

from __future__ import annotations

from pycuda._array.sources.elementwise import computation_type

#: How elements become integers of the same order: the integer, the kind of
#: ``ordered_bits``, and the bits of infinity.
_CODES = {
    "bool": ("uint32", 0, "0"),
    "uint8": ("uint32", 0, "0"),
    "uint16": ("uint32", 0, "0"),
    "uint32": ("uint32", 0, "0"),
    "uint64": ("uint64", 0, "0"),
    "int8": ("uint32", 1, "0"),
    "int16": ("uint32", 1, "0"),
    "int32": ("uint32", 1, "0"),
    "int64": ("uint64", 1, "0"),
    "float16": ("uint32", 2, "0x7c00"),
    "bfloat16": ("uint32", 2, "0x7f80"),
    "float32": ("uint32", 2, "0x7f800000"),
    "float64": ("uint64", 2, "0x7ffull << 52"),
}


def quantile_text(request):
    """Return the source of a kernel of quantiles: a ``_KernelRequest``'s.

    The types are those of the elements and of the results. With ``partial`` the results
    are elements. The tile is the number of lanes for a line, the vector is the number
    of elements of a lane.
    """
    is_element = "true" if request.partial else "false"
    types = [
        f"typedef {request.types[0]} E;",
        f"typedef {request.types[1]} R;",
        f"typedef {computation_type(request.compute)} C;",
    ]
    by_lanes = {"quantile_lanes": True, "quantile_sorted": False}
    if by_lanes[request.variant]:
        bits, kind, infinity = _CODES[request.types[0]]
        types.append(f"typedef ordered_bits<E, {bits}, {kind}, ({infinity})> CODE;")
        sizes = f"{request.tile}, {request.vector}"
        call = f"lane_quantiles<CODE, R, C, {is_element}, {sizes}>::run"
        length = "(uint32)length"
    else:
        call = f"sorted_quantiles<E, R, C, {is_element}>::run"
        length = "length"
    lines = [
        "#include <pycuda-quantile.hpp>",
        "using namespace pycuda_array;",
        *types,
        f'extern "C" __global__ void __launch_bounds__({request.threads})',
        "kernel(const E *in, R *out, uint64 lines, uint64 length,",
        "const quantile_list list)",
        "{",
        f"{call}(in, out, lines, {length}, list);",
        "}",
    ]
    return "\n".join(lines) + "\n"
