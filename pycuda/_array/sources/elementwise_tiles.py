"""The source of generated elementwise kernels that compute tiles of two axes.

The kernel is that of operands which are packed along different axes, as in ``x + y.T``.
Inputs that are packed along another axis than the outputs are *turned*: they pass
through shared memory.
"""

from __future__ import annotations

from types import SimpleNamespace

from pycuda._array.sources import elementwise


def elementwise_tiles_text(request):
    """Return the source of an elementwise kernel by tiles: a ``_KernelRequest``'s.

    The axis ``a`` is the one along which turned inputs are packed, ``b`` the one of the
    other operands. A thread computes several elements along the axis ``a``.
    """
    lines = [
        *elementwise.includes(request),
        "using namespace pycuda_array;",
        *elementwise.typedefs(request),
        'extern "C" __global__ void __launch_bounds__(256)',
        f"kernel({', '.join(_parameters(request))})",
        "{",
        f"const int side = {request.tile}, step = 256 / side, rounds = side / step;",
        "const int x = threadIdx.x % side, y = threadIdx.x / side;",
        *_find_tile(request),
        *_loads(request),
        *_results(request),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _turned(request):
    """Return the numbers of the inputs that are packed along the axis ``a``."""
    return [k for k, passing in enumerate(request.passing) if passing == "turned"]


def _straight(request):
    """Return the numbers of the inputs that are read in the order of the outputs."""
    return [k for k in range(request.inputs) if request.passing[k] == "array"]


def _parameters(request):
    """Return the parameters, in the order of ``tiles_pack`` in elementwise_tiles.c."""
    parameters = []
    for k, passing in enumerate(request.passing):
        label = elementwise.label(request, k)
        if passing == "scalar":
            parameters.append(f"{label} p{k}")
        else:
            parameters.append(f"char *p{k}")
    for axis in ("a", "b", *range(request.ndim)):
        parameters.append(f"uint64 d{axis}")
        parameters += [f"int64 s{k}_{axis}" for k in elementwise.arrays(request)]
    return parameters


def _find_tile(request):
    """Return the lines that find a block's tile and the thread's place in it."""
    lines = [
        "uint32 rest = blockIdx.x, place = rest, column, row;",
        "const uint32 columns = (uint32)((da + side - 1) / side);",
        "const uint32 rows = (uint32)((db + side - 1) / side);",
    ]
    if request.ndim:
        lines.append("rest /= columns * rows; place -= rest * (columns * rows);")
    for axis in reversed(range(request.ndim)):
        lines.append(f"{{ const uint32 next = rest / (uint32)d{axis};")
        lines.append(f"const int64 at = rest - next * (uint32)d{axis}; rest = next;")
        lines += [f"p{k} += at * s{k}_{axis};" for k in elementwise.arrays(request)]
        lines.append("}")
    lines += [
        "find_tile(place, columns, rows, column, row);",
        "const uint64 left = (uint64)column * side, top = (uint64)row * side;",
        "const int across = (int)min(da - left, (uint64)side);",
        "const int along = (int)min(db - top, (uint64)side);",
    ]
    for k in elementwise.arrays(request):
        first, second = ("x", "y") if k in _turned(request) else ("y", "x")
        lines.append(
            f"p{k} += (int64)(left + {first}) * s{k}_a"
            f" + (int64)(top + {second}) * s{k}_b;"
        )
    return lines


def _loads(request):
    """Return the lines that start all loads, then pass turned inputs on."""
    turned, straight = _turned(request), _straight(request)
    lines = []
    for k in turned:
        lines += _load(request, k, "x < across && y + u * step < along", "b")
    for k in straight:
        lines += _load(request, k, _IN_TILE, "a")
    for k in turned:
        lines += [
            f"__shared__ turned_tile<sizeof(T{k}), side> t{k};",
            "#pragma unroll",
            f"for (int u = 0; u < rounds; u++) t{k}.put(y + u * step, x, v{k}[u]);",
        ]
    return [*lines, "__syncthreads();"]


#: Whether the outputs have an element of a thread.
_IN_TILE = "x < along && y + u * step < across"


def _load(request, k, bounds, axis):
    """Return the lines that load a thread's elements of an input."""
    label = elementwise.label(request, k)
    place = f"(const {label} *)(p{k} + u * step * s{k}_{axis})"
    return [
        f"pack<{label}, 1> v{k}[rounds];",
        "#pragma unroll",
        "for (int u = 0; u < rounds; u++) {",
        f"if ({bounds}) v{k}[u].load({place});",
        "}",
    ]


def _results(request):
    """Return the lines that compute and store the elements of the outputs."""
    nin, outputs = request.inputs, elementwise.outputs_of(request)
    lines = [
        "#pragma unroll",
        "for (int u = 0; u < rounds; u++) {",
        f"if ({_IN_TILE}) {{",
        *(f"t{k}.get(x, y + u * step, v{k}[u]);" for k in _turned(request)),
        *elementwise.loop_body(request, "v{}[u].items[0]".format),
    ]
    for k in outputs:
        label = elementwise.label(request, k)
        lines += [
            f"pack<{label}, 1> v{k};",
            f"v{k}.items[0] = z{k - nin};",
            f"v{k}.store(({label} *)(p{k} + u * step * s{k}_a));",
        ]
    return [*lines, "}", "}"]


def sample_sources():
    """Yield (name, source) of kernels that tools/compile_matrix.py compiles."""
    for name, ndim, tile in (("float16", 0, 64), ("complex128", 2, 32)):
        request = SimpleNamespace(
            operation="axpby",
            inputs=4,
            outputs=1,
            types=(name,) * 5,
            passing=("scalar", "turned", "turned", "array", "array"),
            compute=name,
            ndim=ndim,
            tile=tile,
        )
        yield f"tiles of {name}", elementwise_tiles_text(request)
