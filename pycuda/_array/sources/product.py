"""The source of generated products of matrices.

``cuda/pycuda-product.hpp`` computes a tile of the result. This file names the types and
finds the tile of a block.
"""

from __future__ import annotations

from pycuda._array.sources.elementwise import computation_type, computed

# Integers are summed as unsigned numbers, whose overflow is defined.
_ITEMS = {
    **dict.fromkeys(("bool", "int8", "uint8", "int16", "uint16"), "uint32"),
    **dict.fromkeys(("int32", "uint32"), "uint32"),
    **dict.fromkeys(("int64", "uint64"), "uint64"),
    "bfloat16": "float",
}


def product_text(request):
    """Return the source of a product of matrices: a ``_KernelRequest``'s."""
    compute = request.compute
    item = _ITEMS.get(compute, computation_type(compute))
    operation = "any_of_products" if compute == "bool" else "sum_of_products"
    left, right, result = request.types
    rows, columns, depth = request.tile, request.tile_columns, request.depth
    left_along = "true" if request.left_by_row else "false"
    right_along = "false" if request.right_by_row else "true"
    numbers = [f"{name}_{way}" for name in _NAMES for way in ("row", "column")]
    parameters = [
        "const char *left",
        "const char *right",
        "char *result",
        *(f"uint64 {name}" for name in "mnk"),
        *(f"int64 {name}" for name in numbers),
    ]
    for axis in range(request.ndim):
        parameters.append(f"uint64 d{axis}")
        parameters += [f"int64 {name}{axis}" for name in _NAMES]
    lines = [
        "#include <pycuda-product.hpp>",
        "using namespace pycuda_array;",
        f"typedef {compute} C;",
        f"typedef {item} Item;",
        "struct convert { template <class T> static PYCUDA_FN Item of(T x)",
        f"{{ return (Item)({computed('x', compute)}); }} }};",
        f"typedef product_operand<{left}, Item, convert, {rows}, {depth}, "
        f"{left_along}, {request.left_vector}> Left;",
        f"typedef product_operand<{right}, Item, convert, {columns}, {depth}, "
        f"{right_along}, {request.right_vector}> Right;",
        f"typedef product_tile<Left, Right, {operation}, Item, {result}, "
        f"{rows}, {columns}, {depth}> tile;",
        'extern "C" __global__ void __launch_bounds__(256, 2)',
        f"kernel({', '.join(parameters)})",
        "{",
        *_place(request.ndim, rows, columns),
        f"tile::multiply(left, right, result, m, n, k, {', '.join(numbers)},",
        "row, column);",
        "}",
    ]
    return "\n".join(lines) + "\n"


_NAMES = ("left", "right", "result")


def _place(ndim, rows, columns):
    """Return the lines that find a block's matrices and its tile of them."""
    lines = [
        "uint32 rest = blockIdx.x, place = rest, row, column;",
        f"uint32 rows = (uint32)((m + {rows - 1}) / {rows});",
        f"uint32 columns = (uint32)((n + {columns - 1}) / {columns});",
    ]
    if ndim:
        lines.append("rest /= rows * columns; place -= rest * (rows * columns);")
    lines.append("tile::find(place, rows, columns, row, column);")
    for axis in reversed(range(ndim)):
        lines.append(f"{{ uint32 next = rest / (uint32)d{axis};")
        lines.append(f"int64 at = rest - next * (uint32)d{axis}; rest = next;")
        lines += [f"{name} += at * {name}{axis};" for name in _NAMES]
        lines.append("}")
    return lines
