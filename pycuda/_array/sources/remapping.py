"""The source of generated kernels that copy elements from other places of each axis."""

from __future__ import annotations

from types import SimpleNamespace

#: For each rule the lines that make ``at``, the place in the source, from the place in
#: the target. ``n`` is the length of the source, ``f`` the number of the axis;
#: ``b``, ``v`` and ``w`` divide by one of the two. Rules with elements outside clear
#: ``inside``.
_RULES = {
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
        lines.append(_RULES[request.variant].format(k=axis))
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


def sample_sources():
    """Yield (name, source) of kernels that tools/compile_matrix.py compiles."""
    for variant in _RULES:
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
