"""The sources of generated kernels that copy elements to other places.

Transposed arrays, several arrays joined into one, elements from other places of each
axis, and one triangle of each matrix.
"""

from __future__ import annotations

from types import SimpleNamespace


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


# -- triangles -------------------------------------------------------------------------


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
        *_triangle_move(request),
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


def _triangle_move(request):
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


# -- several arrays into one -----------------------------------------------------------


def _parameters(request):
    """Return the parameters, in the order of ``join_pack`` in join.c."""
    parameters = ["E *target", "I row", "I words", "I width, I wm, I wh"]
    for k in range(request.kept_ndim):
        parameters += [f"const E *source{k}", f"I n{k}", f"I run{k}, I m{k}, I h{k}"]
        parameters += [f"I place{k}", f"I end{k}"]
    return parameters


def _by_source(request):
    """Return the body of a kernel in which each block copies part of one array."""
    lines = [
        "I block = blockIdx.x;",
        "const E *source = source0; I n = n0, place = place0, begin = 0;",
        "I run = run0, m = m0, h = h0;",
    ]
    for k in range(1, request.kept_ndim):
        lines += [
            f"if (block >= end{k - 1}) {{ source = source{k}; n = n{k}; run = run{k};",
            f"m = m{k}; h = h{k}; place = place{k}; begin = end{k - 1}; }}",
        ]
    lines += [
        "I first = (block - begin) * (256 * U) + threadIdx.x;",
        "E items[U];",
        "#pragma unroll",
        "for (int u = 0; u < U; u++) {",
        "if (first + u * 256 < n) items[u] = source[first + u * 256];",
        "}",
        "#pragma unroll",
        "for (int u = 0; u < U; u++) {",
        "I i = first + u * 256;",
        "if (i >= n) return;",
    ]
    if request.ndim == 2:
        lines.append("i += quotient(i, m, h) * (row - run);")
    return [*lines, "target[place + i] = items[u];", "}"]


def _by_place(request):
    """Return the body of a kernel in which a thread finds the array of its place."""
    lines = [
        "I first = (I)blockIdx.x * (256 * U) + threadIdx.x;",
        "if (first >= words) return;",
        "E items[U];",
        "E *places[U];",
        "#pragma unroll",
        "for (int u = 0; u < U; u++) {",
        "I i = first + u * 256 < words ? first + u * 256 : first;",
        "I line = quotient(i, wm, wh), column = i - line * width + place0;",
        "const E *source = source0; I run = run0, place = place0;",
    ]
    for k in range(1, request.kept_ndim):
        lines.append(
            f"if (column >= place{k}) "
            f"{{ source = source{k}; run = run{k}; place = place{k}; }}"
        )
    lines += [
        "places[u] = target + line * row + column;",
        "items[u] = source[line * run + column - place];",
        "}",
        "#pragma unroll",
        "for (int u = 0; u < U; u++) {",
        "if (u == 0 || first + u * 256 < words) *places[u] = items[u];",
        "}",
    ]
    return lines


#: The body of each variant.
_BODIES = {"join_sources": _by_source, "join_places": _by_place}


def join_text(request):
    """Return the source of a copy of several arrays into one: a ``_KernelRequest``'s.

    A thread copies ``tile`` words.
    """
    body = _BODIES[request.variant]
    lines = [
        "#include <pycuda-array.hpp>",
        "using namespace pycuda_array;",
        f"typedef raw<{request.raw_bytes}, {request.vector}> E;",
        f"typedef {'uint64' if request.wide else 'uint32'} I;",
        f"static const int U = {request.tile};",
        'extern "C" __global__ void __launch_bounds__(256)',
        f"kernel({', '.join(_parameters(request))})",
        "{",
        *body(request),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _join_samples():
    for variant in _BODIES:
        for wide in (False, True):
            request = SimpleNamespace(
                variant=variant,
                kept_ndim=3,
                ndim=2,
                wide=wide,
                raw_bytes=16 if wide else 2,
                vector=16 if wide else 2,
                tile=1 if wide else 8,
            )
            yield f"{variant} {wide}", join_text(request)


# -- other places of each axis ---------------------------------------------------------


#: For each rule the lines that make ``at``, the place in the source, from the place in
#: the target. ``n`` is the length of the source, ``f`` the number of the axis;
#: ``b``, ``v`` and ``w`` divide by one of the two. Rules with elements outside clear
#: ``inside``.
RULES_OF_PLACES = {
    "remap_roll": "at += f{k}; at -= at >= n{k} ? n{k} : 0;",
    "remap_repeat": "at = (S)quotient((I)at, v{k}, w{k});",
    "remap_tile": "at -= (S)(quotient((I)at, v{k}, w{k}) * b{k});",
    "remap_empty": "at -= f{k}; inside = inside && (I)at < (I)n{k};",
    "remap_constant": "at -= f{k}; inside = inside && (I)at < (I)n{k};",
    "remap_edge": "at -= f{k}; at = at < 0 ? 0 : at < n{k} ? at : n{k} - 1;",
    "remap_wrap": (
        "at -= f{k}; if ((I)at >= (I)n{k}) {{ at %= n{k}; at += at < 0 ? n{k} : 0; }}"
    ),
    "remap_reflect": (
        "at -= f{k}; if ((I)at >= (I)n{k}) {{ S period = n{k} > 1 ? 2 * n{k} - 2 : 1;"
        " at %= period; at += at < 0 ? period : 0;"
        " at = at < n{k} ? at : period - at; }}"
    ),
    "remap_symmetric": (
        "at -= f{k}; if ((I)at >= (I)n{k}) {{ S period = 2 * n{k};"
        " at %= period; at += at < 0 ? period : 0;"
        " at = at < n{k} ? at : period - 1 - at; }}"
    ),
}

_MASK_BITS = 8


def _place(request, axis):
    """Return the lines that add the offset of one axis; ``at`` is the place."""
    lines = []
    if axis >= _MASK_BITS or request.kept_ndim >> axis & 1:
        lines.append(RULES_OF_PLACES[request.variant].format(k=axis))
    lines.append(f"from[u] += (int64)at * s{axis};")
    return lines


def remap_text(request):
    """Return the source of a copy by a rule of places: a ``_KernelRequest``'s.

    A thread moves ``tile`` words: it loads them all before it stores the first.
    """
    index, step = ("uint64", "int64") if request.wide else ("uint32", "int32")
    has_value = request.variant == "remap_constant"
    each, axes = request.tile, range(request.ndim)
    parameters = ["const char *source", "char *target"]
    parameters += ["E value"] if has_value else []
    parameters.append("I n")
    for k in axes:
        parameters += [f"I d{k}, I m{k}, I h{k}", f"S n{k}", f"S s{k}", f"S f{k}"]
        parameters.append(f"I b{k}, I v{k}, I w{k}")
    lines = [
        "#include <pycuda-array.hpp>",
        "using namespace pycuda_array;",
        f"typedef raw<{request.raw_bytes}, {request.vector}> E;",
        f"typedef {index} I;",
        f"typedef {step} S;",
        f"static const int U = {each};",
        'extern "C" __global__ void __launch_bounds__(256)',
        f"kernel({', '.join(parameters)})",
        "{",
        f"I first = (I)blockIdx.x * {256 * each} + threadIdx.x;",
        "if (first >= n) return;",
        "int64 from[U];",
        "bool stored[U];",
        "E items[U];",
        "#pragma unroll",
        "for (int u = 0; u < U; u++) {",
        "stored[u] = u == 0 || first + u * 256 < n;",
        "I rest = stored[u] ? first + u * 256 : first;",
        "bool inside = true;",
        "from[u] = 0;",
    ]
    for axis in range(request.ndim - 1, 0, -1):
        lines.append(f"{{ I next = quotient(rest, m{axis}, h{axis});")
        lines.append(f"S at = (S)(rest - next * d{axis});")
        lines += [*_place(request, axis), "rest = next; }"]
    if request.ndim:
        lines += ["{ S at = (S)rest;", *_place(request, 0), "}"]
    outside = "value" if has_value else "E()"
    if request.variant == "remap_empty":
        lines.append("stored[u] = stored[u] && inside;")
    lines += [
        f"items[u] = inside ? *(const E *)(source + from[u]) : {outside};",
        "}",
        "#pragma unroll",
        "for (int u = 0; u < U; u++) {",
        "if (stored[u]) ((E *)target)[first + u * 256] = items[u];",
        "}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _remap_samples():
    for variant in RULES_OF_PLACES:
        for wide in (False, True):
            request = SimpleNamespace(
                variant=variant,
                kept_ndim=2,
                ndim=3,
                wide=wide,
                raw_bytes=12 if wide else 4,
                vector=4,
                tile=1 if wide else 4,
            )
            yield f"{variant} {wide}", remap_text(request)


def sample_sources():
    """Yield (name, source) of kernels that tools/compile_matrix.py compiles."""
    yield from _join_samples()
    yield from _remap_samples()
