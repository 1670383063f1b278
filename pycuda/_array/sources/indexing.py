"""The source of generated kernels that move elements at index arrays.

``cuda/pycuda-index.hpp`` finds the place of an index. This file writes the loop.
"""

from __future__ import annotations

#: For each variant: how an index becomes a place, and what happens to the elements.
_VARIANTS = {
    "gather": ("place_or_note", "gather"),
    "gather_wrapped": ("place_wrapped", "gather"),
    "gather_clipped": ("place_clipped", "gather"),
    "scatter": ("place_or_note", "scatter"),
    "scatter_wrapped": ("place_wrapped", "scatter"),
    "scatter_clipped": ("place_clipped", "scatter"),
    "fill": ("place_or_note", "fill"),
    "check": ("place_or_note", "check"),
}

#: The elements before and after the indices are known.
_BEFORE = {
    "gather": [],
    "scatter": ["items[u] = *(const E *)(moved + to[u]);"],
    "fill": ["items[u] = value;"],
    "check": [],
}
_AFTER = {
    "gather": [
        "#pragma unroll",
        "for (int u = 0; u < U; u++) {",
        "if (inside[u]) items[u] = *(const E *)(array + from[u]);",
        "else items[u] = E();",
        "}",
        "#pragma unroll",
        "for (int u = 0; u < U; u++) {",
        "if (u == 0 || first + u * 256 < n) *(E *)(moved + to[u]) = items[u];",
        "}",
    ],
    "scatter": [
        "#pragma unroll",
        "for (int u = 0; u < U; u++) {",
        "if (inside[u]) *(E *)(array + from[u]) = items[u];",
        "}",
    ],
    "check": [],
}
_AFTER["fill"] = _AFTER["scatter"]


def _kinds(request):
    """Return the types of the index arrays: all are the same if there are many."""
    count = request.kept_ndim
    return request.types if len(request.types) == count else request.types[:1] * count


def _parameters(request, action):
    """Return the parameters, in the order of ``selection_launch`` in selection.c."""
    count = request.kept_ndim
    axes = range(request.ndim)
    moved = "E value" if action == "fill" else "char *moved"
    parameters = ["char *array", moved]
    parameters += [f"const char *x{k}" for k in range(count)]
    parameters += ["index_report *report", "uint32 call", "I n"]
    parameters += [f"I d{axis}" for axis in axes]
    rows = ["e", "a", *(f"x{k}" for k in range(count))]
    parameters += [f"S s_{row}{axis}" for row in rows for axis in axes]
    for k in range(count):
        parameters += [f"S length{k}", f"S stride{k}", f"int32 axis{k}"]
    return parameters


def _offsets(request):
    """Return the lines that find the offsets of one element in all rows."""
    rows = ["e", "a", *(f"x{k}" for k in range(request.kept_ndim))]
    lines = [f"int64 b_{row} = 0;" for row in rows]
    for axis in range(request.ndim - 1, 0, -1):
        lines.append(f"{{ I next = rest / d{axis}; S at = (S)(rest - next * d{axis});")
        lines += [f"b_{row} += (int64)at * s_{row}{axis};" for row in rows]
        lines.append("rest = next; }")
    if request.ndim:
        lines += [f"b_{row} += (int64)(S)rest * s_{row}0;" for row in rows]
    return lines


def indexing_text(request):
    """Return the source of a kernel with index arrays: a ``_KernelRequest``'s.

    A thread moves ``tile`` elements. It loads all their indices, then all elements.
    """
    place, action = _VARIANTS[request.variant]
    index, step = ("uint64", "int64") if request.wide else ("uint32", "int32")
    each = request.tile
    kinds = _kinds(request)
    many = range(len(kinds))
    lines = [
        "#include <pycuda-index.hpp>",
        "using namespace pycuda_array;",
        f"typedef raw<{request.raw_bytes}, {request.vector}> E;",
        f"typedef {index} I;",
        f"typedef {step} S;",
        f"static const int U = {each};",
        'extern "C" __global__ void __launch_bounds__(256)',
        f"kernel({', '.join(_parameters(request, action))})",
        "{",
        f"I first = (I)blockIdx.x * {256 * each} + threadIdx.x;",
        "if (first >= n) return;",
        "int64 to[U], from[U];",
        "bool inside[U];",
        *(f"{kinds[k]} given{k}[U];" for k in many),
    ]
    if action != "check":
        lines.append("E items[U];")
    lines += [
        "#pragma unroll",
        "for (int u = 0; u < U; u++) {",
        "inside[u] = u == 0 || first + u * 256 < n;",
        "I rest = inside[u] ? first + u * 256 : first;",
        *_offsets(request),
        "to[u] = b_e; from[u] = b_a;",
        *(f"given{k}[u] = __ldcs((const {kinds[k]} *)(x{k} + b_x{k}));" for k in many),
        *_BEFORE[action],
        "}",
        "#pragma unroll",
        "for (int u = 0; u < U; u++) {",
    ]
    for k in many:
        kind = kinds[k]
        lines += [
            f"S at{k};",
            f"if (!{place}<{kind}, S>(given{k}[u], length{k}, at{k})) {{",
            f"if (inside[u]) note_index(report, (uint64)(int64)given{k}[u], "
            f"({kind})-1 > ({kind})0, (uint64)length{k}, axis{k}, call);",
            "inside[u] = false; }",
            f"from[u] += (int64)at{k} * stride{k};",
        ]
    lines += ["}", *_AFTER[action], "}"]
    return "\n".join(lines) + "\n"
