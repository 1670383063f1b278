"""The source of generated kernels that copy several arrays into one."""

from __future__ import annotations

from types import SimpleNamespace


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


def sample_sources():
    """Yield (name, source) of kernels that tools/compile_matrix.py compiles."""
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
