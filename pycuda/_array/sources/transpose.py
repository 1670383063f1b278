"""The source of generated kernels that copy an array with its axes exchanged."""

from __future__ import annotations


def transpose_text(request):
    """Return the source of a copy that exchanges two axes: a ``_KernelRequest``'s.

    Tiles go through shared memory. The axes of the request are those that keep their
    place. A thread copies a vector of elements. A partial copy keeps a triangle of each
    matrix of the target and stores 0 elsewhere.
    """
    others = request.ndim
    sizes = f"{request.raw_bytes}, {request.tile}, {request.vector}"
    parameters = ["const char *source", "char *target", "uint64 across", "uint64 along"]
    parameters += ["int64 source_step", "int64 target_step"]
    part = "whole_matrix()"
    if request.partial:
        parameters += ["int64 k", "int32 is_lower"]
        part = "part"
    for axis in range(others):
        parameters += [f"uint64 d{axis}", f"int64 s{axis}", f"int64 t{axis}"]
    lines = [
        "#include <pycuda-array.hpp>",
        "using namespace pycuda_array;",
        f"typedef transpose_tile<{sizes}> tile;",
        'extern "C" __global__ void __launch_bounds__(256)',
        f"kernel({', '.join(parameters)})",
        "{",
        "uint32 rest = blockIdx.x, place = rest, column, row;",
        "uint32 columns = (uint32)((across + tile::SIDE - 1) / tile::SIDE);",
        "uint32 rows = (uint32)((along + tile::SIDE - 1) / tile::SIDE);",
    ]
    if others:
        lines.append("rest /= columns * rows; place -= rest * (columns * rows);")
    lines.append("find_tile(place, columns, rows, column, row);")
    for axis in reversed(range(others)):
        lines.append(f"{{ uint32 next = rest / (uint32)d{axis};")
        lines.append(f"int64 at = rest - next * (uint32)d{axis}; rest = next;")
        lines.append(f"source += at * s{axis}; target += at * t{axis}; }}")
    if request.partial:
        lines.append("const triangle_part part = {k, is_lower != 0};")
    lines.append(
        "tile::move(source, target, across, along, source_step, target_step,"
        f" column, row, {part});"
    )
    lines.append("}")
    return "\n".join(lines) + "\n"
