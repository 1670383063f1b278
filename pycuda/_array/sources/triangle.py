"""The source of generated kernels that keep one triangle of each matrix."""

from __future__ import annotations


def triangle_text(request):
    """Return the source of a kernel that keeps a triangle: a ``_KernelRequest``'s.

    Elements are moved as bits. With an input the kept elements are copied, otherwise
    they are one value. A request without axes has a packed input.
    """
    index = "uint64" if request.wide else "uint32"
    source = "const T *source" if request.inputs else "T value"
    parameters = ["T *target", source, f"{index} n", f"{index} rows"]
    parameters += [f"{index} columns", "int64 k", "int32 lower"]
    for axis in range(request.ndim):
        parameters += [f"{index} d{axis}", f"int64 s{axis}"]
    lines = [
        "#include <pycuda-array.hpp>",
        "using namespace pycuda_array;",
        f"typedef raw<{request.raw_bytes}, {request.tile}> T;",
        'extern "C" __global__ void __launch_bounds__(256)',
        f"kernel({', '.join(parameters)})",
        "{",
        f"{index} first = ({index})blockIdx.x * 256 + threadIdx.x;",
        f"first *= {request.vector};",
        "if (first >= n) return;",
        f"{index} row = first / columns, column = first - row * columns;",
        "row %= rows;",
        *_find_source(request, index),
        f"bool kept[{request.vector}], any = false;",
        "#pragma unroll",
        f"for (int j = 0; j < {request.vector}; j++) {{",
        "int64 distance = (int64)column - (int64)row - k;",
        "kept[j] = lower ? distance <= 0 : distance >= 0;",
        "any |= kept[j];",
        "if (++column == columns) { column = 0; if (++row == rows) row = 0; }",
        "}",
        *_move(request),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _find_source(request, index):
    """Return the statements that find the element of a strided source."""
    if not request.ndim:
        return []
    lines = [f"{index} rest = first;", "int64 at = 0;"]
    for axis in range(request.ndim - 1, -1, -1):
        lines.append(f"{{ {index} next = rest / d{axis};")
        lines.append(f"at += (int64)(rest - next * d{axis}) * s{axis}; rest = next; }}")
    lines.append("source = (const T *)((const char *)source + at);")
    return lines


def _move(request):
    """Return the statements that store the kept elements and zeros."""
    vector = request.vector
    element = "value" if not request.inputs else "source[{}]"
    place = "0" if request.ndim else "first"
    if vector == 1:
        return [f"target[first] = any ? {element.format(place)} : T();"]
    lines = [f"pack<T, {vector}> v;", f"if (first + {vector} <= n) {{"]
    if request.inputs:
        lines.append("if (any) v.load(source + first);")
    value = "v.items[j]" if request.inputs else "value"
    return [
        *lines,
        "#pragma unroll",
        f"for (int j = 0; j < {vector}; j++) {{",
        f"v.items[j] = kept[j] ? {value} : T();",
        "}",
        "v.store(target + first);",
        "} else {",
        f"for (int j = 0; j < {vector} && first + j < n; j++) {{",
        f"target[first + j] = kept[j] ? {element.format('first + j')} : T();",
        "}",
        "}",
    ]
