"""The sources of generated products of matrices, solvers and cross products.

``cuda/pycuda-product.hpp`` computes a tile of a product; this file names the types and
finds the tile of a block. ``cuda/pycuda-solver.hpp`` solves and decomposes.
"""

from __future__ import annotations

from types import SimpleNamespace

from pycuda._array.sources.elementwise import computation_type, computed, includes

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
        'extern "C" __global__ void __launch_bounds__(256, 2)',
        f"kernel({', '.join(parameters)})",
        "{",
    ]
    if rows == 0:
        return "\n".join([*lines, *_element(request, operation), "}"]) + "\n"
    if depth == 0:
        return "\n".join([*lines, *_whole(request, operation), "}"]) + "\n"
    lines[-3:-3] = [
        f"typedef product_operand<{left}, Item, convert, {rows}, {depth}, "
        f"{left_along}, {request.left_vector}> Left;",
        f"typedef product_operand<{right}, Item, convert, {columns}, {depth}, "
        f"{right_along}, {request.right_vector}> Right;",
        f"typedef product_tile<Left, Right, {operation}, Item, {result}, "
        f"{rows}, {columns}, {depth}> tile;",
    ]
    lines += [
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
    return lines + _batch(ndim, "uint32")


def _element(request, operation):
    """Return the lines of a thread that computes an element of a result.

    After the sum it adds products of zeros, as tiles do.
    """
    left, right, result = request.types
    lines = [
        "uint64 rest = (uint64)blockIdx.x * 256 + threadIdx.x, next = rest / n;",
        "right += (int64)(rest - next * n) * right_column;",
        "result += (int64)(rest - next * n) * result_column;",
        "rest = next; next = rest / m;",
        "left += (int64)(rest - next * m) * left_row;",
        "result += (int64)(rest - next * m) * result_row;",
        "rest = next;",
    ]
    return [
        *lines,
        *_batch(request.ndim, "uint64"),
        "if (rest > 0) return; // there are no more elements",
        "Item sum = cast<Item>(0);",
        "for (uint64 i = 0; i < k; i++) {",
        f"{operation}::add(sum, convert::of(*(const {left} *)left), "
        f"convert::of(*(const {right} *)right));",
        "left += left_column; right += right_row;",
        "}",
        f"{operation}::add(sum, cast<Item>(0), cast<Item>(0));",
        f"*({result} *)result = cast<{result}>(sum);",
    ]


def _batch(ndim, kind):
    """Return the lines that find the matrices of the number `rest` of a type."""
    lines = []
    for axis in reversed(range(ndim)):
        lines.append(f"{{ const {kind} next = rest / ({kind})d{axis};")
        lines.append(f"const int64 at = rest - next * ({kind})d{axis}; rest = next;")
        lines += [f"{name} += at * {name}{axis};" for name in _NAMES]
        lines.append("}")
    return lines


def _whole(request, operation):
    """Return the lines of a block that makes a whole result of few elements."""
    left, right, result = request.types
    rows, columns = request.tile, request.tile_columns
    each = [
        "#pragma unroll",
        f"for (int y = 0; y < {rows}; y++) {{",
        "#pragma unroll",
        f"for (int x = 0; x < {columns}; x++) {{",
    ]
    return [
        "uint64 rest = blockIdx.x;",
        *_batch(request.ndim, "uint64"),
        f"Item sums[{rows}][{columns}];",
        *each,
        "sums[y][x] = Item(0);",
        "} }",
        "left += (int64)threadIdx.x * left_column;",
        "right += (int64)threadIdx.x * right_row;",
        "#pragma unroll 4",
        "for (uint64 i = threadIdx.x; i < k; i += 256) {",
        f"Item a[{rows}], b[{columns}];",
        "#pragma unroll",
        f"for (int y = 0; y < {rows}; y++)",
        f"a[y] = convert::of(*(const {left} *)(left + y * left_row));",
        "#pragma unroll",
        f"for (int x = 0; x < {columns}; x++)",
        f"b[x] = convert::of(*(const {right} *)(right + x * right_column));",
        *each,
        f"{operation}::add(sums[y][x], a[y], b[x]);",
        "} }",
        "left += 256 * left_column; right += 256 * right_row;",
        "}",
        f"__shared__ Item room[8][{rows * columns}];",
        *each,
        "#pragma unroll",
        "for (int distance = 16; distance > 0; distance /= 2)",
        "sums[y][x] += __shfl_down_sync(0xffffffffu, sums[y][x], distance);",
        "if (threadIdx.x % 32 == 0)",
        f"room[threadIdx.x / 32][y * {columns} + x] = sums[y][x];",
        "} }",
        "__syncthreads();",
        f"if (threadIdx.x >= {rows * columns}) return;",
        "Item sum = room[0][threadIdx.x];",
        "#pragma unroll",
        "for (int warp = 1; warp < 8; warp++) sum += room[warp][threadIdx.x];",
        f"result += threadIdx.x / {columns} * result_row;",
        f"*({result} *)(result + threadIdx.x % {columns} * result_column) =",
        f"cast<{result}>(sum);",
    ]


# -- solvers ---------------------------------------------------------------------------


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


# -- cross products --------------------------------------------------------------------


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
