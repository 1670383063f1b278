"""The source of generated searches in sorted arrays, and of counts in bins.

``cuda/pycuda-search.hpp`` finds the places and the bins. This file writes the loops.
"""

from __future__ import annotations

from pycuda._array.sources.elementwise import computation_type


def _kernel(request, parameters, body, types):
    lines = [
        "#include <pycuda-search.hpp>",
        "using namespace pycuda_array;",
        *types,
        f"typedef {computation_type(request.compute)} C;",
        f'extern "C" __global__ void __launch_bounds__({request.threads})',
        f"kernel({', '.join(parameters)})",
        "{",
        *body,
        "}",
    ]
    return "\n".join(lines) + "\n"


# -- searches --------------------------------------------------------------------------


def search_text(request):
    """Return the source of a search: sorted elements, values, and perhaps an order.

    "search_left" and "search_right" are those of ``searchsorted``; the "digitize" ones
    find out whether the elements are sorted from least to greatest. With ``raw_bytes``
    a block keeps that many bytes of elements in shared memory.
    """
    right = "true" if request.variant in ("search_right", "digitize_right") else "false"
    digitize = request.variant in ("digitize_left", "digitize_right")
    threads, rounds = request.threads, request.rounds
    index = "uint64" if request.wide else "uint32"
    run, start = "packed_run<T0, C>", "{(const T0 *)sorted}"
    if request.inputs == 3:
        run, start = "sorted_by<T0, C, T2>", "{sorted, step, order, order_step}"
    elif not request.streamed:
        run, start = "spaced_run<T0, C>", "{sorted, step}"
    parameters = [
        "const char *sorted",
        "int64 step",
        f"{index} length",
        f"{index} width",
        "const T1 *values",
        f"{index} count",
        "int64 *places",
    ]
    if request.inputs == 3:
        parameters += ["const char *order", "int64 order_step"]
    body = [f"const {run} {'found' if digitize else 'run'} = {start};"]
    if digitize:
        body += [
            "const bool down = length > 1 && found.at(length - 1) < found.at(0u);",
            f"const turned_run<{run}, C> run = {{found, (uint64)length - 1, down}};",
        ]
    if request.raw_bytes:
        size = request.raw_bytes
        body += [
            f"__shared__ search_tops<{size} / sizeof(C), C, {index}> tops;",
            "tops.load(run, width, length);",
        ]
        find = [f"tops.find<{rounds}, {right}>(run, width, length, x, place);"]
    else:
        find = [
            "#pragma unroll",
            f"for (int k = 0; k < {rounds}; k++) place[k] = 0;",
            f"find_places<{rounds}, {right}>(run, length, x, place);",
        ]
    result = "down ? length - place[k] : place[k]" if digitize else "place[k]"
    body += [
        f"{index} first = ({index})blockIdx.x * {threads * rounds} + threadIdx.x;",
        f"for (; first < count; first += gridDim.x * {threads * rounds}) {{",
        f"C x[{rounds}];",
        f"{index} place[{rounds}];",
        "#pragma unroll",
        f"for (int k = 0; k < {rounds}; k++) {{",
        f"const {index} i = first + k * {threads};",
        "x[k] = cast<C>(values[i < count ? i : first]);",
        "}",
        *find,
        "#pragma unroll",
        f"for (int k = 0; k < {rounds}; k++) {{",
        f"const {index} i = first + k * {threads};",
        f"if (i < count) places[i] = (int64)({result});",
        "}",
        "}",
    ]
    names = [f"typedef {name} T{k};" for k, name in enumerate(request.types[:3])]
    return _kernel(request, parameters, body, names)


# -- counts ----------------------------------------------------------------------------

#: Bytes of edges that a block keeps: COUNT_EDGES of python/array/ops/count.c.
SHARED_EDGES = 16 * 1024
#: Bytes of edges that are passed by value: PCU_COUNT_EDGE_BYTES of count.h.
EDGE_BYTES = 2048

_BINS = {
    "bin_by_value": ("bin_by_value<T0>", "{}"),
    "bin_by_distance": (
        "bin_by_distance<T0, E>",
        "{edges, (int64)bins, first, last, scale}",
    ),
    "bin_by_search": ("bin_by_search<T0, E, C>", "{edges, (int64)bins}"),
}


def count_text(request):
    """Return the source of a count of values in bins.

    The types are those of the values, of the edges, and of the weights if there are
    any. With ``ndim`` 1 the edges are passed by value, and the kernel stores a copy.
    With ``partial`` a block keeps the edges in shared memory. It counts there, too, in
    several copies if there are few bins, or in the result if ``raw_bytes`` is 0.
    """
    threads, rounds, vec = request.threads, request.rounds, request.vector
    weighted = request.inputs == 3
    # A block counts fewer than 2**32 values.
    shared, total = ("double", "double") if weighted else ("uint32", "int64")
    room = request.raw_bytes // (8 if weighted else 4)
    kind, start = _BINS[request.variant]
    types = [f"typedef {request.types[0]} T0;", f"typedef {request.types[1]} E;"]
    by_value = request.ndim == 1
    given = ["const E *edges"]
    if by_value:
        types.append(f"struct edge_values {{ E values[{EDGE_BYTES} / sizeof(E)]; }};")
        types.append("struct __align__(16) given_edges : edge_values {};")
        given = ["const given_edges given", "E *edges_out"]
    parameters = [
        "const T0 *values",
        *given,
        f"{total} *totals",
        "uint64 count",
        "uint64 bins",
        "uint32 copies",
        "double first",
        "double last",
        "double scale",
    ]
    if weighted:
        types.append(f"typedef {request.types[2]} W;")
        parameters.append("const W *weights")
    place, target = ("mine + bin", shared) if room else ("totals + bin", total)
    body = []
    if by_value:
        body += [
            "if (blockIdx.x == 0) {",
            f"for (uint64 k = threadIdx.x; k <= bins; k += {threads})",
            "edges_out[k] = given.values[k];",
            "}",
        ]
    if request.partial:
        body += [
            f"__shared__ E edges_kept[{SHARED_EDGES} / sizeof(E)];",
            f"for (uint64 k = threadIdx.x; k <= bins; k += {threads})",
            f"edges_kept[k] = {'given.values' if by_value else 'edges'}[k];",
            f"{'const E *' if by_value else ''}edges = edges_kept;",
            "__syncthreads();",
        ]
    body.append(f"const {kind} find = {start};")
    if room:
        body += [
            f"__shared__ {shared} counts[{room}];",
            "const uint32 used = copies * (uint32)bins;",
            f"for (uint32 i = threadIdx.x; i < used; i += {threads}) counts[i] = 0;",
            f"{shared} *mine = counts + threadIdx.x / 32 % copies * (uint32)bins;",
            "__syncthreads();",
        ]
    one = f"cast<{target}>(weights[i + j])" if weighted else f"({target})1"
    body += [
        f"const uint64 across = (uint64)gridDim.x * {threads * vec};",
        f"uint64 i = ((uint64)blockIdx.x * {threads} + threadIdx.x) * {vec};",
        f"for (; i + {vec - 1} < count; i += across * {rounds}) {{",
        f"pack<T0, {vec}> v[{rounds}];",
        "#pragma unroll",
        f"for (int k = 0; k < {rounds}; k++)",
        f"if (i + k * across + {vec - 1} < count) v[k].load(values + i + k * across);",
        "#pragma unroll",
        f"for (int k = 0; k < {rounds}; k++) {{",
        f"if (i + k * across + {vec - 1} < count) {{",
        "#pragma unroll",
        f"for (int j = 0; j < {vec}; j++) {{",
        "const int64 bin = find.of(v[k].items[j]);",
        f"if (bin >= 0) add_to({place}, {one.replace('[i', '[i + k * across')});",
        "} } } }",
    ]
    if vec > 1:  # the values behind the last vector
        one = f"cast<{target}>(weights[i])" if weighted else f"({target})1"
        body += [
            f"i = count / {vec} * {vec} + threadIdx.x;",
            "if (blockIdx.x == 0 && i < count) {",
            "const int64 bin = find.of(values[i]);",
            f"if (bin >= 0) add_to({place}, {one});",
            "}",
        ]
    if room:
        body += [
            "__syncthreads();",
            f"for (uint32 bin = threadIdx.x; bin < (uint32)bins; bin += {threads}) {{",
            f"{total} sum = 0;",
            "for (uint32 copy = 0; copy < copies; copy++)",
            "sum += counts[copy * (uint32)bins + bin];",
            "if (sum != 0) add_to(totals + bin, sum);",
            "}",
        ]
    return _kernel(request, parameters, body, types)
